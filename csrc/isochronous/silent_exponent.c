/* Places, and exponents there: for the builder, arcs and the definition. */
#include "isochronous/lane_power.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS

void dg_silent_set_y(mpz_t y, uint64_t z, unsigned left)
{
    mpz_import(y, 1, -1, sizeof z, 0, 0, &z);
    if (left) {
        mpz_com(y, y);
    }
}

uint64_t dg_silent_exponent(uint64_t z, unsigned left, const dg_silent *silent)
{
    const dg_lanes *lanes = &silent->lanes;
    const uint64_t on_left = 0 - (uint64_t)left;
    if (z >> (62 - lanes->units_up) != 0) { /* beyond all distances that lanes tell apart */
        return DG_SILENT_FARTHEST;
    }
    const uint64_t exponent = law_exponent_at(z, on_left, lanes);
    if ((int64_t)exponent < 0) { /* a power next to 0 */
        return 0;
    }
    return exponent < DG_SILENT_FARTHEST ? exponent : DG_SILENT_FARTHEST;
}

#endif
