/* Which keys are equal, and items of groups put in their places: in linear time. */
#ifndef DG_API_GROUP_H
#define DG_API_GROUP_H

#include "api/run.h"

#include <stddef.h>
#include <stdint.h>

/** Groups of equal keys, numbered in order of first appearance. */
typedef struct dg_groups {
    size_t n;
    uint32_t *which;       /* of each key the group; */
    size_t *first;         /* of each group the place of its first key, */
    size_t *counts;        /* and how many keys it has */
    size_t n_keys, repeat; /* keys take turns, each for so many items in a row */
} dg_groups;

/** Group the keys words[i stride], i = 0 ... n - 1.
 *
 *  Requires:  n > 0; most < 2^32 - 1.
 *  Ensures:   DG_OK -> to be freed by dg_groups_free; groups->n <= most, or most + 1: there are more groups, and
 *             the rest says nothing. Otherwise there is nothing to free.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_STOPPED: by run->pause.
 *  Cost:      a few nanoseconds a key; ends early where there are more groups than most.
 */
dg_status dg_group(dg_groups *groups, const uint64_t *words, size_t stride, size_t n, size_t most,
                   const dg_run *run);

void dg_groups_free(dg_groups *groups);

/** The place of item i's key. */
static inline size_t dg_key_of(const dg_groups *groups, size_t i)
{
    return (groups->repeat > 1 ? i / groups->repeat : i) % groups->n_keys;
}

/** Let `first` and `counts` be those of n items, of which keys take turns, each for `repeat` in a row. */
void dg_groups_spread(dg_groups *groups, size_t repeat, size_t n);

/** Count the items [first, end) of each group. */
void dg_groups_count(size_t *counts, const dg_groups *groups, size_t first, size_t end);

/** Take items [first, end) in turn from the group of each place: out[i] = items[following[group of i]++].
 *
 *  Requires:  following[g] = where those of group g's items begin that were not taken; items of 1, 2, 4 or 8 bytes,
 *             aligned.
 */
void dg_take_in_turn(void *out, const void *items, size_t item_bytes, size_t *following,
                     const dg_groups *groups, size_t first, size_t end);

#endif
