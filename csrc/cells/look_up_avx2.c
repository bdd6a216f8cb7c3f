/* The hot loop in AVX2, for machines without AVX-512: codes 64 draws at a time, items 32. Shuffles of
 * 16 bytes look up the rows; counts of the mixed rows spread the positions over the draws. */
#include "cells/look_up.h"

#include "base/isa.h"

#include <stdbool.h>
#include <string.h>

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

enum { GROUP = 32 };
_Static_assert(2 * (int)GROUP <= (int)DG_LOOK_UP_BEHIND && 2 * (int)GROUP <= (int)DG_RESULT_BEHIND,
               "the last two groups may be read and written as a whole");

INLINE __m256i load(const uint8_t *from)
{
    return _mm256_loadu_si256((const void *)from);
}

INLINE void store(uint8_t *to, __m256i bytes)
{
    _mm256_storeu_si256((void *)to, bytes);
}

INLINE __m256i repeat(uint8_t byte)
{
    return _mm256_set1_epi8((char)byte);
}

/** All ones where a >= b, unsigned. */
INLINE __m256i at_least(__m256i a, __m256i b)
{
    return _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a);
}

/** Two groups of bytes, so that a table is loaded once for both. */
typedef struct pair {
    __m256i a, b;
} pair;

/** Return if_one in lanes where the highest bit of `by` is one, else if_zero. */
INLINE pair choose(pair if_zero, pair if_one, pair by)
{
    return (pair){_mm256_blendv_epi8(if_zero.a, if_one.a, by.a),
                  _mm256_blendv_epi8(if_zero.b, if_one.b, by.b)};
}

/** Indices below 256 into tables. */
typedef struct indices {
    pair low;                    /* bits 0 to 3 */
    pair bit4, bit5, bit6, bit7; /* as the highest bit of the byte, which chooses */
} indices;

/** Shift every lane to the left. Bits from the byte below do not reach the highest bit. */
INLINE pair shifted(pair bytes, int n_bits)
{
    return (pair){_mm256_slli_epi16(bytes.a, n_bits), _mm256_slli_epi16(bytes.b, n_bits)};
}

INLINE indices indices_of(pair bytes)
{
    const __m256i low = repeat(15);
    return (indices){{_mm256_and_si256(bytes.a, low), _mm256_and_si256(bytes.b, low)},
                     shifted(bytes, 3),
                     shifted(bytes, 2),
                     shifted(bytes, 1),
                     bytes};
}

/* table[index] for indices below `size`, else any byte: both halves are looked up, and a bit chooses. */
INLINE pair look_up_16(const indices *at, const uint8_t *table)
{
    const __m256i part = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table));
    return (pair){_mm256_shuffle_epi8(part, at->low.a), _mm256_shuffle_epi8(part, at->low.b)};
}

INLINE pair look_up_32(const indices *at, const uint8_t *table, unsigned size)
{
    const pair low = look_up_16(at, table);
    return size <= 16 ? low : choose(low, look_up_16(at, table + 16), at->bit4);
}

INLINE pair look_up_64(const indices *at, const uint8_t *table, unsigned size)
{
    const pair low = look_up_32(at, table, size);
    return size <= 32 ? low : choose(low, look_up_32(at, table + 32, size - 32), at->bit5);
}

INLINE pair look_up_128(const indices *at, const uint8_t *table, unsigned size)
{
    const pair low = look_up_64(at, table, size);
    return size <= 64 ? low : choose(low, look_up_64(at, table + 64, size - 64), at->bit6);
}

INLINE pair look_up_bytes(const indices *at, const uint8_t *table, unsigned size)
{
    const pair low = look_up_128(at, table, size);
    return size <= 128 ? low : choose(low, look_up_128(at, table + 128, size - 128), at->bit7);
}

/** Spread the bytes from *next on, in order, over the lanes of ones in `where`; other lanes get any
 *  bytes. Move *next on by the number of lanes of ones that are valid. */
INLINE __m256i spread_bytes(const uint8_t **next, __m256i where, uint32_t valid)
{
    const uint32_t mask = (uint32_t)_mm256_movemask_epi8(where) & valid;
    const uint8_t *middle = *next + __builtin_popcount(mask & UINT16_MAX);
    const __m256i bytes =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)*next)),
                                _mm_loadu_si128((const void *)middle), 1);
    *next += __builtin_popcount(mask);
    /* minus the number of ones in the half up to this lane: sums over 2 lanes, 4, 8, 16 */
    __m256i count = _mm256_add_epi8(where, _mm256_slli_si256(where, 1));
    count = _mm256_add_epi8(count, _mm256_slli_si256(count, 2));
    count = _mm256_add_epi8(count, _mm256_slli_si256(count, 4));
    count = _mm256_add_epi8(count, _mm256_slli_si256(count, 8));
    return _mm256_shuffle_epi8(bytes, _mm256_sub_epi8(repeat(UINT8_MAX), count));
}

