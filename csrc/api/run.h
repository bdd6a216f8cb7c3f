/* Running a fill: in pieces, by several threads, with pauses in which the caller may stop it. */
#ifndef DG_API_RUN_H
#define DG_API_RUN_H

#include "exact/big.h"
#include "random/bits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What one thread draws with, from one pause to the next: its stream, and its integers. */
typedef struct dg_session {
    dg_bits bits;
    dg_big big;
} dg_session;

typedef struct dg_fill dg_fill;

/** Draw items [first, end) of a fill. Reads no bit of a caller's source that these do not use.
 *
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE.
 */
typedef dg_status dg_draw(const dg_fill *fill, size_t first, size_t end, dg_session *session);

/** A fill: n items into out. */
struct dg_fill {
    uint8_t *out;
    size_t n;
    size_t item_bytes;
    /* Items that are drawn without a look at the clock, and that repay a thread: some 0.25 ms of work.
     * A multiple of the table's chunk. */
    size_t piece;
    const dg_source *source;
    const dg_law *law; /* whose integers a session opens; NULL: draw opens its own */
    dg_draw *draw;
    /* what draw knows: */
    bool wide; /* items are integers of item_bytes bytes, else of a dtype: */
    dg_dtype dtype;
    const dg_sampler *sampler;      /* of one law */
    const struct dg_each_law *laws; /* of a law an item: laws_api.c */
    const dg_selection *selection;  /* of selections */
    const dg_snapping *snapping;    /* of snapped noise */
    const struct dg_sums
        *sums;    /* what draws become as they are made, in the cache; NULL: they stay */
    size_t chunk; /* so many draws at once, or a multiple of it, are added to; 0: any number */
};

/** Run a fill.
 *
 *  Ensures:   DG_OK -> all items are drawn. Either way no thread of the fill is left, and what it drew with is
 *             wiped.
 *  Returns:   what draw returns (errno kept) | DG_ERR_NOMEM | DG_ERR_STOPPED | DG_ERR_RANGE: a sum does not
 *             fit.
 */
dg_status dg_fill_run(const dg_fill *fill, const dg_run *run);

#endif
