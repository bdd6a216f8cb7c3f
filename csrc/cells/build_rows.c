#include "cells/rows.h"

#include "base/contract.h"

#include <stdbool.h>
#include <string.h>

/** Positions of one code that rows have to hold. */
typedef struct share {
    uint32_t count;
    uint8_t code;
} share;

/** Shares in ascending order of their counts. */
typedef struct shares {
    uint32_t n;
    share of[DG_ROWS];
} shares;

static void insert(shares *to, share one)
{
    uint32_t i = to->n++;
    for (; i > 0 && to->of[i - 1].count > one.count; i--) {
        to->of[i] = to->of[i - 1];
    }
    to->of[i] = one;
}

static share take(shares *from, uint32_t i)
{
    share taken = from->of[i];
    from->n--;
    memmove(&from->of[i], &from->of[i + 1], (from->n - i) * sizeof taken);
    return taken;
}

/** Take `count` off the largest share. */
static share cut(shares *from, uint32_t count)
{
    share whole = take(from, from->n - 1), left = {whole.count - count, whole.code};
    if (left.count > 0) {
        insert(from, left);
    }
    return (share){count, whole.code};
}

/** Return the place of the largest share of at most `count`, or from->n if there is none. */
static uint32_t largest_within(uint32_t count, const shares *from)
{
    uint32_t i = from->n;
    while (i > 0 && from->of[i - 1].count > count) {
        i--;
    }
    return i > 0 ? i - 1 : from->n;
}

/** Set a row of n pieces. Requires: a row that is not mixed has one piece, and it is not special. */
static void set_row(dg_rows *rows, uint32_t *next_special, uint32_t row, bool mixed,
                    const share *piece, uint32_t n)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < 3; i++) { /* missing pieces are empty and before the last one */
        rows->code[i][row] = piece[i < n ? i : n - 1].code;
    }
    rows->end[0][row] = (uint8_t)(n > 1 ? piece[0].count : mixed);
    rows->end[1][row] = (uint8_t)(rows->end[0][row] + (n == 3 ? piece[1].count : 0));
    rows->whole[row] = mixed ? (uint8_t)DG_SPECIAL : piece[0].code;
    for (uint32_t i = 0; i < n; i++) { /* a row has one special piece at most */
        if (piece[i].code == DG_SPECIAL) {
            rows->special[row] = (uint16_t)(*next_special - start);
            *next_special += piece[i].count;
        }
        start += piece[i].count;
    }
}

/** Cut the shares into n_rows rows. A row holds the smallest share, the largest that fits beside it,
 *  and a part of the largest of all.
 *
 *  Returns:   false if a row would need more than three pieces, which takes more shares than rows.
 *             Otherwise shares average 2^position_bits or more, so the largest left fills the room
 *             that one or two shares leave in a row. Each row uses up a share, unless all shares
 *             are larger than a row, and they are then fewer than the rows left.
 */
static bool pack(dg_rows *rows, shares from, uint32_t n_rows)
{
    const uint32_t size = UINT32_C(1) << rows->position_bits;
    uint32_t next_special = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        share piece[3];
        uint32_t n = 1, room = size;
        if (from.of[0].count >= size) {
            piece[0] = cut(&from, size);
            room = 0;
        } else {
            piece[0] = take(&from, 0);
            room -= piece[0].count;
            uint32_t beside = largest_within(room, &from);
            if (beside < from.n) {
                piece[n] = take(&from, beside);
                room -= piece[n++].count;
            }
        }
        if (room > 0) {
            if (from.of[from.n - 1].count < room) {
                return false;
            }
            piece[n++] = cut(&from, room);
        }
        set_row(rows, &next_special, row, true, piece, n);
    }
    return true;
}

/** Return how many shares shares_of would make. Usually they are too many, and need no sorting. */
static uint32_t count_shares(const uint32_t *remainder, uint32_t n, uint32_t n_special)
{
    uint32_t count = n_special > 0;
    for (uint32_t k = 0; k < n; k++) {
        count += remainder[k] > 0;
    }
    return count;
}

/** The shares of the codes and of the special cells. */
static shares shares_of(const uint32_t *remainder, uint32_t n, uint32_t n_special)
{
    shares all = {0};
    for (uint32_t k = 0; k <= n; k++) {
        share one = {k < n ? remainder[k] : n_special, (uint8_t)(k < n ? k : DG_SPECIAL)};
        if (one.count > 0) {
            insert(&all, one);
        }
    }
    return all;
}

/** Return the code with the most whole rows. */
static uint32_t most_rows(const uint32_t *n_whole, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t k = 1; k < n; k++) {
        most = n_whole[k] > n_whole[most] ? k : most;
    }
    return most;
}

void dg_rows_build(dg_rows *rows, const uint32_t *count, uint32_t n, uint32_t n_special)
{
    const uint32_t size = UINT32_C(1) << rows->position_bits;
    uint32_t remainder[DG_ROWS] = {0}, n_whole[DG_ROWS] = {0};
    uint32_t n_mixed = UINT32_C(1) << rows->row_bits;
    for (uint32_t k = 0; k < n; k++) {
        remainder[k] = count[k] % size;
        n_whole[k] = count[k] / size;
        n_mixed -= n_whole[k];
    }
    for (;;) { /* turn whole rows back into shares until the shares can be packed */
        if (2 * n_mixed >= count_shares(remainder, n, n_special) &&
            pack(rows, shares_of(remainder, n, n_special), n_mixed)) {
            break;
        }
        uint32_t k = most_rows(n_whole, n);
        DG_REQUIRES(n_whole[k] > 0); /* else shares are no more than rows, and were packed */
        n_whole[k]--;
        remainder[k] += size;
        n_mixed++;
    }
    rows->n_mixed = n_mixed;
    for (uint32_t k = 0, row = n_mixed; k < n; k++) {
        for (uint32_t i = 0; i < n_whole[k]; i++) {
            set_row(rows, NULL, row++, false, &(share){size, (uint8_t)k}, 1);
        }
    }
}
