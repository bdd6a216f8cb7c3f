/* exp, log and powers for building tables, against MPFR at 400 bits: every bound holds, and is as close as documented.
 * Arguments have all sizes, and some are next to the places where the reduction changes. */
#include "support.h"

#include "bounds/elementary.h"

enum { PRECISION = 400, TRIES = 20000 };

typedef struct scratch {
    mpz_t integer;
    mpfr_t x, t, out;    /* of DG_WORDS_PRECISION */
    mpfr_t truth, error; /* of PRECISION */
} scratch;

/** out = 2^exponent times a number of up to 128 bits, short or long, at least `least`. */
static void set_any(mpfr_t out, unsigned long least, long exponent, uint64_t *state, scratch *s)
{
    uint64_t words[2] = {next_word(state), next_word(state)};
    mpz_import(s->integer, 2, -1, sizeof words[0], 0, 0, words);
    mpz_fdiv_q_2exp(s->integer, s->integer, next_word(state) % 128);
    if (mpz_cmp_ui(s->integer, least) < 0) {
        mpz_set_ui(s->integer, least);
    }
    mpfr_set_z_2exp(out, s->integer, exponent, MPFR_RNDN);
}

/** Return whether |s->out - s->truth| <= units 2^-bits. */
static bool near(unsigned long units, long bits, scratch *s)
{
    mpfr_sub(s->error, s->out, s->truth, MPFR_RNDA);
    mpfr_mul_2si(s->error, s->error, bits, MPFR_RNDN);
    return mpfr_cmpabs_ui(s->error, units) <= 0;
}

/** Check both bounds of exp(-s->x). */
static void check_exp(scratch *s)
{
    mpfr_neg(s->truth, s->x, MPFR_RNDN);
    mpfr_exp(s->truth, s->truth, MPFR_RNDN);
    for (int up = 0; up < 2; up++) {
        dg_exp_negative(s->out, s->x, up);
        const int side = mpfr_cmp(s->out, s->truth);
        CHECK(up ? side >= 0 : side <= 0, "exp(-%.20g)", mpfr_get_d(s->x, MPFR_RNDN));
        CHECK(near(1, 116, s), "exp(-%.20g) is far off", mpfr_get_d(s->x, MPFR_RNDN));
        CHECK(mpfr_sgn(s->out) >= 0 && mpfr_cmp_ui(s->out, 1) <= 0, "between 0 and 1");
        CHECK(!mpfr_zero_p(s->x) || mpfr_cmp_ui(s->out, 1) == 0, "exp(0) is exact");
    }
}

static void test_exp(uint64_t *state, scratch *s)
{
    for (int i = 0; i < TRIES; i++) {
        set_any(s->x, 0, i % 10 == 0 ? -60 : -120, state, s);
        check_exp(s);
    }
    mpfr_set_inf(s->x, 1);
    check_exp(s);
    for (unsigned long k = 0; k < 190; k++) { /* next to k log 2 */
        for (int offset = -20; offset <= 20; offset++) {
            mpfr_const_log2(s->x, MPFR_RNDN);
            mpfr_mul_ui(s->x, s->x, k, MPFR_RNDN);
            mpfr_set_si_2exp(s->out, offset, offset % 2 == 0 ? -120 : -57, MPFR_RNDN);
            mpfr_add(s->x, s->x, s->out, MPFR_RNDN);
            if (mpfr_sgn(s->x) >= 0) {
                check_exp(s);
            }
        }
    }
}

static void check_log(uint32_t n, scratch *s)
{
    mpfr_set_ui(s->truth, n, MPFR_RNDN);
    mpfr_log(s->truth, s->truth, MPFR_RNDN);
    dg_log_integer(s->out, n);
    CHECK(near(1, 115, s), "log(%lu)", (unsigned long)n);
    CHECK(n != 1 || mpfr_zero_p(s->out), "log(1) is exact");
}

static void test_log(uint64_t *state, scratch *s)
{
    for (uint32_t n = 1; n <= 4096; n++) {
        check_log(n, s);
    }
    for (int i = 0; i < TRIES; i++) {
        const unsigned drop = (unsigned)(32 + next_word(state) % 32);
        check_log((uint32_t)(next_word(state) >> drop) | 1, s);
    }
    check_log(UINT32_MAX, s);
}