/** Append `first` + the places of the set bits. It may write up to 4 more entries. */
INLINE size_t append_places(uint16_t *at, uint64_t set, size_t first)
{
    enum { FEW = 4 }; /* more are rare, so the branches are predicted well */
    const size_t count = (size_t)__builtin_popcountll(set);
    uint64_t places = first * UINT64_C(0x0001000100010001);
    for (unsigned i = 0; i < FEW; i++) {
        places += (uint64_t)__builtin_ctzll(set | UINT64_C(1) << 63) << (16 * i);
        set &= set - 1;
    }
    memcpy(at, &places, sizeof places); /* a little-endian machine */
    for (size_t i = FEW; __builtin_expect(set != 0, 0); i++) {
        at[i] = (uint16_t)(first + (size_t)__builtin_ctzll(set));
        set &= set - 1;
    }
    return count;
}

/** Return ones where the draw is in a mixed row and its position is at or behind a piece's end. */
INLINE pair behind(pair mixed, pair position, pair end)
{
    return (pair){_mm256_and_si256(mixed.a, at_least(position.a, end.a)),
                  _mm256_and_si256(mixed.b, at_least(position.b, end.b))};
}

INLINE uint32_t special_bits(__m256i codes)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(codes, repeat(DG_SPECIAL)));
}

/** Find the codes of 64 draws, and the positions of those in mixed rows, which are among the first
 *  `size`. Returns: a bit for each draw, 1 if it is special. */
INLINE uint64_t find_some(dg_look_up_result *result, const uint8_t **next, size_t first,
                          uint64_t valid, const uint8_t *row_of, const dg_rows *rows, unsigned size)
{
    const size_t second = first + GROUP;
    const __m256i last_mixed = repeat((uint8_t)(rows->n_mixed - 1));
    const pair row = {load(row_of + first), load(row_of + second)};
    const pair mixed = {at_least(last_mixed, row.a), at_least(last_mixed, row.b)};
    pair position;
    position.a = spread_bytes(next, mixed.a, (uint32_t)valid);
    position.b = spread_bytes(next, mixed.b, (uint32_t)(valid >> GROUP));
    store(result->position_of + first, position.a);
    store(result->position_of + second, position.b);
    const indices at = indices_of(row);
    pair code = look_up_bytes(&at, rows->code[0], DG_ROWS);
    for (unsigned i = 0; i < 2; i++) {
        const pair end = look_up_bytes(&at, rows->end[i], size);
        const pair next_code = look_up_bytes(&at, rows->code[i + 1], size);
        code = choose(code, next_code, behind(mixed, position, end));
    }
    store(result->code + first, code.a);
    store(result->code + second, code.b);
    return special_bits(code.a) | (uint64_t)special_bits(code.b) << GROUP;
}

INLINE void find_codes(dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows,
                       unsigned size)
{
    const uint8_t *next = planes->positions;
    size_t n_special = 0;
    for (size_t first = 0; first < planes->n; first += 64) {
        const size_t left = planes->n - first;
        const uint64_t valid = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
        const uint64_t special = find_some(result, &next, first, valid, planes->rows, rows, size);
        n_special += append_places(result->at + n_special, special & valid, first);
    }
    result->n_mixed = (size_t)(next - planes->positions);
    result->n_special = n_special;
}

/* find_codes for tables with at most `size` mixed rows. The functions are not inlined, because without
 * optimisation compilers would keep the temporaries of all of them in one frame. */
#define DEFINE_FIND_CODES(size)                                                                    \
    DG_TARGET_AVX2 static __attribute__((noinline)) void find_codes_##size(                        \
        dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows)                   \
    {                                                                                              \
        find_codes(result, planes, rows, size);                                                    \
    }
DEFINE_FIND_CODES(16)
DEFINE_FIND_CODES(48)
DEFINE_FIND_CODES(96)
DEFINE_FIND_CODES(112)
DEFINE_FIND_CODES(128)
DEFINE_FIND_CODES(256)
_Static_assert(DG_ROWS == 256, "the last one takes all");

