/* Algorithms 1, 2 and 3 over GMP integers: parameters and draws of any size. */
#ifndef DG_EXACT_BIG_H
#define DG_EXACT_BIG_H

#include "law/law.h"
#include "random/bits.h"

/** The integers that one call draws with. dg_big_open initialises them, dg_big_close wipes them. */
typedef struct dg_big {
    bool open;
    mpz_t remainder, below;      /* bernoulli */
    mpz_t num, den, scaled, one; /* bernoulli_exp */
    mpz_t word;                  /* bytes read, as an integer */
    mpz_t u, v, y, side;         /* laplace, gaussian */
} dg_big;

/** Open big, unless it is open. Ensures: DG_OK -> big is open, with room for the usual draws of the law, so that
 *  GMP does not move limbs (and leave copies) while it draws.
 *  Returns: DG_OK | DG_ERR_NOMEM. */
dg_status dg_big_open(dg_big *big, const dg_law *law);

/** Wipe and free the integers. Does nothing if big is not open. */
void dg_big_close(dg_big *big);

/** Law:      Pr[*out] = a/b.
 *  Requires: b > 0; a/b outside [0, 1] counts as 0 or 1. a and b are not integers of big.
 *  Cost:     1 + 1/255 bytes expected; none if a/b is 0 or 1.
 *
 *  Why: let U = (F + U')/2^8, with F the byte read and U' again uniform in [0, 1). Then
 *  U < a/b  <=>  U' < (2^8 a - F b)/b, which is the same question for a' = 2^8 a - F b. It is decided
 *  as soon as a' <= 0 or a' >= b.
 */
dg_status dg_big_bernoulli(bool *out, const mpz_t a, const mpz_t b, dg_big *big, dg_bits *bits);

/** Law:      out uniform on 0 ... n-1.
 *  Requires: n >= 1; out and n are not the bernoulli integers of big.
 *
 *  Why: out is floor(U n), with U in [0, 1) revealed by k bytes: U n = (F n + U' n)/2^(8k) =
 *  hi + (lo + U' n)/2^(8k), and (lo + U' n)/2^(8k) < 1  <=>  U' < (2^(8k) - lo)/n. One Bernoulli decides this.
 */
dg_status dg_big_uniform_below(mpz_t out, const mpz_t n, dg_big *big, dg_bits *bits);

/** Algorithm 1. Law: Pr[*out] = exp(-num/den).
 *  Requires: num >= 0, den > 0; num and den may be big->num, big->den.
 */
dg_status dg_big_bernoulli_exp(bool *out, const mpz_t num, const mpz_t den, dg_big *big,
                               dg_bits *bits);

/** The loop of Algorithm 1 for num <= den, starting with its counter at k: *out = whether the k at which
 *  Bernoulli(num/(den k)) first fails is odd. exact/words.c continues here when k den outgrows its words.
 *  Requires: as above, k >= 1. */
dg_status dg_big_bernoulli_exp_from(bool *out, const mpz_t num, const mpz_t den, unsigned long k,
                                    dg_big *big, dg_bits *bits);

/** The acceptance of Algorithm 3 at y: Law: Pr[*accept] = exp(-N(y)/D) (law/law.c). */
dg_status dg_big_accept_gaussian(bool *accept, const mpz_t y, const dg_law *law, dg_big *big,
                                 dg_bits *bits);

/** Draw once from the law, into big->y. Requires: big is open. Law: as law->kind says. */
dg_status dg_big_draw(const dg_law *law, dg_big *big, dg_bits *bits);

#endif
