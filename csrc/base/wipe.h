/* Wiping of memory that held random bits or noise, in a way that no compiler removes. */
#ifndef DG_BASE_WIPE_H
#define DG_BASE_WIPE_H

#include <gmp.h>
#include <stddef.h>

/** Ensures: memory[0 .. n) is zero. memory may be NULL if n == 0. */
void dg_wipe(void *memory, size_t n);

/** Ensures: every limb that z holds or has room for is zero, and z == 0. */
void dg_wipe_mpz(mpz_t z);

/* How deep drawing functions reach below the function that wipes: in words, and in GMP and MPFR on
 * short operands, less than 2 KiB (-fstack-usage: the deepest chain, fill -> gaussian -> laplace ->
 * exp -> bernoulli -> refill, adds up to less than 1 KiB). Long operands: law->stack_bytes. */
enum { DG_STACK_BYTES = 4096 };

/** Ensures: the n bytes of stack below the caller's frame are zero. Registers that the compiler
 *  spilled while it drew lie there, and GMP's copies of its operands.
 *  Requires: n at most some 100 KiB: so much stack is used. */
void dg_wipe_stack(size_t n);

/** Ensures: the vector registers are zero (on x86-64, and where the compiler can say so). Else whoever
 *  runs next may store them: the dynamic linker does, on the stack, when a function is first called,
 *  and so does the kernel under a signal handler. */
void dg_wipe_registers(void);

#endif
