/* What arrays of parameters need beside draws: which keys are equal, by a hash table; and items of groups
 * put where the keys were. */
#include "discretegauss.h"

#include <stdlib.h>
#include <string.h>

typedef struct slot {
    uint64_t key;
    int32_t group; /* plus 1; 0: empty */
} slot;

dg_status dg_group(int32_t *which, int32_t *first, int64_t *counts, size_t *n_groups,
                   const uint64_t *keys, size_t n, size_t most)
{
    unsigned n_bits = 4;
    while ((size_t)1 << n_bits < 2 * most + 2) {
        n_bits++;
    }
    const size_t mask = ((size_t)1 << n_bits) - 1;
    slot *slots = calloc(mask + 1, sizeof *slots);
    if (slots == NULL) {
        return DG_ERR_NOMEM;
    }
    size_t found = 0, steps_left = 16 * (n + 16); /* keys may be chosen to collide */
    for (size_t i = 0; i < n && found <= most; i++) {
        /* Fibonacci hashing: the upper bits of the product depend on all of the key's */
        const uint64_t key = keys[i], mixed = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
        size_t at = (size_t)(mixed >> (64 - n_bits));
        while (slots[at].group != 0 && slots[at].key != key && steps_left > 0) {
            at = (at + 1) & mask;
            steps_left--;
        }
        if (steps_left == 0) {
            found = most + 1;
        } else if (slots[at].group != 0) {
            which[i] = slots[at].group - 1;
            counts[which[i]]++;
        } else {
            if (found < most) {
                which[i] = (int32_t)found;
                first[found] = (int32_t)i;
                counts[found] = 1;
                slots[at] = (slot){key, (int32_t)found + 1};
            }
            found++;
        }
    }
    free(slots);
    *n_groups = found;
    return DG_OK;
}

void dg_take_in_turn(void *out, const void *items, size_t item_bytes, int64_t *following,
                     const int32_t *which, size_t n)
{
    switch (item_bytes) {
    case 1:
        for (size_t i = 0; i < n; i++) {
            ((uint8_t *)out)[i] = ((const uint8_t *)items)[following[which[i]]++];
        }
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            ((uint16_t *)out)[i] = ((const uint16_t *)items)[following[which[i]]++];
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++) {
            ((uint32_t *)out)[i] = ((const uint32_t *)items)[following[which[i]]++];
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            ((uint64_t *)out)[i] = ((const uint64_t *)items)[following[which[i]]++];
        }
    }
}
