#include "api/draw_items.h"

#include "base/dtype.h"
#include "base/wipe.h"
#include "cells/draw.h"
#include "exact/words.h"
#include "sampler/prepare.h"

#include <string.h>

/* --- by Algorithms 1-3 --------------------------------------------------------------------------- */

/** One draw as sign and magnitude. If the magnitude has more than 64 bits, it is in `big`. */
typedef struct one_draw {
    bool negative;
    bool is_big;
    uint64_t low, high; /* magnitude = high 2^64 + low, unless is_big */
} one_draw;

static dg_status draw_one(one_draw *out, const dg_law *law, dg_big *big, dg_bits *bits)
{
#if DG_HAVE_WORDS
    if (law->uses_words) {
        dg_i128 value;
        DG_TRY(dg_words_draw(&value, law, big, bits));
        dg_u128 magnitude = value < 0 ? -(dg_u128)value : (dg_u128)value;
        *out = (one_draw){value < 0, false, (uint64_t)magnitude, (uint64_t)(magnitude >> 64)};
        return DG_OK;
    }
#endif
    DG_TRY(dg_big_draw(law, big, bits));
    *out = (one_draw){mpz_sgn(big->y) < 0, true, 0, 0};
    if (mpz_sizeinbase(big->y, 2) <= 64) {
        out->is_big = false;
        mpz_export(&out->low, NULL, -1, sizeof out->low, 0, 0, big->y);
    }
    return DG_OK;
}

/** Say how many bytes the call will use after the ones that a draw requests: certainly those of draws_left draws of
 *  this law, and probably those of draws_beyond draws of other laws. */
static inline void look_ahead(dg_bits *bits, size_t draws_left, size_t draws_beyond,
                              const dg_law *law)
{
    size_t a_draw = law->min_bytes;
    if (!dg_bits_from_caller(bits)) {
        a_draw = law->expected_bytes;
        draws_left += draws_beyond;
    }
    bits->bytes_ahead = draws_left < DG_BITS_CAPACITY ? draws_left * a_draw : DG_BITS_CAPACITY;
    if (!dg_bits_from_caller(bits)) {
        bits->bytes_ahead += 2 * a_draw;
    }
}

/** out[0 .. n_bytes) = the draw in two's complement, least significant byte first. */
static dg_status store_wide(uint8_t *out, size_t n_bytes, const one_draw *one, const mpz_t y)
{
    memset(out, 0, n_bytes);
    if (one->is_big) {
        if (mpz_sizeinbase(y, 2) > 8 * n_bytes) {
            return DG_ERR_RANGE;
        }
        mpz_export(out, NULL, -1, 1, 0, 0, y);
    } else {
        for (size_t i = 0; i < 16; i++) {
            uint8_t byte = (uint8_t)((i < 8 ? one->low : one->high) >> (8 * (i % 8)));
            if (i < n_bytes) {
                out[i] = byte;
            } else if (byte != 0) {
                return DG_ERR_RANGE;
            }
        }
    }
    unsigned carry = 1;
    for (size_t i = 0; one->negative && i < n_bytes; i++) {
        carry += (uint8_t)~out[i];
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    /* The sign bit tells whether the magnitude fits. */
    bool reads_negative = out[n_bytes - 1] >= 128;
    return reads_negative == one->negative ? DG_OK : DG_ERR_RANGE;
}

dg_status dg_draw_items(const dg_fill *fill, size_t first, size_t end, size_t beyond,
                        const dg_law *law, dg_session *session)
{
    for (size_t i = first; i < end; i++) {
        one_draw one;
        look_ahead(&session->bits, end - 1 - i, beyond, law);
        DG_TRY(draw_one(&one, law, &session->big, &session->bits));
        if (fill->wide) {
            DG_TRY(store_wide(fill->out + i * fill->item_bytes, fill->item_bytes, &one,
                              session->big.y));
        } else if (one.is_big || one.high != 0) {
            return DG_ERR_RANGE;
        } else {
            DG_TRY(dg_dtype_store(fill->out, i, fill->dtype, one.negative, one.low));
        }
    }
    return DG_OK;
}

dg_status dg_draw_law(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    return dg_draw_items(fill, first, end, 0, fill->law, session);
}

/* --- by cells ------------------------------------------------------------------------------------ */

dg_status dg_draw_table(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    uint8_t *out = fill->out + first * fill->item_bytes;
    const dg_table *table = ((const dg_sampler *)fill->from)->table;
    return fill->wide
               ? dg_table_fill_bytes(out, end - first, fill->item_bytes, table, &session->bits)
               : dg_table_fill_dtype(out, end - first, fill->dtype, table, &session->bits);
}

/* --- isochronously -------------------------------------------------------------------------------- */

#if DG_HAVE_WORDS

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

static dg_status store(const dg_fill *fill, size_t first, size_t n, const int64_t *draws)
{
    uint8_t *out = fill->out + first * fill->item_bytes;
    if (!fill->wide) {
        return dg_dtype_store_all(out, n, fill->dtype, draws);
    }
    for (size_t i = 0; i < n; i++) {
        store_bytes(out + i * fill->item_bytes, fill->item_bytes, draws[i]);
    }
    return DG_OK;
}

/** Return how many draws are missing to the end of the piece (silent.h) in which item `at` is, or of the fill. */
static size_t left_of_piece(size_t at, size_t end)
{
    const size_t left = DG_SILENT_PIECE - at % DG_SILENT_PIECE;
    return end - at < left ? end - at : left;
}

dg_status dg_draw_silent(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    const dg_silent *silent = ((const dg_sampler *)fill->from)->silent;
    const bool in_place = !fill->wide && fill->dtype == DG_INT64;
    dg_silent_space space;
    dg_status status = DG_OK;
    dg_silent_open(&space);
    for (size_t n = 0; first < end && status == DG_OK; first += n) {
        const bool has_room = in_place && end - first >= DG_SILENT_BATCH + DG_SILENT_BEHIND;
        int64_t *to = has_room ? (int64_t *)(void *)fill->out + first : space.draws;
        status = dg_silent_next(to, &n, left_of_piece(first, end), silent, &space, &session->bits);
        if (status == DG_OK && !has_room) {
            status = store(fill, first, n, to);
        }
    }
    dg_silent_close(&space, silent);
    return status;
}

#else /* no sampler draws so */

dg_status dg_draw_silent(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    (void)fill, (void)first, (void)end, (void)session;
    return DG_ERR_METHOD;
}

#endif
