/* Steady samplers from outside: making, freeing, looking inside, and single draws. */
#include "cells/steady.h"
#include "base/memory.h"

#include <errno.h>
#include <mpfr.h>
#include <string.h>

#if DG_HAVE_WORDS

dg_status dg_steady_new(dg_steady **steady, const dg_law *law)
{
    *steady = NULL;
    if (law->kind < DG_DISCRETE_LAPLACE) {
        return DG_ERR_PARAMETER;
    }
    DG_TRY(dg_memory_at_hand(law->room_bytes));
    dg_status status = dg_steady_build(steady, law);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return status;
}

void dg_steady_free(dg_steady *steady)
{
    dg_steady_release(steady);
}

void dg_steady_describe(dg_steady_info *info, const dg_steady *steady)
{
    *info = (dg_steady_info){
        .n_core = steady->n_core,
        .n_tail = steady->n_tail,
        .block_bits = steady->block_bits,
        .attempt_bytes = DG_ATTEMPT_BYTES + steady->low_bytes,
        .fits_int64 = steady->fits_int64,
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

int64_t dg_steady_draw(const dg_steady *steady, const dg_source *source)
{
    if (!steady->fits_int64) {
        return INT64_MIN + DG_ERR_RANGE;
    }
    dg_bits bits;
    int64_t value;
    dg_bits_open(&bits, source);
    const dg_status status = dg_steady_value(&value, steady, &bits);
    finish(&bits);
    return __builtin_expect(status != DG_OK, 0) ? INT64_MIN + (int64_t)status : value;
}

dg_status dg_steady_draw_wide(uint8_t *out, size_t n_bytes, const dg_steady *steady,
                              const dg_source *source)
{
    dg_bits bits;
    dg_bits_open(&bits, source);
    const dg_status status = dg_steady_bytes(out, n_bytes, steady, &bits);
    finish(&bits);
    if (status != DG_OK && n_bytes > 0) {
        memset(out, 0, n_bytes);
    }
    return status;
}

#else /* without 128-bit words there are no steady samplers: nothing but dg_steady_new is reached */

dg_status dg_steady_new(dg_steady **steady, const dg_law *law)
{
    (void)law;
    *steady = NULL;
    return DG_ERR_PARAMETER;
}

void dg_steady_free(dg_steady *steady)
{
    (void)steady;
}

void dg_steady_describe(dg_steady_info *info, const dg_steady *steady)
{
    (void)steady;
    *info = (dg_steady_info){0};
}

int64_t dg_steady_draw(const dg_steady *steady, const dg_source *source)
{
    (void)steady, (void)source;
    return INT64_MIN + DG_ERR_PARAMETER;
}

dg_status dg_steady_draw_wide(uint8_t *out, size_t n_bytes, const dg_steady *steady,
                              const dg_source *source)
{
    (void)out, (void)n_bytes, (void)steady, (void)source;
    return DG_ERR_PARAMETER;
}

#endif
