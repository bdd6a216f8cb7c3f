/* Storing integers into an array of a given dtype. An integer that does not fit is DG_ERR_RANGE. */
#ifndef DG_BASE_DTYPE_H
#define DG_BASE_DTYPE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Return whether `dtype` is a dg_dtype. Every function below requires that it is. */
static inline bool dg_is_dtype(dg_dtype dtype)
{
    return (unsigned)dtype <= DG_UINT64;
}

static inline size_t dg_dtype_size(dg_dtype dtype)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    return sizes[dtype];
}

/** The largest magnitude that the dtype holds with this sign. */
static inline uint64_t dg_dtype_limit(dg_dtype dtype, bool negative)
{
    uint64_t all = UINT64_MAX >> (64 - 8 * dg_dtype_size(dtype));
    if (dtype > DG_INT64) {
        return negative ? 0 : all;
    }
    return (all >> 1) + negative;
}

/** out[i] = plus or minus magnitude. Returns: DG_OK | DG_ERR_RANGE: nothing was written. */
static inline dg_status dg_dtype_store(void *out, size_t i, dg_dtype dtype, bool negative,
                                       uint64_t magnitude)
{
    if (magnitude > dg_dtype_limit(dtype, negative)) {
        return DG_ERR_RANGE;
    }
    uint64_t value = negative ? 0 - magnitude : magnitude;
    switch (dg_dtype_size(dtype)) {
    case 1:
        ((uint8_t *)out)[i] = (uint8_t)value;
        break;
    case 2:
        ((uint16_t *)out)[i] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)out)[i] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)out)[i] = value;
    }
    return DG_OK;
}

/** out[0 .. n) = drawn integers. Only the last branch depends on them. If the dtype holds the law, it is taken
 *  with a probability below 2^-128. Returns: DG_OK | DG_ERR_RANGE: out is written nevertheless. */
dg_status dg_dtype_store_all(void *out, size_t n, dg_dtype dtype, const int64_t *draws);

#endif
