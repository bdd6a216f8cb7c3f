/* A law made ready: its parameters, and every constant that its algorithm needs, as GMP integers
 * and, where they fit, as machine words. Immutable once made.
 *
 * Names, used by law.c, exact/big.c and exact/words.c alike (reference.py uses the same):
 *
 *   a, b             bernoulli: a/b; uniform_below: a; bernoulli_exp: exp(-a/b)
 *   t, s             the discrete Laplace or geometric scale t/s that is drawn first
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
/** The constants in machine words. Bounds: see exact/words.h. */
typedef struct dg_word_constants {
    dg_u128 a, b;
    uint64_t t, s;
    int64_t c;
    dg_u128 side_num, side_den;
    dg_u128 A, B, D;
    dg_i128 M;
    int64_t n;
    uint64_t d;
    int64_t y_max; /* N(y) is computed in words up to here, by GMP beyond; -1: always by GMP */
} dg_word_constants;
#endif

typedef struct dg_law dg_law;
struct dg_law {
    dg_law_kind kind;
    bool centred; /* f == 0 */
    bool uses_words;
    size_t min_bytes;      /* every draw reads at least this many bytes of its source */
    size_t expected_bytes; /* a draw reads about this many; only the size of reads depends on it */
    size_t wide_bytes;
    size_t limb_bits;  /* no intermediate of the usual draws is longer (room, not a limit) */
    size_t room_bytes; /* GMP and MPFR take less while they draw, or build a table */
    mpz_t a, b, t, s, c, n, d, side_num, side_den, A, B, M, D;
    mpz_t beta_num, beta_den; /* generalised Gaussian */
#if DG_HAVE_WORDS
    dg_word_constants words;
#endif
};

/** Bytes that a uniform draw below n reads: one more than n - 1 fills, so that more than those are
 *  needed with a probability of at most 2^-8; none if n == 1. */
size_t dg_uniform_bytes(const mpz_t n);

/** Compute every constant of the law from a, b, mu = c/d, beta (lowest terms; checked by the
 *  caller).
 *
 *  Ensures:   law holds all constants but those in machine words (uses_words is false); to be cleared
 *             by dg_law_clear.
 */
void dg_law_prepare(dg_law *law, dg_law_kind kind, const mpz_t a, const mpz_t b, const mpz_t mu_num,
                    const mpz_t mu_den, const mpz_t beta_num, const mpz_t beta_den);

void dg_law_clear(dg_law *law);

/** Free a law that dg_law_new or dg_law_make made (sampler/make_law.h). It may be NULL. */
void dg_law_free(dg_law *law);

#endif
