/* The hot loop in AVX-512 with VBMI2, 64 draws at a time. Rows, positions and codes are bytes, and the
 * tables of rows are in registers. */
#include "cells/look_up.h"

#include "base/isa.h"

#include <string.h>

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512_VBMI2

enum { GROUP = 64 };

/** A table of 256 bytes, of which look-ups use one quarter, two or all four. */
typedef struct byte_table {
    __m512i quarter[4];
} byte_table;

INLINE byte_table load_table(const uint8_t table[DG_ROWS], unsigned quarters)
{
    byte_table loaded;
    for (size_t i = 0; i < 4; i++) {
        loaded.quarter[i] = _mm512_loadu_si512(table + 64 * (i < quarters ? i : 0));
    }
    return loaded;
}

/** Return table[index], or any byte for an index beyond the quarters. */
INLINE __m512i look_up_bytes(__m512i index, const byte_table *table, unsigned quarters)
{
    if (quarters == 1) {
        return _mm512_permutexvar_epi8(index, table->quarter[0]);
    }
    const __m512i low = _mm512_permutex2var_epi8(table->quarter[0], index, table->quarter[1]);
    if (quarters == 2) {
        return low;
    }
    const __m512i high = _mm512_permutex2var_epi8(table->quarter[2], index, table->quarter[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high);
}

INLINE __mmask64 first_bits(size_t n)
{
    return n >= GROUP ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

/** Append `first` + the places of the set bits. It may write up to 64 entries. */
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

/** Find the codes of all draws, their positions, and which are special. All mixed rows are in the
 *  first `quarters`, 1, 2 or 4, of the rows. */
INLINE void find_codes(dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows,
                       unsigned quarters)
{
    const size_t n = planes->n;
    const __m512i special = _mm512_set1_epi8((char)(uint8_t)DG_SPECIAL);
    const __m512i last_mixed = _mm512_set1_epi8((char)(uint8_t)(rows->n_mixed - 1));
    const byte_table first_code = load_table(rows->code[0], 4);
    const byte_table end0 = load_table(rows->end[0], quarters),
                     end1 = load_table(rows->end[1], quarters);
    const byte_table code1 = load_table(rows->code[1], quarters),
                     code2 = load_table(rows->code[2], quarters);
    const uint8_t *next = planes->positions;
    size_t count = 0;
    for (size_t first = 0; first < n; first += GROUP) {
        const __m512i row = _mm512_loadu_si512(planes->rows + first);
        const __mmask64 valid = first_bits(n - first);
        const __mmask64 mixed = _mm512_mask_cmple_epu8_mask(valid, row, last_mixed);
        const __m512i position = _mm512_maskz_expand_epi8(mixed, _mm512_loadu_si512(next));
        next += __builtin_popcountll(mixed);
        __m512i code = look_up_bytes(row, &first_code, 4);
        const __mmask64 behind0 =
            _mm512_mask_cmpge_epu8_mask(mixed, position, look_up_bytes(row, &end0, quarters));
        const __mmask64 behind1 =
            _mm512_mask_cmpge_epu8_mask(mixed, position, look_up_bytes(row, &end1, quarters));
        code = _mm512_mask_mov_epi8(code, behind0, look_up_bytes(row, &code1, quarters));
        code = _mm512_mask_mov_epi8(code, behind1, look_up_bytes(row, &code2, quarters));
        _mm512_storeu_si512(result->position_of + first, position);
        _mm512_storeu_si512(result->code + first, code);
        const __mmask64 flagged = _mm512_mask_cmpeq_epi8_mask(valid, code, special);
        if (flagged != 0) {
            count += append_places(result->at + count, flagged, first);
        }
    }
    result->n_mixed = (size_t)(next - planes->positions);
    result->n_special = count;
}

/** Pointers to the bytes of a group's ticks: plane k has bits 8k ... */
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

/** Set out = code 2^tick_bits + tick for a group, in unsigned lanes of `width` bytes that hold it. */
INLINE void combine(uint8_t out[8 * GROUP], size_t width, const uint8_t code[GROUP],
                    const tick_bytes *ticks, unsigned tick_bits)
{
    const unsigned n_planes = (tick_bits + 7) / 8;
    const __m128i shift = _mm_cvtsi32_si128((int)tick_bits);
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

/** Load 8 lanes of `width` bytes, zero extended. */
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

/** Load 16 lanes of `width` <= 4 bytes, zero extended. */
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

/** Set out = values + c modulo 2^(8 item_size). The values have `width` bytes. */
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

/** Make the items of a batch from their codes. Lanes of `width` bytes hold code 2^tick_bits + tick. */
INLINE void put_items(uint8_t *out, const uint8_t *codes, size_t item_size, uint64_t c,
                      const dg_planes *planes, size_t width, unsigned tick_bits)
{
    const size_t n = planes->n;
    tick_bytes ticks;
    for (size_t k = 0; k < DG_TICK_BITS / 8; k++) {
        ticks.plane[k] = planes->ticks;
    }
    for (size_t first = 0; first < n; first += GROUP) {
        uint8_t values[8 * GROUP], items[8 * GROUP];
        const uint8_t *from = codes + first;
        if (width > 1) {
            set_tick_bytes(&ticks, planes, first, tick_bits);
            combine(values, width, from, &ticks, tick_bits);
            from = values;
        }
        if (n - first >= GROUP) {
            put_group(out + first * item_size, item_size, from, width, c);
        } else {
            put_group(items, item_size, from, width, c);
            memcpy(out + first * item_size, items, (n - first) * item_size);
        }
    }
}

/** put_items, by the bytes that code 2^tick_bits + tick needs: codes are below 2^8. */
INLINE void put_items_of(uint8_t *out, const uint8_t *codes, size_t item_size, uint64_t c,
                         const dg_planes *planes, unsigned tick_bits)
{
    if (tick_bits == 0) {
        put_items(out, codes, item_size, c, planes, 1, tick_bits);
    } else if (tick_bits <= 8) {
        put_items(out, codes, item_size, c, planes, 2, tick_bits);
    } else if (tick_bits <= 24) {
        put_items(out, codes, item_size, c, planes, 4, tick_bits);
    } else {
        put_items(out, codes, item_size, c, planes, 8, tick_bits);
    }
}

/** find_codes, by how many rows are mixed. */
INLINE void find_codes_of(dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows)
{
    if (rows->n_mixed <= DG_ROWS / 4) {
        find_codes(result, planes, rows, 1);
    } else if (rows->n_mixed <= DG_ROWS / 2) {
        find_codes(result, planes, rows, 2);
    } else {
        find_codes(result, planes, rows, 4);
    }
}

DG_TARGET_AVX512_VBMI2 void dg_look_up_avx512_vbmi2(void *out, dg_look_up_result *result,
                                                    size_t item_size, uint64_t c,
                                                    const dg_planes *planes, const dg_table *table)
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
