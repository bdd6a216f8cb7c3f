/* Called by draw.R: R passes vectors, the library takes texts and callbacks, so a package of R needs such lines.
 * Whole numbers below 2^53 go back as doubles. */
#include <R.h>
#include <Rinternals.h>

#include "tape.h"

SEXP draw_in_r(SEXP kind, SEXP method, SEXP n_draws, SEXP texts, SEXP bytes)
{
    tape from = {RAW(bytes), (size_t)XLENGTH(bytes)};
    const dg_source source = {DG_SOURCE_CALLER, read_tape, &from};
    const size_t n = (size_t)asInteger(n_draws);
    int64_t *const out = (int64_t *)R_alloc(n, sizeof *out);
    dg_sampler *sampler;
    dg_status status = dg_sampler_new(&sampler, (dg_law_kind)asInteger(kind),
                                      CHAR(STRING_ELT(texts, 0)), CHAR(STRING_ELT(texts, 1)),
                                      CHAR(STRING_ELT(texts, 2)), (dg_method)asInteger(method));
    if (status == DG_OK) {
        status = dg_sampler_fill(out, n, DG_INT64, sampler, NULL, &source);
    }
    dg_sampler_free(sampler);
    if (status != DG_OK || from.n_left > 0) {
        error("%s", dg_status_text(status));
    }
    SEXP drawn = PROTECT(allocVector(REALSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++) {
        REAL(drawn)[i] = (double)out[i];
    }
    UNPROTECT(1);
    return drawn;
}
