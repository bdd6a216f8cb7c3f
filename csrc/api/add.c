#include "api/add.h"

#include <string.h>

/** Add in place. Returns: with its top bit, whether some sum has a sign that neither summand has. */
static inline uint64_t add(int64_t *to, const int64_t *addend, size_t n)
{
    uint64_t overflows = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)to[i], y = (uint64_t)addend[i], sum = x + y;
        overflows |= (x ^ sum) & (y ^ sum);
        to[i] = (int64_t)sum;
    }
    return overflows;
}

/** As `add`, but 0 where is_null is 1: sums there are neither kept nor looked at. */
static inline uint64_t add_shown(int64_t *to, const int64_t *addend, const uint8_t *is_null,
                                 size_t n)
{
    uint64_t overflows = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)to[i], y = (uint64_t)addend[i], sum = x + y;
        const uint64_t shown = (uint64_t)is_null[i] - 1; /* all bits, or none */
        overflows |= (x ^ sum) & (y ^ sum) & shown;
        to[i] = (int64_t)(sum & shown);
    }
    return overflows;
}

int dg_add(int64_t *to, const int64_t *addend, size_t n)
{
    return add(to, addend, n) >> 63 != 0;
}

int dg_add_shown(int64_t *to, const int64_t *addend, const uint8_t *is_null, size_t n)
{
    enum { BLOCK = 64 }; /* mostly without a null: then nothing is masked */
    uint64_t overflows = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t m = n - i < BLOCK ? n - i : BLOCK;
        if (memchr(is_null + i, 1, m) == NULL) {
            overflows |= add(to + i, addend + i, m);
        } else {
            overflows |= add_shown(to + i, addend + i, is_null + i, m);
        }
    }
    return overflows >> 63 != 0;
}
