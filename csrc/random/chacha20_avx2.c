/* ChaCha20 in AVX2, 8 blocks at once: lane j of x[i] is word i of block j. */
#include "random/chacha20_kernels.h"

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

/* Rotations to the left by whole bytes, as shuffles. */
#define ROTATE16                                                                                   \
    _mm256_set_epi64x(0x0d0c0f0e09080b0a, 0x0504070601000302, 0x0d0c0f0e09080b0a,                  \
                      0x0504070601000302)
#define ROTATE8                                                                                    \
    _mm256_set_epi64x(0x0e0d0c0f0a09080b, 0x0605040702010003, 0x0e0d0c0f0a09080b,                  \
                      0x0605040702010003)
#define ROTATE(x, n) _mm256_or_si256(_mm256_slli_epi32(x, n), _mm256_srli_epi32(x, 32 - (n)))

/* Keeps gcc from interleaving the quarter rounds, for which 16 registers do not suffice: a third of
 * the words spilled, and 18 % faster. clang does better without. */
#if defined(__clang__)
#define ONE_BY_ONE(a, b, c, d) ((void)0)
#else
#define ONE_BY_ONE(a, b, c, d) __asm__("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d))
#endif

/* RFC 8439, 2.1, in every lane. */
#define QUARTER(a, b, c, d)                                                                        \
    do {                                                                                           \
        a = _mm256_add_epi32(a, b);                                                                \
        d = _mm256_shuffle_epi8(_mm256_xor_si256(d, a), ROTATE16);                                 \
        c = _mm256_add_epi32(c, d);                                                                \
        b = _mm256_xor_si256(b, c);                                                                \
        b = ROTATE(b, 12);                                                                         \
        a = _mm256_add_epi32(a, b);                                                                \
        d = _mm256_shuffle_epi8(_mm256_xor_si256(d, a), ROTATE8);                                  \
        c = _mm256_add_epi32(c, d);                                                                \
        b = _mm256_xor_si256(b, c);                                                                \
        b = ROTATE(b, 7);                                                                          \
        ONE_BY_ONE(a, b, c, d);                                                                    \
    } while (0)

/** Four words of eight blocks, lane j for block j, to parts of blocks: the lower half of x[k]
 *  becomes the four words of block k, the upper half those of block 4 + k. */
INLINE void transpose_words(__m256i x[4])
{
    __m256i low01 = _mm256_unpacklo_epi32(x[0], x[1]), high01 = _mm256_unpackhi_epi32(x[0], x[1]);
    __m256i low23 = _mm256_unpacklo_epi32(x[2], x[3]), high23 = _mm256_unpackhi_epi32(x[2], x[3]);
    x[0] = _mm256_unpacklo_epi64(low01, low23);
    x[1] = _mm256_unpackhi_epi64(low01, low23);
    x[2] = _mm256_unpacklo_epi64(high01, high23);
    x[3] = _mm256_unpackhi_epi64(high01, high23);
}

/** Write block `block` unless it is past the n wanted. */
INLINE void store(uint8_t *out, size_t block, size_t n, __m256i first_half, __m256i second_half)
{
    if (block < n) {
        _mm256_storeu_si256((void *)(out + 64 * block), first_half);
        _mm256_storeu_si256((void *)(out + 64 * block + 32), second_half);
    }
}

/** Write blocks k and 4 + k from what transpose_words made: a holds their first four words, b the
 *  next, ... */
INLINE void store_pair(uint8_t *out, size_t k, size_t n, __m256i a, __m256i b, __m256i c, __m256i d)
{
    store(out, k, n, _mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(c, d, 0x20));
    store(out, 4 + k, n, _mm256_permute2x128_si256(a, b, 0x31),
          _mm256_permute2x128_si256(c, d, 0x31));
}

#define SAME(word) _mm256_set1_epi32((int)(word))
#define START(i) ((i) == 12 ? low : (i) == 13 ? high : SAME(state[i]))
#define SET(i) x[i] = START(i)
#define ADD(i) x[i] = _mm256_add_epi32(x[i], START(i))

/** Write the first n of the 8 blocks from `block` on. */
INLINE void batch(uint8_t *out, size_t n, const uint32_t state[16], uint64_t block,
                  dg_fetch *meanwhile, size_t share)
{
    /* Words 12 and 13 hold block + j. The high one is one more where the low one wrapped round:
     * there the unsigned (so biased) comparison gives -1. */
    __m256i bias = SAME(UINT32_C(1) << 31), low_0 = SAME((uint32_t)block);
    __m256i low = _mm256_add_epi32(low_0, _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    __m256i wrapped =
        _mm256_cmpgt_epi32(_mm256_xor_si256(low_0, bias), _mm256_xor_si256(low, bias));
    __m256i high = _mm256_sub_epi32(SAME(block >> 32), wrapped);
    __m256i x[16];
    DG_CHACHA20_EACH_WORD(SET);
    /* Forget what state holds: else compilers keep a vector of each of its words on the stack. */
    __asm__("" : "+r"(state));
    for (int round = 0; round < 20; round += 2) {
        DG_CHACHA20_TWO_ROUNDS(QUARTER, x);
        dg_fetch_lines(meanwhile, share);
    }
    DG_CHACHA20_EACH_WORD(ADD);
    transpose_words(x);
    transpose_words(x + 4);
    transpose_words(x + 8);
    transpose_words(x + 12);
    store_pair(out, 0, n, x[0], x[4], x[8], x[12]);
    store_pair(out, 1, n, x[1], x[5], x[9], x[13]);
    store_pair(out, 2, n, x[2], x[6], x[10], x[14]);
    store_pair(out, 3, n, x[3], x[7], x[11], x[15]);
}

DG_TARGET_AVX2 static void blocks_avx2(uint8_t *out, size_t n_blocks, const uint32_t state[16],
                                       dg_fetch *meanwhile)
{
    uint64_t block = (uint64_t)state[13] << 32 | state[12];
    const size_t share = dg_chacha20_share(meanwhile, n_blocks, 8);
    while (n_blocks > 0) {
        size_t n = n_blocks < 8 ? n_blocks : 8;
        batch(out, n, state, block, meanwhile, share);
        out += 64 * n;
        block += n;
        n_blocks -= n;
    }
    _mm256_zeroall();
}

const dg_chacha20_kernel dg_chacha20_avx2 = {DG_ISA_AVX2, 8, blocks_avx2};
#endif
