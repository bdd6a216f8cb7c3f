/* The hot loop: cells of a chunk of words, without decisions. One function per instruction set, all
 * with the same output; tests force each. */
#ifndef DG_CELLS_LOOK_UP_H
#define DG_CELLS_LOOK_UP_H

#include "cells/table.h"

enum {
    DG_LOOK_UP_BEHIND = 64,  /* bytes behind the last word that may be read, and are not used */
    DG_POSITIONS_BEHIND = 16 /* entries behind the last position that may be written */
};

/** out[i] = c + (block 2^tick_bits + tick) of word i, cut to item_size bytes: right where the
 *  word's cell is full. The positions of the other words go to at[], in order.
 *
 *  Requires:  n <= 65536; words holds n words of dg_table_word_bytes and DG_LOOK_UP_BEHIND bytes
 *  more; at has room for n + DG_POSITIONS_BEHIND. Returns:   how many positions were written.
 */
dg_look_up dg_look_up_portable;

/** What dg_look_up_avx512 needs for words of n_bytes. */
void dg_look_up_spread(dg_spread *out, size_t n_bytes);

dg_look_up dg_look_up_avx512; /* requires dg_isa_available(DG_ISA_AVX512), index_bits == 16 */

/** The word of n_bytes <= 8 at p, least significant byte first. Reads 8 bytes. */
static inline uint64_t dg_load_word(const uint8_t *p, size_t n_bytes)
{
    uint64_t word;
    __builtin_memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return n_bytes == 8 ? word : word & ((UINT64_C(1) << (8 * n_bytes)) - 1);
}

#endif
