/* MPFR's range of exponents belongs to the thread, and other code in the process may have narrowed it (for example to
 * that of a double). Tables, draws and statuses do not depend on it, and calls restore it, and MPFR's flags. */
#include "support.h"

#include <mpfr.h>
#include <string.h>

enum { DRAWS = 200, WIDTH = 1024 };

static uint8_t expected[DRAWS * WIDTH], out[DRAWS * WIDTH];

/** Make a sampler, and draw from a tape on which decisions are refined: most of its words are 0, or it begins with a
 *  tail. Returns: bytes used; 0 if there is no such sampler. */
static size_t draw(uint8_t *to, dg_sampler_info *info, dg_law_kind kind, const char *parameter,
                   const char *mu, dg_method method)
{
    static uint8_t bytes[1 << 20];
    uint64_t state = 5;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = i % 100 < 30 || method == DG_ISOCHRONOUS ? (uint8_t)next_word(&state) : 0;
    }
    tape from = {bytes, sizeof bytes, 0};
    dg_source source = tape_source(&from);
    dg_sampler *sampler =
        sampler_of(kind, parameter, mu, NULL, method, DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    memset(info, 0, sizeof *info);
    if (sampler == NULL) {
        return 0;
    }
    if (method == DG_ISOCHRONOUS) {
        (void)write_tail(bytes, DRAWS, sampler, &state);
    }
    const size_t width = dg_sampler_wide_bytes(sampler);
    dg_sampler_describe(info, sampler);
    CHECK(width <= WIDTH, "%zu bytes", width);
    CHECK(dg_sampler_fill_wide(to, DRAWS, width, sampler, NULL, &source) == DG_OK, "draws");
    memset(to + DRAWS * width, 0, DRAWS * (WIDTH - width));
    dg_sampler_free(sampler);
    return from.used;
}

static void test_law(dg_law_kind kind, const char *parameter, const char *mu, dg_method method)
{
    static const long ranges[][2] = {
        {-1073, 1024}, {-16493, 16384}, {-100, 100}, {5, 100}, {-100, -50}};
    dg_sampler_info wanted, info;
    const size_t used = draw(expected, &wanted, kind, parameter, mu, method);
    CHECK(used > 0, "no sampler");
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
        mpfr_set_emin(ranges[i][0]);
        mpfr_set_emax(ranges[i][1]);
        mpfr_flags_restore(MPFR_FLAGS_NAN, MPFR_FLAGS_ALL);
        CHECK(draw(out, &info, kind, parameter, mu, method) == used, "range %ld", ranges[i][1]);
        CHECK(memcmp(out, expected, sizeof out) == 0, "range %ld", ranges[i][1]);
        CHECK(memcmp(&info, &wanted, sizeof info) == 0, "range %ld", ranges[i][1]);
        CHECK(mpfr_get_emin() == ranges[i][0] && mpfr_get_emax() == ranges[i][1], "not restored");
        CHECK(mpfr_flags_save() == MPFR_FLAGS_NAN, "flags: %x", (unsigned)mpfr_flags_save());
        mpfr_set_emin(least);
        mpfr_set_emax(most);
    }
}

int main(void)
{
    char steep[1100] = "1/";
    (void)write_number(steep + 2, 1, 3000);
    test_law(DG_DISCRETE_GAUSSIAN, "100", "1/3", DG_CELLS);
    test_law(DG_DISCRETE_LAPLACE, "1/1000000007", "1/3", DG_CELLS);
    test_law(DG_DISCRETE_GAUSSIAN, power_text(4000), "1/3", DG_CELLS);
    test_law(DG_DISCRETE_LAPLACE, steep, "1/3", DG_CELLS);
    test_law(DG_DISCRETE_GAUSSIAN, steep, NULL, DG_CELLS);
#if DG_HAVE_WORDS
    test_law(DG_DISCRETE_GAUSSIAN, "100", "1/3", DG_ISOCHRONOUS);
    test_law(DG_DISCRETE_LAPLACE, "0x1000000000", "1/3", DG_ISOCHRONOUS);
#endif
    return report("range of exponents");
}
