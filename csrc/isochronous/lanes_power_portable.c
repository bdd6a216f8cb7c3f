#include "isochronous/lane_power.h"

#if DG_HAVE_WORDS

void dg_lane_power_kernel_portable(int64_t *out, size_t *n_accepted, size_t *n_made,
                                   const uint8_t *bytes, size_t n_attempts, const dg_lanes *lanes)
{
    const dg_lanes of = *lanes; /* nothing that is written may be part of it */
    if (lanes->attempt_bytes > 12) {
        attempts_by(out, n_accepted, n_made, bytes, n_attempts, true, power_exponent_at, &of);
    } else {
        attempts_by(out, n_accepted, n_made, bytes, n_attempts, false, power_exponent_at, &of);
    }
}

#endif
