/* The operating system's random generator. Each system has one file; CMake compiles one of them. */
#ifndef DG_RANDOM_SYSTEM_H
#define DG_RANDOM_SYSTEM_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** Read n bytes from the operating system's generator.
 *
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept; out may be partly written).
 */
dg_status dg_system_random(uint8_t *out, size_t n);

#endif
