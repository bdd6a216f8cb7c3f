/* Contracts that test builds (-DDG_CHECKS=1) execute: `Requires` lines become checks, and valgrind learns
 * which values the time may depend on (tests/c/test_silence.c). */
#ifndef DG_BASE_CONTRACT_H
#define DG_BASE_CONTRACT_H

#if defined(DG_CHECKS) && DG_CHECKS
#include <stdio.h>
#include <stdlib.h>
#define DG_REQUIRES(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: requires %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#else
#define DG_REQUIRES(condition) ((void)0)
#endif

/* DG_PUBLIC(x): from here on the time may depend on the variable x, although it is derived from random
 * bits. */
#if defined(DG_CHECKS) && DG_CHECKS && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define DG_PUBLIC(x) ((void)VALGRIND_MAKE_MEM_DEFINED(&(x), sizeof(x)))
#endif
#endif
#ifndef DG_PUBLIC
#define DG_PUBLIC(x) ((void)0)
#endif

#endif
