/* One attempt in lanes, in portable C: what lanes_portable.c makes of one law, and lane_laws.c of another
 * at every attempt. PROOF.md, lemmas 13 to 16. */
#ifndef DG_ISOCHRONOUS_LANE_ATTEMPT_H
#define DG_ISOCHRONOUS_LANE_ATTEMPT_H

#include "base/contract.h"
#include "isochronous/fixed_point.h"
#include "isochronous/lanes.h"

#include <string.h>

#if DG_HAVE_WORDS

#define DG_LANE_INLINE static inline __attribute__((always_inline))

static const uint64_t UNITS = (UINT64_C(1) << DG_LANE_BITS) - 1; /* the bits of a number below 1 */

DG_LANE_INLINE uint64_t load_word(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

DG_LANE_INLINE uint64_t load_half(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

/** All ones if a < b, else 0. Requires: both are below 2^63. */
DG_LANE_INLINE uint64_t less(uint64_t a, uint64_t b)
{
    return dg_mask((uint64_t)((int64_t)(a - b) >> 63));
}

/** The lesser of a and b. Requires: as less. */
DG_LANE_INLINE uint64_t least(uint64_t a, uint64_t b)
{
    return b + ((a - b) & less(a, b));
}

enum { SPARE_BITS = 64 - DG_LANE_BITS };

/** floor(a b / 2^52), where a is given times 2^12: below 2^52, as b may be below 2^64. */
DG_LANE_INLINE uint64_t high(uint64_t a_shifted, uint64_t b)
{
    return dg_high_product(a_shifted, b);
}

/** Item i < 4 of a table, all of whose items are read. */
DG_LANE_INLINE uint64_t pick(const uint64_t table[4], uint64_t i)
{
    const uint64_t odd = dg_mask(0 - (i & 1)), upper = dg_mask(0 - (i >> 1));
    const uint64_t third = table[0] ^ table[1] ^ table[2] ^ table[3];
    return table[0] ^ (odd & (table[0] ^ table[1])) ^
           (upper & (table[0] ^ table[2] ^ (odd & third)));
}

/** 2^-x, rounded down; x < 128 in units of exponents. */
DG_LANE_INLINE uint64_t height_of(uint64_t x)
{
    static const uint64_t quarters[4] = DG_LANE_QUARTERS, sixteenths[4] = DG_LANE_SIXTEENTHS;
    const uint64_t one_sixteenth = UINT64_C(1) << (DG_LANE_BITS - 4);
    const uint64_t place = (x & UNITS) >> (DG_LANE_BITS - 4);
    const uint64_t power =
        high(pick(sixteenths, place & 3) << SPARE_BITS, pick(quarters, place >> 2));
    const uint64_t left = one_sixteenth - (x & (one_sixteenth - 1));
    const uint64_t s = high(left << (1 + SPARE_BITS), DG_LANE_LN2) << SPARE_BITS;
    uint64_t sum = DG_LANE_TERM(8, 40320);
    sum = DG_LANE_TERM(7, 5040) + high(s, sum);
    sum = DG_LANE_TERM(6, 720) + high(s, sum);
    sum = DG_LANE_TERM(5, 120) + high(s, sum);
    sum = DG_LANE_TERM(4, 24) + high(s, sum);
    sum = DG_LANE_TERM(3, 6) + high(s, sum);
    sum = DG_LANE_TERM(2, 2) + high(s, sum);
    sum = DG_LANE_TERM(1, 1) + high(s, sum);
    const uint64_t whole = least(x >> DG_LANE_BITS, 63);
    return (power + high(power << SPARE_BITS, high(s, sum))) >> whole;
}

/** delta = |y - f| - |f| at z in units of distance, rounded down. */
DG_LANE_INLINE uint64_t distance_at(uint64_t z, uint64_t left, const dg_lanes *lanes)
{
    const uint64_t offset = dg_select(left, (uint64_t)lanes->offset[1], (uint64_t)lanes->offset[0]);
    const uint64_t d = (z << lanes->units_up >> lanes->units_down) + offset;
    return least(d & ~dg_mask((uint64_t)((int64_t)d >> 63)), lanes->farthest);
}

/** The exponent at z, rounded down: one of those below, or of lane_power.h. */
typedef uint64_t dg_lane_exponent(uint64_t z, uint64_t left, const dg_lanes *lanes);

DG_LANE_INLINE uint64_t exponent_at(uint64_t z, uint64_t left, bool squared, const dg_lanes *lanes)
{
    const uint64_t d = distance_at(z, left, lanes);
    uint64_t upper = d, carried = 0;
    if (squared) {
        const dg_u128 product = (dg_u128)(d << SPARE_BITS) * (d + lanes->twice_f);
        upper = (uint64_t)(product >> 64);              /* floor(d (d + twice_f) / 2^52) */
        carried = high((uint64_t)product, lanes->rate); /* the rest times 2^12 */
    }
    const dg_u128 scaled = (dg_u128)upper * lanes->rate + carried;
    return (uint64_t)(scaled >> 64) << (64 - lanes->rate_shift) |
           (uint64_t)scaled >> lanes->rate_shift;
}

DG_LANE_INLINE uint64_t laplace_exponent_at(uint64_t z, uint64_t left, const dg_lanes *lanes)
{
    return exponent_at(z, left, false, lanes);
}

DG_LANE_INLINE uint64_t gaussian_exponent_at(uint64_t z, uint64_t left, const dg_lanes *lanes)
{
    return exponent_at(z, left, true, lanes);
}

/** What is found out about an attempt. */
typedef struct dg_lane_found {
    uint64_t draw;
    uint64_t accepted, undecided; /* all ones or 0; never both */
} dg_lane_found;

/** The attempt at `bytes`, 12 of them or 16. Cost: the same, whatever the bytes. */
DG_LANE_INLINE dg_lane_found attempt_by(const uint8_t *bytes, bool has_more,
                                        dg_lane_exponent *exponent_of, const dg_lanes *lanes)
{
    const uint64_t point = load_word(bytes), head = load_half(bytes + 8);
    const uint64_t more = has_more ? load_half(bytes + 12) : 0;
    const uint64_t product = (head & 0xFFFF) * lanes->n_cells, cell = product >> 16;
    const uint64_t counts = ~less(product & 0xFFFF, lanes->excess);
    const uint64_t is_tail = ~less(cell, lanes->n_core);
    const uint64_t left = dg_mask(0 - (point & 1));
    const uint64_t ones = (uint64_t)__builtin_clzll(~point | 1);
    const uint64_t is_beyond = is_tail & ~less(ones, DG_LANE_MOST_STEP);
    const uint64_t level = least(ones, DG_LANE_MOST_STEP - 1) & is_tail;
    const uint64_t step = level + (is_tail & 1);
    const uint64_t low = (head >> 16 | more << 16) & lanes->low_mask;
    const uint64_t z = (cell + level * lanes->n_tail) << lanes->block_bits | low;
    const uint64_t lifted = exponent_of(z, left, lanes) - (step << DG_LANE_BITS);
    const uint64_t exponent = lifted & ~dg_mask((uint64_t)((int64_t)lifted >> 63));
    const uint64_t height = height_of(exponent);
    /* f' 2^52 is in [first, last + 1): bits that were not read are zeros and ones */
    const uint64_t first = (point & ~UINT64_C(1)) << step >> (64 - DG_LANE_BITS);
    const uint64_t last = ~(~(point | 1) << step) >> (64 - DG_LANE_BITS);
    const uint64_t above = lanes->above + step * lanes->above_a_step;
    const uint64_t is_below = less(last + above, height) & ~is_beyond;
    const uint64_t is_above = ~less(first, height + lanes->below) & ~is_beyond;
    return (dg_lane_found){
        .draw = (z ^ left) + (uint64_t)lanes->c,
        .accepted = counts & is_below,
        .undecided = counts & ~(is_below | is_above),
    };
}

DG_LANE_INLINE dg_lane_found attempt_at(const uint8_t *bytes, bool has_more, bool squared,
                                        const dg_lanes *lanes)
{
    return attempt_by(bytes, has_more, squared ? gaussian_exponent_at : laplace_exponent_at, lanes);
}

#endif
#endif
