/* Prefetching of output memory, a few lines at a time, while the processor computes something that reads no
 * memory. Later writes then do not wait for it. Prefetching never changes what is written. */
#ifndef DG_BASE_PREFETCH_H
#define DG_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/* Bytes, on most machines. If a machine's lines differ, some are not fetched, or some twice. */
enum { DG_CACHE_LINE = 64 };

typedef struct dg_prefetch {
    const uint8_t *next;
    size_t n_lines; /* still to fetch */
} dg_prefetch;

/** Fetch n_lines lines, or all that remain. */
static inline void dg_prefetch_lines(dg_prefetch *what, size_t n_lines)
{
    for (; n_lines > 0 && what->n_lines > 0; n_lines--, what->n_lines--) {
        __builtin_prefetch(what->next, 1, 2); /* for writing; into the second-level cache */
        what->next += DG_CACHE_LINE;
    }
}

/** Return how many lines to fetch at each of n_steps steps, so that together they fetch all. Requires: n_steps > 0. */
static inline size_t dg_prefetch_share(const dg_prefetch *what, size_t n_steps)
{
    return (what->n_lines + n_steps - 1) / n_steps;
}

#endif
