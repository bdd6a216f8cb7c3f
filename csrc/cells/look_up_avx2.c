/* The hot loop in AVX2, for machines without AVX-512: rows are looked up 32 at a time in registers, by
 * shuffles of 16 bytes; what is in mixed rows, a draw at a time. */
#include "cells/look_up.h"

#include "base/isa.h"

#include <string.h>

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

#include "cells/look_up_parts.h"

enum { AT_ONCE = 32, PARTS = DG_ROWS / 16 };

/** A table of 256 bytes, part by part in both halves of a register. */
typedef struct byte_table {
    __m256i part[PARTS];
} byte_table;

INLINE byte_table load_table(const uint8_t table[DG_ROWS])
{
    byte_table loaded;
    for (size_t i = 0; i < PARTS; i++) {
        loaded.part[i] =
            _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(table + 16 * i)));
    }
    return loaded;
}

/** table[index]: what each part has at the low four bits; of two neighbours, one by the next bit. */
INLINE __m256i look_up_bytes(__m256i index, const byte_table *table)
{
    const __m256i low = _mm256_and_si256(index, _mm256_set1_epi8(15));
    __m256i found[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        found[i] = _mm256_shuffle_epi8(table->part[i], low);
    }
    for (size_t n = PARTS / 2, shift = 3; n > 0; n /= 2, shift--) {
        /* bit 7 of each byte chooses */
        const __m256i odd = _mm256_slli_epi16(index, (int)shift);
        for (size_t i = 0; i < n; i++) {
            found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], odd);
        }
    }
    return found[0];
}

/** Append `first` + the places of the set bits. Writes up to 4 entries more. */
INLINE size_t append_places(uint16_t *at, uint32_t set, size_t first)
{
    static const uint16_t places[16][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0},
                                           {2, 0, 0, 0}, {0, 2, 0, 0}, {1, 2, 0, 0}, {0, 1, 2, 0},
                                           {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0},
                                           {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3}};
    size_t count = 0;
    for (size_t i = 0; i < 32; i += 4) {
        const size_t four = set >> i & 15;
        const __m128i base = _mm_set1_epi16((short)(uint16_t)(first + i));
        const __m128i some = _mm_loadl_epi64((const void *)places[four]);
        _mm_storel_epi64((void *)(at + count), _mm_add_epi16(some, base));
        count += (size_t)__builtin_popcountll(four);
    }
    return count;
}

/** Find the codes of the draws but for those in mixed rows, which are at[0], at[1], ... */
INLINE void look_up_whole(dg_found *found, const dg_planes *planes, const dg_rows *rows)
{
    const byte_table whole = load_table(rows->whole);
    const __m256i special = _mm256_set1_epi8((char)(uint8_t)DG_SPECIAL);
    size_t n_mixed = 0;
    for (size_t first = 0; first < planes->n; first += AT_ONCE) {
        const __m256i row = _mm256_loadu_si256((const void *)(planes->rows + first));
        const __m256i code = look_up_bytes(row, &whole);
        _mm256_storeu_si256((void *)(found->code + first), code);
        const uint32_t mixed = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(code, special));
        const size_t left = planes->n - first;
        const uint32_t valid = left < AT_ONCE ? (UINT32_C(1) << left) - 1 : UINT32_MAX;
        if ((mixed & valid) != 0) {
            n_mixed += append_places(found->at + n_mixed, mixed & valid, first);
        }
    }
    found->n_mixed = n_mixed;
}

INLINE void gather_bits(uint8_t out[GROUP], const uint8_t *planes, size_t plane_bytes,
                        unsigned n_planes)
{
    const __m256i each = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i byte_of =
        _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    for (size_t i = 0; i < GROUP; i += AT_ONCE) {
        __m256i bytes = _mm256_setzero_si256();
        for (unsigned k = 0; k < n_planes; k++) {
            uint32_t bits; /* a little-endian machine */
            memcpy(&bits, planes + k * plane_bytes + i / 8, sizeof bits);
            __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte_of);
            spread = _mm256_cmpeq_epi8(_mm256_and_si256(spread, each), each);
            bytes =
                _mm256_or_si256(bytes, _mm256_and_si256(spread, _mm256_set1_epi8((char)(1 << k))));
        }
        _mm256_storeu_si256((void *)(out + i), bytes);
    }
}

DG_TARGET_AVX2 void dg_look_up_avx2(void *out, dg_found *found, size_t item_size, uint64_t c,
                                    const dg_planes *planes, const dg_table *table)
{
    look_up_whole(found, planes, &table->rows);
    look_up_mixed(found, planes, &table->rows, DG_ROWS - 1, (1u << DG_POSITION_BITS) - 1);
    c += (uint64_t)table->coded_first << table->tick_bits;
    put_items(out, found->code, item_size, c, planes, table->tick_bits);
}

#endif
