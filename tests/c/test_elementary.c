/* exp, log and powers in words against MPFR at 400 bits: every error is within its stated bound, and
 * every bound is one. Arguments of all sizes, and those next to where the reduction changes. */
#include "support.h"

#include "cells/elementary.h"

#include <mpfr.h>

#if DG_HAVE_WORDS

enum { PRECISION = 400, TRIES = 20000 };

typedef struct scratch {
    mpz_t integer;
    mpfr_t x, t, truth, bound, error;
} scratch;

/** out = value 2^exponent. */
static void set(mpfr_t out, dg_u128 value, long exponent, scratch *s)
{
    uint64_t words[2] = {(uint64_t)value, (uint64_t)(value >> 64)};
    mpz_import(s->integer, 2, -1, sizeof words[0], 0, 0, words);
    mpfr_set_z_2exp(out, s->integer, exponent, MPFR_RNDN);
}

static dg_u128 wide_word(uint64_t *state)
{
    return (dg_u128)next_word(state) << 64 | next_word(state);
}

/** Of any size: some bits, few or many. */
static dg_u128 any_word(uint64_t *state)
{
    const unsigned drop = (unsigned)(next_word(state) % 128);
    return wide_word(state) >> drop;
}

/** Whether s->bound is within `units` of 2^-bits of s->truth. */
static bool near(long units, long bits, scratch *s)
{
    mpfr_sub(s->error, s->bound, s->truth, MPFR_RNDA);
    mpfr_mul_2si(s->error, s->error, bits, MPFR_RNDN);
    return mpfr_cmpabs_ui(s->error, (unsigned long)units) <= 0;
}

static void check_exp(dg_u128 x, scratch *s)
{
    set(s->x, x, -DG_EXPONENT_BITS, s);
    mpfr_neg(s->truth, s->x, MPFR_RNDN);
    mpfr_exp(s->truth, s->truth, MPFR_RNDN);
    set(s->bound, dg_exp_negative(x), -DG_WORD_BITS, s);
    CHECK(near(DG_EXP_ERROR, DG_WORD_BITS, s), "exp(-%.20g)", mpfr_get_d(s->x, MPFR_RNDN));
}

static void test_exp(uint64_t *state, scratch *s)
{
    CHECK(dg_exp_negative(0) == (dg_u128)1 << DG_WORD_BITS, "exp(0) = 1 exactly");
    for (int i = 0; i < TRIES; i++) {
        check_exp(any_word(state), s);
    }
    for (unsigned long k = 1; k < 190; k++) { /* next to k log 2 */
        mpfr_const_log2(s->x, MPFR_RNDN);
        mpfr_mul_ui(s->x, s->x, k, MPFR_RNDN);
        mpfr_mul_2ui(s->x, s->x, DG_EXPONENT_BITS, MPFR_RNDN);
        mpfr_get_z(s->integer, s->x, MPFR_RNDD);
        uint64_t words[2] = {0, 0};
        mpz_export(words, NULL, -1, sizeof words[0], 0, 0, s->integer);
        const dg_i128 at = (dg_i128)((dg_u128)words[1] << 64 | words[0]);
        for (int offset = -2; offset < 4; offset++) { /* in its units, and in those k comes from */
            check_exp((dg_u128)(at + offset), s);
            check_exp((dg_u128)(at + offset * ((dg_i128)1 << 64)), s);
        }
    }
}

static void check_log(uint32_t n, scratch *s)
{
    mpfr_set_ui(s->truth, n, MPFR_RNDN);
    mpfr_log(s->truth, s->truth, MPFR_RNDN);
    set(s->bound, dg_log_integer(n), -DG_EXPONENT_BITS, s);
    CHECK(near(DG_LOG_ERROR, DG_EXPONENT_BITS, s), "log(%lu)", (unsigned long)n);
}

static void test_log(uint64_t *state, scratch *s)
{
    CHECK(dg_log_integer(1) == 0, "log(1) = 0 exactly");
    for (uint32_t n = 1; n <= 4096; n++) {
        check_log(n, s);
    }
    for (int i = 0; i < TRIES; i++) {
        check_log((uint32_t)(any_word(state) | 1), s);
    }
    check_log(UINT32_MAX, s);
}

static dg_scaled scaled(dg_u128 mantissa, long exponent)
{
    return (dg_scaled){mantissa | (dg_u128)1 << DG_WORD_BITS, exponent};
}

