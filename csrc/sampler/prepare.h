/* A sampler: a law, and everything that one method of drawing needs. It is built in one step, and does not change. */
#ifndef DG_SAMPLER_PREPARE_H
#define DG_SAMPLER_PREPARE_H

#include "cells/table.h"
#include "isochronous/silent.h"

typedef struct dg_silent dg_silent; /* without 128-bit words there are none */

struct dg_sampler {
    dg_law *law;
    dg_method method;  /* never DG_AUTO */
    dg_silent *silent; /* DG_ISOCHRONOUS, else NULL */
    dg_table *table;   /* DG_CELLS, else NULL */
};

/** Build a sampler. If it succeeds, the sampler owns the law; otherwise the caller still does.
 *
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_METHOD: the law has no such method | DG_ERR_STEEP_BETA: it has no table.
 */
dg_status dg_sampler_build(dg_sampler **out, dg_law *law, dg_method method,
                           const dg_options *options);

#endif
