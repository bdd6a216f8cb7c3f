/* Eight attempts at once, each with its own law, by AVX-512 and its products of 52 bits (lane_laws_avx512_ifma.c).
 * lane_attempt.h explains the steps. */
#ifndef DG_ISOCHRONOUS_LANE_ATTEMPT_AVX512_H
#define DG_ISOCHRONOUS_LANE_ATTEMPT_AVX512_H

#include "isochronous/lanes.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64
#include <immintrin.h>

#define DG_LANE_INLINE_512 static inline __attribute__((always_inline)) DG_TARGET_AVX512_IFMA

enum { LANES = 8 };

DG_LANE_INLINE_512 __m512i same(uint64_t value)
{
    return _mm512_set1_epi64((long long)value);
}

/** Return a + floor(b c / 2^52). */
DG_LANE_INLINE_512 __m512i add_high(__m512i a, __m512i b, __m512i c)
{
    return _mm512_madd52hi_epu64(a, b, c);
}

/** The words of eight attempts. */
typedef struct words {
    __m512i point, head, more;
} words;

/** Load n <= 8 attempts of 12 bytes; the others' words are zero. */
DG_LANE_INLINE_512 words load_short(const uint8_t *bytes, size_t n)
{
    const __m512i points =
        _mm512_set_epi32(22, 21, 19, 18, 16, 15, 13, 12, 10, 9, 7, 6, 4, 3, 1, 0);
    const __m512i heads = _mm512_set_epi32(0, 23, 0, 20, 0, 17, 0, 14, 0, 11, 0, 8, 0, 5, 0, 2);
    const uint32_t read = (uint32_t)((UINT64_C(1) << (3 * n)) - 1);
    const __m512i first = _mm512_maskz_loadu_epi32((__mmask16)read, bytes);
    const __m512i second = _mm512_maskz_loadu_epi32((__mmask16)(read >> 16), bytes + 64);
    return (words){_mm512_permutex2var_epi32(first, points, second),
                   _mm512_maskz_permutex2var_epi32(0x5555, first, heads, second),
                   _mm512_setzero_si512()};
}

/** Load n <= 8 attempts of 16 bytes; the others' words are zero. */
DG_LANE_INLINE_512 words load_long(const uint8_t *bytes, size_t n)
{
    const __m512i points = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i heads = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    const uint32_t read = (uint32_t)((UINT64_C(1) << (2 * n)) - 1);
    const __m512i first = _mm512_maskz_loadu_epi64((__mmask8)read, bytes);
    const __m512i second = _mm512_maskz_loadu_epi64((__mmask8)(read >> 8), bytes + 64);
    const __m512i both = _mm512_permutex2var_epi64(first, heads, second);
    return (words){_mm512_permutex2var_epi64(first, points, second),
                   _mm512_and_si512(both, same(UINT32_MAX)), _mm512_srli_epi64(both, 32)};
}

/** Return 2^-x, rounded down. Requires: x < 128, in units of exponents. */
DG_LANE_INLINE_512 __m512i height_of(__m512i x)
{
    static const uint64_t powers[16] = DG_LANE_POWERS;
    const __m512i sixteenth = same(UINT64_C(1) << (DG_LANE_BITS - 4));
    const __m512i place = _mm512_srli_epi64(x, DG_LANE_BITS - 4); /* its low 4 bits are used */
    const __m512i power = _mm512_permutex2var_epi64(_mm512_loadu_si512(powers), place,
                                                    _mm512_loadu_si512(powers + 8));
    const __m512i left = _mm512_sub_epi64(
        sixteenth, _mm512_and_si512(x, same((UINT64_C(1) << (DG_LANE_BITS - 4)) - 1)));
    const __m512i zero = _mm512_setzero_si512();
    const __m512i s = add_high(zero, _mm512_add_epi64(left, left), same(DG_LANE_LN2));
    __m512i sum = same(DG_LANE_TERM(8, 40320));
    sum = add_high(same(DG_LANE_TERM(7, 5040)), s, sum);
    sum = add_high(same(DG_LANE_TERM(6, 720)), s, sum);
    sum = add_high(same(DG_LANE_TERM(5, 120)), s, sum);
    sum = add_high(same(DG_LANE_TERM(4, 24)), s, sum);
    sum = add_high(same(DG_LANE_TERM(3, 6)), s, sum);
    sum = add_high(same(DG_LANE_TERM(2, 2)), s, sum);
    sum = add_high(same(DG_LANE_TERM(1, 1)), s, sum);
    return _mm512_srlv_epi64(add_high(power, power, add_high(zero, s, sum)),
                             _mm512_srli_epi64(x, DG_LANE_BITS));
}

/** The constants of dg_lanes, for eight laws or for one law eight times. */
typedef struct constants {
    __m512i n_core, n_tail, n_cells, excess, block_bits, low_mask;
    __m512i units_up, units_down, offset[2], twice_f, farthest, rate, rate_shift;
    __m512i above, above_a_step, below, c;
    __m512i f, nearest, log_scale, at_centre; /* generalised Gaussian */
} constants;

