#include "sampler/prepare.h"

#include "base/memory.h"

#include <mpfr.h>
#include <stdlib.h>

/** Build lanes. Returns: as dg_sampler_build. */
static dg_status build_lanes(dg_lanes **out, const dg_law *law, const dg_options *options)
{
#if DG_HAVE_WORDS
    if (law->kind >= DG_DISCRETE_LAPLACE) {
        DG_TRY(dg_memory_at_hand(law->room_bytes));
        return dg_lanes_build(out, law, options->isa);
    }
#endif
    (void)law, (void)options;
    *out = NULL;
    return DG_ERR_PARAMETER;
}

static void release_lanes(dg_lanes *lanes)
{
#if DG_HAVE_WORDS
    dg_lanes_release(lanes);
#endif
    (void)lanes;
}

/** Take the method that DG_AUTO means for the law: it depends on nothing else. */
static dg_status build_any(dg_sampler *to, const dg_options *options)
{
    const dg_status status = build_lanes(&to->lanes, to->law, options);
    if (status == DG_OK) {
        to->method = DG_ISOCHRONOUS;
        return DG_OK;
    }
    to->method = to->law->kind == DG_GENERALIZED_GAUSSIAN ? DG_CELLS : DG_REFERENCE;
    return status == DG_ERR_PARAMETER ? DG_OK : status;
}

static dg_status build(dg_sampler *to, const dg_options *options)
{
    if (to->method == DG_AUTO) {
        DG_TRY(build_any(to, options));
    } else if (to->method == DG_ISOCHRONOUS) {
        DG_TRY(build_lanes(&to->lanes, to->law, options));
    }
    if (to->method == DG_REFERENCE) {
        return to->law->kind == DG_GENERALIZED_GAUSSIAN ? DG_ERR_PARAMETER : DG_OK;
    }
    if (to->method == DG_CELLS) {
        return to->law->kind < DG_DISCRETE_LAPLACE
                   ? DG_ERR_PARAMETER
                   : dg_table_build(&to->table, to->law, options->index_bits, options->block_bits,
                                    options->isa, NULL);
    }
    return to->lanes != NULL ? DG_OK : DG_ERR_PARAMETER;
}

dg_status dg_sampler_build(dg_sampler **out, dg_law *law, dg_method method,
                           const dg_options *options)
{
    *out = NULL;
    dg_sampler *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return DG_ERR_NOMEM;
    }
    *made = (dg_sampler){.law = law, .method = method};
    const dg_status status = build(made, options);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (status != DG_OK) {
        made->law = NULL;
        dg_sampler_free(made);
        return status;
    }
    *out = made;
    return DG_OK;
}

void dg_sampler_free(dg_sampler *sampler)
{
    if (sampler != NULL) {
        release_lanes(sampler->lanes);
        dg_table_release(sampler->table);
        dg_law_release(sampler->law);
        free(sampler);
    }
}
