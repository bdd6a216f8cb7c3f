/* Running a fill: in pieces, by several threads, with pauses in which the caller may stop it. */
#ifndef DG_API_RUN_H
#define DG_API_RUN_H

#include "exact/big.h"
#include "random/bits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The stream and the GMP integers that one thread draws with from one pause to the next. */
typedef struct dg_session {
    dg_bits bits;
    dg_big big;
} dg_session;

typedef struct dg_fill dg_fill;

/** Draw items [first, end) of a fill. Isochronous draws read whole batches; other draws read no bit of a caller's source
 *  that these items do not use.
 *
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE.
 */
typedef dg_status dg_draw(const dg_fill *fill, size_t first, size_t end, dg_session *session);

/** A fill: n items into out. */
struct dg_fill {
    uint8_t *out;
    size_t n;
    size_t item_bytes;
    /* Items that are drawn between two looks at the clock, and that are worth a thread: some 0.25 ms of
     * work. A multiple of the table's chunk. */
    size_t piece;
    const dg_source *source;
    const dg_law *law; /* a session opens integers for it; NULL: draw opens its own */
    dg_draw *draw;
    /* for draw: */
    bool wide; /* items are integers of item_bytes bytes; otherwise they have this dtype: */
    dg_dtype dtype;
    const void *from;           /* what is drawn from: a sampler, or what this draw knows */
    const struct dg_sums *sums; /* added to the draws in a core's cache; NULL: nothing is added */
    size_t chunk;               /* draws are added to in multiples of it; 0: in any number */
};

/** Run a fill.
 *
 *  Ensures:   DG_OK -> all items are drawn. In any case no thread of the fill is left, and its streams and integers
 *             are wiped.
 *  Returns:   the status of draw (errno kept) | DG_ERR_NOMEM | DG_ERR_STOPPED | DG_ERR_RANGE: a sum does not fit.
 */
dg_status dg_fill_run(const dg_fill *fill, const dg_run *run);

#endif
