/* Narrow laws by AVX2: every threshold is compared with four draws of four vectors. */
#include "isochronous/narrow.h"

#include "base/contract.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

enum { LANES = 4, GROUPS = 4, TOGETHER = LANES * GROUPS };

#define EACH_GROUP(g) _Pragma("GCC unroll 4") for (size_t g = 0; g < GROUPS; g++)

static const uint64_t HIGHEST = UINT64_C(1) << 63; /* less this, words compare as signed integers */

INLINE __m256i same(uint64_t value)
{
    return _mm256_set1_epi64x((long long)value);
}

DG_TARGET_AVX2
void dg_narrow_kernel_avx2(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                           size_t n_attempts, const dg_lanes *lanes)
{
    const dg_narrow *narrow = lanes->narrow;
    const size_t n_thresholds = narrow->n - 1;
    const __m256i zero = _mm256_setzero_si256(), sign = same(narrow->has_sign);
    const __m256i end = same(narrow->undecided_from ^ HIGHEST);
    const __m256i least = same((uint64_t)lanes->c + (uint64_t)narrow->least);
    uint64_t thresholds[DG_NARROW_MOST];
    for (size_t k = 0; k < n_thresholds; k++) {
        thresholds[k] = narrow->threshold[k] ^ HIGHEST;
    }
    size_t made = 0;
    for (; n_attempts - made >= TOGETHER; made += TOGETHER) {
        __m256i u[GROUPS], j[GROUPS];
        EACH_GROUP(g)
        {
            const void *from = bytes + 8 * (made + LANES * g);
            u[g] = _mm256_xor_si256(_mm256_loadu_si256(from), same(HIGHEST));
            j[g] = same(n_thresholds);
        }
        for (size_t k = 0; k < n_thresholds; k++) { /* subtract 1 for each one above u */
            const __m256i threshold = same(thresholds[k]);
            EACH_GROUP(g)
            {
                j[g] = _mm256_add_epi64(j[g], _mm256_cmpgt_epi64(threshold, u[g]));
            }
        }
        __m256i decided = same(UINT64_MAX);
        EACH_GROUP(g)
        {
            const __m256i left = _mm256_sub_epi64(zero, _mm256_and_si256(u[g], sign));
            const __m256i y = _mm256_sub_epi64(_mm256_xor_si256(j[g], left), left);
            _mm256_storeu_si256((void *)(out + made + LANES * g), _mm256_add_epi64(y, least));
            decided = _mm256_and_si256(decided, _mm256_cmpgt_epi64(end, u[g]));
        }
        const int all = _mm256_movemask_epi8(decided);
        DG_PUBLIC(all);
        if (__builtin_expect(all != -1, 0)) { /* the portable kernel stops before it */
            break;
        }
    }
    dg_narrow_kernel_portable(out + made, n_accepted, n_made, bytes + 8 * made, n_attempts - made,
                              lanes);
    *n_accepted = *n_made += made;
}

#endif
