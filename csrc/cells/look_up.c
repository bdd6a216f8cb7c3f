#include "cells/look_up.h"

#include "cells/draw.h"

#if defined(__SSE2__) /* part of every x86-64 */
#include <emmintrin.h>

/** The positions of the words of two bytes that are at least n_full: 16 at a time. */
static uint32_t flag_pairs(uint16_t *at, size_t *done, size_t n, const uint8_t *words,
                           uint32_t n_full)
{
    const __m128i below = _mm_set1_epi16((short)(uint16_t)(n_full - 1));
    const __m128i zero = _mm_setzero_si128();
    uint32_t count = 0;
    size_t i = 0;
    for (; i + 16 <= n && n_full > 0; i += 16) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)(words + 2 * i));
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(words + 2 * i + 16));
        low = _mm_cmpeq_epi16(_mm_subs_epu16(low, below), zero); /* word <= n_full - 1 */
        high = _mm_cmpeq_epi16(_mm_subs_epu16(high, below), zero);
        unsigned rest = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high)) ^ 0xFFFFu;
        for (; rest != 0; rest &= rest - 1) {
            at[count++] = (uint16_t)(i + (unsigned)__builtin_ctz(rest));
        }
    }
    *done = i;
    return count;
}
#else
static uint32_t flag_pairs(uint16_t *at, size_t *done, size_t n, const uint8_t *words,
                           uint32_t n_full)
{
    (void)at, (void)n, (void)words, (void)n_full;
    *done = 0;
    return 0;
}
#endif

/** The positions of all words whose cell is not full. */
static inline uint32_t flag(uint16_t *at, size_t n, size_t n_bytes, unsigned index_bits,
                            const uint8_t *words, uint32_t n_full)
{
    const uint64_t mask = (UINT64_C(1) << index_bits) - 1;
    uint32_t count = 0;
    size_t i = 0;
    if (n_bytes == 2 && index_bits == 16) {
        count = flag_pairs(at, &i, n, words, n_full);
    }
    for (; i < n; i++) {
        at[count] = (uint16_t)i;
        count += (dg_load_word(words + i * n_bytes, n_bytes) & mask) >= n_full;
    }
    return count;
}

/* One loop for every output type and word size. */
#define DG_LOOK_UP(name, type)                                                                     \
    static inline uint32_t name##_sized(type *out, uint16_t *at, size_t n, size_t n_bytes,         \
                                        unsigned index_bits, uint64_t c, const uint8_t *words,     \
                                        const dg_table *table)                                     \
    {                                                                                              \
        const int16_t *block_of = table->block_of;                                                 \
        const uint64_t index_mask = (UINT64_C(1) << index_bits) - 1;                               \
        const uint64_t tick_mask = (UINT64_C(1) << table->tick_bits) - 1;                          \
        const uint64_t w = UINT64_C(1) << table->tick_bits;                                        \
        if (n_bytes == 2 && index_bits == 16) { /* the word is the index: no tick */               \
            for (size_t i = 0; i < n; i++) {                                                       \
                out[i] = (type)(c + (uint64_t)block_of[dg_load_word(words + 2 * i, 2)]);           \
            }                                                                                      \
        } else {                                                                                   \
            for (size_t i = 0; i < n; i++) {                                                       \
                uint64_t word = dg_load_word(words + i * n_bytes, n_bytes);                        \
                uint64_t value = c + (uint64_t)block_of[word & index_mask] * w;                    \
                out[i] = (type)(value + ((word >> index_bits) & tick_mask));                       \
            }                                                                                      \
        }                                                                                          \
        return flag(at, n, n_bytes, index_bits, words, table->n_full);                             \
    }                                                                                              \
    static uint32_t name(type *out, uint16_t *at, size_t n, uint64_t c, const uint8_t *words,      \
                         const dg_table *table)                                                    \
    {                                                                                              \
        size_t n_bytes = dg_table_word_bytes(table);                                               \
        if (table->index_bits == DG_INDEX_BITS) {                                                  \
            switch (n_bytes) {                                                                     \
            case 2:                                                                                \
                return name##_sized(out, at, n, 2, DG_INDEX_BITS, c, words, table);                \
            case 3:                                                                                \
                return name##_sized(out, at, n, 3, DG_INDEX_BITS, c, words, table);                \
            case 4:                                                                                \
                return name##_sized(out, at, n, 4, DG_INDEX_BITS, c, words, table);                \
            default:                                                                               \
                return name##_sized(out, at, n, n_bytes, DG_INDEX_BITS, c, words, table);          \
            }                                                                                      \
        }                                                                                          \
        return name##_sized(out, at, n, n_bytes, table->index_bits, c, words, table);              \
    }

DG_LOOK_UP(look_up_8, uint8_t)
DG_LOOK_UP(look_up_16, uint16_t)
DG_LOOK_UP(look_up_32, uint32_t)
DG_LOOK_UP(look_up_64, uint64_t)

uint32_t dg_look_up_portable(void *out, size_t item_size, uint16_t *at, size_t n, uint64_t c,
                             const uint8_t *words, const dg_table *table)
{
    switch (item_size) {
    case 1:
        return look_up_8(out, at, n, c, words, table);
    case 2:
        return look_up_16(out, at, n, c, words, table);
    case 4:
        return look_up_32(out, at, n, c, words, table);
    default:
        return look_up_64(out, at, n, c, words, table);
    }
}
