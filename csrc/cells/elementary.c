#include "cells/elementary.h"

#include "base/check.h"

#if DG_HAVE_WORDS

/* Binary places of a log, whose size is below 2^20. */
enum { LOG_BITS = 107 };

/** 1, with DG_WORD_BITS binary places. */
#define ONE ((dg_u128)1 << DG_WORD_BITS)

/** floor(2^128 log 2). */
#define LN2 ((dg_u128)UINT64_C(0xB17217F7D1CF79AB) << 64 | UINT64_C(0xC9E3B39803F2F6AF))

/** floor(a b / 2^128). */
static dg_u128 mul_high(dg_u128 a, dg_u128 b)
{
    const uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
    const uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    const dg_u128 low = (dg_u128)a0 * b0;
    const dg_u128 middle = (dg_u128)a1 * b0 + (low >> 64); /* at most 2^64 (2^64 - 1): fits */
    const dg_u128 other = (dg_u128)a0 * b1 + (uint64_t)middle;
    return (dg_u128)a1 * b1 + (middle >> 64) + (other >> 64);
}

/** exp(-r 2^-128) 2^127: the Taylor series at t = r/256, then the power 256 by squaring.
 *
 *  Error, in units of 2^-127. The series: t < 2^-8, so the terms from t^13/13! on are below 2^-136;
 *  a coefficient is rounded down by less than 1 (the first two not at all), a product too, and the
 *  next step multiplies both by t: together less than 1.02. Squaring, v <= 1: the error e becomes at
 *  most 2 e, plus 2 for the rounding: after eight, 256 * 1.02 + 2 * 255 = 772. That t is rounded
 *  down, by less than 2^-128, changes the result by less than 256 * 2^-128, 128 units. Less than 900
 *  in all; none at r = 0. */
static dg_u128 exp_fraction(dg_u128 r)
{
    static const dg_u128 inverse_factorial[] = {
        ONE,
        ONE,
        ONE / 2,
        ONE / 6,
        ONE / 24,
        ONE / 120,
        ONE / 720,
        ONE / 5040,
        ONE / 40320,
        ONE / 362880,
        ONE / 3628800,
        ONE / 39916800,
        ONE / 479001600,
    };
    const dg_u128 t = r >> 8;
    dg_u128 v = inverse_factorial[12];
    for (int n = 11; n >= 0; n--) {
        v = inverse_factorial[n] - mul_high(v, t);
    }
    for (int i = 0; i < 8; i++) {
        v = mul_high(v, v) << 1;
    }
    return v;
}

/* exp(-x) = exp(-r) 2^-k, r = x - k log 2. k is x rounded down over log 2 rounded up, in units of
 * 2^-56, so that k <= x/log 2 <= 185 and r >= 0; and k > (x - 2^-56)/(log 2 + 2^-56) - 1, so r < 1.
 * r is computed modulo 1. LN2 is rounded down, so r is too large by less than k 2^-128: 93 units at
 * most. With the last shift that makes less than 900 + 93 + 1 units. */
dg_u128 dg_exp_negative(dg_u128 x)
{
    if (x >> DG_EXPONENT_BITS >= 128) {
        return 0; /* exp(-128) < 2^-184 */
    }
    const uint64_t k = (uint64_t)(x >> 64) / ((uint64_t)(LN2 >> 72) + 1);
    const dg_u128 r = (x << (128 - DG_EXPONENT_BITS)) - k * LN2;
    return k < 128 ? exp_fraction(r) >> k : 0;
}

/** a b 2^-126, rounded towards 0. Requires: |a|, |b| <= 2^126. */
static dg_i128 product(dg_i128 a, dg_i128 b)
{
    const dg_u128 size = mul_high((dg_u128)(a < 0 ? -a : a) << 1, (dg_u128)(b < 0 ? -b : b) << 1);
    return (a < 0) != (b < 0) ? -(dg_i128)size : (dg_i128)size;
}

/** log(mantissa 2^-127) 2^127, to within 2^11 units. Requires: mantissa >= 2^127.
 *
 *  Whatever y is, log x = y + log(x exp(-y)) = y + log(1 + d), d = x exp(-y) - 1.
 *
 *  The first y is f log 2 + 0.03, f = x - 1: log(1 + f) - f log 2 is between 0 and 0.0597, so y is
 *  within 0.0301 of log x, and |d| < 0.031. The series of log(1 + d) up to d^4 leaves less than
 *  |d|^5/(5 (1 - |d|)): 2^-27 after the first step, and 2^-137 after the second. The error of the
 *  second is that of exp_fraction, less than 900 units, times x < 2, and of the product, 1 unit of
 *  2^-126, times 1/(1 + d); the series' own roundings are less than 10 units: less than 2^11 in all.
 *  y < log 2 + 0.04 < 1, so 2 y is below 2^128. */
static dg_u128 log_mantissa(dg_u128 mantissa)
{
    const dg_i128 one = (dg_i128)1 << (DG_WORD_BITS - 1);
    dg_i128 y = (dg_i128)(mul_high(mantissa - ONE, LN2) + ONE / 100 * 3);
    for (int step = 0; step < 2; step++) {
        const dg_i128 d = (dg_i128)mul_high(mantissa, exp_fraction((dg_u128)y << 1)) - one;
        dg_i128 series = one / 3 - product(d, one / 4);
        series = one / 2 - product(d, series);
        series = one - product(d, series);
        y += 2 * product(d, series);
        y = y < 0 ? 0 : y; /* log x >= 0: not farther from it */
    }
    return (dg_u128)y;
}

