/* Every arc of small tables keeps its contract (dg_arc) at every integer of its range, and the law is where cells are
 * (facts 1, 2 and 4 of csrc/cells/PROOF.md). The tables have all laws and any size of blocks. Some are so coarse that
 * arcs say little or nothing. Some laws are so steep that only two integers next to the centre are ever drawn. */
#include "support.h"

#include "bounds/enclosure.h"
#include "cells/decide.h"

#include <stdlib.h>

enum { TRIES = 600, MOST_BLOCK_BITS = 8, MANY_BITS = 640 };

static const int64_t FULL = INT64_C(1) << DG_HEIGHT_BITS; /* a cell's height */

/** 2^16 (2^level H g(y) - m), as an integer below it and one above it. */
typedef struct heights {
    int64_t lower, upper;
} heights;

static heights heights_at(int64_t y, unsigned level, int64_t m, const dg_table *table,
                          dg_enclosure *e)
{
    heights at;
    mpz_t integer;
    mpz_init_set_si(integer, (long)y);
    dg_enclose_weight(e, integer, table->law);
    for (int up = 0; up < 2; up++) {
        const mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
        mpfr_ptr bound = up ? e->upper : e->lower;
        mpfr_mul_ui(bound, bound, table->height, round);
        mpfr_mul_2ui(bound, bound, DG_HEIGHT_BITS + level, MPFR_RNDN);
        *(up ? &at.upper : &at.lower) = mpfr_get_sj(bound, round) - m * FULL;
    }
    mpz_clear(integer);
    return at;
}

/** C(v - error) <= C(t) <= C(v + error). */
static void check_arc(const dg_arc *arc, uint64_t reach, heights t, const char *what, int64_t y)
{
    const int64_t v = dg_arc_height(reach, arc), below = v - arc->error, above = v + arc->error;
    CHECK(below <= 0 || t.upper >= (below < FULL ? below : FULL), "%s at %lld: above it", what,
          (long long)y);
    CHECK(above >= FULL || t.lower <= (above > 0 ? above : 0), "%s at %lld: below it", what,
          (long long)y);
}

static void check_partial_cells(const dg_table *table, dg_enclosure *e)
{
    const int64_t w = INT64_C(1) << table->block_bits;
    for (uint32_t i = 0; i < table->n_partial; i++) {
        const dg_partial *cell = &table->partial[i];
        const bool lowest = i == 0 || cell[-1].block != cell->block;
        const bool highest = i + 1 == table->n_partial || cell[1].block != cell->block;
        const bool tells = cell->arc.error < DG_UNKNOWN_ERROR;
        bool is_full = true, is_empty = true;
        for (int64_t tick = 0; tick < w; tick++) {
            const dg_place place = {cell->block, (uint64_t)tick};
            const int64_t y = cell->block * w + tick;
            const heights t = heights_at(y, 0, cell->level, table, e);
            check_arc(&cell->arc, dg_reach(dg_ticks_inwards(&place, table), table->tick_bits), t,
                      "cell", y);
            CHECK(!lowest || t.upper >= 0, "a full cell is not at %lld", (long long)y);
            CHECK(!highest || t.lower <= FULL, "a cell is missing at %lld", (long long)y);
            is_full &= t.lower > FULL;
            is_empty &= t.upper < 0;
        }
        CHECK(w == 1 || !tells || (!is_full && !is_empty), "block %d misses its level %d",
              cell->block, cell->level);
    }
}

/** Check the first levels of both tails. `out` is an integer's distance from the core's last integer. */
static void check_tails(const dg_table *table, dg_enclosure *e)
{
    enum { LEVELS = 4 };
    const unsigned part_bits = table->tail_bits + table->tick_bits - table->tail_arc_bits;
    const int64_t w = INT64_C(1) << table->block_bits, last = (table->last_block + 1) * w - 1;
    for (int64_t out = 0; out < LEVELS * (w << table->tail_bits); out++) {
        const unsigned level = (unsigned)(out >> (table->tail_bits + table->tick_bits));
        const uint64_t reach =
            dg_reach((uint64_t)out & ((UINT64_C(1) << part_bits) - 1), part_bits);
        for (int right = 0; right < 2; right++) {
            const dg_arc *arcs = table->tail_arcs + (right ? dg_table_tail_arcs(table) / 2 : 0);
            const int64_t y = right ? last + 1 + out : table->first_block * w - 1 - out;
            const heights t = heights_at(y, level, 0, table, e);
            check_arc(&arcs[out >> part_bits], reach, t, "tail", y);
            CHECK(t.lower <= FULL, "a tail is too high at %lld", (long long)y);
        }
    }
}

/** Return a number from 1 to 2^n_bits, n_bits up to `most`. */
static int64_t any_number(unsigned most, uint64_t *state)
{
    const unsigned n_bits = (unsigned)(next_word(state) % (most + 1));
    return 1 + (int64_t)(next_word(state) >> 32 >> (32 - n_bits));
}

