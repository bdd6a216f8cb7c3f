/* The integer arithmetic of csrc/exact/words.c, on all numbers that its contracts allow and any random bytes.
 * Not here: the acceptance of Algorithm 3 (accept.c), and what is done by GMP. PLANTED: 1 lets a requirement be
 * broken. */
/*@ requires 0 < x; assigns \result \from x; ensures 0 <= \result <= 63;
    ensures x < 1ul << 55 ==> 9 <= \result; */
int __builtin_clzll(unsigned long x);
/*@ assigns \result \from x; ensures \result == x; */
long __builtin_expect(long x, long y);

#include "any.h"

int main(void)
{
    dg_bits bits;
    dg_big big;
    dg_law law;
    const word_draw draw = {&law, &big, &bits};
    bool one;
    uint64_t under;
    dg_u128 count;
    dg_i128 y;

    (void)bernoulli(&one, below(127), 1 + below(119 + PLANTED), draw);
    (void)short_bernoulli(&one, (uint64_t)below(63), 1 + (uint64_t)below(55), draw);
    (void)uniform_below(&under, 1 + (uint64_t)below(55), draw);
    (void)short_bernoulli_exp_unit(&one, (uint64_t)below(47), 1 + (uint64_t)below(47), draw);
    (void)bernoulli_exp_unit(&one, below(111), 1 + below(111), draw);
    (void)bernoulli_exp(&one, below(127), 1 + below(111), draw);
    law.words.t = 1 + (uint64_t)below(55);
    law.words.s = 1 + (uint64_t)below(62);
    law.words.side_num = below(127);
    law.words.side_den = 1 + below(111);
    law.words.n = any_signed;
    (void)laplace(&y, draw);
    (void)shifted_laplace(&y, draw);
    return 0;
}
