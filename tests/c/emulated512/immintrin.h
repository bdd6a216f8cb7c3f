/* The functions that csrc/isochronous/silent_avx512_vbmi2.c calls, element by element in C, as Intel's Intrinsics Guide
 * defines them. So its kernel is also tested on machines without AVX-512, under sanitizers, and under valgrind, which
 * does not know AVX-512. test_emulated.c compares these functions with those of AVX2.
 *
 * No branch and no address depends on an element, a mask or a count, so valgrind reports only what the kernel does. */
#ifndef DG_TESTS_EMULATED512_IMMINTRIN_H
#define DG_TESTS_EMULATED512_IMMINTRIN_H

#include <stdint.h>
#include <string.h>

#undef DG_TARGET_AVX512_VBMI2
#define DG_TARGET_AVX512_VBMI2 /* compiled for any machine */

/** Elements of 8, 16, 32 and 64 bits. */
typedef union __m512i {
    uint8_t b[64];
    uint16_t w[32];
    uint32_t d[16];
    uint64_t q[8];
} __m512i;

/* The lower quarter and half of an __m512i. */
typedef __m512i __m128i, __m256i;

typedef uint8_t __mmask8;
typedef uint32_t __mmask32;
typedef uint64_t __mmask64;

#define COUNT(part) (sizeof(__m512i) / sizeof((__m512i *)0)->part[0])
#define EACH(i, n) for (size_t i = 0; i < (n); i++)

/** Return all ones if a condition is 1, and 0 if it is 0. */
static inline uint64_t ones_if(uint64_t condition)
{
    return 0 - condition;
}

/** Return the value of the lower n bits as a signed number. */
static inline int64_t with_sign(uint64_t x, size_t n)
{
    return (int64_t)(x << (64 - n)) >> (64 - n);
}

static inline int64_t saturated(int64_t x)
{
    return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x;
}

/* --- element by element: element i of the result is `value`, where x and y are those of a and b --- */

#define DEFINE(name, part, value, x_of_a, y_of_b, ...)                                             \
    static inline __m512i _mm512_##name(__VA_ARGS__)                                               \
    {                                                                                              \
        __m512i out;                                                                               \
        EACH(i, COUNT(part))                                                                       \
        {                                                                                          \
            const uint64_t x = (x_of_a), y = (y_of_b);                                             \
            (void)y;                                                                               \
            out.part[i] = (__typeof__(out.part[i]))(value);                                        \
        }                                                                                          \
        return out;                                                                                \
    }
#define OF_ONE(name, part, value) DEFINE(name, part, value, a.part[i], 0, __m512i a)
#define OF_TWO(name, part, value)                                                                  \
    DEFINE(name, part, value, a.part[i], b.part[i], __m512i a, __m512i b)
#define SAME(name, part, type) DEFINE(name, part, x, (uint64_t)value, 0, type value)
#define BY_NUMBER(name, part, value) DEFINE(name, part, value, a.part[i], n, __m512i a, unsigned n)
#define BY_COUNT(name, part, value)                                                                \
    DEFINE(name, part, value, a.part[i], count.q[0], __m512i a, __m128i count)
#define MASKED(name, mask, part, value)                                                            \
    DEFINE(mask_##name, part,                                                                      \
           (ones_if(m >> i & 1) & (value)) | (ones_if(~m >> i & 1) & src.part[i]), a.part[i],      \
           b.part[i], __m512i src, mask m, __m512i a, __m512i b)
#define CONVERTED(name, from, to, value) DEFINE(name, to, value, a.from[i], 0, __m512i a)
#define COMPARED(name, mask, part, relation)                                                       \
    static inline mask _mm512_##name(__m512i a, __m512i b)                                         \
    {                                                                                              \
        mask out = 0;                                                                              \
        EACH(i, COUNT(part)) out |= (mask)(a.part[i] relation b.part[i]) << i;                     \
        return out;                                                                                \
    }

SAME(set1_epi16, w, short)
SAME(set1_epi32, d, int)
SAME(set1_epi64, q, long long)
OF_TWO(and_si512, q, x &y)
OF_TWO(or_si512, q, x | y)
OF_TWO(xor_si512, q, x ^ y)
OF_TWO(sub_epi16, w, x - y)
OF_TWO(add_epi64, q, x + y)
OF_TWO(adds_epi16, w, saturated(with_sign(x, 16) + with_sign(y, 16)))
OF_TWO(subs_epi16, w, saturated(with_sign(x, 16) - with_sign(y, 16)))
OF_TWO(mulhi_epu16, w, x *y >> 16)
OF_TWO(mulhi_epi16, w, with_sign(x, 16) * with_sign(y, 16) >> 16)
MASKED(sub_epi16, __mmask32, w, x - y)
MASKED(sub_epi64, __mmask8, q, x - y)
COMPARED(cmpeq_epi8_mask, __mmask64, b, ==)
COMPARED(cmpgt_epu8_mask, __mmask64, b, >)
COMPARED(cmpge_epu8_mask, __mmask64, b, >=)
COMPARED(cmpge_epu16_mask, __mmask32, w, >=)
COMPARED(cmplt_epu16_mask, __mmask32, w, <)
COMPARED(cmple_epu16_mask, __mmask32, w, <=)
BY_NUMBER(slli_epi32, d, y < 32 ? x << y : 0)
BY_NUMBER(slli_epi64, q, y < 64 ? x << y : 0)
BY_NUMBER(srai_epi16, w, with_sign(x, 16) >> (y < 16 ? y : 15))
BY_NUMBER(srai_epi32, d, with_sign(x, 32) >> (y < 32 ? y : 31))
BY_NUMBER(srai_epi64, q, (int64_t)x >> (y < 64 ? y : 63))
BY_COUNT(sll_epi16, w, y < 16 ? x << y : 0)
BY_COUNT(sll_epi32, d, y < 32 ? x << y : 0)
BY_COUNT(sll_epi64, q, y < 64 ? x << y : 0)
BY_COUNT(srl_epi16, w, y < 16 ? x >> y : 0)
BY_COUNT(srl_epi32, d, y < 32 ? x >> y : 0)
BY_COUNT(srl_epi64, q, y < 64 ? x >> y : 0)
CONVERTED(cvtepu8_epi16, b, w, x)
CONVERTED(cvtepu8_epi32, b, d, x)
CONVERTED(cvtepu8_epi64, b, q, x)
CONVERTED(cvtepi8_epi16, b, w, with_sign(x, 8))
CONVERTED(cvtepi8_epi32, b, d, with_sign(x, 8))
CONVERTED(cvtepi8_epi64, b, q, with_sign(x, 8))
CONVERTED(cvtepi16_epi64, w, q, with_sign(x, 16))
CONVERTED(cvtepi32_epi64, d, q, with_sign(x, 32))
DEFINE(mask_blend_epi8, b, (ones_if(m >> i & 1) & y) | (ones_if(~m >> i & 1) & x), a.b[i], b.b[i],
       __mmask64 m, __m512i a, __m512i b)
