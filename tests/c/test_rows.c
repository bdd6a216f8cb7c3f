/* Rows contain every count exactly and every special cell once, and few rows are mixed. */
#include "support.h"

#include "cells/rows.h"

#include <stdbool.h>
#include <string.h>

/** Return the next word of xorshift, for test data. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Check every row and position of the rows for these counts. */
static void check_rows(const uint32_t *count, uint32_t n, uint32_t n_special, unsigned row_bits,
                       unsigned position_bits)
{
    static uint8_t seen[1 << 16];
    static dg_rows rows;
    uint32_t found[DG_CODES] = {0}, n_found = 0, n_mixed = 0;
    memset(seen, 0, sizeof seen);
    memset(&rows, 0, sizeof rows);
    rows.row_bits = row_bits;
    rows.position_bits = position_bits;
    dg_rows_build(&rows, count, n, n_special);
    for (size_t row = 0; row < (size_t)1 << row_bits; row++) {
        const bool mixed = rows.end[0][row] != 0;
        n_mixed += mixed;
        CHECK(mixed == (rows.whole[row] == DG_SPECIAL), "row %zu: %d", row, mixed);
        CHECK(mixed == (row < rows.n_mixed), "row %zu: %d", row, mixed);
        for (unsigned position = 0; position < 1u << position_bits; position++) {
            unsigned code = rows.code[dg_row_piece(row, position, &rows)][row];
            if (code != DG_SPECIAL) {
                CHECK(code < n, "code %u of %u", code, n);
                CHECK(mixed || code == rows.whole[row], "row %zu", row);
                found[code < n ? code : 0]++;
                continue;
            }
            CHECK(mixed, "a special row without positions");
            seen[(uint16_t)(position + rows.special[row])]++;
            n_found++;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        CHECK(found[k] == count[k], "code %u: %u for %u", k, found[k], count[k]);
    }
    CHECK(n_found == n_special, "%u special for %u", n_found, n_special);
    for (uint32_t i = 0; i < n_special; i++) {
        CHECK(seen[i] == 1, "special cell %u: %d times", i, seen[i]);
    }
    uint32_t size = UINT32_C(1) << position_bits;
    CHECK(n_mixed <= n + n_special / size + 2, "%u mixed rows for %u codes", n_mixed, n);
}

/** Test counts that sum to 2^bits - n_special. They are cut at random; `even` gives them similar sizes. */
static void test_random(uint64_t seed, unsigned bits, bool even)
{
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    const unsigned row_bits = (bits + 1) / 2, position_bits = bits / 2;
    const uint32_t all = UINT32_C(1) << bits, most = (UINT32_C(1) << row_bits) - 1;
    uint32_t n = (uint32_t)(next(&state) % most) + 1, count[DG_CODES];
    n = n < DG_CODES ? n : DG_CODES;
    uint32_t n_special = (uint32_t)(next(&state) % (all / 8)), left = all - n_special;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t share = even ? left / (n - k) : (uint32_t)(next(&state) % (left / 2 + 1));
        count[k] = k + 1 == n ? left : share;
        left -= count[k];
    }
    check_rows(count, n, n_special, row_bits, position_bits);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        for (unsigned bits = 4; bits <= 16; bits += seed % 8 == 0 ? 1 : 4) {
            test_random(seed, bits, seed % 2 == 0);
        }
    }
    uint32_t ones[DG_CODES];
    for (uint32_t k = 0; k < DG_CODES; k++) {
        ones[k] = 1;
    }
    check_rows(ones, DG_CODES, 65536 - DG_CODES, 8, 8); /* nearly all cells are special */
    check_rows(ones, 0, 65536, 8, 8);
    check_rows(ones, 0, 16, 2, 2);
    return report("rows of cell tables");
}
