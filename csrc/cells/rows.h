/* From the first random bits of a draw to its cell: 2^row_bits rows of 2^position_bits positions, a
 * position for each cell. A row is cut into at most three pieces. A piece belongs to one block (a
 * full cell of it, which one does not matter) or is special: cells that are not full, or of blocks
 * without a code. Most rows are of one block as a whole: for those no position is drawn. */
#ifndef DG_CELLS_ROWS_H
#define DG_CELLS_ROWS_H

#include "discretegauss_parts.h"

#include <stddef.h>
#include <stdint.h>

enum {
    DG_ROW_BITS = 8,      /* at most */
    DG_POSITION_BITS = 8, /* at most */
    DG_ROWS = 1 << DG_ROW_BITS,
    DG_CODES = DG_ROWS - 1, /* codes of blocks are below */
    DG_SPECIAL = DG_SPECIAL_CODE
};

typedef struct dg_rows {
    unsigned row_bits, position_bits;
    unsigned n_mixed; /* the rows below are mixed, at least 1; those from here on are one block's */
    /* pieces [0, end[0]), [end[0], end[1]), [end[1], 2^position_bits); both 0: one block's row, for
     * which no position is drawn */
    uint8_t end[2][DG_ROWS];
    uint8_t code[3][DG_ROWS];
    uint8_t whole[DG_ROWS];    /* the code of one block's row, DG_SPECIAL of a mixed one */
    uint16_t special[DG_ROWS]; /* position + special, modulo 2^16: number of the special cell */
} dg_rows;

/** Lay out the rows.
 *
 *  Requires:  row_bits and position_bits set, 2 <= position_bits; n <= min(2^row_bits - 1,
 *             DG_CODES); n_special > 0; the counts and n_special sum to 2^(row_bits + position_bits).
 *  Ensures:   code k has count[k] of the (row, position), the special cells 0 ... n_special - 1
 * have one each.
 *  Cost:      some 10^4 steps.
 */
void dg_rows_build(dg_rows *rows, const uint32_t *count, uint32_t n, uint32_t n_special);

static inline size_t dg_row_piece(size_t row, unsigned position, const dg_rows *rows)
{
    return (size_t)(position >= rows->end[0][row]) + (size_t)(position >= rows->end[1][row]);
}

#endif
