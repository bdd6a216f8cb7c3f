/* Asking for memory before GMP and MPFR need it. They end the process when an allocation of theirs
 * fails; so whoever calls them asks first for as much as they may use.
 *
 * Not a promise: another thread may take it meanwhile, and a system that hands out more memory than
 * it has says nothing here. */
#ifndef DG_BASE_MEMORY_H
#define DG_BASE_MEMORY_H

#include "base/status.h"

#include <stddef.h>

/* To be asked for beside long operands. MPFR's constants and temporaries of a few hundred bits take
 * less than 16 KiB of it; the rest is what a C library adds before it gives the first byte: glibc
 * extends its heap by 128 KiB, and without so much takes a page for each small block. */
enum { DG_ROOM = 1 << 18 };

/** Whether n bytes can be had at this moment. Returns: DG_OK | DG_ERR_NOMEM. */
dg_status dg_memory_at_hand(size_t n);

#endif
