/* What draw.R calls: R passes vectors, the library takes numbers and callbacks, so a package of R has lines like
 * these. Whole numbers below 2^53 come and go as doubles. */
#include "draw.h"
#include <R.h>
#include <Rinternals.h>

SEXP draw_in_r(SEXP numbers, SEXP bytes)
{
    int64_t number[N_NUMBERS];
    for (int i = 0; i < N_NUMBERS; i++) {
        number[i] = (int64_t)REAL(numbers)[i];
    }
    const size_t n = (size_t)REAL(numbers)[N_NUMBERS];
    int64_t *const out = (int64_t *)R_alloc(n, sizeof *out);
    const dg_status status = draw(out, n, number, (tape){RAW(bytes), (size_t)XLENGTH(bytes)});
    if (status != DG_OK) {
        error("status %d", (int)status);
    }
    SEXP drawn = PROTECT(allocVector(REALSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++) {
        REAL(drawn)[i] = (double)out[i];
    }
    UNPROTECT(1);
    return drawn;
}
