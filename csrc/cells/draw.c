#include "cells/draw.h"

#include "base/dtype.h"
#include "base/wide.h"
#include "base/wipe.h"
#include "cells/decide.h"
#include "cells/look_up.h"

#include <string.h>

enum { CHUNK_BYTES = 8192, MOST_DTYPE_REST = 2, CACHE_LINE = 64 };

size_t dg_table_chunk(const dg_table *table)
{
    if (table->rest_bytes * DG_MOST_CHUNK > CHUNK_BYTES) {
        return CHUNK_BYTES / table->rest_bytes + 1;
    }
    /* the planes of a chunk, and its positions, are available at once: DG_BITS_MOST bytes */
    return table->tick_bits <= 16 ? DG_MOST_CHUNK : DG_MOST_CHUNK / 2;
}

/** A draw that the look-up leaves: its place in the round and its word, cell + tick 2^index_bits. */
typedef struct flagged {
    uint64_t word;
    uint32_t at;
} flagged;

/** Where the draws of a chunk go. */
typedef struct sink {
    const dg_table *table;
    uint8_t *out;  /* the chunk's part of the output */
    size_t stride; /* bytes of an item */
    bool wide;     /* items are integers of `stride` bytes, else of a dtype: */
    dg_dtype dtype;
    bool direct; /* the dtype holds the whole core, and there is no rest */
    dg_wide c;
    const uint8_t *next; /* the next chunk's part of the output, if it is written directly */
    size_t next_bytes;
    uint8_t *rest; /* the rests; of wide items they are the items' low bytes */
    size_t rest_stride;
} sink;

/** What one fill works with. */
typedef struct fill_state {
    dg_bits *bits;
    uint32_t n_flagged;
    dg_found found;   /* in the round: found.at has the flagged draws */
    bool first_round; /* which draws item i as its i-th; later ones draw pending[i] */
    uint16_t pending[DG_MOST_CHUNK];
    flagged flagged[DG_MOST_CHUNK];
    int64_t y[DG_MOST_CHUNK];                      /* block 2^tick_bits + tick */
    uint8_t rest[DG_MOST_CHUNK * MOST_DTYPE_REST]; /* of fills into a dtype */
} fill_state;

