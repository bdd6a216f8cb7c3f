/* The bounds of g for tables and for decisions, against MPFR at 512 bits: they hold, and they are as close as the
 * law's parameters allow. */
#include "support.h"

#include "bounds/enclosure.h"

#include <stdlib.h>
#include <string.h>

enum { PRECISION = 512 };

typedef struct test_case {
    dg_law_kind kind;
    int64_t a, b, n, d, p, q; /* parameter a/b, mu = f = n/d, beta = p/q */
    int close;                /* the bounds are within 2^-close */
} test_case;

static const int64_t BIG = INT64_C(1) << 62;

static const test_case CASES[] = {
    {DG_DISCRETE_GAUSSIAN, 1, 1, 0, 1, 1, 1, 112},
    {DG_DISCRETE_GAUSSIAN, 1000001, 7, 1, 3, 1, 1, 112},
    {DG_DISCRETE_GAUSSIAN, BIG, 3, -1, 2, 1, 1, 112},
    {DG_DISCRETE_GAUSSIAN, 1, BIG, -1, 2, 1, 1, 112}, /* g(-1) = g(0) = 1 exactly, else about 0 */
    {DG_DISCRETE_GAUSSIAN, 1, BIG, BIG / 2 - 1, BIG, 1, 1, 112},
    {DG_DISCRETE_LAPLACE, 1000, 1, 2, 5, 1, 1, 112},
    {DG_DISCRETE_LAPLACE, 1, BIG, 1 - BIG / 2, BIG, 1, 1, 112},
    {DG_GENERALIZED_GAUSSIAN, 1000, 1, 0, 1, 3, 2, 96},
    {DG_GENERALIZED_GAUSSIAN, 1000, 3, 1, 3, 11, 10, 96},
    {DG_GENERALIZED_GAUSSIAN, 1000, 1, 0, 1, 1, 1, 96},
    {DG_GENERALIZED_GAUSSIAN, 1000, 1, 1, 3, 1000, 1, 88},
    {DG_GENERALIZED_GAUSSIAN, 10, 1, 0, 1, 1000001, 1, 72},
    {DG_GENERALIZED_GAUSSIAN, 10, 1, 0, 1, BIG + 1, 3, 34}, /* g(10) = 1/e */
    {DG_GENERALIZED_GAUSSIAN, 1, 20, 1, 3, 50, 1, 96},      /* phi(|f|) > 10^41 */
    {DG_GENERALIZED_GAUSSIAN, 1, BIG, -1, 2, 5, 2, 96},
    /* phi(|f|) beyond exp(2^19), where words bound powers from one side only */
    {DG_GENERALIZED_GAUSSIAN, 1, 387761233, 11925, 23909, 27478, 1, 112},
    {DG_GENERALIZED_GAUSSIAN, 1, 9, 1, 3, BIG, 1, 112},
    {DG_GENERALIZED_GAUSSIAN, 1, BIG, BIG / 2 - 1, BIG, BIG, 1, 112},
};

static dg_law *law_for(const test_case *of)
{
    return of->kind == DG_GENERALIZED_GAUSSIAN
               ? power_law_of(of->a, 0, of->b, of->n, of->d, of->p, of->q)
               : law_of(of->kind, DG_ARITHMETIC_AUTO, of->a, of->b, of->n, of->d);
}

/** Check 0 <= lower <= g(y) <= upper <= 1 by the bounds of `exact`, and that both are 1 exactly if g(y) is. */
static void check_safe(const mpfr_t lower, const mpfr_t upper, int64_t y, const test_case *of,
                       const dg_enclosure *exact)
{
    CHECK(mpfr_cmp(lower, exact->upper) <= 0, "lower bound at %lld, kind %d, %lld/%lld",
          (long long)y, (int)of->kind, (long long)of->a, (long long)of->b);
    CHECK(mpfr_cmp(upper, exact->lower) >= 0, "upper bound at %lld, kind %d, %lld/%lld",
          (long long)y, (int)of->kind, (long long)of->a, (long long)of->b);
    CHECK(mpfr_sgn(lower) >= 0 && mpfr_cmp_ui(upper, 1) <= 0, "at %lld: not from 0 to 1",
          (long long)y);
    if (y == 0 || (y == -1 && 2 * of->n == -of->d)) {
        CHECK(mpfr_cmp_ui(lower, 1) == 0 && mpfr_cmp_ui(upper, 1) == 0, "g(%d) = 1", (int)y);
    }
}

