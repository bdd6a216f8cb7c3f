/* ChaCha20 in AVX-512, 16 blocks at once: lane j of x[i] is word i of block j. */
#include "random/chacha20_kernels.h"

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512

/* RFC 8439, 2.1, in every lane. */
#define QUARTER(a, b, c, d)                                                                        \
    do {                                                                                           \
        a = _mm512_add_epi32(a, b);                                                                \
        d = _mm512_rol_epi32(_mm512_xor_si512(d, a), 16);                                          \
        c = _mm512_add_epi32(c, d);                                                                \
        b = _mm512_rol_epi32(_mm512_xor_si512(b, c), 12);                                          \
        a = _mm512_add_epi32(a, b);                                                                \
        d = _mm512_rol_epi32(_mm512_xor_si512(d, a), 8);                                           \
        c = _mm512_add_epi32(c, d);                                                                \
        b = _mm512_rol_epi32(_mm512_xor_si512(b, c), 7);                                           \
    } while (0)

/** Transpose four words of 16 blocks, lane j from block j, into parts of blocks: 128-bit part l of
 *  x[k] becomes the four words of block 4 l + k. */
INLINE void transpose_words(__m512i x[4])
{
    __m512i low01 = _mm512_unpacklo_epi32(x[0], x[1]), high01 = _mm512_unpackhi_epi32(x[0], x[1]);
    __m512i low23 = _mm512_unpacklo_epi32(x[2], x[3]), high23 = _mm512_unpackhi_epi32(x[2], x[3]);
    x[0] = _mm512_unpacklo_epi64(low01, low23);
    x[1] = _mm512_unpackhi_epi64(low01, low23);
    x[2] = _mm512_unpacklo_epi64(high01, high23);
    x[3] = _mm512_unpackhi_epi64(high01, high23);
}

/** Write block `block` if it is one of the first n. */
INLINE void store(uint8_t *out, size_t block, size_t n, __m512i words)
{
    if (block < n) {
        _mm512_storeu_si512(out + 64 * block, words);
    }
}

/** Write blocks k, 4 + k, 8 + k and 12 + k from the output of transpose_words: a holds their first four words, b
 *  the next four, and so on. (shuffle_i32x4 takes two parts of each argument. Two bits of the constant select
 *  each part, lowest first.) */
INLINE void store_four(uint8_t *out, size_t k, size_t n, __m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i ab01 = _mm512_shuffle_i32x4(a, b, 0x44), ab23 = _mm512_shuffle_i32x4(a, b, 0xee);
    __m512i cd01 = _mm512_shuffle_i32x4(c, d, 0x44), cd23 = _mm512_shuffle_i32x4(c, d, 0xee);
    store(out, k, n, _mm512_shuffle_i32x4(ab01, cd01, 0x88));
    store(out, 4 + k, n, _mm512_shuffle_i32x4(ab01, cd01, 0xdd));
    store(out, 8 + k, n, _mm512_shuffle_i32x4(ab23, cd23, 0x88));
    store(out, 12 + k, n, _mm512_shuffle_i32x4(ab23, cd23, 0xdd));
}

#define SAME(word) _mm512_set1_epi32((int)(word))
#define START(i) ((i) == 12 ? low : (i) == 13 ? high : SAME(state[i]))
#define SET(i) x[i] = START(i)
#define ADD(i) x[i] = _mm512_add_epi32(x[i], START(i))

