/* The comparison that is always right: it narrows the bounds, and reads bits of the height, until they decide. */
#ifndef DG_BOUNDS_REFINE_H
#define DG_BOUNDS_REFINE_H

#include "bounds/elementary.h"
#include "law/law.h"
#include "random/bits.h"

#include <gmp.h>

/* Test builds set DG_NARROW_BOUNDS: every comparison then comes here, and begins at a precision that
 * decides little, so that every step of the refinement is taken. The law must not change. */
#if defined(DG_NARROW_BOUNDS) && DG_NARROW_BOUNDS
enum { DG_FIRST_PRECISION = 8, DG_ALWAYS_REFINE = 1 };
#else
enum { DG_FIRST_PRECISION = DG_WORDS_PRECISION, DG_ALWAYS_REFINE = 0 };
#endif

#if defined(DG_NARROW_BOUNDS) && DG_NARROW_BOUNDS
/** Counts in test builds, for one thread: how often a refinement reached the precision 2^i, decided there, and read
 *  more bits of f there. */
typedef struct dg_refinements {
    uint64_t reached[32], decided[32], read_more[32];
} dg_refinements;
extern dg_refinements dg_refined;
#endif

/** The question whether m + f' < 2^level H g(y), or 2^level H g(y) pieces/units; f' is uniform on [0, 1). */
typedef struct dg_question {
    uint32_t height; /* H */
    uint32_t m;
    uint64_t level;
    uint32_t pieces, units; /* units == 0: without this factor */
} dg_question;

/** Decide the question. f' begins with the n_bits bits of f; more are read as needed.
 *
 *  Requires:  0 <= f < 2^n_bits. y and f are initialised, with room for law->limb_bits. Before that, the caller
 *             checked for law->room_bytes of memory (base/memory.h).
 *  Ensures:   y and f stay initialised; f has another value.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE.
 *  Cost:      about a microsecond; more if the first bounds do not decide and MPFR computes others. The time depends
 *             on everything.
 */
dg_status dg_refine(bool *accepted, mpz_t f, size_t n_bits, const mpz_t y, const dg_question *q,
                    const dg_law *law, dg_bits *bits);

#endif
