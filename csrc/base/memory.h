/* Asking for memory before GMP and MPFR need it. They end the process when an allocation of theirs
 * fails; so whoever calls them asks first for as much as they may use.
 *
 * Not a promise: another thread may take it meanwhile, and a system that hands out more memory than
 * it has says nothing here. */
#ifndef DG_BASE_MEMORY_H
#define DG_BASE_MEMORY_H

#include "base/status.h"

#include <stddef.h>

/* What GMP and MPFR take apart from long operands: MPFR's constants and temporaries of a few hundred
 * bits, and what blocks are rounded up to. */
enum { DG_ROOM = 16384 };

/** Whether n bytes can be had at this moment. Returns: DG_OK | DG_ERR_NOMEM. */
dg_status dg_memory_at_hand(size_t n);

#endif
