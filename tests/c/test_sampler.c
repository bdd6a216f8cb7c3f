/* One handle for a law: which way it draws, what that costs, and what of it is kept; threads and forks. */
#define _GNU_SOURCE
#include "base/int128.h"
#include "base/threads.h"
#include "sampler/parts.h"
#include "support.h"

#include <errno.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static bool forks = true;

enum { TAPE = 1 << 17, MOST_N = 3000 };

static uint8_t bytes[TAPE];

/* --- the clock, which tests may set ---------------------------------------------------------- */

static uint64_t milliseconds_a_look; /* that go by; 0: what the clock says */

uint64_t __real_dg_milliseconds(void);
uint64_t __wrap_dg_milliseconds(void);
uint64_t __wrap_dg_milliseconds(void)
{
    static uint64_t now = 0;
    return milliseconds_a_look > 0 ? (now += milliseconds_a_look) : __real_dg_milliseconds();
}

/* --- laws ----------------------------------------------------------------------------------- */

/** The bytes, in two's complement, of a number written as m, or m<<up+plus; to be freed. */
static dg_integer integer_of(const char *text)
{
    long long m = 0, plus = 0;
    unsigned up = 0;
    mpz_t value, addend;
    (void)sscanf(text, "%lld<<%u%lld", &m, &up, &plus);
    mpz_init_set_si(value, (long)m);
    mpz_init_set_si(addend, (long)plus);
    mpz_mul_2exp(value, value, up);
    mpz_add(value, value, addend);
    const size_t n = mpz_sizeinbase(value, 2) / 8 + 1;
    uint8_t *out = calloc(n, 1);
    if (out == NULL) {
        abort();
    }
    mpz_fdiv_r_2exp(value, value, 8 * n);
    mpz_export(out, NULL, -1, 1, 0, 0, value);
    mpz_clears(value, addend, NULL);
    return (dg_integer){out, n};
}

/** A sampler of the law with parameter a/b, centre c/d and this beta. */
static dg_sampler *new_sampler(dg_law_kind kind, const char *const numbers[6])
{
    dg_integer made[6];
    for (size_t i = 0; i < 6; i++) {
        made[i] = integer_of(numbers[i]);
    }
    const dg_parameters parameters = {made[0], made[1], made[2], made[3], made[4], made[5]};
    dg_sampler *sampler;
    if (dg_sampler_new(&sampler, kind, &parameters) != DG_OK) {
        abort();
    }
    for (size_t i = 0; i < 6; i++) {
        free((void *)(uintptr_t)made[i].bytes);
    }
    return sampler;
}

static dg_sampler *sampler_of(dg_law_kind kind, int64_t a, int64_t b, int64_t c)
{
    char texts[3][32];
    (void)snprintf(texts[0], sizeof texts[0], "%lld", (long long)a);
    (void)snprintf(texts[1], sizeof texts[1], "%lld", (long long)b);
    (void)snprintf(texts[2], sizeof texts[2], "%lld", (long long)c);
    return new_sampler(kind, (const char *const[6]){texts[0], texts[1], texts[2], "1", "2", "1"});
}

static dg_sampler_info info_of(const dg_sampler *sampler)
{
    dg_sampler_info info;
    dg_sampler_describe(&info, sampler);
    return info;
}

static dg_method way_of(dg_sampler *sampler, size_t n, dg_method method, const dg_source *source)
{
    dg_method way = DG_AUTO;
    const dg_status status = dg_sampler_choose(&way, n, method, sampler, NULL, source);
    CHECK(status == DG_OK, "%zu draws, method %d: status %d", n, (int)method, (int)status);
    return way;
}

/** Without a table of any sampler's. */
static void give_up_all(void)
{
    const size_t budget = dg_tables_budget();
    dg_tables_set_budget(0);
    CHECK(dg_tables_bytes() == 0, "tables are left");
    dg_tables_set_budget(budget);
}

/* --- the choice ----------------------------------------------------------------------------- */

#define LAPLACE DG_DISCRETE_LAPLACE
#define GAUSSIAN DG_DISCRETE_GAUSSIAN
#define POWER DG_GENERALIZED_GAUSSIAN

/** Laws; from how many draws with a caller's bits they are drawn from tables; whether lanes hold them. As they
 *  were published (the first release had these rules in Python): what a caller's bytes give depends on them. */
