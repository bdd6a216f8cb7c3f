/* Sixteen attempts at once, by NEON, for AArch64, with products of words in halves of 32 bits.
 * lane_attempt.h explains the steps. */
#include "isochronous/lanes.h"

#include "base/contract.h"
#include "base/isa.h"

#if DG_HAVE_WORDS && DG_ISA_AARCH64
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4, GROUPS = 4, TOGETHER = LANES * GROUPS };

#define EACH_PAIR(i) _Pragma("GCC unroll 2") for (size_t i = 0; i < 2; i++)
#define EACH_GROUP(g) _Pragma("GCC unroll 4") for (size_t g = 0; g < GROUPS; g++)

/** A word of each of four attempts. */
typedef struct words {
    uint64x2_t v[2];
} words;

/** high 2^32 + low, of four attempts. */
typedef struct halves {
    uint32x4_t high, low;
} halves;

INLINE words same(uint64_t value)
{
    return (words){{vdupq_n_u64(value), vdupq_n_u64(value)}};
}

INLINE words up(words a, int n_bits)
{
    EACH_PAIR(i)
    {
        a.v[i] = vshlq_u64(a.v[i], vdupq_n_s64(n_bits)); /* down if negative */
    }
    return a;
}

INLINE words add(words a, words b)
{
    return (words){{vaddq_u64(a.v[0], b.v[0]), vaddq_u64(a.v[1], b.v[1])}};
}

INLINE words lesser(words a, words b)
{
    EACH_PAIR(i)
    {
        a.v[i] = vbslq_u64(vcgtq_u64(a.v[i], b.v[i]), b.v[i], a.v[i]);
    }
    return a;
}

INLINE words joined(halves a)
{
    return (words){{vreinterpretq_u64_u32(vzip1q_u32(a.low, a.high)),
                    vreinterpretq_u64_u32(vzip2q_u32(a.low, a.high))}};
}

INLINE uint32x4_t low_halves(words a)
{
    return vuzp1q_u32(vreinterpretq_u32_u64(a.v[0]), vreinterpretq_u32_u64(a.v[1]));
}

INLINE uint32x4_t high_halves(words a)
{
    return vuzp2q_u32(vreinterpretq_u32_u64(a.v[0]), vreinterpretq_u32_u64(a.v[1]));
}

INLINE halves halve(words a)
{
    return (halves){high_halves(a), low_halves(a)};
}

INLINE words wide(uint32x4_t a)
{
    return (words){{vmovl_u32(vget_low_u32(a)), vmovl_high_u32(a)}};
}

INLINE words times(uint32x4_t a, uint32x4_t b)
{
    return (words){{vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b)}};
}

/** Return sum + a b. */
INLINE words plus_times(words sum, uint32x4_t a, uint32x4_t b)
{
    return (words){
        {vmlal_u32(sum.v[0], vget_low_u32(a), vget_low_u32(b)), vmlal_high_u32(sum.v[1], a, b)}};
}

/** Return sum + floor(a / 2^32). */
INLINE words plus_high(words sum, words a)
{
    return (words){{vsraq_n_u64(sum.v[0], a.v[0], 32), vsraq_n_u64(sum.v[1], a.v[1], 32)}};
}

/** Return floor(a b / 2^32) without the product of the upper halves. Requires: it is below 2^64. */
INLINE words middle(halves a, halves b, words lowest)
{
    return plus_high(plus_times(times(a.high, b.low), a.low, b.high), lowest);
}

/** Return floor(a b / 2^64). Requires: as middle does. */
INLINE words high_of(halves a, halves b)
{
    return plus_high(times(a.high, b.high), middle(a, b, times(a.low, b.low)));
}

/** Return sum + floor(a b / 2^64). Requires: as middle does. */
INLINE words plus_high_of(words sum, halves a, halves b)
{
    return plus_high(plus_times(sum, a.high, b.high), middle(a, b, times(a.low, b.low)));
}

/* Factors are below 2^52. If both are shifted up by this, high_of gives floor(a b / 2^52), and meets its
 * contract. */
