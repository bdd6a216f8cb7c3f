/* 128-bit machine words, where the compiler has them. Without them GMP does what exact/words.c does with
 * them: the same draws from the same bits, more slowly. A long may have 32 bits all the same, as on
 * Windows: numbers of 64 bits go to GMP and MPFR, and come from there, by other functions. */
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