static const struct row {
    dg_law_kind kind;
    uint64_t cells_from;
    bool has_lanes;
    const char *numbers[6]; /* a, b, c, d, beta */
} ROWS[] = {
    // clang-format off
    {GAUSSIAN, 200, false, {"1", "1000000", "0", "1", "1", "1"}},
    {LAPLACE, 600, false, {"1", "1000000", "0", "1", "1", "1"}},
    {POWER, 30, false, {"1", "1000000", "0", "1", "3", "2"}},
    {GAUSSIAN, 200, false, {"1", "17", "0", "1", "1", "1"}},
    {LAPLACE, 600, false, {"1", "17", "0", "1", "1", "1"}},
    {POWER, 30, false, {"1", "17", "0", "1", "3", "2"}},
    {GAUSSIAN, 200, true, {"1", "16", "0", "1", "1", "1"}},
    {LAPLACE, 600, true, {"1", "16", "0", "1", "1", "1"}},
    {POWER, 30, false, {"1", "16", "0", "1", "3", "2"}},
    {GAUSSIAN, 200, true, {"1", "2", "0", "1", "1", "1"}},
    {LAPLACE, 600, true, {"1", "2", "0", "1", "1", "1"}},
    {POWER, 30, false, {"1", "2", "0", "1", "3", "2"}},
    {GAUSSIAN, 290, true, {"1", "1", "0", "1", "1", "1"}},
    {LAPLACE, 900, true, {"1", "1", "0", "1", "1", "1"}},
    {POWER, 410, true, {"1", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 1100, true, {"100", "1", "0", "1", "1", "1"}},
    {LAPLACE, 18000, true, {"100", "1", "0", "1", "1", "1"}},
    {POWER, 11300, true, {"100", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 290, true, {"355", "113", "0", "1", "1", "1"}},
    {LAPLACE, 1500, true, {"355", "113", "0", "1", "1", "1"}},
    {POWER, 630, true, {"355", "113", "0", "1", "3", "2"}},
    {GAUSSIAN, 9200, true, {"10000", "1", "0", "1", "1", "1"}},
    {LAPLACE, 18000, true, {"10000", "1", "0", "1", "1", "1"}},
    {POWER, 11400, true, {"10000", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 11500, true, {"1000001", "1", "0", "1", "1", "1"}},
    {LAPLACE, 18000, true, {"1000001", "1", "0", "1", "1", "1"}},
    {POWER, 11400, true, {"1000001", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 11500, true, {"1<<45+1", "1", "0", "1", "1", "1"}},
    {LAPLACE, 18000, false, {"1<<55-1", "1", "0", "1", "1", "1"}},
    {LAPLACE, 3237, false, {"1<<55", "1", "0", "1", "1", "1"}},
    {GAUSSIAN, 11500, true, {"1<<50", "1", "0", "1", "1", "1"}},
    {LAPLACE, 18000, true, {"1<<50", "1", "0", "1", "1", "1"}},
    {POWER, 11400, true, {"1<<50", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 11500, false, {"1<<50+1", "1", "0", "1", "1", "1"}},
    {LAPLACE, 18000, false, {"1<<50+1", "1", "0", "1", "1", "1"}},
    {POWER, 1140, false, {"1<<50+1", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 11500, false, {"3<<50+1", "3", "0", "1", "1", "1"}},
    {LAPLACE, 18000, false, {"3<<50+1", "3", "0", "1", "1", "1"}},
    {POWER, 1140, false, {"3<<50+1", "3", "0", "1", "3", "2"}},
    {GAUSSIAN, 2042, false, {"1<<62", "1", "0", "1", "1", "1"}},
    {LAPLACE, 3197, false, {"1<<62", "1", "0", "1", "1", "1"}},
    {GAUSSIAN, 1380, false, {"1<<332+5", "1", "0", "1", "1", "1"}},
    {LAPLACE, 2160, false, {"1<<332+5", "1", "0", "1", "1", "1"}},
    {POWER, 1140, false, {"1<<332+5", "1", "0", "1", "3", "2"}},
    {GAUSSIAN, 50, true, {"1<<70+1", "1<<70", "0", "1", "1", "1"}},
    {LAPLACE, 157, true, {"1<<70+1", "1<<70", "0", "1", "1", "1"}},
    {LAPLACE, 600, false, {"7", "1<<62-1", "0", "1", "1", "1"}},
    {LAPLACE, 119, false, {"7", "1<<62+1", "0", "1", "1", "1"}},
    {GAUSSIAN, 19, true, {"1<<1024+1", "1<<1023", "0", "1", "1", "1"}},
    {GAUSSIAN, 16, true, {"1<<1023+1", "1<<1024", "0", "1", "1", "1"}},
    {GAUSSIAN, 1100, true, {"100", "1", "1", "3", "1", "1"}},
    {LAPLACE, 18000, true, {"100", "1", "1", "3", "1", "1"}},
    {LAPLACE, 3550, true, {"100", "1", "1", "1<<62+1", "1", "1"}},
    {GAUSSIAN, 1100, true, {"100", "1", "1", "1<<48+1", "1", "1"}},
    {GAUSSIAN, 216, true, {"100", "1", "1", "1<<53+1", "1", "1"}},
    {GAUSSIAN, 1100, true, {"100", "1", "1<<60", "1", "1", "1"}},
    {LAPLACE, 18000, true, {"100", "1", "1<<60", "1", "1", "1"}},
    {POWER, 11300, true, {"100", "1", "1<<60", "1", "3", "2"}},
    {GAUSSIAN, 1100, true, {"100", "1", "-1<<60", "1", "1", "1"}},
    {GAUSSIAN, 1100, false, {"100", "1", "1<<61+1", "2", "1", "1"}},
    {GAUSSIAN, 1100, false, {"100", "1", "-1<<61-1", "2", "1", "1"}},
    {LAPLACE, 3550, true, {"100", "1", "1", "1<<2046+1", "1", "1"}},
    {LAPLACE, 3550, false, {"100", "1", "1", "1<<2047+1", "1", "1"}},
    {POWER, 1400, true, {"10", "1", "0", "1", "1", "1"}},
    {POWER, 1400, true, {"10", "1", "0", "1", "32", "1"}},
    {POWER, 140, false, {"10", "1", "0", "1", "65", "2"}},
    {POWER, 140, false, {"10", "1", "0", "1", "64", "1"}},
    // clang-format on
};

static dg_method choose_at_first(size_t n, const dg_prices *prices, dg_source_kind source)
{
    _Atomic uint64_t rent = 0;
    dg_method without_table;
    return dg_choose(&without_table, n, prices, source, false, true, &rent);
}

/** With a caller's bits the way depends on law and number alone; with the system's the first call is by lanes
 *  from 128 draws on, where they hold the law. */
static void test_choice(void)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct row *row = &ROWS[i];
        dg_sampler *sampler = new_sampler(row->kind, row->numbers);
        const dg_prices *prices = &sampler->prices;
        const dg_method few = row->kind == POWER ? DG_ISOCHRONOUS : DG_REFERENCE;
        const dg_method some = row->has_lanes && DG_HAVE_WORDS ? DG_ISOCHRONOUS : few;
        const size_t from = (size_t)row->cells_from;
        CHECK(prices->cells_from == from && prices->has_lanes == (row->has_lanes && DG_HAVE_WORDS),
              "law %zu: from %zu, not %llu", i, (size_t)prices->cells_from,
              (unsigned long long)row->cells_from);
        CHECK(choose_at_first(from - 1, prices, DG_SOURCE_CALLER) == few, "law %zu: few", i);
        CHECK(choose_at_first(from, prices, DG_SOURCE_CALLER) == DG_CELLS, "law %zu: many", i);
        CHECK(choose_at_first(1, prices, DG_SOURCE_GETRANDOM) == few, "law %zu: one", i);
        if (from > 128 && prices->table > 128 * prices->draw[DG_SOURCE_GETRANDOM]) {
            CHECK(choose_at_first(127, prices, DG_SOURCE_GETRANDOM) == few, "law %zu: 127", i);
            CHECK(choose_at_first(128, prices, DG_SOURCE_GETRANDOM) == some, "law %zu: 128", i);
        }
        CHECK(choose_at_first((size_t)1 << 31, prices, DG_SOURCE_GETRANDOM) == DG_CELLS,
              "law %zu: 2^31", i);
        dg_sampler_free(sampler);
    }
    for (int kind = DG_BERNOULLI; kind < DG_DISCRETE_LAPLACE; kind++) {
        dg_sampler *sampler = sampler_of((dg_law_kind)kind, 1, 1, 0);
        dg_method way = DG_AUTO;
        CHECK(way_of(sampler, (size_t)1 << 31, DG_AUTO, NULL) == DG_REFERENCE, "kind %d", kind);
        CHECK(dg_sampler_choose(&way, 1, DG_CELLS, sampler, NULL, NULL) == DG_ERR_PARAMETER &&
                  dg_sampler_choose(&way, 1, DG_ISOCHRONOUS, sampler, NULL, NULL) ==
                      DG_ERR_PARAMETER &&
                  dg_sampler_choose(&way, 1, (dg_method)4, sampler, NULL, NULL) == DG_ERR_PARAMETER,
              "kind %d has no such ways", kind);
        dg_sampler_free(sampler);
    }
}

/** Laws that have not all ways: a generalised Gaussian no reference, steep laws no isochronous sampler, and one
 *  with a large beta neither that nor a table. */
static void test_missing_ways(void)
{
    dg_method way = DG_AUTO;
    dg_sampler *power = new_sampler(POWER, (const char *[6]){"9", "1", "0", "1", "3", "1"});
    CHECK(dg_sampler_choose(&way, 1, DG_REFERENCE, power, NULL, NULL) == DG_ERR_PARAMETER,
          "a generalised Gaussian has no reference");
    dg_sampler_free(power);

    dg_sampler *steep = new_sampler(LAPLACE, (const char *[6]){"1", "1<<100", "0", "1", "1", "1"});
    CHECK(dg_sampler_choose(&way, 1, DG_ISOCHRONOUS, steep, NULL, NULL) == DG_ERR_PARAMETER,
          "a steep law has no isochronous sampler");
    CHECK(dg_sampler_draw(DG_ISOCHRONOUS, steep, NULL) == INT64_MIN + DG_ERR_PARAMETER, "nor that");
    CHECK(dg_sampler_draw(DG_AUTO, steep, NULL) == 0 && info_of(steep).by_reference == 1,
          "but Algorithm 2");
    dg_sampler_free(steep);

    dg_sampler *flat = new_sampler(POWER, (const char *[6]){"9", "1", "0", "1", "99", "1"});
    CHECK(way_of(flat, 1, DG_AUTO, NULL) == DG_CELLS, "beta = 99 has a table alone");
    CHECK(llabs(dg_sampler_draw(DG_AUTO, flat, NULL)) < 12, "which makes single draws, too");
    dg_sampler_free(flat);

#if DG_HAVE_WORDS /* without words by MPFR, whose logarithm is close enough for a table */
    dg_sampler *none =
        new_sampler(POWER, (const char *[6]){"1", "2", "1<<299-1", "1<<300", "1<<300", "1"});
    uint8_t out[64] = {7};
    CHECK(dg_sampler_choose(&way, 1, DG_AUTO, none, NULL, NULL) == DG_ERR_PARAMETER &&
              dg_sampler_draw_wide(out, sizeof out, DG_AUTO, none, NULL) == DG_ERR_PARAMETER &&
              out[0] == 0,
          "no way at all");
    dg_sampler_free(none);
#endif
}

/** Draws without a table pay until they have paid for one; a table given up is paid for again. */
static void test_rent(void)
{
    enum { N = 70, PRICE = 1100 * 24, TO_LANES = 128 * 24 };
    for (int kind = DG_SOURCE_GETRANDOM; kind <= DG_SOURCE_CHACHA20; kind++) {
        const dg_source source = {(dg_source_kind)kind, NULL, NULL};
        dg_sampler *sampler = sampler_of(GAUSSIAN, 100, 1, 0);
        const uint64_t units = sampler->prices.draw[kind];
        bool by_lanes = false;
        for (uint64_t round = 1; round <= 2; round++) {
            uint64_t paid = 0;
            for (size_t n_calls = 0; paid < PRICE; n_calls++) {
                by_lanes = by_lanes || (DG_HAVE_WORDS && paid + N * 24 >= TO_LANES);
                paid += N * (by_lanes ? units : 24);
                const dg_method wanted = paid >= PRICE ? DG_CELLS
                                         : by_lanes    ? DG_ISOCHRONOUS
                                                       : DG_REFERENCE;
                CHECK(way_of(sampler, N, DG_AUTO, &source) == wanted, "call %zu", n_calls);
            }
            CHECK(info_of(sampler).n_built == round && info_of(sampler).has_table, "a table");
            CHECK(info_of(sampler).table_bytes == dg_tables_bytes(), "it is the only one");
            CHECK(way_of(sampler, 1, DG_AUTO, &source) == DG_CELLS, "a table at hand is used");
            CHECK(info_of(sampler).n_built == round, "and built once");
            give_up_all();
            CHECK(!info_of(sampler).has_table, "it was given up");
        }
        tape from = {bytes, TAPE, 0};
        const dg_source caller = tape_source(&from);
        for (int i = 0; i < 50; i++) {
            CHECK(way_of(sampler, 1099, DG_AUTO, &caller) == DG_REFERENCE, "a caller pays no rent");
        }
        CHECK(way_of(sampler, 1100, DG_AUTO, &caller) == DG_CELLS, "with so many it has a table");
        CHECK(way_of(sampler, 1099, DG_AUTO, &caller) == DG_REFERENCE, "whatever is at hand");
        CHECK(from.used == 0, "nothing is drawn");
        dg_sampler_free(sampler);
        CHECK(dg_tables_bytes() == 0, "a sampler that is freed gives its table up");
    }
}

/** Of the tables those used last stay, within the budget; without one, none. */
static void test_budget(void)
{
    const size_t budget = dg_tables_budget();
    dg_sampler *of[3];
    for (int i = 0; i < 3; i++) {
        of[i] = sampler_of(LAPLACE, 10 + i, 1, 0);
    }
    (void)way_of(of[0], 1, DG_CELLS, NULL);
    const size_t one = dg_tables_bytes();
    CHECK(one == info_of(of[0]).table_bytes && one > 100000, "a table has %zu bytes", one);
    dg_tables_set_budget(5 * one / 2);
    (void)way_of(of[1], 1, DG_CELLS, NULL);
    (void)way_of(of[0], 1, DG_CELLS, NULL); /* used after the other was built */
    (void)way_of(of[2], 1, DG_CELLS, NULL);
    CHECK(info_of(of[0]).has_table && !info_of(of[1]).has_table && info_of(of[2]).has_table,
          "the one not used for longest goes");
    CHECK(dg_tables_bytes() <= 5 * one / 2, "the budget holds");
    dg_tables_set_budget(0);
    int64_t out[10];
    CHECK(dg_sampler_fill(out, 10, DG_INT64, DG_CELLS, of[0], NULL, NULL) == DG_OK, "no budget");
    CHECK(dg_tables_bytes() == 0 && !info_of(of[0]).has_table && info_of(of[0]).n_built == 2,
          "a table for one call");
    for (int i = 0; i < 3; i++) {
        dg_sampler_free(of[i]);
    }
    dg_tables_set_budget(budget);
    CHECK(dg_tables_budget() == budget, "the budget is what was set");
}

/** A table in use stays, whoever gives it up: the budget, and the end of its sampler. */
static void test_table_in_use(void)
{
    dg_sampler *sampler = sampler_of(GAUSSIAN, 100, 1, 1000);
    const size_t budget = dg_tables_budget();
    dg_way way;
    int64_t out[100];
    CHECK(dg_way_begin(&way, 1, DG_CELLS, sampler, NULL, NULL) == DG_OK, "a table");
    dg_tables_set_budget(0);
    dg_tables_set_budget(budget);
    CHECK(info_of(sampler).has_table, "it is in use");
    dg_sampler_free(sampler);
    CHECK(dg_tables_bytes() > 0, "it is in use");
    CHECK(dg_table_fill(out, 100, DG_INT64, way.table, NULL, NULL) == DG_OK, "and draws");
    for (size_t i = 0; i < 100; i++) {
        CHECK(llabs(out[i] - 1000) < 200, "its law");
    }
    dg_way_end(&way);
    give_up_all();
}

/* --- draws ---------------------------------------------------------------------------------- */

/** A fill is that of the part that was chosen, from the same bytes; so is a single draw. */
static void test_draws(void)
{
    dg_sampler *sampler = sampler_of(GAUSSIAN, 1000000, 3, -7);
    const size_t width = dg_sampler_wide_bytes(sampler);
    static int64_t out[MOST_N], wanted[MOST_N];
    uint8_t *wide = malloc(MOST_N * width), *wanted_wide = malloc(MOST_N * width);
    if (wide == NULL || wanted_wide == NULL) {
        abort();
    }
    for (int method = DG_REFERENCE; method <= (DG_HAVE_WORDS ? DG_ISOCHRONOUS : DG_CELLS);
         method++) {
        tape ours = {bytes, TAPE, 0}, theirs = {bytes, TAPE, 0};
        const dg_source our = tape_source(&ours), their = tape_source(&theirs);
        dg_way way;
        CHECK(dg_sampler_fill(out, MOST_N, DG_INT64, (dg_method)method, sampler, NULL, &our) ==
                      DG_OK &&
                  dg_sampler_fill_wide(wide, MOST_N, width, (dg_method)method, sampler, NULL,
                                       &our) == DG_OK,
              "method %d", method);
        CHECK(dg_way_begin(&way, 1, (dg_method)method, sampler, NULL, &their) == DG_OK, "a way");
        const dg_law *law = sampler->law;
        const bool made =
            method == DG_REFERENCE
                ? dg_law_fill(wanted, MOST_N, DG_INT64, law, NULL, &their) == DG_OK &&
                      dg_law_fill_wide(wanted_wide, MOST_N, width, law, NULL, &their) == DG_OK
            : method == DG_CELLS
                ? dg_table_fill(wanted, MOST_N, DG_INT64, way.table, NULL, &their) == DG_OK &&
                      dg_table_fill_wide(wanted_wide, MOST_N, width, way.table, NULL, &their) ==
                          DG_OK
                : dg_lanes_fill(wanted, MOST_N, DG_INT64, way.lanes, NULL, &their) == DG_OK &&
                      dg_lanes_fill_wide(wanted_wide, MOST_N, width, way.lanes, NULL, &their) ==
                          DG_OK;
        dg_way_end(&way);
        CHECK(made && memcmp(out, wanted, sizeof out) == 0 &&
                  memcmp(wide, wanted_wide, MOST_N * width) == 0 && ours.used == theirs.used,
              "method %d draws otherwise", method);
        for (size_t i = 0; i < 200; i++) {
            tape first = {bytes + 64 * i, 4096, 0}, second = first;
            const dg_source one = tape_source(&first), again = tape_source(&second);
            const int64_t drawn = dg_sampler_draw((dg_method)method, sampler, &one);
            CHECK(dg_sampler_draw_wide(wide, width, (dg_method)method, sampler, &again) == DG_OK &&
                      memcmp(wide, &drawn, sizeof drawn) == 0 && first.used == second.used,
                  "method %d: single draw %zu", method, i);
        }
    }
    const dg_sampler_info info = info_of(sampler);
    CHECK(info.by_reference >= 2 * MOST_N && info.by_cells >= 2 * MOST_N, "draws are counted");
    CHECK(!DG_HAVE_WORDS || (info.by_lanes >= 2 * MOST_N && info.by_one == 400), "all of them");
    CHECK(dg_sampler_fill(out, 1, (dg_dtype)(DG_UINT64 + 1), DG_AUTO, sampler, NULL, NULL) ==
              DG_ERR_PARAMETER,
          "no such dtype");
    CHECK(dg_sampler_fill_wide(wide, 1, width - 1, DG_AUTO, sampler, NULL, NULL) == DG_ERR_RANGE &&
              dg_sampler_draw_wide(wide, width - 1, DG_AUTO, sampler, NULL) == DG_ERR_RANGE,
          "too few bytes");
    free(wide);
    free(wanted_wide);
    dg_sampler_free(sampler);
}

/* --- streams -------------------------------------------------------------------------------- */

enum { STREAM = 9000, STREAM_BYTES = 300 };

/** What is taken, in order, and what a pause does. */
typedef struct stream {
    uint8_t *taken;
    size_t n, n_bytes, most, n_calls, n_pauses;
    size_t fail_at, stop_at, fork_at; /* calls or pauses, from 1 on; 0: never */
    pid_t child;
} stream;

static dg_status take_draws(void *context, size_t first, size_t n, size_t n_bytes,
                            const uint8_t *integers)
{
    stream *of = context;
    of->n = first == 0 ? 0 : of->n; /* anew */
    CHECK(first == of->n && n_bytes == of->n_bytes && first + n <= STREAM, "draw %zu", first);
    memcpy(of->taken + first * n_bytes, integers, n * n_bytes);
    of->n += n;
    of->most = n > of->most ? n : of->most;
    return ++of->n_calls == of->fail_at ? DG_ERR_RANGE : DG_OK;
}

static int pause_stream(void *context)
{
    stream *of = context;
    of->n_pauses++;
    if (of->n_pauses == of->fork_at) {
        of->child = fork();
    }
    return of->n_pauses == of->stop_at;
}

static int read_round(void *context, uint8_t *out, size_t n)
{
    size_t *at = context;
    for (size_t i = 0; i < n; i++) {
        out[i] = bytes[(*at)++ % (TAPE - 1)];
    }
    return 0;
}

/** A stream has the draws of a fill, some at a time; what its taker or a pause says ends it. */
static void test_stream(void)
{
    const char *const numbers[6] = {"1<<4000", "1", "1", "3", "1", "1"};
    dg_sampler *sampler = new_sampler(GAUSSIAN, numbers);
    const size_t width = dg_sampler_wide_bytes(sampler);
    const size_t size = STREAM * width;
    uint8_t *wanted = malloc(size);
    uint8_t *taken = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *theirs = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (wanted == NULL || taken == MAP_FAILED || theirs == MAP_FAILED || width > STREAM_BYTES) {
        abort();
    }
    for (int method = DG_REFERENCE; method <= DG_CELLS; method++) {
        size_t one = 0, other = 0;
        const dg_source our = {DG_SOURCE_CALLER, read_round, &one};
        const dg_source their = {DG_SOURCE_CALLER, read_round, &other};
        stream of = {.taken = taken, .n_bytes = width};
        CHECK(dg_sampler_stream(take_draws, &of, STREAM, (dg_method)method, sampler, NULL, &our) ==
                      DG_OK &&
                  dg_sampler_fill_wide(wanted, STREAM, width, (dg_method)method, sampler, NULL,
                                       &their) == DG_OK,
              "method %d", method);
        CHECK(of.n == STREAM && of.n_calls > 1 && one == other, "%zu calls", of.n_calls);
        CHECK(memcmp(taken, wanted, size) == 0, "method %d", method);
    }
    stream of = {.taken = taken, .n_bytes = width, .fail_at = 2};
    const dg_run run = {1, pause_stream, &of};
    CHECK(dg_sampler_stream(take_draws, &of, STREAM, DG_CELLS, sampler, &run, NULL) ==
                  DG_ERR_RANGE &&
              of.n_calls == 2,
          "%zu calls", of.n_calls);
    of = (stream){
        .taken = taken, .n_bytes = width, .stop_at = 1}; /* on a slow machine before any is taken */
    CHECK(dg_sampler_stream(take_draws, &of, STREAM, DG_CELLS, sampler, &run, NULL) ==
                  DG_ERR_STOPPED &&
              of.n_calls * of.most < STREAM,
          "%zu calls", of.n_calls);
    CHECK(dg_sampler_stream(take_draws, &of, 0, DG_CELLS, sampler, &run, NULL) == DG_OK, "none");
    /* the child of a fork after the first piece has it anew */
    of = (stream){.taken = taken, .n_bytes = width, .fork_at = 1};
    if (forks) {
        const dg_status status =
            dg_sampler_stream(take_draws, &of, STREAM, DG_CELLS, sampler, &run, NULL);
        if (of.child == 0) {
            memcpy(theirs, taken, size);
            _exit(status == DG_OK && of.n == STREAM ? 0 : 1);
        }
        int ended = -1;
        CHECK(status == DG_OK && waitpid(of.child, &ended, 0) == of.child && ended == 0, "child %d",
              ended);
        size_t n_shared = 0;
        for (size_t i = 0; i < STREAM; i++) { /* each has 2000 random bits */
            n_shared += memcmp(theirs + i * width, taken + i * width, width) == 0;
        }
        CHECK(n_shared == 0, "%zu draws are shared", n_shared);
    }
    free(wanted);
    (void)munmap(taken, size);
    (void)munmap(theirs, size);
    dg_sampler_free(sampler);
}

/** Where single draws are said to fit int64 they do, by the isochronous sampler as well; elsewhere nothing is
 *  drawn. */
static void test_single_int64s(void)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        dg_sampler *sampler = new_sampler(ROWS[i].kind, ROWS[i].numbers);
        const dg_isochronous *one;
        const bool fits = dg_sampler_fits_int64(sampler) != 0;
        if (dg_sampler_one(&one, sampler) == DG_OK) {
            dg_isochronous_info info;
            dg_isochronous_describe(&info, one);
            CHECK(!fits || info.fits_int64, "law %zu", i);
        }
        tape from = {bytes, TAPE, 0};
        const dg_source source = tape_source(&from);
        const int64_t drawn = dg_sampler_draw(DG_AUTO, sampler, &source);
        CHECK(fits == (drawn != INT64_MIN + DG_ERR_RANGE) && fits == (from.used > 0), "law %zu", i);
        dg_sampler_free(sampler);
    }
}

/* --- pauses --------------------------------------------------------------------------------- */

static struct {
    int n;
    int stop_at;      /* 0: never */
    mpfr_exp_t least; /* exponent of the thread's own range */
} pauses;

/** What the handler of a signal may do: draw, build, compute with MPFR. */
static int do_much(void *context)
{
    (void)context;
    pauses.n++;
    CHECK(mpfr_get_emin() == pauses.least, "the range is ours, not that of the building");
    if (pauses.n == 3) {
        dg_sampler *other = sampler_of(LAPLACE, 7, 1, 0);
        int64_t out[10];
        CHECK(dg_sampler_fill(out, 10, DG_INT64, DG_CELLS, other, NULL, NULL) == DG_OK, "within");
        dg_sampler_free(other);
    }
    pauses.least = -20;
    (void)mpfr_set_emin(-20);
    (void)mpfr_set_emax(20);
    mpfr_set_divby0();
    return pauses.n == pauses.stop_at;
}

/** A table is built with pauses, which change nothing of it and may end it. */
static void test_pauses(void)
{
    const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    const char *const numbers[6] = {"1000", "1", "1", "3", "5", "2"};
    dg_sampler *sampler = new_sampler(POWER, numbers), *again = new_sampler(POWER, numbers);
    const dg_run run = {1, do_much, NULL};
    dg_method way = DG_AUTO;
    static int64_t out[2][MOST_N];
    milliseconds_a_look = DG_PAUSE_MILLISECONDS;
    pauses.n = 0;
    pauses.least = least;
    pauses.stop_at = 50;
    CHECK(dg_sampler_choose(&way, 1, DG_CELLS, sampler, &run, NULL) == DG_ERR_STOPPED,
          "a pause ends the building");
    CHECK(way == DG_AUTO && pauses.n == 50 && info_of(sampler).n_built == 0, "at once");
    pauses.stop_at = 0;
    CHECK(dg_sampler_choose(&way, 1, DG_CELLS, sampler, &run, NULL) == DG_OK && pauses.n > 300,
          "%d pauses", pauses.n);
    CHECK(mpfr_get_emin() == -20 && mpfr_divby0_p(), "MPFR is left as the pause left it");
    milliseconds_a_look = 0;
    (void)mpfr_set_emin(least);
    (void)mpfr_set_emax(most);
    mpfr_clear_flags();
    dg_sampler *both[] = {sampler, again};
    for (size_t i = 0; i < 2; i++) {
        tape from = {bytes, TAPE, 0};
        const dg_source source = tape_source(&from);
        CHECK(dg_sampler_fill(out[i], MOST_N, DG_INT64, DG_CELLS, both[i], NULL, &source) == DG_OK,
              "a fill");
    }
    CHECK(memcmp(out[0], out[1], sizeof out[0]) == 0, "it is the same table");
    dg_sampler_free(sampler);
    dg_sampler_free(again);
}

/* --- threads and forks ---------------------------------------------------------------------- */

enum { LAWS = 12, THREADS = 8, CALLS = 400, FORKS = 12 };

static dg_sampler *shared[LAWS];

/** Law i lies around 10^6 i: a draw from another's part is told apart. */
static dg_sampler *new_numbered(int64_t i)
{
    return sampler_of((dg_law_kind)(DG_DISCRETE_LAPLACE + i % 3), 20 + i, 1, 1000000 * i);
}

static bool draw_numbered(dg_sampler *sampler, int64_t i, uint64_t *state)
{
    int64_t out[700];
    const uint64_t word = next_word(state);
    const size_t n = 1 + (size_t)(word % (word >> 60 ? 150 : 700));
    const dg_method method = (word >> 32) % 8 == 0 ? DG_CELLS : DG_AUTO;
    if (dg_sampler_fill(out, n, DG_INT64, method, sampler, NULL, NULL) != DG_OK) {
        return false;
    }
    out[0] = (word >> 40) % 4 == 0 ? dg_sampler_draw(DG_AUTO, sampler, NULL) : out[0];
    for (size_t k = 0; k < n; k++) {
        if (llabs(out[k] - 1000000 * i) > 100000) {
            return false;
        }
    }
    return true;
}

static void *draw_often(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument;
    size_t n_bad = 0;
    for (int call = 0; call < CALLS; call++) {
        const int64_t i = (int64_t)(next_word(&state) % LAWS);
        n_bad += !draw_numbered(shared[i], i, &state);
        if (call % 16 == 0) { /* a law of its own, which comes and goes */
            dg_sampler *own = new_numbered(i);
            n_bad += !draw_numbered(own, i, &state) || !draw_numbered(own, i, &state);
            dg_sampler_free(own);
        }
    }
    return (void *)(uintptr_t)n_bad;
}

/** In the child of a fork beside threads that draw and build: every law by every way, and within its own
 *  budget. Returns: the exit status. */
static int draw_in_child(uint64_t state)
{
    bool good = true;
    (void)alarm(120); /* should it hang */
    for (int64_t i = 0; i < LAWS; i++) {
        int64_t out[5];
        good = good && draw_numbered(shared[i], i, &state) &&
               dg_sampler_fill(out, 5, DG_INT64, DG_CELLS, shared[i], NULL, NULL) == DG_OK &&
               llabs(out[4] - 1000000 * i) < 100000;
    }
    return good ? 0 : 1;
}

/** Threads draw at once from laws whose tables have not all room, while the process forks. */
static void test_threads(void)
{
    const size_t budget = dg_tables_budget();
    pthread_t threads[THREADS];
    for (int64_t i = 0; i < LAWS; i++) {
        shared[i] = new_numbered(i);
    }
    (void)way_of(shared[0], 1, DG_CELLS, NULL);
    dg_tables_set_budget(4 * dg_tables_bytes());
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, draw_often, (void *)(uintptr_t)(i + 1)) != 0) {
            abort();
        }
    }
    for (uint64_t i = 0; forks && i < FORKS; i++) {
        const pid_t process = fork();
        if (process == 0) {
            _exit(draw_in_child(i));
        }
        int ended = -1;
        CHECK(process > 0 && waitpid(process, &ended, 0) == process && ended == 0, "child %d",
              (int)i);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *n_bad = NULL;
        (void)pthread_join(threads[i], &n_bad);
        CHECK(n_bad == NULL, "thread %zu: %zu bad calls", i, (size_t)(uintptr_t)n_bad);
    }
    dg_tables_set_budget(dg_tables_budget()); /* as the next table would: nobody draws */
    CHECK(dg_tables_bytes() <= dg_tables_budget(), "the budget holds");
    for (int64_t i = 0; i < LAWS; i++) {
        dg_sampler_free(shared[i]);
    }
    CHECK(dg_tables_bytes() == 0, "all are given up");
    dg_tables_set_budget(budget);
}

