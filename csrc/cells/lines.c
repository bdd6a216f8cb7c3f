#include "cells/build.h"

#include "base/wide.h"

/** A height in a cell, 2^56 value, rounded. Requires: value below 2^5 in size. */
static int64_t height_in_cell(mpfr_t value, mpfr_rnd_t round)
{
    mpfr_mul_2ui(value, value, DG_HEIGHT_BITS, MPFR_RNDN); /* exact */
    return mpfr_get_sj(value, round);
}

/** A line that says nothing: every draw that needs it is decided by MPFR. */
static dg_line unknown_line(void)
{
    return (dg_line){0, DG_UNKNOWN_ERROR, 0, 0};
}

/** The line that is constant: bounds of 2^i H g(y) - m at one integer y; e.lower, e.upper enclose
 * g. Its error covers both bounds. */
static dg_line constant_line(uint32_t level, unsigned tail_level, dg_builder *build)
{
    dg_line line = {0, 0, 0, 0};
    mpfr_ptr bounds[] = {build->e.lower, build->e.upper};
    int64_t fixed_bounds[2];
    for (int i = 0; i < 2; i++) {
        mpfr_rnd_t round = i == 0 ? MPFR_RNDD : MPFR_RNDU;
        mpfr_mul_ui(bounds[i], bounds[i], build->table->height, round);
        mpfr_mul_2ui(bounds[i], bounds[i], tail_level, MPFR_RNDN);
        mpfr_sub_ui(bounds[i], bounds[i], level, round);
        if (mpfr_cmpabs_ui(bounds[i], 32) >= 0) { /* bounds too far apart to be of use */
            return unknown_line();
        }
        fixed_bounds[i] = height_in_cell(bounds[i], round);
    }
    line.base = fixed_bounds[0];
    line.error = fixed_bounds[1] - fixed_bounds[0];
    return line;
}

/** What a line is made of: g as a function of the distance r on [near, far]. The values v at both
 * ends are heights in cells, with v_near > v_far; all are bounds within 2^-100 of the truth,
 * relatively. */
typedef struct chord {
    mpfr_t near, far, v_near, v_far, curvature, work;
} chord;

static void chord_open(chord *c)
{
    mpfr_inits2(DG_BUILD_PRECISION, c->near, c->far, c->v_near, c->v_far, c->curvature, c->work,
                (mpfr_ptr)0);
}

static void chord_close(chord *c)
{
    mpfr_clears(c->near, c->far, c->v_near, c->v_far, c->curvature, c->work, (mpfr_ptr)0);
}

/** Whether beta is so large that the bounds of g at 128 bits are not within 2^-64 of each other:
 * their relative error is about phi beta 2^-126, and so their error at most beta 2^-126. */
static bool steep_exponent(const dg_law *law)
{
    return law->kind == DG_GENERALIZED_GAUSSIAN &&
           mpz_sizeinbase(law->beta_num, 2) > mpz_sizeinbase(law->beta_den, 2) + 32;
}

/** The line through both ends of a chord, with its error (PROOF.md, Lines).
 *
 *  error = max |v''| (far - near)^2 / 8, v'' <= (v_near + m) max(phi'^2, |phi''|), where
 *  c->curvature holds that maximum and `most` >= v_near + m; plus units of distance times the slope,
 *  plus units of height, for the roundings. */
