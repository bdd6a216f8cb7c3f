#include "isochronous/lane_power.h"

#if DG_HAVE_WORDS

DG_LANE_INLINE void make_attempts(int64_t *out, size_t *n_accepted, size_t *n_made,
                                  const uint8_t *bytes, size_t n_attempts, bool has_more,
                                  const dg_lanes *lanes)
{
    const size_t attempt_bytes = has_more ? 16 : 12;
    size_t accepted = 0, i = 0;
    for (; i < n_attempts; i++, bytes += attempt_bytes) {
        dg_lane_found found = attempt_by(bytes, has_more, power_exponent_at, lanes);
        DG_PUBLIC(found.undecided);
        if (__builtin_expect(found.undecided != 0, 0)) {
            break;
        }
        DG_PUBLIC(found.accepted);
        out[accepted] = (int64_t)found.draw;
        accepted += found.accepted & 1;
    }
    *n_accepted = accepted;
    *n_made = i;
}

void dg_lane_power_kernel_portable(int64_t *out, size_t *n_accepted, size_t *n_made,
                                   const uint8_t *bytes, size_t n_attempts, const dg_lanes *lanes)
{
    const dg_lanes of = *lanes; /* nothing that is written may be part of it */
    if (lanes->attempt_bytes > 12) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, &of);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, &of);
    }
}

#endif
