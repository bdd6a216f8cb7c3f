/* Fills by Algorithms 1-3. */
#include "api/draw_items.h"
#include "api/run.h"
#include "base/dtype.h"
#include "base/status.h"
#include "exact/words.h"
#include "random/bits.h"

#include <stdint.h>
#include <string.h>

/** One draw as sign and magnitude. A magnitude of more than 64 bits lies in `big`. */
typedef struct drawn {
    bool negative;
    bool is_big;
    uint64_t low, high; /* magnitude = high 2^64 + low, unless is_big */
} drawn;

static dg_status draw_one(drawn *out, const dg_law *law, dg_big *big, dg_bits *bits)
{
#if DG_HAVE_WORDS
    if (law->uses_words) {
        dg_i128 value;
        DG_TRY(dg_words_draw(&value, law, big, bits));
        dg_u128 magnitude = value < 0 ? -(dg_u128)value : (dg_u128)value;
        *out = (drawn){value < 0, false, (uint64_t)magnitude, (uint64_t)(magnitude >> 64)};
        return DG_OK;
    }
#endif
    DG_TRY(dg_big_draw(law, big, bits));
    *out = (drawn){mpz_sgn(big->y) < 0, true, 0, 0};
    if (mpz_sizeinbase(big->y, 2) <= 64) {
        out->is_big = false;
        mpz_export(&out->low, NULL, -1, sizeof out->low, 0, 0, big->y);
    }
    return DG_OK;
}

/** Say how many bytes the call is certain (or likely) to use after the ones that a draw asks for: those
 *  of draws_left draws of this law and, likely, of draws_beyond others. */
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

/** How many draws of a law make a piece: some 0.3 ms where its parameters are short. */
static size_t piece_of(const dg_law *law)
{
    enum { PIECE_BYTES = 1 << 15 };
    const size_t bytes = law->wide_bytes + law->limb_bits / 8;
    return bytes < PIECE_BYTES ? PIECE_BYTES / bytes : 1;
}

dg_status dg_draw_items(void *out, size_t first, size_t end, size_t beyond, dg_dtype dtype,
                        const dg_law *law, dg_session *session)
{
    for (size_t i = first; i < end; i++) {
        drawn one;
        look_ahead(&session->bits, end - 1 - i, beyond, law);
        DG_TRY(draw_one(&one, law, &session->big, &session->bits));
        if (one.is_big || one.high != 0) {
            return DG_ERR_RANGE;
        }
        DG_TRY(dg_dtype_store(out, i, dtype, one.negative, one.low));
    }
    return DG_OK;
}

static dg_status draw_law(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    return dg_draw_items(fill->out, first, end, 0, fill->dtype, fill->law, session);
}

dg_fill dg_law_filling(void *out, size_t n, dg_dtype dtype, const dg_law *law,
                       const dg_source *source)
{
    return (dg_fill){
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = piece_of(law),
        .source = source,
        .law = law,
        .draw = draw_law,
        .dtype = dtype,
    };
}

dg_status dg_law_fill(void *out, size_t n, dg_dtype dtype, const dg_law *law, const dg_run *run,
                      const dg_source *source)
{
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_PARAMETER;
    }
    const dg_fill fill = dg_law_filling(out, n, dtype, law, source);
    return dg_fill_run(&fill, run);
}

/** out[0 .. n_bytes) = the draw in two's complement, least significant byte first. */
static dg_status store_wide(uint8_t *out, size_t n_bytes, const drawn *one, const mpz_t y)
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
    /* The sign bit tells whether the magnitude had room. */
    bool reads_negative = out[n_bytes - 1] >= 128;
    return reads_negative == one->negative ? DG_OK : DG_ERR_RANGE;
}

static dg_status draw_law_wide(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    for (size_t i = first; i < end; i++) {
        drawn one;
        look_ahead(&session->bits, end - 1 - i, 0, fill->law);
        DG_TRY(draw_one(&one, fill->law, &session->big, &session->bits));
        DG_TRY(
            store_wide(fill->out + i * fill->item_bytes, fill->item_bytes, &one, session->big.y));
    }
    return DG_OK;
}

dg_status dg_law_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_law *law,
                           const dg_run *run, const dg_source *source)
{
    if (n == 0 || n_bytes == 0) { /* out may be NULL */
        return n == 0 ? DG_OK : DG_ERR_RANGE;
    }
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = n_bytes,
        .piece = piece_of(law),
        .source = source,
        .law = law,
        .draw = draw_law_wide,
    };
    return dg_fill_run(&fill, run);
}
