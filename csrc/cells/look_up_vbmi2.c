/* The hot loop in AVX-512 with VBMI2, 64 draws at a time: rows and positions are bytes, and so are the
 * codes; the tables of rows are looked up in registers. */
#include "cells/look_up.h"

#include "base/isa.h"

#include <string.h>

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512_VBMI2

enum { GROUP = 64 };

/** A table of 256 bytes. */
typedef struct bytes256 {
    __m512i quarter[4];
} bytes256;

INLINE bytes256 load_table(const uint8_t table[DG_ROWS])
{
    bytes256 loaded;
    for (size_t i = 0; i < 4; i++) {
        loaded.quarter[i] = _mm512_loadu_si512(table + 64 * i);
    }
    return loaded;
}

/** table[index], upper: which indices are 128 or more. */
INLINE __m512i look_up_bytes(__m512i index, __mmask64 upper, const bytes256 *table)
{
    __m512i low = _mm512_permutex2var_epi8(table->quarter[0], index, table->quarter[1]);
    __m512i high = _mm512_permutex2var_epi8(table->quarter[2], index, table->quarter[3]);
    return _mm512_mask_blend_epi8(upper, low, high);
}

INLINE __mmask64 first_bits(size_t n)
{
    return n >= GROUP ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/** Append `first` + the places of the set bits. Writes up to 64 entries. */
INLINE uint32_t append_places(uint16_t *at, __mmask64 set, size_t first)
{
    static const uint8_t places[GROUP] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const uint32_t count = (uint32_t)__builtin_popcountll(set);
    const __m512i base = _mm512_set1_epi16((short)(uint16_t)first);
    __m512i which = _mm512_maskz_compress_epi8(set, _mm512_loadu_si512(places));
    __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(which));
    _mm512_storeu_si512(at, _mm512_add_epi16(low, base));
    if (count > 32) {
        __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(which, 1));
        _mm512_storeu_si512(at + 32, _mm512_add_epi16(high, base));
    }
    return count;
}

/** The tables of the rows, in registers. */
typedef struct row_tables {
    bytes256 end[2], code[3];
} row_tables;

/** The codes of 64 rows, and their positions. */
INLINE __m512i codes_of(__m512i *position, const uint8_t **next, __m512i row, __mmask64 valid,
                        const row_tables *of)
{
    const __mmask64 upper = _mm512_movepi8_mask(row);
    __m512i end0 = look_up_bytes(row, upper, &of->end[0]);
    __m512i end1 = look_up_bytes(row, upper, &of->end[1]);
    const __mmask64 mixed = _mm512_test_epi8_mask(end0, end0) & valid;
    *position = _mm512_maskz_expand_epi8(mixed, _mm512_loadu_si512(*next));
    *next += __builtin_popcountll(mixed);
    __m512i code = look_up_bytes(row, upper, &of->code[0]);
    code = _mm512_mask_blend_epi8(_mm512_cmpge_epu8_mask(*position, end0), code,
                                  look_up_bytes(row, upper, &of->code[1]));
    return _mm512_mask_blend_epi8(_mm512_cmpge_epu8_mask(*position, end1), code,
                                  look_up_bytes(row, upper, &of->code[2]));
}

/** Where the bytes of the ticks of a group are: plane k has bits 8k ... */
typedef struct tick_bytes {
    const uint8_t *plane[DG_TICK_BITS / 8];
    uint8_t from_bits[GROUP]; /* the last plane, if it comes from planes of bits */
} tick_bytes;

INLINE void set_tick_bytes(tick_bytes *to, const dg_planes *planes, size_t first,
                           unsigned tick_bits)
{
    const unsigned whole = tick_bits / 8;
    for (unsigned k = 0; k < whole; k++) {
        to->plane[k] = planes->ticks + k * planes->n + first;
    }
    if (tick_bits % 8 == 0) {
        return;
    }
    const uint8_t *bits = planes->ticks + whole * planes->n + first / 8;
    __m512i bytes = _mm512_setzero_si512();
    for (unsigned k = 0; k < tick_bits % 8; k++, bits += (planes->n + 7) / 8) {
        uint64_t mask; /* a little-endian machine */
        memcpy(&mask, bits, sizeof mask);
        bytes = _mm512_mask_add_epi8(bytes, mask, bytes, _mm512_set1_epi8((char)(1 << k)));
    }
    _mm512_storeu_si512(to->from_bits, bytes);
    to->plane[whole] = to->from_bits;
}