/** Return any law. */
static dg_law *any_law(uint64_t *state)
{
    const dg_law_kind kind = (dg_law_kind)(DG_DISCRETE_LAPLACE + next_word(state) % 3);
    const int64_t d = any_number(3, state), q = any_number(3, state);
    const int64_t a = any_number(20, state), b = any_number(3, state);
    const int64_t c = any_number(3, state) - d, p = q - 1 + any_number(8, state);
    return kind == DG_GENERALIZED_GAUSSIAN ? power_law_of(a, 0, b, c, d, p, q)
                                           : law_of(kind, DG_ARITHMETIC_AUTO, a, b, c, d);
}

/** Make a law whose scale or sigma is 2^-(steep + 1), centred at 1/2 - 2^-(k + 1), or at minus that. */
static dg_law *steep_law(dg_law_kind kind, size_t steep, size_t k, bool right, int64_t beta)
{
    char parameter[400] = "1/", mu[800] = "-", power[32];
    (void)write_number(parameter + 2, 1, (kind == DG_DISCRETE_GAUSSIAN ? 2 : 1) * (steep + 1));
    char *end = write_ones(mu + 1, k);
    *end++ = '/';
    (void)write_number(end, 1, k + 1);
    (void)write_number(power, beta, 0);
    return law_by_text(kind, DG_ARITHMETIC_AUTO, parameter, mu + right, power);
}

/** Steep centres (PROOF.md, lemma 19): blocks of several integers exist only as blocks of two, and only if f > 0. The
 *  tables that exist are right. */
static void check_steep_laws(void)
{
    static const size_t steeps[] = {2, 3, 4, 6, 12, 33, 110};
    enum { KINDS = 3, STEEPS = 7, FARTHER = 4, SIDES = 2, WIDTHS = 2 };
    unsigned n_tables = 0, n_steep = 0;
    dg_enclosure e;
    dg_enclosure_open(&e, MANY_BITS); /* fewer bits may tell nothing next to the centre */
    for (size_t i = 0; i < KINDS * STEEPS * FARTHER * SIDES * WIDTHS; i++) {
        const dg_law_kind kind = (dg_law_kind)(DG_DISCRETE_LAPLACE + i % KINDS);
        const size_t steep = steeps[i / KINDS % STEEPS];
        const size_t farther = i / (KINDS * STEEPS) % FARTHER;
        const bool right = i / (KINDS * STEEPS * FARTHER) % SIDES == 0;
        const int32_t block_bits = 1 + (int32_t)(i / (KINDS * STEEPS * FARTHER * SIDES));
        const int64_t beta = kind == DG_DISCRETE_GAUSSIAN ? 2 : kind == DG_DISCRETE_LAPLACE ? 1 : 3;
        const size_t power = (size_t)beta * steep;
        /* the exponent of the integer next to the centre is from some 4 beta to beta/16 */
        dg_law *law = steep_law(kind, steep, power - 1 + 2 * farther, right, beta);
        dg_table *table = NULL;
        if (dg_table_build(&table, law, 5, block_bits, DG_ISA_PORTABLE) == DG_OK) {
            check_partial_cells(table, &e);
            check_tails(table, &e);
            n_tables++;
            n_steep += power >= 8;
            CHECK(power < 8 || (block_bits == 1 && right), "blocks of 2^%d", (int)block_bits);
        }
        dg_table_release(table);
        dg_law_free(law);
    }
    dg_enclosure_close(&e);
    CHECK(n_tables > 80 && n_steep > 40, "%u tables, %u steep", n_tables, n_steep);
}

int main(int argc, char **argv)
{
    const size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (step < 1) {
        return 2;
    }
    uint64_t state = 1;
    unsigned n_tables = 0;
    dg_enclosure e;
    dg_enclosure_open(&e, DG_WORDS_PRECISION);
    for (size_t i = 0; i < TRIES; i += step) {
        dg_law *law = any_law(&state);
        const uint32_t index_bits = 4 + (uint32_t)(next_word(&state) % 5);
        const int32_t block_bits = (int32_t)(next_word(&state) % (MOST_BLOCK_BITS + 2)) - 1;
        dg_table *table = NULL;
        if (dg_table_build(&table, law, index_bits, block_bits, DG_ISA_PORTABLE) == DG_OK &&
            table->block_bits <= MOST_BLOCK_BITS) {
            check_partial_cells(table, &e);
            check_tails(table, &e);
            n_tables++;
        }
        dg_table_release(table);
        dg_law_free(law);
    }
    dg_enclosure_close(&e);
    CHECK(n_tables > TRIES / step / 10, "%u tables", n_tables);
    if (step == 1) {
        check_steep_laws();
    }
    mpfr_free_cache();
    return report("arcs");
}
