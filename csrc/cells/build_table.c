#include "cells/build.h"

#include "base/contract.h"
#include "base/int128_portable.h"
#include "base/memory.h"
#include "cells/dispatch.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 1 << 14 };

/** Append the next block outwards. */
static dg_status extend(dg_side *to, bool is_left, dg_builder *build)
{
    if (to->n == to->room) {
        uint32_t room = to->room == 0 ? 256 : 2 * to->room;
        if (room > MOST_BLOCKS) {
            return DG_ERR_STEEP_BETA;
        }
        uint64_t *grown = realloc(to->largest_upper, room * sizeof *grown);
        if (grown == NULL) {
            return DG_ERR_NOMEM;
        }
        to->largest_upper = grown;
        grown = realloc(to->least_lower, room * sizeof *grown);
        if (grown == NULL) {
            return DG_ERR_NOMEM;
        }
        to->least_lower = grown;
        to->room = room;
        DG_TRY(dg_memory_available(build->table->law->room_bytes)); /* MPFR still needs it */
    }
    dg_enclosure *e = &build->e;
    long block = is_left ? -1 - (long)to->n : (long)to->n;
    /* the near edge: y = 0 in block 0, a block's last integer on the left */
    dg_build_edge(block, is_left, build);
    dg_weight_upper(e);
    to->largest_upper[to->n] = dg_get_word(e->upper, UNIT_BITS, true);
    dg_build_edge(block, !is_left, build);
    dg_weight_lower(e);
    to->least_lower[to->n] = dg_get_word(e->lower, UNIT_BITS, false);
    to->n++;
    return DG_OK;
}

/** Append the next block to a side that is open. Close the side if no later block can be in the core. */
static dg_status collect_block(bool *open, dg_int128 *total, dg_side *at, bool is_left,
                               dg_builder *build)
{
    if (!*open) {
        return DG_OK;
    }
    DG_TRY(extend(at, is_left, build));
    *total = dg_int128_add(*total, dg_int128_of_unsigned(at->least_lower[at->n - 1]));
    const dg_int128 largest = dg_int128_of_unsigned(at->largest_upper[at->n - 1]);
    *open = !dg_int128_less(dg_int128_up(largest, build->table->index_bits), *total);
    return DG_OK;
}

/** Collect blocks until no later one can be in the core. Any H that fits has H sum(least) <=
 * 2^index_bits, so a block with largest 2^index_bits / sum(least) < 1 has H largest < 1. */
static dg_status collect_blocks(dg_builder *build)
{
    dg_int128 total = dg_int128_of(0);
    bool open[2] = {true, true};
    while (open[0] || open[1]) {
        DG_TRY(collect_block(&open[0], &total, &build->right, false, build));
        DG_TRY(collect_block(&open[1], &total, &build->left, true, build));
    }
    return DG_OK;
}

static uint32_t cells_of(uint32_t height, uint64_t largest_upper)
{
    dg_int128 less_than_one = dg_int128_of_unsigned((UINT64_C(1) << UNIT_BITS) - 1);
    dg_int128 product = dg_int128_product(height, largest_upper);
    return (uint32_t)dg_int128_down(dg_int128_add(product, less_than_one), UNIT_BITS).low;
}

static uint32_t full_cells_of(uint32_t height, uint64_t least_lower)
{
    return (uint32_t)dg_int128_down(dg_int128_product(height, least_lower), UNIT_BITS).low;
}

/** Return how many blocks of one side have H largest >= 1, by its upper bound. They come first. */
static uint32_t core_blocks(const dg_side *at, uint32_t height)
{
    uint32_t n = 0;
    while (n < at->n &&
           dg_int128_down(dg_int128_product(height, at->largest_upper[n]), UNIT_BITS).low >= 1) {
        n++;
    }
    return n;
}

static uint64_t count_cells(const dg_builder *build, uint32_t height)
{
    const dg_side *sides[] = {&build->right, &build->left};
    uint64_t total = 0;
    for (int i = 0; i < 2; i++) {
        uint32_t n = core_blocks(sides[i], height);
        for (uint32_t j = 0; j < n; j++) {
            total += cells_of(height, sides[i]->largest_upper[j]);
        }
    }
    return total;
}

