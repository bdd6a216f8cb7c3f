/* Samplers: making them, fills, and facts. */
#include "api/add.h"
#include "api/draw_items.h"
#include "base/dtype.h"
#include "base/isa.h"
#include "cells/draw.h"
#include "sampler/make_law.h"
#include "sampler/prepare.h"

dg_status dg_sampler_new_with(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                              const char *mu, const char *beta, dg_method method,
                              const dg_options *options)
{
    static const dg_options defaults = {DG_ARITHMETIC_AUTO, DG_ISA_AUTO, DG_INDEX_BITS, -1};
    const dg_options *with = options == NULL ? &defaults : options;
    dg_law *law;
    *sampler = NULL;
    if (!dg_isa_available(with->isa) || with->index_bits < 4 || with->index_bits > DG_INDEX_BITS ||
        with->block_bits > DG_MAX_PARAMETER_BITS) {
        return DG_ERR_METHOD;
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

/* --- fills --------------------------------------------------------------------------------------- */

/** Return how many draws by Algorithms 1-3 make a piece: some 0.3 ms if the parameters are short. */
static size_t piece_of_law(const dg_law *law)
{
    enum { PIECE_BYTES = 1 << 15 };
    const size_t bytes = law->wide_bytes + law->limb_bits / 8;
    return bytes < PIECE_BYTES ? PIECE_BYTES / bytes : 1;
}

/** Return about how many draws from a table make a piece: some 0.25 ms with AVX-512. The times of a look-up,
 *  of a draw's low bytes, and of the bits for both add up. */
static size_t piece_of_table(const dg_table *table, bool quick_bits)
{
    enum { PIECE_NS = 250000, DRAW_NS = 1, BITS_NS = 3, REST_NS = 10 };
    const size_t rest_bytes = table->rest_bytes, chunk = dg_table_chunk(table);
    const size_t bits_ns = quick_bits ? rest_bytes : BITS_NS * (1 + rest_bytes);
    const size_t draw_ns = DRAW_NS + bits_ns + (rest_bytes > 0 ? REST_NS : 0);
    const size_t chunks = PIECE_NS / draw_ns / chunk;
    return chunks > 0 ? chunks * chunk : chunk;
}

/** Start a fill by the method that the sampler has for n draws. The caller sets what its items are. */
static dg_status start(dg_fill *fill, void *out, size_t n, const dg_sampler *of,
                       const dg_source *source)
{
    enum { SLOW_PIECE = DG_SILENT_PIECE / 8 }; /* some 0.2 ms of bits from getrandom */
    const bool quick_bits = source == NULL || source->kind == DG_SOURCE_CHACHA20;
    const dg_sampler *sampler;
    DG_TRY(dg_sampler_for(&sampler, n, of));
    *fill = (dg_fill){.out = out, .n = n, .from = sampler, .source = source};
    switch (sampler->method) {
    case DG_CELLS:
        fill->draw = dg_draw_table;
        fill->piece = piece_of_table(sampler->table, quick_bits);
        fill->chunk = dg_table_chunk(sampler->table);
        break;
    case DG_ISOCHRONOUS:
        fill->draw = dg_draw_silent;
        fill->piece =
            source != NULL && source->kind == DG_SOURCE_GETRANDOM ? SLOW_PIECE : DG_SILENT_PIECE;
        fill->chunk = fill->piece;
        break;
    default:
        fill->draw = dg_draw_law;
        fill->piece = piece_of_law(sampler->law);
        fill->law = sampler->law;
    }
    return DG_OK;
}

dg_status dg_sampler_fill(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                          const dg_run *run, const dg_source *source)
{
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_DTYPE;
    }
    dg_fill fill;
    DG_TRY(start(&fill, out, n, sampler, source));
    fill.dtype = dtype;
    fill.item_bytes = dg_dtype_size(dtype);
    return dg_fill_run(&fill, run);
}

dg_status dg_sampler_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_sampler *sampler,
                               const dg_run *run, const dg_source *source)
{
    if (n_bytes < sampler->law->wide_bytes) {
        return DG_ERR_N_BYTES;
    }
    dg_fill fill;
    DG_TRY(start(&fill, out, n, sampler, source));
    fill.wide = true;
    fill.item_bytes = n_bytes;
    return dg_fill_run(&fill, run);
}

dg_status dg_sampler_add(void *out, size_t n, const dg_addend *addend, const dg_sampler *sampler,
                         const dg_run *run, const dg_source *source)
{
    if (!dg_is_dtype(addend->dtype)) {
        return DG_ERR_ADDEND_DTYPE;
    }
    if ((unsigned)addend->overflow > DG_REDUCE) {
        return DG_ERR_OVERFLOW;
    }
    const dg_sums sums = {.addend = *addend, .stride = 1, .dtype = DG_INT64};
    dg_fill fill;
    DG_TRY(start(&fill, out, n, sampler, source));
    fill.dtype = DG_INT64;
    fill.item_bytes = dg_dtype_size(DG_INT64);
    fill.sums = &sums;
    return dg_fill_run(&fill, run);
}

/* --- facts --------------------------------------------------------------------------------------- */

size_t dg_sampler_wide_bytes(const dg_sampler *sampler)
{
    return sampler->law->wide_bytes;
}

int dg_sampler_fits_int64(const dg_sampler *sampler)
{
    /* A scale or sigma is below 2^54, a centre below 2^61. An isochronous draw is one of z below 2^62. Other methods
     * go beyond with a probability below exp(-2^8). */
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
