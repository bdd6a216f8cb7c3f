/* Isochronous draws in lanes: many attempts at once, in vectors. The proofs are in PROOF.md.
 *
 * Every attempt reads the same number of bytes and takes the same steps, whatever it draws and whether or
 * not it succeeds. No branch, no address and no loop count depends on a random bit until the attempt is
 * accepted or rejected. The number of failed attempts is independent of the value that is returned. An
 * attempt that its words leave undecided goes to dg_refine, whose time depends on everything; PROOF.md
 * says how rarely that happens. A single draw is a fill of one.
 *
 * An attempt is made under a staircase (staircase.h), and reads
 *
 *   point   8 bytes   the lowest bit is the side; the other 63 bits are the level and f'
 *   head    4 bytes   the lower half is the choice, the upper half low bits of z
 *   more    4 bytes   further low bits of z, if blocks have more than 2^16 integers
 *
 * If its words leave it undecided, dg_refine reads more bytes after them. The draws of a fill are the
 * accepted attempts in order. So the draws from a stream of bytes depend neither on the kernel nor on
 * how a fill is cut. Narrow laws have another format: narrow.h.
 *
 * Numbers are below 2^52, which is what AVX-512 IFMA multiplies; all kernels compute the same
 * integers. "Heights" are in units of 2^-52, and so are exponents (base 2).
 */
#ifndef DG_ISOCHRONOUS_LANES_H
#define DG_ISOCHRONOUS_LANES_H

#include "base/int128.h"
#include "base/isa.h"
#include "base/status.h"
#include "bounds/enclosure.h"
#include "law/law.h"
#include "random/bits.h"

enum {
    DG_LANE_BITS = 52,        /* binary places of heights and exponents; bits of factors */
    DG_LANE_MOST_STEP = 48,   /* attempts on higher steps are undecided */
    DG_LANE_BELOW = 6,        /* heights are less than 6 units too low, and never too high */
    DG_LANE_MOST_BATCH = 512, /* 16 bytes each: DG_BITS_MOST */
    DG_LANE_BEHIND = 8        /* integers behind those accepted that a kernel may write */
};

enum {
    DG_LANE_LOG_BITS = 53, /* binary places of logarithms */
    DG_LANE_LOG_ABOVE = 4, /* logarithms are less than 4 units too high, and never too low */
    DG_LANE_POWER_TOP = 8  /* powers are below 2^8 */
};

#if DG_HAVE_WORDS

typedef struct dg_lanes dg_lanes;
typedef struct dg_narrow dg_narrow;

/** Make attempts, in order, until the bytes end or one is undecided.
 *
 *  Requires:  n_attempts <= DG_LANE_MOST_BATCH; bytes holds n_attempts of lanes->attempt_bytes each; out has
 *             room for n_attempts + DG_LANE_BEHIND integers, any of which may be written.
 *  Ensures:   *n_accepted draws are in out; *n_made attempts were accepted or rejected, and the next one,
 *             if *n_made < n_attempts, is undecided.
 *  Cost:      depends on n_attempts, which attempts were accepted, and *n_made alone.
 */
typedef void dg_lane_kernel(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                            size_t n_attempts, const dg_lanes *lanes);

/** All constants that the kernels need. They never change after dg_lanes_build. */
struct dg_lanes {
    const dg_law *law;
    dg_lane_kernel *kernel;
    dg_isa isa;           /* the kernel's */
    dg_narrow *narrow;    /* NULL unless the law is narrow; then only c is used of what follows */
    size_t attempt_bytes; /* 12 or 16; 8 if it is narrow */
    bool squared;         /* Gaussian: E = rate d (d + twice_f) */
    bool is_power;        /* generalised Gaussian; if neither, Laplace: E = rate d */
    uint64_t n_core, n_tail, n_cells;
    uint64_t excess;   /* 2^16 mod n_cells */
    uint64_t low_mask; /* 2^block_bits - 1 */
    unsigned block_bits;
    unsigned units_up, units_down; /* z 2^units_up / 2^units_down: z in units of distance */
    int64_t offset[2];             /* abs(y - f) - abs(f) - z on the right and left, rounded down */
    uint64_t twice_f;              /* 2 abs(f), rounded down */
    uint64_t farthest;             /* larger distances are replaced by this one */
    uint64_t rate;                 /* below 2^52 */
    unsigned rate_shift;           /* 1 ... 52 */
    uint64_t above, above_a_step;  /* a height is less than above + step above_a_step too large */
    uint64_t below;                /* and less than this too small: DG_LANE_BELOW */
    int64_t c;
    /* generalised Gaussian (lane_power.h): rate is beta 2^(51 - rate_shift), farthest is of |y - f| */
    uint64_t f;         /* |f| in units of distance, rounded down */
    uint64_t nearest;   /* powers of smaller distances are replaced by 0 */
    uint64_t log_scale; /* beta log2(scale) - log2(log2(e)), in units of exponents, modulo 2^64 */
    uint64_t at_centre; /* log2(e) (|f| / scale)^beta, in units of exponents, rounded up */
};

