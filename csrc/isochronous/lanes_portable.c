#include "isochronous/lanes.h"

#include "isochronous/lane_attempt.h"

#if DG_HAVE_WORDS

void dg_lane_kernel_portable(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                             size_t n_attempts, const dg_lanes *lanes)
{
    const dg_lanes of = *lanes; /* nothing that is written may be part of it */
    /* one loop each: what is public does not vary in it */
    if (lanes->attempt_bytes > 12) {
        if (lanes->squared) {
            attempts_by(out, n_accepted, n_made, bytes, n_attempts, true, gaussian_exponent_at, &of);
        } else {
            attempts_by(out, n_accepted, n_made, bytes, n_attempts, true, laplace_exponent_at, &of);
        }
    } else if (lanes->squared) {
        attempts_by(out, n_accepted, n_made, bytes, n_attempts, false, gaussian_exponent_at, &of);
    } else {
        attempts_by(out, n_accepted, n_made, bytes, n_attempts, false, laplace_exponent_at, &of);
    }
}

#endif
