//! The same as draw.c, by Rust's own means: no crate, the declarations that it uses written out.
use std::ffi::{c_int as int, c_void};
use std::io::{stdin, Read};
use std::ptr::null_mut;

type Any = *mut c_void;
#[repr(C)]
struct Integer(*const u8, usize);
#[repr(C)]
struct Source(int, extern "C" fn(Any, *mut u8, usize) -> int, Any);
const DG_SOURCE_CALLER: int = 2;
const DG_INT64: int = 3;

#[rustfmt::skip]
extern "C" {
    fn dg_sampler_new(to: &mut Any, kind: int, law: &[Integer; 6]) -> int;
    fn dg_sampler_fill(out: *mut i64, n: usize, dtype: int, method: int, of: Any, run: Any, source: &Source) -> int;
    fn dg_sampler_draw(method: int, of: Any, source: &Source) -> i64;
    fn dg_sampler_free(of: Any);
}

extern "C" fn read_tape(context: Any, out: *mut u8, n: usize) -> int {
    let tape = unsafe { &mut *(context as *mut &[u8]) };
    let out = unsafe { std::slice::from_raw_parts_mut(out, n) };
    tape.read_exact(out).is_err().into()
}

fn main() {
    for line in stdin().lines().map(Result::unwrap) {
        let word: Vec<&str> = line.split(' ').collect();
        let number: Vec<int> = word[..3].iter().map(|w| w.parse().unwrap()).collect();
        let byte = |i| u8::from_str_radix(&word[4][2 * i..2 * i + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..word[4].len() / 2).map(byte).collect();
        let law = std::array::from_fn(|i| Integer(bytes[8 * i..].as_ptr(), 8));
        let mut tape = &bytes[48..];
        let source = Source(DG_SOURCE_CALLER, read_tape, &raw mut tape as Any);
        let (mut sampler, mut out) = (null_mut(), vec![0; number[2] as usize]);
        unsafe {
            assert_eq!(dg_sampler_new(&mut sampler, number[0], &law), 0);
            if number[1] == 0 {
                out.fill_with(|| dg_sampler_draw(0, sampler, &source));
            } else {
                let (to, n, method) = (out.as_mut_ptr(), out.len(), number[1]);
                let status = dg_sampler_fill(to, n, DG_INT64, method, sampler, null_mut(), &source);
                assert_eq!(status, 0);
            }
            dg_sampler_free(sampler);
        }
        assert!(tape.is_empty());
        out.iter().for_each(|one| println!("{one}"));
    }
}
