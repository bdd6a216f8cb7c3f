#include "bounds/elementary.h"

#include "base/contract.h"
#include "base/int128.h"

#if DG_HAVE_WORDS

enum {
    WORD_BITS = 127,          /* binary places of numbers from 0 to 2 */
    EXPONENT_BITS = 120,      /* binary places of an exponent */
    LOG_BITS = 107,           /* binary places of a log, whose size is below 2^20 */
    EXP_FRACTION_ERROR = 512, /* of exp_fraction, in units of 2^-127: exp.gappa */
    EXP_ERROR = 606,          /* of exp_negative, in units of 2^-127: exp.gappa */
    POWER_LIMIT = 1 << 21     /* a power's binary exponent is smaller in size */
};

/** 1, with WORD_BITS binary places. */
#define ONE ((dg_u128)1 << WORD_BITS)

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

/** floor(a b / 2^64). */
static uint64_t mul_high_64(uint64_t a, uint64_t b)
{
    return (uint64_t)((dg_u128)a * b >> 64);
}

/** 2^79 times 1/n! - t/(n + 1)! + ... - t^(12 - n)/12!, n = 8: the far terms of the series, which are so small
 *  that 64-bit words hold them closely enough. t is t_high 2^-64, or above it by less than 2^-64.
 *  Requires: t < 2^-8.
 *
 *  Error: a step rounds a coefficient, a product, and t, each by less than 1 unit, and the next step
 *  multiplies that by t. The sum is less than 4 units of 2^-79. */
static uint64_t exp_far_terms(uint64_t t_high)
{
    static const uint64_t inverse_factorial[] = {
        (uint64_t)(ONE / 40320 >> 48),     (uint64_t)(ONE / 362880 >> 48),
        (uint64_t)(ONE / 3628800 >> 48),   (uint64_t)(ONE / 39916800 >> 48),
        (uint64_t)(ONE / 479001600 >> 48),
    };
    uint64_t v = inverse_factorial[4];
    for (int n = 3; n >= 0; n--) {
        v = inverse_factorial[n] - mul_high_64(v, t_high);
    }
    return v;
}

/** exp(-r 2^-128) 2^127: the Taylor series at t = r/256, then the power 256 by squaring.
 *
 *  Error: at most EXP_FRACTION_ERROR units of 2^-127 (exp.gappa). At r = 0 it is exact. */
static dg_u128 exp_fraction(dg_u128 r)
{
    static const dg_u128 inverse_factorial[] = {
        ONE, ONE, ONE / 2, ONE / 6, ONE / 24, ONE / 120, ONE / 720, ONE / 5040,
    };
    const dg_u128 t = r >> 8;
    dg_u128 v = (dg_u128)exp_far_terms((uint64_t)(t >> 64)) << 48;
    for (int n = 7; n >= 0; n--) {
        v = inverse_factorial[n] - mul_high(v, t);
    }
    for (int i = 0; i < 8; i++) {
        v = mul_high(v, v) << 1;
    }
    return v;
}

/** exp(-x 2^-120) 2^127, to within EXP_ERROR; exactly 2^127 at x = 0.
 *
 *  exp(-x) = exp(-r) 2^-k, r = x - k log 2. k is x rounded down over log 2 rounded up, in units of 2^-56. So
 *  k <= x/log 2 <= 185 and r >= 0. Also k > (x - 2^-56)/(log 2 + 2^-56) - 1, so r < 1.
 *  r is computed modulo 1. LN2 is rounded down, so r is too large by less than k 2^-128, at most 93 units. The last
 *  shift adds 1 (exp.gappa). */
static dg_u128 exp_negative(dg_u128 x)
{
    if (x >> EXPONENT_BITS >= 128) {
        return 0; /* exp(-128) < 2^-184 */
    }
    const uint64_t k = (uint64_t)(x >> 64) / ((uint64_t)(LN2 >> 72) + 1);
    const dg_u128 r = (x << (128 - EXPONENT_BITS)) - k * LN2;
    return k < 128 ? exp_fraction(r) >> k : 0;
}

/** a b 2^-126, rounded towards 0. Requires: |a|, |b| <= 2^126. */
static dg_i128 product(dg_i128 a, dg_i128 b)
{
    const dg_u128 size = mul_high((dg_u128)(a < 0 ? -a : a) << 1, (dg_u128)(b < 0 ? -b : b) << 1);
    return (a < 0) != (b < 0) ? -(dg_i128)size : (dg_i128)size;
}

