/* Machine words and GMP make the same draws from the same bytes, and use the same bytes. Tapes with long runs of zeros
 * drive Algorithm 1 past the words' loop limit. Tapes with long runs of 00 FF, each a success of Bernoulli(exp(-1)),
 * drive y past y_max. Both lead into GMP and back. */
#include "base/int128.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { TAPE = 1 << 16, DRAWS = 400, WIDE = 64 };

/** Draw until the tape ends. Returns: how many bytes were used. */
static size_t draw_all(uint8_t *out, size_t *n_drawn, const dg_sampler *by, const uint8_t *bytes)
{
    tape from = {bytes, TAPE, 0};
    dg_source source = tape_source(&from);
    size_t before = 0;
    for (*n_drawn = 0; *n_drawn < DRAWS; ++*n_drawn) {
        before = from.used;
        if (dg_sampler_fill_wide(out + *n_drawn * WIDE, 1, WIDE, by, NULL, &source) != DG_OK) {
            break;
        }
    }
    return *n_drawn < DRAWS ? before : from.used;
}

static uint8_t tape_bytes[TAPE];

/** The runs that a tape has. */
enum runs { NONE, ZEROS, SUCCESSES };

static void make_tape(uint64_t seed, enum runs runs)
{
    uint64_t state = seed;
    for (size_t i = 0; i < TAPE; i++) {
        tape_bytes[i] = (uint8_t)next_word(&state);
    }
    for (size_t at = 0; runs != NONE && at + 1000 < TAPE; at += 1500) {
        size_t start = at + (size_t)(next_word(&state) % 100 / 2 * 2);
        size_t length = (size_t)(next_word(&state) % 900);
        for (size_t i = start; i < start + length; i++) {
            tape_bytes[i] = runs == SUCCESSES && i % 2 == 1 ? 0xFF : 0;
        }
    }
}

static bool uses_words(const dg_sampler *by)
{
    dg_sampler_info info;
    dg_sampler_describe(&info, by);
    return info.uses_words;
}

static void compare(dg_sampler *words, dg_sampler *gmp, bool fits)
{
    uint8_t *ours = malloc(2 * DRAWS * WIDE);
    uint8_t *theirs = ours + DRAWS * WIDE;
    size_t n_ours, n_theirs;
    if (ours == NULL) {
        abort();
    }
    CHECK(uses_words(words) == (fits && DG_HAVE_WORDS), "expected %d, law of %zu bytes", (int)fits,
          dg_sampler_wide_bytes(words));
    CHECK(!uses_words(gmp), "GMP was asked for");
    CHECK(dg_sampler_wide_bytes(words) == dg_sampler_wide_bytes(gmp), "same law");
    for (uint64_t seed = 1; seed <= 6; seed++) {
        make_tape(seed, (enum runs)(seed % 3));
        size_t used = draw_all(ours, &n_ours, words, tape_bytes);
        size_t used_by_gmp = draw_all(theirs, &n_theirs, gmp, tape_bytes);
        CHECK(used == used_by_gmp, "%zu and %zu bytes", used, used_by_gmp);
        CHECK(n_ours == n_theirs && n_ours > 0, "%zu and %zu draws", n_ours, n_theirs);
        CHECK(memcmp(ours, theirs, n_ours * WIDE) == 0, "draws differ");
        tape whole = {tape_bytes, used, 0};
        dg_source source = tape_source(&whole);
        dg_status status = dg_sampler_fill_wide(theirs, n_ours, WIDE, words, NULL, &source);
        CHECK(status == DG_OK && whole.used == used, "in one fill: status %d", (int)status);
        CHECK(memcmp(ours, theirs, n_ours * WIDE) == 0, "draws differ in one fill");
    }
    free(ours);
    dg_sampler_free(words);
    dg_sampler_free(gmp);
}

static void compare_laws(dg_law_kind kind, int64_t a, size_t shift_a, int64_t b, size_t shift_b,
                         int64_t c, int64_t d, bool fits)
{
    char parameter[LONGEST_RATIO], mu[LONGEST_RATIO];
    (void)write_ratio(parameter, a, shift_a, b, shift_b);
    (void)write_ratio(mu, c, 0, d, 0);
    const dg_arithmetic gmp = DG_ARITHMETIC_GMP, any = DG_ARITHMETIC_AUTO;
    compare(sampler_of(kind, parameter, mu, NULL, DG_REFERENCE, any, DG_ISA_AUTO),
            sampler_of(kind, parameter, mu, NULL, DG_REFERENCE, gmp, DG_ISA_AUTO), fits);
}