/* of each 16 bytes, the lower or upper eight of a and b in turn */
DEFINE(unpacklo_epi8, b, i % 2 ? y : x, a.b[i - i % 16 + i % 16 / 2], b.b[i - i % 16 + i % 16 / 2],
       __m512i a, __m512i b)
DEFINE(unpackhi_epi8, b, i % 2 ? y : x, a.b[i - i % 16 + i % 16 / 2 + 8],
       b.b[i - i % 16 + i % 16 / 2 + 8], __m512i a, __m512i b)
/* parts of 128 and 256 bits, as the lowest bytes; what is above them is not part of the result */
DEFINE(extracti32x4_epi32, q, x, a.q[(2 * n + i) % 8], 0, __m512i a, unsigned n)
DEFINE(extracti64x4_epi64, q, x, a.q[(4 * n + i) % 8], 0, __m512i a, unsigned n)
OF_ONE(castsi512_si128, q, x)
OF_ONE(castsi512_si256, q, x)

/* --- others --- */

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

static inline void _mm512_storeu_si512(void *to, __m512i value)
{
    memcpy(to, &value, sizeof value);
}

static inline __m128i _mm_cvtsi32_si128(int value)
{
    __m512i out = _mm512_setzero_si512();
    out.d[0] = (uint32_t)value;
    return out;
}

static inline __mmask64 _mm512_movepi8_mask(__m512i a)
{
    __mmask64 out = 0;
    EACH(i, 64) out |= (uint64_t)(a.b[i] >> 7) << i;
    return out;
}

static inline __m512i _mm512_permutexvar_epi64(__m512i index, __m512i a)
{
    __m512i out = _mm512_setzero_si512();
    EACH(k, 8) EACH(i, 8) out.q[i] |= ones_if(index.q[i] % 8 == k) & a.q[k];
    return out;
}

/* --- permutations of bytes, by vectors of the compiler: ten times as fast --- */

typedef uint8_t sixteen __attribute__((vector_size(16)));

/** Let the elements of `to` at which `at` is k have the bits of a byte, too. */
static inline void put(__m512i *to, const __m512i *at, size_t k, uint64_t byte)
{
    EACH(i, 4)
    {
        sixteen places, values;
        memcpy(&places, at->b + 16 * i, sizeof places);
        memcpy(&values, to->b + 16 * i, sizeof values);
        values |= (sixteen)(places == (uint8_t)k) & (uint8_t)byte;
        memcpy(to->b + 16 * i, &values, sizeof values);
    }
}

static inline __m512i _mm512_permutex2var_epi8(__m512i a, __m512i index, __m512i b)
{
    __m512i out = _mm512_setzero_si512();
    EACH(i, 64) index.b[i] &= 127;
    EACH(k, 64) put(&out, &index, k, a.b[k]);
    EACH(k, 64) put(&out, &index, k + 64, b.b[k]);
    return out;
}

static inline __m512i _mm512_maskz_compress_epi8(__mmask64 mask, __m512i a)
{
    __m512i out = _mm512_setzero_si512(), places;
    size_t n = 0;
    EACH(i, 64) places.b[i] = (uint8_t)i;
    EACH(i, 64)
    {
        put(&out, &places, n, ones_if(mask >> i & 1) & a.b[i]);
        n += mask >> i & 1;
    }
    return out;
}

static inline __m512i _mm512_maskz_expand_epi8(__mmask64 mask, __m512i a)
{
    __m512i out = _mm512_setzero_si512(), places;
    size_t n = 0;
    EACH(i, 64)
    {
        places.b[i] = (uint8_t)(n | ones_if(~mask >> i & 1)); /* 255 is no place */
        n += mask >> i & 1;
    }
    EACH(k, 64) put(&out, &places, k, a.b[k]);
    return out;
}

/* --- words of 64 bits --- */

static inline uint64_t _pdep_u64(uint64_t a, uint64_t mask)
{
    uint64_t out = 0, from = 0;
    EACH(i, 64)
    {
        out |= (mask >> i & a >> from & 1) << i;
        from = (from + (mask >> i & 1)) & 63;
    }
    return out;
}

static inline uint64_t _bzhi_u64(uint64_t a, unsigned n)
{
    uint64_t out = 0;
    EACH(i, 64) out |= (a >> i & (i < (n & 0xFF))) << i;
    return out;
}

static inline long long _mm_popcnt_u64(uint64_t a)
{
    long long n = 0;
    EACH(i, 64) n += (long long)(a >> i & 1);
    return n;
}

#endif
