/* A batch of decisions equals those of dg_decide_at_once, one by one, for any arc that a table may hold, including
 * the largest numbers, and for any cell. */
#include "support.h"

#include "base/isa.h"
#include "cells/decide.h"

#include <string.h>

enum { MOST = 40, ROUNDS = 40000, MOST_CELLS = 1 << 16 };

/** The arguments of one call. Behind the last attempt is room with any content. */
typedef struct attempts {
    size_t n;
    uint64_t tick[MOST + DG_DECIDE_BEHIND];
    uint16_t special[MOST + DG_DECIDE_BEHIND];
    dg_partial partial[MOST + DG_DECIDE_BEHIND];
    uint8_t heights[2 * (MOST + DG_DECIDE_BEHIND)];
} attempts;

/** Return the next word of xorshift, for test data. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/** Return a number from -most to most; every fourth time one of these two. */
static int64_t within(int64_t most, uint64_t *state)
{
    const uint64_t kind = next(state) % 8;
    const int64_t any = (int64_t)(next(state) % (2 * (uint64_t)most + 1)) - most;
    return kind == 0 ? most : kind == 1 ? -most : any;
}

/** Return an arc: the largest that table.h allows, or one that leaves a height to decide. */
static dg_arc any_arc(uint64_t *state)
{
    const int64_t most = INT64_C(1) << (next(state) % 4 == 0 ? 30 : 17);
    const bool unknown = next(state) % 8 == 0;
    const unsigned places = next(state) % 16;
    const uint64_t error = (next(state) & UINT16_MAX) >> places;
    const int64_t base = within(most, state), slope = within(most, state);
    return (dg_arc){(int32_t)base, (uint32_t)(slope < 0 ? -slope : slope),
                    (uint16_t)(unknown ? DG_UNKNOWN_ERROR : error),
                    (int16_t)within(1 << 14, state)};
}

static void set_attempts(attempts *to, const dg_table *table, uint64_t *state)
{
    const uint64_t all = (UINT64_C(1) << table->tick_bits) - 1;
    to->n = (size_t)(next(state) % (MOST + 1));
    for (size_t i = 0; i < MOST + DG_DECIDE_BEHIND; i++) {
        const uint64_t kind = next(state) % 4;
        to->tick[i] = kind == 0 ? 0 : kind == 1 ? all : next(state) & all;
        to->special[i] = (uint16_t)(next(state) % (MOST_CELLS - table->n_coded));
        to->partial[i].block = (int16_t)within(INT16_MAX, state);
        to->partial[i].level = 0;
        to->partial[i].arc = any_arc(state);
        const bool highest = next(state) % 4 == 0;
        to->heights[2 * i] = highest ? UINT8_MAX : (uint8_t)next(state);
        to->heights[2 * i + 1] = highest ? UINT8_MAX : (uint8_t)next(state);
    }
}

static void check_against_one_by_one(dg_decide_each *decide_each, const char *name,
                                     const attempts *of, const dg_table *table, size_t counts[3])
{
    uint8_t outcome[MOST + DG_DECIDE_BEHIND];
    uint64_t y[MOST + DG_DECIDE_BEHIND];
    memcpy(y, of->tick, sizeof y);
    decide_each(outcome, y, of->special, of->partial, of->heights, of->n, table);
    for (size_t i = 0; i < of->n; i++) {
        dg_place place = {0, of->tick[i]};
        bool accepted = false;
        const bool told = dg_decide_at_once(&place, &accepted, table->n_coded + of->special[i],
                                            &of->partial[i], dg_height_at(of->heights, i), table);
        const uint8_t wanted = told ? (accepted ? DG_ACCEPTED : DG_FAILED) : DG_IN_DOUBT;
        CHECK(outcome[i] == wanted, "%s: %u, not %u", name, outcome[i], wanted);
        CHECK(y[i] == ((uint64_t)place.block << table->tick_bits) + place.tick, "%s: y", name);
        counts[wanted]++;
    }
}

static void test_many(dg_decide_each *decide_each, const char *name)
{
    static int16_t block_of[MOST_CELLS + 1];
    static attempts of;
    uint64_t state = 1;
    size_t counts[3] = {0};
    for (size_t i = 0; i <= MOST_CELLS; i++) {
        block_of[i] = (int16_t)next(&state);
    }
    for (int round = 0; round < ROUNDS; round++) {
        dg_table table;
        memset(&table, 0, sizeof table);
        table.tick_bits = (unsigned)(next(&state) % (DG_TICK_BITS + 1));
        table.n_coded = (uint32_t)(next(&state) % MOST_CELLS);
        const uint32_t left = MOST_CELLS - table.n_coded;
        table.n_full = table.n_coded + (uint32_t)(round % 2 == 0 ? 0 : next(&state) % left);
        table.n_partial = (uint32_t)(next(&state) % (MOST_CELLS - table.n_full + 1));
        table.block_of = block_of;
        set_attempts(&of, &table, &state);
        check_against_one_by_one(decide_each, name, &of, &table, counts);
    }
    for (int i = 0; i < 3; i++) {
        const bool never = DG_ALWAYS_REFINE && i == DG_FAILED; /* full cells are accepted anyway */
        CHECK(never == (counts[i] == 0), "%s: outcome %d %zu times", name, i, counts[i]);
    }
}

int main(void)
{
    test_many(dg_decide_each_portable, "plain C");
#if DG_ISA_X86_64
    if (dg_isa_available(DG_ISA_AVX512)) {
        test_many(dg_decide_each_avx512, "AVX-512");
    }
#endif
#if DG_ISA_AARCH64
    test_many(dg_decide_each_neon, "NEON");
#endif
    return report("decisions many at a time");
}
