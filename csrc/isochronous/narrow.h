/* Narrow laws by inversion: a draw compares one word with thresholds in registers. The proofs are in PROOF.md,
 * "Narrow laws".
 *
 * Outcomes are the n integers y with g(y) >= 2^-63, in order. If f is 0, so that the law is symmetric, they are
 * only those from 0 on, and a draw gets a sign. A draw reads u, 64 bits. If there is a sign, it is bit 0 of u,
 * and v is the other 63 bits; else v is u.
 *
 *   C                  2^32 height
 *   W_j                floor(C g) of outcome j; C/2 of y = 0 if there is a sign
 *   T_j                W_0 + ... + W_(j - 1): outcome j is drawn if T_j <= v < T_(j + 1)
 *   v - T_n = j < n    outcome j with probability C g - W_j (never for y = 0), else try again
 *   the units behind   4 n_tail[0] of the right tail and, if there is no sign, 4 n_tail[1] of the left one: the
 *                      integers beyond the outcomes, each with a probability of C g in all, else try again
 *   the others         try again
 *
 * dg_refine settles every v from T_n on. The draws of a fill are those of its words in order. */
#ifndef DG_ISOCHRONOUS_NARROW_H
#define DG_ISOCHRONOUS_NARROW_H

#include "isochronous/lanes.h"

enum {
    DG_NARROW_LEVELS = 7, /* of a search among thresholds, at most */
    DG_NARROW_LEAST_LEVELS = 3,
    DG_NARROW_MOST = 1 << DG_NARROW_LEVELS, /* outcomes */
    DG_NARROW_REACH = 63                    /* outcomes have g >= 2^-63 */
};

#if DG_HAVE_WORDS

/** The constants of a narrow law. Thresholds are 2^has_sign T_j, because they are compared with u. */
typedef struct dg_narrow {
    size_t n;                     /* outcomes: 1 ... DG_NARROW_MOST */
    unsigned levels;              /* of a search: from 3 on, the least with n <= 2^levels */
    unsigned has_sign;            /* 1 | 0 */
    int64_t least;                /* y of outcome 0 */
    uint64_t undecided_from;      /* T_n, or 0 if DG_ALWAYS_REFINE */
    uint64_t height;              /* below 2^32 */
    uint64_t first[2], n_tail[2]; /* the right tail, the left one: its least |y|, and its width */
    uint64_t threshold[DG_NARROW_MOST]; /* [j - 1]: T_j, j = 1 ... n; behind them 2^64 - 1 */
    uint64_t
        node[DG_NARROW_MOST]; /* those before T_n, for a search: level l compares with [2^l + i] */
} dg_narrow;

/** Prepare a law.
 *
 *  Requires:  the law is a Laplace, Gaussian or generalised Gaussian.
 *  Ensures:   DG_OK -> *out is new, to be freed by free(); otherwise it is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_METHOD: it has more than DG_NARROW_MOST outcomes.
 *  Cost:      certified bounds of an exponential for each outcome, or for one if that shows that there are
 *             too many.
 */
dg_status dg_narrow_build(dg_narrow **out, const dg_law *law);

/** Decide the draw of the stream's next word, which a kernel left undecided.
 *
 *  Ensures:   *n_accepted is 1, and *out the draw, or 0.
 *  Returns:   as dg_lanes_draw does.
 */
dg_status dg_narrow_settle(int64_t *out, size_t *n_accepted, const dg_lanes *lanes, dg_bits *bits);

/* --- kernels (dg_lane_kernel) of lanes->narrow: the same output from the same bytes --- */

dg_lane_kernel dg_narrow_kernel_portable;

/* Requires dg_isa_available(DG_ISA_AVX2). */
dg_lane_kernel dg_narrow_kernel_avx2;

/* Requires dg_isa_available(DG_ISA_AVX512). */
dg_lane_kernel dg_narrow_kernel_avx512;

/* Requires dg_isa_available(DG_ISA_NEON). */
dg_lane_kernel dg_narrow_kernel_neon;

#endif
#endif
