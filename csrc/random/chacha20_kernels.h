/* The kernels behind random/chacha20.h, one file for each instruction set. For chacha20*.c and
 * tests. */
#ifndef DG_RANDOM_CHACHA20_KERNELS_H
#define DG_RANDOM_CHACHA20_KERNELS_H

#include "base/isa.h"
#include "base/prefetch.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dg_chacha20_kernel {
    dg_isa isa;   /* the instruction set of `blocks` */
    size_t lanes; /* blocks made at once */
    /** Write n_blocks of the stream. state: the RFC's 16 words of the first block. Words 12 and 13 count
     *  blocks as one integer of 64 bits, low half first. The memory of *meanwhile is fetched. */
    void (*blocks)(uint8_t *out, size_t n_blocks, const uint32_t state[16], dg_prefetch *meanwhile);
} dg_chacha20_kernel;

extern const dg_chacha20_kernel dg_chacha20_portable;
#if DG_ISA_X86_64
extern const dg_chacha20_kernel dg_chacha20_avx2;
extern const dg_chacha20_kernel dg_chacha20_avx512;
#endif
#if DG_ISA_AARCH64
extern const dg_chacha20_kernel dg_chacha20_neon;
#endif

/** Return the kernel that the functions of random/chacha20.h use for `isa`, or NULL if this machine or build has
 *  none. Tests learn from it what runs. */
const dg_chacha20_kernel *dg_chacha20_kernel_for(dg_isa isa);

/** Return how many lines to fetch after every two rounds, so that all are fetched when the blocks are made. */
static inline size_t dg_chacha20_share(const dg_prefetch *meanwhile, size_t n_blocks, size_t lanes)
{
    const size_t n_batches = (n_blocks + lanes - 1) / lanes;
    return dg_prefetch_share(meanwhile, 10 * n_batches + (n_batches == 0));
}

/* do_(i) for every word i of a state. It is written out because compilers keep an array in registers only if
 * every index is a constant. */
#define DG_CHACHA20_EACH_WORD(do_)                                                                 \
    do {                                                                                           \
        do_(0);                                                                                    \
        do_(1);                                                                                    \
        do_(2);                                                                                    \
        do_(3);                                                                                    \
        do_(4);                                                                                    \
        do_(5);                                                                                    \
        do_(6);                                                                                    \
        do_(7);                                                                                    \
        do_(8);                                                                                    \
        do_(9);                                                                                    \
        do_(10);                                                                                   \
        do_(11);                                                                                   \
        do_(12);                                                                                   \
        do_(13);                                                                                   \
        do_(14);                                                                                   \
        do_(15);                                                                                   \
    } while (0)

/* RFC 8439, 2.3: a column round and a diagonal round over x[0 .. 16). */
#define DG_CHACHA20_TWO_ROUNDS(quarter, x)                                                         \
    do {                                                                                           \
        quarter((x)[0], (x)[4], (x)[8], (x)[12]);                                                  \
        quarter((x)[1], (x)[5], (x)[9], (x)[13]);                                                  \
        quarter((x)[2], (x)[6], (x)[10], (x)[14]);                                                 \
        quarter((x)[3], (x)[7], (x)[11], (x)[15]);                                                 \
        quarter((x)[0], (x)[5], (x)[10], (x)[15]);                                                 \
        quarter((x)[1], (x)[6], (x)[11], (x)[12]);                                                 \
        quarter((x)[2], (x)[7], (x)[8], (x)[13]);                                                  \
        quarter((x)[3], (x)[4], (x)[9], (x)[14]);                                                  \
    } while (0)

#endif
