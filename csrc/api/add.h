/* Exact sums of draws and integers, and between which numbers integers are. */
#ifndef DG_API_ADD_H
#define DG_API_ADD_H

#include "discretegauss.h"

#include <stddef.h>
#include <stdint.h>

/** Integers to be added to draws, in their place. */
typedef struct dg_sums {
    dg_addend addend;
    size_t stride; /* 1, or 0: all draws get the first one, of DG_INT64 */
    dg_dtype
        dtype; /* of the sums: DG_INT64, or any where sums are refused and addend.dtype is DG_INT64 */
} dg_sums;

/** The dtype of the draws that sums begin as: the signed one of as many bytes. */
static inline dg_dtype dg_draws_of_sums(const dg_sums *sums)
{
    return sums->dtype > DG_INT64 ? (dg_dtype)(sums->dtype - DG_UINT8) : sums->dtype;
}

/** Let items [first, end) of an array hold sums, where they hold draws. The time tells nothing of the draws, unless
 *  they are reduced modulo a number that is no power of two.
 *
 *  Returns:   DG_OK | DG_ERR_RANGE: some sum that is no null is refused; the items are not to be used.
 */
dg_status dg_add(void *out, size_t first, size_t end, const dg_sums *sums);

#endif
