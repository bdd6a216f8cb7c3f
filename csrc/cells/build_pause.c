#include "base/memory.h"
#include "base/threads.h"
#include "cells/build.h"

bool dg_build_goes_on(dg_builder *build)
{
    const dg_run *run = build->run;
    if (run != NULL && run->pause != NULL && build->status == DG_OK &&
        dg_milliseconds() - build->last_pause >= DG_PAUSE_MILLISECONDS) {
        dg_enclosure_suspend(&build->e);
        const bool stops = run->pause(run->context) != 0;
        dg_enclosure_resume(&build->e);
        /* MPFR's room, which others may have taken meanwhile */
        build->status = stops ? DG_ERR_STOPPED : dg_memory_at_hand(build->table->law->room_bytes);
        build->last_pause = dg_milliseconds();
    }
    return build->status == DG_OK;
}
