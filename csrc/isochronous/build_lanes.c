#include "isochronous/lanes.h"

#include "bounds/refine.h"
#include "isochronous/narrow.h"
#include "isochronous/staircase.h"

#include <stdlib.h>

#if DG_HAVE_WORDS

enum {
    LEAST_SCALE = -20, /* the scale, or sigma, is from 2^-20 to 2^53 */
    MOST_SCALE = 53,
    CENTRE_BITS = 61, /* c is below 2^61 in size */
    BETA_BITS = 6,    /* beta is below 2^6 */
    FAR = 110,        /* the least exponent at `farthest`; the greatest is 127 */
    MOST_ERROR = 4096 /* in units of heights: at most 2^-40 of the attempts are undecided */
};

static const uint64_t FULL = UINT64_C(1) << DG_LANE_BITS;

/** Return the sign of num/den - 2^exponent. */
static int against_power(const mpz_t num, const mpz_t den, long exponent)
{
    mpz_t above, below;
    mpz_inits(above, below, NULL);
    mpz_mul_2exp(above, num, exponent < 0 ? (mp_bitcnt_t)-exponent : 0);
    mpz_mul_2exp(below, den, exponent > 0 ? (mp_bitcnt_t)exponent : 0);
    const int sign = mpz_cmp(above, below);
    mpz_clears(above, below, NULL);
    return sign;
}

bool dg_lanes_hold(const dg_law *law)
{
    const long power = law->kind == DG_DISCRETE_GAUSSIAN ? 2 : 1;
    return against_power(law->a, law->b, power * LEAST_SCALE) >= 0 &&
           against_power(law->a, law->b, power * MOST_SCALE) <= 0 &&
           against_power(law->beta_num, law->beta_den, BETA_BITS) < 0 &&
           mpz_sizeinbase(law->c, 2) <= CENTRE_BITS;
}

/** Return z. Requires: |z| < 2^63. */
static int64_t to_int64(const mpz_t z)
{
    uint64_t size = 0;
    mpz_export(&size, NULL, -1, sizeof size, 0, 0, z);
    return mpz_sgn(z) < 0 ? -(int64_t)size : (int64_t)size;
}

/** Return floor(num/den 2^shift), and set *is_cut if that is less. Requires: it is below 2^63 in size. */
static int64_t in_units(bool *is_cut, const mpz_t num, const mpz_t den, long shift)
{
    mpz_t above, below, remainder;
    mpz_inits(above, below, remainder, NULL);
    mpz_mul_2exp(above, num, shift > 0 ? (mp_bitcnt_t)shift : 0);
    mpz_mul_2exp(below, den, shift < 0 ? (mp_bitcnt_t)-shift : 0);
    mpz_fdiv_qr(above, remainder, above, below);
    *is_cut |= mpz_sgn(remainder) != 0;
    const int64_t floored = to_int64(above);
    mpz_clears(above, below, remainder, NULL);
    return floored;
}

/** Set lanes->rate to the leading 52 bits of log2(e)/(2 sigma2), or log2(e)/scale, rounded down. Returns: the
 *  number's exponent of 2, as MPFR defines it. */
static long set_rate(dg_lanes *lanes, dg_enclosure *e)
{
    mpfr_const_log2(e->work, MPFR_RNDU);
    mpfr_ui_div(e->lower, 1, e->work, MPFR_RNDD);
    mpfr_mul_z(e->lower, e->lower, lanes->law->b, MPFR_RNDD);
    mpfr_div_z(e->lower, e->lower, lanes->law->a, MPFR_RNDD);
    const long octave = (long)mpfr_get_exp(e->lower);
    mpfr_mul_2si(e->lower, e->lower, DG_LANE_BITS - octave, MPFR_RNDN);
    lanes->rate = mpfr_get_uj(e->lower, MPFR_RNDD);
    return lanes->squared ? octave - 1 : octave;
}

/** Return the exponent at a distance, rounded down, as the kernels compute it. */
static dg_u128 exponent_at(uint64_t d, const dg_lanes *lanes)
{
    const dg_u128 product =
        lanes->squared ? (dg_u128)d * (d + lanes->twice_f) : (dg_u128)d << DG_LANE_BITS;
    const dg_u128 scaled =
        (product >> DG_LANE_BITS) * lanes->rate +
        ((((uint64_t)product & (FULL - 1)) * (dg_u128)lanes->rate) >> DG_LANE_BITS);
    return scaled >> lanes->rate_shift;
}

