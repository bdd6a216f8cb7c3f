/* A sampler: a law, and everything that one method of drawing needs. It is built in one step. After that only a sampler
 * by DG_AUTO changes, and only once: the first call of many draws adds a sampler by cells. */
#ifndef DG_SAMPLER_PREPARE_H
#define DG_SAMPLER_PREPARE_H

#include "cells/table.h"
#include "isochronous/silent.h"

#include <stdatomic.h>

typedef struct dg_silent dg_silent; /* without 128-bit words there are none */

/** A method for calls of many draws, which DG_AUTO adds to a law's first method. */
typedef struct dg_bulk {
    size_t from;                 /* calls of this many draws, or more, are drawn by cells */
    dg_options options;          /* of their table */
    _Atomic(dg_sampler *) cells; /* of the same law; NULL until the first such call */
} dg_bulk;

struct dg_sampler {
    dg_law *law;
    dg_method method;  /* never DG_AUTO, but the law's first method */
    dg_silent *silent; /* DG_ISOCHRONOUS, else NULL */
    dg_table *table;   /* DG_CELLS, else NULL */
    dg_bulk *bulk;     /* DG_AUTO of a law that has cells and another method, else NULL */
};

/** Build a sampler. If it succeeds, the sampler owns the law; otherwise the caller still does.
 *
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_METHOD: the law has no such method | DG_ERR_STEEP_BETA: it has no table.
 */
dg_status dg_sampler_build(dg_sampler **out, dg_law *law, dg_method method,
                           const dg_options *options);

#endif
