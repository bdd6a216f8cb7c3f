/* Draws of one law into an array of a dtype: what fill_api.c and laws_api.c share. */
#ifndef DG_API_DRAW_ITEMS_H
#define DG_API_DRAW_ITEMS_H

#include "api/run.h"

/** Draw items [first, end) of one law into an array of a dtype. `beyond` more draws, of other laws, are
 *  likely to follow in the same session. Returns: as dg_law_fill. */
dg_status dg_draw_items(void *out, size_t first, size_t end, size_t beyond, dg_dtype dtype,
                        const dg_law *law, dg_session *session);

#endif
