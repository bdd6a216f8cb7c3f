/* A model of the cell sampler, from csrc/cells/draw.h and PROOF.md. It uses the numbers that a table shows of itself.
 * MPFR decides every comparison, at whatever precision it takes. There are no arcs, no word arithmetic, and no code of
 * csrc/cells. */
#ifndef DG_FUZZ_CELL_MODEL_H
#define DG_FUZZ_CELL_MODEL_H

#include "input.h"

typedef struct cell_model {
    const numbers *of;
    const dg_sampler *table;
    dg_sampler_info info;
    size_t chunk;
    mpz_t c;
    mpq_t f; /* mu = c + f */
} cell_model;

void cell_model_open(cell_model *model, const numbers *of, const dg_sampler *table);
void cell_model_close(cell_model *model);

/** Draw n integers of n_bytes each, as dg_sampler_fill_wide does.
 *
 *  Requires:  n_bytes is the sampler's dg_sampler_wide_bytes.
 *  Returns:   DG_OK | DG_ERR_SOURCE at the tape's end | DG_ERR_RANGE. */
dg_status cell_model_fill(uint8_t *out, size_t n, size_t n_bytes, const cell_model *model,
                          tape *from);

#endif
