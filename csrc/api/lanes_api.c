/* Isochronous samplers for arrays from outside: making, freeing, looking inside, and fills. */
#include "api/draw_items.h"
#include "api/run.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/wipe.h"
#include "isochronous/lanes.h"

#include <mpfr.h>

#if DG_HAVE_WORDS

enum {
    MOST_DRAWN = 2048
}; /* draws before they are stored: batches get short at the end of each such lot */

static size_t lot_of(size_t n)
{
    return n < MOST_DRAWN ? n : MOST_DRAWN;
}

dg_status dg_lanes_new(dg_lanes **lanes, const dg_law *law, dg_isa isa)
{
    *lanes = NULL;
    if (law->kind < DG_DISCRETE_LAPLACE || !dg_isa_available(isa)) {
        return DG_ERR_PARAMETER;
    }
    DG_TRY(dg_memory_at_hand(law->room_bytes));
    dg_status status = dg_lanes_build(lanes, law, isa);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return status;
}

void dg_lanes_free(dg_lanes *lanes)
{
    dg_lanes_release(lanes);
}

void dg_lanes_describe(dg_lanes_info *info, const dg_lanes *lanes)
{
    *info = (dg_lanes_info){
        .isa = lanes->isa,
        .n_core = lanes->n_core,
        .n_tail = lanes->n_tail,
        .block_bits = lanes->block_bits,
        .attempt_bytes = lanes->attempt_bytes,
        .above = lanes->above,
        .above_a_step = lanes->above_a_step,
        .below = lanes->below,
    };
}

dg_status dg_draw_lanes(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    int64_t drawn[MOST_DRAWN + DG_LANE_BEHIND];
    const size_t used = (lot_of(end - first) + DG_LANE_BEHIND) * sizeof *drawn;
    dg_status status = DG_OK;
    while (first < end && status == DG_OK) {
        const size_t n = lot_of(end - first);
        status = dg_lanes_draw(drawn, n, end - first - n, fill->lanes, &session->bits);
        if (status == DG_OK) {
            status = dg_store_drawn(fill->out + first * fill->item_bytes, n, fill->dtype, drawn);
        }
        first += n;
    }
    dg_wipe(drawn, used);
    return status;
}

/** How many draws make a piece: some 0.3 ms of bits from getrandom. */
static size_t piece_of(const dg_source *source)
{
    enum { PIECE = 1 << 13, QUICK_PIECE = 1 << 16 };
    return source == NULL || source->kind == DG_SOURCE_CHACHA20 ? QUICK_PIECE : PIECE;
}

dg_fill dg_lanes_filling(void *out, size_t n, dg_dtype dtype, const dg_lanes *lanes,
                         const dg_source *source)
{
    return (dg_fill){
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = piece_of(source),
        .source = source,
        .draw = dg_draw_lanes,
        .dtype = dtype,
        .lanes = lanes,
    };
}

dg_status dg_lanes_fill(void *out, size_t n, dg_dtype dtype, const dg_lanes *lanes,
                        const dg_run *run, const dg_source *source)
{
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_PARAMETER;
    }
    const dg_fill fill = dg_lanes_filling(out, n, dtype, lanes, source);
    return dg_fill_run(&fill, run);
}

/** out[0 .. n_bytes) = value in two's complement, least significant byte first. */
static void store_bytes(uint8_t *out, size_t n_bytes, int64_t value)
{
    for (size_t i = 0; i < n_bytes; i++) {
        out[i] = (uint8_t)((uint64_t)value >> (8 * (i < 8 ? i : 7)));
        if (i >= 8) {
            out[i] = (uint8_t)(0 - (out[i] >> 7));
        }
    }
}

static dg_status draw_lanes_wide(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    const dg_lanes *lanes = fill->lanes;
    int64_t drawn[MOST_DRAWN + DG_LANE_BEHIND];
    const size_t used = (lot_of(end - first) + DG_LANE_BEHIND) * sizeof *drawn;
    dg_status status = DG_OK;
    while (first < end && status == DG_OK) {
        const size_t n = lot_of(end - first);
        status = dg_lanes_draw(drawn, n, end - first - n, lanes, &session->bits);
        for (size_t i = 0; i < n && status == DG_OK; i++) {
            store_bytes(fill->out + (first + i) * fill->item_bytes, fill->item_bytes, drawn[i]);
        }
        first += n;
    }
    dg_wipe(drawn, used);
    return status;
}

dg_status dg_lanes_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_lanes *lanes,
                             const dg_run *run, const dg_source *source)
{
    if (n == 0) { /* out may be NULL */
        return DG_OK;
    }
    if (n_bytes < lanes->law->wide_bytes) {
        return DG_ERR_RANGE;
    }
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = n_bytes,
        .piece = piece_of(source),
        .source = source,
        .draw = draw_lanes_wide,
        .lanes = lanes,
    };
    return dg_fill_run(&fill, run);
}

#else /* without 128-bit words there are no isochronous samplers: only _new is reached */

dg_status dg_lanes_new(dg_lanes **lanes, const dg_law *law, dg_isa isa)
{
    (void)law, (void)isa;
    *lanes = NULL;
    return DG_ERR_PARAMETER;
}

void dg_lanes_free(dg_lanes *lanes)
{
    (void)lanes;
}

void dg_lanes_describe(dg_lanes_info *info, const dg_lanes *lanes)
{
    (void)lanes;
    *info = (dg_lanes_info){0};
}

static dg_status refuse(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    (void)fill, (void)first, (void)end, (void)session;
    return DG_ERR_PARAMETER;
}

dg_fill dg_lanes_filling(void *out, size_t n, dg_dtype dtype, const dg_lanes *lanes,
                         const dg_source *source)
{
    (void)lanes;
    return (dg_fill){.out = out,
                     .n = n,
                     .item_bytes = dg_dtype_size(dtype),
                     .piece = 1,
                     .source = source,
                     .draw = refuse};
}

dg_status dg_lanes_fill(void *out, size_t n, dg_dtype dtype, const dg_lanes *lanes,
                        const dg_run *run, const dg_source *source)
{
    (void)out, (void)n, (void)dtype, (void)lanes, (void)run, (void)source;
    return DG_ERR_PARAMETER;
}

dg_status dg_lanes_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_lanes *lanes,
                             const dg_run *run, const dg_source *source)
{
    (void)out, (void)n, (void)n_bytes, (void)lanes, (void)run, (void)source;
    return DG_ERR_PARAMETER;
}

#endif
