/* Declarations that the files which build a table share: build_table.c (geometry), build_arcs.c and
 * build_chord.c (bounds in cells). */
#ifndef DG_CELLS_BUILD_H
#define DG_CELLS_BUILD_H

#include "bounds/elementary.h"
#include "bounds/enclosure.h"
#include "cells/table.h"

/* UNIT_BITS: binary places of the bounds of g on blocks. */
enum { UNIT_BITS = 63 };

/** The blocks on one side of the centre, from block 0 (right) or -1 (left) outwards: bounds of the
 *  largest and the least g on each, in units of 2^-63. */
typedef struct dg_side {
    uint64_t *largest_upper, *least_lower;
    uint32_t n, room;
} dg_side;

typedef struct dg_builder {
    dg_enclosure e;
    mpz_t block_d; /* w d */
    dg_side right, left;
    dg_table *table;
    uint32_t n_right, n_left; /* blocks of the core on each side */
    int64_t centre;           /* f, as a distance: build_arcs.c */
} dg_builder;

/** Set e.y_d to the first or the last integer of a block, times d. */
static inline void dg_build_edge(long block, bool last, dg_builder *build)
{
    mpz_mul_si(build->e.y_d, build->block_d, block + last);
    if (last) {
        mpz_sub(build->e.y_d, build->e.y_d, build->table->law->d);
    }
}

/** Set table->tail_arc_bits. */
void dg_build_tail_arc_bits(dg_table *table);

/** Fill in the arcs of the partial cells and of the tails. Returns: DG_OK | DG_ERR_NOMEM. */
dg_status dg_build_arcs(dg_builder *build);

#endif
