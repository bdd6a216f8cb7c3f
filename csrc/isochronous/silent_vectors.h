/* A kernel of the silent engine by vectors of 16 or 32 bytes. silent_avx2.c, silent_sse41.c and silent_neon.c say what
 * a vector can do, and include this: BYTES of a vector, in lanes of 16, and PART, the bytes that taken() looks up;
 * KERNEL, its name. An index from PART on takes 0 if it was made ready(). Pairs are words a + 2^8 b, of the lower or
 * upper half of each lane; high_product() is the upper half of products; bounded_ sums and differences stop at the ends
 * of a signed word, excess() at 0. pack8() moves 8 bytes to places, put() writes signed numbers plus `least`.
 *
 * Tables are looked up whole, in registers: no address depends on a secret, and no branch does. 16 bits decide most
 * attempts. The others wait: running sums give them ranks, shuffles gather those of some ranks in
 * SLOTS slots, and 52 bits decide them. If more wait than the law has places for, further rounds follow. */
#include "base/contract.h"
#include "base/wipe.h"
#include "isochronous/silent_decide.h"

#include <stddef.h>
#include <string.h>

enum {
    SLOTS = 16, /* bytes of a lane */
    /* A rank is a byte. Less one of another round, modulo 256, it must not be a slot's. */
    MOST_RANKED = 240,
    SOME = 128, /* attempts that are ranked together if too many wait */
};

typedef uint8_t lane __attribute__((vector_size(SLOTS)));

/** A batch, and scratch for a byte of each attempt. */
typedef struct work {
    const dg_silent *silent;
    const uint8_t *columns; /* row, position, tick */
    dg_silent_words words;
    size_t n;
    uint8_t *code;
    uint8_t *open;     /* all ones or 0; later the rank or 0 */
    uint8_t *accepted; /* a bit each */
    uint8_t *place;    /* where a slot's attempt is in a lane of 16 */
    uint8_t *packed;   /* codes and ticks of accepted attempts */
} work;

INLINE vec8 load(const uint8_t *from)
{
    vec8 b;
    memcpy(&b, from, sizeof b);
    return b;
}

INLINE void store(uint8_t *to, vec8 b)
{
    memcpy(to, &b, sizeof b);
}

INLINE vec8 each(uint8_t value)
{
    return (vec8){0} + value;
}

INLINE vec16 each_word(uint16_t value)
{
    return (vec16){0} + value;
}

/* A short loop, unrolled: clang does so by itself, and warns of a pragma where it does not optimise. */
#if defined(__clang__)
#define EACH(k, n) for (size_t k = 0; k < (n); k++)
#else
#define EACH(k, n) DG_LANE_EACH(k, n)
#endif

/** Look up n tables of 256 bytes, one behind the other. */
INLINE void look_up(vec8 *found, size_t n, const uint8_t *tables, vec8 index)
{
    EACH(k, n)
    {
        found[k] = each(0);
    }
    /* unrolled, gcc would compute all sums as trees, and keep their leaves in memory */
    _Pragma("GCC unroll 1") for (size_t first = 0; first < DG_SILENT_CODES; first += PART)
    {
        const vec8 at = ready(index);
        EACH(k, n)
        {
            found[k] |= taken(part_of(tables + DG_SILENT_CODES * k + first), at);
        }
        index -= each(PART);
    }
}

/* --- the first stage: 16 bits ---------------------------------------------------------------------- */

typedef struct half {
    vec16 other, open; /* masks: not accepted by 16 bits; nor rejected */
} half;

/** Compare rel with L a. is_second: which piece of the row it is; end: where the first one ends. */
INLINE half compare(vec16 position, vec16 end, vec16 is_second, vec16 base, vec16 err, vec16 slope,
                    vec16 bulge, vec16 q, dg_silent_shape shape, const uint16_t k[5])
{
    const vec16 top = each_word(0x8000);
    const vec16 rel = position - (end & is_second), length = (end ^ is_second) - is_second;
    vec16 a = base;
    if (shape == DG_SILENT_PARABOLA) {
        const vec16 bow = high_signed(bulge, high_product(q, ~q));
        a = bounded_sum(a - high_product(slope, q), bow);
    } else if (shape == DG_SILENT_EXPONENTIAL) {
        vec16 y = high_product(q, each_word(k[4]));
        y = high_product(q, each_word(k[3]) - y);
        y = high_product(q, each_word(k[2]) - y);
        y = high_product(q, each_word(k[1]) - y);
        y = ~high_product(q, each_word(k[0]) - y);
        a = high_product(a ^ top, high_product(y, y)) ^ top;
    }
    const vec16 low = bounded_difference(a, err) ^ top, up = bounded_sum(a, err) ^ top;
    const vec16 other = (vec16)(rel >= high_product(length, low));
    return (half){other, other & (vec16)(rel <= high_product(length, up))};
}