/** Return floor(factor |f|) in units, of which 2^up make an integer. Set *is_cut if that is less. */
static uint64_t centre_in_units(bool *is_cut, unsigned factor, long up, const dg_law *law)
{
    mpz_t size;
    mpz_init(size);
    mpz_abs(size, law->n);
    mpz_mul_ui(size, size, factor);
    const uint64_t floored = (uint64_t)in_units(is_cut, size, law->d, up);
    mpz_clear(size);
    return floored;
}

/** Choose the unit of distance, and set the rate in this unit. Blocks get the most binary places, up to
 *  `most`, with which distances up to `farthest` are below 2^52.
 *
 *  Returns: the binary places | 0: no number of places will do.
 */
static unsigned set_units(unsigned most, dg_lanes *lanes, dg_enclosure *e)
{
    const long octave = set_rate(lanes, e);
    const dg_u128 wanted = (dg_u128)FAR << DG_LANE_BITS;
    bool is_cut = false;
    const uint64_t twice_f =
        centre_in_units(&is_cut, 2, (long)most - (long)lanes->block_bits, lanes->law);
    for (unsigned places = most; places > 0; places--) {
        const long up = (long)places - (long)lanes->block_bits;
        const long shift = lanes->squared ? 2 * up - DG_LANE_BITS - octave : up - octave;
        if (shift < 1) {
            return 0;
        }
        lanes->twice_f = twice_f >> (most - places);
        if (shift > DG_LANE_BITS || lanes->twice_f >= FULL / 2) {
            continue;
        }
        lanes->rate_shift = (unsigned)shift;
        uint64_t least = 1, farthest = FULL - 3 - lanes->twice_f;
        if (exponent_at(farthest, lanes) < wanted) {
            continue;
        }
        while (least < farthest) {
            const uint64_t middle = least + (farthest - least) / 2;
            if (exponent_at(middle, lanes) < wanted) {
                least = middle + 1;
            } else {
                farthest = middle;
            }
        }
        lanes->farthest = farthest;
        return exponent_at(farthest, lanes) < (dg_u128)127 << DG_LANE_BITS ? places : 0;
    }
    return 0;
}

/** Set |y - f| - |f| - z on both sides, in units. Returns: whether that, or 2 |f|, was rounded. */
static bool set_offsets(long up, dg_lanes *lanes)
{
    const dg_law *law = lanes->law;
    bool is_cut = false;
    mpz_t right, left;
    mpz_init(right);
    mpz_init_set(left, law->d);
    if (mpz_sgn(law->n) > 0) { /* right: |z - f| - f = z - 2 f; left: z + 1 + f - f */
        mpz_submul_ui(right, law->n, 2);
    } else { /* right: z - f - |f| = z; left: z + 1 + f + f */
        mpz_addmul_ui(left, law->n, 2);
    }
    lanes->offset[0] = in_units(&is_cut, right, law->d, up);
    lanes->offset[1] = in_units(&is_cut, left, law->d, up);
    mpz_clears(right, left, NULL);
    return is_cut;
}

/** Set the offsets, and bounds of the errors of heights: PROOF.md, lemmas 14 and 22. */
static dg_status set_errors(unsigned places, dg_lanes *lanes)
{
    const long up = (long)places - (long)lanes->block_bits;
    const uint64_t inexact = set_offsets(up, lanes), cut = up < 0;
    /* errors of distances, in units: that of delta, and that of twice_f */
    const uint64_t of_delta = inexact + cut, of_f = inexact;
    lanes->below = DG_LANE_BELOW;
    if (lanes->is_power) {
        bool cut_f = false;
        lanes->f = centre_in_units(&cut_f, 1, up, lanes->law);
        return dg_lane_power_errors(of_delta + cut_f, places, lanes) ? DG_OK : DG_ERR_METHOD;
    }
    const uint64_t far = lanes->farthest;
    uint64_t fixed, a_step;
    if (lanes->squared) {
        const uint64_t root = (uint64_t)(((dg_u128)12 << DG_LANE_BITS) / far) + 1;
        const dg_u128 at_f =
            ((dg_u128)(lanes->twice_f + 1) << (DG_LANE_BITS + 7)) / (far + lanes->twice_f) / far;
        const uint64_t errors = 2 * of_delta + of_f;
        if (at_f > MOST_ERROR || root > MOST_ERROR) {
            return DG_ERR_METHOD;
        }
        fixed = errors * ((uint64_t)at_f + 1 + root);
        a_step = errors * (root / 2 + 1);
    } else {
        fixed = of_delta * ((uint64_t)(((dg_u128)128 << DG_LANE_BITS) / far) + 1);
        a_step = 0;
    }
    lanes->above = (7 * (21 + 10 * fixed) + 99) / 100; /* 0.7 > ln 2; 2.1 > 1 + 1.002 0.54 2 */
    lanes->above_a_step = (7 * (21 + 10 * a_step) + 99) / 100;
    if (lanes->above + DG_LANE_MOST_STEP * lanes->above_a_step > MOST_ERROR) {
        return DG_ERR_METHOD;
    }
    return DG_OK;
}

