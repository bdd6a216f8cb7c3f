/* Certified bounds of the law's weight. Every rounding is in the safe direction.
 *
 * Every law here has the form g(y) = exp(-(phi(|y - f|) - phi(|f|))). y is an integer relative to the
 * centre's nearest integer c, f = mu - c = n/d, phi is convex and increasing, and phi(0) = 0:
 *
 *   Gaussian              phi(r) = r^2 / (2 sigma2)
 *   Laplace               phi(r) = r / scale
 *   generalised Gaussian  phi(r) = (r / scale)^beta
 *
 * So g(0) = 1 is the largest value on the integers. g depends only on the distance r = |y - f|, and decreases
 * with it.
 */
#ifndef DG_BOUNDS_ENCLOSURE_H
#define DG_BOUNDS_ENCLOSURE_H

#include "bounds/elementary.h"
#include "law/law.h"

#include <mpfr.h>

/** Bounds at one precision: a law's constants, scratch and results. */
typedef struct dg_enclosure {
    const dg_law *law;
    bool in_words;                     /* exp and powers by elementary.h */
    mpz_t y_d;                         /* y d, y the integer whose weight is bounded */
    mpz_t integer;                     /* scratch, like work */
    mpfr_t lower, upper;               /* results */
    mpfr_t unit_lower, unit_upper;     /* Gaussian: 1/(2 sigma2 d^2), else 1/(scale d) */
    mpfr_t centre_lower, centre_upper; /* phi(|f|) */
    mpfr_t beta_lower, beta_upper;
    mpfr_t radius; /* for tables: sqrt(2 sigma2), or scale, about the distance where phi = 1 */
    mpfr_t work;
    mpfr_exp_t least_exponent, most_exponent; /* the thread's range, restored on closing */
    mpfr_flags_t flags;                       /* the thread's flags, restored on closing */
} dg_enclosure;

/** Open and close an enclosure. While one is open, MPFR's range of exponents is as wide as possible, whatever other
 *  code of the process has set. Closing restores that range and the flags. So close enclosures in the opposite order
 *  of opening. */
void dg_enclosure_open(dg_enclosure *e, mpfr_prec_t precision);
void dg_enclosure_close(dg_enclosure *e);

/** 0 <= e->lower <= g(y) <= e->upper <= 1; both are 1 at y = 0. At DG_WORDS_PRECISION elementary.h computes them,
 *  otherwise MPFR alone. */
void dg_enclose_weight(dg_enclosure *e, const mpz_t y, const dg_law *law);

/* --- for building tables: one law, at the e->y_d that the caller sets --- */

/** Open an enclosure at DG_WORDS_PRECISION for a law. */
void dg_enclosure_open_for_table(dg_enclosure *e, const dg_law *law);

/** 0 <= e->lower <= phi(|y - f|) - phi(|f|) <= e->upper; each is 0 exactly if the difference is. */
void dg_exponent_lower(dg_enclosure *e);
void dg_exponent_upper(dg_enclosure *e);

/** Set e->lower, or e->upper, to a bound of g(y) between 0 and 1, which is 1 exactly if g(y) is. The other one then
 *  holds the exponent that the bound comes from. */
void dg_weight_lower(dg_enclosure *e);
void dg_weight_upper(dg_enclosure *e);

/** The level g = exp(-log_ratio): e->lower = phi there, e->upper = the distance. Both are as close as log_ratio and
 *  the power 1/beta allow. Requires: log_ratio >= 0. */
void dg_enclose_level(dg_enclosure *e, const mpfr_t log_ratio);

#endif
