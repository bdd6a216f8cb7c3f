/* What the two halves of table building share: table.c (geometry) and lines.c (bounds in cells). */
#ifndef DG_CELLS_BUILD_H
#define DG_CELLS_BUILD_H

#include "cells/elementary.h"
#include "cells/enclosure.h"
#include "cells/table.h"

/* UNIT_BITS: binary places of the bounds of g on blocks. */
enum { UNIT_BITS = 63 };

/** Block edges on one side of the centre, from block 0 (right) or -1 (left) outwards: bounds of the
 *  largest and the least g on each block, in units of 2^-63. */
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
} dg_builder;

/** Ask about the first or the last integer of a block: set e.y_d. */
void dg_build_edge(long block, bool last, dg_builder *build);

/** Fill in table->lines and the line numbers of table->partial. */
void dg_build_lines(dg_builder *build);

/** Lines that the table needs, at most; sets table->tail_line_bits. */
uint32_t dg_build_most_lines(dg_table *table);

#endif
