/* ChaCha20 in AVX2, 16 blocks at once, in two states of 8. Lane j of a state's x[i] is word i of its
 * block j. */
#include "random/chacha20_kernels.h"

#if DG_ISA_X86_64
#include <immintrin.h>
#include <stdbool.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

/* A round of one state is four chains of 14 steps, too few to keep a processor's vector units busy. So two
 * states take turns, and one computes while the other waits. Words 0 to 3 of both stay in registers 0 to 7.
 * The other words are in registers 8 to 13 during a quarter round, and in memory between quarter rounds.
 * Registers 14 and 15 are scratch. It is assembly because compilers' code is 3 to 60 % slower. */
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* clang-format off */
#define X(i) "%%ymm" #i
#define WORD(state, i) #i " * 32(%[" #state "])"
#define MOVE(from, to) "vmovdqa " from ", " to "\n\t"
#define TO(to, what, by) what " " by ", " to ", " to "\n\t"

/* Steps of RFC 8439, 2.1, in every lane. a += b; d = d_before ^ a, rotated by `by`; c = c_before + d */
#define STEP_D(a, b, c, c_before, d, d_before, by)                                                 \
    TO(a, "vpaddd", b)                                                                             \
    "vpxor " d_before ", " a ", " d "\n\t"                                                         \
    "vpshufb %[" by "], " d ", " d "\n\t"                                                          \
    "vpaddd " c_before ", " d ", " c "\n\t"

/* b ^= c; then b is rotated left by `left` bits. right = 32 - left. */
#define STEP_B(b, c, work, left, right)                                                            \
    TO(b, "vpxor", c)                                                                              \
    "vpslld $" #left ", " b ", " work "\n\t"                                                       \
    "vpsrld $" #right ", " b ", " b "\n\t"                                                         \
    TO(b, "vpor", work)

/* Two quarter rounds of a state at once. The a words are in registers a0 and a1, the others in memory. */
#define TWO_QUARTERS(state, a0, b0, c0, d0, a1, b1, c1, d1)                                        \
    MOVE(WORD(state, b0), X(8))                                                                    \
    MOVE(WORD(state, b1), X(9))                                                                    \
    STEP_D(X(a0), X(8), X(10), WORD(state, c0), X(12), WORD(state, d0), "by16")                    \
    STEP_D(X(a1), X(9), X(11), WORD(state, c1), X(13), WORD(state, d1), "by16")                    \
    STEP_B(X(8), X(10), X(14), 12, 20)                                                             \
    STEP_B(X(9), X(11), X(15), 12, 20)                                                             \
    STEP_D(X(a0), X(8), X(10), X(10), X(12), X(12), "by8")                                         \
    STEP_D(X(a1), X(9), X(11), X(11), X(13), X(13), "by8")                                         \
    MOVE(X(10), WORD(state, c0))                                                                   \
    MOVE(X(11), WORD(state, c1))                                                                   \
    MOVE(X(12), WORD(state, d0))                                                                   \
    MOVE(X(13), WORD(state, d1))                                                                   \
    STEP_B(X(8), X(10), X(14), 7, 25)                                                              \
    STEP_B(X(9), X(11), X(15), 7, 25)                                                              \
    MOVE(X(8), WORD(state, b0))                                                                    \
    MOVE(X(9), WORD(state, b1))

/* Rounds of a state whose words 0 to 3 are in registers a0 to a3. */
#define COLUMN_ROUND(state, a0, a1, a2, a3)                                                        \
    TWO_QUARTERS(state, a0, 4, 8, 12, a1, 5, 9, 13)                                                \
    TWO_QUARTERS(state, a2, 6, 10, 14, a3, 7, 11, 15)
/* The first quarter starts with the words that a column round finishes first. */
#define DIAGONAL_ROUND(state, a0, a1, a2, a3)                                                      \
    TWO_QUARTERS(state, a3, 4, 9, 14, a0, 5, 10, 15)                                               \
    TWO_QUARTERS(state, a1, 6, 11, 12, a2, 7, 8, 13)

/* Run `rounds` if there is a second state. */
#define IF_SECOND(rounds, label)                                                                   \
    "test %[has_second], %[has_second]\n\t"                                                        \
    "jz " #label "f\n\t"                                                                           \
    rounds                                                                                         \
    #label ":\n\t"

/* Fetch n_lines lines from `next` on, and move `next` behind them. */
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

#define LOAD(state, i, a) MOVE(WORD(state, i), X(a))
#define STORE(state, i, a) MOVE(X(a), WORD(state, i))
#define EACH_IN_REGISTER(do_)                                                                      \
    do_(first, 0, 0) do_(first, 1, 1) do_(first, 2, 2) do_(first, 3, 3)                            \
    do_(second, 0, 4) do_(second, 1, 5) do_(second, 2, 6) do_(second, 3, 7)

/** RFC 8439, 2.3: 20 rounds over one or two states. Every two rounds also fetch `share` lines, as long as any
 *  remain. */
