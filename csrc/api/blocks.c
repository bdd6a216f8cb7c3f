#include "api/blocks.h"

#include "base/contract.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/wipe.h"

#include <errno.h>
#include <stdlib.h>

/** Draw each group's items of a block, of which it has so many, one group behind the other. */
static dg_status draw_groups(uint8_t *drawn, const size_t *counts, const dg_fill *fill,
                             dg_session *session)
{
    const dg_blocks *blocks = fill->blocks;
    for (size_t g = 0; g < blocks->groups->n; g++) {
        const dg_way *way = &blocks->ways[g];
        const dg_fill of_group =
            way->table != NULL
                ? dg_table_filling(drawn, counts[g], fill->dtype, way->table, fill->source)
                : dg_lanes_filling(drawn, counts[g], fill->dtype, way->lanes, fill->source);
        if (counts[g] > 0) {
            DG_TRY(of_group.draw(&of_group, 0, counts[g], session));
        }
        drawn += counts[g] * fill->item_bytes;
    }
    return DG_OK;
}

static dg_status draw_block(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    const dg_blocks *blocks = fill->blocks;
    const dg_groups *groups = blocks->groups;
    size_t counts[DG_BLOCKS_LAWS], following[DG_BLOCKS_LAWS], at = 0;
    const size_t n_bytes = (end - first) * fill->item_bytes;
    uint8_t *drawn = malloc(n_bytes);
    if (drawn == NULL) {
        return DG_ERR_NOMEM;
    }
    dg_groups_count(counts, groups, first, end);
    for (size_t g = 0; g < groups->n; g++) {
        following[g] = at;
        at += counts[g];
    }
    dg_status status = draw_groups(drawn, counts, fill, session);
    if (status == DG_OK) {
        dg_take_in_turn(fill->out, drawn, fill->item_bytes, following, groups, first, end);
        status = blocks->sums == NULL ? DG_OK : dg_add(fill->out, first, end, blocks->sums);
    }
    const int kept_errno = errno;
    dg_wipe(drawn, n_bytes);
    free(drawn);
    errno = kept_errno;
    return status;
}

dg_status dg_blocks_fill(void *out, size_t n, dg_dtype dtype, const dg_blocks *blocks,
                         const dg_run *run, const dg_source *source)
{
    enum { BLOCK = 1 << 15 };
    DG_REQUIRES(blocks->groups->n <= DG_BLOCKS_LAWS);
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = BLOCK,
        .source = source,
        .draw = draw_block,
        .dtype = dtype,
        .blocks = blocks,
    };
    return dg_fill_run(&fill, run);
}
