/* Running a fill: in pieces, by several threads, with pauses in which the caller may stop it. */
#ifndef DG_API_RUN_H
#define DG_API_RUN_H

#include "api/add.h"
#include "discretegauss_parts.h"
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

/** A fill: n items into out. */
typedef struct dg_fill dg_fill;
struct dg_fill {
    uint8_t *out;
    size_t n;
    size_t item_bytes;
    /* Items that are drawn without a look at the clock, and that repay a thread: some 0.25 ms of work.
     * A multiple of the table's chunk. */
    size_t piece;
    const dg_source *source;
    const dg_law *law; /* whose integers a session opens; NULL: draw opens its own */
    /* Draw items [first, end). Reads no bit of a caller's source that these do not use. */
    dg_status (*draw)(const dg_fill *fill, size_t first, size_t end, dg_session *session);
    /* what draw knows: */
    dg_dtype dtype;        /* or wide, which has none */
    const dg_table *table; /* of table fills */
    const dg_lanes *lanes; /* of isochronous fills */
    const dg_laws *laws;   /* of many laws */
    const struct dg_lane_staircases *staircases; /* where many laws are drawn in lanes; else NULL */
    dg_isa isa;                                  /* by which instruction set */
    const dg_selection *selection;               /* of selections */
    const dg_snapping *snapping;                 /* of snapped noise */
    const dg_sums *sums; /* what draws become as they are made, in the cache; NULL: they stay */
    size_t chunk; /* so many draws at once, or a multiple of it, are added to; 0: any number */
};

/** Fills of arrays of a dtype, to be run. Requires: dg_is_dtype(dtype); out and the law or what was made of it
 *  outlive the run. */
dg_fill dg_law_filling(void *out, size_t n, dg_dtype dtype, const dg_law *law,
                       const dg_source *source);
dg_fill dg_table_filling(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                         const dg_source *source);
dg_fill dg_lanes_filling(void *out, size_t n, dg_dtype dtype, const dg_lanes *lanes,
                         const dg_source *source);

/** Have a pause every 2^22 steps of a loop: some 20 ms where a step takes some nanoseconds. Returns: DG_OK |
 *  DG_ERR_STOPPED. */
static inline dg_status dg_pause_at(size_t step, const dg_run *run)
{
    enum { STEPS = 1 << 22 };
    return step % STEPS == STEPS - 1 && run != NULL && run->pause != NULL &&
                   run->pause(run->context) != 0
               ? DG_ERR_STOPPED
               : DG_OK;
}

/** Run a fill.
 *
 *  Ensures:   DG_OK -> all items are drawn; otherwise no item holds a draw: those that were begun are
 *             zero bytes, the others untouched. Either way no thread of the fill is left, and what it
 *             drew with is wiped.
 *  Returns:   what draw returns (errno kept) | DG_ERR_NOMEM | DG_ERR_STOPPED | DG_ERR_RANGE: a sum does not
 *             fit.
 */
dg_status dg_fill_run(const dg_fill *fill, const dg_run *run);

#endif
