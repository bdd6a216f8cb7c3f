/* Facts about the library, and, for tests, about the parts of a sampler. */
#include "cells/draw.h"
#include "cells/noise_at.h"
#include "isochronous/silent_decide.h"
#include "random/chacha20.h"
#include "sampler/prepare.h"

#include <gmp.h>
#include <mpfr.h>

const char *dg_status_text(dg_status status)
{
#define NUMBER " must be a number, such as \"100\", \"-5/2\", \"0.1\" or \"0x1f/0x20\", "
#define SHORT " must have at most 65536 bits"
    static const char *const texts[] = {
        [DG_OK] = "success",
        [DG_ERR_ENTROPY] = "the operating system gave no randomness",
        [DG_ERR_SOURCE] = "the source of bits reported a failure",
        [DG_ERR_NOMEM] = "out of memory",
        [DG_ERR_RANGE] = "a draw does not fit the output type",
        [DG_ERR_STOPPED] = "the fill was stopped",
        [DG_ERR_KIND] = "kind must be a dg_law_kind",
        [DG_ERR_PROBABILITY] = "parameter" NUMBER "from 0 to 1 for DG_BERNOULLI",
        [DG_ERR_N_VALUES] = "parameter" NUMBER "and an integer >= 1 for DG_UNIFORM_BELOW",
        [DG_ERR_NEGATIVE] = "parameter" NUMBER ">= 0 for DG_BERNOULLI_EXP",
        [DG_ERR_NOT_POSITIVE] = "parameter" NUMBER "> 0 for this kind of law",
        [DG_ERR_MU] = "mu" NUMBER "or NULL for 0",
        [DG_ERR_NO_CENTRE] = "mu must be 0 for laws that have no centre",
        [DG_ERR_BETA] = "beta" NUMBER ">= 1, or NULL for 1",
        [DG_ERR_LONG_PARAMETER] = "parameter" SHORT,
        [DG_ERR_LONG_MU] = "mu" SHORT,
        [DG_ERR_LONG_BETA] = "beta" SHORT,
        [DG_ERR_METHOD] = "method must be a dg_method that draws the law",
        [DG_ERR_STEEP_BETA] = "beta must be smaller for a table of a law of this scale",
        [DG_ERR_DTYPE] = "dtype must be a dg_dtype",
        [DG_ERR_SIGNED] = "dtype must be an unsigned dg_dtype for words",
        [DG_ERR_N_BYTES] = "n_bytes must be at least dg_sampler_wide_bytes",
        [DG_ERR_ADDEND_DTYPE] = "addend->dtype must be a dg_dtype",
        [DG_ERR_OVERFLOW] = "addend->overflow must be a dg_overflow",
        [DG_ERR_NOISE_SAMPLER] =
            "sampler must draw by DG_CELLS, with a sigma or scale below about 2^53, for noise by "
            "item",
        [DG_ERR_LAST_ITEM] = "first_item + n must be below 2^64",
        [DG_ERR_LAWS_KIND] = "laws->kind must be a dg_law_kind, but not DG_GENERALIZED_GAUSSIAN",
        [DG_ERR_LAWS_PARAMETER] =
            "laws->parameter must have a dg_number_format, finite floats and denominators >= 1",
        [DG_ERR_LAWS_CENTRE] =
            "laws->centre must have a dg_number_format, finite floats and denominators >= 1",
        [DG_ERR_SELECTION_KIND] = "kind must be a dg_selection_kind",
        [DG_ERR_RATE] = "rate" NUMBER ">= 0",
        [DG_ERR_LONG_RATE] = "rate" SHORT,
        [DG_ERR_GAP_BYTES] = "gap_bytes must be from 1 to 16384",
        [DG_ERR_K] = "k must be from 1 to 2^55 - 1",
        [DG_ERR_GAPS] = "gaps must have a 0 in each row",
        [DG_ERR_N_ROWS] = "n_rows must be at least 1 in a selection that is drawn from",
        [DG_ERR_STEP] = "step" NUMBER "from 0 to 1",
        [DG_ERR_LONG_STEP] = "step" SHORT,
        [DG_ERR_SHORT_STEP] = "step must be above 1/2 unless doublings is 0",
        [DG_ERR_DOUBLINGS] = "doublings must be below 64",
    };
#undef NUMBER
#undef SHORT
    _Static_assert(DG_MAX_PARAMETER_BITS == 65536, "texts say so");
    return (unsigned)status < sizeof texts / sizeof *texts ? texts[status] : "no such status";
}

const char *dg_version(void)
{
    return DG_VERSION;
}

const char *dg_gmp_version(void)
{
    return gmp_version;
}

const char *dg_mpfr_version(void)
{
    return mpfr_get_version();
}

int dg_mpfr_is_thread_local(void)
{
    return mpfr_buildopt_tls_p() != 0;
}

void dg_keystream(uint8_t *out, size_t n_blocks, const uint8_t *key, uint64_t first_block)
{
    dg_chacha20_blocks(out, n_blocks, key, first_block, &(dg_prefetch){0});
}

