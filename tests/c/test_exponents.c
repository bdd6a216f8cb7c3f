/* MPFR's range of exponents belongs to the thread, and whoever else uses MPFR in the process may have
 * narrowed it (to that of a double, say). Tables, draws and statuses do not depend on it, and it is
 * left as it was. So are MPFR's flags. */
#include "support.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 3000, WIDTH = 1024 };

static uint8_t expected[DRAWS * WIDTH], out[DRAWS * WIDTH];

/** Build a table and draw from a tape of words from `seed`, every other one 0, so that decisions are
 *  refined. Returns: bytes used; 0 if there is no table. */
static size_t draw(uint8_t *to, size_t width, const dg_law *law, dg_table_info *info)
{
    static uint8_t bytes[1 << 20];
    uint64_t state = 5;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = i % 100 < 30 ? (uint8_t)next_word(&state) : 0;
    }
    tape from = {bytes, sizeof bytes, 0};
    dg_source source = tape_source(&from);
    dg_table *table;
    memset(info, 0, sizeof *info);
    if (dg_table_new(&table, law, 16, -1, DG_ISA_AUTO) != DG_OK) {
        return 0;
    }
    dg_table_describe(info, table);
    CHECK(dg_table_fill_wide(to, 200, width, table, NULL, &source) == DG_OK, "draws");
    dg_table_free(table);
    return from.used;
}

/** Prepare lanes and make 50 draws. Returns: bytes used; 0 if there are no lanes. */
static size_t draw_in_lanes(uint8_t *to, size_t width, const dg_law *law, dg_lanes_info *info)
{
    static uint8_t bytes[1 << 20];
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof bytes; i++) { /* the first attempt is left undecided */
        bytes[i] = i < 16 ? 0xFF : (uint8_t)next_word(&state);
    }
    tape from = {bytes, sizeof bytes, 0};
    dg_source source = tape_source(&from);
    dg_lanes *lanes;
    memset(info, 0, sizeof *info);
    if (dg_lanes_new(&lanes, law, DG_ISA_AUTO) != DG_OK) {
        return 0;
    }
    dg_lanes_info facts;
    dg_lanes_describe(&facts, lanes);
    info->n_core = facts.n_core; /* one by one: between them nothing is certain */
    info->n_tail = facts.n_tail;
    info->block_bits = facts.block_bits;
    info->above = facts.above;
    CHECK(dg_lanes_fill_wide(to, 50, width, lanes, NULL, &source) == DG_OK, "draws");
    dg_lanes_free(lanes);
    return from.used;
}

/** Isochronous draws of a law do not depend on the range; there may be none. */
static void test_isochronous(const dg_law *law, const long range[2])
{
    const size_t width = dg_law_wide_bytes(law);
    dg_lanes_info wanted, info;
    const size_t used = draw_in_lanes(expected, width, law, &wanted);
    const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    mpfr_set_emin(range[0]);
    mpfr_set_emax(range[1]);
    mpfr_flags_restore(MPFR_FLAGS_ERANGE, MPFR_FLAGS_ALL);
    CHECK(draw_in_lanes(out, width, law, &info) == used, "lanes, range %ld", range[1]);
    CHECK(memcmp(out, expected, 50 * width) == 0 || used == 0, "range %ld", range[1]);
    CHECK(memcmp(&info, &wanted, sizeof info) == 0, "lanes, range %ld", range[1]);
    CHECK(mpfr_get_emin() == range[0] && mpfr_get_emax() == range[1], "not restored");
    CHECK(mpfr_flags_save() == MPFR_FLAGS_ERANGE, "flags: %x", (unsigned)mpfr_flags_save());
    mpfr_set_emin(least);
    mpfr_set_emax(most);
}

static void test_law(dg_law *law)
{
    static const long ranges[][2] = {
        {-1073, 1024}, {-16493, 16384}, {-100, 100}, {5, 100}, {-100, -50}};
    const size_t width = dg_law_wide_bytes(law);
    CHECK(width <= WIDTH, "%zu bytes", width);
    dg_table_info wanted, info;
    size_t used = draw(expected, width, law, &wanted);
    CHECK(used > 0, "no table");
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
        mpfr_set_emin(ranges[i][0]);
        mpfr_set_emax(ranges[i][1]);
        mpfr_flags_restore(MPFR_FLAGS_NAN, MPFR_FLAGS_ALL);
        CHECK(draw(out, width, law, &info) == used, "range %ld", ranges[i][1]);
        CHECK(memcmp(out, expected, 200 * width) == 0, "range %ld", ranges[i][1]);
        CHECK(memcmp(&info, &wanted, sizeof info) == 0, "range %ld", ranges[i][1]);
        CHECK(mpfr_get_emin() == ranges[i][0] && mpfr_get_emax() == ranges[i][1], "not restored");
        CHECK(mpfr_flags_save() == MPFR_FLAGS_NAN, "flags: %x", (unsigned)mpfr_flags_save());
        mpfr_set_emin(least);
        mpfr_set_emax(most);
    }
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        test_isochronous(law, ranges[i]);
    }
    dg_law_free(law);
}

int main(void)
{
    test_law(law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 100, 1, 1, 3));
    test_law(law_of(DG_DISCRETE_LAPLACE, DG_ARITHMETIC_AUTO, 1, 1000000007, 1, 3));
    test_law(long_law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 1, 4000, 1, 0, 1, 3));
    test_law(long_law_of(DG_DISCRETE_LAPLACE, DG_ARITHMETIC_AUTO, 1, 0, 1, 3000, 1, 3));
    test_law(long_law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 1, 0, 1, 3000, 0, 1));
    return report("range of exponents");
}
