/* Many laws in one call: from the same bytes the same draws as one call for each, in machine words and
 * by GMP; a law that breaks its rules ends the call, with zeros. */
#include "support.h"

#include "base/int128.h"
#include "base/isa.h"

#include <errno.h>
#include <string.h>

enum { LAWS = 6, TAPE = 4096, MOST = 100 };

/* sigma2 = a/b, mu = c/d */
static const int64_t NUMBERS[LAWS][4] = {
    {1, 1, 0, 1},          {355, 113, 1, 3}, {INT64_MAX, 1, INT64_MIN / 2, 1},
    {1, INT64_MAX, -5, 2}, {100, 1, 7, 1},   {3, 1, 0, 1},
};

static uint8_t bytes[TAPE];

/** Laws of rows a, b, c, d. */
static dg_laws laws_of(dg_law_kind kind, const int64_t *numbers)
{
    const uint64_t *words = (const uint64_t *)numbers;
    return (dg_laws){.kind = kind,
                     .parameter = {words, 4, DG_RATIOS, 0, 0},
                     .centre = {words + 2, 4, DG_RATIOS, 0, 0}};
}

/** One call for n draws against one for each: draws and bytes are the same. */
static void check_draws(dg_law_kind kind, const int64_t *numbers, const int64_t *which, size_t n)
{
    int64_t together[MOST], alone;
    tape all = {bytes, TAPE, 0}, each = {bytes, TAPE, 0};
    const dg_source from_all = tape_source(&all), from_each = tape_source(&each);
    const dg_laws laws = laws_of(kind, numbers);
    dg_status status = dg_laws_fill(together, n, DG_INT64, &laws, which, NULL, &from_all);
    CHECK(status == DG_OK, "status %d", (int)status);
    for (size_t i = 0; i < n; i++) {
        const int64_t *of = numbers + 4 * which[i];
        dg_law *law = law_of(kind, DG_ARITHMETIC_AUTO, of[0], of[1], of[2], of[3]);
        CHECK(dg_law_fill(&alone, 1, DG_INT64, law, NULL, &from_each) == DG_OK, "draw %zu", i);
        CHECK(together[i] == alone, "draw %zu", i);
        dg_law_free(law);
    }
    CHECK(all.used == each.used, "%zu and %zu bytes", all.used, each.used);
}

static void test_draws(void)
{
    static const int64_t which[] = {0, 1, 1, 1, 2, 0, 0, 3, 3, 4, 5, 2, 2, 1};
    check_draws(DG_DISCRETE_GAUSSIAN, NUMBERS[0], which, sizeof which / sizeof *which);
    /* A draw of the first law reads 11 bytes at least, one of the second some 5: if the first law's
     * draw counted on more of its own, bytes would be asked for that nothing uses. */
    static const int64_t wide_then_narrow[][4] = {{INT64_MAX, 1, 0, 1}, {1, 1, 0, 1}};
    int64_t first_once[MOST] = {0};
    for (size_t i = 1; i < MOST; i++) {
        first_once[i] = 1;
    }
    check_draws(DG_DISCRETE_LAPLACE, wide_then_narrow[0], first_once, MOST);
}

/** A draw so far out that its acceptance is GMP's, though the law draws in words: the views of a short
 *  law's constants, made without GMP, are those that dg_law_new makes. */
static void test_far_draws(void)
{
    enum { PAIRS = 1100 }; /* y = 35 200; both laws have y_max < 2^15 */
    static const int64_t laws[][4] = {
        {(INT64_C(1) << 53) - 1, INT64_C(1) << 43, 0, 1}, /* t = 32 */
        {1000, 1, -3, INT64_C(1) << 44},                  /* t = 32 */
    };
    static const int64_t first[] = {0, 0, 0}, second[] = {1, 1, 1};
    uint8_t kept[TAPE];
    memcpy(kept, bytes, TAPE);
    /* u = t/2, kept as 255/256 > u/t; then as often as there are pairs exp(-1) says yes: 0 < 1/2 and
     * 255/256 > 1/3; then no */
    static const uint8_t start[] = {0, 128, 255};
    memcpy(bytes, start, sizeof start);
    for (size_t i = 0; i < PAIRS; i++) {
        bytes[sizeof start + 2 * i] = 0;
        bytes[sizeof start + 2 * i + 1] = 255;
    }
    bytes[sizeof start + 2 * (size_t)PAIRS] = 255;
    check_draws(DG_DISCRETE_GAUSSIAN, laws[0], first, 3);
    check_draws(DG_DISCRETE_GAUSSIAN, laws[0], second, 3);
    memcpy(bytes, kept, TAPE);
}