/* The mantissa's log: 2^11 units of 2^-127, 16 of 2^-120, and 1 for the shift. k log 2, k < 32: k
 * units of 2^-123, less than 4 of 2^-120, and 1 for the shift. */
dg_u128 dg_log_integer(uint32_t n)
{
    DG_REQUIRES(n >= 1);
    unsigned k = 31;
    while (n >> k == 0) {
        k--;
    }
    const dg_u128 of_power = (k * (LN2 >> 5)) >> (123 - DG_EXPONENT_BITS);
    return of_power +
           (log_mantissa((dg_u128)n << (DG_WORD_BITS - k)) >> (DG_WORD_BITS - DG_EXPONENT_BITS));
}

/** A bound of exp(z 2^-107), off by a factor of less than 1 +- 2^-101. Requires: |z| < 2^127.
 *
 *  exp(z) = exp(-x) 2^k, x = k log 2 - z. k is between z/log 2 + 1 and z/log 2 + 2, but for 2^-21
 *  from 43 places of either: so 0.69 < x < 1.39. x is computed modulo 4 to 126 places. With LN2
 *  rounded down it is off by less than |k| < 2^21 units of 2^-126, which changes exp(-x) <= 1/2 by
 *  less than 2^21 units of 2^-127, and the shift of x by less than 2^-120, 64 units: with
 *  DG_EXP_ERROR less than 2^22. */
static dg_scaled exp_bound(dg_i128 z, bool up)
{
    const dg_u128 error = (dg_u128)1 << 22;
    const int64_t quotient = (int64_t)(z >> 64) / (int64_t)(LN2 >> (128 + 64 - LOG_BITS));
    const int64_t k = quotient + (z < 0 ? 1 : 2);
    const dg_u128 x = (dg_u128)k * (LN2 >> 2) - ((dg_u128)z << (126 - LOG_BITS));
    const dg_u128 value = dg_exp_negative(x >> (126 - DG_EXPONENT_BITS));
    return (dg_scaled){up ? value + error : value - error, (long)k};
}

/** log(x) 2^107, to within 3 units. Requires: x normal, |its exponent| <= 2^20.
 *
 *  exponent log 2 is off by less than 2^20 2^-128, half a unit, and 1 for a shift; the mantissa's log
 *  by 2^-116, and 1 for a shift. */
static dg_i128 log_scaled(dg_scaled x)
{
    const uint64_t size = (uint64_t)(x.exponent < 0 ? -x.exponent : x.exponent);
    const dg_i128 of_power = (dg_i128)(((dg_u128)size * (uint64_t)(LN2 >> 64) << (LOG_BITS - 64)) +
                                       ((dg_u128)size * (uint64_t)LN2 >> (128 - LOG_BITS)));
    return (x.exponent < 0 ? -of_power : of_power) +
           (dg_i128)(log_mantissa(x.mantissa) >> (DG_WORD_BITS - LOG_BITS));
}

/** Where the size of the log of a power is cut: exp(2^19). */
#define MOST_LOG ((dg_i128)1 << (LOG_BITS + 19))

/** A bound of size t, away from 0 or towards it, at most MOST_LOG + 2; in units of 2^-107. Requires: t
 *  within 2^-126 of the truth, relatively, which for the results is less than 2 units. */
static dg_i128 times(dg_u128 size, dg_scaled t, bool away)
{
    const long shift = t.exponent + 1;
    dg_u128 result = mul_high(size, t.mantissa); /* size t 2^-shift, rounded down */
    if (shift > 0) {
        result += away;
        if (shift >= LOG_BITS + 19 || result >> (LOG_BITS + 19 - shift) != 0) {
            return result == 0 ? 0 : MOST_LOG;
        }
        result <<= shift;
    } else {
        result = (shift > -128 ? result >> -shift : 0) + away;
    }
    return (dg_i128)(away ? result + 2 : result > 2 ? result - 2 : 0);
}

/* x^t = exp(z), z = t log x. In units of 2^-107, z is off by 3 t for the log, 2 t for rounding the
 * product before it is shifted, and 3: together 5 t + 3, less than (2^-104 t + 2^-105). */
dg_scaled dg_power(dg_scaled x, dg_scaled t, bool up)
{
    DG_REQUIRES(x.mantissa >> DG_WORD_BITS == 1 && t.mantissa >> DG_WORD_BITS == 1);
    DG_REQUIRES(x.exponent <= 1 << 20 && x.exponent >= -(1 << 20));
    const dg_i128 log_x = log_scaled(x) + (up ? 3 : -3);
    const bool positive = log_x >= 0;
    dg_i128 z = times((dg_u128)(positive ? log_x : -log_x), t, positive == up);
    if (z >= MOST_LOG) {
        if (positive && up) {
            return (dg_scaled){ONE, DG_POWER_LIMIT}; /* infinity */
        }
        if (!positive && !up) {
            return (dg_scaled){0, 0};
        }
        z = MOST_LOG;
    }
    return exp_bound(positive ? z : -z, up);
}

#endif
