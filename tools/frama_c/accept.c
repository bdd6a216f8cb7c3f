/* The acceptance of Algorithm 3 (accept_gaussian, csrc/exact/words.c) for every law that dg_words_prepare and
 * dg_short_law_prepare let pass and every y: no product or sum leaves 128 bits, and what bernoulli_exp is asked
 * keeps its contract (words.c has bernoulli_exp itself).
 *
 * What they ask for is about products: B y_max < 2^125 and (2^e d)^2 A < 2^125, y_max = 2^e - 1, e >= 5. Eva knows
 * intervals: so e is taken one by one, and d between two numbers, the one at most 3/2 of the other, which bounds A.
 *
 * Taken for granted: N(y) >= 0, as M is the least that the other terms are; that dg_words_prepare, in GMP, has these
 * bounds. PLANTED: 1 lets A be 4 times as large. */
/*@ requires 0 < x; assigns \result \from x; ensures 0 <= \result <= 63; */
int __builtin_clzll(unsigned long x);
#define __builtin_expect(x, y) (x)

/*@ assigns \nothing; ensures \false; */
void leave(void);
#define DG_BASE_CONTRACT_H
#define DG_REQUIRES(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            leave();                                                                               \
        }                                                                                          \
    } while (0)
#define DG_PUBLIC(x) ((void)0)
#include "any.h"

/*@ requires num < 1 << 127; requires 0 < den < 1 << 111; assigns *out, \result \from num, den;
    ensures \initialized(out) && (*out == 0 || *out == 1); ensures \result == DG_OK; */
static inline dg_status bernoulli_exp(bool *out, dg_u128 num, dg_u128 den, word_draw draw);
/*@ assigns *out, \result \from *y; ensures \initialized(out) && (*out == 0 || *out == 1); ensures \result == DG_OK; */
dg_status dg_big_accept_gaussian(bool *out, const mpz_t y, const dg_law *law, dg_big *big, dg_bits *bits);

static dg_i128 between(dg_i128 least, dg_i128 most)
{
    const dg_i128 value = any_wide;
    return value < least || value > most ? least : value;
}

static void accept(unsigned e, uint64_t d_least, uint64_t d_most)
{
    dg_bits bits;
    dg_big big;
    dg_law law;
    const word_draw draw = {&law, &big, &bits};
    const dg_i128 term = (dg_i128)1 << DG_WORD_TERM_BITS, y_max = ((dg_i128)1 << e) - 1;
    const dg_i128 square = ((dg_i128)d_least << e) * ((dg_i128)d_least << e);
    bool one;
    law.words.y_max = (int64_t)y_max;
    law.words.d = (uint64_t)between((dg_i128)d_least, (dg_i128)d_most);
    law.words.n = (int64_t)between(-(dg_i128)(d_most / 2), (dg_i128)(d_most / 2));
    law.words.A = (dg_u128)between(1, PLANTED ? (term - 1) / square * 4 : (term - 1) / square);
    law.words.B = (dg_u128)between(1, (term - 1) / y_max);
    law.words.M = between(1 - term, term - 1);
    law.words.D = (dg_u128)between(1, ((dg_i128)1 << DG_WORD_DEN_BITS) - 1);
    (void)accept_gaussian(&one, between(0, y_max), draw);
    (void)accept_gaussian(&one, between(-y_max, 0), draw);
}

/** Where y is beyond y_max, as every y is beyond -1: what goes to GMP. */
static void accept_by_gmp_alone(void)
{
    const dg_i128 most = ((dg_i128)1 << 119) - 1;
    dg_bits bits;
    dg_big big;
    dg_law law;
    bool one;
    law.words.y_max = -1;
    (void)accept_gaussian(&one, between(-most, most), (word_draw){&law, &big, &bits});
}

int main(void)
{
    accept_by_gmp_alone();
    /*@ loop unroll 58; */
    for (unsigned e = 5; e <= (PLANTED ? 5 : 62); e++) {
        /*@ loop unroll 58; */
        for (unsigned bits = 1; bits <= 63 - e; bits++) { /* (2^e d)^2 < 2^125 */
            const uint64_t least = UINT64_C(1) << (bits - 1), middle = least + least / 2;
            if (middle > least) {
                accept(e, least, middle - 1);
            }
            accept(e, middle, 2 * least - 1);
        }
    }
    return 0;
}
