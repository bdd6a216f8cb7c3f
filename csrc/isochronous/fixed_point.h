/* Fixed-point arithmetic without branches: bounds of 2^-x and of log2, masks for choices.
 *
 * No function here branches, looks up a table or divides by what it is given, so its time does not
 * depend on it, as far as the processor's multiplication, shift and count of leading zeros do not.
 * Errors are derived in PROOF.md, lemmas 9 and 10, and proven by exp2.gappa and log2*.gappa. "Exponents" are in units of 2^-DG_EXPONENT_BITS and go
 * to 128; "heights" are in units of 2^-DG_ISOCHRONOUS_BITS.
 */
#ifndef DG_ISOCHRONOUS_FIXED_POINT_H
#define DG_ISOCHRONOUS_FIXED_POINT_H

#include "base/int128.h"

#if DG_HAVE_WORDS

enum {
    DG_EXPONENT_BITS = 57,    /* binary places of exponents: 7 bits are left for the whole part */
    DG_ISOCHRONOUS_BITS = 63, /* binary places of heights */
    DG_LOG_BITS = 58,         /* binary places of logarithms */
    DG_EXP_ERROR = 4,         /* of dg_exp2_mantissa, in units of heights */
    DG_LOG_ERROR = 2          /* of dg_log2, in units of logarithms */
};

/** The mask, of which the compiler shall not know that it is all ones or 0: it would make branches
 *  of choices by it (clang 14 does; test_isochronous_time.c). */
static inline uint64_t dg_mask(uint64_t mask)
{
    __asm__("" : "+r"(mask));
    return mask;
}

/** All ones if a < b, else 0. */
static inline uint64_t dg_mask_less(uint64_t a, uint64_t b)
{
    return dg_mask(0 - ((a ^ ((a ^ b) | ((a - b) ^ b))) >> 63));
}

/** All ones if a != 0, else 0. */
static inline uint64_t dg_mask_nonzero(uint64_t a)
{
    return dg_mask(0 - ((a | (0 - a)) >> 63));
}

/** a where mask is all ones, b where it is 0. */
static inline uint64_t dg_select(uint64_t mask, uint64_t a, uint64_t b)
{
    return b ^ (mask & (a ^ b));
}

static inline uint64_t dg_least(uint64_t a, uint64_t b)
{
    return dg_select(dg_mask_less(a, b), a, b);
}

/** a - b, or 0 if that is less. */
static inline uint64_t dg_difference(uint64_t a, uint64_t b)
{
    return (a - b) & ~dg_mask_less(a, b);
}

/** floor(a b / 2^64). */
static inline uint64_t dg_high_product(uint64_t a, uint64_t b)
{
    return (uint64_t)(((dg_u128)a * b) >> 64);
}

/** The value, or 2^64 - 1 if that is less. */
static inline uint64_t dg_saturated(dg_u128 value)
{
    return (uint64_t)value | dg_mask_nonzero((uint64_t)(value >> 64));
}

/** The value, held within [-2^63, 2^63). */
static inline int64_t dg_saturated_signed(dg_i128 value)
{
    const int64_t high = (int64_t)(value >> 63), sign = (int64_t)(value >> 127);
    const uint64_t outside = dg_mask_nonzero((uint64_t)(high ^ sign));
    return (int64_t)dg_select(outside, (uint64_t)(sign ^ INT64_MAX), (uint64_t)value);
}

/* floor(2^63 / n) */
#define DG_UNIT_OVER(n) ((UINT64_C(1) << 63) / UINT64_C(n))

/** 2^-x, 0 <= x < 1 in units of exponents.
 *
 *  Ensures: the result is in (2^62 - 2^4, 2^63], within DG_EXP_ERROR of 2^63 2^-x.
 */