static dg_line chord_line(chord *c, unsigned long most, const dg_table *table)
{
    dg_line line = {0, 0, 0, 0};
    mpfr_prec_t block_bits = (mpfr_prec_t)table->block_bits;
    if (mpfr_inf_p(c->curvature) || steep_exponent(table->law)) {
        return unknown_line();
    }
    mpfr_sub(c->work, c->far, c->near, MPFR_RNDU);
    mpfr_mul(c->curvature, c->curvature, c->work, MPFR_RNDU);
    mpfr_mul(c->curvature, c->curvature, c->work, MPFR_RNDU);
    mpfr_mul_ui(c->curvature, c->curvature, most, MPFR_RNDU);
    mpfr_div_2ui(c->curvature, c->curvature, 3, MPFR_RNDU);
    /* from integers to blocks of 2^48 units */
    mpfr_mul_2si(c->far, c->far, DG_DISTANCE_BITS - block_bits, MPFR_RNDN);
    mpfr_mul_2si(c->work, c->work, DG_DISTANCE_BITS - block_bits, MPFR_RNDN);
    mpfr_sub(c->v_near, c->v_near, c->v_far, MPFR_RNDN);
    mpfr_mul_2ui(c->v_near, c->v_near, DG_HEIGHT_BITS, MPFR_RNDN);
    mpfr_div(c->v_near, c->v_near, c->work, MPFR_RNDN); /* the slope */
    if (mpfr_cmp_ui(c->curvature, 1) >= 0 || mpfr_cmp_ui_2exp(c->v_near, 1, 20) >= 0 ||
        mpfr_cmp_ui_2exp(c->far, 1, 62) >= 0 || mpfr_sgn(c->v_near) <= 0) {
        return unknown_line();
    }
    line.far = (uint64_t)mpfr_get_uj(c->far, MPFR_RNDN);
    line.error = height_in_cell(c->curvature, MPFR_RNDU);
    /* units of distance: 1/2 for the rounding of far, 1/2 for the centre's, a tick for the rest */
    unsigned long units =
        1 + (table->rest_bytes == 0 ? 0 : 1ul << (DG_DISTANCE_BITS - table->tick_bits));
    line.error += (int64_t)(units * mpfr_get_ui(c->v_near, MPFR_RNDU)) + 4;
    mpfr_mul_2ui(c->v_near, c->v_near, DG_SLOPE_BITS, MPFR_RNDN);
    line.slope = (uint64_t)mpfr_get_uj(c->v_near, MPFR_RNDD);
    /* the rounding of the slope, over distances below 2^62: at most 2^62 / 2^40 units */
    line.error += INT64_C(1) << 22;
    return line;
}

/** Set the height of a line at its far end to v_far - level. */
static void set_base(dg_line *line, uint32_t level, const mpfr_t v_far, chord *c)
{
    mpfr_sub_ui(c->work, v_far, level, MPFR_RNDN);
    if (mpfr_cmpabs_ui(c->work, 32) >= 0) {
        *line = unknown_line();
    } else if (line->error < DG_UNKNOWN_ERROR) {
        line->base = height_in_cell(c->work, MPFR_RNDD);
    }
}

/** at = |y - f|. */
static void set_distance(mpfr_t at, const mpz_t y, dg_builder *build)
{
    const dg_law *law = build->table->law;
    mpz_mul(build->e.y, y, law->d);
    mpz_sub(build->e.y, build->e.y, law->n);
    mpz_abs(build->e.y, build->e.y);
    mpfr_set_z(at, build->e.y, MPFR_RNDN);
    mpfr_div_z(at, at, law->d, MPFR_RNDN);
}

/** Set one end of a chord to the distance of the integer y, and its v from the bounds of g there.
 */
static void set_end(mpfr_t at, mpfr_t v, const mpz_t y, dg_builder *build)
{
    const dg_law *law = build->table->law;
    dg_weight_lower(&build->e, y, law);
    mpfr_mul_ui(v, build->e.lower, build->table->height, MPFR_RNDN);
    set_distance(at, y, build);
}

static void set_curvature(chord *c, dg_builder *build)
{
    dg_enclose_curvature(&build->e, c->near, c->far, build->table->law);
    mpfr_set(c->curvature, build->e.upper, MPFR_RNDU);
}

/** The line of level 0: from where H g = 1 to the end of the core, on the side where that is
 * farther. */
static dg_line level_zero_line(dg_builder *build)
{
    dg_table *table = build->table;
    mpfr_t other;
    chord c;
    chord_open(&c);
    mpfr_init2(other, DG_BUILD_PRECISION);
    mpz_set_si(build->y, table->last_block + 1);
    mpz_mul_2exp(build->y, build->y, table->block_bits);
    set_end(c.far, c.v_far, build->y, build);
    mpz_set_si(build->y, table->first_block);
    mpz_mul_2exp(build->y, build->y, table->block_bits);
    set_end(other, c.v_near, build->y, build);
    if (mpfr_greater_p(other, c.far)) {
        mpfr_set(c.far, other, MPFR_RNDN);
        mpfr_set(c.v_far, c.v_near, MPFR_RNDN);
    }
    dg_enclose_distance(&build->e, 1, table->height, table->law);
    mpfr_set(c.near, build->e.lower, MPFR_RNDD);
    mpfr_set_ui(c.v_near, 1, MPFR_RNDN);
    set_curvature(&c, build);
    dg_line line = chord_line(&c, 2, table);
    set_base(&line, 0, c.v_far, &c);
    mpfr_clear(other);
    chord_close(&c);
    return line;
}

