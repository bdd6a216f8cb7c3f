/* A law of short parameters whose every constant fits machine words, prepared without GMP: some tens of
 * nanoseconds, where dg_law_new takes microseconds. For arrays of parameters, each law drawn once. */
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

/** The law, and the limbs that those of its GMP integers refer to which draws may ask for. Not to be
 *  copied, and not to be cleared: nothing of it is allocated. */
typedef struct dg_short_law {
    dg_law law;
    mp_limb_t limbs[6][128 / GMP_NUMB_BITS];
} dg_short_law;

/** Whether numbers obey the rules of the discrete Laplace and Gaussian, as dg_law_new has them. */
bool dg_short_law_obeys(dg_short_ratio parameter, dg_short_ratio centre);

/** What a dg_big is opened with for laws of short numbers, in words or not: only how long its integers
 *  are. */
extern const dg_law dg_short_law_room;

/** Prepare a law.
 *
 *  Ensures:   true -> to->law draws what the law of dg_law_new draws, from the same bits, by
 *             dg_words_draw.
 *  Returns:   false if the numbers break a rule of the law, or if it has to be drawn by GMP (or almost:
 *             the bounds of exact/words.h are checked by lengths): dg_law_new tells.
 */
bool dg_short_law_prepare(dg_short_law *to, dg_law_kind kind, dg_short_ratio parameter,
                          dg_short_ratio centre);

#endif
#endif
