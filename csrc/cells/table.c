#include "cells/build.h"

#include "base/check.h"
#include "base/memory.h"
#include "cells/draw.h"
#include "cells/look_up.h"

#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

enum { MOST_BLOCKS = 1 << 14 };

/** round(2^bits value) in the direction asked, for 0 <= value <= 1. */
static uint64_t fixed(const mpfr_t value, unsigned bits, bool up, dg_builder *build)
{
    mpfr_mul_2ui(build->e.at_lower, value, bits, MPFR_RNDN); /* exact */
    mpfr_get_z(build->y, build->e.at_lower, up ? MPFR_RNDU : MPFR_RNDD);
    uint64_t word = 0;
    mpz_export(&word, NULL, -1, sizeof word, 0, 0, build->y);
    return word;
}

/** build->y = the first or the last integer of a block. */
static void edge_of(long block, bool last, dg_builder *build)
{
    mpz_set_si(build->y, block + last);
    mpz_mul_2exp(build->y, build->y, build->table->block_bits);
    if (last) {
        mpz_sub_ui(build->y, build->y, 1);
    }
}

/** Append the next block outwards. */
static dg_status extend(dg_side *to, bool is_left, dg_builder *build)
{
    if (to->n == to->room) {
        uint32_t room = to->room == 0 ? 256 : 2 * to->room;
        if (room > MOST_BLOCKS) {
            return DG_ERR_PARAMETER;
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
        DG_TRY(dg_memory_at_hand(build->table->law->room_bytes)); /* still, for MPFR */
    }
    long block = is_left ? -1 - (long)to->n : (long)to->n;
    /* the near edge: y = 0 in block 0, the last integer on the left */
    edge_of(block, is_left, build);
    dg_weight_upper(&build->e, build->y, build->table->law);
    to->largest_upper[to->n] = fixed(build->e.upper, UNIT_BITS, true, build);
    edge_of(block, !is_left, build);
    dg_weight_lower(&build->e, build->y, build->table->law);
    to->least_lower[to->n] = fixed(build->e.lower, UNIT_BITS, false, build);
    to->n++;
    return DG_OK;
}

/** Collect blocks until those beyond cannot belong to the core: H sum(least) <= 2^index_bits for
 * any H that fits, so a block with largest 2^index_bits / sum(least) < 1 has H largest < 1. */
static dg_status collect_blocks(dg_builder *build)
{
    dg_u128 total = 0;
    bool open[2] = {true, true};
    while (open[0] || open[1]) {
        for (int i = 0; i < 2; i++) {
            dg_side *at = i == 0 ? &build->right : &build->left;
            if (!open[i]) {
                continue;
            }
            DG_TRY(extend(at, i == 1, build));
            total += at->least_lower[at->n - 1];
            dg_u128 reach = (dg_u128)at->largest_upper[at->n - 1] << build->table->index_bits;
            open[i] = reach >= total;
        }
    }
    return DG_OK;
}

static uint32_t cells_of(uint32_t height, uint64_t largest_upper)
{
    dg_u128 product = (dg_u128)height * largest_upper;
    return (uint32_t)((product + (((dg_u128)1 << UNIT_BITS) - 1)) >> UNIT_BITS);
}

static uint32_t full_cells_of(uint32_t height, uint64_t least_lower)
{
    return (uint32_t)(((dg_u128)height * least_lower) >> UNIT_BITS);
}

/** The blocks of one side with H largest >= 1 (by its upper bound), which are its first ones. */
static uint32_t core_blocks(const dg_side *at, uint32_t height)
{
    uint32_t n = 0;
    while (n < at->n && ((dg_u128)height * at->largest_upper[n]) >> UNIT_BITS >= 1) {
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

/** The largest H whose core leaves room for 4 2^tail_bits cells; 0 if there is none. */
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

/** Whether g(r0 +- W)/g(r0) <= 1/2 is certain on both sides, r0 the tail's first integer: by the
 *  exponents, since g itself underflows where sigma is tiny. */
static bool tails_halve(dg_builder *build, unsigned tail_bits)
{
    const dg_table *table = build->table;
    mpfr_t at_first, ln2;
    bool halve = true;
    mpfr_inits2(DG_BUILD_PRECISION, at_first, ln2, (mpfr_ptr)0);
    mpfr_const_log2(ln2, MPFR_RNDU);
    for (int left = 0; left < 2 && halve; left++) {
        long first = left ? table->first_block - 1 : table->last_block + 1;
        long beyond = left ? first - (1L << tail_bits) : first + (1L << tail_bits);
        edge_of(first, left, build);
        dg_enclose_exponent(&build->e, build->y, table->law);
        mpfr_add(at_first, build->e.upper, ln2, MPFR_RNDU);
        bool overflows = mpfr_inf_p(at_first) != 0;
        edge_of(beyond, left, build);
        dg_enclose_exponent(&build->e, build->y, table->law);
        /* phi is convex and phi(0) = 0, so phi(r + W) - phi(r) >= phi(r) W/r: where phi(r) leaves
         * the range of MPFR's exponents, 2^(2^62) and more, that is past ln 2 for any r and W here.
         */
        halve = overflows || mpfr_greaterequal_p(build->e.lower, at_first) != 0;
    }
    mpfr_clears(at_first, ln2, (mpfr_ptr)0);
    return halve;
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
            return DG_ERR_PARAMETER; /* not reached: collect_blocks went past the core */
        }
        table->first_block = -(int32_t)build->n_left;
        table->last_block = (int32_t)build->n_right - 1;
        if (tails_halve(build, table->tail_bits)) {
            table->n_tail_side = UINT32_C(2) << table->tail_bits;
            return DG_OK;
        }
    }
    return DG_ERR_PARAMETER;
}

/** Lay the cells out: full, partial, tails, reject. */
static void lay_out(dg_builder *build, bool count_only)
{
    dg_table *table = build->table;
    uint32_t n_full = 0, n_partial = 0;
    for (int32_t block = table->first_block; block <= table->last_block; block++) {
        const dg_side *at = block < 0 ? &build->left : &build->right;
        uint32_t i = (uint32_t)(block < 0 ? -1 - block : block);
        uint32_t cells = cells_of(table->height, at->largest_upper[i]);
        uint32_t full = full_cells_of(table->height, at->least_lower[i]);
        for (uint32_t level = 0; level < cells; level++) {
            if (level < full) {
                if (!count_only) {
                    table->block_of[n_full] = (int16_t)block;
                }
                n_full++;
                continue;
            }
            if (!count_only) {
                table->partial[n_partial] = (dg_partial){(int16_t)block, (uint16_t)level, 0};
            }
            n_partial++;
        }
    }
    table->n_full = n_full;
    table->n_partial = n_partial;
}

/** floor(log2 of the area under g), roughly: sigma sqrt(2 pi), 2 or 3 scales. Any value gives the exact
 * law; this one gives a table of some 128 to 256 blocks' width, where partial cells are fewest. */
static long area_bits(const dg_law *law)
{
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN;
    mpz_t area; /* 6 sigma2, or 3 scale: long tails are better off with wider blocks */
    mpz_init(area);
    mpz_mul_ui(area, law->a, squared ? 6 : 3);
    mpz_fdiv_q(area, area, law->b);
    long n_bits = (long)mpz_sizeinbase(area, 2) - 1;
    mpz_clear(area);
    return squared ? n_bits / 2 : n_bits;
}

static void choose_blocks(dg_table *table, long block_bits)
{
    long bits = area_bits(table->law) - ((long)table->index_bits - 9);
    table->block_bits = block_bits >= 0 ? (size_t)block_bits : bits > 0 ? (size_t)bits : 0;
    size_t rest_bits = table->block_bits > DG_TICK_BITS ? table->block_bits - DG_TICK_BITS : 0;
    table->rest_bytes = (rest_bits + 7) / 8;
    table->tick_bits = (unsigned)(table->block_bits - 8 * table->rest_bytes);
}

/** f as a distance, to the nearest unit. Requires: e.y free. */
static int64_t centre_distance(dg_builder *build)
{
    const dg_law *law = build->table->law;
    mpfr_set_z(build->e.lower, law->n, MPFR_RNDN);
    mpfr_div_z(build->e.lower, build->e.lower, law->d, MPFR_RNDN);
    mpfr_mul_2si(build->e.lower, build->e.lower, DG_DISTANCE_BITS - (long)build->table->block_bits,
                 MPFR_RNDN);
    return mpfr_get_sj(build->e.lower, MPFR_RNDN);
}

/** table->centre_bytes = c in two's complement; law->wide_bytes leaves room for its sign. */
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
    DG_TRY(dg_memory_at_hand(table->law->room_bytes));
    DG_TRY(collect_blocks(build));
    DG_TRY(choose_height(build));
    lay_out(build, true);
    table->block_of = calloc(((size_t)1 << table->index_bits) + 2, sizeof *table->block_of);
    table->partial = calloc((size_t)table->n_partial + 1, sizeof *table->partial);
    table->lines = calloc(dg_build_most_lines(table), sizeof *table->lines);
    if (table->block_of == NULL || table->partial == NULL || table->lines == NULL) {
        return DG_ERR_NOMEM;
    }
    DG_TRY(dg_memory_at_hand(table->law->room_bytes));
    lay_out(build, false);
    table->centre = centre_distance(build);
    DG_TRY(write_centre(table));
    dg_build_lines(build);
    return DG_OK;
}

