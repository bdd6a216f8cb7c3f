/* Checking for memory before GMP and MPFR need it. They end the process if an allocation fails, so code that
 * calls them checks first that it can have as much as they may use.
 *
 * The check is no promise: another thread may take the memory first, and a system that overcommits always says
 * yes. */
#ifndef DG_BASE_MEMORY_H
#define DG_BASE_MEMORY_H

#include "base/status.h"

#include <stddef.h>

/* Bytes to check for besides long operands. MPFR's constants and temporaries of a few hundred bits take less
 * than 16 KiB. The remainder is what a C library takes for its first byte: glibc extends its heap by 128 KiB,
 * and if it cannot, it takes a page for each small block. */
enum { DG_ROOM = 1 << 18 };

/** Check that n bytes can be allocated now. Returns: DG_OK | DG_ERR_NOMEM. */
dg_status dg_memory_available(size_t n);

#endif
