/* The hot loop in plain C, for every machine. What depends on a draw's row is done a draw at a time:
 * for all draws little, for those in mixed rows the rest. */
#include "cells/look_up.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#include "cells/look_up_parts.h"

/** Find the codes of the draws but for those in mixed rows, which are at[0], at[1], ... */
INLINE void look_up_whole(dg_found *found, const uint8_t *rows, size_t n, const dg_table *table)
{
    const size_t mask = ((size_t)1 << table->rows.row_bits) - 1;
    size_t n_mixed = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t code = table->rows.whole[rows[i] & mask];
        found->code[i] = code;
        found->at[n_mixed] = (uint16_t)i;
        n_mixed += code == DG_SPECIAL;
    }
    found->n_mixed = n_mixed;
}

/** Bit i of `bits` as byte i. */
INLINE uint64_t spread(uint8_t bits)
{
    /* to byte i as its bit i, then as its highest bit (no sum leaves its byte), then as its lowest */
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t each = (bits * ones) & UINT64_C(0x8040201008040201);
    return ((each + 0x7F * ones) >> 7) & ones;
}

INLINE void gather_bits(uint8_t out[GROUP], const uint8_t *planes, size_t plane_bytes,
                        unsigned n_planes)
{
    for (size_t i = 0; i < GROUP; i += 8) {
        uint64_t eight = 0;
        for (unsigned k = 0; k < n_planes; k++) {
            eight |= spread(planes[k * plane_bytes + i / 8]) << k;
        }
        for (size_t j = 0; j < 8; j++) {
            out[i + j] = (uint8_t)(eight >> (8 * j));
        }
    }
}

void dg_look_up_portable(void *out, dg_found *found, size_t item_size, uint64_t c,
                         const dg_planes *planes, const dg_table *table)
{
    const unsigned tick_bits = table->tick_bits;
    look_up_whole(found, planes->rows, planes->n, table);
    look_up_mixed(found, planes, &table->rows, ((size_t)1 << table->rows.row_bits) - 1,
                  (1u << table->rows.position_bits) - 1);
    c += (uint64_t)table->coded_first << tick_bits;
    put_items(out, found->code, item_size, c, planes, tick_bits);
}
