/* ChaCha20 for every machine, 4 blocks at once. Lane j of x[i] is word i of block j. It uses the vector types of
 * gcc and clang, which become vector instructions (SSE2, NEON, ...) or words, as the target has them. Loops over
 * lanes in ISO C have a third to two thirds of the speed, depending on the compiler's vectoriser. */
#include "random/chacha20_kernels.h"

#include <string.h>

typedef uint32_t words4 __attribute__((vector_size(16)));

#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))

/* RFC 8439, 2.1, in every lane. */
#define QUARTER(a, b, c, d)                                                                        \
    do {                                                                                           \
        a += b, d ^= a, d = ROTATE(d, 16);                                                         \
        c += d, b ^= c, b = ROTATE(b, 12);                                                         \
        a += b, d ^= a, d = ROTATE(d, 8);                                                          \
        c += d, b ^= c, b = ROTATE(b, 7);                                                          \
    } while (0)

/* A block's words are stored least significant byte first. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define STORED(x) (x)
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define STORED(x) ((x) << 24 | ((x) & 0xff00) << 8 | ((x) >> 8 & 0xff00) | (x) >> 24)
#else
#error "a byte order that chacha20_portable.c does not know"
#endif

/** Transpose four words of four blocks, lane j from block j: x[k] becomes the four words of block k. It takes two
 *  steps because compilers then find their target's shuffles; lane by lane they do not. */
static inline void transpose_words(words4 x[4])
{
    words4 low01 = {x[0][0], x[1][0], x[0][1], x[1][1]};
    words4 high01 = {x[0][2], x[1][2], x[0][3], x[1][3]};
    words4 low23 = {x[2][0], x[3][0], x[2][1], x[3][1]};
    words4 high23 = {x[2][2], x[3][2], x[2][3], x[3][3]};
    x[0] = (words4){low01[0], low01[1], low23[0], low23[1]};
    x[1] = (words4){low01[2], low01[3], low23[2], low23[3]};
    x[2] = (words4){high01[0], high01[1], high23[0], high23[1]};
    x[3] = (words4){high01[2], high01[3], high23[2], high23[3]};
}

/** Write block k, four words from each of a, b, c and d, if it is one of the first n. */
static inline void store(uint8_t *out, size_t k, size_t n, const words4 *a, const words4 *b,
                         const words4 *c, const words4 *d)
{
    if (k < n) {
        memcpy(out + 64 * k, a, 16);
        memcpy(out + 64 * k + 16, b, 16);
        memcpy(out + 64 * k + 32, c, 16);
        memcpy(out + 64 * k + 48, d, 16);
    }
}

#define SAME(word) ((words4){0} + (word))
#define START(i) ((i) == 12 ? low : (i) == 13 ? high : SAME(state[i]))
#define SET(i) x[i] = START(i)
#define ADD(i) x[i] += START(i), x[i] = STORED(x[i])

/** Write the first n of the 4 blocks from `block` on. */
static inline void batch(uint8_t *out, size_t n, const uint32_t state[16], uint64_t block,
                         dg_prefetch *meanwhile, size_t share)
{
    /* Words 12 and 13 hold block + j. */
    words4 low = {(uint32_t)block, (uint32_t)(block + 1), (uint32_t)(block + 2),
                  (uint32_t)(block + 3)};
    words4 high = {(uint32_t)(block >> 32), (uint32_t)((block + 1) >> 32),
                   (uint32_t)((block + 2) >> 32), (uint32_t)((block + 3) >> 32)};
    words4 x[16];
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
    store(out, 0, n, &x[0], &x[4], &x[8], &x[12]);
    store(out, 1, n, &x[1], &x[5], &x[9], &x[13]);
    store(out, 2, n, &x[2], &x[6], &x[10], &x[14]);
    store(out, 3, n, &x[3], &x[7], &x[11], &x[15]);
}

static void blocks_portable(uint8_t *out, size_t n_blocks, const uint32_t state[16],
                            dg_prefetch *meanwhile)
{
    uint64_t block = (uint64_t)state[13] << 32 | state[12];
    const size_t share = dg_chacha20_share(meanwhile, n_blocks, 4);
    while (n_blocks > 0) {
        size_t n = n_blocks < 4 ? n_blocks : 4;
        batch(out, n, state, block, meanwhile, share);
        out += 64 * n;
        block += n;
        n_blocks -= n;
    }
}

const dg_chacha20_kernel dg_chacha20_portable = {DG_ISA_PORTABLE, 4, blocks_portable};
