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
    MOST_NARROW = 64, /* bytes of an item of a law that some dtype holds, at most */
    MOST_DRAWN =
        2048 /* draws before they are stored: batches get short at the end of each such lot */
};

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
    const dg_isochronous *sampler = lanes->sampler;
    *info = (dg_lanes_info){
        .isa = lanes->isa,
        .n_core = sampler->n_core,
        .n_tail = sampler->n_tail,
        .block_bits = sampler->block_bits,
        .attempt_bytes = lanes->attempt_bytes,
        .above = lanes->above,
        .above_a_step = lanes->above_a_step,
        .below = lanes->below,
        .in_lanes = lanes->kernel != NULL,
    };
}

static dg_status draw_batch(int64_t *drawn, size_t n, size_t n_later, const dg_lanes *lanes,
                            dg_bits *bits)
{
    if (lanes->kernel != NULL) {
        return dg_lanes_draw(drawn, n, n_later, lanes, bits);
    }
    for (size_t i = 0; i < n; i++) {
        DG_TRY(dg_isochronous_value(&drawn[i], lanes->sampler, bits));
    }
    return DG_OK;
}

/** Store an integer of n_bytes, in two's complement, in an array of a dtype, as dg_store_drawn does. */
static dg_status store_narrow(uint8_t *out, dg_dtype dtype, const uint8_t *item, size_t n_bytes)
{
    const size_t size = dg_dtype_size(dtype);
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | item[i - 1];
    }
    const uint8_t above = dtype <= DG_INT64 ? (uint8_t)(0 - (item[size - 1] >> 7)) : 0;
    uint8_t lost = 0;
    for (size_t i = size; i < n_bytes; i++) {
        lost |= item[i] ^ above;
    }
    switch (size) {
    case 1:
        *out = (uint8_t)value;
        break;
    case 2:
        *(uint16_t *)(void *)out = (uint16_t)value;
        break;
    case 4:
        *(uint32_t *)(void *)out = (uint32_t)value;
        break;
    default:
        *(uint64_t *)(void *)out = value;
    }
    DG_PUBLIC(lost);
    return lost != 0 ? DG_ERR_RANGE : DG_OK;
}

/** Draws of laws so wide, or so far away, that single draws are no int64. */
static dg_status draw_narrow(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    uint8_t item[MOST_NARROW];
    const size_t n_bytes = fill->lanes->sampler->law->wide_bytes;
    dg_status status = DG_OK;
    for (size_t i = first; i < end && status == DG_OK; i++) {
        status = dg_isochronous_bytes(item, n_bytes, fill->lanes->sampler, &session->bits);
        if (status == DG_OK) {
            status = store_narrow(fill->out + i * fill->item_bytes, fill->dtype, item, n_bytes);
        }
    }
    dg_wipe(item, sizeof item);
    return status;
}

/** Draws that are int64, before they are stored. */
static dg_status draw_int64s(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    int64_t drawn[MOST_DRAWN + DG_LANE_BEHIND];
    const size_t used = (lot_of(end - first) + DG_LANE_BEHIND) * sizeof *drawn;
    dg_status status = DG_OK;
    while (first < end && status == DG_OK) {
        const size_t n = lot_of(end - first);
        status = draw_batch(drawn, n, end - first - n, fill->lanes, &session->bits);
        if (status == DG_OK) {
            status = dg_store_drawn(fill->out + first * fill->item_bytes, n, fill->dtype, drawn);
        }
        first += n;
    }
    dg_wipe(drawn, used);
    return status;
}

dg_status dg_draw_lanes(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    const dg_isochronous *sampler = fill->lanes->sampler;
    if (fill->lanes->kernel != NULL || sampler->fits_int64) {
        return draw_int64s(fill, first, end, session);
    }
    if (sampler->law->wide_bytes > MOST_NARROW) { /* far from any dtype */
        return DG_ERR_RANGE;
    }
    return draw_narrow(fill, first, end, session);
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
        size_t n = 1;
        if (lanes->kernel != NULL) {
            n = lot_of(end - first);
            status = dg_lanes_draw(drawn, n, end - first - n, lanes, &session->bits);
            for (size_t i = 0; i < n && status == DG_OK; i++) {
                store_bytes(fill->out + (first + i) * fill->item_bytes, fill->item_bytes, drawn[i]);
            }
        } else {
            status = dg_isochronous_bytes(fill->out + first * fill->item_bytes, fill->item_bytes,
                                          lanes->sampler, &session->bits);
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
    if (n_bytes < lanes->sampler->law->wide_bytes) {
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