/** code 2^tick_bits + tick, of a group, in unsigned lanes of `width` bytes that hold it. */
INLINE void combine(uint8_t out[8 * GROUP], size_t width, __m512i codes, const tick_bytes *ticks,
                    unsigned tick_bits)
{
    uint8_t code[GROUP];
    const unsigned n_planes = (tick_bits + 7) / 8;
    const __m128i shift = _mm_cvtsi32_si128((int)tick_bits);
    _mm512_storeu_si512(code, codes);
    switch (width) {
    case 2:
        for (size_t i = 0; i < GROUP; i += 32) {
            __m512i v = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(code + i)));
            __m512i t =
                _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(ticks->plane[0] + i)));
            _mm512_storeu_si512(out + 2 * i, _mm512_or_si512(_mm512_sll_epi16(v, shift), t));
        }
        break;
    case 4:
        for (size_t i = 0; i < GROUP; i += 16) {
            __m512i v = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(code + i)));
            v = _mm512_sll_epi32(v, shift);
            for (unsigned k = 0; k < n_planes; k++) {
                __m512i t =
                    _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(ticks->plane[k] + i)));
                v = _mm512_or_si512(v, _mm512_slli_epi32(t, 8 * k));
            }
            _mm512_storeu_si512(out + 4 * i, v);
        }
        break;
    default:
        for (size_t i = 0; i < GROUP; i += 8) {
            __m512i v = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)(code + i)));
            v = _mm512_sll_epi64(v, shift);
            for (unsigned k = 0; k < n_planes; k++) {
                __m512i t =
                    _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)(ticks->plane[k] + i)));
                v = _mm512_or_si512(v, _mm512_slli_epi64(t, 8 * k));
            }
            _mm512_storeu_si512(out + 8 * i, v);
        }
    }
}

/** 8 lanes of `width` bytes, zero extended. */
INLINE __m512i load_8(const uint8_t *from, size_t width)
{
    switch (width) {
    case 1:
        return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)from));
    case 2:
        return _mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)from));
    case 4:
        return _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)from));
    default:
        return _mm512_loadu_si512(from);
    }
}

/** 16 lanes of `width` <= 4 bytes, zero extended. */
INLINE __m512i load_16(const uint8_t *from, size_t width)
{
    switch (width) {
    case 1:
        return _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)from));
    case 2:
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
    default:
        return _mm512_loadu_si512(from);
    }
}

/** out = values + c, values of `width` bytes, modulo 2^(8 item_size). */
INLINE void put_group(uint8_t *out, size_t item_size, const uint8_t *values, size_t width,
                      uint64_t c)
{
    if (item_size == 8 || width == 8) {
        const __m512i centre = _mm512_set1_epi64((long long)c);
        for (size_t i = 0; i < GROUP; i += 8) {
            __m512i v = _mm512_add_epi64(load_8(values + width * i, width), centre);
            switch (item_size) {
            case 1:
                _mm_storel_epi64((void *)(out + i), _mm512_cvtepi64_epi8(v));
                break;
            case 2:
                _mm_storeu_si128((void *)(out + 2 * i), _mm512_cvtepi64_epi16(v));
                break;
            case 4:
                _mm256_storeu_si256((void *)(out + 4 * i), _mm512_cvtepi64_epi32(v));
                break;
            default:
                _mm512_storeu_si512(out + 8 * i, v);
            }
        }
        return;
    }
    if (item_size == 2 && width == 1) {
        const __m512i centre = _mm512_set1_epi16((short)(uint16_t)c);
        for (size_t i = 0; i < GROUP; i += 32) {
            __m512i v = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(values + i)));
            _mm512_storeu_si512(out + 2 * i, _mm512_add_epi16(v, centre));
        }
        return;
    }
    const __m512i centre = _mm512_set1_epi32((int)(uint32_t)c);
    for (size_t i = 0; i < GROUP; i += 16) {
        __m512i v = _mm512_add_epi32(load_16(values + width * i, width), centre);
        switch (item_size) {
        case 1:
            _mm_storeu_si128((void *)(out + i), _mm512_cvtepi32_epi8(v));
            break;
        case 2:
            _mm256_storeu_si256((void *)(out + 2 * i), _mm512_cvtepi32_epi16(v));
            break;
        default:
            _mm512_storeu_si512(out + 4 * i, v);
        }
    }
}

