#include "cells/look_up.h"

size_t dg_count_mixed_portable(const uint8_t *rows, size_t n, const dg_table *table)
{
    const size_t mask = ((size_t)1 << table->rows.row_bits) - 1;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += dg_row_is_mixed(rows[i] & mask, &table->rows);
    }
    return count;
}

/* One loop for every output type. */
#define DG_LOOK_UP(name, type)                                                                     \
    static inline uint32_t name(type *out, uint16_t *at, uint8_t *position_of, uint64_t c,         \
                                const dg_planes *planes, const dg_table *table)                    \
    {                                                                                              \
        const dg_rows *rows = &table->rows;                                                        \
        const size_t row_mask = ((size_t)1 << rows->row_bits) - 1;                                 \
        const unsigned position_mask = (1u << rows->position_bits) - 1;                            \
        const unsigned tick_bits = table->tick_bits;                                               \
        const uint8_t *next = planes->positions;                                                   \
        uint32_t count = 0;                                                                        \
        for (size_t i = 0; i < planes->n; i++) {                                                   \
            size_t row = planes->rows[i] & row_mask;                                               \
            unsigned mixed = dg_row_is_mixed(row, rows);                                           \
            /* of a row that is not mixed 0: the byte is another's, or past the end */             \
            unsigned position = *next & position_mask & (0 - mixed);                               \
            next += mixed;                                                                         \
            unsigned code = rows->code[dg_row_piece(row, position, rows)][row];                    \
            uint64_t block = (uint64_t)table->coded_first + code;                                  \
            out[i] = (type)(c + (block << tick_bits) +                                             \
                            (tick_bits == 0 ? 0 : dg_tick(planes, i, tick_bits)));                 \
            position_of[i] = (uint8_t)position;                                                    \
            at[count] = (uint16_t)i;                                                               \
            count += code == DG_SPECIAL;                                                           \
        }                                                                                          \
        return count;                                                                              \
    }

DG_LOOK_UP(look_up_8, uint8_t)
DG_LOOK_UP(look_up_16, uint16_t)
DG_LOOK_UP(look_up_32, uint32_t)
DG_LOOK_UP(look_up_64, uint64_t)

uint32_t dg_look_up_portable(void *out, size_t item_size, uint16_t *at, uint8_t *position_of,
                             uint64_t c, const dg_planes *planes, const dg_table *table)
{
    switch (item_size) {
    case 1:
        return look_up_8(out, at, position_of, c, planes, table);
    case 2:
        return look_up_16(out, at, position_of, c, planes, table);
    case 4:
        return look_up_32(out, at, position_of, c, planes, table);
    default:
        return look_up_64(out, at, position_of, c, planes, table);
    }
}
