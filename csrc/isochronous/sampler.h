/* The isochronous sampler: single draws whose time does not depend on their value. Proofs: PROOF.md.
 *
 * Every attempt reads the same number of bytes and takes the same steps, whatever it draws and
 * whether or not it succeeds: no branch, no address and no loop count depends on a random bit until
 * the attempt is accepted or not; and how many attempts fail is independent of the value that is
 * returned. One attempt in some 2^55 is left undecided and goes to dg_refine, whose time depends on
 * everything.
 *
 * The envelope is a staircase, the same on both sides of the centre. Names:
 *
 *   y = z on the right, -1 - z on the left, z = 0, 1, ...; a draw is x = c + y
 *   w = 2^block_bits   block h holds z = h w ... h w + w - 1
 *   core               blocks 0 ... n_core - 1, under height 1
 *   tail level i       the n_tail blocks from n_core + i n_tail on, under height 2^-(i+1)
 *   step k             0 in the core, i + 1 on tail level i: the envelope is 2^-k
 *   unit of distance   w 2^-place_bits
 */
#ifndef DG_ISOCHRONOUS_SAMPLER_H
#define DG_ISOCHRONOUS_SAMPLER_H

#include "base/int128.h"
#include "base/status.h"
#include "law/law.h"
#include "random/bits.h"

enum {
    DG_BLOCKS_BITS = 31,   /* of single draws: fits_int64 stands on it */
    DG_MOST_STEP = 56,     /* beyond, attempts are undecided */
    DG_NARROW_BLOCK = 24,  /* with blocks up to 2^24, and c below 2^61, draws fit 64 bits */
    DG_ATTEMPT_BYTES = 16, /* read by an attempt, besides low_bytes */
};

#if DG_HAVE_WORDS

typedef struct dg_bounds {
    uint64_t lower, upper;
} dg_bounds;

/** Everything that a draw needs. Immutable after dg_isochronous_build. */
typedef struct dg_isochronous {
    const dg_law *law;
    uint64_t n_core, n_tail;
    uint64_t n_cells;     /* n_core + n_tail */
    uint64_t excess;      /* 2^64 mod n_cells */
    size_t block_bits;    /* of which low_bytes bytes are read */
    size_t low_bytes;     /* block_bits, rounded up to bytes */
    unsigned place_bits;  /* binary places of a block in a distance */
    uint64_t is_cut;      /* 1 if block_bits > place_bits: a distance leaves low bits out */
    int64_t offset[2][2]; /* |y - f| - |f| - z on the right and left: lower, upper; in units */
    dg_bounds twice_f;    /* 2 |f| in units */
    dg_bounds rate;       /* Gaussian, Laplace: the exponent over (product of) distances ... */
    unsigned rate_shift;  /* ... times 2^rate_shift */
    dg_i128 log_scale;    /* generalised Gaussian: log2 of the scale in units */
    int64_t beta;         /* below 2^62: beta 2^(beta_shift - 1), rounded */
    unsigned beta_shift;
    int64_t log_factor;    /* log2(log2(e)), in units of exponents */
    int64_t log_error;     /* of a logarithm of an exponent, in those units */
    dg_bounds at_centre;   /* log2(e) phi(|f|), in units of exponents */
    bool fits_int64;       /* draws, by blocks of single draws */
    bool c_is_narrow;      /* below 2^61 in size */
    int64_t c;             /* if c_is_narrow */
    uint8_t *centre_bytes; /* c in two's complement, law->wide_bytes of them */
} dg_isochronous;

/** One attempt: a place, the height of its point, and what is known of it. */
typedef struct dg_attempt {
    uint64_t block;
    uint64_t left;      /* all ones if on the left, else 0 */
    uint64_t step;      /* k */
    uint64_t height;    /* F: the point is at 2^-k f', 2^63 f' in [F, F + 2^k) */
    uint64_t accepted;  /* all ones or 0 */
    uint64_t undecided; /* all ones or 0; never both */
} dg_attempt;

/** Prepare a law for isochronous draws, with a staircase of about 2^blocks_bits blocks if it is wide.
 *
 *  Requires:  law is a Laplace, Gaussian or generalised Gaussian; 1 <= blocks_bits <= DG_BLOCKS_BITS.
 *  Ensures:   DG_OK -> *out refers to law, to be freed by dg_isochronous_release; otherwise it is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_PARAMETER: the law is outside what the fixed-point
 *             arithmetic was made for (scale below 2^-28 or so, beta >= 64).
 *  Cost:      some tens of microseconds.
 */
dg_status dg_isochronous_build(dg_isochronous **out, unsigned blocks_bits, const dg_law *law);

void dg_isochronous_release(dg_isochronous *sampler);

/** The attempt that two random words make in the block's part `tick` (its leading bits below the
 *  block, at most place_bits of them).
 *
 *  Law:       over uniform choice, point and low bits, Pr[accepted, and y is returned] is the same
 *             multiple of g(y) for every integer y, once the undecided are decided truly.
 *  Cost:      the same, whatever the three words.
 */
void dg_isochronous_attempt(dg_attempt *out, uint64_t choice, uint64_t point, uint64_t tick,
                            const dg_isochronous *sampler);

/** Bounds of 2^63 2^step g(y), in units of heights, at most 2^63. For tests. */
dg_bounds dg_isochronous_weight(uint64_t block, uint64_t tick, uint64_t left, uint64_t step,
                                const dg_isochronous *sampler);

/** Draw one sample.
 *
 *  Law:       that of sampler->law.
 *  Requires:  dg_isochronous_value: fits_int64. dg_isochronous_bytes: n_bytes >= law->wide_bytes; *out is
 *             written even where a failure is returned.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE (probability below
 *             2^-128).
 *  Cost:      1.2 to 4 attempts on average.
 */
dg_status dg_isochronous_value(int64_t *out, const dg_isochronous *sampler, dg_bits *bits);
dg_status dg_isochronous_bytes(uint8_t *out, size_t n_bytes, const dg_isochronous *sampler,
                               dg_bits *bits);

/** Decide an undecided attempt. low: the low bits of z, in sampler->low_bytes bytes.
 *
 *  Ensures:   attempt->accepted is what is decided; its block and step are right if they were
 *             beyond those that are decided in fixed point.
 *  Returns:   DG_OK | DG_ERR_ENTROPY | DG_ERR_SOURCE | DG_ERR_NOMEM.
 */
dg_status dg_isochronous_settle(dg_attempt *attempt, uint64_t point, const uint8_t *low,
                                const dg_isochronous *sampler, dg_bits *bits);

/** 2^distance -> exponents: bounds of log2(e) (r / scale)^beta for r in [lower, upper] units of
 *  distance, in units of exponents. For dg_isochronous_build. */
dg_bounds dg_isochronous_power(dg_bounds distance, const dg_isochronous *sampler);

#else

typedef struct dg_isochronous dg_isochronous;

#endif
#endif