/** Store value in out[i] if it fits the dtype. */
static dg_status store(void *out, size_t i, dg_dtype dtype, dg_wide value)
{
    if (value.high == 0) {
        return dg_dtype_store(out, i, dtype, false, value.low);
    }
    if (value.high == -1 && value.low != 0) {
        return dg_dtype_store(out, i, dtype, true, 0 - value.low);
    }
    return DG_ERR_RANGE; /* 2^64 or more in size */
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
static dg_status store_above_rest(uint8_t *out, size_t n_bytes, size_t rest_bytes, dg_wide y)
{
    for (size_t i = rest_bytes; i < n_bytes; i++) {
        out[i] = (uint8_t)y.low;
        y = dg_wide_down(y, 8);
    }
    const int64_t sign = out[n_bytes - 1] >= 128 ? -1 : 0;
    return y.high == sign && y.low == (uint64_t)sign ? DG_OK : DG_ERR_RANGE;
}

/** Item i of the chunk = c + (y 2^(8 rest_bytes) + rest). */
static dg_status put(const sink *to, size_t i, dg_wide y)
{
    const dg_table *table = to->table;
    if (to->wide) {
        uint8_t *item = to->out + i * to->stride;
        DG_TRY(store_above_rest(item, to->stride, table->rest_bytes, y));
        return mpz_sgn(table->law->c) == 0 ? DG_OK : add_centre(item, to->stride, table);
    }
    for (size_t k = table->rest_bytes; k > 0; k--) {
        y = dg_wide_up(y, 8);
        y.low |= to->rest[i * to->rest_stride + k - 1];
    }
    return store(to->out, i, to->dtype, dg_wide_add(to->c, y));
}

/** Item i = value, cut to the item. */
static inline void put_item(uint8_t *out, size_t i, size_t stride, uint64_t value)
{
    const uint32_t value32 = (uint32_t)value;
    const uint16_t value16 = (uint16_t)value;
    const uint8_t value8 = (uint8_t)value;
    switch (stride) {
    case 1:
        memcpy(out + i, &value8, 1);
        break;
    case 2:
        memcpy(out + 2 * i, &value16, 2);
        break;
    case 4:
        memcpy(out + 4 * i, &value32, 4);
        break;
    default:
        memcpy(out + 8 * i, &value, 8);
    }
}

/** Item i of the chunk = c + y, cut to the item: it fits if y is of the core. */
static inline void put_directly(const sink *to, size_t i, uint64_t y)
{
    put_item(to->out, i, to->stride, to->c.low + y);
}

/** The bytes of the planes of n draws, without positions. */
static size_t plane_bytes(size_t n, const dg_table *table)
{
    return n * (1 + table->tick_bits / 8) + (n + 7) / 8 * (table->tick_bits % 8);
}

/** Read the bits of n draws. Positions come last: how many are drawn depends on the rows. */
static dg_status read_planes(dg_planes *planes, dg_found *found, size_t n, const dg_table *table,
                             dg_bits *bits)
{
    size_t n_bytes = plane_bytes(n, table);
    DG_TRY(dg_bits_refill(bits, n_bytes));
    size_t n_mixed = table->find_mixed(found, bits->buffer + bits->position, n, table);
    DG_TRY(dg_bits_refill(bits, n_bytes + n_mixed));
    const uint8_t *start = bits->buffer + bits->position;
    *planes = (dg_planes){n, start, start + n, start + n_bytes, n_mixed};
    bits->position += n_bytes + n_mixed;
    return DG_OK;
}

/** The item that the look-up wrote, as far as it goes. */
static inline uint64_t item_at(const uint8_t *out, size_t i, size_t stride)
{
    uint8_t value8;
    uint16_t value16;
    uint32_t value32;
    uint64_t value;
    switch (stride) {
    case 1:
        memcpy(&value8, out + i, 1);
        return value8;
    case 2:
        memcpy(&value16, out + 2 * i, 2);
        return value16;
    case 4:
        memcpy(&value32, out + 4 * i, 4);
        return value32;
    default:
        memcpy(&value, out + 8 * i, 8);
        return value;
    }
}

/** Finish the draws that the look-up left whose cells are full; keep the others in state->flagged,
 * with their words, as reading on moves the buffer. */
static void finish_full(uint8_t *out, size_t stride, uint64_t c, const dg_planes *planes,
                        const dg_table *table, fill_state *state)
{
    const size_t row_mask = ((size_t)1 << table->rows.row_bits) - 1;
    const uint64_t tick_mask = (UINT64_C(1) << table->tick_bits) - 1;
    const uint32_t n = state->n_flagged;
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        const size_t at = state->found.at[i], row = planes->rows[at] & row_mask;
        const uint16_t special =
            (uint16_t)(state->found.position_of[at] + table->rows.special[row]);
        const uint32_t cell = table->n_coded + special;
        /* the item is c + a multiple of 2^tick_bits + the tick; items hold the whole core, so they
         * are longer than a tick */
        const uint64_t tick = (item_at(out, at, stride) - c) & tick_mask;
        const uint64_t word = cell | tick << table->index_bits;
        /* of a cell that is not full: something, which nobody reads */
        const uint64_t block = (uint64_t)(int64_t)table->block_of[cell];
        put_item(out, at, stride, c + (block << table->tick_bits) + tick);
        state->flagged[left] = (flagged){word, (uint32_t)at};
        left += cell >= table->n_full;
        dg_decide_soon(word, 0, table);
    }
    state->n_flagged = left;
    for (uint32_t i = 0; i < left; i++) {
        dg_decide_soon(state->flagged[i].word, 1, table);
    }
}

/** Look up n draws: into the output if `directly`, else into state->y; note those that are left. */
static dg_status look_up_round(const sink *to, size_t n, bool directly, fill_state *state)
{
    const dg_table *table = to->table;
    dg_planes planes;
    DG_TRY(read_planes(&planes, &state->found, n, table, state->bits));
    uint8_t *out = directly ? to->out : (uint8_t *)state->y;
    const size_t stride = directly ? to->stride : sizeof *state->y;
    const uint64_t c = directly ? to->c.low : 0;
    state->n_flagged = table->look_up(out, &state->found, stride, c, &planes, table);
    finish_full(out, stride, c, &planes, table, state);
    return DG_OK;
}

