#include "sampler/parts.h"

#include "base/memory.h"
#include "cells/draw.h"

#include <errno.h>
#include <mpfr.h>
#include <stdlib.h>

dg_status dg_sampler_build(dg_sampler **out, dg_law *law)
{
    dg_sampler *sampler = calloc(1, sizeof *sampler);
    *out = sampler;
    if (sampler == NULL) {
        return DG_ERR_NOMEM;
    }
    sampler->law = law;
    sampler->prices = dg_prices_of(law);
    atomic_init(&sampler->lanes, NULL);
    atomic_init(&sampler->one, NULL);
    atomic_init(&sampler->has_no_one, !sampler->prices.has_cells || !DG_HAVE_WORDS);
    atomic_init(&sampler->has_no_table, !sampler->prices.has_cells);
    atomic_init(&sampler->ticket, 0);
    atomic_init(&sampler->chunk, 0);
    atomic_init(&sampler->n_built, 0);
    atomic_init(&sampler->rent, 0);
    atomic_init(&sampler->by_reference, 0);
    atomic_init(&sampler->by_cells, 0);
    atomic_init(&sampler->by_lanes, 0);
    atomic_init(&sampler->by_one, 0);
    return DG_OK;
}

void dg_sampler_free(dg_sampler *sampler)
{
    if (sampler == NULL) {
        return;
    }
    dg_tables_give_up(atomic_load_explicit(&sampler->ticket, memory_order_relaxed));
#if DG_HAVE_WORDS
    dg_lanes_release(atomic_load_explicit(&sampler->lanes, memory_order_relaxed));
    dg_isochronous_release(atomic_load_explicit(&sampler->one, memory_order_relaxed));
#endif
    dg_law_release(sampler->law); /* a table that is in use holds it, too */
    free(sampler);
}

/* --- lanes, and the sampler of single draws ---------------------------------------------------- */

#if DG_HAVE_WORDS