enum { FACTOR_UP = (64 - DG_LANE_BITS) / 2 };

/** 2^-x for x = 1/16 ... 16/16, times 2^58: a half of each. */
typedef struct powers {
    uint8x16x4_t high, low;
} powers;

INLINE powers load_powers(void)
{
    static const uint64_t table[16] = DG_LANE_POWERS;
    powers of;
    for (size_t i = 0; i < 4; i++) {
        const words four = {{vld1q_u64(table + 4 * i), vld1q_u64(table + 4 * i + 2)}};
        const halves part = halve(up(four, FACTOR_UP));
        of.high.val[i] = vreinterpretq_u8_u32(part.high);
        of.low.val[i] = vreinterpretq_u8_u32(part.low);
    }
    return of;
}

/** Return the power at each exponent's sixteenth, from registers. */
INLINE halves pick(words x, const powers *of)
{
    static const uint8_t byte_of[16] = {2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14};
    const uint8x16_t in_item = vreinterpretq_u8_u32(vdupq_n_u32(UINT32_C(0x03020100)));
    const uint8x16_t sixteenth =
        vqtbl1q_u8(vreinterpretq_u8_u32(high_halves(x)), vld1q_u8(byte_of)); /* and more above it */
    const uint8x16_t place = vandq_u8(vsliq_n_u8(in_item, sixteenth, 2), vdupq_n_u8(0x3F));
    return (halves){vreinterpretq_u32_u8(vqtbl4q_u8(of->high, place)),
                    vreinterpretq_u32_u8(vqtbl4q_u8(of->low, place))};
}

/** Set x[g] = 2^-x[g], rounded down, x[g] in units of exponents. The groups take each step together,
 *  because a step waits for the one before. */
INLINE void heights_of(words x[GROUPS], const powers *of)
{
    static const uint64_t
        terms[] = {DG_LANE_TERM(6, 720), DG_LANE_TERM(5, 120), DG_LANE_TERM(4, 24),
                   DG_LANE_TERM(3, 6),   DG_LANE_TERM(2, 2),   DG_LANE_TERM(1, 1),
                   DG_LANE_TERM(0, 1) /* 2^52: power + power more/2^52 is one product */};
    const uint64_t one_sixteenth = UINT64_C(1) << (DG_LANE_BITS - 4);
    const halves ln2 = halve(same(DG_LANE_LN2 << (2 * FACTOR_UP))); /* below 0.7 2^64 */
    const uint32x4_t first_term = vdupq_n_u32((uint32_t)DG_LANE_TERM(8, 40320));
    words sum[GROUPS];
    halves s[GROUPS];
    EACH_GROUP(g)
    {
        words left; /* twice the distance to the next sixteenth: at most 2^49 */
        EACH_PAIR(i)
        {
            left.v[i] = vsubq_u64(vdupq_n_u64(one_sixteenth),
                                  vandq_u64(x[g].v[i], vdupq_n_u64(one_sixteenth - 1)));
        }
        s[g] = halve(up(high_of(halve(add(left, left)), ln2), 2 * FACTOR_UP)); /* below 2^61 */
        sum[g] = plus_high(same(DG_LANE_TERM(7, 5040)),
                           plus_high(times(s[g].high, first_term), times(s[g].low, first_term)));
    }
    _Pragma("GCC unroll 7") for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
    {
        EACH_GROUP(g)
        {
            sum[g] = plus_high_of(same(terms[i]), s[g], halve(sum[g])); /* below 1.05 2^52 */
        }
    }
    EACH_GROUP(g)
    {
        const words height = high_of(halve(up(sum[g], FACTOR_UP)), pick(x[g], of));
        const uint32x4_t whole =
            vminq_u32(vshrq_n_u32(high_halves(x[g]), DG_LANE_BITS - 32), vdupq_n_u32(64));
        const words down = wide(vreinterpretq_u32_s32(vnegq_s32(vreinterpretq_s32_u32(whole))));
        EACH_PAIR(i)
        { /* by the lowest byte, which is negative: to the right */
            x[g].v[i] = vshlq_u64(height.v[i], vreinterpretq_s64_u64(down.v[i]));
        }
    }
}

