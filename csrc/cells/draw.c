#include "cells/draw.h"

#include "base/dtype.h"
#include "base/wipe.h"
#include "cells/decide.h"
#include "cells/look_up.h"

#include <string.h>

#if DG_HAVE_WORDS

enum { MOST_CHUNK = 1024, CHUNK_BYTES = 8192, MOST_DTYPE_REST = 2 };

size_t dg_table_word_bytes(const dg_table *table)
{
    return (table->index_bits + table->tick_bits + 7) / 8;
}

size_t dg_table_chunk(const dg_table *table)
{
    return table->rest_bytes * MOST_CHUNK > CHUNK_BYTES ? CHUNK_BYTES / table->rest_bytes + 1
                                                        : MOST_CHUNK;
}

/** A draw whose cell is not full: its position in the chunk and its word. */
typedef struct flagged {
    uint64_t word;
    uint32_t at;
} flagged;

/** What one fill works with. */
typedef struct fill_state {
    const dg_table *table;
    dg_bits *bits;
    uint32_t n_flagged;
    uint16_t
        at[MOST_CHUNK + DG_POSITIONS_BEHIND]; /* positions of the draws whose cells are not full */
    flagged flagged[MOST_CHUNK];
    int64_t y[MOST_CHUNK];                      /* block 2^tick_bits + tick */
    uint8_t rest[MOST_CHUNK * MOST_DTYPE_REST]; /* of fills into a dtype */
} fill_state;

/** Keep the words of the draws whose cells are not full: reading on moves the buffer. */
static void keep_flagged(fill_state *state, uint32_t count, const uint8_t *words, size_t n_bytes)
{
    state->n_flagged = count;
    for (uint32_t i = 0; i < count; i++) {
        size_t at = state->at[i];
        uint64_t word = dg_load_word(words + at * n_bytes, n_bytes);
        state->flagged[i] = (flagged){word, (uint32_t)at};
        dg_decide_soon(word, state->table);
    }
}

/** Decide the draw that began with `word`, trying again until an attempt succeeds.
 *  Ensures: *y = block 2^tick_bits + tick, and rest is that of the attempt. */
static dg_status settle(dg_i128 *y, uint64_t word, uint8_t *rest, fill_state *state)
{
    const dg_table *table = state->table;
    for (;;) {
        dg_place place;
        bool accepted;
        DG_TRY(dg_decide(&place, &accepted, word, rest, table, state->bits));
        if (accepted) {
            *y = (dg_i128)place.block * ((dg_i128)1 << table->tick_bits) + (dg_i128)place.tick;
            return DG_OK;
        }
        DG_TRY(dg_bits_word(&word, dg_table_word_bytes(table), state->bits));
        DG_TRY(dg_bits_take(rest, table->rest_bytes, state->bits));
    }
}

/** Store value in out[i] if it fits the dtype. */
static dg_status store(void *out, size_t i, dg_dtype dtype, dg_i128 value)
{
    dg_u128 magnitude = value < 0 ? -(dg_u128)value : (dg_u128)value;
    if (magnitude >> 64 != 0) {
        return DG_ERR_RANGE;
    }
    return dg_dtype_store(out, i, dtype, value < 0, (uint64_t)magnitude);
}

/** Make the words of a chunk available. Returns: where they are, in *words; they stay there until
 *  more is read. */
static dg_status read_words(const uint8_t **words, size_t n, dg_bits *bits, const dg_table *table)
{
    size_t n_bytes = n * dg_table_word_bytes(table);
    DG_TRY(dg_bits_refill(bits, n_bytes));
    *words = bits->buffer + bits->position;
    bits->position += n_bytes;
    return DG_OK;
}

