/* A sampler: a law, and what its ways of drawing need, made when it pays.
 *
 * No lock, and nothing that anyone waits for. Lanes and the isochronous sampler are published by one
 * compare-and-exchange, and stay: of two threads that make them at once (some tens of microseconds) one's
 * are kept. A table lies in a slot of the process (tables.h); the sampler has a ticket for it. It is built by
 * the thread whose draws bring the rent to its price (choose.h).
 */
#ifndef DG_SAMPLER_PARTS_H
#define DG_SAMPLER_PARTS_H

#include "isochronous/lanes.h"
#include "sampler/choose.h"
#include "sampler/tables.h"

#include <stdatomic.h>

struct dg_sampler {
    dg_law *law;
    dg_prices prices;
    _Atomic(dg_lanes *) lanes;     /* NULL until they are asked for */
    _Atomic(dg_isochronous *) one; /* likewise */
    atomic_bool has_no_one;        /* the law has no isochronous sampler */
    atomic_bool has_no_table;      /* nor a table */
    _Atomic dg_ticket ticket;      /* of its table, which may have been given up */
    _Atomic uint64_t chunk;        /* of its table; 0: none was built yet */
    _Atomic uint64_t n_built;
    char apart[64]; /* what follows is written by every call that draws, what precedes is read */
    _Atomic uint64_t rent; /* what draws without a table have cost since there was none */
    _Atomic uint64_t by_reference, by_cells, by_lanes, by_one;
};

/** Take over a law: no part is made. Returns: DG_OK | DG_ERR_NOMEM, and the law is the caller's. */
dg_status dg_sampler_build(dg_sampler **out, dg_law *law);

/** A way made ready for one fill. */
typedef struct dg_way {
    dg_method method;
    const dg_lanes *lanes; /* DG_ISOCHRONOUS */
    const dg_table *table; /* DG_CELLS */
    dg_ticket ticket;      /* of the table; 0: */
    dg_table *unkept;      /* it is this call's own */
} dg_way;

/** Choose how n draws are made, and make it ready: as dg_sampler_choose.
 *
 *  Ensures:   DG_OK -> to be let go by dg_way_end.
 */
dg_status dg_way_begin(dg_way *way, size_t n, dg_method method, dg_sampler *sampler,
                       const dg_run *run, const dg_source *source);

/** errno is kept. */
void dg_way_end(dg_way *way);

/** The isochronous sampler for single draws.
 *
 *  Returns:   DG_OK | DG_ERR_PARAMETER: there is none for the law | DG_ERR_NOMEM.
 */
dg_status dg_sampler_one(const dg_isochronous **one, dg_sampler *sampler);

/** Count draws for dg_sampler_describe: not by one instruction, which costs more than a lost count. */
static inline void dg_count(_Atomic uint64_t *counter, uint64_t n)
{
    const uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + n, memory_order_relaxed);
}

/** Count n draws by a way. */
static inline void dg_way_count(size_t n, const dg_way *way, dg_sampler *sampler)
{
    dg_count(way->table != NULL   ? &sampler->by_cells
             : way->lanes != NULL ? &sampler->by_lanes
                                  : &sampler->by_reference,
             n);
}

#endif
