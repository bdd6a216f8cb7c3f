/* Laws, and draws of one into an array of a dtype: what files of this folder share. */
#ifndef DG_API_DRAW_ITEMS_H
#define DG_API_DRAW_ITEMS_H

#include "api/run.h"
#include "sampler/prepare.h"

/** Draw items [first, end) of one law into an array of a dtype. `beyond` more draws, of other laws, are
 *  likely to follow in the same session. Returns: as dg_law_fill. */
dg_status dg_draw_items(void *out, size_t first, size_t end, size_t beyond, dg_dtype dtype,
                        const dg_law *law, dg_session *session);

/** Draw items [first, end) of fill->lanes into an array of fill->dtype. Returns: as dg_lanes_fill. */
dg_status dg_draw_lanes(const dg_fill *fill, size_t first, size_t end, dg_session *session);

/** Store drawn integers in an array of a dtype. No branch depends on them but the last, which is taken
 *  with a probability below 2^-128. Returns: DG_OK | DG_ERR_RANGE. */
dg_status dg_store_drawn(uint8_t *out, size_t n, dg_dtype dtype, const int64_t *drawn);

/** The law of integers in lowest terms (a, b, c, d and beta's), which are checked.
 *
 *  Returns:   as dg_law_new.
 */
dg_status dg_law_make(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic, mpz_t value[6]);

#endif
