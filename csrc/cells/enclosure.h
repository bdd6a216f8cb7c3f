/* Certified bounds of the law's weight, by MPFR with directed rounding.
 *
 * Every law here has the form g(y) = exp(-(phi(|y - f|) - phi(|f|))), y an integer relative to the
 * centre's nearest integer c, f = mu - c, phi convex and increasing, phi(0) = 0:
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

#include "exact/law.h"

#include <mpfr.h>

/** Scratch for bounds at one precision. */
typedef struct dg_enclosure {
    mpq_t quotient;
    mpz_t y;
    mpfr_t lower, upper; /* where results are left */
    mpfr_t at_lower, at_upper, beta_lower, beta_upper, work;
} dg_enclosure;

void dg_enclosure_open(dg_enclosure *e, mpfr_prec_t precision);
void dg_enclosure_close(dg_enclosure *e);

/** 0 <= lower <= phi(|y - f|) - phi(|f|) <= upper; both 0 at y = 0. */
void dg_enclose_exponent(dg_enclosure *e, const mpz_t y, const dg_law *law);

/** 0 <= lower <= g(y) <= upper <= 1; both 1 at y = 0. The other two leave one bound alone. */
void dg_enclose_weight(dg_enclosure *e, const mpz_t y, const dg_law *law);
void dg_weight_lower(dg_enclosure *e, const mpz_t y, const dg_law *law);
void dg_weight_upper(dg_enclosure *e, const mpz_t y, const dg_law *law);

/** lower <= r <= upper where g = m/height at the distance r: phi(r) = ln(height/m) + phi(|f|).
 *  Requires: 1 <= m <= height. */
void dg_enclose_distance(dg_enclosure *e, unsigned long m, unsigned long height, const dg_law *law);

/** upper >= max(phi'(r)^2, |phi''(r)|) for every distance r in [near, far]; infinity if unbounded.
 */
void dg_enclose_curvature(dg_enclosure *e, const mpfr_t near_lower, const mpfr_t far_upper,
                          const dg_law *law);

#endif