/** Floats and integers are the laws of their ratios. */
static void test_formats(void)
{
    enum { N = 6, DRAWS = 40 };
    static const uint64_t bits[N] = {
        0x3ff0000000000000, /* 1 */
        0x3fd5555555555555, /* about 1/3 */
        0x40c3880000000000, /* 10000 */
        0x4330000000000001, /* 2^52 + 1 */
        0x4360000000000000, /* 2^55 */
        0x3c10000000000000, /* 2^-62 */
    };
    static const int64_t ratios[N][2] = {{1, 1},
                                         {0x15555555555555, INT64_C(1) << 54},
                                         {10000, 1},
                                         {(INT64_C(1) << 52) + 1, 1},
                                         {INT64_C(1) << 55, 1},
                                         {1, INT64_C(1) << 62}};
    for (int format = 0; format < 2; format++) {
        int64_t of_words[DRAWS], of_ratios[DRAWS], which[DRAWS];
        const uint64_t integers[N] = {1, 3, 10000, 7, UINT64_C(1) << 55, 100};
        int64_t same[N][2];
        for (size_t i = 0; i < N; i++) {
            same[i][0] = format == 0 ? (int64_t)integers[i] : ratios[i][0];
            same[i][1] = format == 0 ? 1 : ratios[i][1];
        }
        for (size_t i = 0; i < DRAWS; i++) {
            which[i] = (int64_t)(i % N);
        }
        const uint64_t *words = format == 0 ? integers : bits;
        const dg_column third = {(const uint64_t *)&NUMBERS[1][2], 0, DG_RATIOS, 0, 0};
        const dg_laws given = {.kind = DG_DISCRETE_LAPLACE,
                               .parameter = {words, 1, format == 0 ? DG_INTEGERS : DG_FLOATS, 0, 0},
                               .centre = third};
        const dg_laws wanted = {.kind = DG_DISCRETE_LAPLACE,
                                .parameter = {(const uint64_t *)same, 2, DG_RATIOS, 0, 0},
                                .centre = third};
        tape one = {bytes, TAPE, 0}, other = {bytes, TAPE, 0};
        const dg_source from_one = tape_source(&one), from_other = tape_source(&other);
        CHECK(dg_laws_fill(of_words, DRAWS, DG_INT64, &given, which, NULL, &from_one) == DG_OK,
              "format %d", format);
        CHECK(dg_laws_fill(of_ratios, DRAWS, DG_INT64, &wanted, which, NULL, &from_other) == DG_OK,
              "format %d", format);
        CHECK(memcmp(of_words, of_ratios, sizeof of_words) == 0, "format %d", format);
        CHECK(one.used == other.used, "format %d", format);
    }
    static const uint64_t not_finite[] = {0x7ff0000000000000, 0xfff0000000000000,
                                          0x7ff8000000000000, 0x7ff0000000000001};
    for (size_t i = 0; i < 4; i++) {
        const dg_laws bad = {.kind = DG_DISCRETE_GAUSSIAN,
                             .parameter = {not_finite + i, 1, DG_FLOATS, 0, 0},
                             .centre = {(const uint64_t *)&NUMBERS[0][2], 0, DG_RATIOS, 0, 0}};
        int64_t out = 7;
        CHECK(dg_laws_fill(&out, 1, DG_INT64, &bad, NULL, NULL, NULL) == DG_ERR_PARAMETER,
              "float %zu", i);
        CHECK(out == 0, "float %zu", i);
    }
}

/** dg_laws_fill, or dg_laws_fill_in_lanes in one of its two ways. */
typedef dg_status fill_laws(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                            const int64_t *which, const dg_run *run, const dg_source *source);

static dg_status fill_in_lanes(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                               const int64_t *which, const dg_run *run, const dg_source *source)
{
    return dg_laws_fill_in_lanes(out, n, dtype, laws, which, 0, DG_ISA_AUTO, run, source);
}

static dg_status fill_isochronously(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                                    const int64_t *which, const dg_run *run,
                                    const dg_source *source)
{
    return dg_laws_fill_in_lanes(out, n, dtype, laws, which, 1, DG_ISA_AUTO, run, source);
}

