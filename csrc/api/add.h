/* Exact sums of draws and integers, and bounds of integers. */
#ifndef DG_API_ADD_H
#define DG_API_ADD_H

#include "discretegauss.h"

#include <stddef.h>
#include <stdint.h>

/** The integers to be added in place to draws. */
typedef struct dg_sums {
    dg_addend addend;
    size_t stride; /* 1, or 0: all draws get the first integer, of DG_INT64 */
    dg_dtype
        dtype; /* of the sums: DG_INT64, or any if sums are refused and addend.dtype is DG_INT64 */
} dg_sums;

/** Return the dtype of the draws to which the integers are added: the signed one of as many bytes as the sums. */
static inline dg_dtype dg_draws_of_sums(const dg_sums *sums)
{
    return sums->dtype > DG_INT64 ? (dg_dtype)(sums->dtype - DG_UINT8) : sums->dtype;
}

/** Replace the draws in items [first, end) of an array by sums. The time is independent of the draws, unless they
 *  are reduced modulo a number that is not a power of two.
 *
 *  Returns:   DG_OK | DG_ERR_RANGE: a sum that is not null is refused. Do not use the items then.
 */
dg_status dg_add(void *out, size_t first, size_t end, const dg_sums *sums);

#endif
