/* The silent engine by its definition, for tests alone: no method draws by it. */
#include "base/memory.h"
#include "base/status.h"
#include "isochronous/silent.h"
#include "sampler/prepare.h"

#include <mpfr.h>

dg_status dg_silent_fill(int64_t *out, size_t n, const dg_sampler *sampler, const dg_source *source)
{
#if DG_HAVE_WORDS
    dg_bits bits;
    dg_silent *silent;
    if (sampler->law->kind < DG_DISCRETE_LAPLACE) {
        return DG_ERR_METHOD;
    }
    DG_TRY(dg_memory_available(sampler->law->room_bytes));
    dg_status status = dg_silent_build(&silent, sampler->law);
    if (status == DG_OK) {
        dg_bits_open(&bits, source);
        status = dg_silent_draw(out, n, silent, &bits);
        dg_bits_close(&bits);
    }
    dg_silent_free(silent);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* a thread that ends would leak it */
    return status;
#else
    (void)out, (void)n, (void)sampler, (void)source;
    return DG_ERR_METHOD;
#endif
}
