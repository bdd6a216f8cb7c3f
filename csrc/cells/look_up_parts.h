/* What the loops in plain C and in AVX2 share: mixed rows, a draw at a time; and the items of a batch,
 * in groups, which compilers make by the vector instructions of the function that they are inlined in.
 * To be included by a loop that has defined INLINE, and defines gather_bits. */

enum { GROUP = 64 };
_Static_assert(GROUP % 8 == 0, "a group begins with a byte of the planes of bits");
_Static_assert((int)GROUP <= (int)DG_LOOK_UP_BEHIND && (int)GROUP <= (int)DG_FOUND_BEHIND,
               "the last group may be read and written as a whole");

/** The bits of a group's ticks that planes of bits hold, a byte a draw. */
INLINE void gather_bits(uint8_t out[GROUP], const uint8_t *planes, size_t plane_bytes,
                        unsigned n_planes);

/** Find the codes of the draws in mixed rows, too. The special ones are then at[0], at[1], ... */
INLINE void look_up_mixed(dg_found *found, const dg_planes *planes, const dg_rows *rows,
                          size_t row_mask, unsigned position_mask)
{
    const size_t n_mixed = found->n_mixed;
    const uint8_t *row_of = planes->rows, *positions = planes->positions;
    size_t n_special = 0;
    for (size_t k = 0; k < n_mixed; k++) {
        const size_t i = found->at[k], row = row_of[i] & row_mask;
        const unsigned position = positions[k] & position_mask;
        const uint8_t code = rows->code[dg_row_piece(row, position, rows)][row];
        found->code[i] = code;
        found->position_of[i] = (uint8_t)position;
        found->at[n_special] = (uint16_t)i; /* n_special <= k: none that is still to come */
        n_special += code == DG_SPECIAL;
    }
    found->n_special = n_special;
}

/** value[i] = code 2^tick_bits + tick of a group's draws, in an integer type that holds it. */
#define DG_GROUP_VALUES(name, type)                                                                \
    INLINE void name(type value[restrict GROUP], const uint8_t code[restrict GROUP], size_t first, \
                     const dg_planes *restrict planes, unsigned tick_bits)                         \
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
    INLINE void name##_group(type *restrict out, const uint8_t *code, type c, size_t first,        \
                             const dg_planes *planes, unsigned tick_bits)                          \
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
    INLINE void name(type *out, const uint8_t *code, type c, const dg_planes *planes,              \
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

/** out[i] = c + code[i] 2^tick_bits + tick, cut to item_size bytes. */
INLINE void put_items(void *out, const uint8_t *code, size_t item_size, uint64_t c,
                      const dg_planes *planes, unsigned tick_bits)
{
    switch (item_size) {
    case 1:
        look_up_8(out, code, (uint8_t)c, planes, tick_bits);
        break;
    case 2:
        look_up_16(out, code, (uint16_t)c, planes, tick_bits);
        break;
    case 4:
        look_up_32(out, code, (uint32_t)c, planes, tick_bits);
        break;
    default:
        look_up_64(out, code, c, planes, tick_bits);
    }
}