/** Return the exponent at z, rounded down. */
INLINE words exponent_at(words z, words left, bool squared, const dg_lanes *lanes)
{
    words d = up(up(z, (int)lanes->units_up), -(int)lanes->units_down);
    EACH_PAIR(i)
    {
        const uint64x2_t offset = vbslq_u64(left.v[i], vdupq_n_u64((uint64_t)lanes->offset[1]),
                                            vdupq_n_u64((uint64_t)lanes->offset[0]));
        d.v[i] = vsqaddq_u64(d.v[i], vreinterpretq_s64_u64(offset)); /* 0 if the sum is negative */
    }
    d = up(lesser(d, same(lanes->farthest)), FACTOR_UP);
    const halves rate = halve(same(lanes->rate << FACTOR_UP));
    words upper = d, carried = same(0);
    if (squared) {
        const halves a = halve(d), b = halve(add(d, same(lanes->twice_f << FACTOR_UP)));
        const words lowest = times(a.low, b.low), sum = middle(a, b, lowest);
        upper = up(plus_high(times(a.high, b.high), sum), FACTOR_UP);
        /* the low bits times 2^12, below 2^64: one of their products with the rate carries alone */
        const halves low_bits = {low_halves(sum), low_halves(lowest)};
        const halves unshifted = halve(same(lanes->rate));
        const words more =
            plus_high(times(low_bits.high, unshifted.low), times(low_bits.low, unshifted.low));
        words low = more;
        EACH_PAIR(i)
        {
            low.v[i] = vandq_u64(low.v[i], vdupq_n_u64(UINT32_MAX));
        }
        carried = plus_high(plus_high(times(low_bits.high, unshifted.high), more),
                            plus_times(low, low_bits.low, unshifted.high));
    }
    const halves factor = halve(upper);
    const words lowest = times(factor.low, rate.low), sum = middle(factor, rate, lowest);
    const words scaled = plus_high(times(factor.high, rate.high), sum);
    EACH_PAIR(i)
    {
        const uint64x2_t low_bits = vsliq_n_u64(lowest.v[i], sum.v[i], 32); /* times 2^12 */
        carried.v[i] = vsraq_n_u64(carried.v[i], low_bits, 2 * FACTOR_UP);
    }
    return add(up(scaled, DG_LANE_BITS - (int)lanes->rate_shift),
               up(carried, -(int)lanes->rate_shift));
}

/** Four attempts before their heights are known. */
typedef struct tried {
    words draws, exponent;
    words first;   /* as in lane_attempt.h */
    words room;    /* 2^52 - 1 - last, times 2^12 */
    words no_less; /* a height is above last_above if height + room is above this */
    uint32x4_t fails, is_beyond;
} tried;

/** The words of four attempts, with the halves of `point` apart. */
typedef struct loaded {
    uint32x4_t low, high, head, more;
} loaded;

INLINE loaded load(const uint8_t *bytes, bool is_long)
{
    const uint32_t *at =
        (const uint32_t *)(const void *)bytes; /* the instruction allows any alignment */
    if (is_long) {
        const uint32x4x4_t of = vld4q_u32(at);
        return (loaded){of.val[0], of.val[1], of.val[2], of.val[3]};
    }
    const uint32x4x3_t of = vld3q_u32(at);
    return (loaded){of.val[0], of.val[1], of.val[2], vdupq_n_u32(0)};
}

