/** Mechanisms that draw from rows of scores, or from values in cells, in place of a law.
 *
 *  The rules of discretegauss.h hold here, too: for arguments, errors, threads and stack. The "cffi" marks have the
 *  meaning of those there.
 */
#ifndef DISCRETEGAUSS_MECHANISMS_H
#define DISCRETEGAUSS_MECHANISMS_H

#include "discretegauss.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cffi: begin */

/** How a candidate is selected by its score. */
typedef enum dg_selection_kind {
    DG_PERMUTE_AND_FLIP = 0, /**< in random order, the first that passes */
    DG_EXPONENTIAL = 1       /**< uniform candidates, until one passes */
} dg_selection_kind;

/** A selection: rows of candidates to select from. It does not change. */
typedef struct dg_selection dg_selection;

/** Prepare selections: a candidate passes with probability exp(-gap rate).
 *
 *  gaps:      how far each score is below the best of its row: n_rows rows of k integers >= 0, each of
 *             gap_bytes bytes, least significant first. which: the rows of the n items. If it is NULL, item i has
 *             row i modulo n_rows.
 *  Requires:  rate is text, as dg_sampler_new reads it, and obeys the rule of DG_BERNOULLI_EXP; 1 <= k < 2^55;
 *             gap_bytes >= 1; every row has a gap of 0; the gaps do not change later.
 *  Ensures:   DG_OK -> *selection is new. It refers to gaps and which, which must outlive it, and the caller frees it
 *             with dg_selection_free. Otherwise *selection is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | a status of a selection's argument.
 */
DG_API dg_status dg_selection_new(dg_selection **selection, dg_selection_kind kind,
                                  const char *rate, const uint8_t *gaps, size_t gap_bytes,
                                  size_t n_rows, size_t k, const int64_t *which);

/** Free a selection. It may be NULL. */
DG_API void dg_selection_free(dg_selection *selection);

/** Select n times: out[i] = the index of a candidate in the row of item i.
 *
 *  Law:       permute-and-flip (McKenna, Sheldon, 2020, Algorithm 1): candidates are visited in uniformly random
 *             order, and the first that passes is selected. The exponential mechanism: Pr[c] ~ exp(-gap_c rate).
 *  Requires:  out as for dg_sampler_fill; which, if it is not NULL, has n entries below n_rows.
 *  Ensures:   as dg_sampler_fill.
 *  Returns:   as dg_sampler_fill; DG_ERR_N_ROWS if there is no row.
 *  Cost:      O(k) per item; the time depends on the selections and on the gaps.
 */
DG_API dg_status dg_selection_fill(void *out, size_t n, dg_dtype dtype,
                                   const dg_selection *selection, const dg_run *run,
                                   const dg_source *source);

/** A snapping: values in their cells, which Laplace noise may leave. It does not change. */
typedef struct dg_snapping dg_snapping;

/** Prepare to draw on which side values plus Laplace noise leave their cell.
 *
 *  A cell is step 2^doublings scales of the noise long. Value i lies offset[i] / 2^shift[i] cells from the middle of
 *  its cell.
 *  Requires:  step is text, as dg_sampler_new reads it, from 0 to 1, and above 1/2 unless doublings is 0;
 *             doublings < 64; 1 <= shift[i] <= 4096;
 *             -2^(shift[i] - 1) <= offset[i] < 2^(shift[i] - 1), |offset[i]| < 2^62.
 *  Ensures:   DG_OK -> *snapping is new. It refers to offset and shift, which must outlive it, and the caller frees it
 *             with dg_snapping_free. Otherwise *snapping is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | a status of a snapping's argument.
 */
DG_API dg_status dg_snapping_new(dg_snapping **snapping, const char *step, size_t doublings,
                                 const int64_t *offset, const int64_t *shift);

/** Free a snapping. It may be NULL. */
DG_API void dg_snapping_free(dg_snapping *snapping);

/** Draw for n values: out[i] = 1 or -1, the side on which value i leaves its cell, or 0 if it stays.
 *
 *  Law:       Pr[1] = exp(-(1/2 - phi) t)/2, Pr[-1] = exp(-(1/2 + phi) t)/2, phi = offset/2^shift,
 *             t = step 2^doublings (csrc/mechanisms/leave_cell.c).
 *  Requires:  dtype is signed, otherwise as for dg_sampler_fill.
 *  Ensures:   as dg_sampler_fill.
 *  Returns:   as dg_sampler_fill.
 */
DG_API dg_status dg_snapping_fill(void *out, size_t n, dg_dtype dtype, const dg_snapping *snapping,
                                  const dg_run *run, const dg_source *source);

/* cffi: end */

#ifdef __cplusplus
}
#endif

#endif
