/* A prepared law: its parameters and every constant that its algorithm needs, as GMP integers and, if they fit,
 * as machine words. It does not change once it is made.
 *
 * Names that law.c, exact/big.c, exact/words.c and reference.py share:
 *
 *   a, b             bernoulli: a/b; uniform_below: a; bernoulli_exp: exp(-a/b)
 *   t, s             the scale t/s of the discrete Laplace or geometric that is drawn first
 *   c, f = n/d       mu = c + f, c the nearest integer, -1/2 <= f < 1/2, n/d in lowest terms
 *   side             Laplace, f != 0: exp(-side_num/side_den) weighs the far half-line (exact/big.c)
 *   A, B, M, D       Gaussian: the acceptance of y is exp(-N(y)/D),
 *                    N(y) = (y d - n)^2 A - B |y| - M >= 0 for every integer y (law.c)
 */
#ifndef DG_LAW_LAW_H
#define DG_LAW_LAW_H

#include "base/int128.h"
#include "discretegauss_parts.h"

#include <gmp.h>
#include <stdbool.h>

#if DG_HAVE_WORDS
/** The constants in machine words. Their bounds are in exact/words.h. */
typedef struct dg_word_constants {
    dg_u128 a, b;
    uint64_t t, s;
    int64_t c;
    dg_u128 side_num, side_den;
    dg_u128 A, B, D;
    dg_i128 M;
    int64_t n;
    uint64_t d;
    int64_t y_max; /* N(y) is computed in words if |y| <= y_max, else by GMP; -1: always by GMP */
} dg_word_constants;
#endif

typedef struct dg_law dg_law;
struct dg_law {
    dg_law_kind kind;
    bool centred; /* f == 0 */
    bool uses_words;
    size_t min_bytes;      /* every draw reads at least this many bytes of its source */
    size_t expected_bytes; /* bytes of an average draw; only the size of reads depends on it */
    size_t wide_bytes;
    size_t limb_bits;  /* no intermediate of the usual draws is longer (room, not a limit) */
    size_t room_bytes; /* GMP and MPFR take less to draw, or to build a table */
    mpz_t a, b, t, s, c, n, d, side_num, side_den, A, B, M, D;
    mpz_t beta_num, beta_den; /* generalised Gaussian */
#if DG_HAVE_WORDS
    dg_word_constants words;
#endif
};

/** Return how many bytes a uniform draw below n reads: one byte more than n - 1 fills, so that it needs further
 *  bytes with a probability of at most 2^-8. If n is 1, none. */
size_t dg_uniform_bytes(const mpz_t n);

/** Compute every constant of the law from a, b, mu = c/d and beta. The caller has checked them. They are in lowest
 *  terms.
 *
 *  Ensures:   law holds all constants but those in machine words (uses_words is false). The caller clears it with
 *             dg_law_clear.
 */
void dg_law_prepare(dg_law *law, dg_law_kind kind, const mpz_t a, const mpz_t b, const mpz_t mu_num,
                    const mpz_t mu_den, const mpz_t beta_num, const mpz_t beta_den);

void dg_law_clear(dg_law *law);

/** Free a law that dg_law_new or dg_law_make (sampler/make_law.h) made. It may be NULL. */
void dg_law_free(dg_law *law);

#endif
