/* The hot loop in NEON, for AArch64: codes and items 64 draws at a time, in four vectors. Rows are
 * looked up 64 bytes at a time; counts of the mixed rows spread the positions over the draws. */
#include "cells/look_up.h"

#include "base/isa.h"

#include <stdbool.h>
#include <string.h>

#if DG_ISA_AARCH64
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 64, N = GROUP / 16 };
_Static_assert((int)GROUP <= (int)DG_LOOK_UP_BEHIND && (int)GROUP <= (int)DG_RESULT_BEHIND,
               "the last group may be read and written as a whole");

/** A byte of each draw of a group. */
typedef struct bytes {
    uint8x16_t v[N];
} bytes;

INLINE bytes load(const uint8_t *from)
{
    bytes b;
    for (int i = 0; i < N; i++) {
        b.v[i] = vld1q_u8(from + 16 * (size_t)i);
    }
    return b;
}

INLINE void store(uint8_t *to, bytes b)
{
    for (int i = 0; i < N; i++) {
        vst1q_u8(to + 16 * (size_t)i, b.v[i]);
    }
}

INLINE bytes repeat(uint8_t byte)
{
    bytes b;
    for (int i = 0; i < N; i++) {
        b.v[i] = vdupq_n_u8(byte);
    }
    return b;
}

INLINE uint8x16_t shift_left(uint8x16_t lanes, int n_bits)
{
    return vshlq_u8(lanes, vdupq_n_s8((int8_t)n_bits)); /* to the right if negative */
}

/** Return part[at] if `at` is below `size`, up to 64, else `otherwise`. */
INLINE bytes look_up_part(bytes otherwise, bytes at, const uint8_t *part, unsigned size)
{
    const uint8x16_t first = vld1q_u8(part);
    if (size <= 16) {
        for (int i = 0; i < N; i++) {
            otherwise.v[i] = vqtbx1q_u8(otherwise.v[i], first, at.v[i]);
        }
    } else if (size <= 32) {
        const uint8x16x2_t all = {{first, vld1q_u8(part + 16)}};
        for (int i = 0; i < N; i++) {
            otherwise.v[i] = vqtbx2q_u8(otherwise.v[i], all, at.v[i]);
        }
    } else if (size <= 48) {
        const uint8x16x3_t all = {{first, vld1q_u8(part + 16), vld1q_u8(part + 32)}};
        for (int i = 0; i < N; i++) {
            otherwise.v[i] = vqtbx3q_u8(otherwise.v[i], all, at.v[i]);
        }
    } else {
        const uint8x16x4_t all = {
            {first, vld1q_u8(part + 16), vld1q_u8(part + 32), vld1q_u8(part + 48)}};
        for (int i = 0; i < N; i++) {
            otherwise.v[i] = vqtbx4q_u8(otherwise.v[i], all, at.v[i]);
        }
    }
    return otherwise;
}

/** Return table[at] if `at` is below `size`, a multiple of 16, else 0. */
INLINE bytes look_up_bytes(bytes at, const uint8_t *table, unsigned size)
{
    bytes result = repeat(0);
    for (unsigned first = 0; first < size; first += 64) {
        bytes in_part;
        for (int i = 0; i < N;
             i++) { /* first ... first + 63 become 0 ... 63, other numbers become larger */
            in_part.v[i] = veorq_u8(at.v[i], vdupq_n_u8((uint8_t)first));
        }
        result = look_up_part(result, in_part, table + first, size - first);
    }
    return result;
}

/** Spread the bytes from *next on, in order, over the lanes of ones in `where`; other lanes get any
 *  bytes. Move *next on by the number of lanes of ones. */
INLINE uint8x16_t spread_bytes(const uint8_t **next, uint8x16_t where)
{
    const uint8x16_t none = vdupq_n_u8(0);
    /* minus the number of ones up to this lane: sums over 2 lanes, 4, 8, 16 */
    uint8x16_t count = vaddq_u8(where, vextq_u8(none, where, 15));
    count = vaddq_u8(count, vextq_u8(none, count, 14));
    count = vaddq_u8(count, vextq_u8(none, count, 12));
    count = vaddq_u8(count, vextq_u8(none, count, 8));
    const uint8x16_t spread = vqtbl1q_u8(vld1q_u8(*next), vmvnq_u8(count)); /* the number less 1 */
    *next -= (int8_t)vgetq_lane_u8(count, 15);
    return spread;
}

