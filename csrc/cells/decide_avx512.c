/* dg_decide_each in AVX-512, 8 attempts at a time: dg_decide_at_once, step by step. */
#include "cells/decide.h"

#include "base/isa.h"

#if DG_ISA_X86_64
#include <immintrin.h>

#ifndef __OPTIMIZE__ /* gcc's gathers are then macros, which convert a mask to char */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512

enum { GROUP = 8, FEW = 3 };
_Static_assert((int)GROUP <= (int)DG_DECIDE_BEHIND,
               "the last group is read and written as a whole");

INLINE __m512i repeat(int64_t value)
{
    return _mm512_set1_epi64(value);
}

/** dg_reach of 8 offsets. */
INLINE __m512i reach_of(__m512i offsets, unsigned n_bits)
{
    const unsigned up = n_bits < DG_REACH_BITS ? DG_REACH_BITS - n_bits : 0;
    const unsigned down = n_bits > DG_REACH_BITS ? n_bits - DG_REACH_BITS : 0;
    return _mm512_srl_epi64(_mm512_sll_epi64(offsets, _mm_cvtsi32_si128((int)up)),
                            _mm_cvtsi32_si128((int)down));
}

/** dg_arc_height of 8 arcs. No factor of a product is longer than 32 bits. */
INLINE __m512i arc_height(__m512i reach, __m512i base, __m512i slope, __m512i bulge)
{
    enum { DROP = 2 * DG_REACH_BITS - DG_HEIGHT_BITS - 2 };
    const __m512i one = repeat(INT64_C(1) << DG_REACH_BITS);
    const __m512i fall = _mm512_srli_epi64(_mm512_mul_epu32(slope, reach), DG_REACH_BITS);
    const __m512i middle =
        _mm512_srli_epi64(_mm512_mul_epu32(reach, _mm512_sub_epi64(one, reach)), DROP);
    const __m512i raised = _mm512_srai_epi64(_mm512_mul_epi32(bulge, middle), DG_HEIGHT_BITS);
    return _mm512_add_epi64(_mm512_sub_epi64(base, fall), raised);
}

/** Return the blocks of full cells. A gather reads 32 bits for each block of 16, which is safe because
 *  block_of has entries behind the last full cell's. */
INLINE __m512i full_block(__mmask8 full, __m512i cell, const dg_table *table)
{
    const __m256i both =
        _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), full, cell, table->block_of, 2);
    return _mm512_cvtepi32_epi64(_mm256_srai_epi32(_mm256_slli_epi32(both, 16), 16));
}

INLINE void decide_group(uint8_t outcome[GROUP], uint64_t y[GROUP], const uint16_t special[GROUP],
                         const dg_partial of[GROUP], const uint8_t heights[2 * GROUP],
                         const dg_table *table)
{
    const __m512i number = _mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)special));
    const __m512i cell = _mm512_add_epi64(number, repeat(table->n_coded));
    const __m512i partial = _mm512_sub_epi64(cell, repeat(table->n_full)); /* negative if full */
    const __mmask8 is_partial = _mm512_cmplt_epu64_mask(partial, repeat(table->n_partial));
    const __m512i first = _mm512_loadu_si512(of), last = _mm512_loadu_si512(of + GROUP / 2);
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i low = _mm512_permutex2var_epi64(first, even, last);
    const __m512i odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const __m512i high = _mm512_permutex2var_epi64(first, odd, last);
    const __m512i base = _mm512_srai_epi64(low, 32), bulge = _mm512_srai_epi64(high, 48);
    const __m512i slope = _mm512_and_si512(high, repeat(UINT32_MAX));
    const __m512i error = _mm512_and_si512(_mm512_srli_epi64(high, 32), repeat(UINT16_MAX));
    __m512i block = _mm512_srai_epi64(_mm512_slli_epi64(low, 48), 48);

    const __m512i tick = _mm512_loadu_si512(y);
    const __m512i last_tick = repeat((INT64_C(1) << table->tick_bits) - 1);
    const __m512i flip = _mm512_and_si512(_mm512_srai_epi64(block, 63), last_tick);
    const __m512i reach = reach_of(_mm512_xor_si512(tick, flip), table->tick_bits);
    const __m512i lower = _mm512_sub_epi64(arc_height(reach, base, slope, bulge), error);
    const __m512i height = _mm512_cvtepu16_epi64(_mm_loadu_si128((const void *)heights));
    const __m512i above = _mm512_sub_epi64(height, lower);
    __mmask8 accepted = _mm512_movepi64_mask(above);
    __mmask8 told = _mm512_cmpge_epu64_mask(above, _mm512_add_epi64(error, error)) & is_partial;
    told = DG_ALWAYS_REFINE ? 0 : told;
    if (table->n_full > table->n_coded) {
        const __mmask8 full = _mm512_movepi64_mask(partial);
        block = _mm512_mask_mov_epi64(block, full, full_block(full, cell, table));
        accepted |= full;
        told |= full;
    }
    const __m512i outcomes = _mm512_mask_mov_epi64(
        repeat(DG_IN_DOUBT), told, _mm512_maskz_mov_epi64(accepted, repeat(DG_ACCEPTED)));
    _mm_storel_epi64((void *)outcome, _mm512_cvtepi64_epi8(outcomes));
    block = _mm512_sll_epi64(block, _mm_cvtsi32_si128((int)table->tick_bits));
    _mm512_storeu_si512(y, _mm512_add_epi64(block, tick));
}

DG_TARGET_AVX512 void dg_decide_each_avx512(uint8_t *outcome, uint64_t *y, const uint16_t *special,
                                            const dg_partial *partial, const uint8_t *heights,
                                            size_t n, const dg_table *table)
{
    if (n <= FEW) {
        dg_decide_each_portable(outcome, y, special, partial, heights, n, table);
        return;
    }
    for (size_t i = 0; i < n; i += GROUP) {
        decide_group(outcome + i, y + i, special + i, partial + i, heights + 2 * i, table);
    }
}

#endif
