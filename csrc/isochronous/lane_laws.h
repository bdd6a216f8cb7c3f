/* Each lane with its own law, for arrays in which each element has its own parameters. The proofs are in
 * PROOF.md, "A law a lane".
 *
 * The constants that lanes.h has for one law are computed without GMP, in about ten nanoseconds, from the
 * parameter's leading bits, a division, and the centre as a multiple of a unit. A law is held if it is
 * Laplace with a scale from 2^-11 to 2^42, or Gaussian with a sigma2 from 2^-16 to 2^62. If its centre is
 * not 0, the parameter is 2^-4 or more. The centre is in [-1/2, 1/2). Both numbers are ratios of words, or
 * words times a power of two; the parameter may be the square of a float.
 *
 * Attempts are those of lanes.h. A batch of laws makes one attempt for each, in order; then one more
 * for each that has no draw yet, and so on. All attempts of a batch have 16 bytes if some law of it
 * has blocks of more than 2^16 integers, else 12.
 */
#ifndef DG_ISOCHRONOUS_LANE_LAWS_H
#define DG_ISOCHRONOUS_LANE_LAWS_H

#include "bounds/refine.h"
#include "isochronous/lanes.h"

enum {
    DG_LANE_LEAST_OCTAVE = -16, /* of a parameter */
    DG_LANE_OCTAVE_BITS = 5,    /* an octave has 2^5 steps */
    DG_LANE_OCTAVES = 30,       /* of parameters in blocks, of which sigma2 goes up to 2^14 */
    DG_LANE_STAIRCASES = DG_LANE_OCTAVES << DG_LANE_OCTAVE_BITS,
    DG_LANE_FARTHEST_BITS = 51, /* `farthest` is 2^51 units of all laws */
    DG_LANE_ABOVE_BITS = 10,
    DG_LANE_LAWS = 256 /* in a batch */
};

#if DG_HAVE_WORDS

/** num/den 2^exponent. Unless den is a power of 2, exponent is 0. */
typedef struct dg_lane_number {
    int64_t num, den;
    int exponent;
} dg_lane_number;

/** The staircases of laws whose blocks hold w integers, by scale/w (Laplace) or sigma2/w^2 (Gaussian).
 *  Each serves all parameters up to the next step. */
typedef struct dg_lane_staircases {
    bool squared;    /* Gaussian; else Laplace */
    bool off_centre; /* whether n[1] is set */
    uint8_t n[2][DG_LANE_STAIRCASES]
             [3]; /* n_core, n_tail, excess: fields of dg_lanes; [1] is of laws
                                            with a centre above 0 */
} dg_lane_staircases;

/** A batch of laws that draw together. */
typedef struct dg_lane_laws {
    bool squared, is_long; /* attempts have 16 bytes */
    dg_isa isa;            /* DG_ISA_PORTABLE | DG_ISA_AVX512_VBMI2 */
    size_t n;
    uint64_t rate[DG_LANE_LAWS];   /* as in dg_lanes */
    uint64_t shape[DG_LANE_LAWS];  /* bytes, from the lowest: n_core, n_tail, excess, block_bits,
                                      rate_shift, units_up */
    uint64_t centre[DG_LANE_LAWS]; /* bits, from the lowest: whether f > 0; whether 2 abs(f) was
                                      rounded; 10 for both `above` and above_a_step; twice_f */
} dg_lane_laws;

/** Build the staircases. off_centre: whether laws with a centre other than 0 are held, too.
 *
 *  Requires:  kind is Laplace or Gaussian.
 *  Cost:      a few microseconds.
 */
void dg_lane_staircases_build(dg_lane_staircases *out, dg_law_kind kind, bool off_centre);

/** Begin a batch without laws. Requires: isa is available. */
void dg_lane_laws_open(dg_lane_laws *laws, const dg_lane_staircases *staircases, dg_isa isa);

/** Add the law of a parameter and a centre.
 *
 *  Requires:  laws->n < DG_LANE_LAWS; the batch was opened with these staircases.
 *  Returns:   whether the law is held; if not, nothing was added.
 */
bool dg_lane_laws_add(dg_lane_laws *laws, const dg_lane_staircases *staircases,
                      const dg_lane_number *parameter, const dg_lane_number *centre);

/** Do the same for the parameter (root 2^exponent)^2. Requires: root < 2^53. */
bool dg_lane_laws_add_root(dg_lane_laws *laws, const dg_lane_staircases *staircases, int64_t root,
                           int exponent, const dg_lane_number *centre);

/** Add the last law once more. Requires: 0 < laws->n < DG_LANE_LAWS. */
void dg_lane_laws_again(dg_lane_laws *laws);

/** Set *out to law `which` of a batch, except for `law`. */
void dg_lane_laws_one(dg_lanes *out, size_t which, const dg_lane_laws *laws);

/** The state of one round of attempts. */
typedef struct dg_lane_round {
    size_t n_pending;
    size_t n_made;                  /* attempts of this round */
    size_t n_kept;                  /* laws whose attempt failed */
    uint64_t pending[DG_LANE_LAWS]; /* the laws, in order; the first n_kept are the next round's */
} dg_lane_round;

/** Make attempts of a round, in order, until it ends or one is undecided.
 *
 *  Requires:  bytes holds an attempt for each of pending[n_made ...].
 *  Ensures:   out[i] is law i's draw if its attempt was accepted; the other laws are kept. If
 *             n_made < n_pending, the attempt of pending[n_made] is undecided.
 *  Cost:      depends on n_pending, which attempts were accepted, and n_made alone.
 */
void dg_lane_laws_attempt(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                          const dg_lane_laws *laws);
void dg_lane_laws_attempt_avx512_ifma(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                                      const dg_lane_laws *laws);

/** A callback that makes law `which` of a batch. It is called if an attempt is undecided.
 *
 *  Ensures:   DG_OK -> *law is to be freed by dg_law_free.
 */
typedef dg_status dg_lane_law_of(dg_law **law, size_t which, void *context);

/** Draw once from each law of a batch: out[i] is a draw of law i.
 *
 *  Requires:  law_of makes the laws that were added. Later draws will read about bytes_later.
 *  Returns:   as dg_lanes_settle does, or a failure of law_of. *out is written even if a failure is
 *             returned.
 */
dg_status dg_lane_laws_draw(int64_t out[DG_LANE_LAWS], size_t bytes_later, const dg_lane_laws *laws,
                            dg_lane_law_of *law_of, void *context, dg_bits *bits);

#endif
#endif