/** The item that the i-th draw of the round is for. */
static inline size_t item_of(size_t i, const fill_state *state)
{
    return state->first_round ? i : state->pending[i];
}

/** Put the draws of a round whose cells are full: those between the flagged ones. */
static dg_status put_full(const sink *to, size_t n, const fill_state *state)
{
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (next < state->n_flagged && state->flagged[next].at == i) {
            next++;
            continue;
        }
        DG_TRY(put(to, item_of(i, state), dg_wide_of(state->y[i])));
    }
    return DG_OK;
}

/** How many cache lines of the next chunk's output go with each flagged draw. */
static size_t next_lines(const sink *to, const fill_state *state)
{
    const size_t most = to->next_bytes / CACHE_LINE;
    return state->n_flagged == 0 ? 0 : most / state->n_flagged + 1;
}

/** Have n lines of the next chunk's output brought to the cache, while decisions keep the processor
 * busy: the look-up writes faster than memory takes it. */
static inline void fetch_next(const sink *to, size_t first, size_t n)
{
    for (size_t i = first; i < first + n && i * CACHE_LINE < to->next_bytes; i++) {
        __builtin_prefetch(to->next + i * CACHE_LINE, 1, 2);
    }
}

/** Decide the flagged draws of a round. Ensures: *n_left draws, whose attempts failed, are pending.
 */
static dg_status decide_flagged(const sink *to, size_t *n_left, fill_state *state)
{
    const dg_table *table = to->table;
    uint32_t left = 0;
    const size_t lines = state->first_round ? next_lines(to, state) : 0;
    for (uint32_t i = 0; i < state->n_flagged; i++) {
        fetch_next(to, i * lines, lines);
        const size_t position = item_of(state->flagged[i].at, state);
        const uint8_t *rest = to->rest + position * to->rest_stride;
        dg_place place;
        bool accepted;
        DG_TRY(dg_decide(&place, &accepted, state->flagged[i].word, rest, table, state->bits));
        dg_wide y = dg_wide_up(dg_wide_of(place.block), table->tick_bits);
        y = dg_wide_add(y, dg_wide_of_unsigned(place.tick));
        bool in_core = place.block >= table->first_block && place.block <= table->last_block;
        if (to->direct && in_core) { /* what failed is written over in a later round */
            put_directly(to, position, y.low);
        } else if (accepted) {
            DG_TRY(put(to, position, y));
        }
        /* left <= flagged[i].at: nothing that is still needed is written over */
        state->pending[left] = (uint16_t)position;
        left += !accepted;
    }
    *n_left = left;
    return DG_OK;
}

/** Draw the n samples of a chunk, in rounds: one for all of them, the next one for those whose
 * attempt failed, until there are none. */
static dg_status fill_chunk(const sink *to, size_t n, fill_state *state)
{
    bool directly = to->direct;
    state->first_round = true;
    while (n > 0) {
        DG_TRY(look_up_round(to, n, directly, state));
        for (size_t i = 0; i < n && to->table->rest_bytes > 0; i++) {
            uint8_t *rest = to->rest + item_of(i, state) * to->rest_stride;
            DG_TRY(dg_bits_take(rest, to->table->rest_bytes, state->bits));
        }
        if (to->direct && !directly) {
            for (size_t i = 0; i < n; i++) { /* what is flagged is written over */
                put_directly(to, item_of(i, state), (uint64_t)state->y[i]);
            }
        } else if (!directly) {
            DG_TRY(put_full(to, n, state));
        }
        DG_TRY(decide_flagged(to, &n, state));
        directly = false;
        state->first_round = false;
    }
    return DG_OK;
}

/** c. Requires: below 2^64 in size. */
static dg_wide centre_of(const dg_table *table)
{
    uint64_t magnitude = 0;
    mpz_export(&magnitude, NULL, -1, sizeof magnitude, 0, 0, table->law->c);
    bool negative = mpz_sgn(table->law->c) < 0;
    return negative ? (dg_wide){-1, 0 - magnitude} : dg_wide_of_unsigned(magnitude);
}