/** Set everything that lanes need to draw a law that is not narrow. */
static dg_status build_wide(dg_lanes *lanes, dg_enclosure *e)
{
    dg_staircase staircase;
    DG_TRY(dg_staircase_choose(&staircase, e));
    lanes->n_core = staircase.n_core;
    lanes->n_tail = staircase.n_tail;
    lanes->n_cells = staircase.n_core + staircase.n_tail;
    if (lanes->n_cells > 2 << DG_STAIRCASE_BITS) {
        return DG_ERR_METHOD;
    }
    lanes->excess = (UINT64_C(1) << 16) % lanes->n_cells;
    lanes->block_bits = (unsigned)staircase.block_bits;
    lanes->low_mask = (UINT64_C(1) << lanes->block_bits) - 1;
    lanes->attempt_bytes = lanes->block_bits > 16 ? 16 : 12;
    lanes->squared = lanes->law->kind == DG_DISCRETE_GAUSSIAN;
    lanes->is_power = lanes->law->kind == DG_GENERALIZED_GAUSSIAN;
    /* z of decided attempts is below 2^62 units */
    const uint64_t blocks = lanes->n_core + (DG_LANE_MOST_STEP + 1) * lanes->n_tail;
    const unsigned most = (unsigned)__builtin_clzll(blocks) - 2;
    const unsigned places =
        lanes->is_power ? dg_lane_power_units(most, lanes, e) : set_units(most, lanes, e);
    if (places == 0) {
        return DG_ERR_METHOD;
    }
    const bool cut = lanes->block_bits > places;
    lanes->units_up = cut ? 0 : places - lanes->block_bits;
    lanes->units_down = cut ? lanes->block_bits - places : 0;
    DG_TRY(set_errors(places, lanes));
    if (DG_ALWAYS_REFINE) {
        lanes->above = lanes->below = 2 * FULL;
    }
    return DG_OK;
}

dg_status dg_lane_exponents(dg_lanes *out, const dg_law *law)
{
    const bool is_power = law->kind == DG_GENERALIZED_GAUSSIAN;
    if (!dg_lanes_hold(law) || (is_power && mpz_cmp(law->a, law->b) < 0)) {
        return DG_ERR_METHOD; /* powers have no unit for scales below 1, which are narrow laws */
    }
    *out = (dg_lanes){.law = law, .c = to_int64(law->c)};
    dg_enclosure e;
    dg_enclosure_open_for_table(&e, law);
    const dg_status status = build_wide(out, &e);
    dg_enclosure_close(&e);
    return status;
}

static dg_status build(dg_lanes *lanes, const dg_law *law)
{
    dg_narrow *narrow = NULL;
    const dg_status status = dg_narrow_build(&narrow, law);
    if (status == DG_ERR_METHOD) {
        return dg_lane_exponents(lanes, law);
    }
    *lanes = (dg_lanes){.law = law, .c = to_int64(law->c), .narrow = narrow, .attempt_bytes = 8};
    return status;
}

dg_status dg_lanes_build(dg_lanes **out, const dg_law *law, dg_isa isa)
{
    *out = NULL;
    if (!dg_lanes_hold(law)) {
        return DG_ERR_METHOD;
    }
    dg_lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL) {
        return DG_ERR_NOMEM;
    }
    const dg_status status = build(lanes, law);
    if (status != DG_OK) {
        dg_lanes_release(lanes);
        return status;
    }
    dg_lanes_dispatch(lanes, isa);
    *out = lanes;
    return DG_OK;
}

void dg_lanes_release(dg_lanes *lanes)
{
    if (lanes != NULL) {
        free(lanes->narrow);
        free(lanes);
    }
}

#endif
