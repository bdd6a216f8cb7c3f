/* Attempts in lanes, in portable C: all of one law (lanes_portable.c), or each of its own law (lane_laws.c).
 * PROOF.md, lemmas 13 to 16. */
#ifndef DG_ISOCHRONOUS_LANE_ATTEMPT_H
#define DG_ISOCHRONOUS_LANE_ATTEMPT_H

#include "base/contract.h"
#include "isochronous/lanes.h"

#include <string.h>

#if DG_HAVE_WORDS

#define DG_LANE_INLINE static inline __attribute__((always_inline))

enum { DG_LANE_TOGETHER = 4 }; /* attempts that take each step together */

/* A loop that compilers unroll. */
#if defined(__clang__)
#define DG_LANE_UNROLL _Pragma("unroll")
#else
#define DG_LANE_UNROLL _Pragma("GCC unroll 8")
#endif
#define DG_LANE_EACH(i, n) DG_LANE_UNROLL for (size_t i = 0; i < (n); i++)

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

/** Return the mask, and hide from the compiler that it is all ones or 0. A compiler that knows may turn
 *  choices by it into branches, as clang 14 does (test_silence.c). */
static inline uint64_t dg_mask(uint64_t mask)
{
    __asm__("" : "+r"(mask));
    return mask;
}

/** Return a if mask is all ones, b if it is 0. */
DG_LANE_INLINE uint64_t chosen(uint64_t mask, uint64_t a, uint64_t b)
{
    return b ^ (mask & (a ^ b));
}

/** Return all ones if a < b, else 0. */
DG_LANE_INLINE uint64_t less(uint64_t a, uint64_t b)
{
    return dg_mask(0 - (uint64_t)(a < b));
}

/** Return all ones if the highest bit is set, else 0. */
DG_LANE_INLINE uint64_t filled(uint64_t a)
{
    return (uint64_t)((int64_t)dg_mask(a) >> 63);
}

/** Return the lesser of a and b. */
DG_LANE_INLINE uint64_t least(uint64_t a, uint64_t b)
{
    return b + ((a - b) & less(a, b));
}

enum { SPARE_BITS = 64 - DG_LANE_BITS };

/** Return floor(a b / 2^52) for a_shifted = 2^12 a. Requires: a < 2^52; b may be any word. */
DG_LANE_INLINE uint64_t high(uint64_t a_shifted, uint64_t b)
{
    return (uint64_t)(((dg_u128)a_shifted * b) >> 64);
}

/** Return the value. Compilers keep calls in order. Otherwise they place one attempt's chain of steps after
 *  another's, too far apart for a processor to overlap them. */