/** Return whether the law's parameters are in the range that isochronous draws hold: a scale, or sigma, from 2^-20 to
 *  2^53, |floor(mu + 1/2)| below 2^61, and beta below 64. */
bool dg_lanes_hold(const dg_law *law);

/** Set the constants that compute heights, even of a narrow law: the fields from `squared` to `is_power`, those
 *  from units_up on, and c. csrc/cuda needs them; its proof is lemma 27 of csrc/cells/PROOF.md.
 *
 *  Requires:  law is a Laplace, Gaussian or generalised Gaussian.
 *  Returns:   DG_OK | DG_ERR_METHOD: as dg_lanes_build does.
 */
dg_status dg_lane_exponents(dg_lanes *out, const dg_law *law);

/** Prepare a law for draws in lanes.
 *
 *  Requires:  law is a Laplace, Gaussian or generalised Gaussian; isa is available.
 *  Ensures:   DG_OK -> *out refers to law, to be freed by dg_lanes_release; otherwise it is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_METHOD: lanes do not hold the law. They hold every law whose
 *             scale, or sigma, is from 2^-20 to 2^53, with |floor(mu + 1/2)| below 2^61 and beta below 64.
 *  Cost:      about ten microseconds; tens for narrow laws.
 */
dg_status dg_lanes_build(dg_lanes **out, const dg_law *law, dg_isa isa);

void dg_lanes_release(dg_lanes *lanes);

/** Draw n samples.
 *
 *  Requires:  out has room for n + DG_LANE_BEHIND; n_later more draws from the same lanes will follow.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE (probability below
 *             2^-128). *out is written even if a failure is returned.
 */
dg_status dg_lanes_draw(int64_t *out, size_t n, size_t n_later, const dg_lanes *lanes,
                        dg_bits *bits);

/** Make the attempt at the stream's next bytes, which a kernel left undecided.
 *
 *  Requires:  lanes has law, narrow, c, and the fields from attempt_bytes to block_bits.
 *  Ensures:   *n_accepted is 1, and *out the draw, or 0.
 *  Returns:   as dg_lanes_draw does.
 */
dg_status dg_lanes_settle(int64_t *out, size_t *n_accepted, const dg_lanes *lanes, dg_bits *bits);

/* --- kernels: the same output from the same bytes --- */

dg_lane_kernel dg_lane_kernel_portable;

/* Requires dg_isa_available(DG_ISA_AVX2). */
dg_lane_kernel dg_lane_kernel_avx2;

/* Requires dg_isa_available(DG_ISA_NEON). */
dg_lane_kernel dg_lane_kernel_neon;

/* Requires dg_isa_has_ifma(). */
dg_lane_kernel dg_lane_kernel_avx512_ifma;

/* For generalised Gaussians. The portable kernel serves AVX2 and NEON, too. */
dg_lane_kernel dg_lane_power_kernel_portable;

/* Requires dg_isa_has_ifma(). */
dg_lane_kernel dg_lane_power_kernel_avx512_ifma;

/** Choose lanes->kernel. Requires: isa is available, or DG_ISA_AUTO, which means the best one. Ensures:
 *  lanes->isa is the kernel's. */
void dg_lanes_dispatch(dg_lanes *lanes, dg_isa isa);

/* Constants of generalised Gaussians, in parts of dg_lanes_build (build_lane_power.c). */

/** Choose the unit of distance, and set the fields that depend on it. e: open for the law; `most`: the most
 *  binary places of a block. Returns: the binary places of a block | 0: no number of places will do. */
