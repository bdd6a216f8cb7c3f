/* What csrc/exact/words.c stands on, as the analysis sees it: any random bytes, and GMP's parts by what they ensure. */
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