/** Return a bit for each lane, 1 for a lane of ones. */
INLINE uint64_t bits_of(bytes b)
{
    const uint8x16_t each = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    for (int i = 0; i < N; i++) {
        b.v[i] = vandq_u8(b.v[i], each);
    }
    const uint8x16_t low = vpaddq_u8(b.v[0], b.v[1]), high = vpaddq_u8(b.v[2], b.v[3]);
    const uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
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

/** Find the codes of a group of n draws, and the positions of those in mixed rows, which are among the
 *  first `size`. Returns: a bit for each draw, 1 if it is special. */
INLINE uint64_t find_some(dg_look_up_result *result, const uint8_t **next, size_t first, size_t n,
                          const uint8_t *row_of, const dg_rows *rows, unsigned size)
{
    static const uint8_t lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8x16_t last_mixed = vdupq_n_u8((uint8_t)(rows->n_mixed - 1));
    const bytes row = load(row_of + first);
    bytes mixed, position;
    for (int i = 0; i < N; i++) {
        mixed.v[i] = vcleq_u8(row.v[i], last_mixed);
        if (n < GROUP) {
            const uint8x16_t place = vaddq_u8(vld1q_u8(lane), vdupq_n_u8((uint8_t)(16 * i)));
            mixed.v[i] = vandq_u8(mixed.v[i], vcltq_u8(place, vdupq_n_u8((uint8_t)n)));
        }
        position.v[i] = spread_bytes(next, mixed.v[i]);
    }
    store(result->position_of + first, position);
    bytes code = look_up_bytes(row, rows->code[0], DG_ROWS);
    for (unsigned k = 0; k < 2; k++) {
        const bytes end = look_up_bytes(row, rows->end[k], size);
        const bytes next_code = look_up_bytes(row, rows->code[k + 1], size);
        for (int i = 0; i < N; i++) {
            const uint8x16_t behind = vandq_u8(mixed.v[i], vcgeq_u8(position.v[i], end.v[i]));
            code.v[i] = vbslq_u8(behind, next_code.v[i], code.v[i]);
        }
    }
    store(result->code + first, code);
    for (int i = 0; i < N; i++) {
        code.v[i] = vceqq_u8(code.v[i], vdupq_n_u8(DG_SPECIAL));
    }
    const uint64_t valid = n < GROUP ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    return bits_of(code) & valid;
}

INLINE void find_codes(dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows,
                       unsigned size)
{
    const uint8_t *next = planes->positions;
    const size_t n = planes->n;
    size_t n_special = 0, first = 0;
    for (; n - first >= GROUP; first += GROUP) {
        const uint64_t special = find_some(result, &next, first, GROUP, planes->rows, rows, size);
        n_special += append_places(result->at + n_special, special, first);
    }
    if (first < n) {
        const uint64_t special =
            find_some(result, &next, first, n - first, planes->rows, rows, size);
        n_special += append_places(result->at + n_special, special, first);
    }
    result->n_mixed = (size_t)(next - planes->positions);
    result->n_special = n_special;
}

/* find_codes for tables with at most `size` mixed rows. The functions are not inlined, because without
 * optimisation compilers would keep the temporaries of all of them in one frame. */
#define DEFINE_FIND_CODES(size)                                                                    \
    static __attribute__((noinline)) void find_codes_##size(                                       \
        dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows)                   \
    {                                                                                              \
        find_codes(result, planes, rows, size);                                                    \
    }
