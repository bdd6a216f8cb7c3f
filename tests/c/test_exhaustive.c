/* Every bit string, through the compiled code. The number of tapes of L bytes on which a draw decides for a value
 * equals, as an integer, the number of dyadic intervals of length 2^-8L inside that value's part of [0, 1):
 *
 *   Bernoulli(a/b), 0 <= a <= b <= 64:   true  floor(2^8L a/b),  false  2^8L - ceil(2^8L a/b)
 *   uniform below n, n <= 256:           v     floor(2^8L (v+1)/n) - ceil(2^8L v/n)
 *
 * Bernoulli(exp(-a/b)) is bracketed: Pr[true] lies between the share of tapes that say true and that share plus the
 * undecided ones. L = 3, but 2 for the last law. Both machine words and GMP are tested.
 *
 * A draw that decides has read only the bytes that it requested (its source gives no others), so it stands for all
 * tapes that begin with them. The tree of prefixes covers every tape.
 *
 * usage: test_exhaustive [STEP]: only every STEP-th parameter (for slow, sanitized builds) */
#include "support.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = 3, LENGTH_EXP = 2, MOST_VALUES = 256 };

static int64_t step = 1;

typedef struct counts {
    uint64_t of[MOST_VALUES];
    uint64_t undecided;
} counts;

/** Count the tapes of `length` bytes that begin with prefix[0 .. n). */
static void explore(counts *total, uint8_t prefix[LENGTH], size_t n, size_t length,
                    const dg_sampler *law)
{
    tape from = {prefix, n, 0};
    dg_source source = tape_source(&from);
    int64_t value = -1;
    dg_status status = dg_sampler_fill(&value, 1, DG_INT64, law, NULL, &source);
    if (status == DG_OK) {
        CHECK(from.used == n, "%zu of %zu bytes used", from.used, n);
        CHECK(value >= 0 && value < MOST_VALUES, "value out of the range of the law");
        total->of[value] += UINT64_C(1) << (8 * (length - n));
        return;
    }
    CHECK(status == DG_ERR_SOURCE, "status %d", (int)status);
    if (n == length) {
        total->undecided++;
        return;
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        prefix[n] = (uint8_t)byte;
        explore(total, prefix, n + 1, length, law);
    }
}

static counts count_tapes(size_t length, const dg_sampler *law)
{
    counts total;
    uint8_t prefix[LENGTH];
    memset(&total, 0, sizeof total);
    explore(&total, prefix, 0, length, law);
    return total;
}

static uint64_t floor_share(uint64_t a, uint64_t b)
{
    return (a << (8 * LENGTH)) / b;
}

static uint64_t ceil_share(uint64_t a, uint64_t b)
{
    return ((a << (8 * LENGTH)) + b - 1) / b;
}

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static dg_sampler *sampler_by(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, int64_t b)
{
    char text[LONGEST_RATIO];
    return sampler_of(kind, write_ratio(text, a, 0, b, 0), NULL, NULL, DG_REFERENCE, arithmetic,
                      DG_ISA_AUTO);
}

static void test_bernoulli(dg_arithmetic arithmetic)
{
    for (int64_t b = 1; b <= 64; b += step) {
        for (int64_t a = 0; a <= b; a++) {
            if (gcd(a, b) != 1) {
                continue; /* same law and code as in lowest terms */
            }
            dg_sampler *law = sampler_by(DG_BERNOULLI, arithmetic, a, b);
            counts total = count_tapes(LENGTH, law);
            uint64_t all = UINT64_C(1) << (8 * LENGTH);
            CHECK(total.of[1] == floor_share((uint64_t)a, (uint64_t)b), "%d/%d", (int)a, (int)b);
            CHECK(total.of[0] == all - ceil_share((uint64_t)a, (uint64_t)b), "%d/%d", (int)a,
                  (int)b);
            CHECK(total.undecided == all - total.of[0] - total.of[1], "%d/%d", (int)a, (int)b);
            dg_sampler_free(law);
        }
    }
}

static void test_uniform(dg_arithmetic arithmetic)
{
    for (int64_t n = 1; n <= 256; n += step) {
        dg_sampler *law = sampler_by(DG_UNIFORM_BELOW, arithmetic, n, 1);
        counts total = count_tapes(LENGTH, law);
        for (int64_t v = 0; v < MOST_VALUES; v++) {
            uint64_t expected = v >= n ? 0
                                       : floor_share((uint64_t)v + 1, (uint64_t)n) -
                                             ceil_share((uint64_t)v, (uint64_t)n);
            CHECK(total.of[v] == expected, "n = %d, value %d", (int)n, (int)v);
        }
        dg_sampler_free(law);
    }
}

static void test_bernoulli_exp(dg_arithmetic arithmetic)
{
    mpfr_t lower, upper;
    mpfr_inits2(128, lower, upper, (mpfr_ptr)0);
    for (int64_t b = 1; b <= 12; b += step) {
        for (int64_t a = 0; a <= 3 * b; a++) {
            if (gcd(a, b) != 1) {
                continue;
            }
            dg_sampler *law = sampler_by(DG_BERNOULLI_EXP, arithmetic, a, b);
            counts total = count_tapes(LENGTH_EXP, law);
            for (int side = 0; side < 2; side++) { /* 2^16 exp(-a/b), rounded down and up */
                mpfr_ptr bound = side == 0 ? lower : upper;
                mpfr_set_si(bound, (long)-a, MPFR_RNDN);
                mpfr_div_si(bound, bound, (long)b, side == 0 ? MPFR_RNDD : MPFR_RNDU);
                mpfr_exp(bound, bound, side == 0 ? MPFR_RNDD : MPFR_RNDU);
                mpfr_mul_2ui(bound, bound, 8 * LENGTH_EXP, MPFR_RNDN);
            }
            const unsigned long ones = (unsigned long)total.of[1]; /* at most 2^16 */
            const unsigned long open = (unsigned long)total.undecided;
            CHECK(mpfr_cmp_ui(upper, ones) >= 0, "exp(-%d/%d)", (int)a, (int)b);
            CHECK(mpfr_cmp_ui(lower, ones + open) <= 0, "exp(-%d/%d)", (int)a, (int)b);
            dg_sampler_free(law);
        }
    }
    mpfr_clears(lower, upper, (mpfr_ptr)0);
    mpfr_free_cache();
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        step = strtol(argv[1], NULL, 10);
    }
    if (step < 1) {
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        dg_arithmetic arithmetic = i == 0 ? DG_ARITHMETIC_AUTO : DG_ARITHMETIC_GMP;
        test_bernoulli(arithmetic);
        test_uniform(arithmetic);
        test_bernoulli_exp(arithmetic);
    }
    return report("exhaustive tapes");
}