/** One chunk into a dtype that holds the whole core; no rest. */
static dg_status fill_chunk_directly(void *out, size_t n, dg_dtype dtype, dg_i128 c,
                                     fill_state *state)
{
    const dg_table *table = state->table;
    const uint8_t *words;
    size_t n_bytes = dg_table_word_bytes(table);
    DG_TRY(read_words(&words, n, state->bits, table));
    uint32_t count =
        table->look_up(out, dg_dtype_size(dtype), state->at, n, (uint64_t)c, words, table);
    keep_flagged(state, count, words, n_bytes);
    for (uint32_t i = 0; i < state->n_flagged; i++) {
        dg_i128 y;
        DG_TRY(settle(&y, state->flagged[i].word, state->rest, state));
        DG_TRY(store(out, state->flagged[i].at, dtype, c + y));
    }
    return DG_OK;
}

/** state->y = the chunk's block 2^tick_bits + tick; its flagged draws are noted. */
static dg_status look_up_chunk(size_t n, fill_state *state)
{
    const uint8_t *words;
    DG_TRY(read_words(&words, n, state->bits, state->table));
    size_t n_bytes = dg_table_word_bytes(state->table);
    uint32_t count =
        state->table->look_up(state->y, sizeof *state->y, state->at, n, 0, words, state->table);
    keep_flagged(state, count, words, n_bytes);
    return DG_OK;
}

/** One chunk into a dtype, every draw checked. */
static dg_status fill_chunk_checked(uint8_t *out, size_t n, dg_dtype dtype, size_t first, dg_i128 c,
                                    fill_state *state)
{
    const size_t rest_bytes = state->table->rest_bytes;
    DG_TRY(look_up_chunk(n, state));
    DG_TRY(dg_bits_take(state->rest, n * rest_bytes, state->bits));
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        dg_i128 y = state->y[i];
        uint8_t *rest = state->rest + i * rest_bytes;
        if (next < state->n_flagged && state->flagged[next].at == i) {
            DG_TRY(settle(&y, state->flagged[next++].word, rest, state));
        }
        y = y * ((dg_i128)1 << (8 * rest_bytes));
        for (size_t k = 0; k < rest_bytes; k++) {
            y += (dg_i128)rest[k] << (8 * k);
        }
        DG_TRY(store(out, first + i, dtype, c + y));
    }
    return DG_OK;
}

/** c. Requires: below 2^64 in size. */
static dg_i128 centre_of(const dg_table *table)
{
    uint64_t magnitude = 0;
    mpz_export(&magnitude, NULL, -1, sizeof magnitude, 0, 0, table->law->c);
    return mpz_sgn(table->law->c) < 0 ? -(dg_i128)magnitude : (dg_i128)magnitude;
}

/** Whether every integer of the core fits the dtype. */
static bool core_fits(dg_dtype dtype, const dg_table *table)
{
    uint64_t probe;
    dg_i128 c = centre_of(table), w = (dg_i128)1 << table->block_bits;
    return store(&probe, 0, dtype, c + table->first_block * w) == DG_OK &&
           store(&probe, 0, dtype, c + (table->last_block + 1) * w - 1) == DG_OK;
}

/** How many bytes the rest of the fill is certain, or likely, to use beyond the present chunk. */
static void look_ahead(size_t draws_left, const dg_table *table, dg_bits *bits)
{
    size_t a_draw = dg_table_word_bytes(table);
    bits->bytes_ahead = draws_left < DG_BITS_CAPACITY ? draws_left * a_draw : DG_BITS_CAPACITY;
    if (!dg_bits_from_caller(bits)) {
        bits->bytes_ahead += 64;
    } else if (table->rest_bytes > 0) {
        bits->bytes_ahead = 0;
    }
}

/** Wipe what a fill of n draws touched. */
static void wipe_state(fill_state *state, size_t n)
{
    size_t most = n < MOST_CHUNK ? n : (size_t)MOST_CHUNK;
    dg_wipe(state->at, (most + DG_POSITIONS_BEHIND) * sizeof *state->at);
    dg_wipe(state->flagged, most * sizeof *state->flagged);
    dg_wipe(state->y, most * sizeof *state->y);
    dg_wipe(state->rest, most * MOST_DTYPE_REST);
}