/** find_codes, by how many rows are mixed. */
INLINE void find_codes_of(dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows)
{
    if (rows->n_mixed <= 16) {
        find_codes_16(result, planes, rows);
    } else if (rows->n_mixed <= 48) {
        find_codes_48(result, planes, rows);
    } else if (rows->n_mixed <= 96) {
        find_codes_96(result, planes, rows);
    } else if (rows->n_mixed <= 112) {
        find_codes_112(result, planes, rows);
    } else if (rows->n_mixed <= 128) {
        find_codes_128(result, planes, rows);
    } else {
        find_codes_256(result, planes, rows);
    }
}

/** Pointers to the bytes of a group's ticks: plane k has bits 8k ... */
typedef struct tick_bytes {
    const uint8_t *plane[DG_TICK_BITS / 8];
    uint8_t from_bits[GROUP]; /* the last plane, if it comes from planes of bits */
} tick_bytes;

/** Gather a group's bits from planes of bits, a byte a draw. */
INLINE void gather_bits(uint8_t out[GROUP], const uint8_t *planes, size_t plane_bytes,
                        unsigned n_planes)
{
    const __m256i each = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i byte_of =
        _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    __m256i bytes = _mm256_setzero_si256();
    for (unsigned k = n_planes; k-- > 0;) {
        uint32_t bits; /* a little-endian machine */
        memcpy(&bits, planes + k * plane_bytes, sizeof bits);
        __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte_of);
        spread = _mm256_cmpeq_epi8(_mm256_and_si256(spread, each), each); /* -1 for a bit */
        bytes = _mm256_sub_epi8(_mm256_add_epi8(bytes, bytes), spread);
    }
    store(out, bytes);
}

INLINE void set_tick_bytes(tick_bytes *to, const dg_planes *planes, size_t first, unsigned n_planes,
                           unsigned tick_bits)
{
    const size_t n = planes->n;
    for (unsigned k = 0; k < n_planes; k++) {
        to->plane[k] = planes->ticks + k * n + first;
    }
    if (n_planes > 0 && tick_bits % 8 > 0) {
        const uint8_t *bits = planes->ticks + (n_planes - 1) * n + first / 8;
        gather_bits(to->from_bits, bits, (n + 7) / 8, tick_bits % 8);
        to->plane[n_planes - 1] = to->from_bits;
    }
}

/* Lanes of `width` bytes: 1, 2, 4 or 8. */

INLINE __m256i repeat_in(uint64_t value, size_t width)
{
    switch (width) {
    case 1:
        return repeat((uint8_t)value);
    case 2:
        return _mm256_set1_epi16((short)(uint16_t)value);
    case 4:
        return _mm256_set1_epi32((int)(uint32_t)value);
    default:
        return _mm256_set1_epi64x((long long)value);
    }
}

INLINE __m256i add(__m256i a, __m256i b, size_t width)
{
    switch (width) {
    case 1:
        return _mm256_add_epi8(a, b);
    case 2:
        return _mm256_add_epi16(a, b);
    case 4:
        return _mm256_add_epi32(a, b);
    default:
        return _mm256_add_epi64(a, b);
    }
}

INLINE __m256i shift_left(__m256i lanes, unsigned n_bits, size_t width)
{
    const __m128i count = _mm_cvtsi32_si128((int)n_bits);
    switch (width) {
    case 1: /* without the bits that come from the byte below */
        return _mm256_and_si256(_mm256_sll_epi16(lanes, count),
                                repeat((uint8_t)(n_bits < 8 ? 0xFFU << n_bits : 0)));
    case 2:
        return _mm256_sll_epi16(lanes, count);
    case 4:
        return _mm256_sll_epi32(lanes, count);
    default:
        return _mm256_sll_epi64(lanes, count);
    }
}

/** Return the shuffle that puts byte i of a half register into lane i, as its byte k. Lanes are in
 *  order; if `to_unpack` lanes of 4 bytes, 2, 3 and 4, 5 change places, so that unpacking them into
 *  lanes of 8 bytes keeps the order. */
INLINE __m256i widening(size_t width, bool to_unpack, unsigned k)
{
    const __m256i none = repeat(0x80); /* gives 0 */
    __m256i lane;
    switch (width) {
    case 2:
        lane = _mm256_set_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        break;
    case 4:
        lane = to_unpack ? _mm256_set_epi32(7, 6, 3, 2, 5, 4, 1, 0)
                         : _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        break;
    default:
        lane = _mm256_set_epi64x(3, 2, 1, 0);
    }
    const __m256i with_mark = _mm256_or_si256(lane, repeat_in(0x80, width));
    return _mm256_xor_si256(none, shift_left(with_mark, 8 * k, width));
}

