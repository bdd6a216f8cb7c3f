/* One engine for laws of any width: blocks, rows, and batches of attempts. The law is right before anything is fast:
 * here are the units, the format and its definition, attempt by attempt. Kernels make the same draws.
 *
 * mu = c + f with f from -1/2 to 0; if f would be above 0, -mu is drawn and negated. Then on both sides the weight
 * falls with z: the right has y = z, the left y = -1 - z, z = 0, 1, ... A block is w = 2^block_bits of these. Code
 * 128 left + h is block h < 127; h = 127 is the tail, z >= 127 w, where g is at most 2^-64.
 *
 * H and c_i are integers, the sum of the c_i is 2^24, and c_i >= H g at the block's first integer; c_i = 1 of tails.
 * Row r of 256 has 2^16 positions: those below end_r are of code r, the others of alias_r. The rows give each code
 * as many positions as c_i says. So an attempt, which takes a row, a position and a tick uniformly, and returns y
 * if
 *
 *     rel + f' < L H g(y) / c_i     rel: the place in its piece of L positions; f' uniform on [0, 1)
 *
 * returns each y of a block with probability H g(y) / (2^24 w), whatever c_i is. A tail has levels j, each with
 * probability 2^-(j+1), and a bit k: z = (127 + 2 j + k) w + tick, and y is returned if f' < 2^(j+2) H g(y). This
 * is the same probability, so nothing is cut off and nothing is normalised.
 *
 * A batch of m attempts is these bytes, column by column:
 *
 *     row | position, high byte | position, low byte | the tick, bytes from the lowest on | 8 words of f'
 *
 * The tick is the upper block_bits bits of its bytes. Only attempts with rel = floor(L H g / c_i) need f', unless
 * that is the number itself; these and those in a tail take the words of f' in order. The following is read behind
 * the batch, attempt by attempt: a word if the 8 are taken, the level of a tail whose f' is below 2^-38, and more
 * bits of f'. The level is the number of ones that begin the upper 63 bits of a word, or go on in the next words; k is
 * the first word's lowest bit. The draws of a fill are the accepted attempts in order.
 *
 * A fill is made in pieces of DG_SILENT_PIECE draws; the last may be shorter. Batches of a piece follow each other until
 * it is full, and what is left of the last one is dropped. How many attempts a batch has depends on how many draws of
 * the piece are missing (dg_silent_attempts). So n draws are a function of the bytes and n. A fill may be cut at
 * multiples of a piece without changing the draws, and nowhere else.
 *
 * All these integers are functions of the law alone, and so is the format: no rounding enters it.
 *
 *     top_i = ceil(2^32 g(first integer of block i)), 0 of tails
 *     m_i   = 1, or more where arcs need room for their errors (b > 0 in all these cases):
 *             8 of Gaussians where top_i <= 2^16;
 *             floor(top_i / u) of generalised Gaussians with beta <= 2, floor(top_i^2 / u^2) if beta > 2, from 1 to 304,
 *             u = max(1, top_(i+1)), top_127 being 0; and 2 at least in the blocks next to the centre if beta < 7/5
 *     H     = floor((2^24 - 256) 2^32 / sum of m_i top_i)
 *     c_i   = floor(H m_i top_i / 2^32) + 1; code 0 takes the rest
 */
#ifndef DG_ISOCHRONOUS_SILENT_H
#define DG_ISOCHRONOUS_SILENT_H

#include "isochronous/lanes.h"

enum {
    DG_SILENT_CODES = 256,
    DG_SILENT_TAIL = 127,      /* the block number of tails */
    DG_SILENT_PLANES = 7,      /* bytes of a tick, at most */
    DG_SILENT_WORDS = 8,       /* of f' in a batch */
    DG_SILENT_BATCH = 2048,    /* attempts, at most */
    DG_SILENT_PIECE = 1 << 16, /* draws */
    DG_SILENT_BEHIND =
        64, /* bytes behind a batch that kernels may read, and integers that they may write */
    DG_SILENT_BYTES = DG_SILENT_BATCH * (3 + DG_SILENT_PLANES) + 8 * DG_SILENT_WORDS,
    DG_SILENT_SCRATCH = 16 /* bytes of scratch an attempt; DG_SILENT_BEHIND more behind them */
};

#if DG_HAVE_WORDS

typedef struct dg_silent dg_silent;

/** How kernels bound a = H g / c on a block by 16 bits (arcs). */
typedef enum dg_silent_shape {
    DG_SILENT_FLAT,     /* blocks of one integer: a is `base` */
    DG_SILENT_PARABOLA, /* base - slope q + bulge q (1 - q), q the tick's upper 16 bits as a fraction */
    DG_SILENT_EXPONENTIAL /* Laplace: base exp(-tau q), by the constants k */
} dg_silent_shape;

