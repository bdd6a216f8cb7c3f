/* The decisions of one attempt: which block, and whether its point lies under the law. */
#ifndef DG_CELLS_DECIDE_H
#define DG_CELLS_DECIDE_H

#include "cells/refine.h"
#include "cells/table.h"
#include "random/bits.h"

/** Where an attempt fell: y = (block 2^tick_bits + tick) 2^(8 rest_bytes) + rest. */
typedef struct dg_place {
    int64_t block;
    uint64_t tick;
} dg_place;

/** Decide the attempt that a word makes.
 *
 *  Law:       over uniform words, rests and bits, Pr[*accepted and y = x - c] is proportional to
 *             Pr[x] of table->law, for every integer x (PROOF.md).
 *  Requires:  rest has table->rest_bytes bytes.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE.
 */
dg_status dg_decide(dg_place *place, bool *accepted, uint64_t word, const uint8_t *rest,
                    const dg_table *table, dg_bits *bits);

/** Fetch into the cache what dg_decide looks at first: step 0, then, for what that brought, step 1. */
static inline void dg_decide_soon(uint64_t word, int step, const dg_table *table)
{
    uint64_t cell = (word & ((UINT64_C(1) << table->index_bits) - 1)) - table->n_full;
    cell = cell < table->n_partial ? cell : 0; /* partial[0] is always there */
    if (step == 0) {
        __builtin_prefetch(&table->partial[cell]);
    } else {
        __builtin_prefetch(&table->lines[table->partial[cell].line]);
    }
}

#endif
