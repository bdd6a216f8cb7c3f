#include "bounds/enclosure.h"

#include "base/wipe.h"
#include "bounds/elementary.h"

/** Round away from 0, or towards it: every number rounded here is a magnitude. */
static mpfr_rnd_t rounding(bool up)
{
    return up ? MPFR_RNDA : MPFR_RNDZ;
}

void dg_enclosure_open(dg_enclosure *e, mpfr_prec_t precision)
{
    e->law = NULL;
    e->in_words = precision == DG_WORDS_PRECISION;
    e->least_exponent = mpfr_get_emin();
    e->most_exponent = mpfr_get_emax();
    e->flags = mpfr_flags_save();
    (void)mpfr_set_emin(mpfr_get_emin_min());
    (void)mpfr_set_emax(mpfr_get_emax_max());
    mpz_inits(e->y_d, e->integer, NULL);
    mpfr_inits2(precision, e->lower, e->upper, e->unit_lower, e->unit_upper, e->centre_lower,
                e->centre_upper, e->beta_lower, e->beta_upper, e->radius, e->work, (mpfr_ptr)0);
}

void dg_enclosure_close(dg_enclosure *e)
{
    mpfr_ptr all[] = {e->lower,        e->upper,      e->unit_lower, e->unit_upper, e->centre_lower,
                      e->centre_upper, e->beta_lower, e->beta_upper, e->radius,     e->work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        dg_wipe(mpfr_custom_get_significand(all[i]), mpfr_custom_get_size(mpfr_get_prec(all[i])));
        mpfr_clear(all[i]);
    }
    dg_wipe_mpz(e->y_d);
    dg_wipe_mpz(e->integer);
    mpz_clears(e->y_d, e->integer, NULL);
    (void)mpfr_set_emin(e->least_exponent);
    (void)mpfr_set_emax(e->most_exponent);
    mpfr_flags_restore(e->flags, MPFR_FLAGS_ALL);
}

/** out = base^beta, rounded up or down; base >= 0 is itself a bound in that direction. x^t increases with x >= 0
 *  (t > 0). It increases with t if x >= 1, and decreases with t if x <= 1. */
static void power(mpfr_t out, const mpfr_t base, bool up, dg_enclosure *e)
{
    if (e->in_words && !mpfr_zero_p(base)) {
        dg_power(out, base, e->beta_lower, e->beta_upper, up);
        return;
    }
    const bool beta_up = up == (mpfr_cmp_ui(base, 1) >= 0);
    mpfr_pow(out, base, beta_up ? e->beta_upper : e->beta_lower, rounding(up));
}

/** e->work = |e->integer| times phi's unit, rounded up or down. */
static void in_units(bool up, dg_enclosure *e)
{
    mpfr_set_z(e->work, e->integer, rounding(up));
    mpfr_mul(e->work, e->work, up ? e->unit_upper : e->unit_lower, rounding(up));
    mpfr_abs(e->work, e->work, MPFR_RNDN);
}

/** out = phi(|f|), rounded up or down. */
static void set_centre(mpfr_t out, bool up, dg_enclosure *e)
{
    mpz_set(e->integer, e->law->n);
    in_units(up, e);
    if (e->law->kind == DG_GENERALIZED_GAUSSIAN) {
        power(out, e->work, up, e);
        return;
    }
    if (e->law->kind == DG_DISCRETE_GAUSSIAN) {
        mpfr_mul_z(e->work, e->work, e->law->n, rounding(up));
        mpfr_abs(e->work, e->work, MPFR_RNDN);
    }
    mpfr_set(out, e->work, MPFR_RNDN);
}

/** Set e's constants to those of a law. */
static void set_law(dg_enclosure *e, const dg_law *law)
{
    e->law = law;
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN;
    for (int up = 0; up < 2; up++) {
        mpfr_ptr unit = up ? e->unit_upper : e->unit_lower; /* scale, or sigma2, is a/b */
        mpfr_set_z(unit, law->b, rounding(up));
        mpfr_div_z(unit, unit, law->a, rounding(up));
        mpfr_div_z(unit, unit, law->d, rounding(up));
        if (squared) {
            mpfr_div_z(unit, unit, law->d, rounding(up));
            mpfr_div_2ui(unit, unit, 1, MPFR_RNDN);
        }
        mpfr_ptr beta = up ? e->beta_upper : e->beta_lower;
        mpfr_set_z(beta, law->beta_num, rounding(up));
        mpfr_div_z(beta, beta, law->beta_den, rounding(up));
    }
    set_centre(e->centre_lower, false, e);
    set_centre(e->centre_upper, true, e);
}

void dg_enclosure_open_for_table(dg_enclosure *e, const dg_law *law)
{
    dg_enclosure_open(e, DG_WORDS_PRECISION);
    set_law(e, law);
    mpfr_set_z(e->radius, law->a, MPFR_RNDN);
    mpfr_div_z(e->radius, e->radius, law->b, MPFR_RNDN);
    if (law->kind == DG_DISCRETE_GAUSSIAN) {
        mpfr_mul_2ui(e->radius, e->radius, 1, MPFR_RNDN);
        mpfr_sqrt(e->radius, e->radius, MPFR_RNDN);
    }
}

