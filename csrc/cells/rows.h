/* Map the first random bits of a draw to its cell: 2^row_bits rows of 2^position_bits positions, one
 * position for each cell. A row is cut into at most three pieces. A piece stands for full cells of one
 * block, all alike to a draw, or it is special: for cells that are not full, or whose blocks have no
 * code. Most rows belong to one block as a whole, and draws in them read no position. */
#ifndef DG_CELLS_ROWS_H
#define DG_CELLS_ROWS_H

#include "discretegauss_parts.h"

#include <stddef.h>
#include <stdint.h>

enum {
    DG_ROW_BITS = 8,      /* at most */
    DG_POSITION_BITS = 8, /* at most */
    DG_ROWS = 1 << DG_ROW_BITS,
    DG_CODES = DG_ROWS - 1, /* codes of blocks are less than this */
    DG_SPECIAL = DG_SPECIAL_CODE
};

typedef struct dg_rows {
    unsigned row_bits, position_bits;
    unsigned n_mixed; /* at least 1: lower rows are mixed, each other one belongs to one block */
    /* pieces [0, end[0]), [end[0], end[1]), [end[1], 2^position_bits). Both ends are 0 if the row
     * belongs to one block. */
    uint8_t end[2][DG_ROWS];
    uint8_t code[3][DG_ROWS];
    uint8_t whole[DG_ROWS];    /* the code of the row's one block; DG_SPECIAL if it is mixed */
    uint16_t special[DG_ROWS]; /* position + special, modulo 2^16, numbers the special cell */
} dg_rows;

/** Lay out the rows.
 *
 *  Requires:  row_bits and position_bits set, 2 <= position_bits; n <= min(2^row_bits - 1,
 *             DG_CODES); n_special > 0; the counts and n_special sum to 2^(row_bits + position_bits).
 *  Ensures:   code k has count[k] of the pairs (row, position); each special cell 0 ... n_special - 1
 *             has one.
 *  Cost:      about 10^4 steps.
 */
void dg_rows_build(dg_rows *rows, const uint32_t *count, uint32_t n, uint32_t n_special);

static inline size_t dg_row_piece(size_t row, unsigned position, const dg_rows *rows)
{
    return (size_t)(position >= rows->end[0][row]) + (size_t)(position >= rows->end[1][row]);
}

#endif