static inline uint64_t dg_exp2_mantissa(uint64_t x)
{
    /* exp(-t) = sum (-t)^k / k!, t = x ln 2, by Horner's rule */
    static const uint64_t over_factorial[] = {
        DG_UNIT_OVER(1),
        DG_UNIT_OVER(1),
        DG_UNIT_OVER(2),
        DG_UNIT_OVER(6),
        DG_UNIT_OVER(24),
        DG_UNIT_OVER(120),
        DG_UNIT_OVER(720),
        DG_UNIT_OVER(5040),
        DG_UNIT_OVER(40320),
        DG_UNIT_OVER(362880),
        DG_UNIT_OVER(3628800),
        DG_UNIT_OVER(39916800),
        DG_UNIT_OVER(479001600),
        DG_UNIT_OVER(6227020800),
        DG_UNIT_OVER(87178291200),
        DG_UNIT_OVER(1307674368000),
        DG_UNIT_OVER(20922789888000),
        DG_UNIT_OVER(355687428096000),
        DG_UNIT_OVER(6402373705728000),
    };
    const uint64_t ln2 = UINT64_C(0xB17217F7D1CF79AB); /* floor(2^64 ln 2) */
    const uint64_t t = dg_high_product(x << (64 - DG_EXPONENT_BITS), ln2);
    uint64_t sum = 0;
    for (int k = 18; k >= 0; k--) {
        sum = over_factorial[k] - dg_high_product(t, sum);
    }
    return sum;
}

/** A height <= 2^-x in units of heights; 0 <= x < 128 in units of exponents. */
static inline uint64_t dg_exp2_lower(uint64_t x)
{
    const uint64_t whole = dg_least(x >> DG_EXPONENT_BITS, 63);
    const uint64_t part = x & ((UINT64_C(1) << DG_EXPONENT_BITS) - 1);
    return (dg_exp2_mantissa(part) - DG_EXP_ERROR) >> whole;
}

/** A height >= 2^-x in units of heights, at most 2^63; 0 <= x < 128 in units of exponents. */
static inline uint64_t dg_exp2_upper(uint64_t x)
{
    const uint64_t whole = dg_least(x >> DG_EXPONENT_BITS, 63);
    const uint64_t part = x & ((UINT64_C(1) << DG_EXPONENT_BITS) - 1);
    const uint64_t upper = ((dg_exp2_mantissa(part) + DG_EXP_ERROR) >> whole) + 1;
    return dg_least(upper, UINT64_C(1) << DG_ISOCHRONOUS_BITS);
}

/** log2(d), d >= 1, in units of logarithms, within DG_LOG_ERROR of the truth. */
static inline dg_i128 dg_log2(uint64_t d)
{
    const uint64_t root = UINT64_C(0xB504F333F9DE6484);  /* floor(2^63 sqrt 2) */
    const uint64_t log2e = UINT64_C(0xB8AA3B295C17F0BB); /* floor(2^63 log2(e)) */
    static const uint64_t over_odd[] = {
        DG_UNIT_OVER(1),  DG_UNIT_OVER(3),  DG_UNIT_OVER(5),  DG_UNIT_OVER(7),
        DG_UNIT_OVER(9),  DG_UNIT_OVER(11), DG_UNIT_OVER(13), DG_UNIT_OVER(15),
        DG_UNIT_OVER(17), DG_UNIT_OVER(19), DG_UNIT_OVER(21), DG_UNIT_OVER(23),
    };
    const unsigned zeros = (unsigned)__builtin_clzll(d);
    const uint64_t m = d << zeros;
    /* inverse = 1/q, q = (m + root)/2, in units of 2^-64 and 2^-63: a line within 1/58 of it,
     * modulo 1, then Newton's iteration */
    const uint64_t q = (m >> 1) + (root >> 1);
    uint64_t inverse =
        UINT64_C(0x6760000000000000) - dg_high_product(UINT64_C(0xF800000000000000), q);
    for (int i = 0; i < 4; i++) {
        const uint64_t two_less = 0 - dg_high_product(q, inverse);
        inverse = (uint64_t)(((dg_u128)inverse * two_less) >> 63);
    }
    /* log2(m / root) = 2 log2(e) atanh(s), s = (m - root)/(m + root), |s| < 0.1716 */
    const int64_t s = (int64_t)(((dg_i128)(int64_t)(m - root) * (dg_i128)inverse) >> 64);
    const uint64_t square = (uint64_t)(((dg_i128)s * s) >> 64);
    uint64_t sum = 0;
    for (int k = 11; k >= 0; k--) {
        sum = over_odd[k] + dg_high_product(square, sum);
    }
    const dg_i128 atanh = ((dg_i128)s * (dg_i128)sum) >> 63;
    const dg_i128 part = (atanh * (dg_i128)log2e) >> (64 + 62 - DG_LOG_BITS);
    return ((dg_i128)(63 - zeros) << DG_LOG_BITS) + ((dg_i128)1 << (DG_LOG_BITS - 1)) + part;
}

#endif
#endif