DG_LANE_INLINE uint64_t in_turn(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

/** Return item i mod 4 of a table, reading all its items. */
DG_LANE_INLINE uint64_t pick(const uint64_t table[4], uint64_t i)
{
    const uint64_t odd = dg_mask(0 - (i & 1)), upper = dg_mask(0 - (i >> 1 & 1));
    const uint64_t third = table[0] ^ table[1] ^ table[2] ^ table[3];
    return table[0] ^ (odd & (table[0] ^ table[1])) ^
           (upper & (table[0] ^ table[2] ^ (odd & third)));
}

/* A step of Horner's rule for each attempt. It is unrolled by hand because clang 14 would keep a loop. */
#define DG_LANE_ADD(k, factorial)                                                                  \
    sum[0] = in_turn(DG_LANE_TERM(k, factorial) + high(s[0], sum[0]));                             \
    if (n > 1) {                                                                                   \
        sum[1] = in_turn(DG_LANE_TERM(k, factorial) + high(s[1], sum[1]));                         \
        sum[2] = in_turn(DG_LANE_TERM(k, factorial) + high(s[2], sum[2]));                         \
        sum[3] = in_turn(DG_LANE_TERM(k, factorial) + high(s[3], sum[3]));                         \
    }

/** Set x[i] = 2^-x[i], rounded down, for i < n. Requires: n is 1 or DG_LANE_TOGETHER, x[i] < 2^62. */
DG_LANE_INLINE void heights_of(uint64_t *x, size_t n)
{
    static const uint64_t quarters[4] = DG_LANE_QUARTERS, sixteenths[4] = DG_LANE_SIXTEENTHS;
    const uint64_t one_sixteenth = UINT64_C(1) << (DG_LANE_BITS - 4);
    uint64_t power[DG_LANE_TOGETHER], s[DG_LANE_TOGETHER], sum[DG_LANE_TOGETHER];
    DG_LANE_EACH(i, n)
    {
        const uint64_t place = x[i] >> (DG_LANE_BITS - 4);
        power[i] = high(pick(sixteenths, place) << SPARE_BITS, pick(quarters, place >> 2));
        const uint64_t left = one_sixteenth - (x[i] & (one_sixteenth - 1));
        s[i] = in_turn(high(left << (1 + SPARE_BITS), DG_LANE_LN2) << SPARE_BITS);
        sum[i] = DG_LANE_TERM(8, 40320);
    }
    DG_LANE_ADD(7, 5040)
    DG_LANE_ADD(6, 720)
    DG_LANE_ADD(5, 120)
    DG_LANE_ADD(4, 24)
    DG_LANE_ADD(3, 6)
    DG_LANE_ADD(2, 2)
    DG_LANE_ADD(1, 1)
    DG_LANE_EACH(i, n)
    {
        const uint64_t whole = x[i] >> DG_LANE_BITS;
        const uint64_t is_low = less(63, whole); /* the height is 0 */
        const uint64_t height = power[i] + high(power[i] << SPARE_BITS, high(s[i], sum[i]));
        x[i] = (height & ~is_low) >> (whole & 63);
    }
}

/** Return 2^-x, rounded down. Requires: x < 2^62. */
DG_LANE_INLINE uint64_t height_of(uint64_t x)
{
    heights_of(&x, 1);
    return x;
}

/** Return delta = |y - f| - |f| at z in units of distance, rounded down. */
DG_LANE_INLINE uint64_t distance_at(uint64_t z, uint64_t left, const dg_lanes *lanes)
{
    const uint64_t offset = chosen(left, (uint64_t)lanes->offset[1], (uint64_t)lanes->offset[0]);
    const uint64_t d = (z << lanes->units_up >> lanes->units_down) + offset;
    return least(d & ~dg_mask((uint64_t)((int64_t)d >> 63)), lanes->farthest);
}

/** A function for the exponent at z, rounded down: one of those below, or of lane_power.h. */
typedef uint64_t dg_lane_exponent(uint64_t z, uint64_t left, const dg_lanes *lanes);

DG_LANE_INLINE uint64_t exponent_at(uint64_t z, uint64_t left, bool squared, const dg_lanes *lanes)
{
    const uint64_t d = distance_at(z, left, lanes);
    uint64_t upper = d, carried = 0;
    if (squared) {
        const dg_u128 product = (dg_u128)(d << SPARE_BITS) * (d + lanes->twice_f);
        upper = (uint64_t)(product >> 64);              /* floor(d (d + twice_f) / 2^52) */
        carried = high((uint64_t)product, lanes->rate); /* from the low bits, times 2^12 */
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

/** An attempt before its height is known. Only the highest bit of a mask counts. */
typedef struct dg_lane_tried {
    uint64_t draw, exponent;
    uint64_t first, last_above; /* f' 2^52 is in [first, last + 1); last + the error of heights */
    uint64_t fails, is_near;    /* masks */
} dg_lane_tried;

/** The outcome of an attempt. */
typedef struct dg_lane_found {
    uint64_t draw;
    uint64_t accepted, undecided; /* all ones or 0; never both */
} dg_lane_found;

/** Begin the attempt at `bytes`. From level DG_LANE_MOST_STEP on, only fails and is_near matter. */
DG_LANE_INLINE dg_lane_tried try_at(const uint8_t *bytes, bool has_more,
                                    dg_lane_exponent *exponent_of, const dg_lanes *lanes)
{
    const uint64_t point = load_word(bytes), head = load_half(bytes + 8);
    const uint64_t more = has_more ? load_half(bytes + 12) : 0;
    const uint64_t product = (head & 0xFFFF) * lanes->n_cells, cell = product >> 16;
    const uint64_t is_tail = less(lanes->n_core - 1, cell);
    const uint64_t left = dg_mask(0 - (point & 1));
    const uint64_t level = (uint64_t)__builtin_clzll(~point | 2) & is_tail;
    const uint64_t step = level - is_tail;
    const uint64_t low = (head >> 16 | more << 16) & lanes->low_mask;
    const uint64_t z = (cell + level * lanes->n_tail) << lanes->block_bits | low;
    const uint64_t lifted = exponent_of(z, left, lanes) - (step << DG_LANE_BITS);
    /* unread bits may be zeros or ones, which adds up to -unread - 1 units of heights */
    const uint64_t first = (point & ~UINT64_C(1)) << step >> (64 - DG_LANE_BITS);
    const uint64_t unread = (uint64_t)((int64_t)(~UINT64_C(1) << step) >> (64 - DG_LANE_BITS));
    return (dg_lane_tried){
        .draw = (z ^ left) + (uint64_t)lanes->c,
        .exponent = lifted & ~dg_mask((uint64_t)((int64_t)lifted >> 63)),
        .first = first,
        .last_above = first - unread + (lanes->above - 1) + step * lanes->above_a_step,
        .fails = (product & 0xFFFF) - lanes->excess,
        .is_near = level - DG_LANE_MOST_STEP,
    };
}

/** Decide an attempt by its height. */
DG_LANE_INLINE dg_lane_found found_by(const dg_lane_tried *of, uint64_t height,
                                      const dg_lanes *lanes)
{
    const uint64_t is_below = of->last_above - height;
    const uint64_t is_above = height + (lanes->below - 1) - of->first;
    return (dg_lane_found){
        .draw = of->draw,
        .accepted = filled(is_below & of->is_near & ~of->fails),
        .undecided = filled(~(((is_below | is_above) & of->is_near) | of->fails)),
    };
}

/** Make the attempt at `bytes`, which are 12 or 16. Cost: the same for all bytes. */
DG_LANE_INLINE dg_lane_found attempt_by(const uint8_t *bytes, bool has_more,
                                        dg_lane_exponent *exponent_of, const dg_lanes *lanes)
{
    const dg_lane_tried tried = try_at(bytes, has_more, exponent_of, lanes);
    return found_by(&tried, height_of(tried.exponent), lanes);
}

DG_LANE_INLINE dg_lane_found attempt_at(const uint8_t *bytes, bool has_more, bool squared,
                                        const dg_lanes *lanes)
{
    return attempt_by(bytes, has_more, squared ? gaussian_exponent_at : laplace_exponent_at, lanes);
}

#endif
#endif
