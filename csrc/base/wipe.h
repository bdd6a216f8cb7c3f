/* Wiping of memory that held random bits or noise, in a way that no compiler removes. */
#ifndef DG_BASE_WIPE_H
#define DG_BASE_WIPE_H

#include <gmp.h>
#include <stddef.h>

/** Ensures: memory[0 .. n) is zero. memory may be NULL if n == 0. */
void dg_wipe(void *memory, size_t n);

/** Ensures: every limb that z holds or has room for is zero, and z == 0. */
void dg_wipe_mpz(mpz_t z);

/* How deep traces of a draw may lie below the function that wipes. In words, and in GMP and MPFR on
 * short operands, draws use less than 2 KiB (-fstack-usage: the deepest chain, fill -> gaussian ->
 * laplace -> exp -> bernoulli -> refill, adds up to less than 1 KiB), a kernel of ChaCha20 as much,
 * a look-up of cells by AVX-512 with what calls it 2 KiB (by AVX2, compiled with -Og, 5.2 KiB).
 * A signal in their middle has the system store every register below that: 3.5 KiB with AVX-512.
 * Long operands: law->stack_bytes. */
enum { DG_STACK_BYTES = 8192 };

/** Ensures: the vector registers, and the general ones that belong to no caller, are zero (on x86-64,
 *  and where the compiler can say so). Else whoever
 *  runs next may store them: the dynamic linker does, on the stack, when a function is first called,
 *  and so does the kernel under a signal handler. */
void dg_wipe_registers(void);

/* The parts of dg_wipe_stack. The frame of dg_wipe_below has fewer than DG_NEAREST_BYTES beside what it
 * wipes. */
enum { DG_NEAREST_BYTES = 256 };
void dg_wipe_below(size_t n);
void dg_wipe_nearest(void);

/** Ensures: the n bytes of stack below the caller's frame are zero, on x86-64; elsewhere all but what
 *  a compiler leaves unused in a frame of one variable. Registers that the compiler
 *  spilled while it drew lie there, and GMP's copies of its operands. So are the registers, as by
 *  dg_wipe_registers. Inlined, as is whatever calls it on the way out: in a frame of its own, words
 *  that are nobody's would keep what the draw put there.
 *  Requires: n at most some 100 KiB: so much stack is used. */
static inline __attribute__((always_inline)) void dg_wipe_stack(size_t n)
{
    /* first: a signal that comes while the stack is wiped stores the registers below it */
    dg_wipe_registers();
    dg_wipe_below(n);
    dg_wipe_nearest();
}

#endif