INLINE tried try(loaded of, bool is_long, bool squared, const dg_lanes *lanes)
{
    const words point = joined((halves){of.high, of.low});
    const uint32x4_t product =
        vmulq_u32(vandq_u32(of.head, vdupq_n_u32(0xFFFF)), vdupq_n_u32((uint32_t)lanes->n_cells));
    const uint32x4_t cell = vshrq_n_u32(product, 16);
    const uint32x4_t is_tail = vcgeq_u32(cell, vdupq_n_u32((uint32_t)lanes->n_core));
    const uint32x4_t zeros = vmvnq_u32(of.high);
    const uint32x4_t more_zeros =
        vandq_u32(vceqzq_u32(zeros), vclzq_u32(vbicq_u32(vdupq_n_u32(UINT32_MAX - 1), of.low)));
    const uint32x4_t n_ones = vaddq_u32(vclzq_u32(zeros), more_zeros);
    const uint32x4_t level =
        vandq_u32(is_tail, vminq_u32(n_ones, vdupq_n_u32(DG_LANE_MOST_STEP - 1)));
    const uint32x4_t step = vsubq_u32(level, is_tail); /* is_tail is -1 or 0 */
    const uint32x4_t block = vmlaq_u32(cell, level, vdupq_n_u32((uint32_t)lanes->n_tail));
    words z;
    if (is_long) {
        const words shifted = up(wide(block), (int)lanes->block_bits);
        const words low_bits = joined((halves){of.more, of.head});
        EACH_PAIR(i)
        {
            const uint64x2_t low =
                vandq_u64(vshrq_n_u64(low_bits.v[i], 16), vdupq_n_u64(lanes->low_mask));
            z.v[i] = vorrq_u64(shifted.v[i], low);
        }
    } else { /* at most 16 bits of a block, and 15 of its number */
        const uint32x4_t low =
            vandq_u32(vshrq_n_u32(of.head, 16), vdupq_n_u32((uint32_t)lanes->low_mask));
        z = wide(vorrq_u32(vshlq_u32(block, vdupq_n_s32((int)lanes->block_bits)), low));
    }
    tried found;
    words left;
    EACH_PAIR(i)
    {
        left.v[i] = vtstq_u64(point.v[i], vdupq_n_u64(1));
        found.draws.v[i] = vaddq_u64(veorq_u64(z.v[i], left.v[i]), vdupq_n_u64((uint64_t)lanes->c));
    }
    const words exponent = exponent_at(z, left, squared, lanes), steps = wide(step);
    EACH_PAIR(i)
    {
        const int64x2_t by = vreinterpretq_s64_u64(steps.v[i]);
        const uint64x2_t even = vdupq_n_u64(UINT64_MAX - 1);
        found.exponent.v[i] =
            vqsubq_u64(exponent.v[i], vshlq_n_u64(steps.v[i], DG_LANE_BITS)); /* at least 0 */
        found.first.v[i] =
            vshrq_n_u64(vshlq_u64(vandq_u64(point.v[i], even), by), 64 - DG_LANE_BITS);
        found.room.v[i] = vshlq_u64(vbicq_u64(even, point.v[i]), by);
    }
    found.no_less = plus_times(same(lanes->above + (UINT64_C(1) << DG_LANE_BITS) - 1), step,
                               vdupq_n_u32((uint32_t)lanes->above_a_step));
    found.fails = vcgtq_u32(vdupq_n_u32((uint32_t)lanes->excess << 16), vshlq_n_u32(product, 16));
    found.is_beyond = vandq_u32(is_tail, vcgtq_u32(n_ones, vdupq_n_u32(DG_LANE_MOST_STEP - 1)));
    return found;
}

/** Ones in the lanes of attempts that are accepted, and of those that are undecided. */
typedef struct outcome {
    uint32x4_t accepted, undecided;
} outcome;

INLINE outcome outcome_of(const tried *of, words height, const dg_lanes *lanes)
{
    words below, open; /* open: f' is not above the height */
    EACH_PAIR(i)
    {
        const uint64x2_t sum = vsraq_n_u64(height.v[i], of->room.v[i], 64 - DG_LANE_BITS);
        below.v[i] = vcgtq_u64(sum, of->no_less.v[i]);
        open.v[i] = vcgtq_u64(vaddq_u64(height.v[i], vdupq_n_u64(lanes->below)), of->first.v[i]);
    }
    const uint32x4_t is_below = low_halves(below);
    const uint32x4_t unknown = vorrq_u32(of->is_beyond, vbicq_u32(low_halves(open), is_below));
    return (outcome){vbicq_u32(is_below, vorrq_u32(of->fails, of->is_beyond)),
                     vbicq_u32(unknown, of->fails)};
}