dg_status dg_table_fill_dtype(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                              dg_bits *bits)
{
    if (table->rest_bytes > MOST_DTYPE_REST || mpz_sizeinbase(table->law->c, 2) > 64) {
        return DG_ERR_RANGE;
    }
    fill_state state;
    state.table = table;
    state.bits = bits;
    const dg_i128 c = centre_of(table);
    bool directly = table->rest_bytes == 0 && core_fits(dtype, table);
    dg_status status = DG_OK;
    size_t chunk = dg_table_chunk(table);
    for (size_t done = 0; done < n && status == DG_OK; done += chunk) {
        size_t some = n - done < chunk ? n - done : chunk;
        look_ahead(n - done - some, table, bits);
        status = directly ? fill_chunk_directly((uint8_t *)out + done * dg_dtype_size(dtype), some,
                                                dtype, c, &state)
                          : fill_chunk_checked(out, some, dtype, done, c, &state);
    }
    wipe_state(&state, n);
    return status;
}

/** out[0 .. n_bytes) += c, in two's complement. */
static dg_status add_centre(uint8_t *out, size_t n_bytes, const dg_table *table)
{
    const uint8_t *c = table->centre_bytes;
    const size_t n_given = table->law->wide_bytes;
    unsigned carry = 0;
    uint8_t out_sign = out[n_bytes - 1] >> 7, c_sign = c[n_given - 1] >> 7;
    for (size_t i = 0; i < n_bytes; i++) {
        carry += (unsigned)out[i] + (i < n_given ? c[i] : c_sign * 255u);
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    bool overflows = out_sign == c_sign && out[n_bytes - 1] >> 7 != out_sign;
    return overflows ? DG_ERR_RANGE : DG_OK;
}

/** out[rest_bytes .. n_bytes) = y in two's complement. */
static dg_status store_above_rest(uint8_t *out, size_t n_bytes, size_t rest_bytes, dg_i128 y)
{
    for (size_t i = rest_bytes; i < n_bytes; i++) {
        out[i] = (uint8_t)y;
        y >>= 8;
    }
    bool negative = out[n_bytes - 1] >= 128;
    return y == (negative ? -1 : 0) ? DG_OK : DG_ERR_RANGE;
}

static dg_status fill_chunk_bytes(uint8_t *out, size_t n, size_t n_bytes, fill_state *state)
{
    const size_t rest_bytes = state->table->rest_bytes;
    DG_TRY(look_up_chunk(n, state));
    for (size_t i = 0; i < n; i++) {
        DG_TRY(dg_bits_take(out + i * n_bytes, rest_bytes, state->bits));
    }
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++, out += n_bytes) {
        dg_i128 y = state->y[i];
        if (next < state->n_flagged && state->flagged[next].at == i) {
            DG_TRY(settle(&y, state->flagged[next++].word, out, state));
        }
        DG_TRY(store_above_rest(out, n_bytes, rest_bytes, y));
        if (mpz_sgn(state->table->law->c) != 0) {
            DG_TRY(add_centre(out, n_bytes, state->table));
        }
    }
    return DG_OK;
}

dg_status dg_table_fill_bytes(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                              dg_bits *bits)
{
    if (n_bytes < table->law->wide_bytes) {
        return DG_ERR_RANGE;
    }
    fill_state state;
    state.table = table;
    state.bits = bits;
    dg_status status = DG_OK;
    size_t chunk = dg_table_chunk(table);
    for (size_t done = 0; done < n && status == DG_OK; done += chunk) {
        size_t some = n - done < chunk ? n - done : chunk;
        look_ahead(n - done - some, table, bits);
        status = fill_chunk_bytes(out + done * n_bytes, some, n_bytes, &state);
    }
    wipe_state(&state, n);
    return status;
}

#endif
