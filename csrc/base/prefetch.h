/* Memory that is written soon, brought to the cache a few lines at a time while the processor
 * computes something that needs none. Writing then does not wait for it. What is written is the same
 * with and without. */
#ifndef DG_BASE_PREFETCH_H
#define DG_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/* In bytes, of most machines: on others too little is fetched, or some twice. */
enum { DG_CACHE_LINE = 64 };

typedef struct dg_prefetch {
    const uint8_t *next;
    size_t n_lines; /* that are left to fetch */
} dg_prefetch;

/** Fetch so many lines, or all that are left. */
static inline void dg_prefetch_lines(dg_prefetch *what, size_t n_lines)
{
    for (; n_lines > 0 && what->n_lines > 0; n_lines--, what->n_lines--) {
        __builtin_prefetch(what->next, 1, 2); /* to be written; to the second cache */
        what->next += DG_CACHE_LINE;
    }
}

/** How many lines to fetch at each of n_steps > 0, so that all are. */
static inline size_t dg_prefetch_share(const dg_prefetch *what, size_t n_steps)
{
    return (what->n_lines + n_steps - 1) / n_steps;
}

#endif
