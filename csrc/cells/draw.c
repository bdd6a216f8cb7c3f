#include "cells/draw.h"

#include "base/wipe.h"
#include "cells/decide.h"
#include "cells/look_up.h"
#include "cells/output.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    MOST_CHUNK = 8192,
    MOST_DECIDED = 128, /* several times what a batch of a common law needs */
    MOST_REST_BYTES = 8192,
    MOST_DTYPE_REST = 2,
    HEIGHT_BYTES = DG_HEIGHT_BITS / 8
};

/** Return how many draws are looked up together, at most. Their planes and positions are in the buffer
 *  at once, so they take no more than DG_BITS_MOST bytes. */
static size_t batch_of(const dg_table *table)
{
    const bool long_rests = table->rest_bytes * DG_MOST_BATCH > MOST_REST_BYTES;
    return long_rests ? MOST_REST_BYTES / table->rest_bytes + 1 : (size_t)DG_MOST_BATCH;
}

size_t dg_table_chunk(const dg_table *table)
{
    return table->rest_bytes > 0 ? batch_of(table) : (size_t)MOST_CHUNK;
}

/** A draw that neither the look-up nor an arc settles. */
typedef struct doubtful {
    uint16_t special; /* the number of its special cell */
    uint16_t height;
    uint16_t failed; /* its place in fill_state.failed */
} doubtful;

/** The state of one fill. */
typedef struct fill_state {
    dg_bits *bits;
    bool first_round; /* its draw i is for item i; that of a later round, for pending[i] */
    size_t start;     /* of the batch in the round */
    size_t behind;    /* items of the fill that come after the chunk */
    size_t n_pending; /* of the next round so far, no more than start */
    uint32_t n_failed, n_doubtful;
    dg_look_up_result result;
    uint16_t pending[MOST_CHUNK];
    uint16_t special[DG_MOST_BATCH + DG_DECIDE_BEHIND]; /* the cells of the draws in result.at */
    /* of some of these: first ticks, then y; copies of their partial cells; outcomes */
    uint64_t special_y[MOST_DECIDED + DG_DECIDE_BEHIND];
    dg_partial partial[MOST_DECIDED + DG_DECIDE_BEHIND];
    uint8_t outcome[MOST_DECIDED + DG_DECIDE_BEHIND];
    uint16_t failed[DG_MOST_BATCH];   /* the draws of the batch whose attempts failed, in order */
    doubtful doubtful[DG_MOST_BATCH]; /* failed lists them, too, until they are settled */
    int64_t y[DG_MOST_BATCH];         /* block 2^tick_bits + tick, unless it goes to the output */
    uint8_t rest[DG_MOST_BATCH * MOST_DTYPE_REST]; /* of fills into a dtype */
} fill_state;

/** Return how many bytes the planes of n draws have, without positions. */
static size_t plane_bytes(size_t n, const dg_table *table)
{
    return n * (1 + table->tick_bits / 8) + (n + 7) / 8 * (table->tick_bits % 8);
}

/** Return how many of n rows are mixed, and so need a position. */
static size_t count_mixed(const uint8_t *rows, size_t n, const dg_rows *of)
{
    const unsigned mask = (1u << of->row_bits) - 1;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += (rows[i] & mask) < of->n_mixed;
    }
    return count;
}

/** Read the bits of n draws. Positions come last. They are in the buffer, but do not count as read
 *  until the look-up has found out how many it uses. */
static dg_status read_planes(dg_planes *planes, size_t n, const dg_table *table, dg_bits *bits)
{
    const size_t n_bytes = plane_bytes(n, table);
    DG_TRY(dg_bits_refill(bits, n_bytes));
    if (bits->end - bits->position < n_bytes + n) { /* n positions would always suffice */
        size_t n_mixed = count_mixed(bits->buffer + bits->position, n, &table->rows);
        DG_TRY(dg_bits_refill(bits, n_bytes + n_mixed));
    }
    const uint8_t *start = bits->buffer + bits->position;
    *planes = (dg_planes){n, start, start + n, start + n_bytes};
    bits->position += n_bytes;
    return DG_OK;
}

/** Read n heights. The pointer to them is valid until more is read. */
static dg_status read_heights(const uint8_t **heights, size_t n, dg_bits *bits)
{
    DG_TRY(dg_bits_refill(bits, HEIGHT_BYTES * n));
    *heights = bits->buffer + bits->position;
    bits->position += HEIGHT_BYTES * n;
    return DG_OK;
}

