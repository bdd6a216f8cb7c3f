/* ChaCha20 in AVX2, 8 blocks at once: lane j of x[i] is word i of block j. */
#include "random/chacha20_kernels.h"

#if DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

/* The rounds are written in assembly: compilers, short of registers, keep half of the words in memory
 * from one round to the next, and wait for them. Here x[i] is in register i, but for words 10 and 11,
 * which take turns with words 8 and 9 in registers 8 and 9; registers 10 and 11 are for work. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* clang-format off */
#define X(i) "%%ymm" #i
#define IN_MEMORY(i) #i " * 32(%[x])"
#define MOVE(from, to) "vmovdqa " from ", " to "\n\t"
#define TO(to, what, by) what " " by ", " to ", " to "\n\t"

/* RFC 8439, 2.1, in every lane, by steps. a += b; d ^= a; d rotated by `by`; c = c_before + d */
#define STEP_D(a, b, c, c_before, d, by)                                                           \
    TO(a, "vpaddd", b)                                                                             \
    TO(d, "vpxor", a)                                                                              \
    "vpshufb %[" by "], " d ", " d "\n\t"                                                          \
    "vpaddd " c_before ", " d ", " c "\n\t"

/* b ^= c; b rotated to the left by `left`, which is 32 - right */
#define STEP_B(b, c, work, left, right)                                                            \
    TO(b, "vpxor", c)                                                                              \
    "vpslld $" #left ", " b ", " work "\n\t"                                                       \
    "vpsrld $" #right ", " b ", " b "\n\t"                                                         \
    TO(b, "vpor", work)

/* Two quarter rounds at once, with c in registers 8 and 9 from wherever it was; `then` follows once
 * these are settled. */
#define TWO_QUARTERS(a0, b0, c0, d0, a1, b1, c1, d1, then)                                         \
    STEP_D(X(a0), X(b0), X(8), c0, X(d0), "by16")                                                  \
    STEP_D(X(a1), X(b1), X(9), c1, X(d1), "by16")                                                  \
    STEP_B(X(b0), X(8), X(10), 12, 20)                                                             \
    STEP_B(X(b1), X(9), X(11), 12, 20)                                                             \
    STEP_D(X(a0), X(b0), X(8), X(8), X(d0), "by8")                                                 \
    STEP_D(X(a1), X(b1), X(9), X(9), X(d1), "by8")                                                 \
    then                                                                                           \
    STEP_B(X(b0), X(8), X(10), 7, 25)                                                              \
    STEP_B(X(b1), X(9), X(11), 7, 25)

/* A column round and a diagonal round. Words 8 and 9 are in registers before and after, words 10 and 11
 * in between. */
#define TWO_ROUNDS                                                                                 \
    TWO_QUARTERS(0, 4, X(8), 12, 1, 5, X(9), 13,                                                   \
                 MOVE(X(8), IN_MEMORY(8)) MOVE(X(9), IN_MEMORY(9)))                                \
    TWO_QUARTERS(2, 6, IN_MEMORY(10), 14, 3, 7, IN_MEMORY(11), 15, "")                             \
    TWO_QUARTERS(0, 5, X(8), 15, 1, 6, X(9), 12,                                                   \
                 MOVE(X(8), IN_MEMORY(10)) MOVE(X(9), IN_MEMORY(11)))                              \
    TWO_QUARTERS(2, 7, IN_MEMORY(8), 13, 3, 4, IN_MEMORY(9), 14, "")

/* Fetch n_lines lines from `next` on, which moves behind them. */
#define FETCH_LINES                                                                                \
    "mov %[n_lines], %[left]\n\t"                                                                  \
    "test %[left], %[left]\n\t"                                                                    \
    "jz 3f\n"                                                                                      \
    "2:\n\t"                                                                                       \
    "prefetcht1 (%[next])\n\t"                                                                     \
    "add %[line], %[next]\n\t"                                                                     \
    "dec %[left]\n\t"                                                                              \
    "jnz 2b\n"                                                                                     \
    "3:\n\t"

#define LOAD(i) MOVE(IN_MEMORY(i), X(i))
#define STORE(i) MOVE(X(i), IN_MEMORY(i))
#define EACH_IN_REGISTER(do_)                                                                      \
    do_(0) do_(1) do_(2) do_(3) do_(4) do_(5) do_(6) do_(7)                                        \
    do_(8) do_(9) do_(12) do_(13) do_(14) do_(15)

/** RFC 8439, 2.3: 20 rounds over x[0 .. 16). Meanwhile some lines are fetched, `share` after every two
 *  rounds as long as there are. */
INLINE void twenty_rounds(__m256i x[16], dg_fetch *meanwhile, size_t share)
{
    /* rotations to the left by whole bytes, as shuffles */
    const __m256i by16 = _mm256_set_epi64x(0x0d0c0f0e09080b0a, 0x0504070601000302,
                                           0x0d0c0f0e09080b0a, 0x0504070601000302);
    const __m256i by8 = _mm256_set_epi64x(0x0e0d0c0f0a09080b, 0x0605040702010003,
                                          0x0e0d0c0f0a09080b, 0x0605040702010003);
    const size_t n_lines = meanwhile->n_lines / 10 < share ? meanwhile->n_lines / 10 : share;
    size_t double_rounds = 10, left;
    __asm__(EACH_IN_REGISTER(LOAD)
            ".p2align 5\n"
            "1:\n\t"
            TWO_ROUNDS
            FETCH_LINES
            "dec %[double_rounds]\n\t"
            "jnz 1b\n\t"
            EACH_IN_REGISTER(STORE)
            : [next] "+r"(meanwhile->next), [double_rounds] "+r"(double_rounds), [left] "=&r"(left)
            : [x] "r"(x), [n_lines] "r"(n_lines), [line] "i"(DG_CACHE_LINE), [by16] "m"(by16),
              [by8] "m"(by8)
            : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
              "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    meanwhile->n_lines -= 10 * n_lines;
    if (n_lines < share) {
        dg_fetch_lines(meanwhile, meanwhile->n_lines); /* fewer than 10 */
    }
}
/* clang-format on */

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
    twenty_rounds(x, meanwhile, share);
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