/** exp(-r 2^-64) 2^63, to within 2^26 units, computed like exp_fraction (exp_64.gappa). */
static uint64_t exp_fraction_64(uint64_t r)
{
    const uint64_t t = r >> 8, one = UINT64_C(1) << 63;
    uint64_t v = one / 6 - mul_high_64(one / 24, t);
    v = one / 2 - mul_high_64(v, t);
    v = one - mul_high_64(v, t);
    v = one - mul_high_64(v, t);
    for (int i = 0; i < 8; i++) {
        v = mul_high_64(v, v) << 1;
    }
    return v;
}

/** a b 2^-62, rounded down. Requires: |a|, |b| <= 2^62. */
static int64_t product_64(int64_t a, int64_t b)
{
    return (int64_t)((dg_i128)a * b >> 62);
}

/** log(mantissa 2^-63) 2^63, to within 2^-27 of it. Requires: mantissa >= 2^63.
 *
 *  For any y, log x = y + log(x exp(-y)) = y + log(1 + d), d = x exp(-y) - 1.
 *
 *  Here y is f log 2 + 0.03, f = x - 1. log(1 + f) - f log 2 is between 0 and 0.0597, so y is within
 *  0.0301 of log x, and |d| < 0.031: log_64.gappa. */
static int64_t log_mantissa_64(uint64_t mantissa)
{
    const int64_t one = INT64_C(1) << 62;
    const int64_t y =
        (int64_t)mul_high_64(mantissa - (UINT64_C(1) << 63), (uint64_t)(LN2 >> 64)) + one / 50 * 3;
    const int64_t d = (int64_t)mul_high_64(mantissa, exp_fraction_64((uint64_t)y << 1)) - one;
    int64_t series = one / 3 - product_64(d, one / 4);
    series = one / 2 - product_64(d, series);
    series = one - product_64(d, series);
    return y + 2 * product_64(d, series);
}

/** log(mantissa 2^-127) 2^127, to within 2^11 units; exactly 0 for 1. Requires: mantissa >= 2^127.
 *
 *  log x = y + log(1 + d), d = x exp(-y) - 1, as in log_mantissa_64. Here y is that function's result, so
 *  |d| < 2^-26 (log.gappa).
 *  0 <= y < log 2 + 2^-27 < 1, so 2 y is below 2^128. */
static dg_u128 log_mantissa(dg_u128 mantissa)
{
    const dg_i128 one = (dg_i128)1 << (WORD_BITS - 1);
    if (mantissa == ONE) {
        return 0;
    }
    const int64_t first = log_mantissa_64((uint64_t)(mantissa >> 64));
    const dg_i128 y = (dg_i128)(first < 0 ? 0 : first) << 64; /* log x >= 0: 0 is no farther */
    const dg_i128 d = (dg_i128)mul_high(mantissa, exp_fraction((dg_u128)y << 1)) - one;
    dg_i128 series = one / 3 - product(d, one / 4);
    series = one / 2 - product(d, series);
    series = one - product(d, series);
    const dg_i128 log_x = y + 2 * product(d, series);
    return log_x < 0 ? 0 : (dg_u128)log_x;
}

/** log(n) 2^120, to within 2^5 units (log_sums.gappa). Requires: n >= 1.
 *
 *  The mantissa's log is off by 2^11 units of 2^-127, which are 16 of 2^-120, and by 1 for the shift. k log 2,
 *  k < 32, is off by k units of 2^-123, less than 4 of 2^-120, and by 1 for the shift. */
static dg_u128 log_integer(uint32_t n)
{
    unsigned k = 31;
    while (n >> k == 0) {
        k--;
    }
    const dg_u128 of_power = (k * (LN2 >> 5)) >> (123 - EXPONENT_BITS);
    return of_power + (log_mantissa((dg_u128)n << (WORD_BITS - k)) >> (WORD_BITS - EXPONENT_BITS));
}

/** The number mantissa 2^(exponent - 127). It is normal if mantissa >= 2^127. */
typedef struct scaled {
    dg_u128 mantissa;
    long exponent;
} scaled;

/** A bound of exp(z 2^-107), off by a factor of less than 1 +- (2^-124 |k| + 2^-113), |k| < 2^20
 *  the binary exponent. Requires: |z| <= 2^126.
 *
 *  exp(z) = exp(-x) 2^k, x = k log 2 - z. k is between z/log 2 + 1 and z/log 2 + 2, or 2^-22 beyond,
 *  because both have 43 places only. So 0.69 < x < 1.39. x is computed modulo 4 to 126 places. LN2 is rounded
 *  down, so x is off by less than |k| units of 2^-126. This changes exp(-x), between 1/4 and 1/2, by less
 *  than |k| units of 2^-127. The shift of x, by less than 2^-120, changes it by less than 64. With
 *  EXP_ERROR these are less than |k| + 700 in all (power.gappa). The error that is added, |k| + 2^11, is more. */
