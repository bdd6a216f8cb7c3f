/* Wiping of memory that held random bits or noise, in a way that no compiler removes. */
#ifndef DG_BASE_WIPE_H
#define DG_BASE_WIPE_H

#include <gmp.h>
#include <stddef.h>

/** Ensures: memory[0 .. n) is zero. memory may be NULL if n == 0. */
void dg_wipe(void *memory, size_t n);

/** Ensures: every limb that z holds or has room for is zero, and z == 0. */
void dg_wipe_mpz(mpz_t z);

/** Ensures: the stack below the caller's frame, as deep as the drawing functions reach, is zero.
 *  Registers that the compiler spilled while it drew lie there. */
void dg_wipe_stack(void);

/** Ensures: the vector registers are zero (on x86-64, and where the compiler can say so). Else whoever
 *  runs next may store them: the dynamic linker does, on the stack, when a function is first called,
 *  and so does the kernel under a signal handler. */
void dg_wipe_registers(void);

#endif
