/* Laws of short parameters, whose constants all fit machine words, prepared without GMP. This takes some tens of
 * nanoseconds, dg_law_new microseconds. They serve arrays of parameters, which draw once from each law. */
#ifndef DG_EXACT_SHORT_LAW_H
#define DG_EXACT_SHORT_LAW_H

#include "law/law.h"

#include <stdbool.h>
#include <stdint.h>

#if DG_HAVE_WORDS

/** A rational in lowest terms, den >= 1. */
typedef struct dg_short_ratio {
    int64_t num, den;
} dg_short_ratio;

/** A law, and the limbs of those of its GMP integers that draws may read. Do not copy it, and do not clear it: it
 *  owns no memory. */
typedef struct dg_short_law {
    dg_law law;
    mp_limb_t limbs[6][128 / GMP_NUMB_BITS];
} dg_short_law;

/** Return whether the numbers obey the rules of the discrete Laplace and Gaussian, as dg_law_new checks them. */
bool dg_short_law_obeys(dg_short_ratio parameter, dg_short_ratio centre);

/** A law with which dg_big_open gives room enough for any law of short numbers. Only limb_bits and room_bytes
 *  are set. */
extern const dg_law dg_short_law_room;

/** Prepare a law.
 *
 *  Ensures:   true -> from to->law dg_words_draw draws what it draws from the law of dg_law_new, by the same
 *             bits.
 *  Returns:   false if the numbers break a rule of the law, or if GMP has to draw it, or nearly so, because lengths
 *             stand for the bounds of exact/words.h. The caller then calls dg_law_new, which decides.
 */
bool dg_short_law_prepare(dg_short_law *to, dg_law_kind kind, dg_short_ratio parameter,
                          dg_short_ratio centre);

#endif
#endif
