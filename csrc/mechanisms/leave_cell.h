/* The side on which a value plus Laplace noise leaves its cell of a grid. */
#ifndef DG_MECHANISMS_LEAVE_CELL_H
#define DG_MECHANISMS_LEAVE_CELL_H

#include "discretegauss_mechanisms.h"
#include "exact/big.h"

struct dg_snapping {
    dg_law *step; /* t / 2^doublings, at most 1 */
    size_t doublings;
    const int64_t *offset;
    const int64_t *shift;
};

/** Draw for value i: *side = 1, -1 or 0.
 *
 *  Law:       as dg_snapping_fill says.
 *  Requires:  big is open or zero. It is opened if the words do not hold the numbers.
 *  Returns:   DG_OK | what reads return | DG_ERR_NOMEM.
 */
dg_status dg_leave_cell(int *side, const dg_snapping *snapping, size_t i, dg_big *big,
                        dg_bits *bits);

#endif