/** Return delta = |y - f| - |f| at z in units of distance, rounded down. */
DG_LANE_INLINE_512 __m512i distance_at(__m512i z, __mmask8 left, const constants *of_law)
{
    const __m512i offset = _mm512_mask_blend_epi64(left, of_law->offset[0], of_law->offset[1]);
    const __m512i units =
        _mm512_srlv_epi64(_mm512_sllv_epi64(z, of_law->units_up), of_law->units_down);
    const __m512i d = _mm512_max_epi64(_mm512_add_epi64(units, offset), _mm512_setzero_si512());
    return _mm512_min_epu64(d, of_law->farthest);
}

DG_LANE_INLINE_512 __m512i exponent_at(__m512i z, __mmask8 left, bool squared,
                                       const constants *of_law)
{
    const __m512i zero = _mm512_setzero_si512(), rate = of_law->rate;
    const __m512i d = distance_at(z, left, of_law);
    __m512i high = d, carried = zero;
    if (squared) {
        const __m512i further = _mm512_add_epi64(d, of_law->twice_f);
        const __m512i low = _mm512_madd52lo_epu64(zero, d, further);
        high = add_high(zero, d, further);
        carried = add_high(zero, low, rate);
    }
    const __m512i upper = add_high(zero, high, rate);
    const __m512i lower = _mm512_madd52lo_epu64(carried, high, rate);
    return _mm512_add_epi64(
        _mm512_sllv_epi64(upper, _mm512_sub_epi64(same(DG_LANE_BITS), of_law->rate_shift)),
        _mm512_srlv_epi64(lower, of_law->rate_shift));
}

/** The outcomes of eight attempts. */
typedef struct found {
    __m512i draws;
    __mmask8 accepted, undecided;
} found;

DG_LANE_INLINE_512 found attempt(words of, bool squared, const constants *of_law)
{
    const __m512i one = same(1), ones = same(UINT64_MAX);
    const __m512i product = _mm512_madd52lo_epu64(
        _mm512_setzero_si512(), _mm512_and_si512(of.head, same(0xFFFF)), of_law->n_cells);
    const __m512i cell = _mm512_srli_epi64(product, 16);
    const __mmask8 counts =
        _mm512_cmpge_epu64_mask(_mm512_and_si512(product, same(0xFFFF)), of_law->excess);
    const __mmask8 is_tail = _mm512_cmpge_epu64_mask(cell, of_law->n_core);
    const __mmask8 left = _mm512_test_epi64_mask(of.point, one);
    const __m512i zeros_last = _mm512_andnot_si512(one, of.point);
    const __m512i other = _mm512_xor_si512(_mm512_or_si512(of.point, one), ones);
    const __m512i n_ones = _mm512_lzcnt_epi64(_mm512_or_si512(other, one));
    const __mmask8 is_beyond =
        _mm512_mask_cmpge_epu64_mask(is_tail, n_ones, same(DG_LANE_MOST_STEP));
    const __m512i level = _mm512_maskz_min_epu64(is_tail, n_ones, same(DG_LANE_MOST_STEP - 1));
    const __m512i step = _mm512_mask_add_epi64(level, is_tail, level, one);
    const __m512i block = _mm512_madd52lo_epu64(cell, level, of_law->n_tail);
    const __m512i low = _mm512_and_si512(
        _mm512_or_si512(_mm512_srli_epi64(of.head, 16), _mm512_slli_epi64(of.more, 16)),
        of_law->low_mask);
    const __m512i z = _mm512_or_si512(_mm512_sllv_epi64(block, of_law->block_bits), low);
    const __m512i lifted = _mm512_sub_epi64(exponent_at(z, left, squared, of_law),
                                            _mm512_slli_epi64(step, DG_LANE_BITS));
    const __m512i height = height_of(_mm512_max_epi64(lifted, _mm512_setzero_si512()));
    const __m512i first = _mm512_srli_epi64(_mm512_sllv_epi64(zeros_last, step), 64 - DG_LANE_BITS);
    const __m512i last = _mm512_srli_epi64(_mm512_xor_si512(_mm512_sllv_epi64(other, step), ones),
                                           64 - DG_LANE_BITS);
    const __m512i above = _mm512_madd52lo_epu64(of_law->above, step, of_law->above_a_step);
    const __mmask8 is_below = _mm512_cmplt_epu64_mask(_mm512_add_epi64(last, above), height);
    const __mmask8 is_above =
        _mm512_cmpge_epu64_mask(first, _mm512_add_epi64(height, of_law->below));
    const __mmask8 known = (__mmask8)(counts & ~is_beyond);
    const __m512i sign = _mm512_maskz_set1_epi64(left, -1);
    return (found){
        .draws = _mm512_add_epi64(_mm512_xor_si512(z, sign), of_law->c),
        .accepted = (__mmask8)(known & is_below),
        .undecided = (__mmask8)(counts & (is_beyond | (__mmask8) ~(is_below | is_above))),
    };
}

#endif
#endif
