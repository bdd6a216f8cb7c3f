/* Calls of the caller's pause function in loops that draw nothing. */
#ifndef DG_API_PAUSE_H
#define DG_API_PAUSE_H

#include "discretegauss.h"

#include <stddef.h>

/** Pause every 2^22 steps of a loop: after some 20 ms if a step takes some nanoseconds. Returns: DG_OK |
 *  DG_ERR_STOPPED. */
static inline dg_status dg_pause_at(size_t step, const dg_run *run)
{
    enum { STEPS = 1 << 22 };
    return step % STEPS == STEPS - 1 && run != NULL && run->pause != NULL &&
                   run->pause(run->context) != 0
               ? DG_ERR_STOPPED
               : DG_OK;
}

#endif
