/* MPFR's range of exponents belongs to the thread, and whoever else uses MPFR in the process may have
 * narrowed it (to that of a double, say). Tables, draws and statuses do not depend on it, and it is
 * left as it was. */
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
    CHECK(dg_table_fill_wide(to, 200, width, table, &source) == DG_OK, "draws");
    dg_table_free(table);
    return from.used;
}

static void test_law(dg_law *law)
{
    static const long ranges[][2] = {{-1073, 1024}, {-16493, 16384}, {-100, 100}};
    const size_t width = dg_law_wide_bytes(law);
    CHECK(width <= WIDTH, "%zu bytes", width);
    dg_table_info wanted, info;
    size_t used = draw(expected, width, law, &wanted);
    CHECK(used > 0, "no table");
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
        mpfr_set_emin(ranges[i][0]);
        mpfr_set_emax(ranges[i][1]);
        CHECK(draw(out, width, law, &info) == used, "range %ld", ranges[i][1]);
        CHECK(memcmp(out, expected, 200 * width) == 0, "range %ld", ranges[i][1]);
        CHECK(memcmp(&info, &wanted, sizeof info) == 0, "range %ld", ranges[i][1]);
        CHECK(mpfr_get_emin() == ranges[i][0] && mpfr_get_emax() == ranges[i][1], "not restored");
        mpfr_set_emin(least);
        mpfr_set_emax(most);
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
