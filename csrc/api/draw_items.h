/* Draws of one law into an array of a dtype: what files of this folder share. */
#ifndef DG_API_DRAW_ITEMS_H
#define DG_API_DRAW_ITEMS_H

#include "api/run.h"
#include "sampler/parts.h"

/** Draw items [first, end) of one law into an array of a dtype. `beyond` more draws, of other laws, are
 *  likely to follow in the same session. Returns: as dg_law_fill. */
dg_status dg_draw_items(void *out, size_t first, size_t end, size_t beyond, dg_dtype dtype,
                        const dg_law *law, dg_session *session);

/** Draw items [first, end) of fill->lanes into an array of fill->dtype. Returns: as dg_lanes_fill. */
dg_status dg_draw_lanes(const dg_fill *fill, size_t first, size_t end, dg_session *session);

/** Store drawn integers in an array of a dtype. No branch depends on them but the last, which is taken
 *  with a probability below 2^-128. Returns: DG_OK | DG_ERR_RANGE. */
dg_status dg_store_drawn(uint8_t *out, size_t n, dg_dtype dtype, const int64_t *drawn);

/** Draw n times by a way that dg_way_begin made ready; sums: what the draws become, whose dtype is theirs
 *  (dg_draws_of_sums), or NULL. Returns: as dg_sampler_add, without the choice. */
dg_status dg_way_fill(void *out, size_t n, dg_dtype dtype, const dg_sums *sums, const dg_way *way,
                      dg_sampler *sampler, const dg_run *run, const dg_source *source);

/** dg_laws_fill or, in_lanes, dg_laws_fill_in_lanes; sums: as of dg_way_fill. */
dg_status dg_crowd_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                        const int64_t *which, const dg_sums *sums, bool in_lanes, bool isochronous,
                        const dg_run *run, const dg_source *source);

#endif
