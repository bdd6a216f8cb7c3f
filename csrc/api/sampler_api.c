/* Samplers from outside: making, choosing, fills, single draws, looking inside. */
#include "api/draw_items.h"
#include "api/run.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/wipe.h"
#include "cells/draw.h"
#include "sampler/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

dg_status dg_sampler_new(dg_sampler **sampler, dg_law_kind kind, const dg_parameters *parameters)
{
    dg_law *law;
    *sampler = NULL;
    DG_TRY(dg_law_new(&law, kind, DG_ARITHMETIC_AUTO, parameters));
    const dg_status status = dg_sampler_build(sampler, law);
    if (status != DG_OK) {
        dg_law_free(law);
    }
    return status;
}

size_t dg_sampler_wide_bytes(const dg_sampler *sampler)
{
    return sampler->law->wide_bytes;
}

dg_status dg_sampler_choose(dg_method *way, size_t n, dg_method method, dg_sampler *sampler,
                            const dg_run *run, const dg_source *source)
{
    dg_way chosen;
    DG_TRY(dg_way_begin(&chosen, n, method, sampler, run, source));
    *way = chosen.method;
    dg_way_end(&chosen);
    return DG_OK;
}

dg_status dg_way_fill(void *out, size_t n, dg_dtype dtype, const dg_sums *sums, const dg_way *way,
                      dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    dg_fill fill;
    dg_way_count(n, way, sampler);
    if (way->table != NULL) {
        fill = dg_table_filling(out, n, dtype, way->table, source);
    } else if (way->lanes != NULL) {
        fill = dg_lanes_filling(out, n, dtype, way->lanes, source);
    } else {
        fill = dg_law_filling(out, n, dtype, sampler->law, source);
    }
    fill.sums = sums;
    return dg_fill_run(&fill, run);
}

/** Choose, fill, and add integers where there are any. */
static dg_status fill_and_add(void *out, size_t n, dg_dtype dtype, const dg_sums *sums,
                              dg_method method, dg_sampler *sampler, const dg_run *run,
                              const dg_source *source)
{
    dg_way way;
    DG_TRY(dg_way_begin(&way, n, method, sampler, run, source));
    const dg_status status = dg_way_fill(out, n, dtype, sums, &way, sampler, run, source);
    dg_way_end(&way);
    return status;
}

dg_status dg_sampler_fill(void *out, size_t n, dg_dtype dtype, dg_method method,
                          dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    return dg_is_dtype(dtype) ? fill_and_add(out, n, dtype, NULL, method, sampler, run, source)
                              : DG_ERR_PARAMETER;
}

dg_status dg_sampler_add(void *out, size_t n, const dg_addend *addend, dg_method method,
                         dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    const dg_sums sums = {.addend = *addend, .stride = 1, .dtype = DG_INT64};
    return dg_is_dtype(addend->dtype) && (unsigned)addend->overflow <= DG_REDUCE
               ? fill_and_add(out, n, DG_INT64, &sums, method, sampler, run, source)
               : DG_ERR_PARAMETER;
}

/** As dg_way_fill, integers of any size. Requires: n_bytes as for dg_sampler_fill_wide. */
static dg_status way_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_way *way,
                               dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    dg_way_count(n, way, sampler);
    if (way->table != NULL) {
        return dg_table_fill_wide(out, n, n_bytes, way->table, run, source);
    }
    if (way->lanes != NULL) {
        return dg_lanes_fill_wide(out, n, n_bytes, way->lanes, run, source);
    }
    return dg_law_fill_wide(out, n, n_bytes, sampler->law, run, source);
}

dg_status dg_sampler_fill_wide(uint8_t *out, size_t n, size_t n_bytes, dg_method method,
                               dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    if (n_bytes < sampler->law->wide_bytes) {
        return DG_ERR_RANGE;
    }
    dg_way way;
    DG_TRY(dg_way_begin(&way, n, method, sampler, run, source));
    const dg_status status = way_fill_wide(out, n, n_bytes, &way, sampler, run, source);
    dg_way_end(&way);
    return status;
}

/** Draw pieces of at most `most` draws into a buffer, and have each taken. */
static dg_status stream(uint8_t *buffer, size_t most, dg_take take, void *context, size_t n,
                        const dg_way *way, dg_sampler *sampler, const dg_run *run,
                        const dg_source *source)
{
    const size_t n_bytes = sampler->law->wide_bytes;
    for (size_t first = 0; first < n; first += most) {
        const size_t m = n - first < most ? n - first : most;
        if (first > 0 && run != NULL && run->pause != NULL && run->pause(run->context) != 0) {
            return DG_ERR_STOPPED;
        }
        DG_TRY(way_fill_wide(buffer, m, n_bytes, way, sampler, run, source));
        DG_TRY(take(context, first, m, n_bytes, buffer));
    }
    return DG_OK;
}