/** Set code, open and accepted. Returns: how many are open. */
INLINE size_t first_stage(work *w, dg_silent_shape shape)
{
    const dg_silent *silent = w->silent;
    const uint8_t *planes = (const uint8_t *)&silent->planes;
    const uint8_t *of_row = planes + offsetof(dg_silent_planes, end);
    const uint8_t *of_code = planes + offsetof(dg_silent_planes, base);
    const vec16 of_tick = each_word(dg_silent_of_tick(silent->block_bits));
    const size_t n = w->n, under = n * (silent->n_planes + 1); /* the tick's upper byte but one */
    vec8 n_open = each(0);
    for (size_t i = 0; i < n; i += BYTES) {
        const uint8_t *const at = w->columns + i;
        const vec8 row = load(at), high = load(at + n), low = load(at + 2 * n);
        vec8 r[3], c[7] = {0}, q[2] = {0};
        look_up(r, 3, of_row, row);
        const vec16 end[2] = {(vec16)lower_pairs(r[0], r[1]), (vec16)upper_pairs(r[0], r[1])};
        const vec16 position[2] = {(vec16)lower_pairs(low, high), (vec16)upper_pairs(low, high)};
        const vec16 second[2] = {(vec16)(position[0] >= end[0]), (vec16)(position[1] >= end[1])};
        const vec8 code = row ^ (masks_of(second[0], second[1]) & (row ^ r[2]));
        store(w->code + i, code);
        look_up(c, shape == DG_SILENT_PARABOLA ? 7 : 3, of_code, code);
        if (shape != DG_SILENT_FLAT) {
            q[0] = load(at + under);
            q[1] = load(at + under + n);
        }
        const half a = compare(position[0], end[0], second[0], (vec16)lower_pairs(c[0], c[1]),
                               (vec16)lower_pairs(c[2], each(0)), (vec16)lower_pairs(c[3], c[4]),
                               (vec16)lower_pairs(c[5], c[6]),
                               (vec16)lower_pairs(q[0], q[1]) & of_tick, shape, silent->planes.k);
        const half b = compare(position[1], end[1], second[1], (vec16)upper_pairs(c[0], c[1]),
                               (vec16)upper_pairs(c[2], each(0)), (vec16)upper_pairs(c[3], c[4]),
                               (vec16)upper_pairs(c[5], c[6]),
                               (vec16)upper_pairs(q[0], q[1]) & of_tick, shape, silent->planes.k);
        const uint32_t accepted = ~bits_of(masks_of(a.other, b.other));
        const vec8 open = masks_of(a.open, b.open);
        memcpy(w->accepted + i / 8, &accepted, BYTES / 8);
        store(w->open + i, open);
        n_open -= open;
    }
    size_t sum = 0;
    for (size_t k = 0; k < BYTES; k++) {
        sum += n_open[k];
    }
    return sum;
}

/* --- the second stage: 52 bits ---------------------------------------------------------------------- */

/** Rank the open attempts from `from` to `to`, and gather those of ranks done + 1 ... done + SLOTS: their codes, then
 *  their columns. Ensures: open holds the ranks. Returns: how many are open. */
