/* Drawing from a cell table.
 *
 * Protocol. Draws come in chunks, and a chunk is drawn in rounds. The first round is for all its
 * draws, each later one for those whose attempt failed. A round is made in batches. A batch of n draws
 * reads
 *   1. n bytes, a row each; then n ticks in planes (dg_planes); then a byte for each mixed row, in
 *      order: the position;
 *   2. 2 bytes for each draw in a special cell, in order: the height;
 *   3. n times rest_bytes;
 *   4. for each draw that is not settled yet, in order, the bytes of its decision: for the level if
 *      it is in a tail; for more of the height if the decision has to be refined.
 * A chunk has dg_table_chunk draws; the last one of a fill has those that are left. So the bytes read,
 * and the draws, depend neither on the instruction set nor on the output type. They do not depend on
 * where a fill is cut, either, if it is cut at multiples of the chunk.
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
 *  Cost:      a table look-up a draw. 2 or 3 draws in a hundred take about 20 times that, 1 in
 *             100 000 takes a thousand times that.
 */
dg_status dg_table_fill_dtype(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                              dg_bits *bits);

/** Draw n samples of any size, as dg_sampler_fill_wide does. */
dg_status dg_table_fill_bytes(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                              dg_bits *bits);

#endif
