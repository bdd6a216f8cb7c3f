/* 128-bit machine words, if the compiler has them. If it does not, GMP computes what exact/words.c computes:
 * the same draws from the same bits, more slowly. A compiler that has them may still have a 32-bit long, as on
 * Windows, so 64-bit numbers pass to and from GMP and MPFR by functions that take no long. */
#ifndef DG_BASE_INT128_H
#define DG_BASE_INT128_H

#include <stdint.h>

#if defined(__SIZEOF_INT128__)
#define DG_HAVE_WORDS 1
__extension__ typedef unsigned __int128 dg_u128;
__extension__ typedef __int128 dg_i128;
#else
#define DG_HAVE_WORDS 0
#endif

#endif
