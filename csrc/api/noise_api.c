/* Noise as a function of a key and of an item's number. */
#include "base/dtype.h"
#include "cells/noise_at.h"
#include "sampler/prepare.h"

#include <mpfr.h>

/** Whether noise is drawn from the sampler by number. */
static bool is_held(const dg_sampler *sampler)
{
    return sampler->method == DG_CELLS && dg_noise_is_held(sampler->table);
}

dg_status dg_noise_at(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                      uint64_t first_item, const uint8_t *key)
{
    if (!dg_is_dtype(dtype) || !is_held(sampler)) {
        return DG_ERR_PARAMETER;
    }
    const dg_status status = dg_table_noise_at(out, n, dtype, sampler->table, first_item, key);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* a thread that ends would lose it */
    return status;
}
