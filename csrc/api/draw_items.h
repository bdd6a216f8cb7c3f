/* Draws into arrays: a function for each method. */
#ifndef DG_API_DRAW_ITEMS_H
#define DG_API_DRAW_ITEMS_H

#include "api/run.h"

/** Draw items [first, end) of one law by Algorithms 1-3. Probably `beyond` draws of other laws follow in the same
 *  session. Returns: as dg_draw. */
dg_status dg_draw_items(const dg_fill *fill, size_t first, size_t end, size_t beyond,
                        const dg_law *law, dg_session *session);

/* These draw from the sampler fill->from: by its law, its table, or isochronously. */
dg_draw dg_draw_law, dg_draw_table, dg_draw_silent;

#endif