/** The array that takes the look-up's draws, and draws in special cells of the core: c + y of the
 *  i-th draw of the batch, cut to the item. */
typedef struct destination {
    uint8_t *out;
    size_t stride;
    uint64_t c;
} destination;

/** Return the tick of a draw. The look-up wrote c + a multiple of 2^tick_bits + the tick. Items hold
 *  the whole core, so they are longer than a tick. */
static inline uint64_t tick_at(const destination *to, size_t at, size_t stride,
                               const dg_table *table)
{
    return (dg_item_at(to->out, at, stride) - to->c) & ((UINT64_C(1) << table->tick_bits) - 1);
}

/** Prefetch the output of a batch of n draws, and of later ones, while bits are made. `left` more draws
 *  follow in the chunk. One refill fetches no more items than it has bytes; the next one goes on. */
static void fetch_ahead(const destination *to, size_t n, size_t left, fill_state *state)
{
    const size_t n_bytes = (n + left + state->behind) * to->stride;
    const size_t most = DG_BITS_CAPACITY * to->stride;
    const uint8_t *end = to->out + (n_bytes < most ? n_bytes : most);
    dg_prefetch *fetch = &state->bits->fetch;
    /* a stream serves one fill, so next points to this array */
    if (fetch->next == NULL || fetch->next < to->out) {
        fetch->next = to->out;
    }
    fetch->n_lines = fetch->next < end ? (size_t)(end - fetch->next) / DG_CACHE_LINE : 0;
}

/** Find the special cells of the n draws that the look-up leaves. */
static void find_special(size_t n, const dg_planes *planes, const dg_table *table,
                         fill_state *state)
{
    const size_t row_mask = ((size_t)1 << table->rows.row_bits) - 1;
    for (size_t i = 0; i < n; i++) {
        const uint16_t at = state->result.at[i];
        const size_t row = planes->rows[at] & row_mask;
        state->special[i] = (uint16_t)(state->result.position_of[at] + table->rows.special[row]);
    }
}

/** Decide n of the batch's draws in special cells, beginning with the first-th. */
INLINE void decide_some(const destination *to, size_t stride, size_t first, size_t n,
                        const uint8_t *heights, const dg_table *table, fill_state *state)
{
    const uint16_t *at = state->result.at + first, *special = state->special + first;
    for (size_t i = 0; i < n; i++) {
        state->special_y[i] = tick_at(to, at[i], stride, table);
        state->partial[i] = *dg_partial_at(special[i], table);
    }
    table->decide_each(state->outcome, state->special_y, special, state->partial,
                       heights + HEIGHT_BYTES * first, n, table);
}

/** Write the n draws that decide_some decided. A failed one, which is written as some integer of the
 *  core, is listed in failed. One in doubt is listed in doubtful and in failed. */
INLINE void put_some(const destination *to, size_t stride, size_t first, size_t n,
                     const uint8_t *heights, fill_state *state)
{
    uint32_t n_failed = state->n_failed;
    for (size_t i = 0; i < n; i++) {
        const uint16_t at = state->result.at[first + i];
        dg_item_put(to->out, at, stride, to->c + state->special_y[i]);
        state->failed[n_failed] = at;
        if (__builtin_expect(state->outcome[i] == DG_IN_DOUBT, 0)) {
            state->doubtful[state->n_doubtful++] = (doubtful){
                state->special[first + i], dg_height_at(heights, first + i), (uint16_t)n_failed};
        }
        n_failed += state->outcome[i] != DG_ACCEPTED;
    }
    state->n_failed = n_failed;
}

/** Decide the n draws in special cells, and write them, a few at a time. stride: to->stride. */
INLINE void decide_items(const destination *to, size_t stride, size_t n, const uint8_t *heights,
                         const dg_table *table, fill_state *state)
{
    state->n_failed = 0;
    state->n_doubtful = 0;
    for (size_t first = 0; first < n; first += MOST_DECIDED) {
        const size_t left = n - first, some = left < MOST_DECIDED ? left : (size_t)MOST_DECIDED;
        decide_some(to, stride, first, some, heights, table, state);
        put_some(to, stride, first, some, heights, state);
    }
}

/** decide_items, compiled for each stride, so that no draw has to branch by it. */
static void decide_special(const destination *to, size_t n, const uint8_t *heights,
                           const dg_table *table, fill_state *state)
{
    switch (to->stride) {
    case 1:
        decide_items(to, 1, n, heights, table, state);
        break;
    case 2:
        decide_items(to, 2, n, heights, table, state);
        break;
    case 4:
        decide_items(to, 4, n, heights, table, state);
        break;
    default:
        decide_items(to, 8, n, heights, table, state);
    }
}

