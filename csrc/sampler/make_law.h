/* Laws from parameters. This is the only place in C that checks parameters. */
#ifndef DG_SAMPLER_MAKE_LAW_H
#define DG_SAMPLER_MAKE_LAW_H

#include "base/status.h"
#include "law/law.h"

/** Make a law from parameters as dg_sampler_new takes them.
 *
 *  Ensures:   DG_OK -> *law is a new law, which the caller frees with dg_law_free; otherwise *law is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | a status of a law's argument.
 */
dg_status dg_law_new(dg_law **law, dg_law_kind kind, const char *parameter, const char *mu,
                     const char *beta, dg_arithmetic arithmetic);

/** Return the status of a parameter that breaks the rule of its kind. */
dg_status dg_law_refused(dg_law_kind kind);

/** Make a law from integers, in lowest terms: a, b, c, d, and beta's two. Otherwise as dg_law_new. */
dg_status dg_law_make(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic, mpz_t value[6]);

#endif