size_t dg_sampler_chunk(const dg_sampler *sampler)
{
    return sampler->method == DG_CELLS         ? dg_table_chunk(sampler->table)
           : sampler->method == DG_ISOCHRONOUS ? (size_t)DG_SILENT_PIECE
                                               : 1;
}

static void describe_silent(dg_sampler_info *info, const dg_silent *silent)
{
#if DG_HAVE_WORDS
    info->isa = silent->isa;
    info->block_bits = silent->block_bits;
    info->height = silent->height;
    info->memory = sizeof *silent;
#endif
    (void)info, (void)silent;
}

static void describe_table(dg_sampler_info *info, const dg_table *table)
{
    info->isa = table->isa;
    info->index_bits = table->index_bits;
    info->block_bits = table->block_bits;
    info->tick_bits = table->tick_bits;
    info->rest_bytes = table->rest_bytes;
    info->tail_bits = table->tail_bits;
    info->height = table->height;
    info->first_block = table->first_block;
    info->last_block = table->last_block;
    info->n_full = table->n_full;
    info->n_partial = table->n_partial;
    info->n_tail_side = table->n_tail_side;
    info->n_tail_arcs = dg_table_tail_arcs(table);
    info->tail_arc_bits = table->tail_arc_bits;
    info->row_bits = table->rows.row_bits;
    info->position_bits = table->rows.position_bits;
    info->coded_first = table->coded_first;
    info->coded_last = table->coded_last;
    info->n_coded = table->n_coded;
    info->noise_words = dg_noise_words(table);
    info->memory = dg_table_bytes(table);
}

void dg_sampler_describe(dg_sampler_info *info, const dg_sampler *sampler)
{
    *info = (dg_sampler_info){.uses_words = sampler->law->uses_words};
    if (sampler->method == DG_CELLS) {
        describe_table(info, sampler->table);
    } else if (sampler->method == DG_ISOCHRONOUS) {
        describe_silent(info, sampler->silent);
    }
}

void dg_table_cell(int32_t *block, uint32_t *level, uint32_t i, const dg_sampler *sampler)
{
    const dg_table *table = sampler->table;
    if (i < table->n_full) {
        *block = table->block_of[i];
        *level = 0;
        return;
    }
    const dg_partial *cell = &table->partial[i - table->n_full];
    *block = cell->block;
    *level = cell->level;
}

void dg_table_row(uint32_t end[2], uint32_t code[3], uint32_t *special, uint32_t i,
                  const dg_sampler *sampler)
{
    const dg_rows *rows = &sampler->table->rows;
    for (size_t k = 0; k < 2; k++) {
        end[k] = rows->end[k][i];
    }
    for (size_t k = 0; k < 3; k++) {
        code[k] = rows->code[k][i];
    }
    *special = rows->special[i];
}

void dg_table_arc(int32_t *base, uint32_t *slope, uint32_t *error, int32_t *bulge, uint32_t i,
                  const dg_sampler *sampler)
{
    const dg_table *table = sampler->table;
    const dg_arc *arc =
        i < table->n_partial ? &table->partial[i].arc : &table->tail_arcs[i - table->n_partial];
    *base = arc->base;
    *slope = arc->slope;
    *error = arc->error;
    *bulge = arc->bulge;
}

#if DG_HAVE_WORDS

/** Return a number of two bytes from its planes. */
static uint32_t from_planes(const uint8_t plane[2][DG_SILENT_CODES], uint32_t i)
{
    return plane[0][i] | (uint32_t)plane[1][i] << 8;
}

void dg_silent_row(uint32_t *end, uint32_t *alias, uint32_t *c, uint32_t *err, uint32_t i,
                   const dg_sampler *sampler)
{
    const dg_silent_planes *planes = &sampler->silent->planes;
    *end = from_planes(planes->end, i);
    *alias = planes->alias[i];
    *c = sampler->silent->c[i];
    *err = planes->err[i];
}

uint32_t dg_silent_share(uint32_t i, uint32_t q, const dg_sampler *sampler)
{
    const dg_silent *silent = sampler->silent;
    const dg_silent_planes *planes = &silent->planes;
    const int32_t base = (int32_t)(from_planes(planes->base, i) ^ 1u << 15);
    const int32_t slope = (int32_t)from_planes(planes->slope, i);
    const int32_t bulge = (int16_t)from_planes(planes->bulge, i);
    return (uint32_t)dg_silent_arc(base, slope, bulge, q, silent->shape, planes->k);
}

#else /* there are no such samplers */

void dg_silent_row(uint32_t *end, uint32_t *alias, uint32_t *c, uint32_t *err, uint32_t i,
                   const dg_sampler *sampler)
{
    (void)i, (void)sampler;
    *end = *alias = *c = *err = 0;
}

uint32_t dg_silent_share(uint32_t i, uint32_t q, const dg_sampler *sampler)
{
    (void)i, (void)q, (void)sampler;
    return 0;
}

#endif