/** Both bounds of x^t. Returns: whether x^t was between exp(-2^18) and exp(2^18). */
static bool check_power(dg_scaled x, dg_scaled t, scratch *s)
{
    set(s->x, x.mantissa, x.exponent - DG_WORD_BITS, s);
    set(s->t, t.mantissa, t.exponent - DG_WORD_BITS, s);
    mpfr_log(s->truth, s->x, MPFR_RNDN);
    mpfr_mul(s->truth, s->truth, s->t, MPFR_RNDN);
    const bool moderate = mpfr_cmpabs_ui(s->truth, 1 << 18) <= 0;
    mpfr_pow(s->truth, s->x, s->t, MPFR_RNDN);
    for (int up = 0; up < 2; up++) {
        const dg_scaled bound = dg_power(x, t, up);
        set(s->bound, bound.mantissa, bound.exponent - DG_WORD_BITS, s);
        if (bound.exponent == DG_POWER_LIMIT) {
            mpfr_set_inf(s->bound, 1);
        }
        const int side = mpfr_cmp(s->bound, s->truth);
        CHECK(up ? side >= 0 : side <= 0, "%.20g^%.20g, %s bound", mpfr_get_d(s->x, MPFR_RNDN),
              mpfr_get_d(s->t, MPFR_RNDN), up ? "upper" : "lower");
        if (moderate && t.exponent < 90) { /* |bound/truth - 1| <= 2^-103 t + 2^-101 */
            mpfr_div(s->error, s->bound, s->truth, MPFR_RNDA);
            mpfr_sub_ui(s->error, s->error, 1, MPFR_RNDA);
            mpfr_mul_2ui(s->error, s->error, 103, MPFR_RNDN);
            mpfr_add_ui(s->bound, s->t, 4, MPFR_RNDN);
            CHECK(mpfr_cmpabs(s->error, s->bound) <= 0, "%.20g^%.20g: %s bound is poor",
                  mpfr_get_d(s->x, MPFR_RNDN), mpfr_get_d(s->t, MPFR_RNDN), up ? "upper" : "lower");
        }
    }
    return moderate;
}

static void test_power(uint64_t *state, scratch *s)
{
    static const long EXPONENTS[] = {-70000, -130, -40, -3, -1,  0,   1,   2,
                                     5,      20,   33,  64, 110, 125, 126, 1000};
    size_t n_moderate = 0;
    for (int i = 0; i < TRIES; i++) {
        const long of_t = EXPONENTS[next_word(state) % (sizeof EXPONENTS / sizeof *EXPONENTS)];
        const dg_scaled t = scaled(wide_word(state), of_t);
        dg_scaled x = scaled(any_word(state) & (((dg_u128)1 << DG_WORD_BITS) - 1), 0); /* near 1 */
        if (i % 4 == 1) {
            x = scaled(~(dg_u128)0 - any_word(state) / 2, -1); /* just below 1 */
        } else if (i % 4 > 1) {
            x = scaled(wide_word(state), (long)(next_word(state) % 40) - 20);
        }
        if (i % 16 == 15) {
            x.exponent = (long)(next_word(state) % (1 << 21)) - (1 << 20);
        }
        n_moderate += check_power(x, t, s);
    }
    CHECK(n_moderate > TRIES / 4, "%zu powers were close to 1", n_moderate);
    const dg_scaled one = scaled(0, 0);
    check_power(one, one, s);
    check_power(one, scaled(0, 100000), s); /* nothing is known: 0 and infinity are the bounds */
    CHECK(dg_power(scaled(0, 1), scaled(0, 100), true).exponent == DG_POWER_LIMIT, "2^(2^100)");
    CHECK(dg_power(scaled(0, -1), scaled(0, 100), false).mantissa == 0, "2^-(2^100)");
}

int main(void)
{
    scratch s;
    uint64_t state = 3;
    mpz_init(s.integer);
    mpfr_inits2(PRECISION, s.x, s.t, s.truth, s.bound, s.error, (mpfr_ptr)0);
    test_exp(&state, &s);
    test_log(&state, &s);
    test_power(&state, &s);
    mpfr_clears(s.x, s.t, s.truth, s.bound, s.error, (mpfr_ptr)0);
    mpz_clear(s.integer);
    mpfr_free_cache();
    return report("exp, log and powers in words");
}

#else
int main(void)
{
    return 77; /* no 128-bit integers: no cell tables */
}
#endif
