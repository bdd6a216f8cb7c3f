/* What the lemmas of lanes say of masks (csrc/isochronous/lane_attempt.h). PLANTED: 1 makes each claim wrong. */
/*@ requires 0 < x; assigns \result \from x; ensures 0 <= \result <= 63; */
int __builtin_clzll(unsigned long long x);
#include "isochronous/lane_attempt.h"

/*@ axiomatic words { // a word less another, modulo 2^64; and a word, of which a mask keeps all or nothing
      axiom difference: \forall integer v; -18446744073709551616 < v < 0 ==>
        (uint64_t)v == v + 18446744073709551616;
      axiom sum: \forall integer v; 18446744073709551616 <= v < 36893488147419103232 ==>
        (uint64_t)v == v - 18446744073709551616;
      axiom all_ones: \forall integer v; 0 <= v < 18446744073709551616 ==> (v & 18446744073709551615) == v;
    } */

/*@ assigns \nothing; ensures \result == mask; */
static inline uint64_t dg_mask(uint64_t mask);

/*@ assigns \nothing;
    ensures a < b ==> \result == 18446744073709551615 - PLANTED;
    ensures b <= a ==> \result == 0;
*/
static inline uint64_t less(uint64_t a, uint64_t b);

/*@ assigns \nothing;
    ensures \result == (a < b ? a : b) + PLANTED;
*/
static inline uint64_t least(uint64_t a, uint64_t b);
