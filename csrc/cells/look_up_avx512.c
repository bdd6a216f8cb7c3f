/* The hot loop in AVX-512: 16 words of 2 to 4 bytes at once in lanes of 32 bits, 8 longer ones in
 * lanes of 64. Whatever is left of a chunk goes through the portable loop. */
#include "cells/look_up.h"

#include "base/isa.h"
#include "cells/draw.h"

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512

/** table->spread, in registers. */
typedef struct spread {
    __m512i pieces, bytes;
} spread;

INLINE spread load_spread(const dg_table *table)
{
    return (spread){_mm512_loadu_si512(table->spread.pieces),
                    _mm512_loadu_si512(table->spread.bytes)};
}

INLINE __m512i load_lanes(const uint8_t *words, spread by)
{
    __m512i raw = _mm512_loadu_si512(words);
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(by.pieces, raw), by.bytes);
}

/** 16 values of 32 bits, sign extended where they are widened, plus c. */
INLINE void store_16(uint8_t *out, size_t item_size, __m512i values, __m512i c32, __m512i c64)
{
    switch (item_size) {
    case 1:
        _mm_storeu_si128((void *)out, _mm512_cvtepi32_epi8(_mm512_add_epi32(values, c32)));
        break;
    case 2:
        _mm256_storeu_si256((void *)out, _mm512_cvtepi32_epi16(_mm512_add_epi32(values, c32)));
        break;
    case 4:
        _mm512_storeu_si512(out, _mm512_add_epi32(values, c32));
        break;
    default: {
        __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(values));
        __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(values, 1));
        _mm512_storeu_si512(out, _mm512_add_epi64(low, c64));
        _mm512_storeu_si512(out + 64, _mm512_add_epi64(high, c64));
    }
    }
}

INLINE void store_8(uint8_t *out, size_t item_size, __m512i values)
{
    switch (item_size) {
    case 1:
        _mm_storel_epi64((void *)out, _mm512_cvtepi64_epi8(values));
        break;
    case 2:
        _mm_storeu_si128((void *)out, _mm512_cvtepi64_epi16(values));
        break;
    case 4:
        _mm256_storeu_si256((void *)out, _mm512_cvtepi64_epi32(values));
        break;
    default:
        _mm512_storeu_si512(out, values);
    }
}

/** Words of 2, 3 or 4 bytes: tick_bits <= 16, so block 2^tick_bits + tick fits 32 bits. */
INLINE uint32_t look_up_short(uint8_t *out, size_t item_size, uint16_t *at, size_t n,
                              size_t n_bytes, uint64_t c, const uint8_t *words,
                              const dg_table *table)
{
    const spread by = load_spread(table);
    const __m512i index_mask = _mm512_set1_epi32(0xFFFF);
    const __m512i tick_mask = _mm512_set1_epi32((int)((1u << table->tick_bits) - 1));
    const __m512i n_full = _mm512_set1_epi32((int)table->n_full);
    const __m512i c32 = _mm512_set1_epi32((int)(uint32_t)c), c64 = _mm512_set1_epi64((long long)c);
    const __m128i shift = _mm_cvtsi32_si128((int)table->tick_bits);
    __m512i position = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    uint32_t count = 0;
    for (size_t i = 0; i < n; i += 16) {
        __m512i word = load_lanes(words + i * n_bytes, by);
        __m512i index = _mm512_and_si512(word, index_mask);
        __m512i block =
            _mm512_i32gather_epi32(index, (const int *)(const void *)table->block_of, 2);
        block = _mm512_srai_epi32(_mm512_slli_epi32(block, 16), 16);
        __m512i tick = _mm512_and_si512(_mm512_srli_epi32(word, 16), tick_mask);
        __m512i value = _mm512_add_epi32(_mm512_sll_epi32(block, shift), tick);
        store_16(out + i * item_size, item_size, value, c32, c64);
        __mmask16 rest = _mm512_cmpge_epu32_mask(index, n_full);
        if (rest != 0) {
            __m512i which = _mm512_maskz_compress_epi32(rest, position);
            _mm256_storeu_si256((void *)(at + count), _mm512_cvtepi32_epi16(which));
            count += (uint32_t)__builtin_popcount(rest);
        }
        position = _mm512_add_epi32(position, _mm512_set1_epi32(16));
    }
    return count;
}

