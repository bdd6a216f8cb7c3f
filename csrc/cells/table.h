/* The cell table of one law: everything that a draw looks up. Immutable after dg_table_build.
 * Geometry and proofs: PROOF.md. Names:
 *
 *   w = 2^block_bits        block j holds the integers y = j w ... j w + w - 1, relative to c
 *   H = height              slabs of height 1/H under g; g(0) = 1
 *   cell (j, m)             block j times [m/H, (m+1)/H), m the level
 *   tick                    the low bits of y that a word decides on: y = j w + tick 2^(8
 * rest_bytes)
 *                           + rest
 *   distance                |y - f| in units of w 2^-48
 *   a height in a cell      in units of 2^-56 of the cell's height
 */
#ifndef DG_CELLS_TABLE_H
#define DG_CELLS_TABLE_H

#include "base/isa.h"
#include "base/status.h"
#include "cells/rows.h"
#include "exact/law.h"

enum {
    DG_INDEX_BITS = 16,    /* of every table but those that tests make smaller: row and position */
    DG_TICK_BITS = 48,     /* at most; DG_INDEX_BITS + DG_TICK_BITS = 64 */
    DG_DISTANCE_BITS = 48, /* binary places of a distance, in blocks */
    DG_HEIGHT_BITS = 56,   /* binary places of a height in a cell */
    DG_SLOPE_BITS = 40,    /* binary places of a slope */
    DG_TAIL_LEVELS = 16,   /* tail blocks with lines; those beyond are decided by dg_refine */
    DG_TAIL_LINES = 8      /* lines a tail block has, at most */
};

/** A line that bounds t = 2^56 (2^i H g - m) against the distance, i the tail level (0 in the
 *  core): v = base + floor((far - distance) slope / 2^40), where the second term is held
 *  within 2^62 in size, and
 *
 *    C(v - error) <= C(t) <= C(v + error),   C(t) = t clamped to [0, 2^56],
 *
 *  for every y of the cells that use it, whatever its rest. A height F of [0, 2^56) is compared
 *  with t, so the clamped values decide the same. */
typedef struct dg_line {
    int64_t base, error;
    uint64_t far, slope;
} dg_line;

/** The error of a line that says nothing. */
#define DG_UNKNOWN_ERROR (INT64_C(1) << 60)

typedef struct dg_partial {
    int16_t block;
    uint16_t level;
    uint32_t line;
} dg_partial;

typedef struct dg_table dg_table;

/** The bits of the draws of a round, in planes: a byte of each draw, or a bit of each, together. */
typedef struct dg_planes {
    size_t n;             /* draws */
    const uint8_t *rows;  /* n bytes */
    const uint8_t *ticks; /* tick_bits / 8 planes of n bytes, the low bits of the ticks first, then
                           * tick_bits % 8 planes of ceil(n / 8) bytes, a bit a draw */
    const uint8_t *positions; /* a byte for each mixed row, in order */
    size_t n_mixed;           /* of them */
} dg_planes;

/** See look_up.h. */
typedef struct dg_found dg_found;
typedef size_t dg_find_mixed(dg_found *found, const uint8_t *rows, size_t n, const dg_table *table);
typedef uint32_t dg_look_up(void *out, dg_found *found, size_t item_size, uint64_t c,
                            const dg_planes *planes, const dg_table *table);

struct dg_table {
    const dg_law *law;
    dg_isa isa;          /* what draws are looked up with */
    dg_look_up *look_up; /* by it */
    dg_find_mixed *find_mixed;
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
    uint32_t n_lines, tail_lines; /* lines[tail_lines ...]: by side (left first), level, part */
    unsigned tail_line_bits;      /* 2^this lines a tail block */
    int64_t centre;               /* f, as a distance */
    uint8_t *centre_bytes;        /* c in two's complement, law->wide_bytes of them */
    int16_t *block_of;            /* of the full cells */
    dg_partial *partial;
    dg_line *lines;
};

/** Build the table of a law.
 *
 *  Requires:  law is a Laplace, Gaussian or generalised Gaussian; 4 <= index_bits <= DG_INDEX_BITS;
 *             block_bits < 0: chosen here; else w = 2^block_bits;
 *             isa available.
 *  Ensures:   DG_OK -> *out is the table, which refers to law, to be freed by dg_table_release.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_PARAMETER if no H >= 1 fits 2^index_bits cells.
 */
dg_status dg_table_build(dg_table **out, const dg_law *law, unsigned index_bits, long block_bits,
                         dg_isa isa);

void dg_table_release(dg_table *table);

#endif
