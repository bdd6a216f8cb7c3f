/* Executable contracts. `Requires` lines become checks in test builds (-DDG_CHECKS=1), nothing
 * else. */
#ifndef DG_BASE_CHECK_H
#define DG_BASE_CHECK_H

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

#endif
