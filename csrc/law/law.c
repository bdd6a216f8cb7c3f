/* The constants of a law.
 *
 * The discrete Gaussian, Algorithm 3 of CKS 2020. With t = floor(sigma) + 1 and sigma2 = p/q, draw
 * Y from the discrete Laplace of scale t and accept with exp(-(|Y| - sigma2/t)^2 / (2 sigma2)):
 *
 *   (|y| - p/(q t))^2 * q/(2 p) = (|y| q t - p)^2 / (2 p q t^2)
 *                               = (y^2 A - B |y| - M) / D,
 *   A = (q t)^2,  B = 2 p q t,  M = -p^2,  D = 2 p q t^2.
 *
 * A rational centre: mu = c + f with f = n/d. Draw y for the centre f and return c + y. The law is
 * exp(-(y - f)^2 / (2 sigma2)) and the proposal exp(-|y|/t), so the acceptance is exp(-gamma(y)) with
 *
 *   gamma(y) = ((y - f)^2 - 2 h |y| - m) / (2 sigma2),   h = sigma2/t,
 *
 * for any constant m that keeps gamma >= 0 on the integers. A larger m means fewer rejections.
 * (The paper's square is f = 0, m = -h^2, the minimum over the reals.) With f != 0 the minimum over
 * the reals is too small: for sigma2 -> 0 and f = 1/2 it would accept only with exp(-1/(8 sigma2)),
 * practically never. So m is the minimum over the integers, with which the best y is accepted with
 * certainty:
 *
 *   If y has the sign of f, y = sign(f) a with a >= 0, the bracket without m is
 *   (a - |f|)^2 - 2 h a = (a - (h + |f|))^2 + const. It is least at the integer a* nearest to h + |f|.
 *   If y has the other sign, y = -sign(f) a, it is (a + |f|)^2 - 2 h a, larger by 4 a |f| than at
 *   sign(f) a. So y* = sign(f) a* attains the minimum over all integers.
 *
 * In integers, multiplied by d^2 q t:
 *
 *   gamma(y) = ((y d - n)^2 A - B |y| - M) / D,
 *   A = q t,  B = 2 p d^2,  D = 2 p d^2 t,  M = (y* d - n)^2 A - B |y*|.
 *
 * The proposal gives y* with a probability of at least exp(-2) (1 - exp(-1/t)) / 2, and the acceptance
 * decreases no faster than the law itself. So the expected number of attempts is bounded for all
 * parameters (measured: at most about 3).
 */
#include "law/law.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

size_t dg_uniform_bytes(const mpz_t n)
{
    if (mpz_cmp_ui(n, 1) == 0) {
        return 0;
    }
    mpz_t largest;
    mpz_init(largest);
    mpz_sub_ui(largest, n, 1);
    size_t n_bits = mpz_sizeinbase(largest, 2);
    mpz_clear(largest);
    return (n_bits + 7) / 8 + 1;
}

/** c = the integer nearest to num/den (halves up), n/d = num/den - c. */
static void split_centre(dg_law *law, const mpz_t num, const mpz_t den)
{
    mpz_mul_2exp(law->c, num, 1);
    mpz_add(law->c, law->c, den);
    mpz_set(law->d, den);
    mpz_mul_2exp(law->n, den, 1);
    mpz_fdiv_q(law->c, law->c, law->n);
    mpz_set(law->n, num);
    mpz_submul(law->n, law->c, den);
    law->centred = mpz_sgn(law->n) == 0;
}

/** side = (1 - 2|f|) s/t = (d - 2|n|) s / (d t). */
static void prepare_laplace(dg_law *law)
{
    mpz_set(law->t, law->a);
    mpz_set(law->s, law->b);
    mpz_abs(law->side_num, law->n);
    mpz_mul_2exp(law->side_num, law->side_num, 1);
    mpz_sub(law->side_num, law->d, law->side_num);
    mpz_mul(law->side_num, law->side_num, law->s);
    mpz_mul(law->side_den, law->d, law->t);
}

static void prepare_centred_gaussian(dg_law *law, const mpz_t p, const mpz_t q)
{
    mpz_mul(law->M, q, law->t); /* q t */
    mpz_mul(law->A, law->M, law->M);
    mpz_mul(law->B, p, law->M);
    mpz_mul_2exp(law->B, law->B, 1);
    mpz_mul(law->D, law->B, law->t);
    mpz_mul(law->M, p, p);
    mpz_neg(law->M, law->M);
}