/** The numbers that kernels look up, as planes of bytes: the lowest byte of a number first. Kernels read whole planes. */
typedef struct dg_silent_planes {
    uint8_t end[2][DG_SILENT_CODES], alias[DG_SILENT_CODES]; /* of a row */
    uint8_t base[2][DG_SILENT_CODES]; /* of a code: 2^16 a, as a signed number: less 2^15 */
    uint8_t err[DG_SILENT_CODES];     /* the arc is at most err units of 2^-16 from a */
    uint8_t slope[2][DG_SILENT_CODES], bulge[2][DG_SILENT_CODES];
    uint8_t c[3][DG_SILENT_CODES], lift[DG_SILENT_CODES];
    uint8_t kept[7][DG_SILENT_CODES]; /* FLAT: 52-bit heights */
    uint16_t k[5];                    /* EXPONENTIAL: (tau/2)^j / j! */
} dg_silent_planes;

enum { DG_SILENT_ALL_PLANES = 21, DG_SILENT_LEAVES = 32 }; /* leaves of one bit of a plane */

/** Make the attempts of a batch.
 *
 *  Requires:  n_attempts <= DG_SILENT_BATCH, a multiple of 64; DG_SILENT_BEHIND bytes stand behind batch; out has room for
 *             n_attempts + DG_SILENT_BEHIND integers; scratch for n_attempts DG_SILENT_SCRATCH + DG_SILENT_BEHIND bytes.
 *  Ensures:   true -> *n_accepted draws are in out, as dg_silent_settle gives them, which reads nothing behind the batch.
 *  Returns:   false: an attempt is undecided, is in a tail and not rejected, or needs more than the batch's words.
 *  Cost:      depends on n_attempts, on which attempts are accepted, on how often more wait than there are places, and on
 *             the returned value alone. The caller wipes the scratch.
 */
typedef bool dg_silent_kernel(int64_t *out, size_t *n_accepted, uint8_t *scratch,
                              const uint8_t *batch, size_t n_attempts, const dg_silent *silent);

/** The integers of a law. They never change after dg_silent_build. */
struct dg_silent {
    dg_law law; /* f <= 0: the law, or its mirror image */
    int64_t centre,
        flip; /* a draw is centre + (y ^ flip) - flip; flip is -1 of a mirrored law, else 0 */
    unsigned block_bits, n_planes;
    uint32_t height;   /* H */
    uint32_t per_1024; /* some attempts for 1024 draws, which sizes batches */
    uint32_t c[DG_SILENT_CODES];
    uint16_t end[DG_SILENT_CODES]; /* 1 ... 65535 */
    uint8_t alias[DG_SILENT_CODES];
    /* Bounds that decide most attempts: 2^52 2^lift_i g is less than above + lift_i above_a_step below a height, and
     * less than `below` above it. Heights are those of lane_attempt.h; of blocks of one integer they are kept. */
    bool has_exponents;
    dg_lanes lanes;
    uint64_t above, above_a_step, below;
    uint8_t lift[DG_SILENT_CODES];
    uint64_t kept[DG_SILENT_CODES];
    /* For kernels; not part of the format. */
    dg_silent_kernel *kernel; /* NULL: every batch is settled */
    dg_isa isa;               /* the kernel's */
    dg_silent_shape shape;
    unsigned places; /* 16, 32 or 64 (dg_silent_places) */
    dg_silent_planes planes;
    uint8_t leaves[DG_SILENT_ALL_PLANES][8][DG_SILENT_LEAVES]; /* of the portable kernel alone */
};

/** Prepare a law.
 *
 *  Requires:  law is a Laplace, Gaussian or generalised Gaussian; the caller checked for its room_bytes of memory.
 *  Ensures:   DG_OK -> *out is to be freed by dg_silent_free; otherwise it is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_METHOD: dg_lanes_hold is false.
 *  Cost:      some tens of microseconds.
 */
dg_status dg_silent_build(dg_silent **out, const dg_law *law);

void dg_silent_free(dg_silent *silent);

/** Fill the rows: alias and end from c (Walker's method). Requires: the sum of c is 2^24, and each is at least 1. */
void dg_silent_fill_rows(dg_silent *silent);

#define DG_SILENT_FARTHEST (UINT64_C(127) << DG_LANE_BITS)

/** Return the exponent of g at z, rounded down, in units of 2^-52, or DG_SILENT_FARTHEST if it is more.
 *
 *  Requires:  silent->has_exponents.
 *  Cost:      depends on z.
 */
uint64_t dg_silent_exponent(uint64_t z, unsigned left, const dg_silent *silent);

/** Set y to z on the right, to -1 - z on the left. */
void dg_silent_set_y(mpz_t y, uint64_t z, unsigned left);

