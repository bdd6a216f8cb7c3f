/* The output of draws, with c added: an array of machine integers, or of integers of any size. */
#ifndef DG_CELLS_OUTPUT_H
#define DG_CELLS_OUTPUT_H

#include "base/dtype.h"
#include "base/int128_portable.h"
#include "cells/table.h"

#include <string.h>

/** The output of one chunk. */
typedef struct dg_output {
    const dg_table *table;
    uint8_t *out;  /* the chunk's part of the output */
    size_t stride; /* bytes of an item */
    bool wide;     /* items are integers of `stride` bytes, else of this dtype: */
    dg_dtype dtype;
    bool direct; /* the dtype holds the whole core, and rest_bytes = 0 */
    dg_int128 c;
    uint8_t *rest; /* the rests, which are the low bytes of wide items */
    size_t rest_stride;
} dg_output;

/** Return an output of machine integers. Requires: |c| < 2^64; rest has room for a chunk's rests. */
dg_output dg_output_for_dtype(void *out, dg_dtype dtype, uint8_t *rest, const dg_table *table);

/** Return an output of integers of n_bytes, in two's complement. Requires: n_bytes >= law->wide_bytes. */
dg_output dg_output_for_bytes(uint8_t *out, size_t n_bytes, const dg_table *table);

/** Set item i of the chunk to c + (y 2^(8 rest_bytes) + rest). Returns: DG_OK | DG_ERR_RANGE. */
dg_status dg_output_put(const dg_output *to, size_t i, dg_int128 y);

/** Set item i to value, cut to the item. */
static inline void dg_item_put(uint8_t *out, size_t i, size_t stride, uint64_t value)
{
    const uint32_t value32 = (uint32_t)value;
    const uint16_t value16 = (uint16_t)value;
    const uint8_t value8 = (uint8_t)value;
    switch (stride) {
    case 1:
        memcpy(out + i, &value8, 1);
        break;
    case 2:
        memcpy(out + 2 * i, &value16, 2);
        break;
    case 4:
        memcpy(out + 4 * i, &value32, 4);
        break;
    default:
        memcpy(out + 8 * i, &value, 8);
    }
}

/** Return item i, without sign. */
static inline uint64_t dg_item_at(const uint8_t *out, size_t i, size_t stride)
{
    uint8_t value8;
    uint16_t value16;
    uint32_t value32;
    uint64_t value;
    switch (stride) {
    case 1:
        memcpy(&value8, out + i, 1);
        return value8;
    case 2:
        memcpy(&value16, out + 2 * i, 2);
        return value16;
    case 4:
        memcpy(&value32, out + 4 * i, 4);
        return value32;
    default:
        memcpy(&value, out + 8 * i, 8);
        return value;
    }
}

#endif
