/* Samplers from outside. */
#include "discretegauss.h"

#include <string.h>

/* Being written: each reports what a law that has no such way does. */

dg_status dg_sampler_new(dg_sampler **sampler, dg_law_kind kind, const dg_parameters *parameters)
{
    (void)kind, (void)parameters;
    *sampler = NULL;
    return DG_ERR_PARAMETER;
}

void dg_sampler_free(dg_sampler *sampler)
{
    (void)sampler;
}

size_t dg_sampler_wide_bytes(const dg_sampler *sampler)
{
    (void)sampler;
    return 0;
}

dg_status dg_sampler_choose(dg_method *way, size_t n, dg_method method, dg_sampler *sampler,
                            const dg_run *run, const dg_source *source)
{
    (void)n, (void)sampler, (void)run, (void)source;
    *way = method;
    return DG_ERR_PARAMETER;
}

dg_status dg_sampler_fill(void *out, size_t n, dg_dtype dtype, dg_method method,
                          dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    (void)out, (void)n, (void)dtype, (void)method, (void)sampler, (void)run, (void)source;
    return DG_ERR_PARAMETER;
}

dg_status dg_sampler_fill_wide(uint8_t *out, size_t n, size_t n_bytes, dg_method method,
                               dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    (void)out, (void)n, (void)n_bytes, (void)method, (void)sampler, (void)run, (void)source;
    return DG_ERR_PARAMETER;
}

dg_status dg_sampler_draw_wide(uint8_t *out, size_t n_bytes, dg_method method, dg_sampler *sampler,
                               const dg_source *source)
{
    (void)out, (void)n_bytes, (void)method, (void)sampler, (void)source;
    return DG_ERR_PARAMETER;
}

int64_t dg_sampler_draw(dg_method method, dg_sampler *sampler, const dg_source *source)
{
    (void)method, (void)sampler, (void)source;
    return INT64_MIN + DG_ERR_PARAMETER;
}

int dg_sampler_fits_int64(const dg_sampler *sampler)
{
    (void)sampler;
    return 0;
}

void dg_sampler_describe(dg_sampler_info *info, const dg_sampler *sampler)
{
    (void)sampler;
    memset(info, 0, sizeof *info);
}

size_t dg_tables_bytes(void)
{
    return 0;
}

size_t dg_tables_budget(void)
{
    return 0;
}

void dg_tables_set_budget(size_t n_bytes)
{
    (void)n_bytes;
}