/** Check in addition that the bounds are close to each other. */
static void check_bounds(const mpfr_t lower, const mpfr_t upper, int64_t y, const test_case *of,
                         const dg_enclosure *exact)
{
    mpfr_t apart;
    check_safe(lower, upper, y, of, exact);
    mpfr_init2(apart, DG_WORDS_PRECISION);
    mpfr_sub(apart, upper, lower, MPFR_RNDU);
    CHECK(mpfr_cmp_ui_2exp(apart, 1, -of->close) < 0, "bounds apart at %lld, kind %d, %lld/%lld",
          (long long)y, (int)of->kind, (long long)of->a, (long long)of->b);
    mpfr_clear(apart);
}

/** Check the bounds for tables and those for decisions against g(y) at 512 bits. */
static void check_weight(int64_t y, const test_case *of, dg_enclosure *e, dg_enclosure *exact)
{
    mpz_t at;
    mpfr_t lower;
    dg_enclosure decision;
    const uint64_t size = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    mpz_init(at);
    mpz_import(at, 1, -1, sizeof size, 0, 0, &size); /* a long may have 32 bits */
    if (y < 0) {
        mpz_neg(at, at);
    }
    mpfr_init2(lower, DG_WORDS_PRECISION);
    dg_enclose_weight(exact, at, e->law);
    mpz_mul(e->y_d, at, e->law->d);
    dg_weight_lower(e);
    mpfr_set(lower, e->lower, MPFR_RNDN);
    dg_weight_upper(e);
    check_bounds(lower, e->upper, y, of, exact);
    dg_enclosure_open(&decision, DG_WORDS_PRECISION);
    dg_enclose_weight(&decision, at, e->law);
    check_bounds(decision.lower, decision.upper, y, of, exact);
    dg_enclosure_close(&decision);
    /* by MPFR alone, with so few bits that a rounding in the wrong direction shows */
    static const mpfr_prec_t few[] = {8, 16, 40};
    dg_enclosure_open(&decision, few[(uint64_t)y % 3]);
    dg_enclose_weight(&decision, at, e->law);
    check_safe(decision.lower, decision.upper, y, of, exact);
    dg_enclosure_close(&decision);
    mpfr_clear(lower);
    mpz_clear(at);
}

static void check_law(const dg_law *law, const test_case *of, uint64_t *state)
{
    dg_enclosure for_table, exact;
    dg_enclosure_open(&exact, PRECISION);
    dg_enclosure_open_for_table(&for_table, law);
    for (int64_t y = -12; y <= 12; y++) {
        check_weight(y, of, &for_table, &exact);
    }
    for (int k = 0; k < 400; k++) { /* of any size */
        const unsigned drop = (unsigned)(next_word(state) % 62);
        check_weight((int64_t)next_word(state) >> drop, of, &for_table, &exact);
    }
    dg_enclosure_close(&for_table);
    dg_enclosure_close(&exact);
}

/** f = 1/2 - 2^-110, or minus that, and phi(|f|) = 2^108 or nearly. g(1), or g(-1), is exp(-2), by a difference
 *  that words do not see. The bound comes from the slope, so it is not close. */
static void test_near_a_half(uint64_t *state)
{
    const test_case as_shown = {DG_GENERALIZED_GAUSSIAN, 1, INT64_C(1) << 55, 1, 2, 2, 1, 2};
    char mu[100] = "-", *end = write_ones(mu + 1, 109); /* -(2^109 - 1)/2^110 */
    *end++ = '/';
    (void)write_number(end, 1, 110);
    for (size_t i = 0; i < 2; i++) {
        dg_law *law =
            law_by_text(as_shown.kind, DG_ARITHMETIC_AUTO, "1/0x80000000000000", mu + i, "2");
        check_law(law, &as_shown, state);
        dg_law_free(law);
    }
}

int main(void)
{
    uint64_t state = 5;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        dg_law *law = law_for(&CASES[i]);
        check_law(law, &CASES[i], &state);
        dg_law_free(law);
    }
    test_near_a_half(&state);
    mpfr_free_cache();
    return report("bounds of the weight in words");
}
