/* Cell tables against the model of cell_model.c, for any law, any small table and any tape:
 *
 *   - the same draws from the same bytes, so every decision is exact;
 *   - a tape one byte shorter gives DG_ERR_SOURCE;
 *   - a fill into machine integers gives the same draws, or DG_ERR_RANGE if one does not fit. */
#include "cell_model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWS = 40, MOST_SHIFT = 90 };

/** Make a table of 4 to 8 index bits, with about an eighth, a quarter, a half or all of sigma or of the scale in a
 *  block. Returns: NULL if there is none. */
static dg_sampler *take_table(const numbers *of, input *from)
{
    dg_options options = default_options();
    options.index_bits = 4u + take_byte(from) % 5;
    long bits = (long)mpz_sizeinbase(mpq_numref(of->first), 2) -
                (long)mpz_sizeinbase(mpq_denref(of->first), 2);
    bits = (of->kind == DG_DISCRETE_GAUSSIAN ? bits / 2 : bits) - 3 + take_byte(from) % 4;
    options.block_bits = bits > 0 ? (int32_t)bits : 0;
    options.isa = (dg_isa)(take_byte(from) % (DG_ISA_SSE41 + 1));
    return sampler_of(of, DG_CELLS, &options);
}

/** Compare a fill of int64 with the integers of n_bytes that the same tape gave. */
static void compare_int64(const uint8_t *wide, size_t n, size_t n_bytes, size_t used,
                          const cell_model *model, const tape *full_tape)
{
    int64_t out[MOST_DRAWS];
    tape from = {full_tape->bytes, used, 0};
    dg_source source = tape_source(&from);
    dg_status status = dg_sampler_fill(out, n, DG_INT64, model->table, NULL, &source);
    bool fit = true;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *item = wide + i * n_bytes;
        for (size_t k = 8; k < n_bytes; k++) {
            fit = fit && item[k] == (item[7] >= 128 ? 0xFF : 0);
        }
    }
    if (status == DG_ERR_RANGE) { /* no dtype holds 3 low bytes or a centre of 9 bytes */
        REQUIRE(!fit || model->info.rest_bytes > 2 || mpz_sizeinbase(model->c, 2) > 64);
        return;
    }
    REQUIRE(status == DG_OK && fit);
    REQUIRE(from.used == used);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 8; k++) {
            REQUIRE((uint8_t)((uint64_t)out[i] >> (8 * k)) == wide[i * n_bytes + k]);
        }
    }
}

static void compare(size_t n, size_t width, const cell_model *model, const tape *full_tape)
{
    uint8_t *out = exactly(n * width), *expected = exactly(n * width);
    tape ours = *full_tape, theirs = *full_tape;
    dg_source source = tape_source(&ours);
    dg_status status = dg_sampler_fill_wide(out, n, width, model->table, NULL, &source);
    REQUIRE(status == cell_model_fill(expected, n, width, model, &theirs));
    if (status == DG_OK) {
        size_t used = ours.used;
        REQUIRE(used == theirs.used);
        REQUIRE(memcmp(out, expected, n * width) == 0);
        compare_int64(out, n, width, used, model, full_tape);
        ours = (tape){full_tape->bytes, used - 1, 0};
        REQUIRE(dg_sampler_fill_wide(out, n, width, model->table, NULL, &source) == DG_ERR_SOURCE);
    }
    REQUIRE(status == DG_OK || status == DG_ERR_SOURCE || status == DG_ERR_RANGE);
    free(expected);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, size};
    numbers of;
    uint8_t kind = DG_DISCRETE_LAPLACE + take_byte(&from) % 3;
    size_t n = 1u + take_byte(&from) % MOST_DRAWS;
    take_numbers(&of, (dg_law_kind)kind, MOST_SHIFT, &from);
    dg_sampler *table = take_table(&of, &from);
    size_t at_least = 16u * take_byte(&from);
    tape full_tape = take_tape(at_least, &from);
    if (table != NULL) {
        cell_model model;
        cell_model_open(&model, &of, table);
        compare(n, dg_sampler_wide_bytes(table), &model, &full_tape);
        cell_model_close(&model);
    }
    dg_sampler_free(table);
    tape_free(&full_tape);
    numbers_clear(&of);
    return 0;
}
