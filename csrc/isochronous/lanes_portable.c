#include "isochronous/lanes.h"

#include "base/contract.h"
#include "isochronous/lane_power.h"

#if DG_HAVE_WORDS

/** Append an accepted draw. Returns: whether the attempt is decided. */
DG_LANE_INLINE bool take(int64_t *out, size_t *n_accepted, dg_lane_found found)
{
    DG_PUBLIC(found.undecided);
    if (__builtin_expect(found.undecided != 0, 0)) {
        return false;
    }
    DG_PUBLIC(found.accepted);
    out[*n_accepted] = (int64_t)found.draw;
    *n_accepted += found.accepted & 1;
    return true;
}

DG_LANE_INLINE void make_attempts(int64_t *out, size_t *n_accepted, size_t *n_made,
                                  const uint8_t *bytes, size_t n_attempts, bool has_more,
                                  dg_lane_exponent *exponent_of, const dg_lanes *lanes)
{
    const size_t attempt_bytes = has_more ? 16 : 12;
    size_t accepted = 0, made = 0;
    bool goes_on = true;
    while (goes_on && n_attempts - made >= DG_LANE_TOGETHER) {
        dg_lane_tried of[DG_LANE_TOGETHER];
        uint64_t heights[DG_LANE_TOGETHER];
        DG_LANE_EACH(i, DG_LANE_TOGETHER)
        {
            of[i] = try_at(bytes + (made + i) * attempt_bytes, has_more, exponent_of, lanes);
            heights[i] = of[i].exponent;
        }
        heights_of(heights, DG_LANE_TOGETHER);
        DG_LANE_EACH(i, DG_LANE_TOGETHER)
        {
            goes_on = take(out, &accepted, found_by(&of[i], heights[i], lanes));
            if (!goes_on) {
                break;
            }
            made++;
        }
    }
    while (goes_on && made < n_attempts) {
        const uint8_t *at = bytes + made * attempt_bytes;
        goes_on = take(out, &accepted, attempt_by(at, has_more, exponent_of, lanes));
        made += goes_on;
    }
    *n_accepted = accepted;
    *n_made = made;
}

void dg_lane_kernel_portable(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                             size_t n_attempts, const dg_lanes *lanes)
{
    const dg_lanes of = *lanes; /* a copy, which no write to `out` can change */
    /* a loop for each case, so that no loop branches by it */
    if (lanes->attempt_bytes > 12) {
        if (lanes->squared) {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, gaussian_exponent_at,
                          &of);
        } else {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, laplace_exponent_at,
                          &of);
        }
    } else if (lanes->squared) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, gaussian_exponent_at, &of);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, laplace_exponent_at, &of);
    }
}

void dg_lane_power_kernel_portable(int64_t *out, size_t *n_accepted, size_t *n_made,
                                   const uint8_t *bytes, size_t n_attempts, const dg_lanes *lanes)
{
    const dg_lanes of = *lanes;
    if (lanes->attempt_bytes > 12) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, power_exponent_at, &of);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, power_exponent_at, &of);
    }
}

#endif
