/* Wiping of memory that held random bits or noise. No compiler removes it. It covers named memory: buffers, keys,
 * states, limbs. Copies that the compiler made, in registers or spilled to the stack, are not wiped
 * (SECURITY.md, Memory). */
#ifndef DG_BASE_WIPE_H
#define DG_BASE_WIPE_H

#include <gmp.h>
#include <stddef.h>

/** Ensures: memory[0 .. n) is zero. memory may be NULL if n == 0. */
void dg_wipe(void *memory, size_t n);

/** Ensures: every limb that z holds or has room for is zero, and z == 0. */
void dg_wipe_mpz(mpz_t z);

#endif
