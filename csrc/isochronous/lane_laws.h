/* A law of its own in every lane: arrays in which each element has other parameters. Proofs: PROOF.md,
 * "A law a lane".
 *
 * The constants that lanes.h has for one law follow from the parameter's leading bits and a division,
 * and from the centre's multiple of a unit: some ten nanoseconds, no GMP. Laws are held if they are
 * Laplace with a scale from 2^-11 to 2^42, or Gaussian with a sigma2 from 2^-16 to 2^62 (from 2^-4 on
 * where the centre is not 0), their centre is in [-1/2, 1/2), and both numbers are ratios of words, or
 * words times a power of two.
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
    DG_LANE_OCTAVE_BITS = 5,    /* an octave has so many steps: 2^this */
    DG_LANE_OCTAVES = 30,       /* of parameters in blocks: to 2^14, sigma2 */
    DG_LANE_STAIRCASES = DG_LANE_OCTAVES << DG_LANE_OCTAVE_BITS,
    DG_LANE_FARTHEST_BITS = 51, /* `farthest` is 2^51 units of all laws */
    DG_LANE_ABOVE_BITS = 10,
    DG_LANE_LAWS = 256 /* in a batch */
};

#if DG_HAVE_WORDS

/** num/den 2^exponent. Where den is no power of 2, exponent is 0. */
typedef struct dg_lane_number {
    int64_t num, den;
    int exponent;
} dg_lane_number;

/** The staircases of laws whose blocks hold w integers, by parameter/w (Laplace) or /w^2 (Gaussian):
 *  each serves all parameters up to the next step's. */
typedef struct dg_lane_staircases {
    bool squared;    /* Gaussian; else Laplace */
    bool off_centre; /* whether n[1] is there */
    uint8_t n[2][DG_LANE_STAIRCASES]
             [3]; /* n_core, n_tail, excess: fields of dg_lanes; [1] is of laws
                                            with a centre above 0 */
} dg_lane_staircases;

/** Laws that draw together. */
typedef struct dg_lane_laws {
    bool squared, is_long; /* attempts have 16 bytes */
    dg_isa isa;            /* DG_ISA_PORTABLE | DG_ISA_AVX512_VBMI2 */
    size_t n;
    uint64_t rate[DG_LANE_LAWS];   /* as in dg_lanes */
    uint64_t shape[DG_LANE_LAWS];  /* bytes, from the lowest: n_core, n_tail, excess, block_bits,
                                      rate_shift, units_up */
    uint64_t centre[DG_LANE_LAWS]; /* bits, from the lowest: whether f > 0; whether 2 abs(f) was
                                      rounded; 10 for `above`, and above_a_step; twice_f */
} dg_lane_laws;

/** off_centre: whether laws with another centre than 0 are to be held.
 *
 *  Requires:  kind is Laplace or Gaussian.
 *  Cost:      some microseconds.
 */
void dg_lane_staircases_build(dg_lane_staircases *out, dg_law_kind kind, bool off_centre);

/** No laws yet. Requires: isa is available. */
void dg_lane_laws_open(dg_lane_laws *laws, const dg_lane_staircases *staircases, dg_isa isa);

/** Add the law of a parameter and a centre.
 *
 *  Requires:  laws->n < DG_LANE_LAWS; staircases are those it was opened with.
 *  Returns:   whether it is held; if not, nothing was added.
 */
bool dg_lane_laws_add(dg_lane_laws *laws, const dg_lane_staircases *staircases,
                      const dg_lane_number *parameter, const dg_lane_number *centre);

/** Add the last law once more. Requires: 0 < laws->n < DG_LANE_LAWS. */
void dg_lane_laws_again(dg_lane_laws *laws);

/** The law in law `which` of a batch, as lanes have it, but for `sampler` and `kernel`. */
void dg_lane_laws_one(dg_lanes *out, size_t which, const dg_lane_laws *laws);

/** What a batch has still to draw. */
typedef struct dg_lane_round {
    size_t n_pending;
    size_t n_made;                  /* attempts of this round */
    size_t n_kept;                  /* of those made, laws without a draw */
    uint64_t pending[DG_LANE_LAWS]; /* which laws, in order; the first n_kept: of the next round */
} dg_lane_round;

/** Make attempts of a round, in order, until it ends or one is undecided.
 *
 *  Requires:  bytes holds an attempt for each of pending[n_made ...].
 *  Ensures:   out[i] is law i's draw where its attempt was accepted; others are kept. If
 *             n_made < n_pending, the attempt of pending[n_made] is undecided.
 *  Cost:      depends on n_pending, which attempts were accepted, and n_made alone.
 */
void dg_lane_laws_attempt(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                          const dg_lane_laws *laws);
void dg_lane_laws_attempt_avx512_ifma(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                                      const dg_lane_laws *laws);

/** The law itself, of law `which` of a batch, asked for where an attempt is undecided.
 *
 *  Ensures:   DG_OK -> *law is to be freed by dg_law_free.
 */
typedef dg_status dg_lane_law_of(dg_law **law, size_t which, void *context);

/** Draw once from each law of a batch: out[i] is a draw of law i.
 *
 *  Requires:  law_of gives the laws that were added. Draws to follow read bytes_later, about.
 *  Returns:   as dg_lanes_draw, or what law_of returns; *out is written even where a failure is
 *             returned.
 */
dg_status dg_lane_laws_draw(int64_t out[DG_LANE_LAWS], size_t bytes_later, const dg_lane_laws *laws,
                            dg_lane_law_of *law_of, void *context, dg_bits *bits);

#endif
#endif