/** The loop, for items of a size and code 2^tick_bits + tick in lanes of `width` bytes. */
INLINE uint32_t look_up_groups(uint8_t *out, dg_found *found, size_t item_size, uint64_t c,
                               const dg_planes *planes, size_t width, const dg_table *table)
{
    const unsigned tick_bits = table->tick_bits;
    const size_t n = planes->n;
    const __m512i special = _mm512_set1_epi8((char)(uint8_t)DG_SPECIAL);
    const uint8_t *next = planes->positions;
    row_tables of;
    for (size_t k = 0; k < 2; k++) {
        of.end[k] = load_table(table->rows.end[k]);
    }
    for (size_t k = 0; k < 3; k++) {
        of.code[k] = load_table(table->rows.code[k]);
    }
    c += (uint64_t)table->coded_first << tick_bits;
    tick_bytes ticks;
    for (size_t k = 0; k < DG_TICK_BITS / 8; k++) {
        ticks.plane[k] = planes->ticks;
    }
    uint32_t count = 0;
    for (size_t first = 0; first < n; first += GROUP) {
        const __mmask64 valid = first_bits(n - first);
        __m512i position;
        __m512i codes =
            codes_of(&position, &next, _mm512_loadu_si512(planes->rows + first), valid, &of);
        _mm512_storeu_si512(found->position_of + first, position);
        const __mmask64 flagged = _mm512_cmpeq_epi8_mask(codes, special) & valid;
        if (flagged != 0) {
            count += append_places(found->at + count, flagged, first);
        }
        uint8_t values[8 * GROUP], items[8 * GROUP];
        if (width == 1) {
            _mm512_storeu_si512(values, codes);
        } else {
            set_tick_bytes(&ticks, planes, first, tick_bits);
            combine(values, width, codes, &ticks, tick_bits);
        }
        if (n - first >= GROUP) {
            put_group(out + first * item_size, item_size, values, width, c);
        } else {
            put_group(items, item_size, values, width, c);
            memcpy(out + first * item_size, items, (n - first) * item_size);
        }
    }
    return count;
}

/** The loop, by the width of what code and tick make: codes are below 2^8. */
INLINE uint32_t look_up_items(uint8_t *out, dg_found *found, size_t item_size, uint64_t c,
                              const dg_planes *planes, const dg_table *table)
{
    const unsigned bits = table->tick_bits;
    if (bits == 0) {
        return look_up_groups(out, found, item_size, c, planes, 1, table);
    }
    if (bits <= 8) {
        return look_up_groups(out, found, item_size, c, planes, 2, table);
    }
    if (bits <= 24) {
        return look_up_groups(out, found, item_size, c, planes, 4, table);
    }
    return look_up_groups(out, found, item_size, c, planes, 8, table);
}

DG_TARGET_AVX512_VBMI2 uint32_t dg_look_up_vbmi2(void *out, dg_found *found, size_t item_size,
                                                 uint64_t c, const dg_planes *planes,
                                                 const dg_table *table)
{
    switch (item_size) {
    case 1:
        return look_up_items(out, found, 1, c, planes, table);
    case 2:
        return look_up_items(out, found, 2, c, planes, table);
    case 4:
        return look_up_items(out, found, 4, c, planes, table);
    default:
        return look_up_items(out, found, 8, c, planes, table);
    }
}

DG_TARGET_AVX512_VBMI2 size_t dg_find_mixed_vbmi2(dg_found *found, const uint8_t *rows, size_t n,
                                                  const dg_table *table)
{
    (void)found; /* dg_look_up_vbmi2 finds them again in its registers */
    const bytes256 end = load_table(table->rows.end[0]);
    size_t count = 0;
    for (size_t i = 0; i < n; i += GROUP) {
        __m512i row = _mm512_loadu_si512(rows + i);
        __m512i end0 = look_up_bytes(row, _mm512_movepi8_mask(row), &end);
        __mmask64 mixed = _mm512_test_epi8_mask(end0, end0) & first_bits(n - i);
        count += (size_t)__builtin_popcountll(mixed);
    }
    return count;
}

#endif