/** e->integer = (|y - f| - |f|) d. */
static void set_farther_by(dg_enclosure *e)
{
    mpz_sub(e->integer, e->y_d, e->law->n);
    mpz_abs(e->integer, e->integer);
    (mpz_sgn(e->law->n) < 0 ? mpz_add : mpz_sub)(e->integer, e->integer, e->law->n);
}

/** out = phi(|f|) beta (|y - f| - |f|)/|f|, rounded down: no more than phi(|y - f|) - phi(|f|),
 *  because phi is convex and phi'(r) = beta phi(r)/r. 0 if f = 0. */
static void exponent_by_slope(mpfr_t out, dg_enclosure *e)
{
    if (mpz_sgn(e->law->n) == 0) {
        mpfr_set_ui(out, 0, MPFR_RNDN);
        return;
    }
    set_farther_by(e);
    mpfr_set_z(out, e->integer, rounding(false));
    mpfr_div_z(out, out, e->law->n, rounding(false));
    mpfr_abs(out, out, MPFR_RNDN);
    mpfr_mul(out, out, e->centre_lower, rounding(false));
    mpfr_mul(out, out, e->beta_lower, rounding(false));
}

/** out = phi(|y - f|) - phi(|f|), rounded up or down. It is exactly 0 if the two distances are equal, otherwise at
 *  least 0: y is an integer, so |y - f| >= |f|. */
static void exponent(mpfr_t out, bool up, dg_enclosure *e)
{
    const dg_law *law = e->law;
    if (law->kind == DG_DISCRETE_GAUSSIAN) { /* y d (y d - 2 n), whose factors have one sign */
        mpz_set(e->integer, e->y_d);
        mpz_submul_ui(e->integer, law->n, 2);
        in_units(up, e);
        mpfr_set_z(out, e->y_d, rounding(up));
        mpfr_mul(out, out, e->work, rounding(up));
        mpfr_abs(out, out, MPFR_RNDN);
        return;
    }
    mpz_sub(e->integer, e->y_d, law->n); /* (y - f) d */
    const int farther = mpz_cmpabs(e->integer, law->n);
    if (farther == 0) {
        mpfr_set_ui(out, 0, MPFR_RNDN);
        return;
    }
    if (law->kind == DG_GENERALIZED_GAUSSIAN) {
        in_units(up, e);
        power(out, e->work, up, e);
        mpfr_sub(out, out, up ? e->centre_lower : e->centre_upper, up ? MPFR_RNDU : MPFR_RNDD);
        if (!up && (mpfr_nan_p(out) || mpfr_sgn(out) <= 0)) { /* the precision is too low */
            exponent_by_slope(out, e);
        }
        return;
    }
    set_farther_by(e);
    in_units(up, e);
    mpfr_set(out, e->work, MPFR_RNDN);
}

void dg_exponent_lower(dg_enclosure *e)
{
    exponent(e->lower, false, e);
}

void dg_exponent_upper(dg_enclosure *e)
{
    exponent(e->upper, true, e);
}

void dg_enclose_weight(dg_enclosure *e, const mpz_t y, const dg_law *law)
{
    set_law(e, law);
    mpz_mul(e->y_d, y, law->d);
    exponent(e->lower, true, e);
    exponent(e->upper, false, e);
    for (int up = 0; up < 2; up++) {
        mpfr_ptr bound = up ? e->upper : e->lower;
        if (e->in_words) {
            dg_exp_negative(bound, bound, up);
            continue;
        }
        mpfr_neg(bound, bound, MPFR_RNDN);
        mpfr_exp(bound, bound, rounding(up));
    }
}

void dg_weight_lower(dg_enclosure *e)
{
    dg_exponent_upper(e);
    dg_exp_negative(e->lower, e->upper, false);
}

void dg_weight_upper(dg_enclosure *e)
{
    dg_exponent_lower(e);
    dg_exp_negative(e->upper, e->lower, true);
}

/* phi(r) = log_ratio + phi(|f|); then r by the inverse of phi. */
void dg_enclose_level(dg_enclosure *e, const mpfr_t log_ratio)
{
    mpfr_add(e->lower, log_ratio, e->centre_lower, MPFR_RNDN);
    if (e->law->kind == DG_DISCRETE_GAUSSIAN) {
        mpfr_sqrt(e->upper, e->lower, MPFR_RNDN);
    } else if (e->law->kind == DG_DISCRETE_LAPLACE || mpfr_zero_p(e->lower)) {
        mpfr_set(e->upper, e->lower, MPFR_RNDN);
    } else {
        mpfr_ui_div(e->work, 1, e->beta_lower, MPFR_RNDN);
        dg_power(e->upper, e->lower, e->work, e->work, false);
    }
    mpfr_mul(e->upper, e->upper, e->radius, MPFR_RNDN);
}
