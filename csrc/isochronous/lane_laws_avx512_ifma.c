/* Eight attempts at once, each with its own law. */
#include "isochronous/lane_attempt_avx512.h"
#include "isochronous/lane_laws.h"

#include "bounds/refine.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64

/** Return byte i of eight words. */
DG_LANE_INLINE_512 __m512i byte_of(__m512i shape, unsigned i)
{
    return _mm512_and_si512(_mm512_srli_epi64(shape, 8 * i), same(0xFF));
}

/** Return the constants of eight laws, as one_of in lane_laws.c does for one. */
DG_LANE_INLINE_512 constants constants_of(__m512i which, const dg_lane_laws *laws)
{
    const __m512i one = same(1), zero = _mm512_setzero_si512();
    const __m512i rate = _mm512_i64gather_epi64(which, (const void *)laws->rate, 8);
    const __m512i shape = _mm512_i64gather_epi64(which, (const void *)laws->shape, 8);
    const __m512i centre = _mm512_i64gather_epi64(which, (const void *)laws->centre, 8);
    const __m512i n_core = byte_of(shape, 0), n_tail = byte_of(shape, 1);
    const __m512i block_bits = byte_of(shape, 3), units_up = byte_of(shape, 5);
    const __m512i above = _mm512_and_si512(_mm512_srli_epi64(centre, 2),
                                           same((UINT64_C(1) << DG_LANE_ABOVE_BITS) - 1));
    const __m512i twice_f = _mm512_srli_epi64(centre, 2 + DG_LANE_ABOVE_BITS);
    const __m512i twice_f_up =
        _mm512_mask_add_epi64(twice_f, _mm512_test_epi64_mask(centre, same(2)), twice_f, one);
    const __m512i unit = _mm512_sllv_epi64(one, units_up);
    const __mmask8 is_positive = _mm512_test_epi64_mask(centre, one);
    return (constants){
        .n_core = n_core,
        .n_tail = n_tail,
        .n_cells = _mm512_add_epi64(n_core, n_tail),
        .excess = byte_of(shape, 2),
        .block_bits = block_bits,
        .low_mask = _mm512_sub_epi64(_mm512_sllv_epi64(one, block_bits), one),
        .units_up = units_up,
        .units_down = zero,
        .offset = {_mm512_maskz_sub_epi64(is_positive, zero, twice_f_up),
                   _mm512_mask_sub_epi64(unit, (__mmask8)~is_positive, unit, twice_f_up)},
        .twice_f = twice_f,
        .farthest = same(UINT64_C(1) << DG_LANE_FARTHEST_BITS),
        .rate = rate,
        .rate_shift = byte_of(shape, 4),
        .above = DG_ALWAYS_REFINE ? same(UINT64_C(2) << DG_LANE_BITS) : above,
        .above_a_step = above,
        .below = same(DG_ALWAYS_REFINE ? UINT64_C(2) << DG_LANE_BITS : DG_LANE_BELOW),
        .c = zero,
    };
}

DG_LANE_INLINE_512 void make_attempts(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                                      bool is_long, bool squared, const dg_lane_laws *laws)
{
    const size_t attempt_bytes = is_long ? 16 : 12;
    while (round->n_made < round->n_pending) {
        const size_t left = round->n_pending - round->n_made;
        size_t n = left < LANES ? left : LANES;
        const __mmask8 there = (__mmask8)((1u << n) - 1);
        const __m512i which = _mm512_maskz_loadu_epi64(there, round->pending + round->n_made);
        const constants law = constants_of(which, laws);
        const found of =
            attempt(is_long ? load_long(bytes, n) : load_short(bytes, n), squared, &law);
        unsigned wanted = there;
        const unsigned undecided = of.undecided & wanted;
        if (__builtin_expect(undecided != 0, 0)) {
            n = (size_t)__builtin_ctz(undecided);
            wanted = (1u << n) - 1;
        }
        const unsigned kept = ~of.accepted & wanted;
        _mm512_mask_i64scatter_epi64(out, (__mmask8)(of.accepted & wanted), which, of.draws, 8);
        const size_t n_kept = (size_t)__builtin_popcount(kept); /* always n_kept <= n_made */
        _mm512_mask_storeu_epi64(round->pending + round->n_kept, (__mmask8)((1u << n_kept) - 1),
                                 _mm512_maskz_compress_epi64((__mmask8)kept, which));
        round->n_kept += n_kept;
        round->n_made += n;
        bytes += n * attempt_bytes;
        if (__builtin_expect(undecided != 0, 0)) {
            break;
        }
    }
}

DG_TARGET_AVX512_IFMA
void dg_lane_laws_attempt_avx512_ifma(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                                      const dg_lane_laws *laws)
{
    if (laws->is_long) {
        if (laws->squared) {
            make_attempts(out, round, bytes, true, true, laws);
        } else {
            make_attempts(out, round, bytes, true, false, laws);
        }
    } else if (laws->squared) {
        make_attempts(out, round, bytes, false, true, laws);
    } else {
        make_attempts(out, round, bytes, false, false, laws);
    }
}

#endif
