/* Noise as a function of a key and of an item's number: the same draws in any order, on any device.
 *
 * The items of a tile are drawn from 256 neighbouring blocks of ChaCha20, so that threads of a GPU
 * that write neighbouring items each make one block. Block (number, attempt, depth) has these four
 * words behind the key: the low half of number, its high half, attempt, depth.
 *
 *   words            of an item's cell: 1, or 2 if a tick has more than 16 bits
 *   items            of a block: 16 / words; a tile has 256 times as many
 *   cell of item i   words `words` k ... of block (256 tile + i % 256, 0, 0): tile = i / (256 items),
 *                    k = i / 256 % items
 *                    bits 0 to 7: the row; 8 to 15: the position; from 16 on: the tick
 *   attempt a of it  words 0 and 1 of block (i, a, 1): the first 64 bits of f', as a number, low half
 *                    first; words 2 and 3: the level, if the cell is a tail's, is the number of
 *                    ones that lead them; words 4 and 5: the cell of attempt a + 1
 *   further bits     of either come from the same words of blocks (i, a, 2), (i, a, 3), ...
 *
 * The draw is the y of the first attempt that succeeds. An attempt succeeds if m + f' < 2^level H g(y),
 * however many bits of f' an implementation looks at (PROOF.md, lemma 26).
 */
#ifndef DG_CELLS_NOISE_AT_H
#define DG_CELLS_NOISE_AT_H

#include "base/dtype.h"
#include "cells/table.h"

enum {
    DG_NOISE_COLUMNS = 256, /* blocks a tile */
    DG_NOISE_WORD_TICK = 16 /* bits of the tick in a cell's first word */
};

/** Return how many words a cell of the table has. */
static inline unsigned dg_noise_words(const dg_table *table)
{
    return table->tick_bits <= DG_NOISE_WORD_TICK ? 1 : 2;
}

/** Return whether dg_table_noise_at takes the table: it has 2^16 cells, and its law has no rest. */
static inline bool dg_noise_takes_table(const dg_table *table)
{
    return table->index_bits == DG_INDEX_BITS && table->rest_bytes == 0;
}

/** Draw items [first_item, first_item + n) of the noise under a key of 32 bytes.
 *
 *  Law:       if the key is uniform and ChaCha20 a random function, items are independent, and each
 *             has the law of table->law, for every integer.
 *  Requires:  dg_noise_takes_table; first_item + n < 2^64.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_RANGE: an item does not fit the dtype.
 *  Cost:      about 20 ns an item; a block of ChaCha20 or more for each item in a special cell.
 */
dg_status dg_table_noise_at(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                            uint64_t first_item, const uint8_t *key);

#endif