INLINE size_t gather(uint8_t got[][DG_SILENT_GATHERED], size_t from, size_t to, size_t done,
                     work *w)
{
    vec8 slot, before = each(0);
    for (size_t k = 0; k < BYTES; k++) {
        slot[k] = k % SLOTS;
    }
    for (size_t i = from; i < to; i += BYTES) {
        const vec8 open = (vec8)(load(w->open + i) != each(0)), one = open & each(1);
        const vec8 sums = running_sums(one) + before, first = each((uint8_t)done);
        const vec8 none = taken_in_lanes(excess(sums - one, first), each(0)); /* of this lane */
        const vec8 past = lesser(excess(sums, first), each(SLOTS));
        vec8 place = each(0); /* how many sums are at most a slot's number, by bisection */
        for (unsigned step = SLOTS / 2; step > 0; step /= 2) {
            const vec8 there = taken_in_lanes(past, place + each((uint8_t)(step - 1)));
            place += (vec8)((vec8s)there <= (vec8s)slot) & each((uint8_t)step);
        }
        place -= (vec8)((vec8s)taken_in_lanes(past, place) <= (vec8s)slot);
        store(w->place + i, ready(place) | (vec8)(none > slot));
        store(w->open + i, sums & open);
        before = last_of(sums);
    }
    for (size_t p = 0; p < 4u + w->silent->n_planes; p++) {
        const uint8_t *const column = p == 0 ? w->code : w->columns + (p - 1) * w->n;
        vec8 found = each(0);
        for (size_t i = from; i < to; i += BYTES) {
            found |= taken_in_lanes(load(column + i), load(w->place + i));
        }
        lane first, last; /* each slot's byte is in one of them */
        memcpy(&first, &found, SLOTS);
        memcpy(&last, (const uint8_t *)&found + BYTES - SLOTS, SLOTS);
        first |= last;
        memcpy(got[p], &first, SLOTS);
    }
    return before[0];
}

/** Decide the open attempts from `from` to `to`. */
INLINE void second_stage(size_t from, size_t to, size_t places, work *w)
{
    const dg_silent *silent = w->silent;
    const uint8_t *planes = (const uint8_t *)&silent->planes;
    size_t wanted = places;
    dg_silent_round of;
    uint8_t answer[BYTES];
    for (size_t done = 0; done < wanted; done += SLOTS) {
        vec8 row[2], code[DG_SILENT_OF_CODE];
        const size_t n_open = gather(of.of_attempt, from, to, done, w);
        size_t rounds = (n_open + SLOTS - 1) / SLOTS, are_many = n_open > places;
        DG_PUBLIC(are_many);
        if (are_many) {
            DG_PUBLIC(rounds);
            wanted = SLOTS * rounds;
        }
        look_up(row, 2, planes + offsetof(dg_silent_planes, end), load(of.of_attempt[1]));
        look_up(code, dg_silent_of_code(silent), planes + offsetof(dg_silent_planes, c),
                load(of.of_attempt[0]));
        for (size_t k = 0; k < DG_SILENT_OF_CODE; k++) {
            store(of.of_code[k], code[k]);
        }
        store(of.of_row[0], row[0]);
        store(of.of_row[1], row[1]);
        const size_t n = least(SLOTS, wanted - done);
        const uint64_t yes =
            dg_silent_decide_all(&of, n, n_open - least(done, n_open), &w->words, silent);
        for (size_t k = 0; k < BYTES; k++) {
            answer[k] = (uint8_t)(0 - (yes >> k % SLOTS & 1));
        }
        for (size_t i = from; i < to;
             i += BYTES) { /* ranks of other rounds are 16 or more from here */
            const vec8 rank = load(w->open + i) - each((uint8_t)(done + 1));
            const uint32_t accepted = bits_of(taken_in_lanes(load(answer), ready(rank)));
            uint32_t before = 0;
            memcpy(&before, w->accepted + i / 8, BYTES / 8);
            before |= accepted;
            memcpy(w->accepted + i / 8, &before, BYTES / 8);
        }
    }
    dg_wipe(&of, sizeof of);
}

/* --- draws ---------------------------------------------------------------------------------------- */

/* The shuffle that moves the bytes of m's ones to the front. */
#define BIT(m, i) ((uint64_t)((m) >> (i) & 1))
#define ONES_BELOW(m, i)                                                                           \
    ((i > 0) * BIT(m, 0) + (i > 1) * BIT(m, 1) + (i > 2) * BIT(m, 2) + (i > 3) * BIT(m, 3) +       \
     (i > 4) * BIT(m, 4) + (i > 5) * BIT(m, 5) + (i > 6) * BIT(m, 6))
#define MOVED(m, i) (BIT(m, i) * (i) << 8 * ONES_BELOW(m, i))
#define TO_FRONT(m)                                                                                \
    MOVED(m, 1) | MOVED(m, 2) | MOVED(m, 3) | MOVED(m, 4) | MOVED(m, 5) | MOVED(m, 6) | MOVED(m, 7)