static void test_errors(fill_laws *fill)
{
    static const struct {
        int64_t numbers[4];
        dg_law_kind kind;
    } bad[] = {
        {{0, 1, 0, 1}, DG_DISCRETE_GAUSSIAN},    {{-1, 1, 0, 1}, DG_DISCRETE_GAUSSIAN},
        {{2, 4, 0, 1}, DG_DISCRETE_GAUSSIAN},    {{1, 0, 0, 1}, DG_DISCRETE_LAPLACE},
        {{1, 1, 2, 2}, DG_DISCRETE_GAUSSIAN},    {{1, 1, 1, 0}, DG_DISCRETE_GAUSSIAN},
        {{1, 1, 1, 1}, DG_GEOMETRIC_EXP},        {{1, 1, 0, -1}, DG_DISCRETE_GAUSSIAN},
        {{1, 1, 0, 1}, DG_GENERALIZED_GAUSSIAN},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t out[3] = {7, 7, 7}, numbers[8] = {1, 1, 0, 1}, which[3] = {0, 1, 0};
        tape from = {bytes, TAPE, 0};
        const dg_source source = tape_source(&from);
        memcpy(numbers + 4, bad[i].numbers, sizeof bad[i].numbers);
        const dg_laws laws = laws_of(bad[i].kind, numbers);
        dg_status status = fill(out, 3, DG_INT64, &laws, which, NULL, &source);
        CHECK(status == DG_ERR_PARAMETER, "law %zu: status %d", i, (int)status);
        CHECK(out[0] == 0 && out[1] == 0 && out[2] == 0, "law %zu left draws", i);
    }
    int64_t out[2] = {7, 7};
    const int64_t which[2] = {0, 0};
    tape empty = {bytes, 0, 0};
    const dg_source source = tape_source(&empty);
    const dg_laws laws = laws_of(DG_DISCRETE_GAUSSIAN, NUMBERS[0]);
    CHECK(fill(out, 2, (dg_dtype)(DG_UINT64 + 1), &laws, which, NULL, &source) == DG_ERR_PARAMETER,
          "no such dtype");
    CHECK(fill(out, 2, DG_INT64, &laws, which, NULL, &source) == DG_ERR_SOURCE,
          "the tape is at its end");
    CHECK(out[0] == 0 && out[1] == 0, "draws were left");
    errno = EDOM;
    CHECK(fill(NULL, 0, DG_INT64, &laws, NULL, NULL, NULL) == DG_OK, "nothing to draw");
    CHECK(errno == EDOM, "errno is the caller's");
}

/** Lanes draw the same with every instruction set that the machine has, and refuse the others. */
/** In lanes a law that comes again is what it was, with laws between that lanes do not hold: as where each draw has
 *  a row of its own. (Two in a row of a law with lanes of its own would read their bytes in turn.) */
static void test_repeats(void)
{
    enum { N = 120, PATTERN = 9 };
    static const int64_t patterns[2][PATTERN] = {{0, 0, 4, 4, 1, 1, 4, 0, 5},
                                                 {0, 0, 4, 1, 1, 4, 0, 0, 5}};
    static int64_t rows[N][4], which[N], drawn[N], wanted[N];
    const dg_laws few = laws_of(DG_DISCRETE_GAUSSIAN, NUMBERS[0]);
    const dg_laws many = laws_of(DG_DISCRETE_GAUSSIAN, rows[0]);
    for (int isochronous = 0; isochronous < 2; isochronous++) {
        for (size_t i = 0; i < N; i++) {
            which[i] = patterns[isochronous][i % PATTERN];
            memcpy(rows[i], NUMBERS[which[i]], sizeof rows[i]);
        }
        tape one = {bytes, TAPE, 0}, other = {bytes, TAPE, 0};
        const dg_source from_one = tape_source(&one), from_other = tape_source(&other);
        CHECK(dg_laws_fill_in_lanes(drawn, N, DG_INT64, &few, which, isochronous, DG_ISA_AUTO, NULL,
                                    &from_one) == DG_OK,
              "few");
        CHECK(dg_laws_fill_in_lanes(wanted, N, DG_INT64, &many, NULL, isochronous, DG_ISA_AUTO,
                                    NULL, &from_other) == DG_OK,
              "many");
        CHECK(memcmp(drawn, wanted, sizeof drawn) == 0 && one.used == other.used, "way %d",
              isochronous);
    }
}

static void test_instruction_sets(void)
{
    enum { N = 150 };
    static int64_t out[2][N];
    int64_t which[N];
    for (size_t i = 0; i < N; i++) {
        which[i] = (int64_t)(i % 3);
    }
    const dg_laws laws = laws_of(DG_DISCRETE_GAUSSIAN, NUMBERS[0]);
    for (int isa = DG_ISA_AUTO; isa <= DG_ISA_NEON + 1; isa++) {
        tape from = {bytes, TAPE, 0};
        const dg_source source = tape_source(&from);
        int64_t *drawn = out[isa != DG_ISA_AUTO];
        const dg_status status =
            dg_laws_fill_in_lanes(drawn, N, DG_INT64, &laws, which, 0, (dg_isa)isa, NULL, &source);
        if (dg_isa_available((dg_isa)isa)) {
            CHECK(status == DG_OK && memcmp(out[0], drawn, sizeof out[0]) == 0, "isa %d", isa);
        } else {
            CHECK(status == DG_ERR_PARAMETER, "isa %d is not here", isa);
        }
    }
}

int main(void)
{
    uint64_t state = 11;
    for (size_t i = 0; i < TAPE; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    test_draws();
    test_far_draws();
    test_formats();
    test_repeats();
    test_instruction_sets();
    test_errors(dg_laws_fill);
    test_errors(fill_in_lanes);
    if (DG_HAVE_WORDS) {
        test_errors(fill_isochronously);
    }
    return report("many laws in one call");
}