/** Whether every integer of the core fits the dtype. Requires: no rest, so block_bits <= 48. */
static bool core_fits(dg_dtype dtype, const dg_table *table)
{
    uint64_t probe;
    dg_wide c = centre_of(table);
    int64_t w = INT64_C(1) << table->block_bits;
    int64_t first = table->first_block * w, last = (table->last_block + 1) * w - 1;
    return store(&probe, 0, dtype, dg_wide_add(c, dg_wide_of(first))) == DG_OK &&
           store(&probe, 0, dtype, dg_wide_add(c, dg_wide_of(last))) == DG_OK;
}

/** How many bytes the rest of the fill is certain, or likely, to use beyond the present chunk. */
static void look_ahead(size_t draws_left, const dg_table *table, dg_bits *bits)
{
    size_t some = draws_left < DG_BITS_CAPACITY ? draws_left : DG_BITS_CAPACITY;
    bits->bytes_ahead = plane_bytes(some, table);
    if (!dg_bits_from_caller(bits)) {
        bits->bytes_ahead += 64;
    } else if (table->rest_bytes > 0) {
        bits->bytes_ahead = 0;
    }
}

/** Wipe what a fill of n draws touched. */
static void wipe_state(fill_state *state, size_t n)
{
    size_t most = n < DG_MOST_CHUNK ? n : (size_t)DG_MOST_CHUNK;
    dg_wipe(state->found.at, (most + DG_FOUND_BEHIND) * sizeof *state->found.at);
    dg_wipe(state->found.position_of, most + DG_FOUND_BEHIND);
    dg_wipe(state->found.code, most + DG_FOUND_BEHIND);
    dg_wipe(state->pending, most * sizeof *state->pending);
    dg_wipe(state->flagged, most * sizeof *state->flagged);
    dg_wipe(state->y, most * sizeof *state->y);
    dg_wipe(state->rest, most * MOST_DTYPE_REST);
}

/** Fill n items, chunk by chunk. Not inlined: what it spills must lie where `fill` wipes. */
static __attribute__((noinline)) dg_status fill_chunks(sink *to, size_t n, fill_state *state)
{
    const size_t chunk = dg_table_chunk(to->table);
    for (size_t done = 0; done < n; done += chunk) {
        size_t some = n - done < chunk ? n - done : chunk;
        const size_t left = n - done - some;
        look_ahead(left, to->table, state->bits);
        to->next = to->out + some * to->stride;
        to->next_bytes = to->direct ? (left < chunk ? left : chunk) * to->stride : 0;
        if (to->wide) {
            to->rest = to->out;
        }
        DG_TRY(fill_chunk(to, some, state));
        to->out += some * to->stride;
    }
    return DG_OK;
}

/** Fill n items, then wipe the state and the stack below it, where the caller of ours, who wipes
 * the stack below itself, may not reach. */
static dg_status fill(sink *to, size_t n, dg_bits *bits, fill_state *state)
{
    state->bits = bits;
    dg_status status = fill_chunks(to, n, state);
    wipe_state(state, n);
    dg_wipe_stack(to->table->law->stack_bytes);
    return status;
}

dg_status dg_table_fill_dtype(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                              dg_bits *bits)
{
    if (table->rest_bytes > MOST_DTYPE_REST || mpz_sizeinbase(table->law->c, 2) > 64) {
        return DG_ERR_RANGE;
    }
    fill_state state;
    sink to = {.table = table,
               .out = out,
               .stride = dg_dtype_size(dtype),
               .dtype = dtype,
               .direct = table->rest_bytes == 0 && core_fits(dtype, table),
               .c = centre_of(table),
               .rest = state.rest,
               .rest_stride = table->rest_bytes};
    return fill(&to, n, bits, &state);
}

dg_status dg_table_fill_bytes(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                              dg_bits *bits)
{
    if (n_bytes < table->law->wide_bytes) {
        return DG_ERR_RANGE;
    }
    fill_state state;
    sink to = {.table = table, .out = out, .stride = n_bytes, .wide = true, .rest_stride = n_bytes};
    return fill(&to, n, bits, &state);
}
