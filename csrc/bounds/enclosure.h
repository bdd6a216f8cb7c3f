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
#ifndef DG_BOUNDS_ENCLOSURE_H
#define DG_BOUNDS_ENCLOSURE_H

#include "bounds/elementary.h"
#include "law/law.h"

#include <mpfr.h>

/** Bounds at one precision: a law's constants, and scratch. */
typedef struct dg_enclosure {
    const dg_law *law;
    bool in_words;                     /* exp and powers by elementary.h */
    mpz_t y_d;                         /* y d: the integer y that is asked about */
    mpz_t integer;                     /* scratch, as work is */
    mpfr_t lower, upper;               /* where results are left */
    mpfr_t unit_lower, unit_upper;     /* Gaussian: 1/(2 sigma2 d^2), else 1/(scale d) */
    mpfr_t centre_lower, centre_upper; /* phi(|f|) */
    mpfr_t beta_lower, beta_upper;
    mpfr_t radius; /* for tables: sqrt(2 sigma2), or scale, about the distance where phi = 1 */
    mpfr_t work;
    mpfr_exp_t least_exponent, most_exponent; /* the thread's range, while ours is in force */
    mpfr_flags_t flags;                       /* and its flags */
} dg_enclosure;

/** While an enclosure is open, MPFR's range of exponents is as wide as it can be, whatever others in
 *  the process have set; on closing it is theirs again, and so are the flags. So enclosures are
 *  closed in the order opposite to their opening. */
void dg_enclosure_open(dg_enclosure *e, mpfr_prec_t precision);
void dg_enclosure_close(dg_enclosure *e);

/** 0 <= e->lower <= g(y) <= e->upper <= 1; both 1 at y = 0. At DG_WORDS_PRECISION by elementary.h,
 *  else by MPFR alone. */
void dg_enclose_weight(dg_enclosure *e, const mpz_t y, const dg_law *law);

/* --- for building tables: one law, at e->y_d, which the caller sets --- */

/** Open it at DG_WORDS_PRECISION for a law. */
void dg_enclosure_open_for_table(dg_enclosure *e, const dg_law *law);

/** 0 <= e->lower <= phi(|y - f|) - phi(|f|) <= e->upper; each 0 exactly where that is. */
void dg_exponent_lower(dg_enclosure *e);
void dg_exponent_upper(dg_enclosure *e);

/** e->lower, or e->upper: a bound of g(y), between 0 and 1, 1 exactly where g is; the exponent that
 *  it comes from is in the other one. */
void dg_weight_lower(dg_enclosure *e);
void dg_weight_upper(dg_enclosure *e);

/** The level g = exp(-log_ratio): e->lower = phi there, e->upper = the distance, as close as
 *  log_ratio is and the power of 1/beta lets them be. Requires: log_ratio >= 0. */
void dg_enclose_level(dg_enclosure *e, const mpfr_t log_ratio);

#endif