DEFINE_FIND_CODES(16)
DEFINE_FIND_CODES(64)
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
    } else if (rows->n_mixed <= 64) {
        find_codes_64(result, planes, rows);
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

/** Gather a group's bits from planes of bits, a byte a draw. */
INLINE bytes gather_bits(const uint8_t *planes, size_t plane_bytes, unsigned n_planes)
{
    const uint8x16_t each = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    const uint8x16_t halves = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
    bytes gathered = repeat(0);
    for (unsigned k = 0; k < n_planes; k++) {
        const uint8x8_t bits = vld1_u8(planes + k * plane_bytes);
        const uint8x16_t both = vcombine_u8(bits, bits), bit_k = shift_left(vdupq_n_u8(1), (int)k);
        for (int i = 0; i < N; i++) {
            const uint8x16_t byte_of = vaddq_u8(halves, vdupq_n_u8((uint8_t)(2 * i)));
            const uint8x16_t set = vtstq_u8(vqtbl1q_u8(both, byte_of), each);
            gathered.v[i] = vbslq_u8(bit_k, set, gathered.v[i]);
        }
    }
    return gathered;
}

enum { MOST_BYTES = DG_TICK_BITS / 8 + 1 }; /* of code and tick */

/** Set plane[k] = byte k of code 2^tick_bits + tick, for every draw of a group. There are n_bytes of
 *  these, 1 more than a tick has. */
INLINE void value_bytes(bytes plane[MOST_BYTES], const uint8_t *codes, const dg_planes *planes,
                        size_t first, unsigned n_bytes, unsigned tick_bits)
{
    const size_t n = planes->n;
    const unsigned n_ticks = n_bytes - 1, n_bits = tick_bits % 8;
    const bytes code = load(codes + first);
    for (unsigned k = 0; k < n_ticks; k++) {
        plane[k] = load(planes->ticks + k * n + first);
    }
    plane[n_ticks] = code;
    if (n_ticks > 0 && n_bits > 0) { /* the code begins within a byte */
        const uint8_t *bits = planes->ticks + (n_ticks - 1) * n + first / 8;
        plane[n_ticks - 1] = gather_bits(bits, (n + 7) / 8, n_bits);
        for (int i = 0; i < N; i++) {
            const uint8x16_t low = shift_left(code.v[i], (int)n_bits);
            plane[n_ticks - 1].v[i] = vorrq_u8(plane[n_ticks - 1].v[i], low);
            plane[n_ticks].v[i] = shift_left(code.v[i], (int)n_bits - 8);
        }
    }
}

/** Return bytes 4 `at` ... 4 `at` + 3 of the numbers of 4 draws, in a word each. */
INLINE uint32x4_t words_of(const bytes *plane, unsigned n_bytes, unsigned at, int i, int quarter)
{
    const uint8x16_t none = vdupq_n_u8(0);
    uint8x16_t byte[4];
    for (unsigned k = 0; k < 4; k++) {
        byte[k] = 4 * at + k < n_bytes ? plane[4 * at + k].v[i] : none;
    }
    const uint16x8_t low = vreinterpretq_u16_u8(quarter < 2 ? vzip1q_u8(byte[0], byte[1])
                                                            : vzip2q_u8(byte[0], byte[1]));
    const uint16x8_t high = vreinterpretq_u16_u8(quarter < 2 ? vzip1q_u8(byte[2], byte[3])
                                                             : vzip2q_u8(byte[2], byte[3]));
    return vreinterpretq_u32_u16(quarter % 2 == 0 ? vzip1q_u16(low, high) : vzip2q_u16(low, high));
}

/** Set out = c + a number of n_bytes for 16 draws, modulo 2^(8 item_size). */
INLINE void put_16(uint8_t *out, size_t item_size, uint64_t c, const bytes *plane, unsigned n_bytes,
                   int i)
{
    const uint8x16_t none = vdupq_n_u8(0);
    if (item_size == 1) {
        vst1q_u8(out, vaddq_u8(plane[0].v[i], vdupq_n_u8((uint8_t)c)));
        return;
    }
    if (item_size == 2) {
        const uint8x16_t high = n_bytes > 1 ? plane[1].v[i] : none;
        const uint16x8_t first = vreinterpretq_u16_u8(vzip1q_u8(plane[0].v[i], high));
        const uint16x8_t second = vreinterpretq_u16_u8(vzip2q_u8(plane[0].v[i], high));
        const uint16x8_t centre = vdupq_n_u16((uint16_t)c);
        vst1q_u8(out, vreinterpretq_u8_u16(vaddq_u16(first, centre)));
        vst1q_u8(out + 16, vreinterpretq_u8_u16(vaddq_u16(second, centre)));
        return;
    }
    for (int quarter = 0; quarter < 4; quarter++) {
        const uint32x4_t low = words_of(plane, n_bytes, 0, i, quarter);
        uint8_t *to = out + item_size * 4 * (size_t)quarter;
        if (item_size == 4) {
            const uint32x4_t centre = vdupq_n_u32((uint32_t)c);
            vst1q_u8(to, vreinterpretq_u8_u32(vaddq_u32(low, centre)));
        } else {
            const uint64x2_t centre = vdupq_n_u64(c);
            uint64x2_t first, second;
            if (n_bytes <= 4) {
                first = vaddw_u32(centre, vget_low_u32(low));
                second = vaddw_high_u32(centre, low);
            } else {
                const uint32x4_t high = words_of(plane, n_bytes, 1, i, quarter);
                first = vaddq_u64(centre, vreinterpretq_u64_u32(vzip1q_u32(low, high)));
                second = vaddq_u64(centre, vreinterpretq_u64_u32(vzip2q_u32(low, high)));
            }
            vst1q_u8(to, vreinterpretq_u8_u64(first));
            vst1q_u8(to + 16, vreinterpretq_u8_u64(second));
        }
    }
}

INLINE void put_group(uint8_t *out, const uint8_t *codes, size_t item_size, uint64_t c,
                      const dg_planes *planes, size_t first, unsigned n_bytes, unsigned tick_bits)
{
    bytes plane[MOST_BYTES];
    value_bytes(plane, codes, planes, first, n_bytes, tick_bits);
    for (int i = 0; i < N; i++) {
        put_16(out + item_size * 16 * (size_t)i, item_size, c, plane, n_bytes, i);
    }
}

INLINE void put_items(uint8_t *out, const uint8_t *codes, size_t item_size, uint64_t c,
                      const dg_planes *planes, unsigned n_bytes, unsigned tick_bits)
{
    const size_t n = planes->n;
    size_t first = 0;
    for (; n - first >= GROUP; first += GROUP) {
        put_group(out + first * item_size, codes, item_size, c, planes, first, n_bytes, tick_bits);
    }
    if (first < n) {
        uint8_t items[8 * GROUP];
        put_group(items, codes, item_size, c, planes, first, n_bytes, tick_bits);
        memcpy(out + first * item_size, items, (n - first) * item_size);
    }
}

/** put_items, by how many bytes a code and a tick have. Bytes beyond an item's size are not read. */
#define DEFINE_PUT_ITEMS(item_size)                                                                \
    static __attribute__((noinline)) void put_items_##item_size(                                   \
        uint8_t *out, const uint8_t *codes, uint64_t c, const dg_planes *planes,                   \
        unsigned tick_bits)                                                                        \
    {                                                                                              \
        switch ((tick_bits + 7) / 8 + 1) {                                                         \
        case 1:                                                                                    \
            put_items(out, codes, item_size, c, planes, 1, tick_bits);                             \
            break;                                                                                 \
        case 2:                                                                                    \
            put_items(out, codes, item_size, c, planes, 2, tick_bits);                             \
            break;                                                                                 \
        case 3:                                                                                    \
            put_items(out, codes, item_size, c, planes, 3, tick_bits);                             \
            break;                                                                                 \
        case 4:                                                                                    \
            put_items(out, codes, item_size, c, planes, 4, tick_bits);                             \
            break;                                                                                 \
        case 5:                                                                                    \
            put_items(out, codes, item_size, c, planes, 5, tick_bits);                             \
            break;                                                                                 \
        case 6:                                                                                    \
            put_items(out, codes, item_size, c, planes, 6, tick_bits);                             \
            break;                                                                                 \
        default:                                                                                   \
            put_items(out, codes, item_size, c, planes, 7, tick_bits);                             \
        }                                                                                          \
    }
_Static_assert((int)MOST_BYTES == 7, "the last case takes all");
DEFINE_PUT_ITEMS(1)
DEFINE_PUT_ITEMS(2)
DEFINE_PUT_ITEMS(4)
DEFINE_PUT_ITEMS(8)

void dg_look_up_neon(void *out, dg_look_up_result *result, size_t item_size, uint64_t c,
                     const dg_planes *planes, const dg_table *table)
{
    const unsigned tick_bits = table->tick_bits;
    find_codes_of(result, planes, &table->rows);
    c += (uint64_t)table->coded_first << tick_bits;
    switch (item_size) {
    case 1:
        put_items_1(out, result->code, c, planes, tick_bits);
        break;
    case 2:
        put_items_2(out, result->code, c, planes, tick_bits);
        break;
    case 4:
        put_items_4(out, result->code, c, planes, tick_bits);
        break;
    default:
        put_items_8(out, result->code, c, planes, tick_bits);
    }
}

#endif