dg_status dg_sampler_stream(dg_take take, void *context, size_t n, dg_method method,
                            dg_sampler *sampler, const dg_run *run, const dg_source *source)
{
    enum { BUFFER_BYTES = 1 << 20 };
    dg_way way;
    DG_TRY(dg_way_begin(&way, n, method, sampler, run, source));
    /* whole chunks, so that all use the bits that one fill would use */
    const size_t chunk = way.table != NULL ? dg_table_chunk(way.table) : 1;
    const size_t n_bytes = sampler->law->wide_bytes, chunks = BUFFER_BYTES / n_bytes / chunk;
    const size_t repaid = chunks > 0 ? chunks * chunk : chunk, most = n < repaid ? n : repaid;
    uint8_t *buffer = n > 0 ? malloc(most * n_bytes) : NULL;
    dg_status status = n > 0 && buffer == NULL ? DG_ERR_NOMEM : DG_OK;
    int64_t process, after = dg_process();
    do {
        process = after;
        if (status == DG_OK) {
            status = stream(buffer, most, take, context, n, &way, sampler, run, source);
        }
        after = dg_process();
    } while (status == DG_OK && after != process);
    const int kept_errno = errno;
    dg_way_end(&way);
    if (buffer != NULL) {
        dg_wipe(buffer, most * n_bytes);
    }
    free(buffer);
    errno = kept_errno;
    return status;
}

/** Find out how single draws are made.
 *
 *  Ensures:   DG_OK -> *one is the sampler that draws; NULL: a fill does, by *method.
 */
static dg_status choose_one(const dg_isochronous **one, dg_method *method, dg_sampler *sampler)
{
    *one = NULL;
    if (*method != DG_AUTO && *method != DG_ISOCHRONOUS) {
        return DG_OK;
    }
    const dg_status status = dg_sampler_one(one, sampler);
    if (status != DG_ERR_PARAMETER || *method == DG_ISOCHRONOUS) {
        return status;
    }
    *method = sampler->prices.has_reference ? DG_REFERENCE : DG_CELLS;
    return DG_OK;
}

dg_status dg_sampler_draw_wide(uint8_t *out, size_t n_bytes, dg_method method, dg_sampler *sampler,
                               const dg_source *source)
{
    const dg_isochronous *one;
    dg_status status =
        n_bytes < sampler->law->wide_bytes ? DG_ERR_RANGE : choose_one(&one, &method, sampler);
    if (status == DG_OK && one != NULL) {
        dg_count(&sampler->by_one, 1);
        return dg_isochronous_draw_wide(out, n_bytes, one, source);
    }
    if (status == DG_OK) {
        status = dg_sampler_fill_wide(out, 1, n_bytes, method, sampler, NULL, source);
    }
    if (status != DG_OK && n_bytes > 0) {
        memset(out, 0, n_bytes);
    }
    return status;
}

int64_t dg_sampler_draw(dg_method method, dg_sampler *sampler, const dg_source *source)
{
    const dg_isochronous *one;
    int64_t drawn = 0;
    dg_status status = dg_sampler_fits_int64(sampler) ? choose_one(&one, &method, sampler)
                                                      : DG_ERR_RANGE; /* before it is drawn */
    if (status == DG_OK && one != NULL) {
        dg_count(&sampler->by_one, 1);
        return dg_isochronous_draw(one, source);
    }
    if (status == DG_OK) {
        status = dg_sampler_fill(&drawn, 1, DG_INT64, method, sampler, NULL, source);
    }
    if (status == DG_OK && drawn < DG_LEAST_DRAW) {
        status = DG_ERR_RANGE;
    }
    return status == DG_OK ? drawn : INT64_MIN + (int64_t)status;
}

int dg_sampler_fits_int64(const dg_sampler *sampler)
{
    /* scale or sigma below 2^54, centre below 2^61: an isochronous sampler's draws fit, too
     * (isochronous/sampler.h), and others reach 2^62 with a probability below exp(-2^8) */
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

void dg_sampler_describe(dg_sampler_info *info, const dg_sampler *sampler)
{
    const dg_ticket ticket = atomic_load_explicit(&sampler->ticket, memory_order_relaxed);
    const dg_table *table = dg_tables_enter(ticket);
    *info = (dg_sampler_info){
        .by_reference = atomic_load_explicit(&sampler->by_reference, memory_order_relaxed),
        .by_cells = atomic_load_explicit(&sampler->by_cells, memory_order_relaxed),
        .by_lanes = atomic_load_explicit(&sampler->by_lanes, memory_order_relaxed),
        .by_one = atomic_load_explicit(&sampler->by_one, memory_order_relaxed),
        .n_built = atomic_load_explicit(&sampler->n_built, memory_order_relaxed),
        .has_lanes = atomic_load_explicit(&sampler->lanes, memory_order_relaxed) != NULL,
        .has_table = table != NULL,
        .has_one = atomic_load_explicit(&sampler->one, memory_order_relaxed) != NULL,
        .uses_words = sampler->law->uses_words,
        .table_bytes = table == NULL ? 0 : dg_table_bytes(table),
        .chunk = atomic_load_explicit(&sampler->chunk, memory_order_relaxed),
    };
    if (table != NULL) {
        dg_tables_leave(ticket);
    }
}
