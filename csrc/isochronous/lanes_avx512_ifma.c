#include "isochronous/lane_power_avx512.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64

/** Return the constants of one law. */
DG_LANE_INLINE_512 constants constants_of(const dg_lanes *lanes)
{
    return (constants){
        .n_core = same(lanes->n_core),
        .n_tail = same(lanes->n_tail),
        .n_cells = same(lanes->n_cells),
        .excess = same(lanes->excess),
        .block_bits = same(lanes->block_bits),
        .low_mask = same(lanes->low_mask),
        .units_up = same(lanes->units_up),
        .units_down = same(lanes->units_down),
        .offset = {same((uint64_t)lanes->offset[0]), same((uint64_t)lanes->offset[1])},
        .twice_f = same(lanes->twice_f),
        .farthest = same(lanes->farthest),
        .rate = same(lanes->rate),
        .rate_shift = same(lanes->rate_shift),
        .above = same(lanes->above),
        .above_a_step = same(lanes->above_a_step),
        .below = same(lanes->below),
        .c = same((uint64_t)lanes->c),
        .f = same(lanes->f),
        .nearest = same(lanes->nearest),
        .log_scale = same(lanes->log_scale),
        .at_centre = same(lanes->at_centre),
    };
}

DG_LANE_INLINE_512 void make_attempts(int64_t *out, size_t *n_accepted, size_t *n_made,
                                      const uint8_t *bytes, size_t n_attempts, bool is_long,
                                      lane_exponent *exponent_of, const dg_lanes *lanes)
{
    const size_t attempt_bytes = is_long ? 16 : 12;
    const constants law = constants_of(lanes);
    size_t accepted = 0, made = 0;
    while (made < n_attempts) {
        size_t n = n_attempts - made < LANES ? n_attempts - made : LANES;
        const uint8_t *at = bytes + made * attempt_bytes;
        const found of =
            attempt_by(is_long ? load_long(at, n) : load_short(at, n), exponent_of, &law);
        unsigned wanted = (1u << n) - 1;
        const unsigned undecided = of.undecided & wanted;
        if (__builtin_expect(undecided != 0, 0)) {
            n = (size_t)__builtin_ctz(undecided);
            wanted = (1u << n) - 1;
        }
        const unsigned accept = of.accepted & wanted;
        _mm512_storeu_si512(out + accepted,
                            _mm512_maskz_compress_epi64((__mmask8)accept, of.draws));
        accepted += (size_t)__builtin_popcount(accept);
        made += n;
        if (__builtin_expect(undecided != 0, 0)) {
            break;
        }
    }
    *n_accepted = accepted;
    *n_made = made;
}

DG_TARGET_AVX512_IFMA
void dg_lane_kernel_avx512_ifma(int64_t *out, size_t *n_accepted, size_t *n_made,
                                const uint8_t *bytes, size_t n_attempts, const dg_lanes *lanes)
{
    /* a loop for each case, so that no loop branches by it */
    if (lanes->attempt_bytes > 12) {
        if (lanes->squared) {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, gaussian_exponent_at,
                          lanes);
        } else {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, laplace_exponent_at,
                          lanes);
        }
    } else if (lanes->squared) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, gaussian_exponent_at,
                      lanes);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, laplace_exponent_at,
                      lanes);
    }
}

DG_TARGET_AVX512_IFMA
void dg_lane_power_kernel_avx512_ifma(int64_t *out, size_t *n_accepted, size_t *n_made,
                                      const uint8_t *bytes, size_t n_attempts,
                                      const dg_lanes *lanes)
{
    if (lanes->attempt_bytes > 12) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, power_exponent_at, lanes);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, power_exponent_at, lanes);
    }
}

#endif
