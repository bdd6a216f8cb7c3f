/* Certified bounds of the law's weight, every rounding in the safe direction.
 *
 * Every law here has the form g(y) = exp(-(phi(|y - f|) - phi(|f|))), y an integer relative to the
 * centre's nearest integer c, f = mu - c = n/d, phi convex and increasing, phi(0) = 0:
 *
 *   Gaussian              phi(r) = r^2 / (2 sigma2)
 *   Laplace               phi(r) = r / scale
 *   generalised Gaussian  phi(r) = (r / scale)^beta
 *
 * so that g(0) = 1 is the largest value on the integers. g is a function of the distance r = |y -
 * f| alone, decreasing in it.
 */
#ifndef DG_CELLS_ENCLOSURE_H
#define DG_CELLS_ENCLOSURE_H

#include "cells/elementary.h"
#include "exact/law.h"

#include <mpfr.h>

/** The precision at which tables are built: that of a mantissa of elementary.h. */
enum { DG_BUILD_PRECISION = 128 };

/** Bounds at one precision: a law's constants, and scratch. */
typedef struct dg_enclosure {
    const dg_law *law;
    bool in_words; /* exp and powers by elementary.h */
    mpz_t y_d;     /* y d: the integer y that is asked about */
    mpz_t integer;
    mpfr_t lower, upper;               /* where results are left */
    mpfr_t unit_lower, unit_upper;     /* Gaussian: 1/(2 sigma2 d^2), else 1/(scale d) */
    mpfr_t centre_lower, centre_upper; /* phi(|f|) */
    mpfr_t beta_lower, beta_upper;
    mpfr_t radius; /* sqrt(2 sigma2), or scale: about the distance where phi = 1 */
    mpfr_t work;
#if DG_HAVE_WORDS
    dg_scaled beta, inverse_beta;
#endif
} dg_enclosure;

void dg_enclosure_open(dg_enclosure *e, mpfr_prec_t precision);
void dg_enclosure_close(dg_enclosure *e);

/** 0 <= e->lower <= g(y) <= e->upper <= 1; both 1 at y = 0. By MPFR alone. */
void dg_enclose_weight(dg_enclosure *e, const mpz_t y, const dg_law *law);

/* --- for building tables: at DG_BUILD_PRECISION, of one law, at e->y_d, which the caller sets --- */

/** Make e's constants those of a law. */
void dg_enclosure_set_law(dg_enclosure *e, const dg_law *law);

/** 0 <= e->lower <= phi(|y - f|) - phi(|f|) <= e->upper; each 0 exactly where that is. */
void dg_exponent_lower(dg_enclosure *e);
void dg_exponent_upper(dg_enclosure *e);

#if DG_HAVE_WORDS
/** Bounds of 2^127 g(y). Leave the exponent in e->upper (for the lower bound) or in e->lower. */
dg_u128 dg_weight_lower(dg_enclosure *e);
dg_u128 dg_weight_upper(dg_enclosure *e);

/** e->lower = phi where g = exp(-log_ratio 2^-120), e->upper = the distance there, both as close as
 *  log_ratio is, and 2^-96 relatively. */
void dg_enclose_level(dg_enclosure *e, dg_u128 log_ratio);

/** out = value 2^-bits, exactly. */
void dg_set_word(mpfr_t out, dg_u128 value, long bits, dg_enclosure *e);

/** 2^bits x, rounded up or down. Requires: 0 <= 2^bits x < 2^128. */
dg_u128 dg_get_word(const mpfr_t x, long bits, bool up, dg_enclosure *e);
#endif

#endif