/** Check both bounds of s->x^s->t. Returns: whether the power is between exp(-2^18) and exp(2^18). */
static bool check_power(scratch *s)
{
    mpfr_log(s->truth, s->x, MPFR_RNDN);
    mpfr_mul(s->truth, s->truth, s->t, MPFR_RNDN);
    const bool moderate = mpfr_cmpabs_ui(s->truth, 1 << 18) <= 0;
    mpfr_pow(s->truth, s->x, s->t, MPFR_RNDN);
    for (int up = 0; up < 2; up++) {
        dg_power(s->out, s->x, s->t, s->t, up);
        const int side = mpfr_cmp(s->out, s->truth);
        CHECK(up ? side >= 0 : side <= 0, "%.20g^%.20g, %s bound", mpfr_get_d(s->x, MPFR_RNDN),
              mpfr_get_d(s->t, MPFR_RNDN), up ? "upper" : "lower");
        if (moderate && mpfr_get_exp(s->t) < 90) { /* |out/truth - 1| <= 2^-104 (t + 1/2) */
            mpfr_div(s->error, s->out, s->truth, MPFR_RNDA);
            mpfr_sub_ui(s->error, s->error, 1, MPFR_RNDA);
            mpfr_mul_2ui(s->error, s->error, 105, MPFR_RNDN);
            mpfr_mul_2ui(s->truth, s->t, 1, MPFR_RNDN);
            mpfr_add_ui(s->truth, s->truth, 1, MPFR_RNDN);
            CHECK(mpfr_cmpabs(s->error, s->truth) <= 0, "%.20g^%.20g: %s bound is poor",
                  mpfr_get_d(s->x, MPFR_RNDN), mpfr_get_d(s->t, MPFR_RNDN), up ? "upper" : "lower");
            mpfr_pow(s->truth, s->x, s->t, MPFR_RNDN);
        }
    }
    return moderate;
}

static void test_power(uint64_t *state, scratch *s)
{
    static const long exponents[] = {-70000, -130, -40, -3,  0,   1,   2,   5,
                                     20,     33,   64,  110, 125, 126, 1000};
    int n_moderate = 0;
    for (int i = 0; i < TRIES; i++) {
        set_any(s->t, 1, 0, state, s);
        mpfr_set_exp(s->t, exponents[next_word(state) % (sizeof exponents / sizeof *exponents)]);
        set_any(s->x, 1, -127, state, s);
        switch (i % 8) {
        case 0: /* next to 1 */
            mpfr_add_ui(s->x, s->x, 1, MPFR_RNDN);
            break;
        case 1: /* 1 minus half of a number below 2 */
            mpfr_div_2ui(s->x, s->x, 1, MPFR_RNDN);
            mpfr_ui_sub(s->x, 1, s->x, MPFR_RNDN);
            break;
        case 2: /* of any size */
            mpfr_set_exp(s->x, (long)(next_word(state) % (1 << 21)) - (1 << 20) + 1);
            break;
        default:
            mpfr_set_exp(s->x, (long)(next_word(state) % 40) - 20);
        }
        if (mpfr_sgn(s->x) > 0) {
            n_moderate += check_power(s);
        }
    }
    CHECK(n_moderate > TRIES / 4, "%d powers were moderate", n_moderate);
    mpfr_set_ui(s->x, 1, MPFR_RNDN);
    mpfr_set_ui_2exp(s->t, 1, 100000, MPFR_RNDN);
    check_power(s); /* the bounds say only that it is positive */
    mpfr_set_ui(s->x, 2, MPFR_RNDN);
    dg_power(s->out, s->x, s->t, s->t, false);
    CHECK(mpfr_cmp_ui_2exp(s->out, 1, 1000) > 0, "2^(2^100000) is known to be large");
    dg_power(s->out, s->x, s->t, s->t, true);
    CHECK(mpfr_inf_p(s->out), "and not how large");
    mpfr_set_ui_2exp(s->x, 1, -1, MPFR_RNDN);
    dg_power(s->out, s->x, s->t, s->t, true);
    CHECK(mpfr_cmp_ui_2exp(s->out, 1, -1000) < 0, "2^-(2^100000) is known to be small");
}

int main(void)
{
    scratch s;
    uint64_t state = 3;
    mpz_init(s.integer);
    mpfr_inits2(DG_WORDS_PRECISION, s.x, s.t, s.out, (mpfr_ptr)0);
    mpfr_inits2(PRECISION, s.truth, s.error, (mpfr_ptr)0);
    test_exp(&state, &s);
    test_log(&state, &s);
    test_power(&state, &s);
    mpfr_clears(s.x, s.t, s.out, s.truth, s.error, (mpfr_ptr)0);
    mpz_clear(s.integer);
    mpfr_free_cache();
    return report("exp, log and powers for tables");
}
