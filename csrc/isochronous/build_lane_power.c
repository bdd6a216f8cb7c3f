#include "isochronous/lane_power.h"

#if DG_HAVE_WORDS

/* PROOF.md, lemmas 21 and 22. */

enum {
    LOG_BITS = 58,    /* binary places of the scale's logarithm */
    NARROWEST = 16,   /* a scale has at least 2^16 units of distance */
    FIXED = 7,        /* in units of heights */
    FAR = 112,        /* about the exponent at `farthest`, which is from 110 to 127 */
    MOST_ERROR = 4096 /* in units of heights: at most 2^-40 of the attempts are undecided */
};

static const uint64_t FULL = UINT64_C(1) << DG_LANE_BITS;

/** floor(2^52 log2(log2(e))). */
static const uint64_t LOG2_LOG2_E = UINT64_C(0x875D3BA705DB1);

/** Return log2 of the power at r, as power_of computes it, but of any size. */
static dg_i128 log_of_power(uint64_t r, dg_i128 log_scale, const dg_lanes *lanes)
{
    const dg_u128 times_beta = (dg_u128)log2_of(r) * lanes->rate >> DG_LANE_BITS;
    return ((dg_i128)times_beta << lanes->rate_shift) - log_scale;
}

/** Return log2(scale) in units of 2^-58, with an error below 1. Requires: the scale is from 1 to 2^63. */
static uint64_t log_of_scale(const dg_law *law, dg_enclosure *e)
{
    mpfr_set_z(e->work, law->a, MPFR_RNDN);
    mpfr_div_z(e->work, e->work, law->b, MPFR_RNDN);
    mpfr_log2(e->work, e->work, MPFR_RNDN);
    mpfr_mul_2ui(e->work, e->work, LOG_BITS, MPFR_RNDN);
    return mpfr_get_uj(e->work, MPFR_RNDN);
}

/** Return an upper bound of log2(e) (|f| / scale)^beta in units of exponents, rounded down. */
static uint64_t power_at_centre(dg_enclosure *e)
{
    mpfr_const_log2(e->work, MPFR_RNDD);
    mpfr_div(e->work, e->centre_upper, e->work, MPFR_RNDU);
    mpfr_mul_2ui(e->work, e->work, DG_LANE_BITS, MPFR_RNDN);
    return mpfr_get_uj(e->work, MPFR_RNDD);
}

/** Return beta log2(scale) - log2(log2(e)) in units of exponents, so high that log_of_power never is. */
static dg_i128 shifted_scale(dg_i128 log, const dg_lanes *lanes)
{
    const unsigned whole = lanes->rate_shift + 1; /* bits of beta before the point */
    const dg_i128 exact = (dg_i128)lanes->rate * (log + 1) >> (LOG_BITS - whole);
    const dg_i128 of_log = (dg_i128)lanes->rate * (DG_LANE_LOG_ABOVE / 2) >> (DG_LANE_BITS - whole);
    return exact + 1 + of_log + 1 + 1 - (dg_i128)LOG2_LOG2_E;
}

/** Return the least r below 2^52 at which the power's logarithm is at least `wanted`, or 2^52. */
static uint64_t least_with(dg_i128 wanted, dg_i128 log_scale, const dg_lanes *lanes)
{
    uint64_t from = 1, to = FULL;
    if (log_of_power(FULL - 1, log_scale, lanes) < wanted) {
        return FULL;
    }
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

unsigned dg_lane_power_units(unsigned most, dg_lanes *lanes, dg_enclosure *e)
{
    const dg_i128 one = (dg_i128)1 << DG_LANE_BITS;
    const dg_i128 log_of = log_of_scale(lanes->law, e);
    lanes->at_centre = power_at_centre(e) + 3;
    const unsigned whole =
        (unsigned)mpfr_get_exp(e->beta_lower); /* bits of beta before the point */
    mpfr_mul_2ui(e->work, e->beta_lower, DG_LANE_BITS - whole, MPFR_RNDN);
    lanes->rate = mpfr_get_uj(e->work, MPFR_RNDD);
    lanes->rate_shift = whole - 1;
    const uint64_t top = FAR + 1 + (lanes->at_centre >> DG_LANE_BITS); /* below 2^8 */
    const dg_i128 wanted = (dg_i128)log2_of(top) >> (DG_LANE_LOG_BITS - DG_LANE_BITS);
    for (unsigned places = most; places > 0; places--) {
        const dg_i128 up = (dg_i128)places - lanes->block_bits;
        const dg_i128 log = log_of + up * ((dg_i128)1 << LOG_BITS);
        if (log < (dg_i128)NARROWEST << LOG_BITS) {
            return 0;
        }
        const dg_i128 log_scale = shifted_scale(log, lanes);
        lanes->farthest = least_with(wanted, log_scale, lanes);
        if (lanes->farthest == FULL) {
            continue;
        }
        lanes->nearest = 1;
        while (2 * lanes->nearest < FULL &&
               log_of_power(2 * lanes->nearest, log_scale, lanes) <= -56 * one) {
            lanes->nearest *= 2;
        }
        lanes->log_scale = (uint64_t)log_scale;
        return log_of_power(lanes->farthest, log_scale, lanes) < wanted + one / 64 ? places : 0;
    }
    return 0;
}

/** Return ceil(2^52 / scale), the scale in units of distance. 2^up units make an integer. */
static uint64_t over_scale_of(long up, const dg_law *law)
{
    uint64_t over = 0;
    mpz_t above, below;
    mpz_inits(above, below, NULL);
    mpz_mul_2exp(above, law->b, (mp_bitcnt_t)(up > DG_LANE_BITS ? 0 : DG_LANE_BITS - up));
    mpz_mul_2exp(below, law->a, (mp_bitcnt_t)(up > DG_LANE_BITS ? up - DG_LANE_BITS : 0));
    mpz_cdiv_q(above, above, below);
    mpz_export(&over, NULL, -1, sizeof over, 0, 0, above); /* the scale has 2^16 units or more */
    mpz_clears(above, below, NULL);
    return over;
}

bool dg_lane_power_errors(uint64_t of_distance, unsigned places, dg_lanes *lanes)
{
    const uint64_t beta16 = (lanes->rate >> (47 - lanes->rate_shift)) + 1; /* in sixteenths */
    const uint64_t beta = (beta16 + 15) / 16;
    const uint64_t of_log = (31 * beta + 9) / 10 + 19, of_power = (7 * of_log + 9) / 10 + 13;
    const uint64_t f16 = (lanes->at_centre >> (DG_LANE_BITS - 4)) + 1 + 9; /* 9/16 > 0.54 */
    /* 2^52 over the scale, and the error that distances cause where the power is 1 */
    const uint64_t over_scale = over_scale_of((long)places - (long)lanes->block_bits, lanes->law);
    const uint64_t distance16 = of_distance * (beta16 * 3 * over_scale + 1) / 2;
    const uint64_t growth16 = 16 - 256 / beta16; /* 1 - 1/beta */
    const uint64_t above16 =
        UINT64_C(16) * FIXED + f16 * of_power + distance16 * (256 + growth16 * f16) / 256 + 1;
    const uint64_t a_step16 = 16 * of_power + distance16 * growth16 / 16 + 1;
    lanes->above = (7 * above16 + 159) / 160; /* 0.7 > ln 2 */
    lanes->above_a_step = (7 * a_step16 + 159) / 160;
    return lanes->above + 2 * lanes->above_a_step <= MOST_ERROR;
}

#endif
