#include "cells/decide.h"

#include "base/memory.h"
#include "base/wipe.h"
#include "bounds/refine.h"

/** Set z = value. GMP's own function takes a long, which may have 32 bits. */
static void set_int64(mpz_t z, int64_t value)
{
    const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    mpz_import(z, 1, -1, sizeof magnitude, 0, 0, &magnitude);
    if (value < 0) {
        mpz_neg(z, z);
    }
}

static void set_y(mpz_t y, const dg_question_at *q, const dg_table *table, mpz_t scratch)
{
    set_int64(y, q->place->block);
    mpz_mul_2exp(y, y, table->tick_bits);
    mpz_import(scratch, 1, -1, sizeof q->place->tick, 0, 0, &q->place->tick);
    mpz_add(y, y, scratch);
    mpz_mul_2exp(y, y, 8 * table->rest_bytes);
    mpz_import(scratch, table->rest_bytes, -1, 1, 0, 0, q->rest);
    mpz_add(y, y, scratch);
}

dg_status dg_decide_exactly(bool *accepted, uint64_t leading, size_t n_bits,
                            const dg_question_at *q, const dg_table *table, dg_bits *bits)
{
    const dg_question exact = {.height = table->height, .m = q->m, .level = q->level};
    mpz_t y, f;
    DG_TRY(dg_memory_available(table->law->room_bytes));
    mpz_init2(y, table->law->limb_bits);
    mpz_init2(f, table->law->limb_bits);
    set_y(y, q, table, f);
    mpz_import(f, 1, -1, sizeof leading, 0, 0, &leading);
    dg_status status = dg_refine(accepted, f, n_bits, y, &exact, table->law, bits);
    dg_wipe_mpz(y);
    dg_wipe_mpz(f);
    mpz_clears(y, f, NULL);
    return status;
}

/** Count the leading one bits of the stream. Law: Pr[*level = i] = 2^-(i+1). */
static dg_status tail_level(uint64_t *level, dg_bits *bits)
{
    *level = 0;
    for (;;) {
        uint32_t byte;
        DG_TRY(dg_bits_byte(&byte, bits));
        for (int i = 7; i >= 0; i--) {
            if ((byte >> i & 1) == 0) {
                return DG_OK;
            }
            ++*level;
        }
    }
}

dg_arc dg_tail_arc(dg_place *place, uint64_t *reach, bool left, uint64_t cell, uint64_t level,
                   const dg_table *table)
{
    const uint64_t in_block = cell & ((UINT64_C(1) << table->tail_bits) - 1);
    const int64_t out = (int64_t)((level << table->tail_bits) + in_block);
    place->block = left ? table->first_block - 1 - out : table->last_block + 1 + out;
    *reach = 0;
    if (level >= DG_TAIL_LEVELS) {
        return dg_unknown_arc();
    }
    const unsigned part_bits = table->tail_bits + table->tick_bits - table->tail_arc_bits;
    const uint64_t offset = (in_block << table->tick_bits) + dg_ticks_inwards(place, table);
    const uint64_t row = (left ? 0 : DG_TAIL_LEVELS) + level, part = offset >> part_bits;
    *reach = dg_reach(offset - (part << part_bits), part_bits);
    return table->tail_arcs[(row << table->tail_arc_bits) + part];
}

/** Decide an attempt in a tail, whose level is drawn first. `cell` counts from the side's first one. */
static __attribute__((noinline)) dg_status decide_tail(dg_place *place, bool *accepted, bool left,
                                                       uint64_t cell, uint32_t height,
                                                       const uint8_t *rest, const dg_table *table,
                                                       dg_bits *bits)
{
    uint64_t level, reach;
    DG_TRY(tail_level(&level, bits));
    const dg_arc arc = dg_tail_arc(place, &reach, left, cell, level, table);
    if (dg_arc_tells(accepted, height, reach, &arc)) {
        return DG_OK;
    }
    const dg_question_at of_tail = {place, rest, 0, level};
    return dg_decide_exactly(accepted, height, DG_HEIGHT_BITS, &of_tail, table, bits);
}

dg_status dg_decide_in_doubt(dg_place *place, bool *accepted, uint32_t cell, uint32_t height,
                             const uint8_t *rest, const dg_table *table, dg_bits *bits)
{
    cell -= table->n_full;
    if (cell < table->n_partial) {
        const dg_partial *of = &table->partial[cell];
        place->block = of->block;
        const dg_question_at q = {place, rest, of->level, 0};
        return dg_decide_exactly(accepted, height, DG_HEIGHT_BITS, &q, table, bits);
    }
    cell -= table->n_partial;
    for (int side = 0; side < 2; side++) {
        if (cell < table->n_tail_side) {
            return decide_tail(place, accepted, side == 0, cell, height, rest, table, bits);
        }
        cell -= table->n_tail_side;
    }
    *accepted = false;
    place->block = 0;
    return DG_OK;
}
