//! draw.c in Rust, without a crate: it declares the functions that it uses.
use std::ffi::{c_char, c_int as int, c_void, CStr, CString};
use std::io::{stdin, Read};
use std::ptr::{null, null_mut};

type Any = *mut c_void;
type Text = *const c_char;
#[repr(C)]
struct Source(int, extern "C" fn(Any, *mut u8, usize) -> int, Any);
const DG_SOURCE_CALLER: int = 2;
const DG_INT64: int = 3;

#[rustfmt::skip]
extern "C" {
    fn dg_sampler_new(to: &mut Any, kind: int, parameter: Text, mu: Text, beta: Text, method: int) -> int;
    fn dg_sampler_fill(out: *mut i64, n: usize, dtype: int, of: Any, run: Any, source: &Source) -> int;
    fn dg_sampler_free(of: Any);
    fn dg_status_text(status: int) -> Text;
}

extern "C" fn read_tape(context: Any, out: *mut u8, n: usize) -> int {
    let tape = unsafe { &mut *(context as *mut &[u8]) };
    let out = unsafe { std::slice::from_raw_parts_mut(out, n) };
    tape.read_exact(out).is_err().into()
}

fn check(status: int) {
    let text = unsafe { CStr::from_ptr(dg_status_text(status)) };
    assert_eq!(status, 0, "{}", text.to_string_lossy());
}

fn main() {
    for line in stdin().lines().map(Result::unwrap) {
        let word: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| word[i].parse::<int>().unwrap();
        let text = |i: usize| CString::new(word[i]).unwrap();
        let byte = |i| u8::from_str_radix(&word[7][2 * i..2 * i + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..word[7].len() / 2).map(byte).collect();
        let (parameter, mu, beta) = (text(3), text(4), text(5));
        let mut tape = &bytes[..];
        let source = Source(DG_SOURCE_CALLER, read_tape, &raw mut tape as Any);
        let (mut sampler, mut out) = (null_mut(), vec![0; number(2) as usize]);
        let beta = if word[5] == "1" { null() } else { beta.as_ptr() };
        unsafe {
            let (parameter, mu) = (parameter.as_ptr(), mu.as_ptr());
            check(dg_sampler_new(&mut sampler, number(0), parameter, mu, beta, number(1)));
            let (to, n) = (out.as_mut_ptr(), out.len());
            check(dg_sampler_fill(to, n, DG_INT64, sampler, null_mut(), &source));
            dg_sampler_free(sampler);
        }
        assert!(tape.is_empty());
        out.iter().for_each(|one| println!("{one}"));
    }
}
