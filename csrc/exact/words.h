/* Algorithms 1, 2 and 3 in machine words, for parameters that fit: the same reads and the same draws as big.c.
 * If a value outgrows the words in the middle of a draw, GMP takes that decision.
 *
 * The bounds (DG_WORD_*), which dg_words_prepare and exact/short_law.c check, and their purpose:
 *   every denominator  < 2^111: times k < 2^8 (loop of Algorithm 1) it is < 2^119, and a byte times
 *                      that, or 2^8 times a smaller numerator, is < 2^127: signed 128 bits
 *   t                  < 2^55:  a uniform reads at most 8 bytes, and 2^64 t < 2^119
 *   s                  < 2^62,  |c| < 2^62
 *   y <= y_max:        (y d + |n|)^2 A, B y, |M| < 2^125 each: N(y) < 2^127
 */
#ifndef DG_EXACT_WORDS_H
#define DG_EXACT_WORDS_H

#include "exact/big.h"
#include "law/law.h"
#include "random/bits.h"

#if DG_HAVE_WORDS

enum {
    DG_WORD_DEN_BITS = 111,
    DG_WORD_K_LIMIT = 1 << 8,
    DG_WORD_T_BITS = 55,
    DG_WORD_S_BITS = 62,
    DG_WORD_TERM_BITS = 125
};

/** Set the word constants. Returns: true if the law fits the bounds above. */
bool dg_words_prepare(dg_word_constants *words, const dg_law *law);

/** Set the constants of a Gaussian's proposals, which are then drawn in words and accepted by GMP.
 *  Returns: true if those constants fit the bounds above. */
bool dg_words_prepare_proposals(dg_word_constants *words, const dg_law *law);

/** Draw once from the law, into *out. Law: as law->kind says.
 *
 *  Requires:  law->uses_words; big is open or zero. It is opened when GMP is needed.
 *  Ensures:   draws and reads are those of dg_big_draw.
 */
dg_status dg_words_draw(dg_i128 *out, const dg_law *law, dg_big *big, dg_bits *bits);

/* Steps that csrc/mechanisms draws with, too. Each reads as the function of big.h with its name. law and big serve
 * values that outgrow the words: big is opened with the room of that law. */

/** Law: Pr[*out] = a/b. Requires: a < 2^127, 0 < b < 2^119. */
dg_status dg_words_bernoulli(bool *out, dg_u128 a, dg_u128 b, dg_bits *bits);

/** Law: *out uniform on 0 ... n-1. Requires: 1 <= n < 2^55. */
dg_status dg_words_uniform_below(uint64_t *out, uint64_t n, dg_bits *bits);

/** Law: Pr[*out] = exp(-num/den). Requires: num < 2^127, 0 < den < 2^111. */
dg_status dg_words_bernoulli_exp(bool *out, dg_u128 num, dg_u128 den, const dg_law *law,
                                 dg_big *big, dg_bits *bits);

#endif
#endif