/** Words of 5 to 8 bytes. */
INLINE uint32_t look_up_long(uint8_t *out, size_t item_size, uint16_t *at, size_t n, size_t n_bytes,
                             uint64_t c, const uint8_t *words, const dg_table *table)
{
    const spread by = load_spread(table);
    const __m512i index_mask = _mm512_set1_epi64(0xFFFF);
    const __m512i tick_mask = _mm512_set1_epi64((long long)((UINT64_C(1) << table->tick_bits) - 1));
    const __m512i n_full = _mm512_set1_epi64(table->n_full);
    const __m512i centre = _mm512_set1_epi64((long long)c);
    const __m128i shift = _mm_cvtsi32_si128((int)table->tick_bits);
    __m256i position = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    uint32_t count = 0;
    for (size_t i = 0; i < n; i += 8) {
        __m512i word = load_lanes(words + i * n_bytes, by);
        __m512i index = _mm512_and_si512(word, index_mask);
        __m256i narrow =
            _mm512_i64gather_epi32(index, (const int *)(const void *)table->block_of, 2);
        narrow = _mm256_srai_epi32(_mm256_slli_epi32(narrow, 16), 16);
        __m512i tick = _mm512_and_si512(_mm512_srli_epi64(word, 16), tick_mask);
        __m512i value = _mm512_sll_epi64(_mm512_cvtepi32_epi64(narrow), shift);
        value = _mm512_add_epi64(_mm512_add_epi64(value, tick), centre);
        store_8(out + i * item_size, item_size, value);
        __mmask8 rest = _mm512_cmpge_epu64_mask(index, n_full);
        if (rest != 0) {
            __m256i which = _mm256_maskz_compress_epi32(rest, position);
            _mm_storeu_si128((void *)(at + count), _mm256_cvtepi32_epi16(which));
            count += (uint32_t)__builtin_popcount(rest);
        }
        position = _mm256_add_epi32(position, _mm256_set1_epi32(8));
    }
    return count;
}

/** The loops with their sizes known, for those that are used most. */
DG_TARGET_AVX512 static uint32_t look_up(uint8_t *out, size_t item_size, uint16_t *at, size_t n,
                                         uint64_t c, const uint8_t *words, const dg_table *table)
{
    size_t n_bytes = dg_table_word_bytes(table);
    if (n_bytes > 4) {
        return item_size == 8 ? look_up_long(out, 8, at, n, n_bytes, c, words, table)
                              : look_up_long(out, item_size, at, n, n_bytes, c, words, table);
    }
    switch (item_size) {
    case 2:
        return look_up_short(out, 2, at, n, n_bytes, c, words, table);
    case 4:
        return look_up_short(out, 4, at, n, n_bytes, c, words, table);
    case 8:
        return look_up_short(out, 8, at, n, n_bytes, c, words, table);
    default:
        return look_up_short(out, 1, at, n, n_bytes, c, words, table);
    }
}

void dg_look_up_spread(dg_spread *out, size_t n_bytes)
{
    const size_t lane_bytes = n_bytes <= 4 ? 4 : 8, per_part = 16 / lane_bytes;
    for (size_t part = 0; part < 4; part++) {
        const size_t first = part * per_part * n_bytes;
        for (size_t i = 0; i < 4; i++) { /* pieces past the 64 bytes loaded are never shuffled in */
            out->pieces[4 * part + i] = (uint32_t)((first / 4 + i) & 15);
        }
        for (size_t i = 0; i < 16; i++) {
            size_t in_lane = i % lane_bytes;
            size_t at = first % 4 + (i / lane_bytes) * n_bytes + in_lane;
            out->bytes[16 * part + i] = (uint8_t)(in_lane < n_bytes ? at : 0x80);
        }
    }
}

uint32_t dg_look_up_avx512(void *out, size_t item_size, uint16_t *at, size_t n, uint64_t c,
                           const uint8_t *words, const dg_table *table)
{
    size_t n_bytes = dg_table_word_bytes(table);
    size_t whole = n - n % 16;
    uint32_t count = look_up(out, item_size, at, whole, c, words, table);
    uint32_t more = dg_look_up_portable((uint8_t *)out + whole * item_size, item_size, at + count,
                                        n - whole, c, words + whole * n_bytes, table);
    for (uint32_t i = count; i < count + more; i++) {
        at[i] = (uint16_t)(at[i] + whole);
    }
    return count + more;
}

#endif
