#include "isochronous/lane_power.h"

#if DG_HAVE_WORDS

/* All constants are the sampler's, to fewer bits. PROOF.md, lemmas 21 and 22. */

enum {
    NARROWEST = 16,   /* a scale has 2^16 units of distance, at least */
    FAR = 112,        /* the exponent at `farthest`, about: from 110 to 127 */
    MOST_ERROR = 4096 /* in units of heights: undecided are 2^-40 of the attempts, at most */
};

static const uint64_t FULL = UINT64_C(1) << DG_LANE_BITS;

/** log2 of the power at r, as power_of has it, but of any size. */
static dg_i128 log_of_power(uint64_t r, dg_i128 log_scale, const dg_lanes *lanes)
{
    const dg_u128 times_beta = (dg_u128)log2_of(r) * lanes->rate >> DG_LANE_BITS;
    return ((dg_i128)times_beta << lanes->rate_shift) - log_scale;
}

/** log2 of the scale over the unit of distance, in units of 2^-58, within 1 of it. */
static dg_i128 log_of_scale(unsigned places, const dg_isochronous *sampler)
{
    return sampler->log_scale - ((dg_i128)(sampler->place_bits - places) << DG_LOG_BITS);
}

/** beta log2(scale) - log2(log2(e)) in units of exponents, and what makes log_of_power never too high. */
static dg_i128 shifted_scale(dg_i128 log, const dg_lanes *lanes)
{
    const unsigned whole = lanes->rate_shift + 1; /* bits of beta before the point */
    const dg_i128 exact = (dg_i128)lanes->rate * (log + 1) >> (DG_LOG_BITS - whole);
    const dg_i128 of_log = (dg_i128)lanes->rate * (DG_LANE_LOG_ABOVE / 2) >> (DG_LANE_BITS - whole);
    return exact + 1 + of_log + 1 + 1 - ((lanes->sampler->log_factor - 1) >> 5);
}

/** The least r at which the power's logarithm is at least `wanted`, if there is one below 2^52; else 2^52. */
static uint64_t least_with(dg_i128 wanted, dg_i128 log_scale, const dg_lanes *lanes)
{
    uint64_t from = 1, to = FULL;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (log_of_power(middle, log_scale, lanes) < wanted) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return to;
}

unsigned dg_lane_power_units(dg_lanes *lanes)
{
    const dg_isochronous *sampler = lanes->sampler;
    const dg_i128 one = (dg_i128)1 << DG_LANE_BITS;
    const uint64_t beta = (uint64_t)sampler->beta >> (62 - DG_LANE_BITS);
    lanes->rate = beta < FULL ? beta : FULL - 1;
    lanes->rate_shift = 62 - sampler->beta_shift;
    lanes->at_centre = (sampler->at_centre.upper >> (DG_EXPONENT_BITS - DG_LANE_BITS)) + 3;
    const uint64_t top = FAR + 1 + (sampler->at_centre.upper >> DG_EXPONENT_BITS); /* below 2^8 */
    const dg_i128 wanted = (dg_i128)log2_of(top) >> (DG_LANE_LOG_BITS - DG_LANE_BITS);
    for (unsigned places = sampler->place_bits; places > 0; places--) {
        const dg_i128 log = log_of_scale(places, sampler);
        if (log < (dg_i128)NARROWEST << DG_LOG_BITS) {
            return 0;
        }
        const dg_i128 log_scale = shifted_scale(log, lanes);
        lanes->farthest = least_with(wanted, log_scale, lanes);
        if (lanes->farthest == FULL) {
            continue;
        }
        lanes->nearest = 1;
        while (log_of_power(2 * lanes->nearest, log_scale, lanes) <= -56 * one) {
            lanes->nearest *= 2;
        }
        lanes->log_scale = (uint64_t)log_scale;
        lanes->f = sampler->twice_f.lower >> (sampler->place_bits - places) >> 1;
        return log_of_power(lanes->farthest, log_scale, lanes) < wanted + one / 64 ? places : 0;
    }
    return 0;
}

bool dg_lane_power_errors(uint64_t of_distance, unsigned places, dg_lanes *lanes)
{
    const dg_isochronous *sampler = lanes->sampler;
    const uint64_t beta16 = (lanes->rate >> (47 - lanes->rate_shift)) + 1; /* in sixteenths */
    const uint64_t beta = (beta16 + 15) / 16;
    const uint64_t of_log = (31 * beta + 9) / 10 + 19, of_power = (7 * of_log + 9) / 10 + 13;
    const dg_bounds f = sampler->at_centre;
    const uint64_t fixed = 7 + (f.upper - f.lower) / 32;
    const uint64_t f16 = (f.upper >> (DG_EXPONENT_BITS - 4)) + 1 + 9; /* 9/16 > 0.54 */
    /* 2^52 over the scale, and what that makes of an error of distances where the power is 1 */
    const uint64_t over_scale = dg_exp2_upper((uint64_t)((log_of_scale(places, sampler) - 1) >> 1) +
                                              (UINT64_C(11) << DG_EXPONENT_BITS));
    const uint64_t distance16 = of_distance * (beta16 * 3 * over_scale + 1) / 2;
    const uint64_t growth16 = 16 - 256 / beta16; /* 1 - 1/beta */
    const uint64_t above16 =
        16 * fixed + f16 * of_power + distance16 * (256 + growth16 * f16) / 256 + 1;
    const uint64_t a_step16 = 16 * of_power + distance16 * growth16 / 16 + 1;
    lanes->above = (7 * above16 + 159) / 160; /* 0.7 > ln 2 */
    lanes->above_a_step = (7 * a_step16 + 159) / 160;
    return lanes->above + 2 * lanes->above_a_step <= MOST_ERROR;
}

#endif
