/* First a side S = 1 or -1 is chosen, each with probability 1/2. The distance to the border there is
 * u = 1/2 - S phi cells, in [0, 1]. The noise, an exponential variable whose mean is one scale, reaches the border
 * with probability exp(-u t).
 *
 * With t = step 2^j, step <= 1, and u 2^j = n + v, n an integer, 0 <= v < 1:
 *
 *     exp(-u t) = exp(-step)^n exp(-v step),
 *
 * so n flips of exp(-step) must all succeed, and one of exp(-v step). That one is Algorithm 1 with
 * gamma = v step <= 1. Each of its Bernoulli(gamma/k) is Bernoulli(step/k) and Bernoulli(v): two short
 * numbers instead of their product, whose denominator would be as long as both together. */
#include "mechanisms/leave_cell.h"

#include "exact/words.h"

enum {
    WORD_SHIFT = 118, /* Bernoulli(v) in words needs 2^shift < 2^119 */
    WORD_K = 256,     /* Bernoulli(step/k) too: step's denominator < 2^111, times k < 2^119 */
};

/** Law: Pr[*out] = |a|/2^shift, a in big->v. */
static dg_status dyadic(bool *out, size_t shift, dg_big *big, dg_bits *bits)
{
    mpz_set_ui(big->y, 0);
    mpz_setbit(big->y, shift);
    return dg_big_bernoulli(out, big->v, big->y, big, bits);
}

/** Law: Pr[*out] = exp(-v step), v = big->v/2^shift. The loop starts at k, as in dg_big_bernoulli_exp_from. */
static dg_status flip_part_big(bool *out, size_t shift, unsigned long k, const dg_law *step,
                               dg_big *big, dg_bits *bits)
{
    for (;; k++) {
        bool more;
        mpz_mul_ui(big->scaled, step->b, k);
        DG_TRY(dg_big_bernoulli(&more, step->a, big->scaled, big, bits));
        if (more) {
            DG_TRY(dyadic(&more, shift, big, bits));
        }
        if (!more) {
            *out = k % 2 == 1;
            return DG_OK;
        }
    }
}

/** Flip exp(-step) n times, n in big->u, until one fails: *out = whether all succeed. */
static dg_status flip_wholes_big(bool *out, const dg_law *step, dg_big *big, dg_bits *bits)
{
    *out = true;
    while (*out && mpz_sgn(big->u) > 0) {
        DG_TRY(dg_big_bernoulli_exp(out, step->a, step->b, big, bits));
        mpz_sub_ui(big->u, big->u, 1);
    }
    return DG_OK;
}

/** *out = whether the noise reaches the border, which is (2^(shift - 1) - away)/2^shift cells away. */
static dg_status leaves_big(bool *out, int64_t away, size_t shift, const dg_snapping *snapping,
                            dg_big *big, dg_bits *bits)
{
    DG_TRY(dg_big_open(big, snapping->step));
    const uint64_t magnitude = away < 0 ? 0 - (uint64_t)away : (uint64_t)away;
    mpz_import(big->v, 1, -1, sizeof magnitude, 0, 0, &magnitude);
    if (away > 0) {
        mpz_neg(big->v, big->v);
    }
    mpz_set_ui(big->y, 0);
    mpz_setbit(big->y, shift - 1);
    mpz_add(big->v, big->v, big->y);
    mpz_mul_2exp(big->v, big->v, snapping->doublings);
    mpz_fdiv_q_2exp(big->u, big->v, shift);
    mpz_fdiv_r_2exp(big->v, big->v, shift);
    DG_TRY(flip_wholes_big(out, snapping->step, big, bits));
    return *out ? flip_part_big(out, shift, 1, snapping->step, big, bits) : DG_OK;
}

#if DG_HAVE_WORDS
static dg_status leaves_in_words(bool *out, int64_t away, size_t shift, const dg_snapping *snapping,
                                 dg_big *big, dg_bits *bits)
{
    const dg_law *step = snapping->step;
    const dg_u128 a = step->words.a, b = step->words.b;
    dg_u128 way = (dg_u128)(((dg_i128)1 << (shift - 1)) - away);
    /* the distance is way 2^doublings/2^shift, way <= 2^shift; its whole part is way shifted right */
    const size_t low_bits = shift > snapping->doublings ? shift - snapping->doublings : 0;
    dg_u128 wholes = low_bits > 0 ? way >> low_bits : way << (snapping->doublings - shift);
    for (*out = true; *out && wholes > 0; wholes--) {
        DG_TRY(dg_words_bernoulli_exp(out, a, b, step, big, bits));
    }
    if (!*out) {
        return DG_OK;
    }
    const dg_u128 one = (dg_u128)1 << low_bits, part = way & (one - 1);
    for (unsigned long k = 1; k < WORD_K; k++) {
        bool more;
        DG_TRY(dg_words_bernoulli(&more, a, b * k, bits));
        if (more) {
            DG_TRY(dg_words_bernoulli(&more, part, one, bits));
        }
        if (!more) {
            *out = k % 2 == 1;
            return DG_OK;
        }
    }
    DG_TRY(dg_big_open(big, step));
    uint64_t limbs[2] = {(uint64_t)part, (uint64_t)(part >> 64)};
    mpz_import(big->v, 2, -1, sizeof *limbs, 0, 0, limbs);
    return flip_part_big(out, low_bits, WORD_K, step, big, bits);
}
#endif

dg_status dg_leave_cell(int *side, const dg_snapping *snapping, size_t i, dg_big *big,
                        dg_bits *bits)
{
    const size_t shift = (size_t)snapping->shift[i];
    uint32_t coin;
    bool leaves;
    DG_TRY(dg_bits_byte(&coin, bits));
    *side = coin < 128 ? 1 : -1;
    const int64_t away = *side * snapping->offset[i];
#if DG_HAVE_WORDS
    if (snapping->step->uses_words && shift <= WORD_SHIFT) {
        DG_TRY(leaves_in_words(&leaves, away, shift, snapping, big, bits));
        *side = leaves ? *side : 0;
        return DG_OK;
    }
#endif
    DG_TRY(leaves_big(&leaves, away, shift, snapping, big, bits));
    *side = leaves ? *side : 0;
    return DG_OK;
}
