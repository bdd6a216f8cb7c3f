/* Narrow laws by AVX-512: a binary search for eight draws in a vector. It reads all thresholds of a level, and
 * permutations of registers choose one of them for each draw. */
#include "isochronous/narrow.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512

enum { LANES = 8, MOST_GROUPS = 4 };
static const size_t TOGETHER = (size_t)LANES * MOST_GROUPS, WORD_BYTES = 8;

#define EACH_GROUP(g) _Pragma("GCC unroll 4") for (size_t g = 0; g < n_groups; g++)

INLINE __m512i same(uint64_t value)
{
    return _mm512_set1_epi64((long long)value);
}

/** Return the eight words, of 16, that the low four bits of eight indices say. */
INLINE __m512i one_of_16(const uint64_t *words, __m512i i)
{
    return _mm512_permutex2var_epi64(_mm512_loadu_si512(words), i, _mm512_loadu_si512(words + 8));
}

INLINE __m512i one_of_32(const uint64_t *words, __m512i i)
{
    return _mm512_mask_blend_epi64(_mm512_test_epi64_mask(i, same(16)), one_of_16(words, i),
                                   one_of_16(words + 16, i));
}

/** Return the thresholds that eight draws are compared with on a level. */
INLINE __m512i thresholds_at(unsigned level, __m512i i, const dg_narrow *narrow)
{
    const uint64_t *nodes = narrow->node + ((size_t)1 << level);
    if (level == 0) {
        return same(nodes[0]);
    }
    if (level <= 3) { /* of the eight words, those of a later level are not chosen */
        return _mm512_permutexvar_epi64(i, _mm512_loadu_si512(nodes));
    }
    if (level == 4) {
        return one_of_16(nodes, i);
    }
    if (level == 5) {
        return one_of_32(nodes, i);
    }
    return _mm512_mask_blend_epi64(_mm512_test_epi64_mask(i, same(32)), one_of_32(nodes, i),
                                   one_of_32(nodes + 32, i));
}

/** Draw n_groups groups of eight words; `last` masks the words of the last group. Returns: a bit for each
 *  draw, 1 if it is undecided. */
INLINE unsigned draw(int64_t *out, const uint8_t *bytes, size_t n_groups, __mmask8 last,
                     unsigned levels, const dg_lanes *lanes)
{
    const dg_narrow *narrow = lanes->narrow;
    const __m512i least = same((uint64_t)lanes->c + (uint64_t)narrow->least);
    __m512i u[MOST_GROUPS], j[MOST_GROUPS];
    unsigned undecided = 0;
    EACH_GROUP(g)
    {
        const __mmask8 there = g + 1 < n_groups ? 0xFF : last;
        u[g] = _mm512_maskz_loadu_epi64(there, bytes + WORD_BYTES * LANES * g);
        j[g] = _mm512_setzero_si512();
        undecided |=
            (unsigned)_mm512_mask_cmpge_epu64_mask(there, u[g], same(narrow->undecided_from))
            << (LANES * g);
    }
    _Pragma("GCC unroll 8") for (unsigned level = 0; level < levels; level++)
    {
        EACH_GROUP(g)
        {
            const __m512i threshold = thresholds_at(level, j[g], narrow);
            const __m512i twice = _mm512_add_epi64(j[g], j[g]);
            j[g] = _mm512_mask_add_epi64(twice, _mm512_cmpge_epu64_mask(u[g], threshold), twice,
                                         same(1));
        }
    }
    EACH_GROUP(g)
    {
        const __mmask8 left = _mm512_test_epi64_mask(u[g], same(narrow->has_sign));
        const __m512i right = _mm512_add_epi64(least, j[g]);
        _mm512_storeu_si512(out + LANES * g, _mm512_mask_sub_epi64(right, left, least, j[g]));
    }
    return undecided;
}

INLINE size_t draw_all(int64_t *out, const uint8_t *bytes, size_t n, unsigned levels,
                       const dg_lanes *lanes)
{
    size_t made = 0;
    while (made < n) {
        const size_t some = n - made < LANES ? n - made : LANES;
        const bool many = n - made >= TOGETHER;
        const unsigned undecided =
            many ? draw(out + made, bytes + 8 * made, MOST_GROUPS, 0xFF, levels, lanes)
                 : draw(out + made, bytes + 8 * made, 1, (__mmask8)((1u << some) - 1), levels,
                        lanes);
        if (__builtin_expect(undecided != 0, 0)) {
            return made + (size_t)__builtin_ctz(undecided);
        }
        made += many ? TOGETHER : some;
    }
    return made;
}

DG_TARGET_AVX512
void dg_narrow_kernel_avx512(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                             size_t n_attempts, const dg_lanes *lanes)
{
    size_t made;
    switch (lanes->narrow->levels) { /* one loop each */
    case 3:
        made = draw_all(out, bytes, n_attempts, 3, lanes);
        break;
    case 4:
        made = draw_all(out, bytes, n_attempts, 4, lanes);
        break;
    case 5:
        made = draw_all(out, bytes, n_attempts, 5, lanes);
        break;
    case 6:
        made = draw_all(out, bytes, n_attempts, 6, lanes);
        break;
    default:
        made = draw_all(out, bytes, n_attempts, DG_NARROW_LEVELS, lanes);
    }
    *n_accepted = *n_made = made;
}

#endif
