/* Noise as a function of a key and an item's number, and the packed law that the kernel of csrc/cuda reads. */
#include "base/dtype.h"
#include "base/memory.h"
#include "cells/noise_at.h"
#include "cuda/noise_law.h"
#include "sampler/prepare.h"

#include <mpfr.h>
#include <string.h>

/** Return whether noise by number can be drawn from the sampler. */
static bool has_noise(const dg_sampler *sampler)
{
    return sampler->method == DG_CELLS && dg_noise_takes_table(sampler->table);
}

dg_status dg_noise_at(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                      uint64_t first_item, const uint8_t *key)
{
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_DTYPE;
    }
    if (!has_noise(sampler)) {
        return DG_ERR_NOISE_SAMPLER;
    }
    if (n > UINT64_MAX - first_item) { /* numbers of items would wrap */
        return DG_ERR_LAST_ITEM;
    }
    const dg_status status = dg_table_noise_at(out, n, dtype, sampler->table, first_item, key);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* a thread that ends would leak it */
    return status;
}

/* --- for csrc/cuda ------------------------------------------------------------------------------- */

_Static_assert(sizeof(dg_noise_arc) == sizeof(dg_arc) &&
                   sizeof(dg_noise_partial) == sizeof(dg_partial) && sizeof(unsigned) == 4 &&
                   (int)DG_NOISE_ROWS == (int)DG_ROWS &&
                   (int)DG_NOISE_ARC_LEVELS == (int)DG_TAIL_LEVELS,
               "arrays are copied byte for byte");

#if DG_HAVE_WORDS

/** Return how many tail levels the device may decide: on all of them z in units of distance is below 2^62, and so
 *  is y. */
static unsigned levels_of(const dg_table *table, unsigned units_up)
{
    const uint64_t left = (uint64_t)-table->first_block, right = (uint64_t)table->last_block + 1;
    const uint64_t most = UINT64_C(1) << (62 - table->tick_bits - units_up);
    unsigned levels = DG_NOISE_MOST_LEVELS;
    while (levels > 0 &&
           (left > right ? left : right) + ((uint64_t)levels << table->tail_bits) > most) {
        levels--;
    }
    return levels;
}

/** Return whether less than one item of 10^9 is left to the host, by lemma 27 of csrc/cells/PROOF.md. All numbers
 *  are in units of 2^-60. An attempt succeeds at least if its cell is full. */
static bool few_are_in_doubt(const dg_table *table, const dg_lanes *lanes, unsigned levels)
{
    const uint64_t height = table->height, n_tail = UINT64_C(2) * table->n_tail_side;
    const uint64_t error = lanes->above + lanes->below;
    const uint64_t of_level = levels * lanes->above_a_step;
    const uint64_t doubt = table->n_partial * (height * (error / 256 + 3) + 1) +
                           n_tail * (height * ((error + of_level) / 256 + 3) + 1) +
                           (n_tail << (DG_NOISE_MOST_LEVELS - levels));
    return doubt >> 14 < table->n_full; /* doubt 2^-60 / (n_full 2^-16) < 2^-30 */
}

/** Set everything except the rows. */
static dg_status set_law(dg_noise_law *to, const dg_sampler *sampler)
{
    const dg_table *table = sampler->table;
    dg_lanes lanes;
    DG_TRY(dg_memory_available(sampler->law->room_bytes));
    DG_TRY(dg_lane_exponents(&lanes, sampler->law));
    const unsigned shifted = table->tick_bits + lanes.units_up;
    const unsigned levels = shifted < 62 ? levels_of(table, lanes.units_up) : 0;
    if (levels == 0 || !few_are_in_doubt(table, &lanes, levels)) {
        return DG_ERR_NOISE_SAMPLER;
    }
    const size_t block_of_at = sizeof *to;
    const size_t partial_at = block_of_at + ((table->n_full * sizeof *table->block_of + 7) & ~7u);
    *to = (dg_noise_law){
        .c = lanes.c,
        .coded_first = table->coded_first,
        .first_block = table->first_block,
        .last_block = table->last_block,
        .n_coded = table->n_coded,
        .n_full = table->n_full,
        .n_partial = table->n_partial,
        .n_tail_side = table->n_tail_side,
        .height = table->height,
        .tick_bits = table->tick_bits,
        .tail_bits = table->tail_bits,
        .tail_arc_bits = table->tail_arc_bits,
        .block_of_at = (unsigned)block_of_at,
        .partial_at = (unsigned)partial_at,
        .tail_arcs_at = (unsigned)(partial_at + table->n_partial * sizeof *table->partial),
        .kind = lanes.squared    ? DG_NOISE_SQUARED
                : lanes.is_power ? DG_NOISE_POWER
                                 : DG_NOISE_LAPLACE,
        .levels = levels,
        .units_up = lanes.units_up,
        .units_down = lanes.units_down,
        .rate_shift = lanes.rate_shift,
        .below = (unsigned)lanes.below,
        .above = lanes.above,
        .above_a_step = lanes.above_a_step,
        .farthest = lanes.farthest,
        .rate = lanes.rate,
        .twice_f = lanes.twice_f,
        .f = lanes.f,
        .nearest = lanes.nearest,
        .log_scale = lanes.log_scale,
        .at_centre = lanes.at_centre,
        .offset = {lanes.offset[0], lanes.offset[1]},
    };
    return DG_OK;
}

#else

static dg_status set_law(dg_noise_law *to, const dg_sampler *sampler)
{
    (void)to, (void)sampler;
    return DG_ERR_NOISE_SAMPLER;
}

#endif

static void set_rows(dg_noise_law *to, const dg_rows *rows)
{
    for (size_t i = 0; i < DG_NOISE_ROWS; i++) {
        to->row[i] = (dg_noise_row){
            .end = {rows->end[0][i], rows->end[1][i]},
            .code = {rows->code[0][i], rows->code[1][i], rows->code[2][i]},
            .special = rows->special[i],
        };
    }
}

dg_status dg_noise_pack(uint8_t *out, size_t *n_bytes, const dg_sampler *sampler)
{
    *n_bytes = 0;
    if (!has_noise(sampler)) {
        return DG_ERR_NOISE_SAMPLER;
    }
    const dg_table *table = sampler->table;
    dg_noise_law law;
    const dg_status status = set_law(&law, sampler);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    DG_TRY(status);
    const size_t arc_bytes = dg_table_tail_arcs(table) * sizeof *table->tail_arcs;
    *n_bytes = law.tail_arcs_at + arc_bytes;
    if (out != NULL) {
        set_rows(&law, &table->rows);
        memset(out, 0, *n_bytes);
        memcpy(out, &law, sizeof law);
        memcpy(out + law.block_of_at, table->block_of, law.n_full * sizeof *table->block_of);
        memcpy(out + law.partial_at, table->partial, law.n_partial * sizeof *table->partial);
        memcpy(out + law.tail_arcs_at, table->tail_arcs, arc_bytes);
    }
    return DG_OK;
}
