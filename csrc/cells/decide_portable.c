/* dg_decide_each in plain C, for every machine, one attempt after the other. */
#include "cells/decide.h"

void dg_decide_each_portable(uint8_t *outcome, uint64_t *y, const uint16_t *special,
                             const dg_partial *partial, const uint8_t *heights, size_t n,
                             const dg_table *table)
{
    for (size_t i = 0; i < n; i++) {
        dg_place place = {0, y[i]};
        bool accepted;
        const bool told = dg_decide_at_once(&place, &accepted, table->n_coded + special[i],
                                            &partial[i], dg_height_at(heights, i), table);
        y[i] = ((uint64_t)place.block << table->tick_bits) + place.tick;
        outcome[i] = told ? (accepted ? DG_ACCEPTED : DG_FAILED) : DG_IN_DOUBT;
    }
}
