/* What draw.R calls: R passes vectors, the library takes numbers and callbacks, so a package of R has lines like
 * these. Whole numbers below 2^53 go back as doubles. */
#include <R.h>
#include <Rinternals.h>

#include "tape.h"

SEXP draw_in_r(SEXP kind, SEXP method, SEXP n_draws, SEXP bytes)
{
    const uint8_t *const b = RAW(bytes);
    const dg_parameters law = {{b, 8},      {b + 8, 8},  {b + 16, 8},
                               {b + 24, 8}, {b + 32, 8}, {b + 40, 8}};
    dg_integer tape = {b + 48, (size_t)XLENGTH(bytes) - 48};
    const dg_source source = {DG_SOURCE_CALLER, read_tape, &tape};
    const dg_method way = (dg_method)asInteger(method);
    const size_t n = (size_t)asInteger(n_draws);
    int64_t *const out = (int64_t *)R_alloc(n, sizeof *out);
    dg_sampler *sampler;
    dg_status status = dg_sampler_new(&sampler, (dg_law_kind)asInteger(kind), &law);
    if (status == DG_OK && way != DG_AUTO) {
        status = dg_sampler_fill(out, n, DG_INT64, way, sampler, NULL, &source);
    }
    for (size_t i = 0; status == DG_OK && way == DG_AUTO && i < n; i++) {
        out[i] = dg_sampler_draw(way, sampler, &source);
    }
    dg_sampler_free(sampler);
    if (status != DG_OK || tape.n_bytes > 0) {
        error("status %d", (int)status);
    }
    SEXP drawn = PROTECT(allocVector(REALSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++) {
        REAL(drawn)[i] = (double)out[i];
    }
    UNPROTECT(1);
    return drawn;
}
