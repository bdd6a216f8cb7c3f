#include "isochronous/lanes.h"

#include "bounds/refine.h"
#include "isochronous/narrow.h"

#include <stdlib.h>

#if DG_HAVE_WORDS

/* All constants are those of the sampler, to fewer bits: no rounding but downwards, no GMP. */

enum {
    MOST_BLOCK_BITS = 46, /* 130 levels are below 2^62: a law's last 2^-128 is beyond */
    FAR = 110,            /* the exponent at `farthest`, at least; 127 at most */
    MOST_ERROR = 4096     /* in units of heights: undecided are 2^-40 of the attempts, at most */
};

static const uint64_t FULL = UINT64_C(1) << DG_LANE_BITS;

/** floor(a / 2^shift), of a negative number, too. */
static int64_t shifted(int64_t a, unsigned shift)
{
    return a >= 0 ? a >> shift : ~(~a >> shift);
}

/** The exponent at a distance, rounded down, as the kernels compute it. */
static dg_u128 exponent_at(uint64_t d, const dg_lanes *lanes)
{
    const dg_u128 product =
        lanes->squared ? (dg_u128)d * (d + lanes->twice_f) : (dg_u128)d << DG_LANE_BITS;
    const dg_u128 scaled =
        (product >> DG_LANE_BITS) * lanes->rate +
        ((((uint64_t)product & (FULL - 1)) * (dg_u128)lanes->rate) >> DG_LANE_BITS);
    return scaled >> lanes->rate_shift;
}

/** Choose the unit of distance: the largest number of binary places, at most the sampler's, with
 *  which distances up to `farthest` are below 2^52; and all that is in this unit.
 *
 *  Returns: the binary places of a block | 0: there are none that serve.
 */
static unsigned set_units(dg_lanes *lanes)
{
    const dg_isochronous *sampler = lanes->sampler;
    for (unsigned places = sampler->place_bits; places > 0; places--) {
        const unsigned less = sampler->place_bits - places;
        const long shift = lanes->squared ? (long)sampler->rate_shift - 58 - 2 * (long)less
                                          : (long)sampler->rate_shift - 6 - (long)less;
        lanes->twice_f = sampler->twice_f.lower >> less;
        if (shift < 1) {
            return 0;
        }
        if (shift > DG_LANE_BITS || lanes->twice_f >= FULL / 2) {
            continue;
        }
        lanes->rate_shift = (unsigned)shift;
        uint64_t least = 1, most = FULL - 3 - lanes->twice_f;
        const dg_u128 wanted = (dg_u128)FAR << DG_LANE_BITS;
        if (exponent_at(most, lanes) < wanted) {
            continue;
        }
        while (least < most) {
            const uint64_t middle = least + (most - least) / 2;
            if (exponent_at(middle, lanes) < wanted) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        lanes->farthest = most;
        return exponent_at(most, lanes) < (dg_u128)127 << DG_LANE_BITS ? places : 0;
    }
    return 0;
}

/** Bounds of the errors of heights: PROOF.md, lemmas 14 and 15. */
static dg_status set_errors(unsigned places, dg_lanes *lanes)
{
    const dg_isochronous *sampler = lanes->sampler;
    const unsigned less = sampler->place_bits - places;
    uint64_t inexact = sampler->twice_f.upper ^ (sampler->twice_f.lower >> less << less);
    for (size_t side = 0; side < 2; side++) {
        const int64_t floored = shifted(sampler->offset[side][0], less);
        lanes->offset[side] = floored;
        inexact |= (uint64_t)sampler->offset[side][1] ^ ((uint64_t)floored << less);
    }
    const uint64_t cut = lanes->block_bits > places;
    /* of distances, in units: of delta; of twice_f */
    const uint64_t of_delta = (inexact != 0) + cut, of_f = inexact != 0;
    lanes->below = DG_LANE_BELOW;
    if (lanes->is_power) {
        const uint64_t cut_f = sampler->twice_f.upper != lanes->f << (less + 1);
        return dg_lane_power_errors(of_delta + cut_f, places, lanes) ? DG_OK : DG_ERR_PARAMETER;
    }
    const uint64_t far = lanes->farthest;
    uint64_t fixed, a_step;
    if (lanes->squared) {
        const uint64_t root = (uint64_t)(((dg_u128)12 << DG_LANE_BITS) / far) + 1;
        const dg_u128 at_f =
            ((dg_u128)(lanes->twice_f + 1) << (DG_LANE_BITS + 7)) / (far + lanes->twice_f) / far;
        const uint64_t errors = 2 * of_delta + of_f;
        if (at_f > MOST_ERROR || root > MOST_ERROR) {
            return DG_ERR_PARAMETER;
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
        return DG_ERR_PARAMETER;
    }
    return DG_OK;
}

static dg_status build_all(dg_lanes *lanes)
{
    const dg_isochronous *sampler = lanes->sampler;
    if (sampler->block_bits > MOST_BLOCK_BITS || sampler->n_cells > 2 << DG_LANE_BLOCKS_BITS ||
        !sampler->c_is_narrow) {
        return DG_ERR_PARAMETER;
    }
    lanes->c = sampler->c;
    if (sampler->block_bits == 0) {
        const dg_status status = dg_narrow_build(&lanes->narrow, sampler->law);
        if (status != DG_ERR_PARAMETER) {
            lanes->attempt_bytes = 8;
            return status;
        }
    }
    lanes->squared = sampler->law->kind == DG_DISCRETE_GAUSSIAN;
    lanes->block_bits = (unsigned)sampler->block_bits;
    lanes->attempt_bytes = lanes->block_bits > 16 ? 16 : 12;
    lanes->low_mask = (UINT64_C(1) << lanes->block_bits) - 1;
    lanes->n_core = sampler->n_core;
    lanes->n_tail = sampler->n_tail;
    lanes->n_cells = sampler->n_cells;
    lanes->excess = (UINT64_C(1) << 16) % sampler->n_cells;
    lanes->rate = sampler->rate.lower >> 11;
    lanes->is_power = sampler->law->kind == DG_GENERALIZED_GAUSSIAN;
    const unsigned places = lanes->is_power ? dg_lane_power_units(lanes) : set_units(lanes);
    if (places == 0) {
        return DG_ERR_PARAMETER;
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

dg_status dg_lanes_build(dg_lanes **out, const dg_law *law, dg_isa isa)
{
    *out = NULL;
    dg_lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL) {
        return DG_ERR_NOMEM;
    }
    dg_status status = dg_isochronous_build(&lanes->sampler, DG_LANE_BLOCKS_BITS, law);
    if (status == DG_OK) {
        status = build_all(lanes);
    }
    if (status == DG_OK) {
        dg_lanes_dispatch(lanes, isa);
    } else if (status == DG_ERR_PARAMETER) { /* one by one, then, in narrower blocks */
        dg_isochronous_release(lanes->sampler);
        status = dg_isochronous_build(&lanes->sampler, DG_BLOCKS_BITS, law);
    }
    if (status != DG_OK) {
        dg_lanes_release(lanes);
        return status;
    }
    *out = lanes;
    return DG_OK;
}

void dg_lanes_release(dg_lanes *lanes)
{
    if (lanes != NULL) {
        dg_isochronous_release(lanes->sampler);
        free(lanes->narrow);
        free(lanes);
    }
}

#endif
