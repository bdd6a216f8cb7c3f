/* Samplers from outside: making, fills, facts. */
#include "api/draw_items.h"
#include "api/run.h"
#include "base/dtype.h"
#include "base/isa.h"
#include "base/status.h"
#include "cells/draw.h"
#include "sampler/prepare.h"

dg_status dg_sampler_new_with(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                              const char *mu, const char *beta, dg_method method,
                              const dg_options *options)
{
    static const dg_options usual = {DG_ARITHMETIC_AUTO, DG_ISA_AUTO, DG_INDEX_BITS, -1};
    const dg_options *with = options == NULL ? &usual : options;
    dg_law *law;
    *sampler = NULL;
    if (!dg_isa_available(with->isa) || with->index_bits < 4 || with->index_bits > DG_INDEX_BITS ||
        with->block_bits > DG_MAX_PARAMETER_BITS) {
        return DG_ERR_PARAMETER;
    }
    DG_TRY(dg_law_new(&law, kind, parameter, mu, beta, with->arithmetic));
    const dg_status status = dg_sampler_build(sampler, law, method, with);
    if (status != DG_OK) {
        dg_law_free(law);
    }
    return status;
}

dg_status dg_sampler_new(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                         const char *mu, const char *beta, dg_method method)
{
    return dg_sampler_new_with(sampler, kind, parameter, mu, beta, method, NULL);
}

dg_method dg_sampler_method(const dg_sampler *sampler)
{
    return sampler->method;
}

size_t dg_sampler_wide_bytes(const dg_sampler *sampler)
{
    return sampler->law->wide_bytes;
}

size_t dg_sampler_chunk(const dg_sampler *sampler)
{
    return sampler->method == DG_CELLS ? dg_table_chunk(sampler->table) : 1;
}

/** A fill by the sampler's method, to be run. Requires: as dg_law_filling. */
static dg_fill filling(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                       const dg_source *source)
{
    switch (sampler->method) {
    case DG_CELLS:
        return dg_table_filling(out, n, dtype, sampler->table, source);
    case DG_ISOCHRONOUS:
        return dg_lanes_filling(out, n, dtype, sampler->lanes, source);
    default:
        return dg_law_filling(out, n, dtype, sampler->law, source);
    }
}

dg_status dg_sampler_fill(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                          const dg_run *run, const dg_source *source)
{
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_PARAMETER;
    }
    const dg_fill fill = filling(out, n, dtype, sampler, source);
    return dg_fill_run(&fill, run);
}

dg_status dg_sampler_add(void *out, size_t n, const dg_addend *addend, const dg_sampler *sampler,
                         const dg_run *run, const dg_source *source)
{
    if (!dg_is_dtype(addend->dtype) || (unsigned)addend->overflow > DG_REDUCE) {
        return DG_ERR_PARAMETER;
    }
    const dg_sums sums = {.addend = *addend, .stride = 1, .dtype = DG_INT64};
    dg_fill fill = filling(out, n, DG_INT64, sampler, source);
    fill.sums = &sums;
    return dg_fill_run(&fill, run);
}

dg_status dg_sampler_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_sampler *sampler,
                               const dg_run *run, const dg_source *source)
{
    if (n_bytes < sampler->law->wide_bytes) {
        return DG_ERR_RANGE;
    }
    switch (sampler->method) {
    case DG_CELLS:
        return dg_table_fill_wide(out, n, n_bytes, sampler->table, run, source);
    case DG_ISOCHRONOUS:
        return dg_lanes_fill_wide(out, n, n_bytes, sampler->lanes, run, source);
    default:
        return dg_law_fill_wide(out, n, n_bytes, sampler->law, run, source);
    }
}

int dg_sampler_fits_int64(const dg_sampler *sampler)
{
    /* scale or sigma below 2^54, centre below 2^61: isochronous draws fit, too (isochronous/lanes.h), and
     * others reach 2^62 with a probability below exp(-2^8) */
    enum { SCALE_BITS = 53, CENTRE_BITS = 61 };
    const dg_law *law = sampler->law;
    const size_t a = mpz_sizeinbase(law->a, 2), b = mpz_sizeinbase(law->b, 2);
    switch (law->kind) {
    case DG_BERNOULLI:
    case DG_BERNOULLI_EXP:
        return 1;
    case DG_UNIFORM_BELOW:
        return a <= 63;
    case DG_GEOMETRIC_EXP:
        return b <= a + SCALE_BITS;
    default:
        return a <= b + (law->kind == DG_DISCRETE_GAUSSIAN ? 2 * SCALE_BITS : SCALE_BITS) &&
               mpz_sizeinbase(law->c, 2) <= CENTRE_BITS;
    }
}
