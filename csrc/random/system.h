/* The operating system's randomness: one file for each system, of which CMake takes one. */
#ifndef DG_RANDOM_SYSTEM_H
#define DG_RANDOM_SYSTEM_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** Read n bytes from the operating system's generator.
 *
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept; out may be written in part).
 */
dg_status dg_system_random(uint8_t *out, size_t n);

#endif
