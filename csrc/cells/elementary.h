/* exp, log and powers in 128-bit words, to some 2^-100: what building a table asks, and a tenth of
 * the time of MPFR's, which are for any precision. The bounds of their errors are derived in
 * elementary.c; tests/c/test_elementary.c holds them against MPFR.
 */
#ifndef DG_CELLS_ELEMENTARY_H
#define DG_CELLS_ELEMENTARY_H

#include "base/int128.h"

#include <stdbool.h>

#if DG_HAVE_WORDS

enum {
    DG_WORD_BITS = 127,       /* binary places of a weight */
    DG_EXPONENT_BITS = 120,   /* binary places of an exponent */
    DG_EXP_ERROR = 1 << 10,   /* in units of 2^-127 */
    DG_LOG_ERROR = 1 << 5,    /* in units of 2^-120 */
    DG_POWER_LIMIT = 1 << 21, /* a power's binary exponent is smaller in size */
};

/** exp(-x 2^-120) 2^127, to within DG_EXP_ERROR; exactly 2^127 at x = 0. */
dg_u128 dg_exp_negative(dg_u128 x);

/** log(n) 2^120, to within DG_LOG_ERROR. Requires: n >= 1. */
dg_u128 dg_log_integer(uint32_t n);

/** The number mantissa 2^(exponent - 127). Normal: mantissa >= 2^127. */
typedef struct dg_scaled {
    dg_u128 mantissa;
    long exponent;
} dg_scaled;

/** A bound of x^t, above or below it, for x, t > 0: within a factor of 1 +- (2^-103 t + 2^-101) of
 *  it, as long as x^t is between exp(-2^18) and exp(2^18).
 *
 *  Requires: x and t normal, |x's exponent| <= 2^20.
 *  Returns:  a bound of an exponent below DG_POWER_LIMIT in size; or, above, one of exponent
 *            DG_POWER_LIMIT, for infinity; or, below, mantissa 0.
 */
dg_scaled dg_power(dg_scaled x, dg_scaled t, bool up);

#endif
#endif