dg_status dg_sampler_one(const dg_isochronous **one, dg_sampler *sampler)
{
    dg_isochronous *there = atomic_load_explicit(&sampler->one, memory_order_acquire), *made;
    *one = there;
    if (there != NULL) {
        return DG_OK;
    }
    if (atomic_load_explicit(&sampler->has_no_one, memory_order_relaxed)) {
        return DG_ERR_PARAMETER;
    }
    DG_TRY(dg_memory_at_hand(sampler->law->room_bytes));
    const dg_status status = dg_isochronous_build(&made, DG_BLOCKS_BITS, sampler->law);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (status != DG_OK) {
        if (status == DG_ERR_PARAMETER) {
            atomic_store_explicit(&sampler->has_no_one, true, memory_order_relaxed);
        }
        return status;
    }
    *one = made;
    if (!atomic_compare_exchange_strong_explicit(&sampler->one, &there, made, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        dg_isochronous_release(made); /* another thread was faster */
        *one = there;
    }
    return DG_OK;
}

/** The lanes. Returns: as dg_sampler_one. */
static dg_status lanes_of(const dg_lanes **lanes, dg_sampler *sampler)
{
    dg_lanes *there = atomic_load_explicit(&sampler->lanes, memory_order_acquire), *made;
    *lanes = there;
    if (there != NULL) {
        return DG_OK;
    }
    if (!sampler->prices.has_cells) {
        return DG_ERR_PARAMETER;
    }
    DG_TRY(dg_memory_at_hand(sampler->law->room_bytes));
    const dg_status status = dg_lanes_build(&made, sampler->law, DG_ISA_AUTO);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    DG_TRY(status);
    *lanes = made;
    if (!atomic_compare_exchange_strong_explicit(&sampler->lanes, &there, made,
                                                 memory_order_acq_rel, memory_order_acquire)) {
        dg_lanes_release(made);
        *lanes = there;
    }
    return DG_OK;
}

#else

dg_status dg_sampler_one(const dg_isochronous **one, dg_sampler *sampler)
{
    (void)sampler;
    *one = NULL;
    return DG_ERR_PARAMETER;
}

static dg_status lanes_of(const dg_lanes **lanes, dg_sampler *sampler)
{
    (void)sampler;
    *lanes = NULL;
    return DG_ERR_PARAMETER;
}

#endif

/* --- tables --------------------------------------------------------------------------------- */

/** Use the table if it is at hand. */
static bool use_kept(dg_way *way, const dg_sampler *sampler)
{
    const dg_ticket ticket = atomic_load_explicit(&sampler->ticket, memory_order_relaxed);
    const dg_table *table = dg_tables_enter(ticket);
    if (table == NULL) {
        return false;
    }
    *way = (dg_way){.method = DG_CELLS, .table = table, .ticket = ticket};
    return true;
}

/** Build the table, and keep it if it has room. Returns: as dg_table_build. */
static dg_status use_new(dg_way *way, dg_sampler *sampler, const dg_run *run)
{
    if (atomic_load_explicit(&sampler->has_no_table, memory_order_relaxed)) {
        return DG_ERR_PARAMETER;
    }
    dg_table *made;
    const dg_status status =
        dg_table_build(&made, sampler->law, DG_INDEX_BITS, -1, DG_ISA_AUTO, run);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (status != DG_OK) {
        if (status == DG_ERR_PARAMETER) {
            atomic_store_explicit(&sampler->has_no_table, true, memory_order_relaxed);
        }
        return status;
    }
    dg_count(&sampler->n_built, 1);
    atomic_store_explicit(&sampler->chunk, dg_table_chunk(made), memory_order_relaxed);
    const dg_ticket ticket = dg_tables_keep(made, sampler->law);
    *way = (dg_way){.method = DG_CELLS, .table = made, .ticket = ticket};
    if (ticket == 0) {
        way->unkept = made;
        return DG_OK;
    }
    /* what another thread built meanwhile, or was given up */
    dg_tables_give_up(atomic_exchange_explicit(&sampler->ticket, ticket, memory_order_relaxed));
    return DG_OK;
}

void dg_way_end(dg_way *way)
{
    const int kept_errno = errno;
    if (way->ticket != 0) {
        dg_tables_leave(way->ticket);
    }
    dg_table_release(way->unkept); /* NULL if there is none */
    errno = kept_errno;
}

/* --- ways ----------------------------------------------------------------------------------- */

static dg_status begin(dg_way *way, dg_method method, dg_sampler *sampler, const dg_run *run)
{
    *way = (dg_way){.method = method};
    switch (method) {
    case DG_REFERENCE:
        return sampler->prices.has_reference ? DG_OK : DG_ERR_PARAMETER;
    case DG_ISOCHRONOUS:
        return lanes_of(&way->lanes, sampler);
    case DG_CELLS:
        return use_kept(way, sampler) ? DG_OK : use_new(way, sampler, run);
    case DG_AUTO:
        break;
    }
    return DG_ERR_PARAMETER;
}

dg_status dg_way_begin(dg_way *way, size_t n, dg_method method, dg_sampler *sampler,
                       const dg_run *run, const dg_source *source)
{
    if (method != DG_AUTO) {
        return begin(way, method, sampler, run);
    }
    const dg_source_kind kind = source == NULL ? DG_SOURCE_GETRANDOM : source->kind;
    if (kind != DG_SOURCE_CALLER && use_kept(way, sampler)) {
        return DG_OK;
    }
    const bool has_lanes = atomic_load_explicit(&sampler->lanes, memory_order_relaxed) != NULL;
    const bool can_have_table = !atomic_load_explicit(&sampler->has_no_table, memory_order_relaxed);
    dg_method without_table;
    const dg_method chosen = dg_choose(&without_table, n, &sampler->prices, kind, has_lanes,
                                       can_have_table, &sampler->rent);
    dg_status status = begin(way, chosen, sampler, run);
    if (status == DG_ERR_PARAMETER && chosen == DG_CELLS) { /* no table holds the law */
        status = begin(way, without_table, sampler, run);
    }
    if (status == DG_ERR_PARAMETER && way->method == DG_ISOCHRONOUS) { /* nor such a sampler */
        status = begin(way, DG_CELLS, sampler, run);
    }
    return status;
}
