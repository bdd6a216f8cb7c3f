/* Exact sums of 64-bit integers. */
#ifndef DG_API_ADD_H
#define DG_API_ADD_H

#include <stddef.h>
#include <stdint.h>

/** Add integers in place: to[i] += addend[i], modulo 2^64. Returns: 1 if some sum left int64, else 0. */
int dg_add(int64_t *to, const int64_t *addend, size_t n);

/** Add integers in place where there are any: as dg_add where is_null[i] is 0; where it is 1, to[i] = 0.
 *
 *  Returns:   1 if some sum that stays left int64, else 0.
 */
int dg_add_shown(int64_t *to, const int64_t *addend, const uint8_t *is_null, size_t n);

#endif