static scaled exp_bound(dg_i128 z, bool up)
{
    const int64_t quotient = (int64_t)(z >> 64) / (int64_t)(LN2 >> (128 + 64 - LOG_BITS));
    const int64_t k = quotient + (z < 0 ? 1 : 2);
    const dg_u128 x = (dg_u128)k * (LN2 >> 2) - ((dg_u128)z << (126 - LOG_BITS));
    const dg_u128 value = exp_negative(x >> (126 - EXPONENT_BITS));
    const uint64_t error = (uint64_t)(k < 0 ? -k : k) + (1 << 11);
    return (scaled){up ? value + error : value - error, (long)k};
}

/** log(x) 2^107, to within 3 units (log_sums.gappa). Requires: x normal, |its exponent| <= 2^20.
 *
 *  exponent log 2 is off by less than 2^20 2^-128, half a unit, and by 1 for a shift. The mantissa's log is off
 *  by 2^-116, and by 1 for a shift. */
static dg_i128 log_scaled(scaled x)
{
    const uint64_t size = (uint64_t)(x.exponent < 0 ? -x.exponent : x.exponent);
    const dg_i128 of_power = (dg_i128)(((dg_u128)size * (uint64_t)(LN2 >> 64) << (LOG_BITS - 64)) +
                                       ((dg_u128)size * (uint64_t)LN2 >> (128 - LOG_BITS)));
    return (x.exponent < 0 ? -of_power : of_power) +
           (dg_i128)(log_mantissa(x.mantissa) >> (WORD_BITS - LOG_BITS));
}

/** The largest size of a power's log; larger ones are cut to it. It stands for exp(2^19). */
#define MOST_LOG ((dg_i128)1 << (LOG_BITS + 19))

/** A bound of size t, away from 0 or towards it, at most MOST_LOG, in units of 2^-107. */
static dg_i128 times(dg_u128 size, scaled t, bool away)
{
    const long shift = t.exponent + 1;
    dg_u128 result = mul_high(size, t.mantissa); /* size t 2^-shift, rounded down */
    if (shift <= 0) {
        return (dg_i128)((shift > -128 ? result >> -shift : 0) + 2 * (dg_u128)away);
    }
    result += away;
    if (shift >= LOG_BITS + 19 || result >> (LOG_BITS + 19 - shift) != 0) {
        return result == 0 ? 0 : MOST_LOG;
    }
    return (dg_i128)(result << shift);
}

/** A bound of x^t for t = t_lower ... t_upper. Requires: all are normal, |x's exponent| <= 2^20.
 *  Returns: a number whose exponent is below POWER_LIMIT in size. Otherwise, above, the exponent POWER_LIMIT, for
 *           infinity; below, the mantissa 0.
 *
 *  x^t = exp(z), z = t log x. In units of 2^-107, z is off by 6 t for the log's error and its bound,
 *  by less than 2 t for rounding the product before it is shifted, and by 2: less than 2^-104 t + 2^-106.
 *  The error that exp_bound adds leaves the result within dg_power's bound (power.gappa). */
static scaled power(scaled x, scaled t_lower, scaled t_upper, bool up)
{
    const dg_i128 log_x = log_scaled(x) + (up ? 3 : -3);
    const bool positive = log_x >= 0, away = positive == up;
    dg_i128 z = times((dg_u128)(positive ? log_x : -log_x), away ? t_upper : t_lower, away);
    if (z >= MOST_LOG) {
        if (positive && up) {
            return (scaled){ONE, POWER_LIMIT}; /* infinity */
        }
        if (!positive && !up) {
            return (scaled){0, 0};
        }
        z = MOST_LOG;
    }
    return exp_bound(positive ? z : -z, up);
}

/* The limbs of a number of DG_WORDS_PRECISION bits. The functions below read and write numbers limb by limb: if
 * MPFR made an integer of its own, it might move it, and leave a copy unwiped. */
enum { LIMBS = DG_WORDS_PRECISION / GMP_NUMB_BITS };