/** Write the first n of the 16 blocks from `block` on. */
INLINE void batch(uint8_t *out, size_t n, const uint32_t state[16], uint64_t block,
                  dg_prefetch *meanwhile, size_t share)
{
    /* Words 12 and 13 hold block + j. The high word is one more if the low word wrapped: the
     * comparison gives -1 there. */
    __m512i low_0 = SAME((uint32_t)block);
    __m512i low = _mm512_add_epi32(
        low_0, _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m512i wrapped = _mm512_movm_epi32(_mm512_cmplt_epu32_mask(low, low_0));
    __m512i high = _mm512_sub_epi32(SAME(block >> 32), wrapped);
    __m512i x[16];
    DG_CHACHA20_EACH_WORD(SET);
    /* Hide from compilers what state holds: otherwise they keep a vector of each word on the stack. */
    __asm__("" : "+r"(state));
    for (int round = 0; round < 20; round += 2) {
        DG_CHACHA20_TWO_ROUNDS(QUARTER, x);
        dg_prefetch_lines(meanwhile, share);
    }
    DG_CHACHA20_EACH_WORD(ADD);
    transpose_words(x);
    transpose_words(x + 4);
    transpose_words(x + 8);
    transpose_words(x + 12);
    store_four(out, 0, n, x[0], x[4], x[8], x[12]);
    store_four(out, 1, n, x[1], x[5], x[9], x[13]);
    store_four(out, 2, n, x[2], x[6], x[10], x[14]);
    store_four(out, 3, n, x[3], x[7], x[11], x[15]);
}

/** Write the first n <= 4 blocks, for short requests. Part l of each vector is a row of four words of block l. A
 *  round has a dependence chain of 13 steps; the one for 16 blocks has some 24. */
DG_TARGET_AVX512 static void four_blocks(uint8_t *out, size_t n, const uint32_t state[16])
{
    const __m128i *rows = (const __m128i *)(const void *)state;
    const __m512i first = _mm512_broadcast_i32x4(_mm_loadu_si128(rows));
    const __m512i key_low = _mm512_broadcast_i32x4(_mm_loadu_si128(rows + 1));
    const __m512i key_high = _mm512_broadcast_i32x4(_mm_loadu_si128(rows + 2));
    /* words 12 and 13 are one counter */
    const __m512i tail = _mm512_add_epi64(_mm512_broadcast_i32x4(_mm_loadu_si128(rows + 3)),
                                          _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    __m512i a = first, b = key_low, c = key_high, d = tail;
    for (int round = 0; round < 20; round += 2) {
        QUARTER(a, b, c, d);
        b = _mm512_shuffle_epi32(b, 0x39);
        c = _mm512_shuffle_epi32(c, 0x4e);
        d = _mm512_shuffle_epi32(d, 0x93);
        QUARTER(a, b, c, d);
        b = _mm512_shuffle_epi32(b, 0x93);
        c = _mm512_shuffle_epi32(c, 0x4e);
        d = _mm512_shuffle_epi32(d, 0x39);
    }
    a = _mm512_add_epi32(a, first);
    b = _mm512_add_epi32(b, key_low);
    c = _mm512_add_epi32(c, key_high);
    d = _mm512_add_epi32(d, tail);
    /* ab01 = parts 0 and 1 of a, then of b: two shuffles join the rows of a block */
    __m512i ab01 = _mm512_shuffle_i32x4(a, b, 0x44), ab23 = _mm512_shuffle_i32x4(a, b, 0xee);
    __m512i cd01 = _mm512_shuffle_i32x4(c, d, 0x44), cd23 = _mm512_shuffle_i32x4(c, d, 0xee);
    store(out, 0, n, _mm512_shuffle_i32x4(ab01, cd01, 0x88));
    store(out, 1, n, _mm512_shuffle_i32x4(ab01, cd01, 0xdd));
    store(out, 2, n, _mm512_shuffle_i32x4(ab23, cd23, 0x88));
    store(out, 3, n, _mm512_shuffle_i32x4(ab23, cd23, 0xdd));
}

DG_TARGET_AVX512 static void blocks_avx512(uint8_t *out, size_t n_blocks, const uint32_t state[16],
                                           dg_prefetch *meanwhile)
{
    uint64_t block = (uint64_t)state[13] << 32 | state[12];
    const size_t share = dg_chacha20_share(meanwhile, n_blocks, 16);
    if (n_blocks <= 4) { /* too short to fetch anything */
        four_blocks(out, n_blocks, state);
        return;
    }
    while (n_blocks > 0) {
        size_t n = n_blocks < 16 ? n_blocks : 16;
        batch(out, n, state, block, meanwhile, share);
        out += 64 * n;
        block += n;
        n_blocks -= n;
    }
}

const dg_chacha20_kernel dg_chacha20_avx512 = {DG_ISA_AVX512, 16, blocks_avx512};
#endif
