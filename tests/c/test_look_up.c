/* The loops over full cells write the same as the portable loop, and no byte more: for any rows, any length of ticks,
 * any number of draws, any item, and any alignment. */
#include "support.h"

#include "base/isa.h"
#include "cells/look_up.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20000, MOST_DRAWS = 400, GUARD = 64, MOST_SHIFT = 16 };

/** Return the next word of xorshift, for test data. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t below(uint64_t n, uint64_t *state)
{
    return next(state) % n;
}

/** Return a block's code, or, if `special`, the special one `often` times in 16. */
static uint8_t any_code(bool special, unsigned often, uint64_t *state)
{
    return special && below(16, state) < often ? DG_SPECIAL : (uint8_t)below(DG_CODES, state);
}

static void set_rows(dg_rows *rows, uint64_t *state)
{
    static const unsigned sizes[] = {1,  15,  16,  17,  48,  64,  65, 96,
                                     97, 112, 113, 128, 129, 255, 256};
    const unsigned often = (unsigned)below(17, state), kind = (unsigned)below(2, state);
    memset(rows, 0, sizeof *rows);
    rows->row_bits = DG_ROW_BITS;
    rows->position_bits = DG_POSITION_BITS;
    rows->n_mixed = kind == 0 ? sizes[below(sizeof sizes / sizeof *sizes, state)]
                              : 1 + (unsigned)below(DG_ROWS, state);
    for (unsigned row = 0; row < DG_ROWS; row++) {
        const bool mixed = row < rows->n_mixed;
        const uint8_t a = (uint8_t)next(state), b = (uint8_t)next(state);
        rows->end[0][row] = mixed ? (a < b ? a : b) : 0;
        rows->end[1][row] = mixed ? (a < b ? b : a) : 0;
        const uint8_t code = any_code(false, 0, state);
        rows->whole[row] = mixed ? DG_SPECIAL : code;
        for (unsigned i = 0; i < 3; i++) {
            rows->code[i][row] = mixed ? any_code(true, often, state) : code;
        }
    }
}

/** The output of a loop, between bytes that it must not change. */
typedef struct output {
    _Alignas(GUARD) uint8_t items[GUARD + MOST_SHIFT + 8 * MOST_DRAWS + GUARD];
    dg_look_up_result result;
} output;

static void run(output *to, dg_look_up *look_up, size_t shift, size_t item_size, uint64_t c,
                const dg_planes *planes, const dg_table *table)
{
    memset(to, 0xA5, sizeof *to);
    look_up(to->items + GUARD + shift, &to->result, item_size, c, planes, table);
}

static bool same_places(const dg_look_up_result *a, const dg_look_up_result *b,
                        const dg_planes *planes, const dg_rows *rows)
{
    bool same = a->n_mixed == b->n_mixed && a->n_special == b->n_special &&
                memcmp(a->at, b->at, b->n_special * sizeof *b->at) == 0;
    for (size_t i = 0; i < planes->n; i++) {
        same &= planes->rows[i] >= rows->n_mixed || a->position_of[i] == b->position_of[i];
    }
    return same;
}

static void test_loop(dg_look_up *look_up, const char *name)
{
    static dg_table table;
    static output got, wanted;
    uint64_t state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        set_rows(&table.rows, &state);
        table.tick_bits = (unsigned)below(DG_TICK_BITS + 1, &state);
        table.coded_first = (int32_t)below(1 << 16, &state) - (1 << 15);
        const size_t n = (size_t)below(round % 8 == 0 ? MOST_DRAWS + 1 : 140, &state);
        const size_t tick_bytes = n * (table.tick_bits / 8) + (n + 7) / 8 * (table.tick_bits % 8);
        const size_t shift = (size_t)below(MOST_SHIFT, &state), n_bytes = n + tick_bytes + n;
        /* its own allocation, so that a sanitizer reports reads beyond it */
        uint8_t *memory = malloc(shift + n_bytes + DG_LOOK_UP_BEHIND);
        if (memory == NULL) {
            abort();
        }
        uint8_t *bytes = memory + shift;
        for (size_t i = 0; i < n_bytes + DG_LOOK_UP_BEHIND; i++) {
            bytes[i] = (uint8_t)next(&state);
        }
        const dg_planes planes = {n, bytes, bytes + n, bytes + n + tick_bytes};
        const size_t item_size = (size_t)1 << below(4, &state);
        const uint64_t c = next(&state);
        const size_t out_shift = shift / item_size * item_size; /* arrays are aligned */
        run(&wanted, dg_look_up_portable, out_shift, item_size, c, &planes, &table);
        run(&got, look_up, out_shift, item_size, c, &planes, &table);
        CHECK(memcmp(got.items, wanted.items, sizeof got.items) == 0,
              "%s: %zu items of %zu bytes, %u bits in a tick, %u mixed rows", name, n, item_size,
              table.tick_bits, table.rows.n_mixed);
        CHECK(same_places(&got.result, &wanted.result, &planes, &table.rows),
              "%s: %zu draws, %u mixed rows: other places", name, n, table.rows.n_mixed);
        free(memory);
    }
}

int main(void)
{
    test_loop(dg_look_up_portable, "plain C"); /* a second run must agree with the first */
#if DG_ISA_X86_64
    if (dg_isa_available(DG_ISA_AVX2)) {
        test_loop(dg_look_up_avx2, "AVX2");
    }
    if (dg_isa_available(DG_ISA_AVX512_VBMI2)) {
        test_loop(dg_look_up_avx512_vbmi2, "VBMI2");
    }
#endif
#if DG_ISA_AARCH64
    test_loop(dg_look_up_neon, "NEON");
#endif
    return report("look-ups many at a time");
}