/** lines[m] for every level m of a table with blocks of several integers: from the distance where
 *  H g = m + 1 to the one where H g = m. One line serves both sides: g depends on the distance
 *  alone. */
static void core_lines(dg_builder *build)
{
    dg_table *table = build->table;
    mpfr_t beyond;
    chord c;
    chord_open(&c);
    mpfr_init2(beyond, DG_BUILD_PRECISION);
    dg_enclose_distance(&build->e, table->height, table->height, table->law);
    mpfr_set(beyond, build->e.lower, MPFR_RNDD);
    for (uint32_t m = table->height - 1; m > 0; m--) {
        mpfr_set(c.near, beyond, MPFR_RNDD);
        dg_enclose_distance(&build->e, m, table->height, table->law);
        mpfr_set(beyond, build->e.lower, MPFR_RNDD);
        mpfr_set(c.far, build->e.upper, MPFR_RNDU);
        set_curvature(&c, build);
        mpfr_set_ui(c.v_near, 1, MPFR_RNDN);
        mpfr_set_ui(c.v_far, 0, MPFR_RNDN);
        table->lines[m] = chord_line(&c, m + 1, table);
    }
    table->lines[0] = level_zero_line(build);
    mpfr_clear(beyond);
    chord_close(&c);
}

/** The line of a block, good for every level in it: from the block's first integer to that of the
 * next one outwards, where g is known from the block's bounds to 2^-63 (and so H g to H 2^-63). */
typedef struct block_line {
    dg_line line;
    mpfr_t v_far; /* H g at the far end */
} block_line;

static void set_block_line(block_line *out, int32_t block, chord *c, dg_builder *build)
{
    dg_table *table = build->table;
    const bool left = block < 0;
    const dg_side *at = left ? &build->left : &build->right;
    const uint32_t i = (uint32_t)(left ? -1 - block : block);
    for (uint32_t k = 0; k < 2; k++) { /* i + 1 < n: the blocks collected go past the core */
        mpfr_ptr v = k == 0 ? c->v_near : c->v_far;
        mpz_set_si(build->y, left ? block + 1 - (long)k : block + (long)k);
        mpz_mul_2exp(build->y, build->y, table->block_bits);
        if (left) {
            mpz_sub_ui(build->y, build->y, 1);
        }
        set_distance(k == 0 ? c->near : c->far, build->y, build);
        mpz_import(build->y, 1, -1, sizeof(uint64_t), 0, 0, &at->largest_upper[i + k]);
        mpz_mul_ui(build->y, build->y, table->height);
        mpfr_set_z(v, build->y, MPFR_RNDN);
        mpfr_div_2ui(v, v, UNIT_BITS, MPFR_RNDN);
    }
    unsigned long most = mpfr_get_ui(c->v_near, MPFR_RNDU) + 1;
    set_curvature(c, build);
    mpfr_set(out->v_far, c->v_far, MPFR_RNDN);
    out->line = chord_line(c, most, table);
    out->line.error += table->height;
}

/** Give every partial cell of a table with blocks of several integers the better of two lines: that
 * of its level, or that of its block. The first is better where g is steep, the second where it is
 * flat. */
static void choose_lines(uint32_t *n_lines, dg_builder *build)
{
    dg_table *table = build->table;
    block_line of_block;
    chord c;
    int32_t block = table->first_block - 1;
    chord_open(&c);
    mpfr_init2(of_block.v_far, DG_BUILD_PRECISION);
    for (uint32_t i = 0; i < table->n_partial; i++) {
        dg_partial *cell = &table->partial[i];
        cell->line = cell->level;
        if (cell->block != block) {
            block = cell->block;
            set_block_line(&of_block, block, &c, build);
        }
        if (of_block.line.error < table->lines[cell->level].error) {
            dg_line line = of_block.line;
            set_base(&line, cell->level, of_block.v_far, &c);
            cell->line = *n_lines;
            table->lines[(*n_lines)++] = line;
        }
    }
    mpfr_clear(of_block.v_far);
    chord_close(&c);
}