static void prepare_shifted_gaussian(dg_law *law, const mpz_t p, const mpz_t q)
{
    mpz_t d2, best, near;
    mpz_inits(d2, best, near, NULL);
    mpz_mul(d2, law->d, law->d);
    mpz_mul(law->A, q, law->t);
    mpz_mul(law->B, p, d2);
    mpz_mul_2exp(law->B, law->B, 1);
    mpz_mul(law->D, law->B, law->t);
    /* a* = floor(h + |f| + 1/2) = floor((2 p d + 2 |n| q t + q t d) / (2 q t d)) */
    mpz_mul(best, p, law->d);
    mpz_abs(near, law->n);
    mpz_addmul(best, near, law->A);
    mpz_mul_2exp(best, best, 1);
    mpz_mul(near, law->A, law->d);
    mpz_add(best, best, near);
    mpz_mul_2exp(near, near, 1);
    mpz_fdiv_q(best, best, near);
    /* M = (a* d - |n|)^2 A - B a* */
    mpz_abs(near, law->n);
    mpz_mul(law->M, best, law->d);
    mpz_sub(law->M, law->M, near);
    mpz_mul(law->M, law->M, law->M);
    mpz_mul(law->M, law->M, law->A);
    mpz_submul(law->M, law->B, best);
    mpz_clears(d2, best, near, NULL);
}

/** t = floor(sigma) + 1 = isqrt(floor(sigma2)) + 1, s = 1, and the acceptance. */
static void prepare_gaussian(dg_law *law)
{
    mpz_fdiv_q(law->t, law->a, law->b);
    mpz_sqrt(law->t, law->t);
    mpz_add_ui(law->t, law->t, 1);
    mpz_set_ui(law->s, 1);
    if (law->centred) {
        prepare_centred_gaussian(law, law->a, law->b);
    } else {
        prepare_shifted_gaussian(law, law->a, law->b);
    }
}

/** Set how many bytes an attempt reads at least and how many a draw reads on average. An attempt at a discrete
 *  Laplace or Gaussian reads a uniform, at least one byte for Bernoulli(exp(-1)), and one for the sign or side. */
static void prepare_sizes(dg_law *law)
{
    size_t uniform = law->kind == DG_UNIFORM_BELOW ? dg_uniform_bytes(law->a) : 0;
    size_t value_bits = mpz_sizeinbase(law->a, 2);
    law->min_bytes = uniform;
    law->expected_bytes = uniform + 4;
    if (law->kind >= DG_GEOMETRIC_EXP) {
        uniform = dg_uniform_bytes(law->t);
        law->min_bytes = uniform + (law->kind == DG_GEOMETRIC_EXP ? 1 : 2);
        law->expected_bytes = 2 * uniform + (law->kind == DG_DISCRETE_GAUSSIAN ? 16 : 8);
        value_bits = mpz_sizeinbase(law->t, 2);
    }
    size_t centre_bits = mpz_sizeinbase(law->c, 2);
    value_bits = (value_bits > centre_bits ? value_bits : centre_bits) + 64 + 2;
    law->wide_bytes = (value_bits + 7) / 8;
    law->limb_bits = value_bits + mpz_sizeinbase(law->D, 2) + mpz_sizeinbase(law->b, 2) +
                     mpz_sizeinbase(law->side_den, 2) + 128;
    if (law->kind == DG_UNIFORM_BELOW) { /* a random number as long as a is multiplied by a */
        law->limb_bits += mpz_sizeinbase(law->a, 2);
    }
    /* Measured: the eleven integers of dg_big and GMP's scratch take some 11 times limb_bits, the
     * enclosures of cell tables 10 times, and beta's numerator and denominator 4 times. */
    size_t beta_bits = mpz_sizeinbase(law->beta_num, 2) + mpz_sizeinbase(law->beta_den, 2);
    law->room_bytes = DG_ROOM + 32 * (law->limb_bits / 8) + 16 * (beta_bits / 8);
}

void dg_law_prepare(dg_law *law, dg_law_kind kind, const mpz_t a, const mpz_t b, const mpz_t mu_num,
                    const mpz_t mu_den, const mpz_t beta_num, const mpz_t beta_den)
{
    memset(law, 0, sizeof *law);
    law->kind = kind;
    mpz_inits(law->t, law->s, law->c, law->n, law->d, law->side_num, law->side_den, law->A, law->B,
              law->M, law->D, NULL);
    mpz_init_set(law->a, a);
    mpz_init_set(law->b, b);
    mpz_init_set(law->beta_num, beta_num);
    mpz_init_set(law->beta_den, beta_den);
    split_centre(law, mu_num, mu_den);
    if (kind == DG_GEOMETRIC_EXP) { /* exp(-k a/b): scale t/s = b/a */
        mpz_set(law->t, law->b);
        mpz_set(law->s, law->a);
    } else if (kind == DG_DISCRETE_LAPLACE || kind == DG_GENERALIZED_GAUSSIAN) {
        prepare_laplace(law);
    } else if (kind == DG_DISCRETE_GAUSSIAN) {
        prepare_gaussian(law);
    }
    prepare_sizes(law);
}

void dg_law_clear(dg_law *law)
{
    mpz_clears(law->a, law->b, law->t, law->s, law->c, law->n, law->d, law->side_num, law->side_den,
               law->A, law->B, law->M, law->D, law->beta_num, law->beta_den, NULL);
}

void dg_law_free(dg_law *law)
{
    if (law != NULL) {
        dg_law_clear(law);
        free(law);
    }
}
