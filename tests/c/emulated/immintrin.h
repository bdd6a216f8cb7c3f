/* The AVX-512 functions that csrc/isochronous/narrow_avx512.c calls, word by word in C, as Intel's Intrinsics Guide
 * defines them. So its kernel is also tested on machines without AVX-512, and under sanitizers and valgrind, which do
 * not know it. */
#ifndef DG_TESTS_EMULATED_IMMINTRIN_H
#define DG_TESTS_EMULATED_IMMINTRIN_H

#include <stdint.h>
#include <string.h>

#undef DG_TARGET_AVX512
#define DG_TARGET_AVX512 /* compiled for any machine */

typedef struct __m512i {
    uint64_t of[8];
} __m512i;
typedef uint8_t __mmask8;

#define EACH(i) for (unsigned i = 0; i < 8; i++)

static inline __m512i _mm512_set1_epi64(long long value)
{
    __m512i out;
    EACH(i) out.of[i] = (uint64_t)value;
    return out;
}

static inline __m512i _mm512_setzero_si512(void)
{
    return _mm512_set1_epi64(0);
}

static inline __m512i _mm512_loadu_si512(const void *from)
{
    __m512i out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline __m512i _mm512_maskz_loadu_epi64(__mmask8 mask, const void *from)
{
    __m512i out = _mm512_setzero_si512();
    EACH(i)
    {
        if (mask >> i & 1) { /* nothing else is read */
            memcpy(&out.of[i], (const uint8_t *)from + 8 * i, 8);
        }
    }
    return out;
}

static inline void _mm512_storeu_si512(void *to, __m512i value)
{
    memcpy(to, &value, sizeof value);
}

static inline __m512i _mm512_permutexvar_epi64(__m512i index, __m512i a)
{
    __m512i out;
    EACH(i) out.of[i] = a.of[index.of[i] % 8];
    return out;
}

static inline __m512i _mm512_permutex2var_epi64(__m512i a, __m512i index, __m512i b)
{
    __m512i out;
    EACH(i) out.of[i] = (index.of[i] & 8 ? &b : &a)->of[index.of[i] % 8];
    return out;
}

static inline __mmask8 _mm512_test_epi64_mask(__m512i a, __m512i b)
{
    unsigned mask = 0;
    EACH(i) mask |= (unsigned)((a.of[i] & b.of[i]) != 0) << i;
    return (__mmask8)mask;
}

static inline __mmask8 _mm512_cmpge_epu64_mask(__m512i a, __m512i b)
{
    unsigned mask = 0;
    EACH(i) mask |= (unsigned)(a.of[i] >= b.of[i]) << i;
    return (__mmask8)mask;
}

static inline __mmask8 _mm512_mask_cmpge_epu64_mask(__mmask8 mask, __m512i a, __m512i b)
{
    return mask & _mm512_cmpge_epu64_mask(a, b);
}

static inline __m512i _mm512_mask_blend_epi64(__mmask8 mask, __m512i a, __m512i b)
{
    EACH(i) a.of[i] = mask >> i & 1 ? b.of[i] : a.of[i];
    return a;
}

static inline __m512i _mm512_add_epi64(__m512i a, __m512i b)
{
    EACH(i) a.of[i] += b.of[i];
    return a;
}

static inline __m512i _mm512_mask_add_epi64(__m512i others, __mmask8 mask, __m512i a, __m512i b)
{
    return _mm512_mask_blend_epi64(mask, others, _mm512_add_epi64(a, b));
}

static inline __m512i _mm512_mask_sub_epi64(__m512i others, __mmask8 mask, __m512i a, __m512i b)
{
    EACH(i) a.of[i] -= b.of[i];
    return _mm512_mask_blend_epi64(mask, others, a);
}

#endif
