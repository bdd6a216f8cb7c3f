/* Noisy selection among candidates. A gap is how far a score is below the best of its row. */
#ifndef DG_MECHANISMS_SELECT_H
#define DG_MECHANISMS_SELECT_H

#include "discretegauss_mechanisms.h"
#include "exact/big.h"

struct dg_selection {
    dg_selection_kind kind;
    dg_law *rate;
    const uint8_t *gaps;
    size_t gap_bytes;
    size_t n_rows;
    size_t k;
    const int64_t *which;
    bool in_words; /* every gap fits 64 bits, every gap times the rate's numerator 127 */
};

/** Return whether every row has a gap of 0. Requires: all but in_words is set. It is cheaper than the next function. */
bool dg_select_has_best(const dg_selection *selection);

/** Return whether the words hold every gap times the rate. Requires: all but in_words is set. */
bool dg_select_fits_words(const dg_selection *selection);

/** Select from one row by permute-and-flip: *out = the index of a candidate.
 *
 *  Law:       candidates are visited in uniformly random order. Each one is selected with probability
 *             exp(-gap rate), which ends the visits.
 *  Requires:  a gap of the row is 0; order has room for k integers, which are secret afterwards; big is open
 *             unless selection->in_words.
 *  Returns:   DG_OK | what reads return | DG_ERR_NOMEM | DG_ERR_GAPS (no gap is 0, and no candidate
 *             was selected).
 */
dg_status dg_select_permute_and_flip(uint64_t *out, const dg_selection *selection, size_t row,
                                     uint64_t *order, dg_big *big, dg_bits *bits);

/** Select from one row by the exponential mechanism. Law: Pr[c] ~ exp(-gap_c rate).
 *
 *  Requires:  a gap of the row is 0 (otherwise it may never return); big as above.
 *  Why:       each round keeps a uniform candidate with exp(-gap rate), and otherwise the next one begins. So a round
 *             selects c with probability exp(-gap_c rate)/k, in proportion to the law.
 *  Cost:      at most k expected rounds, because each is the last one with probability 1/k or more.
 */
dg_status dg_select_exponential(uint64_t *out, const dg_selection *selection, size_t row,
                                dg_big *big, dg_bits *bits);

#endif