/** Return the item that the i-th draw of the batch is for. */
static inline size_t item_of(size_t i, const fill_state *state)
{
    return state->first_round ? state->start + i : state->pending[state->start + i];
}

/** Settle a doubtful draw. Ensures: it is written if it is accepted. */
static dg_status settle_exactly(bool *accepted, const dg_output *to, const doubtful *of,
                                const destination *target, fill_state *state)
{
    const dg_table *table = to->table;
    const size_t at = state->failed[of->failed], item = item_of(at, state);
    const uint32_t cell = table->n_coded + of->special;
    const uint8_t *rest = to->rest + item * to->rest_stride;
    dg_place place = {0, tick_at(target, at, target->stride, table)};
    DG_TRY(dg_decide_in_doubt(&place, accepted, cell, of->height, rest, table, state->bits));
    if (!*accepted) {
        return DG_OK;
    }
    const dg_int128 y = dg_int128_up(dg_int128_of(place.block), table->tick_bits);
    return dg_output_put(to, item, dg_int128_add(y, dg_int128_of_unsigned(place.tick)));
}

/** Settle the doubtful draws of a batch. Ensures: failed lists those that failed, and no others. */
static dg_status settle_doubtful(const dg_output *to, const destination *target, fill_state *state)
{
    enum { NONE = UINT16_MAX };
    if (state->n_doubtful == 0) {
        return DG_OK;
    }
    for (uint32_t i = 0; i < state->n_doubtful; i++) {
        const doubtful *of = &state->doubtful[i];
        bool accepted;
        DG_TRY(settle_exactly(&accepted, to, of, target, state));
        if (accepted) {
            state->failed[of->failed] = NONE;
        }
    }
    uint32_t left = 0;
    for (uint32_t i = 0; i < state->n_failed; i++) {
        state->failed[left] = state->failed[i];
        left += state->failed[i] != NONE;
    }
    state->n_failed = left;
    return DG_OK;
}

/** Write the settled draws of a batch from state->y: those that failed does not list. */
static dg_status put_settled(const dg_output *to, size_t n, const fill_state *state)
{
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (next < state->n_failed && state->failed[next] == i) {
            next++;
        } else if (to->direct) {
            dg_item_put(to->out, item_of(i, state), to->stride, to->c.low + (uint64_t)state->y[i]);
        } else {
            DG_TRY(dg_output_put(to, item_of(i, state), dg_int128_of(state->y[i])));
        }
    }
    return DG_OK;
}

/** Set how many bytes the fill will use beyond the planes of its batch of n draws. They are estimated,
 *  but from a caller's source only bytes that are certain to be used may be read. */
static void look_ahead(size_t n, size_t draws_left, const dg_table *table, dg_bits *bits)
{
    size_t some = draws_left < DG_BITS_CAPACITY ? draws_left : DG_BITS_CAPACITY;
    bits->bytes_ahead = plane_bytes(some, table);
    if (!dg_bits_from_caller(bits)) {
        /* positions of mixed rows, heights of partial cells, and rounds that follow */
        const size_t all = n + some, heights = HEIGHT_BYTES * all * table->n_partial;
        bits->bytes_ahead +=
            (all * table->rows.n_mixed >> table->rows.row_bits) + (heights >> table->index_bits);
        bits->bytes_ahead += all < 224 ? 8 + all / 4 : 64; /* a few draws may use more */
    } else if (table->rest_bytes > 0) {
        bits->bytes_ahead = 0;
    }
}

/** Make an attempt for n draws of a round, in which `left` follow. Ensures: those that fail are
 *  pending. */
