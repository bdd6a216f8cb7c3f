/* The cell table of one law: everything that a draw looks up. It never changes after dg_table_build.
 * PROOF.md has its geometry and the proofs. Names:
 *
 *   w = 2^block_bits        block j holds the integers y = j w ... j w + w - 1, relative to c
 *   H = height              slabs of height 1/H under g; g(0) = 1
 *   cell (j, m)             block j times [m/H, (m+1)/H), m the level
 *   tick, rest              y = j w + tick 2^(8 rest_bytes) + rest: the table's arcs depend on the
 *                           tick; the rest is low bytes that wide laws have below it
 *   reach                   how far outwards from the centre y lies in a range of integers, in
 *                           units of 2^-24 of the range, rounded down
 *   a height in a cell      in units of 2^-16 of the cell's height
 */
#ifndef DG_CELLS_TABLE_H
#define DG_CELLS_TABLE_H

#include "base/isa.h"
#include "base/status.h"
#include "cells/rows.h"
#include "law/law.h"

enum {
    DG_INDEX_BITS = 16,  /* of a row and a position; only tests build smaller tables */
    DG_TICK_BITS = 48,   /* at most; DG_INDEX_BITS + DG_TICK_BITS = 64 */
    DG_HEIGHT_BITS = 16, /* binary places of a height in a cell */
    DG_REACH_BITS = 24,  /* binary places of a reach */
    DG_TAIL_LEVELS = 16, /* tail blocks with arcs; dg_refine decides attempts beyond */
    DG_TAIL_ARCS = 8     /* arcs a tail block has, at most */
};

/** An arc that bounds t = 2^16 (2^i H g - m) on a range of integers, a block of the core (i = 0) or
 *  a part of the i-th tail block: a parabola, q the reach,
 *
 *    v = base - floor(slope q / 2^24) + floor(bulge floor(q (2^24 - q) / 2^30) / 2^16),
 *    C(v - error) <= C(t) <= C(v + error),   C(t) = t clamped to [0, 2^16],
 *
 *  for every y of the range. Clamping decides nothing differently, because t is compared with a
 *  height F in [0, 2^16). |base| and slope are at most 2^30, |bulge| at most 2^14. */
typedef struct dg_arc {
    int32_t base;
    uint32_t slope;
    uint16_t error;
    int16_t bulge;
} dg_arc;

/** The error of an arc that bounds nothing. */
#define DG_UNKNOWN_ERROR UINT16_MAX

/** Return an arc that bounds nothing: v = 1, so v - error <= 0 and v + error >= 2^16. */
static inline dg_arc dg_unknown_arc(void)
{
    return (dg_arc){1, 0, DG_UNKNOWN_ERROR, 0};
}

typedef struct dg_partial {
    int16_t block;
    uint16_t level;
    dg_arc arc; /* of its block */
} dg_partial;

typedef struct dg_table dg_table;

/** The bits of a batch of draws, in planes: each holds a byte, or a bit, of every draw. */
typedef struct dg_planes {
    size_t n;             /* draws */
    const uint8_t *rows;  /* n bytes */
    const uint8_t *ticks; /* tick_bits / 8 planes of n bytes, the low bits of the ticks first, then
                           * tick_bits % 8 planes of ceil(n / 8) bytes, a bit a draw */
    const uint8_t *positions; /* a byte for each mixed row, in order */
} dg_planes;

/** See look_up.h. */
typedef struct dg_look_up_result dg_look_up_result;
typedef void dg_look_up(void *out, dg_look_up_result *result, size_t item_size, uint64_t c,
                        const dg_planes *planes, const dg_table *table);

/** See decide.h. */
typedef void dg_decide_each(uint8_t *outcome, uint64_t *y, const uint16_t *special,
                            const dg_partial *partial, const uint8_t *heights, size_t n,
                            const dg_table *table);

struct dg_table {
    const dg_law *law;
    dg_isa isa;          /* which both loops are written for: */
    dg_look_up *look_up; /* it finds the cells of a batch */
    dg_decide_each *decide_each;
    dg_rows rows;
    size_t block_bits;
    size_t rest_bytes;
    unsigned index_bits, tick_bits, tail_bits;
    uint32_t height;
    int32_t first_block, last_block; /* the core */
    /* cells in order: full (of blocks with a code, then of others), partial, left tail, right tail,
     * reject. Special cell i of the rows is cell n_coded + i. */
    int32_t coded_first, coded_last; /* block of code 0 */
    uint32_t n_coded, n_full, n_partial, n_tail_side;
    unsigned tail_arc_bits; /* 2^this arcs a tail block */
    uint8_t *centre_bytes;  /* c in two's complement, law->wide_bytes of them */
    int16_t *block_of;      /* of the full cells */
    dg_partial *partial;
    dg_arc *tail_arcs; /* by side (left first), level, part */
};

/** Return how many arcs the tails have. */
static inline uint32_t dg_table_tail_arcs(const dg_table *table)
{
    return UINT32_C(2) * DG_TAIL_LEVELS << table->tail_arc_bits;
}

/** Build the table of a law.
 *
 *  Requires:  law is a Laplace, Gaussian or generalised Gaussian; 4 <= index_bits <= DG_INDEX_BITS;
 *             w is chosen here if block_bits < 0, else w = 2^block_bits;
 *             isa available.
 *  Ensures:   DG_OK -> *out is the table, which refers to law, to be freed by dg_table_release.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_STEEP_BETA if no H >= 1 fits 2^index_bits cells. With DG_INDEX_BITS
 *             only laws of a large beta have none.
 */
dg_status dg_table_build(dg_table **out, const dg_law *law, unsigned index_bits, long block_bits,
                         dg_isa isa);

/** Return how many bytes of memory a table takes. */
size_t dg_table_bytes(const dg_table *table);

void dg_table_release(dg_table *table);

#endif
