/* The silent engine by SSE4.1. */
#include "base/isa.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_SSE41
#define BYTES 16
#define X(name) _mm_##name
#define XV(name) _mm_##name##_si128
#define vector __m128i

#include "isochronous/silent_x86.h"

INLINE table_part part_of(const uint8_t *table)
{
    return (table_part)_mm_loadu_si128((const void *)table);
}

INLINE vec8 running_sums(vec8 a)
{
    return sums_in_lanes(a);
}

INLINE vec8 last_of(vec8 a)
{
    return (vec8)_mm_shuffle_epi8((vector)a, _mm_set1_epi8(15));
}

INLINE vec32 widened(const uint8_t *from)
{
    return (vec32)_mm_cvtepu8_epi32(_mm_loadu_si32(from));
}

INLINE void put(int64_t *to, vec32 numbers, uint64_t least)
{
    const vector each = _mm_set1_epi64x((long long)least);
    const vector second = _mm_unpackhi_epi64((vector)numbers, (vector)numbers);
    _mm_storeu_si128((void *)to, _mm_add_epi64(_mm_cvtepi32_epi64((vector)numbers), each));
    _mm_storeu_si128((void *)(to + 2), _mm_add_epi64(_mm_cvtepi32_epi64(second), each));
}

#define KERNEL_TARGET DG_TARGET_SSE41
#define KERNEL dg_silent_kernel_sse41
#include "isochronous/silent_vectors.h"

#endif
