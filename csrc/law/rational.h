/* Rational numbers as text. */
#ifndef DG_LAW_RATIONAL_H
#define DG_LAW_RATIONAL_H

#include "base/status.h"

#include <gmp.h>
#include <stddef.h>

/** Add to *n_bytes at least as many bytes as the integers of a text take.
 *
 *  Returns:   DG_OK | DG_ERR_TOO_LONG | DG_ERR_PARAMETER: the text is not a number, or it is NULL.
 */
dg_status dg_rational_length(size_t *n_bytes, const char *text);

/** Read num/den, in lowest terms, den >= 1.
 *
 *  A text is an optional sign and one of: digits | digits "/" digits | digits "." digits. Digits are decimal, or
 *  hexadecimal behind "0x". Digits around "." are decimal.
 *
 *  Requires:  dg_rational_length returned DG_OK; num and den are initialised.
 *  Returns:   DG_OK | DG_ERR_PARAMETER: the denominator is 0 | DG_ERR_TOO_LONG | DG_ERR_NOMEM.
 */
dg_status dg_rational_read(mpz_t num, mpz_t den, const char *text);

#endif