/** Return x exactly. Requires: x > 0, a number of DG_WORDS_PRECISION bits. */
static scaled get_scaled(const mpfr_t x)
{
    DG_REQUIRES(mpfr_get_prec(x) == DG_WORDS_PRECISION);
    const mp_limb_t *limbs = mpfr_custom_get_significand(x);
    dg_u128 mantissa = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        mantissa = mantissa << GMP_NUMB_BITS | limbs[i];
    }
    return (scaled){mantissa, (long)mpfr_get_exp(x) - DG_WORDS_PRECISION + WORD_BITS};
}

/** out = value 2^-bits, exactly. */
static void set_word(mpfr_t out, dg_u128 value, long bits)
{
    if (value == 0) {
        mpfr_set_zero(out, 1);
        return;
    }
    const uint64_t high = (uint64_t)(value >> 64);
    const int zeros = high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value);
    const dg_u128 mantissa = value << zeros;
    mp_limb_t limbs[LIMBS];
    for (int i = 0; i < LIMBS; i++) {
        limbs[i] = (mp_limb_t)(mantissa >> (i * GMP_NUMB_BITS));
    }
    mpfr_t exact;
    mpfr_custom_init_set(exact, MPFR_REGULAR_KIND, DG_WORDS_PRECISION - zeros - bits,
                         DG_WORDS_PRECISION, limbs);
    mpfr_set(out, exact, MPFR_RNDN);
}

dg_u128 dg_get_words(const mpfr_t x, long bits, bool up)
{
    if (mpfr_zero_p(x)) {
        return 0;
    }
    const scaled as_is = get_scaled(x);
    const long drop = WORD_BITS - as_is.exponent - bits;
    if (drop >= 128) {
        return up;
    }
    const bool inexact = drop > 0 && as_is.mantissa << (128 - drop) != 0;
    return (as_is.mantissa >> drop) + (up && inexact);
}

void dg_exp_negative(mpfr_t out, const mpfr_t x, bool up)
{
    if (mpfr_zero_p(x)) {
        mpfr_set_ui(out, 1, MPFR_RNDN);
        return;
    }
    const bool far = mpfr_cmp_ui(x, 128) >= 0;
    dg_u128 value = far ? 0 : exp_negative(dg_get_words(x, EXPONENT_BITS, !up));
    if (up) {
        value = value < ONE - EXP_ERROR ? value + EXP_ERROR : ONE;
    } else {
        value = value > EXP_ERROR ? value - EXP_ERROR : 0;
    }
    set_word(out, value, WORD_BITS);
}

void dg_log_integer(mpfr_t out, uint32_t n)
{
    DG_REQUIRES(n >= 1);
    set_word(out, log_integer(n), EXPONENT_BITS);
}

void dg_power(mpfr_t out, const mpfr_t x, const mpfr_t t_lower, const mpfr_t t_upper, bool up)
{
    const scaled base = get_scaled(x);
    const scaled lower = get_scaled(t_lower), upper = get_scaled(t_upper);
    DG_REQUIRES(base.exponent <= 1 << 20 && base.exponent >= -(1 << 20));
    const scaled result = power(base, lower, upper, up);
    if (result.exponent == POWER_LIMIT) {
        mpfr_set_inf(out, 1);
    } else {
        set_word(out, result.mantissa, WORD_BITS - result.exponent);
    }
}

uint64_t dg_get_word(const mpfr_t x, long bits, bool up)
{
    return (uint64_t)dg_get_words(x, bits, up);
}

#else /* no 128-bit words: by MPFR */

static mpfr_rnd_t rounding(bool up)
{
    return up ? MPFR_RNDU : MPFR_RNDD;
}

void dg_exp_negative(mpfr_t out, const mpfr_t x, bool up)
{
    mpfr_neg(out, x, MPFR_RNDN);
    mpfr_exp(out, out, rounding(up));
}

void dg_log_integer(mpfr_t out, uint32_t n)
{
    mpfr_set_ui(out, n, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
}

/* x^t increases with t if x >= 1, and decreases with t if x <= 1. */
void dg_power(mpfr_t out, const mpfr_t x, const mpfr_t t_lower, const mpfr_t t_upper, bool up)
{
    const bool t_up = up == (mpfr_cmp_ui(x, 1) >= 0);
    mpfr_pow(out, x, t_up ? t_upper : t_lower, rounding(up));
}

uint64_t dg_get_word(const mpfr_t x, long bits, bool up)
{
    mpfr_t scaled;
    mpfr_init2(scaled, DG_WORDS_PRECISION);
    mpfr_mul_2si(scaled, x, bits, MPFR_RNDN); /* exact */
    const uint64_t word = mpfr_get_uj(scaled, rounding(up));
    mpfr_clear(scaled);
    return word;
}

#endif
