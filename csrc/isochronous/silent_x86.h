/* For silent_vectors.h, by SSE4.1 or AVX2. It needs INLINE, BYTES, X(name) for _mm_name or _mm256_name,
 * XV(name) for the same of a whole vector, and a `vector`, its type. */
#include <immintrin.h>
#include <stdint.h>

typedef uint8_t vec8 __attribute__((vector_size(BYTES)));
typedef uint16_t vec16 __attribute__((vector_size(BYTES)));
typedef uint32_t vec32 __attribute__((vector_size(BYTES)));
typedef int8_t vec8s __attribute__((vector_size(BYTES)));
typedef vec8 table_part; /* of 16 bytes, in each lane */

#define PART 16

INLINE vec8 ready(vec8 index)
{
    return (vec8)X(adds_epu8)((vector)index, X(set1_epi8)(0x70)); /* bit 7 of those from 16 on */
}

INLINE vec8 taken(table_part from, vec8 at)
{
    return (vec8)X(shuffle_epi8)((vector)from, (vector)at);
}

INLINE vec8 taken_in_lanes(vec8 from, vec8 at)
{
    return taken(from, at);
}

INLINE vec8 lower_pairs(vec8 a, vec8 b)
{
    return (vec8)X(unpacklo_epi8)((vector)a, (vector)b);
}

INLINE vec8 upper_pairs(vec8 a, vec8 b)
{
    return (vec8)X(unpackhi_epi8)((vector)a, (vector)b);
}

INLINE vec8 masks_of(vec16 lower, vec16 upper)
{
    return (vec8)X(packs_epi16)((vector)lower, (vector)upper);
}

INLINE vec16 high_product(vec16 a, vec16 b)
{
    return (vec16)X(mulhi_epu16)((vector)a, (vector)b);
}

INLINE vec16 high_signed(vec16 a, vec16 b)
{
    return (vec16)X(mulhi_epi16)((vector)a, (vector)b);
}

INLINE vec16 bounded_sum(vec16 a, vec16 b)
{
    return (vec16)X(adds_epi16)((vector)a, (vector)b);
}

INLINE vec16 bounded_difference(vec16 a, vec16 b)
{
    return (vec16)X(subs_epi16)((vector)a, (vector)b);
}

INLINE vec8 excess(vec8 a, vec8 b)
{
    return (vec8)X(subs_epu8)((vector)a, (vector)b);
}

INLINE vec8 lesser(vec8 a, vec8 b)
{
    return (vec8)X(min_epu8)((vector)a, (vector)b);
}

INLINE vec8 sums_in_lanes(vec8 a)
{
    a += (vec8)XV(slli)((vector)a, 1);
    a += (vec8)XV(slli)((vector)a, 2);
    a += (vec8)XV(slli)((vector)a, 4);
    return a + (vec8)XV(slli)((vector)a, 8);
}

INLINE uint32_t bits_of(vec8 mask)
{
    return (uint32_t)X(movemask_epi8)((vector)mask);
}

INLINE void pack8(uint8_t *to, const uint8_t *from, const uint8_t *places)
{
    _mm_storel_epi64((void *)to, _mm_shuffle_epi8(_mm_loadl_epi64((const void *)from),
                                                  _mm_loadl_epi64((const void *)places)));
}