enum { DG_SILENT_HALVES = 2 * DG_SILENT_TAIL + 1, DG_SILENT_BOW_BITS = 32 };

/** The numbers of which arcs are made: exponents and heights (2^52 g, off by at most 4096) at half blocks. Behind an exponent of 40
 *  (92, if blocks have one integer) and more they are DG_SILENT_FARTHEST and 0. */
typedef struct dg_silent_steps {
    uint64_t exponent[2][DG_SILENT_HALVES + 1], height[2][DG_SILENT_HALVES + 1];
} dg_silent_steps;

/** Set shape, places and planes from the law's integers (arcs_silent.c).
 *
 *  Ensures:   true -> for each code of a block, and each tick, the 16 bits that dg_silent_arc gives are at most err from
 *             2^16 a.
 *  Returns:   false: an error does not fit a byte.
 */
bool dg_silent_set_arcs(dg_silent *silent, const dg_silent_steps *steps);

/** Bound how far a generalised Gaussian is from parabolas, in parts of 2^-32 units of a at each block's begin
 *  (arcs_power.c). Requires: block_bits > 0. */
void dg_silent_power_bows(uint64_t bow[DG_SILENT_CODES], const dg_silent_steps *steps,
                          const dg_silent *silent);

/** Choose the kernel. Requires: isa is available, or DG_ISA_AUTO, which means the best one. */
void dg_silent_dispatch(dg_silent *silent, dg_isa isa);

/* Kernels: the same draws from the same bytes. */

/* Requires dg_silent_set_leaves. */
dg_silent_kernel dg_silent_kernel_portable;

/** Set the leaves, by the planes. */
void dg_silent_set_leaves(dg_silent *silent);

/* Requires SSE4.1. */
dg_silent_kernel dg_silent_kernel_sse41;

/* Requires dg_isa_available(DG_ISA_AVX2). */
dg_silent_kernel dg_silent_kernel_avx2;

/* Requires dg_isa_available(DG_ISA_AVX512_VBMI2). */
dg_silent_kernel dg_silent_kernel_avx512_vbmi2;

/* Requires dg_isa_available(DG_ISA_NEON). */
dg_silent_kernel dg_silent_kernel_neon;

/** Return the number of attempts of the next batch, if `left` draws of the piece are missing: a multiple of 64. */
size_t dg_silent_attempts(size_t left, const dg_silent *silent);

/** Return how many waiting attempts of a batch are decided in a round, at least: 4, or a multiple of 8. */
static inline size_t dg_silent_places(size_t n_attempts, const dg_silent *silent)
{
    return n_attempts > 512 ? silent->places : silent->places / (n_attempts > 64 ? 2 : 4);
}

/** Return the bytes of a batch. */
static inline size_t dg_silent_bytes(size_t n_attempts, const dg_silent *silent)
{
    return n_attempts * (3 + silent->n_planes) + 8 * DG_SILENT_WORDS;
}

/** Make the attempts of a batch, one by one. This is the definition: any kernel gives the same.
 *
 *  Requires:  n_attempts <= DG_SILENT_BATCH; bits stands behind the batch.
 *  Ensures:   out[0 ... *n_accepted) are the accepted draws, in order.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE (probability below 2^-128).
 *  Cost:      depends on everything.
 */
dg_status dg_silent_settle(int64_t *out, size_t *n_accepted, const uint8_t *batch,
                           size_t n_attempts, const dg_silent *silent, dg_bits *bits);

/** The memory of a fill. It holds draws and random bytes, until dg_silent_close wipes it. */
typedef struct dg_silent_space {
    size_t most; /* attempts of a batch so far */
    uint8_t batch[DG_SILENT_BYTES + DG_SILENT_BEHIND];
    uint8_t scratch[DG_SILENT_BATCH * DG_SILENT_SCRATCH + DG_SILENT_BEHIND];
    int64_t draws[DG_SILENT_BATCH + DG_SILENT_BEHIND];
} dg_silent_space;

static inline void dg_silent_open(dg_silent_space *space)
{
    space->most = 0;
}

/** Wipe what was written. */
void dg_silent_close(dg_silent_space *space, const dg_silent *silent);

/** Draw the next samples of a piece that misses `left`: a batch by the kernel, or by dg_silent_settle if the kernel
 *  returns it undecided.
 *
 *  Requires:  out has room for DG_SILENT_BATCH + DG_SILENT_BEHIND integers; it may be space->draws.
 *  Ensures:   DG_OK -> out[0 ... *n) are the samples; *n <= left.
 *  Returns:   as dg_silent_settle. *out is written even if a failure is returned.
 */
dg_status dg_silent_next(int64_t *out, size_t *n, size_t left, const dg_silent *silent,
                         dg_silent_space *space, dg_bits *bits);

#endif
#endif