/** The first integer of part `part` of a tail, counted outwards from the core, in build->y. */
static void tail_edge(bool left, size_t part, dg_builder *build)
{
    dg_table *table = build->table;
    mpz_set_ui(build->y, part);
    mpz_mul_2exp(build->y, build->y, table->tail_bits + table->block_bits - table->tail_line_bits);
    mpz_set_si(build->e.y, left ? table->first_block : table->last_block + 1);
    mpz_mul_2exp(build->e.y, build->e.y, table->block_bits);
    if (left) {
        mpz_sub_ui(build->e.y, build->e.y, 1);
        mpz_sub(build->y, build->e.y, build->y);
    } else {
        mpz_add(build->y, build->e.y, build->y);
    }
}

/** The lines of one tail, each from the first integer of its part to that of the next. */
static void tail_lines(uint32_t *n_lines, bool left, dg_builder *build)
{
    dg_table *table = build->table;
    const size_t parts = (size_t)1 << table->tail_line_bits;
    const bool single = table->tail_bits + table->block_bits == table->tail_line_bits;
    mpfr_t distance, v;
    chord c;
    chord_open(&c);
    mpfr_inits2(DG_BUILD_PRECISION, distance, v, (mpfr_ptr)0);
    tail_edge(left, 0, build);
    set_end(distance, v, build->y, build);
    for (size_t i = 0; i < DG_TAIL_LEVELS * parts; i++) {
        const unsigned level = (unsigned)(i >> table->tail_line_bits);
        dg_line *line = &table->lines[(*n_lines)++];
        if (single) {
            tail_edge(left, i, build);
            dg_enclose_weight(&build->e, build->y, table->law);
            *line = constant_line(0, level, build);
            continue;
        }
        mpfr_set(c.near, distance, MPFR_RNDN);
        mpfr_mul_2ui(c.v_near, v, level, MPFR_RNDN);
        tail_edge(left, i + 1, build);
        set_end(distance, v, build->y, build);
        mpfr_set(c.far, distance, MPFR_RNDN);
        mpfr_mul_2ui(c.v_far, v, level, MPFR_RNDN);
        set_curvature(&c, build);
        *line = chord_line(&c, 2, table);
        set_base(line, 0, c.v_far, &c);
    }
    mpfr_clears(distance, v, (mpfr_ptr)0);
    chord_close(&c);
}

uint32_t dg_build_most_lines(dg_table *table)
{
    size_t part_bits = table->tail_bits + table->block_bits;
    for (table->tail_line_bits = 0; (1u << table->tail_line_bits) < DG_TAIL_LINES;) {
        if (table->tail_line_bits == part_bits) {
            break;
        }
        table->tail_line_bits++;
    }
    uint32_t tails = (uint32_t)(2 * DG_TAIL_LEVELS) << table->tail_line_bits;
    return tails + table->n_partial + (table->block_bits == 0 ? 0 : table->height);
}

/** The lines of single integers, one for each partial cell: H g - m from the block's bounds of g.
 * The error covers both bounds. */
static void single_lines(uint32_t *n_lines, dg_builder *build)
{
    dg_table *table = build->table;
    const unsigned drop = UNIT_BITS - DG_HEIGHT_BITS;
    for (uint32_t i = 0; i < table->n_partial; i++) {
        dg_partial *cell = &table->partial[i];
        const dg_side *at = cell->block < 0 ? &build->left : &build->right;
        const int32_t k = cell->block < 0 ? -1 - cell->block : cell->block;
        const dg_wide top = dg_wide_up(dg_wide_of(-(int64_t)cell->level), UNIT_BITS);
        dg_wide lower = dg_wide_add(dg_wide_product(table->height, at->least_lower[k]), top);
        dg_wide upper = dg_wide_add(dg_wide_product(table->height, at->largest_upper[k]), top);
        int64_t lowest = (int64_t)dg_wide_down(lower, drop).low;
        int64_t highest = (int64_t)dg_wide_down(upper, drop).low + 1;
        cell->line = *n_lines;
        table->lines[(*n_lines)++] = (dg_line){lowest, highest - lowest, 0, 0};
    }
}

void dg_build_lines(dg_builder *build)
{
    dg_table *table = build->table;
    uint32_t n_lines = 0;
    if (table->block_bits == 0) {
        single_lines(&n_lines, build);
    } else {
        core_lines(build);
        n_lines = table->height;
        choose_lines(&n_lines, build);
    }
    table->tail_lines = n_lines;
    tail_lines(&n_lines, true, build);
    tail_lines(&n_lines, false, build);
    table->n_lines = n_lines;
}
