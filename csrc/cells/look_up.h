/* The hot loop: it finds the blocks of a batch of draws, without decisions. Each instruction set has
 * a function, and all have the same output; tests force each. */
#ifndef DG_CELLS_LOOK_UP_H
#define DG_CELLS_LOOK_UP_H

#include "cells/table.h"

enum {
    DG_MOST_BATCH = 1024,   /* draws that are looked up together, at most */
    DG_LOOK_UP_BEHIND = 64, /* unused bytes behind a plane that may be read */
    DG_RESULT_BEHIND = 64   /* unused entries behind the last draw's that may be written */
};

/** The results of a look-up. Counts come first, because draw.c wipes them apart from the arrays. */
struct dg_look_up_result {
    size_t n_mixed;   /* draws in mixed rows, each of which used a position */
    size_t n_special; /* draws in special cells, which the look-up leaves: */
    uint16_t at[DG_MOST_BATCH + DG_RESULT_BEHIND];         /* these, in order */
    uint8_t position_of[DG_MOST_BATCH + DG_RESULT_BEHIND]; /* of draws in mixed rows */
    uint8_t code[DG_MOST_BATCH + DG_RESULT_BEHIND];        /* for the loops themselves */
};

/** Set out[i] = c + (block 2^tick_bits + tick) of draw i, cut to item_size bytes. The block is right if
 *  the draw's cell is full and its block has a code; result->at[] lists the other draws, in order.
 *  result->position_of[i] is the position of draw i if its row is mixed.
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
