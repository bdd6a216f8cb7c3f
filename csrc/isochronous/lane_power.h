/* The exponent of the generalised Gaussian in lanes, in portable C: 2^(beta log2 |y - f| + a constant) less
 * its value at the centre. PROOF.md, lemmas 20 to 22. */
#ifndef DG_ISOCHRONOUS_LANE_POWER_H
#define DG_ISOCHRONOUS_LANE_POWER_H

#include "isochronous/lane_attempt.h"

#if DG_HAVE_WORDS

/** Return item i < 16 of a table, reading all its items. */
DG_LANE_INLINE uint64_t pick_of_16(const uint64_t table[16], uint64_t i)
{
    const uint64_t items[4] = {pick(table, i & 3), pick(table + 4, i & 3), pick(table + 8, i & 3),
                               pick(table + 12, i & 3)};
    return pick(items, i >> 2);
}

/** Return log2(r), 1 <= r < 2^52, in units of 2^-53: never too low, less than DG_LANE_LOG_ABOVE too high. */
DG_LANE_INLINE uint64_t log2_of(uint64_t r)
{
    static const uint64_t inverses[2] = DG_LANE_INVERSES, logs[16] = DG_LANE_LOGS;
    const uint64_t zeros = (uint64_t)__builtin_clzll(r) - SPARE_BITS;
    const uint64_t m = r << zeros; /* 2^51 and more */
    const uint64_t place = m >> (DG_LANE_BITS - 5) & 15;
    const uint64_t half = chosen(dg_mask(0 - (place >> 3)), inverses[1], inverses[0]);
    const uint64_t inverse = half >> (8 * (place & 7)) & 0xFF;
    /* log2(1 - u) = -log2(e) (u + u^2/2 + u^3/3 + ...), u <= 1/16 in units of 2^-54 */
    const uint64_t u = ((UINT64_C(1) << 59) - m * inverse) >> 5 << SPARE_BITS;
    uint64_t sum = DG_LANE_LOG_TERM(12);
    sum = DG_LANE_LOG_TERM(11) + high(u, sum);
    sum = DG_LANE_LOG_TERM(10) + high(u, sum);
    sum = DG_LANE_LOG_TERM(9) + high(u, sum);
    sum = DG_LANE_LOG_TERM(8) + high(u, sum);
    sum = DG_LANE_LOG_TERM(7) + high(u, sum);
    sum = DG_LANE_LOG_TERM(6) + high(u, sum);
    sum = DG_LANE_LOG_TERM(5) + high(u, sum);
    sum = DG_LANE_LOG_TERM(4) + high(u, sum);
    sum = DG_LANE_LOG_TERM(3) + high(u, sum);
    sum = DG_LANE_LOG_TERM(2) + high(u, sum);
    sum = DG_LANE_LOG_TERM(1) + high(u, sum);
    return ((DG_LANE_BITS - 1 - zeros) << DG_LANE_LOG_BITS) + pick_of_16(logs, place) -
           high(u, sum);
}

/** Return log2(e) (r / scale)^beta in units of exponents, rounded down. Requires: r <= lanes->farthest. */
DG_LANE_INLINE uint64_t power_of(uint64_t r, const dg_lanes *lanes)
{
    const uint64_t is_small = less(r, lanes->nearest);
    const uint64_t log = log2_of(r + ((lanes->nearest - r) & is_small));
    const uint64_t times_beta = (uint64_t)((dg_u128)log * lanes->rate >> DG_LANE_BITS);
    const uint64_t log_of_power = (times_beta << lanes->rate_shift) - lanes->log_scale;
    const uint64_t x = ((uint64_t)DG_LANE_POWER_TOP << DG_LANE_BITS) - log_of_power;
    return height_of(x & UNITS) << DG_LANE_POWER_TOP >> least(x >> DG_LANE_BITS, 63) & ~is_small;
}

/** Return the exponent at z, rounded down. It may be a little below 0. */
DG_LANE_INLINE uint64_t power_exponent_at(uint64_t z, uint64_t left, const dg_lanes *lanes)
{
    const uint64_t r = least(distance_at(z, left, lanes) + lanes->f, lanes->farthest);
    return power_of(r, lanes) - lanes->at_centre;
}

/** Return the exponent of any law at z, rounded down. That of a power may be a little below 0. */
DG_LANE_INLINE uint64_t law_exponent_at(uint64_t z, uint64_t left, const dg_lanes *lanes)
{
    return lanes->is_power  ? power_exponent_at(z, left, lanes)
           : lanes->squared ? gaussian_exponent_at(z, left, lanes)
                            : laplace_exponent_at(z, left, lanes);
}

#endif
#endif
