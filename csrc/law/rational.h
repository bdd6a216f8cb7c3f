/* Rational numbers as text. */
#ifndef DG_LAW_RATIONAL_H
#define DG_LAW_RATIONAL_H

#include "base/status.h"

#include <gmp.h>
#include <stddef.h>

/** The statuses that name a number which is refused. */
typedef struct dg_refused {
    dg_status no_number, too_long;
} dg_refused;

/** Add to *n_bytes at least as many bytes as the integers of a text take.
 *
 *  Returns:   DG_OK | refused->too_long | refused->no_number: the text is not a number, or it is NULL.
 */
dg_status dg_rational_length(size_t *n_bytes, const char *text, const dg_refused *refused);

/** Read num/den, in lowest terms, den >= 1.
 *
 *  A text is an optional sign and one of: digits | digits "/" digits | digits "." digits. Digits are decimal, or
 *  hexadecimal behind "0x". Digits around "." are decimal.
 *
 *  Requires:  dg_rational_length returned DG_OK; num and den are initialised.
 *  Returns:   DG_OK | refused->no_number: the denominator is 0 | refused->too_long | DG_ERR_NOMEM.
 */
dg_status dg_rational_read(mpz_t num, mpz_t den, const char *text, const dg_refused *refused);

#endif