INLINE void twenty_rounds(__m256i first[16], __m256i second[16], size_t has_second,
                          dg_prefetch *meanwhile, size_t share)
{
    /* rotations to the left by whole bytes, as shuffles */
    const __m256i by16 = _mm256_set_epi64x(0x0d0c0f0e09080b0a, 0x0504070601000302,
                                           0x0d0c0f0e09080b0a, 0x0504070601000302);
    const __m256i by8 = _mm256_set_epi64x(0x0e0d0c0f0a09080b, 0x0605040702010003,
                                          0x0e0d0c0f0a09080b, 0x0605040702010003);
    const size_t n_lines = meanwhile->n_lines / 10 < share ? meanwhile->n_lines / 10 : share;
    size_t double_rounds = 10, left;
    /* volatile: the rounds must run although no code uses the outputs */
    __asm__ volatile(
            EACH_IN_REGISTER(LOAD)
            ".p2align 5\n"
            "1:\n\t"
            COLUMN_ROUND(first, 0, 1, 2, 3)
            IF_SECOND(COLUMN_ROUND(second, 4, 5, 6, 7), 4)
            DIAGONAL_ROUND(first, 0, 1, 2, 3)
            IF_SECOND(DIAGONAL_ROUND(second, 4, 5, 6, 7), 5)
            FETCH_LINES
            "dec %[double_rounds]\n\t"
            "jnz 1b\n\t"
            EACH_IN_REGISTER(STORE)
            : [next] "+&r"(meanwhile->next), [double_rounds] "+&r"(double_rounds), [left] "=&r"(left)
            : [first] "r"(first), [second] "r"(second), [has_second] "r"(has_second),
              [n_lines] "r"(n_lines), [line] "i"(DG_CACHE_LINE), [by16] "m"(by16), [by8] "m"(by8)
            : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
              "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    meanwhile->n_lines -= 10 * n_lines;
    if (n_lines < share) {
        dg_prefetch_lines(meanwhile, meanwhile->n_lines); /* fewer than 10 */
    }
}
/* clang-format on */

/** Transpose four words of eight blocks, lane j from block j, into parts of blocks: the lower half of
 *  x[k] becomes the four words of block k, the upper half those of block 4 + k. */
INLINE void transpose_words(__m256i x[4])
{
    __m256i low01 = _mm256_unpacklo_epi32(x[0], x[1]), high01 = _mm256_unpackhi_epi32(x[0], x[1]);
    __m256i low23 = _mm256_unpacklo_epi32(x[2], x[3]), high23 = _mm256_unpackhi_epi32(x[2], x[3]);
    x[0] = _mm256_unpacklo_epi64(low01, low23);
    x[1] = _mm256_unpackhi_epi64(low01, low23);
    x[2] = _mm256_unpacklo_epi64(high01, high23);
    x[3] = _mm256_unpackhi_epi64(high01, high23);
}

/** Write block `block` if it is one of the first n. */
INLINE void store(uint8_t *out, size_t block, size_t n, __m256i first_half, __m256i second_half)
{
    if (block < n) {
        _mm256_storeu_si256((void *)(out + 64 * block), first_half);
        _mm256_storeu_si256((void *)(out + 64 * block + 32), second_half);
    }
}

/** Write blocks k and 4 + k from the output of transpose_words: a holds their first four words, b the next four,
 *  and so on. */
INLINE void store_pair(uint8_t *out, size_t k, size_t n, __m256i a, __m256i b, __m256i c, __m256i d)
{
    store(out, k, n, _mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(c, d, 0x20));
    store(out, 4 + k, n, _mm256_permute2x128_si256(a, b, 0x31),
          _mm256_permute2x128_si256(c, d, 0x31));
}

#define SAME(word) _mm256_set1_epi32((int)(word))
#define START(i) ((i) == 12 ? from->low : (i) == 13 ? from->high : SAME(state[i]))
#define SET(i) x[i] = START(i)
#define ADD(i) x[i] = _mm256_add_epi32(x[i], START(i))

/** Words 12 and 13 of the 8 blocks from `block` on. */
typedef struct counters {
    __m256i low, high;
} counters;

INLINE counters counters_of(uint64_t block)
{
    /* The high word is one more if the low word wrapped. The comparison gives -1 there. It is signed,
     * so both sides are biased. */
    const __m256i bias = SAME(UINT32_C(1) << 31), low_0 = SAME((uint32_t)block);
    const __m256i low = _mm256_add_epi32(low_0, _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
    const __m256i wrapped =
        _mm256_cmpgt_epi32(_mm256_xor_si256(low_0, bias), _mm256_xor_si256(low, bias));
    return (counters){low, _mm256_sub_epi32(SAME(block >> 32), wrapped)};
}

INLINE void start(__m256i x[16], const uint32_t state[16], const counters *from)
{
    DG_CHACHA20_EACH_WORD(SET);
}

/** Write the first n of the 8 blocks. x holds what the rounds made of the state that `start` set. */
INLINE void finish(uint8_t *out, size_t n, __m256i x[16], const uint32_t state[16],
                   const counters *from)
{
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

/** Write the first n of the 16 blocks from `block` on. */
INLINE void batch(uint8_t *out, size_t n, const uint32_t state[16], uint64_t block,
                  dg_prefetch *meanwhile, size_t share)
{
    const counters first = counters_of(block), second = counters_of(block + 8);
    const bool has_second = n > 8;
    __m256i x[16], y[16];
    start(x, state, &first);
    if (has_second) {
        start(y, state, &second);
    }
    twenty_rounds(x, y, has_second, meanwhile, share);
    finish(out, n, x, state, &first);
    if (has_second) {
        finish(out + (size_t)64 * 8, n - 8, y, state, &second);
    }
}

DG_TARGET_AVX2 static void blocks_avx2(uint8_t *out, size_t n_blocks, const uint32_t state[16],
                                       dg_prefetch *meanwhile)
{
    uint64_t block = (uint64_t)state[13] << 32 | state[12];
    const size_t share = dg_chacha20_share(meanwhile, n_blocks, 16);
    while (n_blocks > 0) {
        size_t n = n_blocks < 16 ? n_blocks : 16;
        batch(out, n, state, block, meanwhile, share);
        out += 64 * n;
        block += n;
        n_blocks -= n;
    }
}

const dg_chacha20_kernel dg_chacha20_avx2 = {DG_ISA_AVX2, 16, blocks_avx2};
#endif