int main(void)
{
    static const int64_t centres[][2] = {{0, 1}, {1, 3}, {-1, 3}, {1, 2}, {-7, 2}, {1000001, 7}};
    static const int64_t values[][2] = {{1, 1},         {1, 4},      {100, 1},
                                        {355, 113},     {10000, 1},  {1, 1000},
                                        {123456789, 1}, {1, 100000}, {7, 1048576}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t a = values[i][0], b = values[i][1];
        for (size_t j = 0; j < sizeof centres / sizeof *centres; j++) {
            int64_t c = centres[j][0], d = centres[j][1];
            compare_laws(DG_DISCRETE_LAPLACE, a, 0, b, 0, c, d, true);
            compare_laws(DG_DISCRETE_GAUSSIAN, a, 0, b, 0, c, d, true);
        }
        compare_laws(DG_GEOMETRIC_EXP, a, 0, b, 0, 0, 1, true);
        compare_laws(DG_BERNOULLI_EXP, a, 0, b, 0, 0, 1, true);
        compare_laws(DG_UNIFORM_BELOW, a, 0, 1, 0, 0, 1, true);
    }
    /* at the limits of the words, and past them (fits: what dg_words_prepare must find) */
    compare_laws(DG_UNIFORM_BELOW, (INT64_C(1) << 54) + 1, 0, 1, 0, 0, 1, true);
    compare_laws(DG_UNIFORM_BELOW, (INT64_C(1) << 55) + 1, 0, 1, 0, 0, 1, false);
    compare_laws(DG_DISCRETE_LAPLACE, (INT64_C(1) << 54) + 1, 0, 3, 0, 0, 1, true);
    compare_laws(DG_DISCRETE_LAPLACE, 1, 55, 3, 0, 0, 1, false);
    compare_laws(DG_DISCRETE_LAPLACE, 1, 0, 1, 61, 0, 1, true);
    compare_laws(DG_DISCRETE_LAPLACE, 1, 0, 1, 62, 0, 1, false);
    /* centres: their integer, their denominator, and the denominator times the scale */
    const int64_t one = 1;
    compare_laws(DG_DISCRETE_LAPLACE, 3, 0, 1, 0, one << 61, 1, true);
    compare_laws(DG_DISCRETE_LAPLACE, 3, 0, 1, 0, one << 62, 1, false);
    compare_laws(DG_DISCRETE_LAPLACE, 3, 0, 1, 0, 1, one << 61, true);
    compare_laws(DG_DISCRETE_LAPLACE, 3, 0, 1, 0, 1, one << 62, false);
    compare_laws(DG_DISCRETE_LAPLACE, 1, 54, 1, 0, 1, one << 56, true);
    compare_laws(DG_DISCRETE_LAPLACE, 1, 54, 1, 0, 1, one << 57, false);
    compare_laws(DG_BERNOULLI, 1, 0, 1, 110, 0, 1, true);
    compare_laws(DG_BERNOULLI, 1, 0, 1, 111, 0, 1, false);
    compare_laws(DG_BERNOULLI_EXP, 1, 126, 1, 0, 0, 1, true);
    compare_laws(DG_BERNOULLI_EXP, 1, 127, 1, 0, 0, 1, false);
    compare_laws(DG_DISCRETE_GAUSSIAN, 1, 52, 1, 0, 0, 1, true);
    compare_laws(DG_DISCRETE_GAUSSIAN, 1, 60, 1, 0, 0, 1, false);
    compare_laws(DG_DISCRETE_GAUSSIAN, INT64_C(3602879701896397), 0, 1, 55, 0, 1, true); /* 0.1 */
    compare_laws(DG_DISCRETE_GAUSSIAN, INT64_C(3602879701896397), 0, 1, 55, 1, 3, true);
    compare_laws(DG_DISCRETE_GAUSSIAN, 1, 0, 1, 100, 1, 2, true);
    compare_laws(DG_DISCRETE_GAUSSIAN, 1, 0, 1, 130, 1, 2, false);
    compare_laws(DG_DISCRETE_GAUSSIAN, 1, 200, 3, 0, 1, 3, false);
    return report("machine words and GMP");
}
