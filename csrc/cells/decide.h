/* The decisions on one attempt: which block it is in, and whether its point lies under the law. */
#ifndef DG_CELLS_DECIDE_H
#define DG_CELLS_DECIDE_H

#include "bounds/refine.h"
#include "cells/table.h"
#include "random/bits.h"

#include <stddef.h>

/** The place of an attempt: y = (block 2^tick_bits + tick) 2^(8 rest_bytes) + rest. */
typedef struct dg_place {
    int64_t block;
    uint64_t tick;
} dg_place;

/** Return the reach of the integer at `offset` in a range of 2^n_bits. Requires: offset < 2^n_bits,
 *  n_bits <= 64. */
static inline uint64_t dg_reach(uint64_t offset, unsigned n_bits)
{
    return n_bits <= DG_REACH_BITS ? offset << (DG_REACH_BITS - n_bits)
                                   : offset >> (n_bits - DG_REACH_BITS);
}

/** Return how many ticks of its block lie between a place and the centre. There is no branch, because
 *  it would be taken every other time. */
static inline uint64_t dg_ticks_inwards(const dg_place *place, const dg_table *table)
{
    const uint64_t last_tick = (UINT64_C(1) << table->tick_bits) - 1;
    return place->tick ^ (last_tick & (uint64_t)-(int64_t)(place->block < 0));
}

/** Return v of an arc. */
static inline int64_t dg_arc_height(uint64_t reach, const dg_arc *arc)
{
    enum { DROP = 2 * DG_REACH_BITS - DG_HEIGHT_BITS - 2 };
    const uint64_t one = UINT64_C(1) << DG_REACH_BITS;
    const uint64_t fall = arc->slope * reach >> DG_REACH_BITS;
    const uint64_t middle = reach * (one - reach) >> DROP; /* 2^16 in the middle */
    const int64_t bulge = (int64_t)arc->bulge * (int64_t)middle;
    return arc->base - (int64_t)fall + (bulge >> DG_HEIGHT_BITS); /* negative ones downwards, too */
}

/** Compare a height with an arc.
 *
 *  Returns:   false if the arc leaves it in doubt; otherwise *accepted is set.
 */
static inline bool dg_arc_tells(bool *accepted, uint32_t height, uint64_t reach, const dg_arc *arc)
{
    const uint32_t error = arc->error;
    const int64_t above = (int64_t)height - (dg_arc_height(reach, arc) - (int64_t)error);
    *accepted = above < 0; /* height + 1 <= the lower bound */
    /* in doubt if 0 <= above < 2 error: one comparison, because half the attempts are rejected */
    return !DG_ALWAYS_REFINE && (uint64_t)above >= 2 * (uint64_t)error;
}

/** Return a special cell's partial cell, or the first of table->partial if the cell is not partial. */
static inline const dg_partial *dg_partial_at(uint32_t special, const dg_table *table)
{
    const uint32_t partial =
        table->n_coded + special - table->n_full; /* 2^31 or more for a full cell */
    return &table->partial[partial < table->n_partial ? partial : 0];
}

/** Decide an attempt in a special cell, if that is full or its arc leaves no doubt. Requires:
 *  place->tick is set, *of is its dg_partial_at. Ensures: place->block is a block of the core.
 *
 *  Returns:   false if dg_decide_in_doubt has to decide; otherwise *accepted is set.
 */
static inline bool dg_decide_at_once(dg_place *place, bool *accepted, uint32_t cell,
                                     const dg_partial *of, uint32_t height, const dg_table *table)
{
    const bool is_partial = cell - table->n_full < table->n_partial;
    place->block = of->block;
    const uint64_t reach = dg_reach(dg_ticks_inwards(place, table), table->tick_bits);
    const bool told = dg_arc_tells(accepted, height, reach, &of->arc);
    /* the first comparison spares most Gaussians the second: all their full cells have a code */
    if (table->n_full > table->n_coded && cell < table->n_full) {
        place->block = table->block_of[cell];
        *accepted = true;
        return true;
    }
    return told & is_partial;
}

/* The outcomes of dg_decide_at_once. */
enum { DG_FAILED, DG_ACCEPTED, DG_IN_DOUBT };

/* How many entries behind the last one dg_decide_each may read and overwrite, without using them. */
enum { DG_DECIDE_BEHIND = 8 };

/** Return height i of an array of heights, two bytes each. */
static inline uint16_t dg_height_at(const uint8_t *heights, size_t i)
{
    return (uint16_t)(heights[2 * i] | heights[2 * i + 1] << 8);
}

/** dg_decide_at_once for n attempts: special[i] is the number of the special cell, y[i] the tick, which
 *  becomes block 2^tick_bits + tick, and dg_height_at(heights, i) the height. */
dg_decide_each dg_decide_each_portable;

_Static_assert(sizeof(dg_partial) == 16 && offsetof(dg_partial, block) == 0 &&
                   offsetof(dg_partial, arc.base) == 4 && offsetof(dg_partial, arc.slope) == 8 &&
                   offsetof(dg_partial, arc.error) == 12 && offsetof(dg_partial, arc.bulge) == 14,
               "the vector loops read a partial cell as two words with fields at these offsets");

/* The same. Requires: dg_isa_available(DG_ISA_AVX512). */
dg_decide_each dg_decide_each_avx512;

/* The same. Requires: dg_isa_available(DG_ISA_NEON). */
dg_decide_each dg_decide_each_neon;

/** The question whether m + f' < 2^level H g(y), for a uniform f' in [0, 1) and the y at a place. */
typedef struct dg_question_at {
    const dg_place *place;
    const uint8_t *rest; /* of table->rest_bytes bytes */
    uint32_t m;
    uint64_t level;
} dg_question_at;

/** Decide the question by dg_refine, given the n_bits leading bits of f', at most 64.
 *
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_NOMEM.
 */
dg_status dg_decide_exactly(bool *accepted, uint64_t leading, size_t n_bits,
                            const dg_question_at *q, const dg_table *table, dg_bits *bits);

/** Return the arc of an attempt in a tail. `cell` counts from the side's first one.
 *  Requires: place->tick is set. Ensures: place->block and *reach are set. */
dg_arc dg_tail_arc(dg_place *place, uint64_t *reach, bool left, uint64_t cell, uint64_t level,
                   const dg_table *table);

/** Decide an attempt in a special cell if dg_decide_at_once does not: in a partial cell by dg_refine,
 *  or in a tail or reject cell. height: the DG_HEIGHT_BITS leading bits of f'.
 *
 *  Law:       with dg_decide_at_once, over uniform cells, ticks, heights, rests and bits,
 *             Pr[*accepted and y = x - c] is proportional to Pr[x] of table->law, for every
 *             integer x (PROOF.md).
 *  Requires:  rest has table->rest_bytes bytes.
 *  Ensures:   place->block is set.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_NOMEM.
 */
dg_status dg_decide_in_doubt(dg_place *place, bool *accepted, uint32_t cell, uint32_t height,
                             const uint8_t *rest, const dg_table *table, dg_bits *bits);

#endif