/** What a fork leaves behind: a table in use by a thread that the child has not, and a rent whose buyer was
 *  lost. */
static void test_fork(void)
{
    dg_sampler *sampler = sampler_of(GAUSSIAN, 100, 1, 0), *other = sampler_of(GAUSSIAN, 50, 1, 0);
    dg_way lost;
    int ended = -1;
    CHECK(dg_way_begin(&lost, 1, DG_CELLS, sampler, NULL, NULL) == DG_OK, "a table in use");
    atomic_store(&other->rent, other->prices.table + 5); /* its buyer has not come to build */
    const pid_t process = fork();
    if (process == 0) {
        dg_tables_set_budget(0);
        const bool pinned = dg_tables_bytes() > 0 && info_of(sampler).has_table;
        dg_tables_set_budget((size_t)1 << 26);
        int64_t out[2000];
        bool good = dg_sampler_fill(out, 2000, DG_INT64, DG_AUTO, sampler, NULL, NULL) == DG_OK &&
                    info_of(sampler).by_cells == 2000;
        const size_t after = (size_t)(other->prices.table / other->prices.draw[0]);
        good = good && way_of(other, 128, DG_AUTO, NULL) != DG_CELLS;
        good = good && way_of(other, after, DG_AUTO, NULL) == DG_CELLS;
        dg_sampler_free(sampler);
        dg_sampler_free(other);
        _exit(pinned && good ? 0 : 1);
    }
    CHECK(process > 0 && waitpid(process, &ended, 0) == process && ended == 0, "the child: %d",
          ended);
    dg_way_end(&lost);
    dg_sampler_free(sampler);
    dg_sampler_free(other);
    CHECK(dg_tables_bytes() == 0, "in the parent it is given up");
}

/** With the argument `alone` no process is forked: sanitizers' allocators are not made for the child of a fork
 *  beside threads, and valgrind takes its blocks for lost. */
int main(int n_arguments, char **arguments)
{
    (void)arguments;
    forks = n_arguments < 2;
    uint64_t state = 3;
    for (size_t i = 0; i < TAPE; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    test_choice();
    test_missing_ways();
    test_rent();
    test_budget();
    test_table_in_use();
    test_draws();
    test_stream();
    test_single_int64s();
    test_pauses();
    if (forks) {
        test_fork();
    }
    test_threads();
    return report("samplers");
}
