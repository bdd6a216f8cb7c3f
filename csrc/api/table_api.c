/* Cell tables from outside: making, freeing, looking inside, and fills. */
#include "api/run.h"
#include "base/dtype.h"
#include "base/status.h"
#include "cells/draw.h"
#include "cells/table.h"

#include <mpfr.h>

dg_status dg_table_new(dg_table **table, const dg_law *law, uint32_t index_bits, int32_t block_bits,
                       dg_isa isa)
{
    *table = NULL;
    if (law->kind < DG_DISCRETE_LAPLACE || index_bits < 4 || index_bits > DG_INDEX_BITS ||
        block_bits > DG_MAX_PARAMETER_BITS || !dg_isa_available(isa)) {
        return DG_ERR_PARAMETER;
    }
    dg_status status = dg_table_build(table, law, index_bits, block_bits, isa, NULL);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return status;
}

void dg_table_free(dg_table *table)
{
    dg_table_release(table);
}

void dg_table_describe(dg_table_info *info, const dg_table *table)
{
    *info = (dg_table_info){
        .isa = table->isa,
        .index_bits = table->index_bits,
        .block_bits = table->block_bits,
        .tick_bits = table->tick_bits,
        .rest_bytes = table->rest_bytes,
        .tail_bits = table->tail_bits,
        .height = table->height,
        .first_block = table->first_block,
        .last_block = table->last_block,
        .n_full = table->n_full,
        .n_partial = table->n_partial,
        .n_tail_side = table->n_tail_side,
        .n_tail_arcs = dg_table_tail_arcs(table),
        .tail_arc_bits = table->tail_arc_bits,
        .row_bits = table->rows.row_bits,
        .position_bits = table->rows.position_bits,
        .coded_first = table->coded_first,
        .coded_last = table->coded_last,
        .n_coded = table->n_coded,
        .chunk = dg_table_chunk(table),
        .memory = dg_table_bytes(table),
    };
}

void dg_table_cell(int32_t *block, uint32_t *level, uint32_t i, const dg_table *table)
{
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
                  const dg_table *table)
{
    const dg_rows *rows = &table->rows;
    for (size_t k = 0; k < 2; k++) {
        end[k] = rows->end[k][i];
    }
    for (size_t k = 0; k < 3; k++) {
        code[k] = rows->code[k][i];
    }
    *special = rows->special[i];
}

void dg_table_arc(int32_t *base, uint32_t *slope, uint32_t *error, int32_t *bulge, uint32_t i,
                  const dg_table *table)
{
    const dg_arc *arc =
        i < table->n_partial ? &table->partial[i].arc : &table->tail_arcs[i - table->n_partial];
    *base = arc->base;
    *slope = arc->slope;
    *error = arc->error;
    *bulge = arc->bulge;
}

/** How many draws make a piece, about: some 0.25 ms where the machine has AVX-512, by what a draw takes of
 *  the table, its rest, and the bits of both. */
static size_t piece_of(const dg_table *table, const dg_source *source)
{
    enum { PIECE_NS = 250000, DRAW_NS = 1, BITS_NS = 3, REST_NS = 10 };
    const size_t rest_bytes = table->rest_bytes, chunk = dg_table_chunk(table);
    const bool quick_bits = source == NULL || source->kind == DG_SOURCE_CHACHA20;
    const size_t bits_ns = quick_bits ? rest_bytes : BITS_NS * (1 + rest_bytes);
    const size_t draw_ns = DRAW_NS + bits_ns + (rest_bytes > 0 ? REST_NS : 0);
    const size_t chunks = PIECE_NS / draw_ns / chunk;
    return chunks > 0 ? chunks * chunk : chunk;
}

static dg_status draw_table(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    return dg_table_fill_dtype(fill->out + first * fill->item_bytes, end - first, fill->dtype,
                               fill->table, &session->bits);
}

dg_fill dg_table_filling(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                         const dg_source *source)
{
    return (dg_fill){
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = piece_of(table, source),
        .source = source,
        .draw = draw_table,
        .dtype = dtype,
        .table = table,
        .chunk = dg_table_chunk(table),
    };
}

dg_status dg_table_fill(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                        const dg_run *run, const dg_source *source)
{
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_PARAMETER;
    }
    const dg_fill fill = dg_table_filling(out, n, dtype, table, source);
    return dg_fill_run(&fill, run);
}

static dg_status draw_table_wide(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    return dg_table_fill_bytes(fill->out + first * fill->item_bytes, end - first, fill->item_bytes,
                               fill->table, &session->bits);
}

dg_status dg_table_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                             const dg_run *run, const dg_source *source)
{
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = n_bytes,
        .piece = piece_of(table, source),
        .source = source,
        .draw = draw_table_wide,
        .table = table,
    };
    return dg_fill_run(&fill, run);
}
