#include "api/group.h"

#include "base/contract.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** A hash table that is at most half full. */
typedef struct table {
    struct slot {
        uint64_t key;
        uint32_t group; /* plus 1; 0: empty */
    } *slots;
    unsigned n_bits;
    uint64_t
        multiplier; /* Fibonacci hashing: the upper bits of the product depend on all of the key's */
    uint64_t steps_left; /* keys may be chosen to collide */
} table;

enum { LEAST_BITS = 6, STEPS = 16 };

/** The slot of a key, or the empty one where it belongs; NULL: too many collide. */
static struct slot *find(table *of, uint64_t key)
{
    DG_REQUIRES(of->slots != NULL);
    const size_t mask = ((size_t)1 << of->n_bits) - 1;
    size_t at = (size_t)(((key ^ key >> 32) * of->multiplier) >> (64 - of->n_bits));
    while (of->slots[at].group != 0 && of->slots[at].key != key) {
        if (of->steps_left-- == 0) {
            return NULL;
        }
        at = (at + 1) & mask;
    }
    return &of->slots[at];
}

/** Put the groups there are into a larger table. Returns: DG_OK | DG_ERR_NOMEM; the old one is freed. */
static dg_status grow(table *of, unsigned n_bits, size_t n_groups, const dg_groups *groups,
                      const uint64_t *words, size_t stride)
{
    free(of->slots);
    of->n_bits = n_bits;
    of->slots = calloc((size_t)1 << n_bits, sizeof *of->slots);
    if (of->slots == NULL) {
        return DG_ERR_NOMEM;
    }
    for (size_t g = 0; g < n_groups;) {
        const uint64_t key = words[groups->first[g] * stride];
        struct slot *at = find(of, key);
        if (at != NULL) {
            *at = (struct slot){key, (uint32_t)++g};
            continue;
        }
        /* with another multiplier, odd, those that were chosen to collide do not */
        of->multiplier = of->multiplier * of->multiplier * of->multiplier + 2;
        of->steps_left = STEPS * (UINT64_C(2) << n_bits);
        for (size_t k = 0; k >> n_bits == 0; k++) {
            of->slots[k].group = 0;
        }
        g = 0;
    }
    return DG_OK;
}

static dg_status make_room(dg_groups *groups, size_t room)
{
    size_t *first = realloc(groups->first, room * sizeof *first);
    if (first == NULL) {
        return DG_ERR_NOMEM;
    }
    groups->first = first;
    size_t *counts = realloc(groups->counts, room * sizeof *counts);
    if (counts == NULL) {
        return DG_ERR_NOMEM;
    }
    groups->counts = counts;
    return DG_OK;
}

/** Tell the groups of keys from first on, up to end or one that is new.
 *
 *  Returns:   where it stopped: also where too many collided.
 */
static size_t group_known(dg_groups *groups, table *of, const uint64_t *words, size_t stride,
                          size_t first, size_t end)
{
    const struct slot *slots = of->slots;
    const uint64_t multiplier = of->multiplier;
    const unsigned down = 64 - of->n_bits;
    const size_t mask = ((size_t)1 << of->n_bits) - 1;
    uint32_t *which = groups->which;
    size_t i = first;
    for (; i < end; i++) {
        const uint64_t key = words[i * stride];
        size_t at = (size_t)(((key ^ key >> 32) * multiplier) >> down);
        while (slots[at].key != key && slots[at].group != 0 && of->steps_left > 0) {
            of->steps_left--;
            at = (at + 1) & mask;
        }
        const uint32_t group = slots[at].group;
        if (slots[at].key != key || group == 0) {
            break;
        }
        which[i] = group - 1;
    }
    return i;
}

/** Add key i's group, if it has none and there is room for one more: else groups->n > most. */
static dg_status add_group(dg_groups *groups, table *of, size_t *room, const uint64_t *words,
                           size_t stride, size_t i, size_t n, size_t most)
{
    if (groups->n == *room) {
        const unsigned n_bits = *room == 0 ? LEAST_BITS : of->n_bits + 2;
        *room = (size_t)1 << (n_bits - 1);
        of->steps_left = STEPS * ((uint64_t)n + *room);
        DG_TRY(make_room(groups, *room));
        DG_TRY(grow(of, n_bits, groups->n, groups, words, stride));
    }
    const uint64_t key = words[i * stride];
    struct slot *at = find(of, key);
    while (at == NULL) {
        of->steps_left = 0;
        DG_TRY(grow(of, of->n_bits, groups->n, groups, words, stride));
        at = find(of, key);
    }
    if (at->group == 0 && groups->n++ < most) {
        groups->first[groups->n - 1] = i;
        *at = (struct slot){key, (uint32_t)groups->n};
    }
    return DG_OK;
}

