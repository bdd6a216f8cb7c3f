/* The silent engine by AVX2. */
#include "base/isa.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2
#define BYTES 32
#define X(name) _mm256_##name
#define XV(name) _mm256_##name##_si256
#define vector __m256i

#include "isochronous/silent_x86.h"

INLINE table_part part_of(const uint8_t *table)
{
    return (table_part)_mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)table));
}

INLINE vec8 running_sums(vec8 a)
{
    const vec8 sums = sums_in_lanes(a);
    const vector lower = _mm256_permute2x128_si256((vector)sums, (vector)sums, 0x08);
    return sums + (vec8)_mm256_shuffle_epi8(lower, _mm256_set1_epi8(15));
}

INLINE vec8 last_of(vec8 a)
{
    const vector upper = _mm256_permute2x128_si256((vector)a, (vector)a, 0x11);
    return (vec8)_mm256_shuffle_epi8(upper, _mm256_set1_epi8(15));
}

INLINE vec32 widened(const uint8_t *from)
{
    return (vec32)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)from));
}

INLINE void put(int64_t *to, vec32 numbers, uint64_t least)
{
    const vector each = _mm256_set1_epi64x((long long)least);
    const __m128i first = _mm256_castsi256_si128((vector)numbers),
                  second = _mm256_extracti128_si256((vector)numbers, 1);
    _mm256_storeu_si256((void *)to, _mm256_add_epi64(_mm256_cvtepi32_epi64(first), each));
    _mm256_storeu_si256((void *)(to + 4), _mm256_add_epi64(_mm256_cvtepi32_epi64(second), each));
}

#define KERNEL_TARGET DG_TARGET_AVX2
#define KERNEL dg_silent_kernel_avx2
#include "isochronous/silent_vectors.h"

#endif