#define FOUR(m) TO_FRONT(m), TO_FRONT((m) + 1), TO_FRONT((m) + 2), TO_FRONT((m) + 3)
#define SIXTEEN(m) FOUR(m), FOUR((m) + 4), FOUR((m) + 8), FOUR((m) + 12)
#define ALL_64(m) SIXTEEN(m), SIXTEEN((m) + 16), SIXTEEN((m) + 32), SIXTEEN((m) + 48)
static const uint64_t to_front[256] = {ALL_64(0), ALL_64(64), ALL_64(128), ALL_64(192)};

/** Write the accepted draws. Which attempts are accepted is public: it says nothing about their values. Returns: how
 *  many. */
INLINE size_t write_draws(int64_t *out, work of)
{
    const dg_silent *silent = of.silent;
    const unsigned n_planes = silent->n_planes, bits = silent->block_bits;
    const size_t n = of.n, stride = n + 8;
    size_t count = 0;
    for (size_t i = 0; i < n; i += 8) {
        uint8_t accepted = of.accepted[i / 8];
        DG_PUBLIC(accepted);
        const uint8_t *const places = (const uint8_t *)&to_front[accepted];
        pack8(of.packed + count, of.code + i, places);
        for (size_t p = 0; p < n_planes; p++) {
            pack8(of.packed + stride * (p + 1) + count, of.columns + (3 + p) * n + i, places);
        }
        count += (size_t)__builtin_popcount(accepted);
    }
    const uint64_t flip = (uint64_t)silent->flip, least = (uint64_t)silent->centre - flip;
    const unsigned cut = 8 * n_planes - bits;
    if (n_planes < 4) { /* z is below 2^31 */
        for (size_t i = 0; i < count; i += BYTES / 4) {
            const vec32 code = widened(of.packed + i);
            vec32 z = (code & 127) << bits, tick = {0};
            for (size_t p = 0; p < n_planes; p++) {
                tick |= widened(of.packed + stride * (p + 1) + i) << (8 * (uint32_t)p);
            }
            z |= tick >> cut;
            put(out + i, z ^ (0 - (code >> 7)) ^ (uint32_t)flip, least);
        }
        return count;
    }
    for (size_t p = 0; p < n_planes; p++) {
        const uint8_t *const from = of.packed + stride * (p + 1);
        for (size_t i = 0; i < count; i++) {
            out[i] = (int64_t)((p == 0 ? 0 : (uint64_t)out[i]) | (uint64_t)from[i] << (8 * p));
        }
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t code = of.packed[i], z = (code & 127) << bits | (uint64_t)out[i] >> cut;
        out[i] = (int64_t)(least + (z ^ (0 - (code >> 7)) ^ flip));
    }
    return count;
}

KERNEL_TARGET
bool KERNEL(int64_t *out, size_t *n_accepted, uint8_t *scratch, const uint8_t *batch,
            size_t n_attempts, const dg_silent *silent)
{
    const size_t n = n_attempts;
    work w = {.silent = silent,
              .columns = batch,
              .n = n,
              .code = scratch,
              .open = scratch + n,
              .accepted = scratch + 2 * n,
              .place = scratch + 3 * n,
              .packed = scratch + 4 * n, /* DG_SILENT_PLANES + 1 columns of n + 8 */
              .words = {.of_batch = batch + n * (3 + silent->n_planes)}};
    size_t are_many = (silent->shape == DG_SILENT_FLAT ? first_stage(&w, DG_SILENT_FLAT)
                       : silent->shape == DG_SILENT_PARABOLA
                           ? first_stage(&w, DG_SILENT_PARABOLA)
                           : first_stage(&w, DG_SILENT_EXPONENTIAL)) > MOST_RANKED;
    DG_PUBLIC(are_many);
    const size_t part = are_many ? SOME : n, places = dg_silent_places(n, silent);
    for (size_t from = 0; from < n; from += part) {
        second_stage(from, n - from < part ? n : from + part, places, &w);
    }
    uint64_t undecided = w.words.undecided;
    DG_PUBLIC(undecided);
    if (undecided != 0) {
        return false;
    }
    *n_accepted = write_draws(out, w);
    return true;
}
