/* The decisions of one attempt: which block, and whether its point lies under the law. */
#ifndef DG_CELLS_DECIDE_H
#define DG_CELLS_DECIDE_H

#include "base/wide.h"
#include "cells/refine.h"
#include "cells/table.h"
#include "random/bits.h"

/** Where an attempt fell: y = (block 2^tick_bits + tick) 2^(8 rest_bytes) + rest. */
typedef struct dg_place {
    int64_t block;
    uint64_t tick;
} dg_place;

/** What is asked: is m + f < 2^level H g(y), f a uniform number in [0, 1), y at a place. */
typedef struct dg_question_at {
    const dg_place *place;
    const uint8_t *rest;
    uint32_t m;
    uint64_t level;
} dg_question_at;

/** Decide the question by dg_refine, given the DG_HEIGHT_BITS leading bits of f.
 *
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE.
 */
dg_status dg_decide_exactly(bool *accepted, uint64_t leading, const dg_question_at *q,
                            const dg_table *table, dg_bits *bits);

/** dg_decide for a cell that is not partial. */
dg_status dg_decide_rare(dg_place *place, bool *accepted, uint64_t cell, const uint8_t *rest,
                         const dg_table *table, dg_bits *bits);

/** v, but at least -2^62 and at most 2^62: a steep line far from its chord leaves 64 bits. */
static inline int64_t dg_within_62_bits(dg_wide v)
{
    const int64_t most = INT64_C(1) << 62, low = (int64_t)v.low;
    if (__builtin_expect(v.high != (low < 0 ? -1 : 0), 0)) {
        return v.high < 0 ? -most : most;
    }
    const int64_t at_least = low < -most ? -most : low;
    return at_least > most ? most : at_least;
}

/** Decide a question by a line, NULL if there is none; by dg_refine where the line does not tell.
 *
 *  Returns:   as dg_decide_exactly.
 */
static inline dg_status dg_decide_by_line(bool *accepted, const dg_line *line,
                                          const dg_question_at *q, const dg_table *table,
                                          dg_bits *bits)
{
    enum { MOST_BLOCKS = 1 << 13 }; /* a distance of 2^13 blocks is 2^61 units */
    const int64_t block = q->place->block;
    int64_t value = 0, error = DG_UNKNOWN_ERROR;
    if (line != NULL && block >= -MOST_BLOCKS && block < MOST_BLOCKS) {
        int64_t at = (block * (INT64_C(1) << DG_DISTANCE_BITS)) +
                     (int64_t)(q->place->tick << (DG_DISTANCE_BITS - table->tick_bits)) -
                     table->centre;
        int64_t inside = (int64_t)line->far - (at < 0 ? -at : at);
        dg_wide rise = dg_wide_down(dg_wide_product(inside, line->slope), DG_SLOPE_BITS);
        value = dg_within_62_bits(rise) + line->base;
        error = line->error;
    }
    if (DG_ALWAYS_REFINE) {
        error = DG_UNKNOWN_ERROR;
    }
    uint64_t leading;
    DG_TRY(dg_bits_word(&leading, DG_HEIGHT_BITS / 8, bits));
    const int64_t above = (int64_t)leading - (value - error); /* both are below 2^63 in size */
    *accepted = above < 0;                                    /* F + 1 <= the lower bound */
    /* in doubt: 0 <= above < 2 error; one comparison, as half the attempts are refused */
    if (__builtin_expect((uint64_t)above >= 2 * (uint64_t)error, 1)) {
        return DG_OK;
    }
    return dg_decide_exactly(accepted, leading, q, table, bits);
}

/** Decide the attempt that a word makes.
 *
 *  Law:       over uniform words, rests and bits, Pr[*accepted and y = x - c] is proportional to
 *             Pr[x] of table->law, for every integer x (PROOF.md).
 *  Requires:  rest has table->rest_bytes bytes.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE.
 */
static inline dg_status dg_decide(dg_place *place, bool *accepted, uint64_t word,
                                  const uint8_t *rest, const dg_table *table, dg_bits *bits)
{
    const uint64_t cell = word & ((UINT64_C(1) << table->index_bits) - 1);
    const uint64_t partial = cell - table->n_full; /* 2^64 - ... for a full cell */
    place->tick = (word >> table->index_bits) & ((UINT64_C(1) << table->tick_bits) - 1);
    if (__builtin_expect(partial >= table->n_partial, 0)) {
        return dg_decide_rare(place, accepted, cell, rest, table, bits);
    }
    const dg_partial *of = &table->partial[partial];
    place->block = of->block;
    const dg_question_at q = {place, rest, of->level, 0};
    return dg_decide_by_line(accepted, &table->lines[of->line], &q, table, bits);
}

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
