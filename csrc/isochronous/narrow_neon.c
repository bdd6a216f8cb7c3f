/* Narrow laws by NEON, for AArch64: every threshold is compared with two draws of eight vectors. */
#include "isochronous/narrow.h"

#include "base/contract.h"

#if DG_HAVE_WORDS && DG_ISA_AARCH64
#include <arm_neon.h>

enum { LANES = 2, GROUPS = 8, TOGETHER = LANES * GROUPS };

#define EACH_GROUP(g) _Pragma("GCC unroll 8") for (size_t g = 0; g < GROUPS; g++)

void dg_narrow_kernel_neon(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                           size_t n_attempts, const dg_lanes *lanes)
{
    const dg_narrow *narrow = lanes->narrow;
    const size_t n_thresholds = narrow->n - 1;
    const uint64x2_t sign = vdupq_n_u64(narrow->has_sign);
    const uint64x2_t least = vdupq_n_u64((uint64_t)lanes->c + (uint64_t)narrow->least);
    const uint64x2_t end = vdupq_n_u64(narrow->undecided_from);
    size_t made = 0;
    for (; n_attempts - made >= TOGETHER; made += TOGETHER) {
        uint64x2_t u[GROUPS], j[GROUPS];
        EACH_GROUP(g)
        {
            u[g] = vreinterpretq_u64_u8(vld1q_u8(bytes + 8 * (made + LANES * g)));
            j[g] = vdupq_n_u64(n_thresholds);
        }
        for (size_t k = 0; k < n_thresholds; k++) { /* subtract 1 for each one above u */
            const uint64x2_t threshold = vdupq_n_u64(narrow->threshold[k]);
            EACH_GROUP(g)
            {
                j[g] = vaddq_u64(j[g], vcgtq_u64(threshold, u[g]));
            }
        }
        uint64x2_t any = vdupq_n_u64(0);
        EACH_GROUP(g)
        {
            const uint64x2_t left = vsubq_u64(vdupq_n_u64(0), vandq_u64(u[g], sign));
            const uint64x2_t y = vsubq_u64(veorq_u64(j[g], left), left);
            vst1q_s64(out + made + LANES * g, vreinterpretq_s64_u64(vaddq_u64(y, least)));
            any = vorrq_u64(any, vcgeq_u64(u[g], end));
        }
        const uint64_t undecided = vgetq_lane_u64(any, 0) | vgetq_lane_u64(any, 1);
        DG_PUBLIC(undecided);
        if (__builtin_expect(undecided != 0, 0)) { /* the portable kernel stops before it */
            break;
        }
    }
    dg_narrow_kernel_portable(out + made, n_accepted, n_made, bytes + 8 * made, n_attempts - made,
                              lanes);
    *n_accepted = *n_made += made;
}

#endif