/** Load one byte for each lane of a register, as the lane's byte k; its other bytes are 0. */
INLINE __m256i widen(const uint8_t *bytes, size_t width, bool to_unpack, unsigned k)
{
    uint64_t some = 0; /* no byte more is loaded: it might wait for a recent store */
    __m256i in_both;
    switch (width) {
    case 1:
        return load(bytes);
    case 2:
        in_both = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bytes));
        break;
    case 4:
        memcpy(&some, bytes, 8);
        in_both = _mm256_set1_epi64x((long long)some);
        break;
    default:
        memcpy(&some, bytes, 4);
        in_both = _mm256_set1_epi32((int)(uint32_t)some);
    }
    return _mm256_shuffle_epi8(in_both, widening(width, to_unpack, k));
}

/** Set out = c + code 2^tick_bits + tick for a group, modulo 2^(8 item_size). Lanes have `width` bytes:
 *  as many as the items, or enough for code 2^tick_bits + tick. */
INLINE void put_group(uint8_t *out, size_t item_size, const uint8_t *code, uint64_t c,
                      const tick_bytes *ticks, unsigned n_planes, size_t width, unsigned tick_bits)
{
    const bool to_unpack = item_size > width;
    const __m256i centre = repeat_in(c, item_size), none = _mm256_setzero_si256();
    for (size_t i = 0; i < GROUP; i += 32 / width) {
        __m256i v = widen(code + i, width, to_unpack, 0);
        if (n_planes > 0) {
            v = shift_left(v, tick_bits, width);
        }
        for (unsigned k = 0; k < n_planes && k < width; k++) {
            v = _mm256_or_si256(v, widen(ticks->plane[k] + i, width, to_unpack, k));
        }
        uint8_t *to = out + item_size * i;
        if (to_unpack) {
            store(to, add(_mm256_unpacklo_epi32(v, none), centre, item_size));
            store(to + 32, add(_mm256_unpackhi_epi32(v, none), centre, item_size));
        } else {
            store(to, add(v, centre, item_size));
        }
    }
}

INLINE void put_items(uint8_t *out, const uint8_t *codes, size_t item_size, uint64_t c,
                      const dg_planes *planes, unsigned n_planes, size_t width, unsigned tick_bits)
{
    const size_t n = planes->n;
    for (size_t first = 0; first < n; first += GROUP) {
        tick_bytes ticks;
        set_tick_bytes(&ticks, planes, first, n_planes, tick_bits);
        const uint8_t *code = codes + first;
        if (n - first >= GROUP) {
            uint8_t *to = out + first * item_size;
            put_group(to, item_size, code, c, &ticks, n_planes, width, tick_bits);
        } else {
            uint8_t items[8 * GROUP];
            put_group(items, item_size, code, c, &ticks, n_planes, width, tick_bits);
            memcpy(out + first * item_size, items, (n - first) * item_size);
        }
    }
}

/** put_items, by how many bytes a tick has. A tick of up to 3 bytes and its code fit 4 bytes. */
INLINE void put_items_of(uint8_t *out, const uint8_t *codes, size_t item_size, uint64_t c,
                         const dg_planes *planes, unsigned tick_bits)
{
    const size_t width = item_size < 4 ? item_size : 4;
    switch ((tick_bits + 7) / 8) {
    case 0:
        put_items(out, codes, item_size, c, planes, 0, item_size, tick_bits);
        break;
    case 1:
        put_items(out, codes, item_size, c, planes, 1, width, tick_bits);
        break;
    case 2:
        put_items(out, codes, item_size, c, planes, 2, width, tick_bits);
        break;
    case 3:
        put_items(out, codes, item_size, c, planes, 3, width, tick_bits);
        break;
    default:
        put_items(out, codes, item_size, c, planes, (tick_bits + 7) / 8, item_size, tick_bits);
    }
}

DG_TARGET_AVX2 void dg_look_up_avx2(void *out, dg_look_up_result *result, size_t item_size,
                                    uint64_t c, const dg_planes *planes, const dg_table *table)
{
    const unsigned tick_bits = table->tick_bits;
    find_codes_of(result, planes, &table->rows);
    c += (uint64_t)table->coded_first << tick_bits;
    switch (item_size) {
    case 1:
        put_items_of(out, result->code, 1, c, planes, tick_bits);
        break;
    case 2:
        put_items_of(out, result->code, 2, c, planes, tick_bits);
        break;
    case 4:
        put_items_of(out, result->code, 4, c, planes, tick_bits);
        break;
    default:
        put_items_of(out, result->code, 8, c, planes, tick_bits);
    }
}

#endif