/** Return a byte of ones or zeros for each of eight attempts. */
INLINE uint64_t bytes_of(uint32x4_t first, uint32x4_t second)
{
    const uint16x8_t all = vuzp1q_u16(vreinterpretq_u16_u32(first), vreinterpretq_u16_u32(second));
    return vget_lane_u64(vreinterpret_u64_u8(vmovn_u16(all)), 0);
}

/** Append the draws of attempts with ones in their byte of `accepted`, of four. It writes one more. */
INLINE size_t append(int64_t *out, words draws, uint64_t accepted)
{
    size_t n = 0;
    EACH_PAIR(i)
    {
        const int64x2_t pair = vreinterpretq_s64_u64(draws.v[i]);
        vst1q_lane_s64(out + n, pair, 0);
        n += accepted >> (16 * i) & 1;
        vst1q_lane_s64(out + n, pair, 1);
        n += accepted >> (16 * i + 8) & 1;
    }
    return n;
}

/** Make attempts while sixteen are left and none is undecided. */
INLINE void make_attempts(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                          size_t n_attempts, bool is_long, bool squared, const dg_lanes *lanes)
{
    const size_t attempt_bytes = is_long ? 16 : 12;
    const powers table = load_powers();
    size_t accepted = 0, made = 0;
    bool goes_on = true;
    while (n_attempts - made >= TOGETHER && goes_on) {
        tried of[GROUPS];
        words heights[GROUPS];
        EACH_GROUP(g)
        {
            const uint8_t *from = bytes + (made + g * LANES) * attempt_bytes;
            of[g] = try(load(from, is_long), is_long, squared, lanes);
            heights[g] = of[g].exponent;
        }
        heights_of(heights, &table);
        outcome found[GROUPS];
        EACH_GROUP(g)
        {
            found[g] = outcome_of(&of[g], heights[g], lanes);
        }
        uint64_t accept[2] = {bytes_of(found[0].accepted, found[1].accepted),
                              bytes_of(found[2].accepted, found[3].accepted)};
        uint64_t undecided[2] = {bytes_of(found[0].undecided, found[1].undecided),
                                 bytes_of(found[2].undecided, found[3].undecided)};
        DG_PUBLIC(undecided);
        DG_PUBLIC(accept);
        made += TOGETHER;
        if (__builtin_expect((undecided[0] | undecided[1]) != 0, 0)) {
            const size_t at = undecided[0] == 0; /* the half with the first undecided one */
            made -= TOGETHER / (1 + at) - (size_t)__builtin_ctzll(undecided[at]) / 8;
            accept[at] &= (undecided[at] & (0 - undecided[at])) - 1; /* those before it */
            accept[1] &= 0 - (uint64_t)at;
            goes_on = false;
        }
        EACH_GROUP(g)
        {
            accepted += append(out + accepted, of[g].draws, accept[g / 2] >> (32 * (g % 2)));
        }
    }
    *n_accepted = accepted;
    *n_made = made;
}

void dg_lane_kernel_neon(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                         size_t n_attempts, const dg_lanes *lanes)
{
    const dg_lanes of = *lanes; /* a copy, which no write to `out` can change */
    /* a loop for each case, so that no loop branches by it */
    if (lanes->attempt_bytes > 12) {
        if (lanes->squared) {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, true, &of);
        } else {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, false, &of);
        }
    } else if (lanes->squared) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, true, &of);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, false, &of);
    }
    /* the portable kernel makes the last few, and stops at an undecided one, too */
    size_t more_accepted, more_made;
    dg_lane_kernel_portable(out + *n_accepted, &more_accepted, &more_made,
                            bytes + *n_made * lanes->attempt_bytes, n_attempts - *n_made, lanes);
    *n_accepted += more_accepted;
    *n_made += more_made;
}

#endif
