//! The same as draw.c, by Rust's own means: no crate, the declarations that it uses written out.
use std::io::{stdin, Read};
use std::os::raw::{c_int, c_void};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Integer {
    bytes: *const u8,
    n_bytes: usize,
}

/// a/b, mu = c/d, beta.
#[repr(C)]
struct Parameters([Integer; 6]);

#[repr(C)]
struct Source {
    kind: c_int,
    fill: extern "C" fn(*mut c_void, *mut u8, usize) -> c_int,
    context: *mut c_void,
}

const OK: c_int = 0;
const SOURCE_CALLER: c_int = 2;
const INT64: c_int = 3;

extern "C" {
    fn dg_law_new(
        law: *mut *mut c_void,
        kind: c_int,
        arithmetic: c_int,
        of: *const Parameters,
    ) -> c_int;
    fn dg_law_free(law: *mut c_void);
    fn dg_law_fill(
        out: *mut i64,
        n: usize,
        dtype: c_int,
        law: *const c_void,
        run: *const c_void,
        source: *const Source,
    ) -> c_int;
    fn dg_table_new(
        table: *mut *mut c_void,
        law: *const c_void,
        index_bits: u32,
        block_bits: i32,
        isa: c_int,
    ) -> c_int;
    fn dg_table_free(table: *mut c_void);
    fn dg_table_fill(
        out: *mut i64,
        n: usize,
        dtype: c_int,
        table: *const c_void,
        run: *const c_void,
        source: *const Source,
    ) -> c_int;
}

extern "C" fn read_tape(context: *mut c_void, out: *mut u8, n: usize) -> c_int {
    let tape = unsafe { &mut *(context as *mut &[u8]) };
    let target = unsafe { std::slice::from_raw_parts_mut(out, n) };
    (tape.read_exact(target).is_err()).into()
}

fn draw(
    n: usize,
    kind: c_int,
    number: &[i64],
    index_bits: u32,
    block_bits: i32,
    tape: &mut &[u8],
) -> Vec<i64> {
    let bytes = [number[0], number[1], number[2], number[3], 1, 1].map(i64::to_le_bytes);
    let parameters = Parameters(std::array::from_fn(|i| Integer {
        bytes: bytes[i].as_ptr(),
        n_bytes: 8,
    }));
    let source = Source {
        kind: SOURCE_CALLER,
        fill: read_tape,
        context: tape as *mut &[u8] as *mut c_void,
    };
    let (mut law, mut table, mut out) = (null_mut(), null_mut(), vec![0; n]);
    unsafe {
        assert_eq!(dg_law_new(&mut law, kind, 0, &parameters), OK);
        let status = if index_bits > 0 {
            assert_eq!(dg_table_new(&mut table, law, index_bits, block_bits, 0), OK);
            dg_table_fill(out.as_mut_ptr(), n, INT64, table, null(), &source)
        } else {
            dg_law_fill(out.as_mut_ptr(), n, INT64, law, null(), &source)
        };
        assert_eq!(status, OK);
        dg_table_free(table);
        dg_law_free(law);
    }
    out
}

fn main() {
    for line in stdin().lines().map(Result::unwrap) {
        let word: Vec<&str> = line.split(' ').collect();
        let number: Vec<i64> = word[..9].iter().map(|w| w.parse().unwrap()).collect();
        let bytes: Vec<u8> = (0..number[8] as usize)
            .map(|i| u8::from_str_radix(&word[9][2 * i..2 * i + 2], 16).unwrap())
            .collect();
        let mut tape = &bytes[..];
        let out = draw(
            number[7] as usize,
            number[0] as c_int,
            &number[3..7],
            number[1] as u32,
            number[2] as i32,
            &mut tape,
        );
        assert!(tape.is_empty());
        out.iter().for_each(|one| println!("{one}"));
    }
}
