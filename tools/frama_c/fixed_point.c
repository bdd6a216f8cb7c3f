/* csrc/isochronous/fixed_point.h on all words. PLANTED: 1 lets a requirement be broken. */
/*@ requires 0 < x; assigns \result \from x; ensures 0 <= \result <= 63; */
int __builtin_clzll(unsigned long long x);
#include "isochronous/fixed_point.h"

volatile uint64_t any_word;
volatile int64_t any_signed;
volatile dg_i128 any_wide;

void exponents(void)
{
    const uint64_t unit = UINT64_C(1) << DG_EXPONENT_BITS;
    for (uint64_t whole = 0; whole < 128; whole++) { /* what a shift is by is then one number */
        const uint64_t x = whole * unit + any_word % unit;
        (void)dg_exp2_lower(x);
        (void)dg_exp2_upper(x);
    }
}

void logarithms(void)
{
    uint64_t d = any_word;
    if (d >= 1 - PLANTED) {
        (void)dg_log2(d);
    }
}

void choices(void)
{
    uint64_t a = any_word, b = any_word;
    dg_select(dg_mask_less(a, b), a, b);
    dg_least(a, b);
    dg_difference(a, b);
    dg_high_product(a, b);
    dg_mask_nonzero(a);
    dg_saturated(any_wide < 0 ? 0 : (dg_u128)any_wide);
    dg_saturated_signed(any_wide);
}

int main(void)
{
    exponents();
    logarithms();
    choices();
    return 0;
}
