/* The integer arithmetic of csrc/exact/words.c, on all numbers that its contracts allow and any random bytes.
 * Not here: the acceptance of Algorithm 3, whose products are bounded by what dg_words_prepare asks of the
 * law, together; and what is done by GMP. PLANTED: 1 lets a requirement be broken. */
/*@ requires 0 < x; assigns \result \from x; ensures 0 <= \result <= 63;
    ensures x < 1ul << 55 ==> 9 <= \result; */
int __builtin_clzll(unsigned long x);
/*@ assigns \result \from x; ensures \result == x; */
long __builtin_expect(long x, long y);

#include "base/int128.h"
#include "base/status.h"
#include <stdint.h>
/* in the place of random/bits.h: any bytes; an error would leave every function at once */
#define DG_RANDOM_BITS_H
typedef struct dg_bits {
    int unused;
} dg_bits;
volatile uint8_t any_byte;
volatile uint64_t any_word;
volatile int64_t any_signed;
volatile dg_i128 any_wide;
static dg_status dg_bits_byte(uint32_t *out, dg_bits *bits)
{
    *out = any_byte;
    return DG_OK;
}
static dg_status dg_bits_word(uint64_t *out, size_t n, dg_bits *bits)
{
    /*@ assert n <= 8; */
    uint64_t value = any_word;
    *out = n == 8 ? value : value & ((UINT64_C(1) << (8 * n)) - 1);
    return DG_OK;
}

#include "exact/big.h"
/*@ assigns *out, \result \from num, den; ensures \initialized(out) && (*out == 0 || *out == 1); ensures \result == DG_OK; */
dg_status dg_big_bernoulli_exp_from(bool *out, const mpz_t num, const mpz_t den, unsigned long k,
                                    dg_big *big, dg_bits *bits);
/*@ assigns *big, \result \from law; ensures \result == DG_OK; */
dg_status dg_big_open(dg_big *big, const dg_law *law);
#include "exact/words.c"

static dg_u128 below(unsigned n_bits)
{
    const dg_u128 value = (dg_u128)any_wide;
    return value < (dg_u128)1 << n_bits ? value : 0;
}

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
