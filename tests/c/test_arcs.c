/* Every arc of small tables keeps its contract (dg_arc) at every integer of its range, and the law is
 * where cells are (facts 1, 2 and 4 of csrc/cells/PROOF.md): tables of all laws, of any size of blocks,
 * and some so coarse that arcs say little or nothing. */
#include "support.h"

#include "cells/decide.h"
#include "cells/enclosure.h"

enum { TRIES = 600, MOST_BLOCK_BITS = 8 };

static const int64_t FULL = INT64_C(1) << DG_HEIGHT_BITS; /* a cell's height */

/** 2^16 (2^level H g(y) - m), as integers below and above it. */
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
        for (int64_t tick = 0; tick < w; tick++) {
            const dg_place place = {cell->block, (uint64_t)tick};
            const int64_t y = cell->block * w + tick;
            const heights t = heights_at(y, 0, cell->level, table, e);
            check_arc(&cell->arc, dg_reach(dg_ticks_inwards(&place, table), table->tick_bits), t,
                      "cell", y);
            CHECK(!lowest || t.upper >= 0, "a full cell is not at %lld", (long long)y);
            CHECK(!highest || t.lower <= FULL, "a cell is missing at %lld", (long long)y);
        }
    }
}

/** The first levels of both tails: an integer is `out` from the core's last. */
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

/** A number from 1 to 2^n_bits, n_bits up to `most`. */
static int64_t any_number(unsigned most, uint64_t *state)
{
    const unsigned n_bits = (unsigned)(next_word(state) % (most + 1));
    return 1 + (int64_t)(next_word(state) >> 32 >> (32 - n_bits));
}

static dg_integer number(uint8_t bytes[8], int64_t value)
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
    }
    return (dg_integer){bytes, 8};
}

/** Some law; NULL if what was drawn is none. */
static dg_law *any_law(uint64_t *state)
{
    const dg_law_kind kind = (dg_law_kind)(DG_DISCRETE_LAPLACE + next_word(state) % 3);
    const int64_t d = any_number(3, state), q = any_number(3, state);
    uint8_t bytes[6][8];
    const dg_parameters parameters = {
        number(bytes[0], any_number(20, state)),        number(bytes[1], any_number(3, state)),
        number(bytes[2], any_number(3, state) - d),     number(bytes[3], d),
        number(bytes[4], q - 1 + any_number(8, state)), number(bytes[5], q)};
    dg_law *law = NULL;
    (void)dg_law_new(&law, kind, DG_ARITHMETIC_AUTO, &parameters);
    return law;
}

int main(void)
{
    uint64_t state = 1;
    unsigned n_tables = 0;
    dg_enclosure e;
    dg_enclosure_open(&e, DG_WORDS_PRECISION);
    for (int i = 0; i < TRIES; i++) {
        dg_law *law = any_law(&state);
        const uint32_t index_bits = 4 + (uint32_t)(next_word(&state) % 5);
        const int32_t block_bits = (int32_t)(next_word(&state) % (MOST_BLOCK_BITS + 2)) - 1;
        dg_table *table = NULL;
        if (law != NULL &&
            dg_table_new(&table, law, index_bits, block_bits, DG_ISA_PORTABLE) == DG_OK &&
            table->block_bits <= MOST_BLOCK_BITS) {
            check_partial_cells(table, &e);
            check_tails(table, &e);
            n_tables++;
        }
        dg_table_free(table);
        dg_law_free(law);
    }
    dg_enclosure_close(&e);
    mpfr_free_cache();
    CHECK(n_tables > TRIES / 10, "%u tables", n_tables);
    return report("arcs");
}
