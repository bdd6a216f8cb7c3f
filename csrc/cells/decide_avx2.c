/* dg_decide_each in AVX2, 4 attempts at a time: dg_decide_at_once, step by step. */
#include "cells/decide.h"

#include "base/isa.h"

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

enum { GROUP = 4 };

INLINE __m256i repeat(int64_t value)
{
    return _mm256_set1_epi64x(value);
}

/** The upper halves of lanes, signed. AVX2 has no such shift of 64 bits. */
INLINE __m256i upper_half(__m256i lanes)
{
    return _mm256_blend_epi32(_mm256_srli_epi64(lanes, 32), _mm256_srai_epi32(lanes, 31), 0xAA);
}

INLINE __m256i is_negative(__m256i lanes)
{
    return _mm256_cmpgt_epi64(_mm256_setzero_si256(), lanes);
}

/** dg_reach of 4 offsets. */
INLINE __m256i reach_of(__m256i offsets, unsigned n_bits)
{
    const unsigned up = n_bits < DG_REACH_BITS ? DG_REACH_BITS - n_bits : 0;
    const unsigned down = n_bits > DG_REACH_BITS ? n_bits - DG_REACH_BITS : 0;
    return _mm256_srl_epi64(_mm256_sll_epi64(offsets, _mm_cvtsi32_si128((int)up)),
                            _mm_cvtsi32_si128((int)down));
}

/** dg_arc_height of 4 arcs. No factor of a product is longer than 32 bits. */
INLINE __m256i arc_height(__m256i reach, __m256i base, __m256i slope, __m256i bulge)
{
    enum { DROP = 2 * DG_REACH_BITS - DG_HEIGHT_BITS - 2 };
    const __m256i one = repeat(INT64_C(1) << DG_REACH_BITS);
    const __m256i fall = _mm256_srli_epi64(_mm256_mul_epu32(slope, reach), DG_REACH_BITS);
    const __m256i middle =
        _mm256_srli_epi64(_mm256_mul_epu32(reach, _mm256_sub_epi64(one, reach)), DROP);
    /* a product of 2^31 in size, at most: its upper half is its sign, before and after */
    const __m256i raised = _mm256_srai_epi32(_mm256_mul_epi32(bulge, middle), DG_HEIGHT_BITS);
    return _mm256_add_epi64(_mm256_sub_epi64(base, fall), raised);
}

/** The blocks of full cells; of other cells any block. */
INLINE __m256i full_block(__m256i full, __m256i cell, const dg_table *table)
{
    uint64_t of[GROUP];
    int64_t block[GROUP];
    _mm256_storeu_si256((void *)of, _mm256_and_si256(cell, full));
    for (size_t i = 0; i < GROUP; i++) {
        block[i] = table->block_of[of[i]];
    }
    return _mm256_loadu_si256((const void *)block);
}

INLINE void decide_group(uint8_t outcome[GROUP], uint64_t y[GROUP], const uint16_t special[GROUP],
                         const dg_partial of[GROUP], const uint8_t heights[2 * GROUP],
                         const dg_table *table)
{
    const __m256i number = _mm256_cvtepu16_epi64(_mm_loadl_epi64((const void *)special));
    const __m256i cell = _mm256_add_epi64(number, repeat(table->n_coded));
    const __m256i partial = _mm256_sub_epi64(cell, repeat(table->n_full));
    const __m256i full = is_negative(partial);
    const __m256i is_partial =
        _mm256_andnot_si256(full, _mm256_cmpgt_epi64(repeat(table->n_partial), partial));
    const __m256i first = _mm256_loadu_si256((const void *)of);
    const __m256i last = _mm256_loadu_si256((const void *)(of + GROUP / 2));
    /* unpacking leaves lanes 1 and 2 in each other's place */
    enum { IN_ORDER = _MM_SHUFFLE(3, 1, 2, 0) };
    const __m256i low = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(first, last), IN_ORDER);
    const __m256i high = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(first, last), IN_ORDER);
    const __m256i base = upper_half(low), bulge = upper_half(_mm256_srai_epi32(high, 16));
    const __m256i slope = _mm256_and_si256(high, repeat(UINT32_MAX));
    const __m256i error = _mm256_and_si256(_mm256_srli_epi64(high, 32), repeat(UINT16_MAX));
    __m256i block = upper_half(_mm256_srai_epi32(_mm256_slli_epi64(low, 48), 16));

    const __m256i tick = _mm256_loadu_si256((const void *)y);
    const __m256i last_tick = repeat((INT64_C(1) << table->tick_bits) - 1);
    const __m256i flip = _mm256_and_si256(is_negative(block), last_tick);
    const __m256i reach = reach_of(_mm256_xor_si256(tick, flip), table->tick_bits);
    const __m256i lower = _mm256_sub_epi64(arc_height(reach, base, slope, bulge), error);
    const __m256i height = _mm256_cvtepu16_epi64(_mm_loadl_epi64((const void *)heights));
    const __m256i above = _mm256_sub_epi64(height, lower);
    __m256i accepted = is_negative(above);
    const __m256i in_doubt = _mm256_cmpgt_epi64(_mm256_add_epi64(error, error), above);
    __m256i told = _mm256_and_si256(
        is_partial, _mm256_or_si256(accepted, _mm256_xor_si256(in_doubt, repeat(-1))));
    told = DG_ALWAYS_REFINE ? _mm256_setzero_si256() : told;
    if (table->n_full > table->n_coded) {
        block = _mm256_blendv_epi8(block, full_block(full, cell, table), full);
        accepted = _mm256_or_si256(accepted, full);
        told = _mm256_or_si256(told, full);
    }
    const __m256i outcomes = _mm256_blendv_epi8(
        repeat(DG_IN_DOUBT), _mm256_and_si256(accepted, repeat(DG_ACCEPTED)), told);
    uint64_t each[GROUP];
    _mm256_storeu_si256((void *)each, outcomes);
    for (size_t i = 0; i < GROUP; i++) {
        outcome[i] = (uint8_t)each[i];
    }
    block = _mm256_sll_epi64(block, _mm_cvtsi32_si128((int)table->tick_bits));
    _mm256_storeu_si256((void *)y, _mm256_add_epi64(block, tick));
}

DG_TARGET_AVX2 void dg_decide_each_avx2(uint8_t *outcome, uint64_t *y, const uint16_t *special,
                                        const dg_partial *partial, const uint8_t *heights, size_t n,
                                        const dg_table *table)
{
    const size_t whole = n - n % GROUP;
    for (size_t i = 0; i < whole; i += GROUP) {
        decide_group(outcome + i, y + i, special + i, partial + i, heights + 2 * i, table);
    }
    dg_decide_each_portable(outcome + whole, y + whole, special + whole, partial + whole,
                            heights + 2 * whole, n - whole, table);
}

#endif
