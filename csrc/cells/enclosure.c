#include "cells/enclosure.h"

#include "base/wipe.h"

static mpfr_rnd_t rounding(bool up)
{
    return up ? MPFR_RNDU : MPFR_RNDD;
}

void dg_enclosure_open(dg_enclosure *e, mpfr_prec_t precision)
{
    mpq_init(e->quotient);
    mpz_init(e->y);
    mpfr_inits2(precision, e->lower, e->upper, e->at_lower, e->at_upper, e->beta_lower,
                e->beta_upper, e->work, (mpfr_ptr)0);
}

void dg_enclosure_close(dg_enclosure *e)
{
    mpfr_ptr all[] = {e->lower,      e->upper,      e->at_lower, e->at_upper,
                      e->beta_lower, e->beta_upper, e->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        dg_wipe(mpfr_custom_get_significand(all[i]), mpfr_custom_get_size(mpfr_get_prec(all[i])));
        mpfr_clear(all[i]);
    }
    dg_wipe_mpz(mpq_numref(e->quotient));
    dg_wipe_mpz(mpq_denref(e->quotient));
    mpz_set_ui(mpq_denref(e->quotient), 1);
    mpq_clear(e->quotient);
    dg_wipe_mpz(e->y);
    mpz_clear(e->y);
    /* MPFR keeps constants and integers for each thread, and would lose them when the thread ends. */
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/** out = e->quotient rounded up or down. Requires: at least 0. Not canonical: a gcd of long
 * integers costs more than all the rest. */
static void divide(mpfr_t out, bool up, dg_enclosure *e)
{
    mpfr_set_z(out, mpq_numref(e->quotient), rounding(up));
    mpfr_div_z(out, out, mpq_denref(e->quotient), rounding(up));
}

/** out = base^(beta or 1/beta), rounded up or down; base >= 0 is a bound of its own in that
 *  direction. x^t increases with x >= 0 (t > 0), and with t where x >= 1, decreases with t where
 *  x <= 1. */
static void power(mpfr_t out, const mpfr_t base, bool inverse, bool up, dg_enclosure *e,
                  const dg_law *law)
{
    const mpz_t *p = inverse ? &law->beta_den : &law->beta_num;
    const mpz_t *q = inverse ? &law->beta_num : &law->beta_den;
    if (mpz_cmp_ui(*p, 64) <= 0 && mpz_cmp_ui(*q, 64) <= 0) { /* a table in a third of the time */
        mpfr_pow_ui(out, base, mpz_get_ui(*p), rounding(up));
        if (mpz_cmp_ui(*q, 1) > 0) {
            mpfr_rootn_ui(out, out, mpz_get_ui(*q), rounding(up));
        }
        return;
    }
    bool exponent_up = up == (mpfr_cmp_ui(base, 1) >= 0);
    mpfr_ptr t = exponent_up ? e->beta_upper : e->beta_lower;
    mpq_set_num(e->quotient, *p);
    mpq_set_den(e->quotient, *q);
    mpfr_set_q(t, e->quotient, rounding(exponent_up));
    mpfr_pow(out, base, t, rounding(up));
}

/** out = phi(num/den) rounded up or down, for the generalised Gaussian; e->quotient = num/den >= 0.
 */
static void generalized_phi(mpfr_t out, bool up, dg_enclosure *e, const dg_law *law)
{
    mpz_mul(mpq_numref(e->quotient), mpq_numref(e->quotient), law->s);
    mpz_mul(mpq_denref(e->quotient), mpq_denref(e->quotient), law->t);
    mpfr_ptr ratio = up ? e->at_upper : e->at_lower;
    divide(ratio, up, e);
    power(out, ratio, false, up, e, law);
}

/** out = phi(|y - f|) - phi(|f|) rounded up or down; exactly 0 where the two distances are equal,
 * else at least 0: y is an integer, so |y - f| >= |f|. */
static void exponent(mpfr_t out, bool up, const mpz_t y, dg_enclosure *e, const dg_law *law)
{
    mpz_ptr num = mpq_numref(e->quotient), den = mpq_denref(e->quotient);
    mpz_mul(num, y, law->d);
    if (law->kind == DG_DISCRETE_GAUSSIAN) { /* y d (y d - 2 n) q / (2 p d^2) */
        mpz_set(den, num);
        mpz_submul_ui(den, law->n, 2);
        mpz_mul(num, num, den);
        mpz_mul(num, num, law->b);
        mpz_mul(den, law->d, law->d);
        mpz_mul(den, den, law->a);
        mpz_mul_2exp(den, den, 1);
    } else {
        mpz_sub(num, num, law->n);
        mpz_abs(num, num);
        mpz_set(den, law->d);
        if (mpz_cmpabs(num, law->n) == 0) {
            mpfr_set_ui(out, 0, MPFR_RNDN);
            return;
        }
        if (law->kind == DG_GENERALIZED_GAUSSIAN) {
            generalized_phi(out, up, e, law);
            mpz_abs(mpq_numref(e->quotient), law->n);
            mpz_set(mpq_denref(e->quotient), law->d);
            mpfr_t at_zero;
            mpfr_init2(at_zero, mpfr_get_prec(out));
            generalized_phi(at_zero, !up, e, law);
            mpfr_sub(out, out, at_zero, rounding(up));
            mpfr_clear(at_zero);
            if (mpfr_sgn(out) < 0 || mpfr_nan_p(out)) { /* the precision told nothing */
                mpfr_set_ui(out, 0, MPFR_RNDN);
            }
            return;
        }
        mpz_abs(e->y, law->n); /* (|y d - n| - |n|) s / (d t) */
        mpz_sub(num, num, e->y);
        mpz_mul(num, num, law->s);
        mpz_mul(den, den, law->t);
    }
    divide(out, up, e);
}

void dg_enclose_exponent(dg_enclosure *e, const mpz_t y, const dg_law *law)
{
    exponent(e->lower, false, y, e, law);
    exponent(e->upper, true, y, e, law);
}

void dg_weight_lower(dg_enclosure *e, const mpz_t y, const dg_law *law)
{
    exponent(e->lower, true, y, e, law);
    mpfr_neg(e->lower, e->lower, MPFR_RNDN);
    mpfr_exp(e->lower, e->lower, MPFR_RNDD);
}

void dg_weight_upper(dg_enclosure *e, const mpz_t y, const dg_law *law)
{
    exponent(e->upper, false, y, e, law);
    mpfr_neg(e->upper, e->upper, MPFR_RNDN);
    mpfr_exp(e->upper, e->upper, MPFR_RNDU);
}

void dg_enclose_weight(dg_enclosure *e, const mpz_t y, const dg_law *law)
{
    dg_weight_lower(e, y, law);
    dg_weight_upper(e, y, law);
}

/** out = the distance at which phi = level (a bound in the direction asked), rounded likewise. */
static void inverse_phi(mpfr_t out, const mpfr_t level, bool up, dg_enclosure *e, const dg_law *law)
{
    mpfr_rnd_t round = rounding(up);
    if (law->kind == DG_DISCRETE_GAUSSIAN) { /* sqrt(2 sigma2 level) */
        mpfr_mul_z(out, level, law->a, round);
        mpfr_mul_2ui(out, out, 1, round);
        mpfr_div_z(out, out, law->b, round);
        mpfr_sqrt(out, out, round);
        return;
    }
    if (law->kind == DG_GENERALIZED_GAUSSIAN) {
        power(out, level, true, up, e, law);
    } else {
        mpfr_set(out, level, round);
    }
    mpfr_mul_z(out, out, law->t, round);
    mpfr_div_z(out, out, law->s, round);
}

void dg_enclose_distance(dg_enclosure *e, unsigned long m, unsigned long height, const dg_law *law)
{
    for (int up = 0; up < 2; up++) {
        mpfr_ptr out = up ? e->upper : e->lower;
        mpfr_ptr level = up ? e->at_upper : e->at_lower;
        mpfr_ptr offset = up ? e->beta_upper : e->beta_lower;
        /* phi(|f|) */
        mpz_abs(mpq_numref(e->quotient), law->n);
        mpz_set(mpq_denref(e->quotient), law->d);
        if (law->centred) {
            mpfr_set_ui(out, 0, MPFR_RNDN);
        } else if (law->kind == DG_GENERALIZED_GAUSSIAN) {
            generalized_phi(out, up, e, law);
        } else if (law->kind == DG_DISCRETE_GAUSSIAN) {
            mpfr_set_q(out, e->quotient, rounding(up));
            mpfr_mul(out, out, out, rounding(up));
            mpfr_mul_z(out, out, law->b, rounding(up));
            mpfr_div_z(out, out, law->a, rounding(up));
            mpfr_div_2ui(out, out, 1, rounding(up));
        } else {
            mpfr_set_q(out, e->quotient, rounding(up));
            mpfr_mul_z(out, out, law->s, rounding(up));
            mpfr_div_z(out, out, law->t, rounding(up));
        }
        mpfr_swap(out, offset);
        mpq_set_ui(e->quotient, height, m);
        mpq_canonicalize(e->quotient);
        mpfr_set_q(level, e->quotient, rounding(up));
        mpfr_log(level, level, rounding(up));
        mpfr_add(level, level, offset, rounding(up));
        inverse_phi(out, level, up, e, law);
    }
}

/** out = beta - 1, rounded up. */
static void set_beta_less_one(mpfr_t out, dg_enclosure *e, const dg_law *law)
{
    mpz_sub(mpq_numref(e->quotient), law->beta_num, law->beta_den);
    mpz_set(mpq_denref(e->quotient), law->beta_den);
    mpfr_set_q(out, e->quotient, MPFR_RNDU);
}

/** out = phi'(r), or phi''(r) if second, rounded up; r an upper bound if the derivative increases
 * with r, else a lower bound. */
static void derivative(mpfr_t out, const mpfr_t r, bool second, dg_enclosure *e, const dg_law *law)
{
    if (law->kind == DG_DISCRETE_GAUSSIAN) {
        mpfr_set_z(out, law->b, MPFR_RNDU);
        mpfr_div_z(out, out, law->a, MPFR_RNDU);
        if (!second) {
            mpfr_mul(out, out, r, MPFR_RNDU);
        }
        return;
    }
    if (law->kind == DG_DISCRETE_LAPLACE) {
        mpfr_set_ui(out, 0, MPFR_RNDN);
        if (!second) {
            mpfr_set_z(out, law->s, MPFR_RNDU);
            mpfr_div_z(out, out, law->t, MPFR_RNDU);
        }
        return;
    }
    /* beta (r/scale)^beta / r, and (beta - 1)/r times that: r^(beta - 1) and r^(beta - 2) */
    mpfr_rnd_t down = MPFR_RNDD, up = MPFR_RNDU;
    mpfr_mul_z(e->at_upper, r, law->s, up);
    mpfr_div_z(e->at_upper, e->at_upper, law->t, up);
    power(out, e->at_upper, false, true, e, law);
    for (int i = 0; i <= (int)second; i++) {
        mpq_set_num(e->quotient, law->beta_num);
        mpq_set_den(e->quotient, law->beta_den);
        if (i == 1) {
            mpz_sub(mpq_numref(e->quotient), law->beta_num, law->beta_den);
        }
        mpfr_set_q(e->at_lower, e->quotient, up);
        mpfr_mul(out, out, e->at_lower, up);
        mpfr_set(e->at_lower, r, down);
        mpfr_div(out, out, e->at_lower, up);
    }
}

void dg_enclose_curvature(dg_enclosure *e, const mpfr_t near_lower, const mpfr_t far_upper,
                          const dg_law *law)
{
    bool falls = false; /* phi'' falls with r where 1 < beta < 2 */
    if (law->kind == DG_GENERALIZED_GAUSSIAN) {
        mpz_mul_2exp(e->y, law->beta_den, 1);
        falls = mpz_cmp(law->beta_num, e->y) < 0;
        if (mpz_cmp(law->beta_num, law->beta_den) != 0 && falls && mpfr_sgn(near_lower) <= 0) {
            mpfr_set_inf(e->upper, 1);
            return;
        }
        if (mpfr_sgn(far_upper) <= 0) {
            mpfr_set_inf(e->upper, 1);
            return;
        }
    }
    derivative(e->lower, far_upper, false, e, law);
    if (falls && mpz_cmp(law->beta_num, law->beta_den) == 0) {
        mpfr_set_ui(e->upper, 0, MPFR_RNDN); /* beta == 1: phi is linear */
    } else if (falls) {
        derivative(e->work, near_lower, true, e, law);
        mpfr_swap(e->upper, e->work);
    } else if (law->kind == DG_GENERALIZED_GAUSSIAN) { /* phi'' = phi' (beta - 1)/r saves a power */
        set_beta_less_one(e->work, e, law);
        mpfr_mul(e->upper, e->lower, e->work, MPFR_RNDU);
        mpfr_div(e->upper, e->upper, far_upper, MPFR_RNDU);
    } else {
        derivative(e->upper, far_upper, true, e, law);
    }
    mpfr_mul(e->lower, e->lower, e->lower, MPFR_RNDU);
    mpfr_max(e->upper, e->upper, e->lower, MPFR_RNDU);
}