static void choose_look_up(dg_table *table, dg_isa isa)
{
    table->isa = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    table->look_up = dg_look_up_portable;
#if DG_ISA_X86_64
    if (table->isa == DG_ISA_AVX512 && table->index_bits == DG_INDEX_BITS) {
        table->look_up = dg_look_up_avx512;
        dg_look_up_spread(&table->spread, dg_table_word_bytes(table));
        return;
    }
#endif
    table->isa = DG_ISA_PORTABLE;
}

dg_status dg_table_build(dg_table **out, const dg_law *law, unsigned index_bits, long block_bits,
                         dg_isa isa)
{
    DG_REQUIRES(law->kind >= DG_DISCRETE_LAPLACE);
    DG_REQUIRES(index_bits >= 4 && index_bits <= DG_INDEX_BITS);
    *out = NULL;
    dg_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return DG_ERR_NOMEM;
    }
    table->law = law;
    table->index_bits = index_bits;
    choose_blocks(table, block_bits);
    choose_look_up(table, isa);
    dg_builder build;
    memset(&build, 0, sizeof build);
    build.table = table;
    mpz_init(build.y);
    dg_enclosure_open(&build.e, DG_BUILD_PRECISION);
    dg_status status = build_table(&build);
    dg_enclosure_close(&build.e);
    mpz_clear(build.y);
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

void dg_table_release(dg_table *table)
{
    if (table != NULL) {
        free(table->centre_bytes);
        free(table->block_of);
        free(table->partial);
        free(table->lines);
        free(table);
    }
}

#else /* without 128-bit words there are no tables */

dg_status dg_table_build(dg_table **out, const dg_law *law, unsigned index_bits, long block_bits,
                         dg_isa isa)
{
    (void)law, (void)index_bits, (void)block_bits, (void)isa;
    *out = NULL;
    return DG_ERR_PARAMETER;
}

void dg_table_release(dg_table *table)
{
    (void)table;
}

#endif
