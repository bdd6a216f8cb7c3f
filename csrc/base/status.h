/* Failures are values: every function that can fail returns dg_status, and its caller uses DG_TRY. */
#ifndef DG_BASE_STATUS_H
#define DG_BASE_STATUS_H

#include "discretegauss.h"

/** Return the status of `call` from the enclosing function unless it is DG_OK. */
#define DG_TRY(call)                                                                               \
    do {                                                                                           \
        dg_status try_status_ = (call);                                                            \
        if (__builtin_expect(try_status_ != DG_OK, 0)) {                                           \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

#endif
