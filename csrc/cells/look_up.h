/* The hot loop: blocks of a round of draws, without decisions. One function per instruction set, all
 * with the same output; tests force each. */
#ifndef DG_CELLS_LOOK_UP_H
#define DG_CELLS_LOOK_UP_H

#include "cells/table.h"

enum {
    DG_LOOK_UP_BEHIND = 64, /* bytes behind a plane that may be read, and are not used */
    DG_POSITIONS_BEHIND =
        64 /* entries behind the last one of at, position_of that may be written */
};

/** out[i] = c + (block 2^tick_bits + tick) of draw i, cut to item_size bytes: right where the draw's
 *  cell is full and its block has a code. The other draws go to at[], in order. position_of[i] is the
 *  position of draw i if its row is mixed.
 *
 *  Requires:  planes->n <= 65536; DG_LOOK_UP_BEHIND readable bytes behind the planes; at and
 *             position_of have room for n + DG_POSITIONS_BEHIND.
 *  Returns:   how many draws went to at[].
 */
dg_look_up dg_look_up_portable;

/** How many of n rows are mixed. Requires: DG_LOOK_UP_BEHIND readable bytes behind the rows. */
dg_count_mixed dg_count_mixed_portable;

/* These require dg_isa_available(DG_ISA_AVX512_VBMI2), index_bits == 16. */
dg_look_up dg_look_up_vbmi2;
dg_count_mixed dg_count_mixed_vbmi2;

/** The tick of draw i. */
static inline uint64_t dg_tick(const dg_planes *planes, size_t i, unsigned tick_bits)
{
    const uint8_t *plane = planes->ticks + i;
    const size_t bit_plane_bytes = (planes->n + 7) / 8;
    uint64_t tick = 0;
    unsigned bits = 0;
    for (; bits + 8 <= tick_bits; bits += 8, plane += planes->n) {
        tick |= (uint64_t)*plane << bits;
    }
    const uint8_t *bit_plane = plane - i;
    for (; bits < tick_bits; bits++, bit_plane += bit_plane_bytes) {
        tick |= (uint64_t)(bit_plane[i / 8] >> (i % 8) & 1) << bits;
    }
    return tick;
}

#endif
