/* The look-up loops of all instruction sets, on tables of full size (the vector loops take no others): for any bytes,
 * any output type and length they give the same draws, use the same bytes and fail alike, in fills of up to a little
 * more than a chunk. Laws are from a list, one for each number of tick bits and of low bytes, so that tables are built
 * once. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWS = 8400, N_ISAS = DG_ISA_SSE41 + 1 };

/** sigma or scale is 2^log2_scale, mu = c/3; blocks have 2^block_bits integers; -1: the builder chooses. */
typedef struct choice {
    dg_law_kind kind;
    unsigned log2_scale;
    int64_t c;
    int32_t block_bits;
} choice;

static const choice CHOICES[] = {
    {DG_DISCRETE_GAUSSIAN, 3, 0, -1},   {DG_DISCRETE_GAUSSIAN, 6, 1, 0},
    {DG_DISCRETE_LAPLACE, 4, -300, 0},  {DG_DISCRETE_GAUSSIAN, 10, 1, 3},
    {DG_DISCRETE_GAUSSIAN, 15, 0, 8},   {DG_DISCRETE_LAPLACE, 14, 100000, 9},
    {DG_DISCRETE_GAUSSIAN, 23, 1, 16},  {DG_DISCRETE_GAUSSIAN, 24, 7, 17},
    {DG_DISCRETE_LAPLACE, 30, -1, 24},  {DG_DISCRETE_GAUSSIAN, 32, 1, 25},
    {DG_DISCRETE_GAUSSIAN, 39, 0, 32},  {DG_DISCRETE_LAPLACE, 39, 2, 33},
    {DG_DISCRETE_GAUSSIAN, 47, -1, 40}, {DG_DISCRETE_GAUSSIAN, 48, 1, 41},
    {DG_DISCRETE_LAPLACE, 53, 0, 48},   {DG_DISCRETE_GAUSSIAN, 55, 1, 49},
    {DG_DISCRETE_GAUSSIAN, 57, 0, 57},  {DG_DISCRETE_GAUSSIAN, 80, 1, -1},
};
enum { N_CHOICES = sizeof CHOICES / sizeof *CHOICES };

static dg_sampler *tables[N_CHOICES][N_ISAS];

static void build(size_t i)
{
    const choice *of = &CHOICES[i];
    numbers n;
    n.kind = of->kind;
    mpq_inits(n.first, n.mu, n.beta, NULL);
    mpq_set_ui(n.first, 1, 1);
    mpq_mul_2exp(n.first, n.first,
                 of->kind == DG_DISCRETE_GAUSSIAN ? 2 * of->log2_scale : of->log2_scale);
    mpq_set_si(n.mu, of->c, 3);
    mpq_canonicalize(n.mu);
    mpq_set_ui(n.beta, 1, 1);
    dg_options options = default_options();
    options.block_bits = of->block_bits;
    for (int isa = 0; isa < N_ISAS; isa++) { /* NULL if the machine lacks it */
        options.isa = (dg_isa)isa;
        tables[i][isa] = sampler_of(&n, DG_CELLS, &options);
    }
    REQUIRE(tables[i][DG_ISA_PORTABLE] != NULL && tables[i][DG_ISA_AUTO] != NULL);
    numbers_clear(&n);
}

/** The result of one fill. */
typedef struct outcome {
    dg_status status;
    size_t used;
} outcome;

static outcome fill(uint8_t *out, size_t n, uint8_t type, size_t width, const dg_sampler *table,
                    const tape *full_tape)
{
    tape from = *full_tape;
    dg_source source = tape_source(&from);
    dg_status status = type <= DG_UINT64
                           ? dg_sampler_fill(out, n, (dg_dtype)type, table, NULL, &source)
                           : dg_sampler_fill_wide(out, n, width, table, NULL, &source);
    return (outcome){status, from.used};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    input from = {data, size};
    size_t which = take_byte(&from) % N_CHOICES;
    uint8_t type = take_byte(&from) % (DG_UINT64 + 2); /* the last one: wide */
    size_t n = take_word(2, &from) % MOST_DRAWS;
    size_t at_least = 16u * take_byte(&from) * (take_byte(&from) % 4 == 0 ? 16u : 1u);
    tape full_tape = take_tape(at_least, &from);
    if (tables[which][DG_ISA_AUTO] == NULL) {
        build(which);
    }
    const size_t width = dg_sampler_wide_bytes(tables[which][DG_ISA_AUTO]);
    const size_t n_bytes = n * (type <= DG_UINT64 ? sizes[type] : width);
    uint8_t *expected = exactly(n_bytes), *out = exactly(n_bytes);
    outcome wanted = fill(expected, n, type, width, tables[which][DG_ISA_PORTABLE], &full_tape);
    for (int isa = 0; isa < N_ISAS; isa++) {
        if (tables[which][isa] != NULL && isa != DG_ISA_PORTABLE) {
            memset(out, 0xA5, n_bytes);
            outcome got = fill(out, n, type, width, tables[which][isa], &full_tape);
            REQUIRE(got.status == wanted.status);
            REQUIRE(got.used == wanted.used);
            REQUIRE(wanted.status != DG_OK || memcmp(out, expected, n_bytes) == 0);
        }
    }
    free(out);
    free(expected);
    tape_free(&full_tape);
    return 0;
}
