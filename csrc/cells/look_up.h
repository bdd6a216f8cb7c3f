/* The hot loop: blocks of a batch of draws, without decisions. One pair of functions per instruction
 * set, all with the same output; tests force each. */
#ifndef DG_CELLS_LOOK_UP_H
#define DG_CELLS_LOOK_UP_H

#include "cells/table.h"

enum {
    DG_MOST_BATCH = 1024,   /* draws that are looked up together, at most */
    DG_LOOK_UP_BEHIND = 64, /* bytes behind a plane that may be read, and are not used */
    DG_FOUND_BEHIND = 64 /* entries behind the last draw's that may be written, and are not used */
};

/** What is found out about the draws of a batch. What is counted comes first: draw.c wipes it. */
struct dg_found {
    size_t n_mixed;   /* draws in mixed rows: so many positions were used */
    size_t n_special; /* draws that the look-up leaves: */
    uint16_t at[DG_MOST_BATCH + DG_FOUND_BEHIND];         /* which, in order */
    uint8_t position_of[DG_MOST_BATCH + DG_FOUND_BEHIND]; /* of draws in mixed rows */
    uint8_t code[DG_MOST_BATCH + DG_FOUND_BEHIND];        /* for the loops themselves */
};

/** out[i] = c + (block 2^tick_bits + tick) of draw i, cut to item_size bytes: right where the draw's
 *  cell is full and its block has a code. The other draws go to found->at[], in order.
 *  found->position_of[i] is the position of draw i if its row is mixed.
 *
 *  Requires:  planes->n <= DG_MOST_BATCH; DG_LOOK_UP_BEHIND readable bytes behind the planes.
 */
dg_look_up dg_look_up_portable;

/* Requires dg_isa_available(DG_ISA_AVX2), index_bits == 16. */
dg_look_up dg_look_up_avx2;

/* Requires dg_isa_available(DG_ISA_AVX512_VBMI2), index_bits == 16. */
dg_look_up dg_look_up_avx512_vbmi2;

/* Requires dg_isa_available(DG_ISA_NEON), index_bits == 16. */
dg_look_up dg_look_up_neon;

#endif
