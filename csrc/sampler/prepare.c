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

/** Return from how many draws on cells pay, though the call first builds their table. They do not pay before: AVX-512
 *  draws isochronously in 1.3 ns if blocks have one integer, and in 1.8 to 2.5 ns otherwise. By cells it takes 0.4 to
 *  1 ns, and a table takes 0.05 to 2 ms, the longer the wider the law. Algorithms 1-3 take a microsecond. */
static size_t cells_from(const dg_sampler *sampler)
{
#if DG_HAVE_WORDS
    enum { SHORT_BITS = 2 }; /* sigma up to 53.9 */
    if (sampler->method == DG_ISOCHRONOUS) {
        const unsigned bits = sampler->silent->block_bits;
        const bool is_short = bits <= SHORT_BITS || sampler->law->kind == DG_DISCRETE_LAPLACE;
        return (size_t)1 << (bits == 0 ? 16 : is_short ? 18 : 19);
    }
#endif
    (void)sampler;
    return (size_t)1 << 12;
}

/** Prepare for calls of many draws, if the law has cells and another method. Every such law has a table: only laws of a
 *  large beta have none, and these have no other method, either. */
static dg_status prepare_bulk(dg_sampler *to, const dg_options *options)
{
    if (to->method == DG_CELLS || to->law->kind < DG_DISCRETE_LAPLACE) {
        return DG_OK;
    }
    to->bulk = malloc(sizeof *to->bulk);
    if (to->bulk == NULL) {
        return DG_ERR_NOMEM;
    }
    to->bulk->from = cells_from(to);
    to->bulk->options = *options;
    atomic_init(&to->bulk->cells, NULL);
    return DG_OK;
}

/** Free everything but the law. */
static void release(dg_sampler *sampler)
{
    if (sampler != NULL) {
        if (sampler->bulk != NULL) {
            release(atomic_load(&sampler->bulk->cells));
            free(sampler->bulk);
        }
        release_silent(sampler->silent);
        dg_table_release(sampler->table);
        free(sampler);
    }
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
    dg_status status =
        method == DG_AUTO ? build_any(sampler, options) : build(sampler, method, options);
    if (status == DG_OK && method == DG_AUTO) {
        status = prepare_bulk(sampler, options);
    }
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (status != DG_OK) {
        release(sampler);
        return status;
    }
    *out = sampler;
    return DG_OK;
}

void dg_sampler_free(dg_sampler *sampler)
{
    if (sampler != NULL) {
        dg_law_free(sampler->law); /* nothing that is released looks at it */
        release(sampler);
    }
}

dg_method dg_sampler_method(const dg_sampler *sampler, size_t n)
{
    const dg_bulk *bulk = sampler->bulk;
    return bulk != NULL && n >= bulk->from ? DG_CELLS : sampler->method;
}

dg_status dg_sampler_for(const dg_sampler **by, size_t n, const dg_sampler *sampler)
{
    dg_bulk *bulk = sampler->bulk;
    *by = sampler;
    if (bulk == NULL || n < bulk->from) {
        return DG_OK;
    }
    /* Threads that come at once each build this table, and one of them is kept. None waits for another: in the child of
     * a fork the other would not exist. */
    dg_sampler *cells = atomic_load(&bulk->cells);
    if (cells == NULL) {
        dg_sampler *made;
        DG_TRY(dg_sampler_build(&made, sampler->law, DG_CELLS, &bulk->options));
        if (atomic_compare_exchange_strong(&bulk->cells, &cells, made)) {
            cells = made;
        } else {
            release(made); /* another thread was first, and `cells` is what it made */
        }
    }
    *by = cells;
    return DG_OK;
}
