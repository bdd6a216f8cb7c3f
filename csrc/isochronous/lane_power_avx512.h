/* The exponent of the generalised Gaussian at eight places at once. lane_power.h explains the steps. */
#ifndef DG_ISOCHRONOUS_LANE_POWER_AVX512_H
#define DG_ISOCHRONOUS_LANE_POWER_AVX512_H

#include "isochronous/lane_attempt_avx512.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64

/** Return log2(r) in units of 2^-53. Requires: 1 <= r < 2^52. */
DG_LANE_INLINE_512 __m512i log2_of(__m512i r)
{
    static const uint64_t inverses[2] = DG_LANE_INVERSES, logs[16] = DG_LANE_LOGS;
    const __m512i zero = _mm512_setzero_si512();
    const __m512i zeros = _mm512_sub_epi64(_mm512_lzcnt_epi64(r), same(64 - DG_LANE_BITS));
    const __m512i m = _mm512_sllv_epi64(r, zeros);
    const __m512i place = _mm512_srli_epi64(m, DG_LANE_BITS - 5); /* its low 4 bits are used */
    const __m512i inverse = _mm512_permutex2var_epi64(
        _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)inverses[0])), place,
        _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)inverses[1])));
    const __m512i upper = _mm512_slli_epi64(add_high(zero, m, inverse), DG_LANE_BITS);
    const __m512i less = _mm512_sub_epi64(same(UINT64_C(1) << 59), upper);
    const __m512i u =
        _mm512_srli_epi64(_mm512_sub_epi64(less, _mm512_madd52lo_epu64(zero, m, inverse)), 5);
    __m512i sum = same(DG_LANE_LOG_TERM(12));
    sum = add_high(same(DG_LANE_LOG_TERM(11)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(10)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(9)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(8)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(7)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(6)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(5)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(4)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(3)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(2)), u, sum);
    sum = add_high(same(DG_LANE_LOG_TERM(1)), u, sum);
    const __m512i log =
        _mm512_permutex2var_epi64(_mm512_loadu_si512(logs), place, _mm512_loadu_si512(logs + 8));
    const __m512i whole =
        _mm512_slli_epi64(_mm512_sub_epi64(same(DG_LANE_BITS - 1), zeros), DG_LANE_LOG_BITS);
    return _mm512_sub_epi64(_mm512_add_epi64(whole, log), add_high(zero, u, sum));
}

/** Return log2(e) (r / scale)^beta in units of exponents, rounded down. Requires: r <= of_law->farthest. */
DG_LANE_INLINE_512 __m512i power_of(__m512i r, const constants *of_law)
{
    const __m512i zero = _mm512_setzero_si512(), rate = of_law->rate;
    const __mmask8 is_large = _mm512_cmpge_epu64_mask(r, of_law->nearest);
    const __m512i log = log2_of(_mm512_max_epu64(r, of_law->nearest));
    const __m512i upper = _mm512_srli_epi64(log, DG_LANE_BITS);
    const __m512i whole = _mm512_madd52lo_epu64(
        _mm512_slli_epi64(add_high(zero, upper, rate), DG_LANE_BITS), upper, rate);
    const __m512i times_beta = add_high(whole, log, rate);
    const __m512i log_of_power =
        _mm512_sub_epi64(_mm512_sllv_epi64(times_beta, of_law->rate_shift), of_law->log_scale);
    const __m512i x =
        _mm512_sub_epi64(same((uint64_t)DG_LANE_POWER_TOP << DG_LANE_BITS), log_of_power);
    const __m512i mantissa =
        height_of(_mm512_and_si512(x, same((UINT64_C(1) << DG_LANE_BITS) - 1)));
    return _mm512_maskz_srlv_epi64(is_large, _mm512_slli_epi64(mantissa, DG_LANE_POWER_TOP),
                                   _mm512_srli_epi64(x, DG_LANE_BITS));
}

/** Return the exponent at z, rounded down. It may be a little below 0. */
DG_LANE_INLINE_512 __m512i power_exponent_at(__m512i z, __mmask8 left, const constants *of_law)
{
    const __m512i r = _mm512_min_epu64(_mm512_add_epi64(distance_at(z, left, of_law), of_law->f),
                                       of_law->farthest);
    return _mm512_sub_epi64(power_of(r, of_law), of_law->at_centre);
}

#endif
#endif
