/* ChaCha20 in NEON, 8 blocks at once, in two states of 4. Lane j of a state's x[i] is word i of its
 * block j. */
#include "random/chacha20_kernels.h"

#if DG_ISA_AARCH64
#include <arm_neon.h>
#include <stdbool.h>

#define INLINE static inline __attribute__((always_inline))

/* RFC 8439, 2.1: rotate every word left. A rotation by whole bytes is one shuffle; compilers make two or three
 * instructions of shifts. */

INLINE uint32x4_t rotate_16(uint32x4_t x)
{
    return vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(x)));
}

INLINE uint32x4_t rotate_8(uint32x4_t x)
{
    static const uint8_t from[16] = {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};
    return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(x), vld1q_u8(from)));
}

#define ROTATE(x, n) vsriq_n_u32(vshlq_n_u32(x, n), x, 32 - (n))

/* RFC 8439, 2.1, in every lane. */
#define QUARTER(a, b, c, d)                                                                        \
    do {                                                                                           \
        a = vaddq_u32(a, b), d = rotate_16(veorq_u32(d, a));                                       \
        c = vaddq_u32(c, d), b = veorq_u32(b, c), b = ROTATE(b, 12);                               \
        a = vaddq_u32(a, b), d = rotate_8(veorq_u32(d, a));                                        \
        c = vaddq_u32(c, d), b = veorq_u32(b, c), b = ROTATE(b, 7);                                \
    } while (0)

/** Transpose four words of four blocks, lane j from block j: x[k] becomes the four words of block k. */
INLINE void transpose_words(uint32x4_t x[4])
{
    const uint64x2_t low01 = vreinterpretq_u64_u32(vzip1q_u32(x[0], x[1]));
    const uint64x2_t high01 = vreinterpretq_u64_u32(vzip2q_u32(x[0], x[1]));
    const uint64x2_t low23 = vreinterpretq_u64_u32(vzip1q_u32(x[2], x[3]));
    const uint64x2_t high23 = vreinterpretq_u64_u32(vzip2q_u32(x[2], x[3]));
    x[0] = vreinterpretq_u32_u64(vzip1q_u64(low01, low23));
    x[1] = vreinterpretq_u32_u64(vzip2q_u64(low01, low23));
    x[2] = vreinterpretq_u32_u64(vzip1q_u64(high01, high23));
    x[3] = vreinterpretq_u32_u64(vzip2q_u64(high01, high23));
}

/** Write block k, four words from each of a, b, c and d, if it is one of the first n. */
INLINE void store(uint8_t *out, size_t k, size_t n, uint32x4_t a, uint32x4_t b, uint32x4_t c,
                  uint32x4_t d)
{
    if (k < n) {
        vst1q_u8(out + 64 * k, vreinterpretq_u8_u32(a));
        vst1q_u8(out + 64 * k + 16, vreinterpretq_u8_u32(b));
        vst1q_u8(out + 64 * k + 32, vreinterpretq_u8_u32(c));
        vst1q_u8(out + 64 * k + 48, vreinterpretq_u8_u32(d));
    }
}

/** Words 12 and 13 of the 4 blocks from `block` on. */
typedef struct counters {
    uint32x4_t low, high;
} counters;

INLINE counters counters_of(uint64_t block)
{
    const uint32x4_t lanes = {0, 1, 2, 3}, low_0 = vdupq_n_u32((uint32_t)block);
    const uint32x4_t low = vaddq_u32(low_0, lanes);
    /* -1 if the low word wrapped */
    const uint32x4_t wrapped = vcltq_u32(low, low_0);
    return (counters){low, vsubq_u32(vdupq_n_u32((uint32_t)(block >> 32)), wrapped)};
}

#define SAME(word) vdupq_n_u32(word)
#define START(i) ((i) == 12 ? from->low : (i) == 13 ? from->high : SAME(state[i]))
#define SET(i) x[i] = START(i)
#define ADD(i) x[i] = vaddq_u32(x[i], START(i))

INLINE void start(uint32x4_t x[16], const uint32_t state[16], const counters *from)
{
    DG_CHACHA20_EACH_WORD(SET);
}

/** Write the first n of the 4 blocks. x holds what the rounds made of the state that `start` set. */
INLINE void finish(uint8_t *out, size_t n, uint32x4_t x[16], const uint32_t state[16],
                   const counters *from)
{
    DG_CHACHA20_EACH_WORD(ADD);
    transpose_words(x);
    transpose_words(x + 4);
    transpose_words(x + 8);
    transpose_words(x + 12);
    store(out, 0, n, x[0], x[4], x[8], x[12]);
    store(out, 1, n, x[1], x[5], x[9], x[13]);
    store(out, 2, n, x[2], x[6], x[10], x[14]);
    store(out, 3, n, x[3], x[7], x[11], x[15]);
}

/** Write the first n of the 8 blocks from `block` on, or of 4 if there is no second state. There are two states
 *  because a round of one is four chains of 14 steps, too few for a processor with four vector units. */
INLINE void batch(uint8_t *out, size_t n, const uint32_t state[16], uint64_t block,
                  dg_prefetch *meanwhile, size_t share, bool has_second)
{
    const counters first = counters_of(block), second = counters_of(block + 4);
    uint32x4_t x[16], y[16];
    start(x, state, &first);
    if (has_second) {
        start(y, state, &second);
    }
    /* Hide from compilers what state holds: otherwise they keep a vector of each word on the stack. */
    __asm__("" : "+r"(state));
    for (int round = 0; round < 20; round += 2) {
        DG_CHACHA20_TWO_ROUNDS(QUARTER, x);
        if (has_second) {
            DG_CHACHA20_TWO_ROUNDS(QUARTER, y);
        }
        dg_prefetch_lines(meanwhile, share);
    }
    finish(out, n, x, state, &first);
    if (has_second) {
        finish(out + (size_t)64 * 4, n - 4, y, state, &second);
    }
}

static void blocks_neon(uint8_t *out, size_t n_blocks, const uint32_t state[16],
                        dg_prefetch *meanwhile)
{
    uint64_t block = (uint64_t)state[13] << 32 | state[12];
    const size_t share = dg_chacha20_share(meanwhile, n_blocks, 8);
    while (n_blocks > 4) {
        const size_t n = n_blocks < 8 ? n_blocks : 8;
        batch(out, n, state, block, meanwhile, share, true);
        out += 64 * n;
        block += n;
        n_blocks -= n;
    }
    if (n_blocks > 0) {
        batch(out, n_blocks, state, block, meanwhile, share, false);
    }
}

const dg_chacha20_kernel dg_chacha20_neon = {DG_ISA_NEON, 8, blocks_neon};
#endif
