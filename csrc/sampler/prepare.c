#include "sampler/prepare.h"

#include "base/memory.h"

#include <mpfr.h>
#include <stdlib.h>

static void release_silent(dg_silent *silent)
{
#if DG_HAVE_WORDS
    dg_silent_free(silent);
#endif
    (void)silent;
}

/** Build what isochronous draws need. Returns: as dg_sampler_build. */
static dg_status build_silent(dg_silent **out, const dg_law *law, const dg_options *options)
{
    *out = NULL;
#if DG_HAVE_WORDS
    if (law->kind >= DG_DISCRETE_LAPLACE) {
        DG_TRY(dg_memory_available(law->room_bytes));
        DG_TRY(dg_silent_build(out, law));
        dg_silent_dispatch(*out, options->isa);
        return DG_OK;
    }
#endif
    (void)law, (void)options;
    return DG_ERR_METHOD;
}

/** Build what a method needs. Returns: as dg_sampler_build. */
static dg_status build(dg_sampler *to, dg_method method, const dg_options *options)
{
    to->method = method;
    switch (method) {
    case DG_REFERENCE:
        return to->law->kind == DG_GENERALIZED_GAUSSIAN ? DG_ERR_METHOD : DG_OK;
    case DG_CELLS:
        if (to->law->kind < DG_DISCRETE_LAPLACE) {
            return DG_ERR_METHOD;
        }
        return dg_table_build(&to->table, to->law, options->index_bits, options->block_bits,
                              options->isa);
    case DG_ISOCHRONOUS:
        return build_silent(&to->silent, to->law, options);
    default:
        return DG_ERR_METHOD;
    }
}

/** Build what the law's first method needs, in the order of DG_AUTO. */
static dg_status build_any(dg_sampler *to, const dg_options *options)
{
    static const dg_method methods[] = {DG_ISOCHRONOUS, DG_REFERENCE, DG_CELLS};
    dg_status status = DG_ERR_METHOD;
    for (size_t i = 0; i < 3 && status == DG_ERR_METHOD; i++) {
        status = build(to, methods[i], options);
    }
    return status;
}

dg_status dg_sampler_build(dg_sampler **out, dg_law *law, dg_method method,
                           const dg_options *options)
{
    *out = NULL;
    dg_sampler *sampler = malloc(sizeof *sampler);
    if (sampler == NULL) {
        return DG_ERR_NOMEM;
    }
    *sampler = (dg_sampler){.law = law};
    const dg_status status =
        method == DG_AUTO ? build_any(sampler, options) : build(sampler, method, options);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (status != DG_OK) {
        free(sampler);
        return status;
    }
    *out = sampler;
    return DG_OK;
}

void dg_sampler_free(dg_sampler *sampler)
{
    if (sampler != NULL) {
        release_silent(sampler->silent);
        dg_table_release(sampler->table);
        dg_law_free(sampler->law);
        free(sampler);
    }
}
