/* Draws of few laws, of which each element has one, in blocks that stay in a core's cache. */
#ifndef DG_API_BLOCKS_H
#define DG_API_BLOCKS_H

#include "api/group.h"
#include "sampler/parts.h"

enum { DG_BLOCKS_LAWS = 256 };

/** Of which group each item is, and by which way each group is drawn. */
typedef struct dg_blocks {
    const dg_groups *groups;
    const dg_way *ways;
    const dg_sums *sums; /* what draws become; NULL: they stay */
} dg_blocks;

/** Draw n items: of each block first those of group 0, then those of group 1, and so on. So a source of the system's
 *  is read in another order than where one law is drawn after the other.
 *
 *  Requires:  groups->n <= DG_BLOCKS_LAWS; all ways have a table or lanes; the source is not a caller's.
 *  Ensures:   as dg_fill_run. Returns: likewise.
 */
dg_status dg_blocks_fill(void *out, size_t n, dg_dtype dtype, const dg_blocks *blocks,
                         const dg_run *run, const dg_source *source);

#endif
