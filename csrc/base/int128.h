/* 128-bit machine words, where the compiler has them. Without them GMP does what exact/words.c does with
 * them: the same draws from the same bits, more slowly. A long has to have 64 bits, too: build_sampler.c
 * takes 64-bit numbers from GMP and MPFR, and x32 and n32 have the one and not the other. */
#ifndef DG_BASE_INT128_H
#define DG_BASE_INT128_H

#include <stdint.h>

#if defined(__SIZEOF_INT128__) && __SIZEOF_LONG__ == 8
#define DG_HAVE_WORDS 1
__extension__ typedef unsigned __int128 dg_u128;
__extension__ typedef __int128 dg_i128;
#else
#define DG_HAVE_WORDS 0
#endif

#endif
