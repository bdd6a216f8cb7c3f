#include "cells/noise_at.h"

#include "base/wipe.h"
#include "cells/decide.h"
#include "cells/output.h"
#include "random/chacha20.h"

enum { BLOCK = DG_CHACHA20_BLOCK, BLOCK_WORDS = BLOCK / 4, COLUMNS = DG_NOISE_COLUMNS };

/** The key and the number, attempt and depth of one of ChaCha20's blocks. */
typedef struct block_at {
    const uint8_t *key;
    uint64_t number;
    uint32_t attempt, depth;
} block_at;

static void store32(uint8_t out[4], uint64_t value)
{
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

/** Return words 2 i and 2 i + 1 of a block as a number, low half first. */
static uint64_t load64(const uint8_t *block, size_t i)
{
    uint64_t value = 0;
    for (size_t k = 8; k > 0; k--) {
        value = value << 8 | block[8 * i + k - 1];
    }
    return value;
}

/** Make n blocks with consecutive numbers. Requires: the numbers differ in the low half alone. */
static void make_blocks(uint8_t *out, size_t n, const block_at *first)
{
    uint8_t nonce[DG_CHACHA20_NONCE];
    store32(nonce, first->number >> 32);
    store32(nonce + 4, first->attempt);
    store32(nonce + 8, first->depth);
    (void)dg_chacha20_rfc8439(out, n, first->key, nonce, (uint32_t)first->number, DG_ISA_AUTO);
}

/** Read the bits of f' behind its first 64, which are the same words of deeper blocks. */
static int read_deeper(void *context, uint8_t *out, size_t n)
{
    block_at *at = context;
    uint8_t block[BLOCK];
    const bool is_word = n == 8; /* dg_refine never asks for more or less */
    if (is_word) {
        at->depth++;
        make_blocks(block, 1, at);
        memcpy(out, block, n);
        dg_wipe(block, sizeof block);
    }
    return is_word ? 0 : 1;
}

/** Count the ones that lead the level's words, the first of which are in block `at`. */
static uint64_t read_level(const uint8_t *block, block_at at)
{
    uint64_t word = load64(block, 1), level = 0;
    while (word == UINT64_MAX) {
        uint8_t deeper[BLOCK];
        at.depth++;
        make_blocks(deeper, 1, &at);
        word = load64(deeper, 1);
        level += 64;
        dg_wipe(deeper, sizeof deeper);
    }
    return level + (uint64_t)__builtin_clzll(~word);
}

/** Decide the question by dg_refine. It needs a stream, which is opened for few draws only. */
static dg_status refine(bool *accepted, uint64_t f, const dg_question_at *q, const dg_table *table,
                        block_at at)
{
    const dg_source deeper = {DG_SOURCE_CALLER, read_deeper, &at};
    dg_bits bits;
    dg_bits_open(&bits, &deeper);
    const dg_status status = dg_decide_exactly(accepted, f, 64, q, table, &bits);
    dg_bits_close(&bits);
    return status;
}

/** Decide an attempt in a special cell by its block. Requires: place->tick is set. */
static dg_status decide(bool *accepted, dg_place *place, uint32_t cell, const uint8_t *block,
                        const block_at *at, const dg_table *table)
{
    *accepted = cell < table->n_full;
    if (*accepted) {
        place->block = table->block_of[cell];
        return DG_OK;
    }
    cell -= table->n_full;
    dg_question_at q = {.place = place};
    uint64_t reach;
    dg_arc arc;
    if (cell < table->n_partial) {
        const dg_partial *of = &table->partial[cell];
        place->block = of->block;
        q.m = of->level;
        reach = dg_reach(dg_ticks_inwards(place, table), table->tick_bits);
        arc = of->arc;
    } else {
        cell -= table->n_partial;
        if (cell >= 2 * table->n_tail_side) {
            return DG_OK; /* a reject cell */
        }
        const bool left = cell < table->n_tail_side;
        q.level = read_level(block, *at);
        arc = dg_tail_arc(place, &reach, left, left ? cell : cell - table->n_tail_side, q.level,
                          table);
    }
    const uint64_t f = load64(block, 0);
    if (dg_arc_tells(accepted, (uint32_t)(f >> (64 - DG_HEIGHT_BITS)), reach, &arc)) {
        return DG_OK;
    }
    return refine(accepted, f, &q, table, *at);
}

/** Find the place of a cell. Returns: false if the cell is special; *cell is then its number, and
 *  place->block means nothing. */
static bool look_up(dg_place *place, uint32_t *cell, uint64_t bits, const dg_table *table)
{
    const dg_rows *rows = &table->rows;
    const size_t row = bits & 0xFF;
    const unsigned position = bits >> 8 & 0xFF;
    const uint8_t code = rows->code[dg_row_piece(row, position, rows)][row];
    place->tick = bits >> DG_NOISE_WORD_TICK & ((UINT64_C(1) << table->tick_bits) - 1);
    place->block = table->coded_first + code;
    *cell = table->n_coded + (uint16_t)(position + rows->special[row]);
    return code != DG_SPECIAL;
}

/** Draw an item whose first cell has these bits. */
static dg_status draw(dg_place *place, uint64_t bits, block_at at, const dg_table *table)
{
    uint8_t block[BLOCK];
    uint32_t cell;
    dg_status status = DG_OK;
    bool accepted = look_up(place, &cell, bits, table);
    if (accepted) {
        return DG_OK;
    }
    at.depth = 1;
    for (at.attempt = 0; status == DG_OK && !accepted; at.attempt++) {
        make_blocks(block, 1, &at);
        status = decide(&accepted, place, cell, block, &at, table);
        if (!accepted) {
            accepted = look_up(place, &cell, load64(block, 2), table);
        }
    }
    dg_wipe(block, sizeof block);
    return status;
}

/** Draw items [item, end) of one tile into out[i ...). */
static dg_status draw_in_tile(dg_output *to, size_t i, uint64_t item, uint64_t end,
                              const uint8_t *key, uint8_t blocks[COLUMNS * BLOCK])
{
    const dg_table *table = to->table;
    const size_t words = dg_noise_words(table), items = BLOCK_WORDS / words;
    /* items of one row of the tile need their own blocks alone */
    const uint64_t column = item % COLUMNS, n = end - item;
    const bool in_row = n <= COLUMNS - column;
    const uint64_t first = in_row ? column : 0;
    const block_at cells = {key, item / (COLUMNS * items) * COLUMNS + first, 0, 0};
    make_blocks(blocks, in_row ? (size_t)n : (size_t)COLUMNS, &cells);
    for (; item < end; item++, i++) {
        const uint8_t *cell = blocks + (item % COLUMNS - first) * BLOCK;
        const size_t place_in_block = (size_t)(item / COLUMNS % items) * words;
        uint64_t bits = load64(cell, place_in_block / 2);
        bits = words == 2 ? bits : bits >> (32 * (place_in_block % 2)) & UINT32_MAX;
        dg_place place;
        DG_TRY(draw(&place, bits, (block_at){key, item, 0, 0}, table));
        const dg_int128 y = dg_int128_up(dg_int128_of(place.block), table->tick_bits);
        DG_TRY(dg_output_put(to, i, dg_int128_add(y, dg_int128_of_unsigned(place.tick))));
    }
    return DG_OK;
}

dg_status dg_table_noise_at(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                            uint64_t first_item, const uint8_t *key)
{
    uint8_t blocks[COLUMNS * BLOCK];
    if (mpz_sizeinbase(table->law->c, 2) > 64) {
        return DG_ERR_RANGE;
    }
    const uint64_t tile = COLUMNS * BLOCK_WORDS / dg_noise_words(table);
    dg_output to = dg_output_for_dtype(out, dtype, NULL, table);
    dg_status status = DG_OK;
    for (size_t i = 0, some; i < n && status == DG_OK; i += some) {
        const uint64_t item = first_item + i, left = tile - item % tile;
        some = n - i < left ? n - i : (size_t)left;
        status = draw_in_tile(&to, i, item, item + some, key, blocks);
    }
    dg_wipe(blocks, sizeof blocks);
    return status;
}