static dg_status draw_batch(const dg_output *to, size_t n, size_t left, fill_state *state)
{
    const dg_table *table = to->table;
    const bool directly = to->direct && state->first_round;
    const destination target =
        directly ? (destination){to->out + state->start * to->stride, to->stride, to->c.low}
                 : (destination){(uint8_t *)state->y, sizeof *state->y, 0};
    dg_planes planes;
    look_ahead(n, left + state->behind, table, state->bits);
    if (directly) {
        fetch_ahead(&target, n, left, state);
    }
    DG_TRY(read_planes(&planes, n, table, state->bits));
    table->look_up(target.out, &state->result, target.stride, target.c, &planes, table);
    state->bits->position += state->result.n_mixed;
    const size_t n_special = state->result.n_special;
    find_special(n_special, &planes, table, state);
    const uint8_t *heights;
    DG_TRY(read_heights(&heights, n_special, state->bits));
    decide_special(&target, n_special, heights, table, state);
    for (size_t i = 0; i < n && table->rest_bytes > 0; i++) {
        uint8_t *rest = to->rest + item_of(i, state) * to->rest_stride;
        DG_TRY(dg_bits_take(rest, table->rest_bytes, state->bits));
    }
    if (!directly) {
        DG_TRY(put_settled(to, n, state));
    }
    DG_TRY(settle_doubtful(to, &target, state));
    for (uint32_t i = 0; i < state->n_failed; i++) {
        /* n_pending <= start + failed[i], so no entry that is still needed is overwritten */
        state->pending[state->n_pending++] = (uint16_t)item_of(state->failed[i], state);
    }
    return DG_OK;
}

/** Draw the n samples of a chunk, in rounds: the first for all of them, each later one for those whose
 *  attempt failed. */
static dg_status fill_chunk(const dg_output *to, size_t n, fill_state *state)
{
    const size_t batch = batch_of(to->table);
    for (state->first_round = true; n > 0; state->first_round = false) {
        state->n_pending = 0;
        for (state->start = 0; state->start < n; state->start += batch) {
            const size_t left = n - state->start, some = left < batch ? left : batch;
            DG_TRY(draw_batch(to, some, left - some, state));
        }
        n = state->n_pending;
    }
    return DG_OK;
}

/** Wipe the parts of the state that a fill of n draws touched. */
static void wipe_state(fill_state *state, size_t n)
{
    const size_t all = n < MOST_CHUNK ? n : (size_t)MOST_CHUNK;
    const size_t most = n < DG_MOST_BATCH ? n : (size_t)DG_MOST_BATCH;
    dg_wipe(state, offsetof(fill_state, result)); /* counts tell something, too */
    dg_wipe(&state->result, offsetof(dg_look_up_result, at));
    dg_wipe(state->result.at, (most + DG_RESULT_BEHIND) * sizeof *state->result.at);
    dg_wipe(state->result.position_of, most + DG_RESULT_BEHIND);
    dg_wipe(state->result.code, most + DG_RESULT_BEHIND);
    dg_wipe(state->pending, all * sizeof *state->pending);
    dg_wipe(state->special, (most + DG_DECIDE_BEHIND) * sizeof *state->special);
    dg_wipe(state->special_y, sizeof state->special_y);
    dg_wipe(state->partial, sizeof state->partial);
    dg_wipe(state->outcome, sizeof state->outcome);
    dg_wipe(state->failed, most * sizeof *state->failed);
    dg_wipe(state->doubtful, most * sizeof *state->doubtful);
    dg_wipe(state->y, most * sizeof *state->y);
    dg_wipe(state->rest, most * MOST_DTYPE_REST);
}

/** Fill n items, chunk by chunk. */
static dg_status fill_chunks(dg_output *to, size_t n, fill_state *state)
{
    const size_t chunk = dg_table_chunk(to->table);
    for (size_t done = 0; done < n; done += chunk) {
        const size_t some = n - done < chunk ? n - done : chunk;
        state->behind = n - done - some;
        if (to->wide) {
            to->rest = to->out;
        }
        DG_TRY(fill_chunk(to, some, state));
        to->out += some * to->stride;
    }
    return DG_OK;
}

/** Fill n items, then wipe the state. */
static dg_status fill(dg_output *to, size_t n, dg_bits *bits, fill_state *state)
{
    state->bits = bits;
    dg_status status = fill_chunks(to, n, state);
    wipe_state(state, n);
    return status;
}

dg_status dg_table_fill_dtype(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                              dg_bits *bits)
{
    if (table->rest_bytes > MOST_DTYPE_REST || mpz_sizeinbase(table->law->c, 2) > 64) {
        return DG_ERR_RANGE;
    }
    fill_state state;
    dg_output to = dg_output_for_dtype(out, dtype, state.rest, table);
    return fill(&to, n, bits, &state);
}

dg_status dg_table_fill_bytes(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                              dg_bits *bits)
{
    if (n_bytes < table->law->wide_bytes) {
        return DG_ERR_RANGE;
    }
    fill_state state;
    dg_output to = dg_output_for_bytes(out, n_bytes, table);
    return fill(&to, n, bits, &state);
}
