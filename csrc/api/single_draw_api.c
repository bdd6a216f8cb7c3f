/* Isochronous samplers from outside: making, freeing, looking inside, and single draws. */
#include "base/memory.h"
#include "isochronous/sampler.h"

#include <errno.h>
#include <mpfr.h>
#include <string.h>

#if DG_HAVE_WORDS

dg_status dg_isochronous_new(dg_isochronous **sampler, const dg_law *law)
{
    *sampler = NULL;
    if (law->kind < DG_DISCRETE_LAPLACE) {
        return DG_ERR_PARAMETER;
    }
    DG_TRY(dg_memory_at_hand(law->room_bytes));
    dg_status status = dg_isochronous_build(sampler, DG_BLOCKS_BITS, law);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return status;
}

void dg_isochronous_free(dg_isochronous *sampler)
{
    dg_isochronous_release(sampler);
}

void dg_isochronous_describe(dg_isochronous_info *info, const dg_isochronous *sampler)
{
    *info = (dg_isochronous_info){
        .n_core = sampler->n_core,
        .n_tail = sampler->n_tail,
        .block_bits = sampler->block_bits,
        .attempt_bytes = DG_ATTEMPT_BYTES + sampler->low_bytes,
        .fits_int64 = sampler->fits_int64,
    };
}

/** Wipe the stream on the way out. */
static void finish(dg_bits *bits)
{
    const int kept_errno = errno;
    dg_bits_close(bits);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* else a thread that ends loses them */
    errno = kept_errno;
}

int64_t dg_isochronous_draw(const dg_isochronous *sampler, const dg_source *source)
{
    if (!sampler->fits_int64) {
        return INT64_MIN + DG_ERR_RANGE;
    }
    dg_bits bits;
    int64_t value;
    dg_bits_open(&bits, source);
    const dg_status status = dg_isochronous_value(&value, sampler, &bits);
    finish(&bits);
    return __builtin_expect(status != DG_OK, 0) ? INT64_MIN + (int64_t)status : value;
}

dg_status dg_isochronous_draw_wide(uint8_t *out, size_t n_bytes, const dg_isochronous *sampler,
                                   const dg_source *source)
{
    dg_bits bits;
    dg_bits_open(&bits, source);
    const dg_status status = dg_isochronous_bytes(out, n_bytes, sampler, &bits);
    finish(&bits);
    if (status != DG_OK && n_bytes > 0) {
        memset(out, 0, n_bytes);
    }
    return status;
}

#else /* without 128-bit words there are no isochronous samplers: only _new is reached */

dg_status dg_isochronous_new(dg_isochronous **sampler, const dg_law *law)
{
    (void)law;
    *sampler = NULL;
    return DG_ERR_PARAMETER;
}

void dg_isochronous_free(dg_isochronous *sampler)
{
    (void)sampler;
}

void dg_isochronous_describe(dg_isochronous_info *info, const dg_isochronous *sampler)
{
    (void)sampler;
    *info = (dg_isochronous_info){0};
}

int64_t dg_isochronous_draw(const dg_isochronous *sampler, const dg_source *source)
{
    (void)sampler, (void)source;
    return INT64_MIN + DG_ERR_PARAMETER;
}

dg_status dg_isochronous_draw_wide(uint8_t *out, size_t n_bytes, const dg_isochronous *sampler,
                                   const dg_source *source)
{
    (void)out, (void)n_bytes, (void)sampler, (void)source;
    return DG_ERR_PARAMETER;
}

#endif