unsigned dg_lane_power_units(unsigned most, dg_lanes *lanes, dg_enclosure *e);

/** Set bounds of the errors of heights. of_distance: the most by which |y - f| is too low, in units of
 *  distance. Returns: whether the bounds are small enough. */
bool dg_lane_power_errors(uint64_t of_distance, unsigned places, dg_lanes *lanes);

/* Constants of 2^-x (PROOF.md, lemma 15). */

/** 2^-x for x = 0, 1/4, 2/4, 3/4, and for x = 1/16 ... 4/16: times 2^52, rounded down. */
#define DG_LANE_QUARTERS                                                                           \
    {UINT64_C(0x10000000000000), UINT64_C(0x0D744FCCAD69D6), UINT64_C(0x0B504F333F9DE6),           \
     UINT64_C(0x09837F0518DB8A)}
#define DG_LANE_SIXTEENTHS                                                                         \
    {UINT64_C(0x0F5257D152486C), UINT64_C(0x0EAC0C6E7DD243), UINT64_C(0x0E0CCDEEC2A94E),           \
     UINT64_C(0x0D744FCCAD69D6)}

/** 2^52 2^-((4 a + b + 1)/16): the product of quarter a and sixteenth b over 2^52, rounded down. */
#define DG_LANE_POWERS                                                                             \
    {UINT64_C(0x0F5257D152486C), UINT64_C(0x0EAC0C6E7DD243), UINT64_C(0x0E0CCDEEC2A94E),           \
     UINT64_C(0x0D744FCCAD69D6), UINT64_C(0x0CE248C151F846), UINT64_C(0x0C5672A115506C),           \
     UINT64_C(0x0BD08A39F580C2), UINT64_C(0x0B504F333F9DE5), UINT64_C(0x0AD583EEA42A13),           \
     UINT64_C(0x0A5FED6A9B1512), UINT64_C(0x09EF5326091A10), UINT64_C(0x09837F0518DB89),           \
     UINT64_C(0x091C3D373AB11B), UINT64_C(0x08B95C1E3EA8BC), UINT64_C(0x085AAC367CC487),           \
     UINT64_C(0x07FFFFFFFFFFFF)}

/** floor(2^52 ln 2). */
#define DG_LANE_LN2 UINT64_C(0xB17217F7D1CF7)

/** floor(2^(52 - k)/k!), k = 1 ... 8. */
#define DG_LANE_TERM(k, factorial) ((UINT64_C(1) << (52 - (k))) / UINT64_C(factorial))

/* Constants of log2 (PROOF.md, lemma 20): m in [1 + i/16, 1 + (i + 1)/16) times c_i/2^8 is at most 1. */

/** c_i = floor(2^8 16/(17 + i)), i = 0 ... 15: a byte each, from the lowest on. */
#define DG_LANE_INVERSES {UINT64_C(0xAAB2BAC3CCD7E3F0), UINT64_C(0x8084888D92979DA3)}

/** -log2(c_i/2^8): times 2^53, rounded down, plus 1. */
#define DG_LANE_LOGS                                                                               \
    {UINT64_C(0x02FAC092D9F76A), UINT64_C(0x058CEA2FD0DF39), UINT64_C(0x080ECDDE7D30EB),           \
     UINT64_C(0x0A7B7DD96762CD), UINT64_C(0x0C90C004926E9E), UINT64_C(0x0EBF36055E1ABD),           \
     UINT64_C(0x10C6CAAF0C5597), UINT64_C(0x12E644FAC04FD8), UINT64_C(0x14D7380DCC422D),           \
     UINT64_C(0x16927781D932A9), UINT64_C(0x185EFD062C656D), UINT64_C(0x19ECF50BF43F14),           \
     UINT64_C(0x1B88CB9A2AB522), UINT64_C(0x1D338120A6DD9E), UINT64_C(0x1E9452C8A71028),           \
     UINT64_C(0x20000000000001)}

/** floor(2^(53 - 2 k) log2(e)/k), k = 1 ... 12. */
#define DG_LANE_LOG_TERM(k) (UINT64_C(0xB8AA3B295C17F0BB) / (k) >> (10 + 2 * (k)))

#endif
#endif
