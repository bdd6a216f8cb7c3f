/* The hot loop in plain C, for every machine. Rows are looked up a draw at a time: one short step for
 * each draw, then a longer one for those in mixed rows. Items are made in groups, which compilers turn
 * into vector instructions. */
#include "cells/look_up.h"

#include <string.h>

enum { GROUP = 64 };
_Static_assert(GROUP % 8 == 0, "a group begins with a byte of the planes of bits");
_Static_assert((int)GROUP <= (int)DG_LOOK_UP_BEHIND && (int)GROUP <= (int)DG_RESULT_BEHIND,
               "the last group may be read and written as a whole");

/** Find the codes of all draws but those in mixed rows, and list these in at[0], at[1], ... */
static void look_up_whole(dg_look_up_result *result, const uint8_t *rows, size_t n,
                          const dg_table *table)
{
    const size_t mask = ((size_t)1 << table->rows.row_bits) - 1;
    size_t n_mixed = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t code = table->rows.whole[rows[i] & mask];
        result->code[i] = code;
        result->at[n_mixed] = (uint16_t)i;
        n_mixed += code == DG_SPECIAL;
    }
    result->n_mixed = n_mixed;
}

/** Find the codes of the draws in mixed rows, and list the special ones in at[0], at[1], ... */
static void look_up_mixed(dg_look_up_result *result, const dg_planes *planes, const dg_rows *rows)
{
    const size_t row_mask = ((size_t)1 << rows->row_bits) - 1, n_mixed = result->n_mixed;
    const unsigned position_mask = (1u << rows->position_bits) - 1;
    const uint8_t *row_of = planes->rows, *positions = planes->positions;
    size_t n_special = 0;
    for (size_t k = 0; k < n_mixed; k++) {
        const size_t i = result->at[k], row = row_of[i] & row_mask;
        const unsigned position = positions[k] & position_mask;
        const uint8_t code = rows->code[dg_row_piece(row, position, rows)][row];
        result->code[i] = code;
        result->position_of[i] = (uint8_t)position;
        result->at[n_special] = (uint16_t)i; /* n_special <= k: this entry is read already */
        n_special += code == DG_SPECIAL;
    }
    result->n_special = n_special;
}

/** Return bit i of `bits` as byte i. */
static inline uint64_t spread(uint8_t bits)
{
    /* to byte i as its bit i, then as its highest bit (no sum leaves its byte), then as its lowest */
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t each = (bits * ones) & UINT64_C(0x8040201008040201);
    return ((each + 0x7F * ones) >> 7) & ones;
}

/** The bits of a group's ticks that planes of bits hold, a byte a draw. */
static void gather_bits(uint8_t out[GROUP], const uint8_t *planes, size_t plane_bytes,
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

/** Set value[i] = code 2^tick_bits + tick of a group's draws, in an integer type that holds it. */
#define DG_GROUP_VALUES(name, type)                                                                \
    static inline void name(type value[restrict GROUP], const uint8_t code[restrict GROUP],        \
                            size_t first, const dg_planes *restrict planes, unsigned tick_bits)    \
    {                                                                                              \
        const size_t n = planes->n;                                                                \
        const unsigned n_bytes = tick_bits / 8, n_bits = tick_bits % 8;                            \
        for (size_t i = 0; i < GROUP; i++) {                                                       \
            value[i] = (type)code[i] << tick_bits;                                                 \
        }                                                                                          \
        for (unsigned k = 0; k < n_bytes; k++) {                                                   \
            const uint8_t *restrict plane = planes->ticks + k * n + first;                         \
            for (size_t i = 0; i < GROUP; i++) {                                                   \
                value[i] |= (type)plane[i] << (8 * k);                                             \
            }                                                                                      \
        }                                                                                          \
        if (n_bits > 0) {                                                                          \
            uint8_t bits[GROUP];                                                                   \
            gather_bits(bits, planes->ticks + n_bytes * n + first / 8, (n + 7) / 8, n_bits);       \
            for (size_t i = 0; i < GROUP; i++) {                                                   \
                value[i] |= (type)bits[i] << (8 * n_bytes);                                        \
            }                                                                                      \
        }                                                                                          \
    }

DG_GROUP_VALUES(group_values_32, uint32_t)
DG_GROUP_VALUES(group_values_64, uint64_t)

/* One loop for every output type. */
#define DG_LOOK_UP(name, type)                                                                     \
    static inline void name##_group(type *restrict out, const uint8_t *code, type c, size_t first, \
                                    const dg_planes *planes, unsigned tick_bits)                   \
    {                                                                                              \
        if (tick_bits <= 24) { /* codes are below 2^8 */                                           \
            uint32_t value[GROUP];                                                                 \
            group_values_32(value, code + first, first, planes, tick_bits);                        \
            for (size_t i = 0; i < GROUP; i++) {                                                   \
                out[i] = (type)(c + (type)value[i]);                                               \
            }                                                                                      \
        } else {                                                                                   \
            uint64_t value[GROUP];                                                                 \
            group_values_64(value, code + first, first, planes, tick_bits);                        \
            for (size_t i = 0; i < GROUP; i++) {                                                   \
                out[i] = (type)(c + (type)value[i]);                                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name(type *out, const uint8_t *code, type c, const dg_planes *planes,              \
                     unsigned tick_bits)                                                           \
    {                                                                                              \
        size_t first = 0;                                                                          \
        for (; planes->n - first >= GROUP; first += GROUP) {                                       \
            name##_group(out + first, code, c, first, planes, tick_bits);                          \
        }                                                                                          \
        if (first < planes->n) {                                                                   \
            type last[GROUP];                                                                      \
            name##_group(last, code, c, first, planes, tick_bits);                                 \
            memcpy(out + first, last, (planes->n - first) * sizeof *last);                         \
        }                                                                                          \
    }

DG_LOOK_UP(look_up_8, uint8_t)
DG_LOOK_UP(look_up_16, uint16_t)
DG_LOOK_UP(look_up_32, uint32_t)
DG_LOOK_UP(look_up_64, uint64_t)

void dg_look_up_portable(void *out, dg_look_up_result *result, size_t item_size, uint64_t c,
                         const dg_planes *planes, const dg_table *table)
{
    const unsigned tick_bits = table->tick_bits;
    look_up_whole(result, planes->rows, planes->n, table);
    look_up_mixed(result, planes, &table->rows);
    c += (uint64_t)table->coded_first << tick_bits;
    switch (item_size) {
    case 1:
        look_up_8(out, result->code, (uint8_t)c, planes, tick_bits);
        break;
    case 2:
        look_up_16(out, result->code, (uint16_t)c, planes, tick_bits);
        break;
    case 4:
        look_up_32(out, result->code, (uint32_t)c, planes, tick_bits);
        break;
    default:
        look_up_64(out, result->code, c, planes, tick_bits);
    }
}