static dg_status group_all(dg_groups *groups, table *of, const uint64_t *words, size_t stride,
                           size_t n, size_t most, const dg_run *run)
{
    enum { BLOCK = 1 << 16 };
    size_t room = 0;
    for (size_t i = 0; i < n && groups->n <= most;) {
        const size_t next = (i | (BLOCK - 1)) + 1, end = next < n ? next : n;
        i = room == 0 ? i : group_known(groups, of, words, stride, i, end);
        DG_TRY(i < end ? add_group(groups, of, &room, words, stride, i, n, most)
                       : dg_pause_at(end - 1, run));
    }
    if (groups->n <= most) {
        dg_groups_count(groups->counts, groups, 0, n);
    }
    return DG_OK;
}

dg_status dg_group(dg_groups *groups, const uint64_t *words, size_t stride, size_t n, size_t most,
                   const dg_run *run)
{
    DG_REQUIRES(n > 0 && most < UINT32_MAX);
    table of = {.multiplier = UINT64_C(0x9e3779b97f4a7c15)};
    *groups = (dg_groups){.which = malloc(n * sizeof *groups->which), .n_keys = n, .repeat = 1};
    const dg_status status =
        groups->which == NULL ? DG_ERR_NOMEM : group_all(groups, &of, words, stride, n, most, run);
    free(of.slots);
    if (status != DG_OK) {
        dg_groups_free(groups);
    }
    return status;
}

void dg_groups_free(dg_groups *groups)
{
    free(groups->which);
    free(groups->first);
    free(groups->counts);
    *groups = (dg_groups){.n = 0};
}

void dg_groups_spread(dg_groups *groups, size_t repeat, size_t n)
{
    const size_t turn = groups->n_keys * repeat, whole = n / turn, left = n % turn;
    groups->repeat = repeat;
    for (size_t g = 0; g < groups->n; g++) {
        groups->first[g] *= repeat;
        groups->counts[g] *= whole * repeat;
    }
    for (size_t k = 0; k * repeat < left; k++) {
        const size_t end = left - k * repeat;
        groups->counts[groups->which[k]] += end < repeat ? end : repeat;
    }
}

/** Count keys of each group. Of few groups four at a time, as one count waits for the last of the same group. */
static void count_keys(size_t *counts, size_t n_groups, const uint32_t *which, size_t n)
{
    enum { FEW = 256, LANES = 4, MOST = 1 << 30 };
    uint32_t of_lanes[LANES][FEW];
    size_t k = 0;
    if (n_groups <= FEW && n >= FEW && n <= (size_t)MOST) {
        for (size_t lane = 0; lane < LANES; lane++) {
            memset(of_lanes[lane], 0, n_groups * sizeof of_lanes[lane][0]);
        }
        for (; k + LANES <= n; k += LANES) {
            of_lanes[0][which[k]]++;
            of_lanes[1][which[k + 1]]++;
            of_lanes[2][which[k + 2]]++;
            of_lanes[3][which[k + 3]]++;
        }
        for (size_t g = 0; g < n_groups; g++) {
            counts[g] += (size_t)of_lanes[0][g] + of_lanes[1][g] + of_lanes[2][g] + of_lanes[3][g];
        }
    }
    for (; k < n; k++) {
        counts[which[k]]++;
    }
}

void dg_groups_count(size_t *counts, const dg_groups *groups, size_t first, size_t end)
{
    DG_REQUIRES(counts != NULL);
    const size_t repeat = groups->repeat;
    memset(counts, 0, groups->n * sizeof *counts);
    for (size_t i = first, n; i < end; i += n) {
        const size_t turn = i / repeat, key = turn % groups->n_keys;
        if (repeat == 1) {
            n = end - i < groups->n_keys - key ? end - i : groups->n_keys - key;
            count_keys(counts, groups->n, groups->which + key, n);
        } else {
            n = end / repeat > turn ? (turn + 1) * repeat - i : end - i;
            counts[groups->which[key]] += n;
        }
    }
}

#define TAKE(type)                                                                                 \
    for (size_t i = first, stop; i < end; i = stop) {                                              \
        const size_t turn = i / repeat, key = turn % groups->n_keys;                               \
        const uint32_t *which = groups->which + key;                                               \
        if (repeat == 1) {                                                                         \
            stop = end - i < groups->n_keys - key ? end : i + groups->n_keys - key;                \
            for (size_t k = 0; k < stop - i; k++) {                                                \
                ((type *)out)[i + k] = ((const type *)items)[following[which[k]]++];               \
            }                                                                                      \
        } else {                                                                                   \
            const size_t n = end / repeat > turn ? (turn + 1) * repeat - i : end - i;              \
            stop = i + n;                                                                          \
            memcpy((type *)out + i, (const type *)items + following[*which], n * sizeof(type));    \
            following[*which] += n;                                                                \
        }                                                                                          \
    }                                                                                              \
    break

void dg_take_in_turn(void *out, const void *items, size_t item_bytes, size_t *following,
                     const dg_groups *groups, size_t first, size_t end)
{
    const size_t repeat = groups->repeat;
    switch (item_bytes) {
    case 1:
        TAKE(uint8_t);
    case 2:
        TAKE(uint16_t);
    case 4:
        TAKE(uint32_t);
    default:
        TAKE(uint64_t);
    }
}
