/* What kernels of the silent engine compute of an attempt, in portable C. */
#ifndef DG_ISOCHRONOUS_SILENT_DECIDE_H
#define DG_ISOCHRONOUS_SILENT_DECIDE_H

#include "isochronous/lane_attempt.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS

/* --- the first stage: 16 bits of a = H g / c ----------------------------------------------------- */

/** Return the mask of the tick's upper 16 bits: those that its bytes have, but not the tick. */
static inline uint16_t dg_silent_of_tick(unsigned block_bits)
{
    return block_bits >= 16 ? 0xFFFF : (uint16_t)(0xFFFFu << (16 - block_bits));
}

/** Return 65535 exp(-tau q / 2^17), about. k: (tau/2)^j / j!, in units of 2^-16. */
DG_LANE_INLINE uint32_t dg_silent_half_exponential(uint32_t q, const uint16_t k[5])
{
    uint32_t y = q * k[4] >> 16;
    y = q * (k[3] - y) >> 16;
    y = q * (k[2] - y) >> 16;
    y = q * (k[1] - y) >> 16;
    y = q * (k[0] - y) >> 16;
    return 65535 - y;
}

/** Return 2^16 a, about. base and slope are not negative; q < 2^16 is the tick's upper 16 bits as a fraction. */
DG_LANE_INLINE int32_t dg_silent_arc(int32_t base, int32_t slope, int32_t bulge, uint32_t q,
                                     dg_silent_shape shape, const uint16_t k[5])
{
    if (shape == DG_SILENT_PARABOLA) {
        const int32_t bow = (int32_t)(q * (65535 - q) >> 16);
        const int32_t v = base - (int32_t)((uint32_t)slope * q >> 16) + (bulge * bow >> 16);
        return v < 0 ? 0 : v > 65535 ? 65535 : v;
    }
    if (shape == DG_SILENT_EXPONENTIAL) {
        const uint32_t y = dg_silent_half_exponential(q, k);
        return (int32_t)((uint32_t)base * (y * y >> 16) >> 16);
    }
    return base;
}

#endif
#endif