/** Return the largest H whose core leaves room for 4 2^tail_bits cells, or 0 if there is none. */
static uint32_t largest_height(const dg_builder *build, unsigned tail_bits)
{
    uint64_t all = UINT64_C(1) << build->table->index_bits, tails = UINT64_C(4) << tail_bits;
    uint32_t low = 0,
             high = (uint32_t)all; /* low fits, high does not (y = 0 alone needs H cells) */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (count_cells(build, middle) + tails <= all) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Return whether g(r0 +- W)/g(r0) <= 1/2 is certain on both sides, r0 being the tail's first integer.
 *  Exponents are compared, because g itself underflows if sigma is tiny. */
static bool tails_halve(dg_builder *build, unsigned tail_bits)
{
    const dg_table *table = build->table;
    dg_enclosure *e = &build->e;
    for (int left = 0; left < 2; left++) {
        const long first = left ? table->first_block - 1 : table->last_block + 1;
        const long beyond = left ? first - (1L << tail_bits) : first + (1L << tail_bits);
        dg_build_edge(first, left, build);
        dg_exponent_upper(e);
        dg_build_edge(beyond, left, build);
        dg_exponent_lower(e);
        /* phi is convex and phi(0) = 0, so phi(r) <= phi(r + W) r/(r + W), and phi(r + W) - phi(r)
         * >= phi(r + W) W/(r + W) >= 2^20 2^-15, r being less than 2^14 + 2 blocks. This holds even
         * if the upper bound of phi(r) is infinite. */
        if (mpfr_cmp_ui_2exp(e->lower, 1, 20) >= 0) {
            continue;
        }
        mpfr_const_log2(e->work, MPFR_RNDU);
        mpfr_add(e->upper, e->upper, e->work, MPFR_RNDU);
        if (mpfr_less_p(e->lower, e->upper)) {
            return false;
        }
    }
    return true;
}

/** Choose H and the tails. */
static dg_status choose_height(dg_builder *build)
{
    dg_table *table = build->table;
    for (table->tail_bits = 0; table->tail_bits + 2 < table->index_bits; table->tail_bits++) {
        table->height = largest_height(build, table->tail_bits);
        if (table->height == 0) {
            break;
        }
        build->n_right = core_blocks(&build->right, table->height);
        build->n_left = core_blocks(&build->left, table->height);
        if (build->n_right == 0 || build->n_right == build->right.n ||
            build->n_left == build->left.n) {
            return DG_ERR_STEEP_BETA; /* not reached: collect_blocks went past the core */
        }
        table->first_block = -(int32_t)build->n_left;
        table->last_block = (int32_t)build->n_right - 1;
        if (tails_halve(build, table->tail_bits)) {
            table->n_tail_side = UINT32_C(2) << table->tail_bits;
            return DG_OK;
        }
    }
    return DG_ERR_STEEP_BETA;
}

static uint32_t full_cells_in(int32_t block, const dg_builder *build)
{
    const dg_side *at = block < 0 ? &build->left : &build->right;
    return full_cells_of(build->table->height, at->least_lower[block < 0 ? -1 - block : block]);
}

static uint32_t cells_in(int32_t block, const dg_builder *build)
{
    const dg_side *at = block < 0 ? &build->left : &build->right;
    return cells_of(build->table->height, at->largest_upper[block < 0 ? -1 - block : block]);
}

/** Choose the blocks with codes: as many as are allowed, those with the most full cells, which are
 * neighbours. If there are none, coded_last < coded_first. */
static void choose_coded(dg_builder *build)
{
    dg_table *table = build->table;
    const int32_t most = (int32_t)(UINT32_C(1) << table->rows.row_bits) - 1;
    int32_t first = 0, end = 0;
    while (end - first < most) {
        uint32_t below = first > table->first_block ? full_cells_in(first - 1, build) : 0;
        uint32_t above = end <= table->last_block ? full_cells_in(end, build) : 0;
        if (below == 0 && above == 0) {
            break;
        }
        *(below > above ? &first : &end) += below > above ? -1 : 1;
    }
    table->coded_first = first;
    table->coded_last = end - 1;
}

/** Append the full cells of blocks first ... last. */
static void lay_out_full(int32_t first, int32_t last, dg_builder *build)
{
    dg_table *table = build->table;
    for (int32_t block = first; block <= last; block++) {
        for (uint32_t i = full_cells_in(block, build); i > 0; i--) {
            table->block_of[table->n_full++] = (int16_t)block;
        }
    }
}

/** Lay the cells out in order: full, partial, tails, reject. */
static void lay_out(dg_builder *build)
{
    dg_table *table = build->table;
    lay_out_full(table->coded_first, table->coded_last, build);
    table->n_coded = table->n_full;
    lay_out_full(table->first_block, table->coded_first - 1, build);
    lay_out_full(table->coded_last + 1, table->last_block, build);
    uint32_t n_partial = 0;
    for (int32_t block = table->first_block; block <= table->last_block; block++) {
        const uint32_t cells = cells_in(block, build);
        for (uint32_t level = full_cells_in(block, build); level < cells; level++) {
            table->partial[n_partial++] =
                (dg_partial){(int16_t)block, (uint16_t)level, {0, 0, 0, 0}};
        }
    }
}

/** Set n_partial, and lay out the rows. */
static void count_partial_and_rows(dg_builder *build)
{
    dg_table *table = build->table;
    uint32_t count[DG_CODES], n = 0, n_coded = 0;
    for (int32_t block = table->first_block; block <= table->last_block; block++) {
        uint32_t full = full_cells_in(block, build);
        table->n_partial += cells_in(block, build) - full;
        if (block >= table->coded_first && block <= table->coded_last) {
            count[n++] = full;
            n_coded += full;
        }
    }
    dg_rows_build(&table->rows, count, n, (UINT32_C(1) << table->index_bits) - n_coded);
}

/** Return about floor(log2 of the width that the blocks with codes should cover). The law is exact for
 *  any value. A width of 5 1/3 sigma, or 2 * 4.6^(1/beta) scale, leaves at most about 1/100 of the law
 *  beyond it. Fewer blocks have more partial cells; more blocks leave more of them without codes. */
static long width_bits(const dg_law *law)
{
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN;
    unsigned long factor = squared ? 28 : 8;
    mpz_t width;
    mpz_init(width);
    if (law->kind == DG_GENERALIZED_GAUSSIAN) {
        mpz_mul_ui(width, law->beta_num, 4);
        mpz_fdiv_q(width, width, law->beta_den); /* 4 beta */
        factor = mpz_cmp_ui(width, 5) < 0    ? 8
                 : mpz_cmp_ui(width, 7) < 0  ? 5
                 : mpz_cmp_ui(width, 10) < 0 ? 4
                                             : 3;
    }
    mpz_mul_ui(width, law->a, factor);
    mpz_fdiv_q(width, width, law->b);
    long n_bits = (long)mpz_sizeinbase(width, 2) - 1;
    mpz_clear(width);
    return squared ? n_bits / 2 : n_bits;
}

static void choose_blocks(dg_table *table, long block_bits)
{
    long bits = width_bits(table->law) - (long)table->rows.row_bits + 1;
    table->block_bits = block_bits >= 0 ? (size_t)block_bits : bits > 0 ? (size_t)bits : 0;
    size_t rest_bits = table->block_bits > DG_TICK_BITS ? table->block_bits - DG_TICK_BITS : 0;
    table->rest_bytes = (rest_bits + 7) / 8;
    table->tick_bits = (unsigned)(table->block_bits - 8 * table->rest_bytes);
}

/** Set table->centre_bytes to c in two's complement. law->wide_bytes leaves room for its sign. */
static dg_status write_centre(dg_table *table)
{
    const size_t n_bytes = table->law->wide_bytes;
    table->centre_bytes = calloc(n_bytes, 1);
    if (table->centre_bytes == NULL) {
        return DG_ERR_NOMEM;
    }
    mpz_t wrapped;
    mpz_init(wrapped);
    mpz_fdiv_r_2exp(wrapped, table->law->c, 8 * n_bytes); /* c modulo 256^n_bytes */
    mpz_export(table->centre_bytes, NULL, -1, 1, 0, 0, wrapped);
    mpz_clear(wrapped);
    return DG_OK;
}

static dg_status build_table(dg_builder *build)
{
    dg_table *table = build->table;
    DG_TRY(collect_blocks(build));
    DG_TRY(choose_height(build));
    choose_coded(build);
    count_partial_and_rows(build);
    table->block_of = calloc((size_t)1 << table->index_bits, sizeof *table->block_of);
    table->partial = calloc((size_t)table->n_partial + 1, sizeof *table->partial);
    dg_build_tail_arc_bits(table);
    table->tail_arcs = calloc(dg_table_tail_arcs(table), sizeof *table->tail_arcs);
    if (table->block_of == NULL || table->partial == NULL || table->tail_arcs == NULL) {
        return DG_ERR_NOMEM;
    }
    DG_TRY(dg_memory_available(table->law->room_bytes));
    lay_out(build);
    DG_TRY(write_centre(table));
    return dg_build_arcs(build);
}

dg_status dg_table_build(dg_table **out, const dg_law *law, unsigned index_bits, long block_bits,
                         dg_isa isa)
{
    DG_REQUIRES(law->kind >= DG_DISCRETE_LAPLACE);
    DG_REQUIRES(index_bits >= 4 && index_bits <= DG_INDEX_BITS);
    *out = NULL;
    DG_TRY(dg_memory_available(law->room_bytes));
    dg_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return DG_ERR_NOMEM;
    }
    table->law = law;
    table->index_bits = index_bits;
    table->rows.row_bits = (index_bits + 1) / 2;
    table->rows.position_bits = index_bits / 2;
    choose_blocks(table, block_bits);
    dg_dispatch(table, isa);
    dg_builder build;
    memset(&build, 0, sizeof build);
    build.table = table;
    mpz_init(build.block_d);
    mpz_mul_2exp(build.block_d, law->d, table->block_bits);
    dg_enclosure_open_for_table(&build.e, law);
    dg_status status = build_table(&build);
    dg_enclosure_close(&build.e);
    mpz_clear(build.block_d);
    free(build.right.largest_upper);
    free(build.right.least_lower);
    free(build.left.largest_upper);
    free(build.left.least_lower);
    if (status != DG_OK) {
        dg_table_release(table);
        return status;
    }
    *out = table;
    return DG_OK;
}

size_t dg_table_bytes(const dg_table *table)
{
    return sizeof *table + (sizeof *table->block_of << table->index_bits) +
           table->n_partial * sizeof *table->partial +
           dg_table_tail_arcs(table) * sizeof *table->tail_arcs + table->law->wide_bytes;
}

void dg_table_release(dg_table *table)
{
    if (table != NULL) {
        free(table->centre_bytes);
        free(table->block_of);
        free(table->partial);
        free(table->tail_arcs);
        free(table);
    }
}
