/* Many laws in one call: from the same bytes the same draws as one call for each, in machine words and
 * by GMP; a law that breaks its rules ends the call, with zeros. */
#include "support.h"

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
    return (dg_laws){kind, {words, 4, DG_RATIOS}, {words + 2, 4, DG_RATIOS}};
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

static void test_errors(void)
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
        dg_status status = dg_laws_fill(out, 3, DG_INT64, &laws, which, NULL, &source);
        CHECK(status == DG_ERR_PARAMETER, "law %zu: status %d", i, (int)status);
        CHECK(out[0] == 0 && out[1] == 0 && out[2] == 0, "law %zu left draws", i);
    }
    int64_t out[2] = {7, 7};
    const int64_t which[2] = {0, 0};
    tape empty = {bytes, 0, 0};
    const dg_source source = tape_source(&empty);
    const dg_laws laws = laws_of(DG_DISCRETE_GAUSSIAN, NUMBERS[0]);
    CHECK(dg_laws_fill(out, 2, DG_INT64, &laws, which, NULL, &source) == DG_ERR_SOURCE,
          "the tape is at its end");
    CHECK(out[0] == 0 && out[1] == 0, "draws were left");
    errno = EDOM;
    CHECK(dg_laws_fill(NULL, 0, DG_INT64, &laws, NULL, NULL, NULL) == DG_OK, "nothing to draw");
    CHECK(errno == EDOM, "errno is the caller's");
}

int main(void)
{
    uint64_t state = 11;
    for (size_t i = 0; i < TAPE; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    test_draws();
    test_errors();
    return report("many laws in one call");
}
