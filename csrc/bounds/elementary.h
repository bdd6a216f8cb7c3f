/* exp, log and powers at DG_WORDS_PRECISION, with errors of some 2^-100. They build tables, and decide most
 * attempts that an arc leaves undecided. In 128-bit words they take a tenth of the time of MPFR's functions,
 * which work at any precision. elementary.c derives the bounds of their errors, and tests/c/test_elementary.c
 * compares them with MPFR. Without 128-bit words, MPFR's functions are used.
 *
 * All numbers have precision DG_WORDS_PRECISION.
 */
#ifndef DG_BOUNDS_ELEMENTARY_H
#define DG_BOUNDS_ELEMENTARY_H

#include "base/int128.h"

#include <stdbool.h>
#include <stdint.h>

#include <mpfr.h> /* after stdint.h, for uintmax_t */

enum { DG_WORDS_PRECISION = 128 };

/** out = exp(-x), rounded up or down: at most 2^-116 from it, between 0 and 1, exactly 1 at x = 0.
 *  Requires: x >= 0; it may be infinity. */
void dg_exp_negative(mpfr_t out, const mpfr_t x, bool up);

/** out = log(n), off by at most 2^-115; exactly 0 for n = 1. Requires: n >= 1. */
void dg_log_integer(mpfr_t out, uint32_t n);

/** out = a bound of x^t, above or below it, for every t from t_lower to t_upper. If t_lower == t_upper and x^t is
 *  between exp(-2^18) and exp(2^18), the bound is within a factor of 1 +- (2^-104 t + 2^-105) of x^t. Beyond
 *  that range it may be as poor as 0 or infinity.
 *
 *  Requires: x > 0, t_lower > 0, numbers; 2^-(2^20) < x < 2^(2^20).
 */
void dg_power(mpfr_t out, const mpfr_t x, const mpfr_t t_lower, const mpfr_t t_upper, bool up);

/** 2^bits x, rounded up or down. Requires: 0 <= 2^bits x < 2^64. */
uint64_t dg_get_word(const mpfr_t x, long bits, bool up);

#if DG_HAVE_WORDS
/** dg_get_word for wider results. Requires: 0 <= 2^bits x < 2^128. */
dg_u128 dg_get_words(const mpfr_t x, long bits, bool up);
#endif

#endif
