/* Heights and logarithms of lanes (csrc/isochronous/lane_attempt.h, lane_power.h) on all words. PLANTED: 1 lets a
 * requirement be broken. */
/*@ requires 0 < x; assigns \result \from x; ensures 0 <= \result <= 63; ensures x < 4503599627370496 ==> 12 <= \result; */
int __builtin_clzll(unsigned long long x);
#include "isochronous/lane_power.h"

volatile uint64_t any_word;

void heights(void)
{
    for (uint64_t whole = 0; whole < 1024; whole++) { /* what a shift is by is then one number */
        (void)height_of(whole << DG_LANE_BITS | (any_word & UNITS));
    }
}

void logarithms(void)
{
    const uint64_t r = any_word & UNITS;
    if (r >= 1 - PLANTED) {
        (void)log2_of(r);
    }
}

void choices(void)
{
    const uint64_t a = any_word, b = any_word;
    (void)chosen(less(a, b), a, b);
    (void)least(a, b);
    (void)filled(a);
    (void)high(a, b);
}

int main(void)
{
    heights();
    logarithms();
    choices();
    return 0;
}
