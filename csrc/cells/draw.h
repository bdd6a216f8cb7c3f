/* Drawing from a cell table.
 *
 * Protocol. Draws come in chunks, a chunk is drawn in rounds. The first round is for all its draws,
 * the next for those whose attempt failed, until there are none. A round is made in batches: a batch
 * of n draws reads
 *   1. n bytes, a row each; then n ticks in planes (dg_planes); then a byte for each mixed row, in
 *      order: the position;
 *   2. 2 bytes for each draw in a special cell, in order: the height;
 *   3. n times rest_bytes;
 *   4. for each draw that is not settled yet, in order, what its decision reads: in the tails bytes
 *      for the level; more of the height where the decision has to be refined.
 * A chunk has dg_table_chunk draws, the last one of a fill what is left. So the bytes read, and the
 * draws, do not depend on the instruction set, the output type, or where a fill is cut, as long as it
 * is cut at multiples of the chunk.
 */
#ifndef DG_CELLS_DRAW_H
#define DG_CELLS_DRAW_H

#include "cells/table.h"
#include "random/bits.h"

size_t dg_table_chunk(const dg_table *table);

/** Draw n samples into an array of machine integers.
 *
 *  Law:       that of table->law, for every integer.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_RANGE (a draw does not fit; at once
 *             if the law is far wider than any dtype).
 *  Cost:      a table look-up a draw; 2 or 3 in a hundred take some 20 times that, 1 in
 *             100 000 a thousand times.
 */
dg_status dg_table_fill_dtype(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                              dg_bits *bits);

/** Draw n samples of any size, as dg_sampler_fill_wide. */
dg_status dg_table_fill_bytes(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                              dg_bits *bits);

#endif
