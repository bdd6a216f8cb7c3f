#include "cells/build.h"

#include "base/wide.h"

/** A line that says nothing: every draw that needs it is decided by MPFR. */
static dg_line unknown_line(void)
{
    return (dg_line){0, DG_UNKNOWN_ERROR, 0, 0};
}

/** Whether beta is so large, 2^32 or more, that 128-bit numbers do not bound g, and the distances
 *  where H g is m, as closely as chord_line takes for granted (PROOF.md, Lines). */
static bool steep_exponent(const dg_law *law)
{
    return law->kind == DG_GENERALIZED_GAUSSIAN &&
           mpz_sizeinbase(law->beta_num, 2) > mpz_sizeinbase(law->beta_den, 2) + 32;
}

/** One end of a line: a distance, and phi and H g there. How close they are: PROOF.md, Lines. */
typedef struct end {
    mpfr_t at, phi, v;
} end;

/** A line in the making. */
typedef struct chord {
    end near, far;
    mpfr_t fall; /* from near to far, a height in cells */
    mpfr_t width, slope, bend;
    mpfr_t unit; /* of distances: 2^48/(w d) */
    mpfr_t log_height;
    mpfr_t beta, beta_less_one; /* phi's exponent, 1 for Laplace, 2 for Gaussian; upper bounds */
    bool falls;                 /* 1 < beta < 2: phi'' falls as r grows */
} chord;

static void chord_open(chord *c, dg_builder *build)
{
    const dg_table *table = build->table;
    const dg_law *law = table->law;
    mpfr_inits2(DG_WORDS_PRECISION, c->near.at, c->near.phi, c->near.v, c->far.at, c->far.phi,
                c->far.v, c->fall, c->width, c->slope, c->bend, c->unit, c->log_height, c->beta,
                c->beta_less_one, (mpfr_ptr)0);
    mpfr_set_ui_2exp(c->unit, 1, DG_DISTANCE_BITS - (mpfr_exp_t)table->block_bits, MPFR_RNDN);
    mpfr_div_z(c->unit, c->unit, law->d, MPFR_RNDN);
    dg_log_integer(c->log_height, table->height, build->e.integer);
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN; /* law->beta is 1 there */
    if (squared) {
        mpfr_set_ui(c->beta, 2, MPFR_RNDN);
    } else {
        mpfr_set(c->beta, build->e.beta_upper, MPFR_RNDN);
    }
    mpz_mul_2exp(build->e.integer, law->beta_den, 1);
    c->falls = !squared && mpz_cmp(law->beta_num, law->beta_den) > 0 &&
               mpz_cmp(law->beta_num, build->e.integer) < 0;
    mpfr_sub_ui(c->beta_less_one, c->beta, 1, MPFR_RNDU);
}

static void chord_close(chord *c)
{
    mpfr_clears(c->near.at, c->near.phi, c->near.v, c->far.at, c->far.phi, c->far.v, c->fall,
                c->width, c->slope, c->bend, c->unit, c->log_height, c->beta, c->beta_less_one,
                (mpfr_ptr)0);
}

/** The next chord begins where this one ends. */
static void chord_step(chord *c)
{
    mpfr_swap(c->near.at, c->far.at);
    mpfr_swap(c->near.phi, c->far.phi);
    mpfr_swap(c->near.v, c->far.v);
}

/** c->bend >= max(phi'^2, phi'') width^2 on the chord; false if there is no bound.
 *
 *  phi' = beta phi/r grows with r. phi'' = phi' (beta - 1)/r is 0 for beta = 1; it grows with r for
 *  beta >= 2, and falls in between. */
static bool set_bend(chord *c)
{
    if (mpfr_sgn(c->far.at) <= 0 || (c->falls && mpfr_sgn(c->near.at) <= 0)) {
        return false;
    }
    mpfr_ptr first = c->slope, second = c->bend;
    mpfr_div(second, c->width, c->far.at, MPFR_RNDU);
    mpfr_mul(first, second, c->beta, MPFR_RNDU);
    mpfr_mul(first, first, c->far.phi, MPFR_RNDU); /* phi' width at the far end */
    if (!c->falls) {
        mpfr_mul(second, second, c->beta_less_one, MPFR_RNDU); /* phi''/phi' width there */
        mpfr_max(second, second, first, MPFR_RNDU);
        mpfr_mul(c->bend, second, first, MPFR_RNDU);
        return true;
    }
    mpfr_mul(first, first, first, MPFR_RNDU);
    mpfr_div(second, c->width, c->near.at, MPFR_RNDU);
    mpfr_mul(second, second, second, MPFR_RNDU);
    mpfr_mul(second, second, c->near.phi, MPFR_RNDU);
    mpfr_mul(second, second, c->beta, MPFR_RNDU);
    mpfr_mul(second, second, c->beta_less_one, MPFR_RNDU); /* phi'' width^2 at the near end */
    mpfr_max(c->bend, second, first, MPFR_RNDU);
    return true;
}

/** The line through both ends of a chord, with its error (PROOF.md, Lines); base is left 0.
 *
 *  error = max |t''| width^2 / 8, t'' <= most max(phi'^2, phi''), where `most` is at least the
 *  height in cells of g on the chord; plus units of distance times the slope, plus units of height,
 *  for the roundings. */
static dg_line chord_line(chord *c, unsigned long most, dg_builder *build)
{
    const dg_table *table = build->table;
    dg_line line = {0, 0, 0, 0};
    mpfr_sub(c->width, c->far.at, c->near.at, MPFR_RNDU);
    if (steep_exponent(table->law) || !set_bend(c)) {
        return unknown_line();
    }
    mpfr_mul_ui(c->bend, c->bend, most, MPFR_RNDU);
    mpfr_div(c->slope, c->fall, c->width, MPFR_RNDN);
    if (!mpfr_number_p(c->bend) || !mpfr_number_p(c->slope) || mpfr_cmp_ui(c->bend, 8) >= 0 ||
        mpfr_sgn(c->slope) <= 0 || mpfr_cmp_ui_2exp(c->slope, 1, 20 - DG_HEIGHT_BITS) >= 0 ||
        mpfr_cmp_ui_2exp(c->far.at, 1, 62) >= 0) {
        return unknown_line();
    }
    mpz_ptr scratch = build->e.integer;
    line.far = (dg_get_word(c->far.at, 1, false, scratch) + 1) >> 1;
    line.slope = dg_get_word(c->slope, DG_HEIGHT_BITS + DG_SLOPE_BITS, false, scratch);
    line.error = (int64_t)dg_get_word(c->bend, DG_HEIGHT_BITS - 3, true, scratch);
    /* units of distance: 1/2 for the rounding of far, 1/2 for the centre's, a tick for the rest */
    const uint64_t units =
        1 + (table->rest_bytes == 0 ? 0 : UINT64_C(1) << (DG_DISTANCE_BITS - table->tick_bits));
    line.error += (int64_t)(units * ((line.slope >> DG_SLOPE_BITS) + 1)) + 4;
    /* the rounding of the slope, over distances below 2^62: at most 2^62 / 2^40 units */
    line.error += INT64_C(1) << (62 - DG_SLOPE_BITS);
    return line;
}

/** Set an end to the integer that e.y_d is for, but for v. Requires: its exponent's upper bound in
 *  e.upper. */
static void set_place(end *to, const chord *c, dg_builder *build)
{
    dg_enclosure *e = &build->e;
    mpfr_add(to->phi, e->upper, e->centre_upper, MPFR_RNDN);
    mpz_sub(e->integer, e->y_d, build->table->law->n);
    mpfr_set_z(to->at, e->integer, MPFR_RNDN);
    mpfr_mul(to->at, to->at, c->unit, MPFR_RNDN);
    mpfr_abs(to->at, to->at, MPFR_RNDN);
}

/** Set an end to the integer that e.y_d is for. */
static void set_end(end *to, const chord *c, dg_builder *build)
{
    dg_weight_lower(&build->e);
    mpfr_mul_ui(to->v, build->e.lower, build->table->height, MPFR_RNDN);
    set_place(to, c, build);
}

/** Set an end to where H g = m, but for v. */
static void set_level_end(end *to, uint32_t m, const chord *c, dg_builder *build)
{
    dg_enclosure *e = &build->e;
    dg_log_integer(to->phi, m, e->integer);
    mpfr_sub(to->phi, c->log_height, to->phi, MPFR_RNDN);
    dg_enclose_level(e, to->phi);
    mpfr_set(to->phi, e->lower, MPFR_RNDN);
    mpfr_mul_2si(to->at, e->upper, DG_DISTANCE_BITS - (long)build->table->block_bits, MPFR_RNDN);
}

/** The line of level 0: from where H g = 1 to the end of the core, on the side where that is
 * farther. */
static dg_line level_zero_line(chord *c, dg_builder *build)
{
    const dg_table *table = build->table;
    dg_build_edge(table->last_block + 1, false, build);
    set_end(&c->far, c, build);
    dg_build_edge(table->first_block, false, build);
    set_end(&c->near, c, build);
    if (mpfr_greater_p(c->near.at, c->far.at)) {
        chord_step(c);
    }
    if (mpfr_cmp_ui(c->far.v, 1) >= 0) { /* not so on the right; on the left it may be */
        return unknown_line();
    }
    set_level_end(&c->near, 1, c, build);
    mpfr_ui_sub(c->fall, 1, c->far.v, MPFR_RNDN);
    dg_line line = chord_line(c, 2, build);
    if (line.error < DG_UNKNOWN_ERROR) {
        line.base = (int64_t)dg_get_word(c->far.v, DG_HEIGHT_BITS, false, build->e.integer);
    }
    return line;
}

/** lines[m] for every level m of a table with blocks of several integers: from the distance where
 *  H g = m + 1 to the one where H g = m. One line serves both sides: g depends on the distance
 *  alone. */
static void core_lines(chord *c, dg_builder *build)
{
    dg_table *table = build->table;
    set_level_end(&c->far, table->height, c, build);
    mpfr_set_ui(c->fall, 1, MPFR_RNDN);
    for (uint32_t m = table->height - 1; m > 0; m--) {
        chord_step(c);
        set_level_end(&c->far, m, c, build);
        table->lines[m] = chord_line(c, m + 1, build);
    }
    table->lines[0] = level_zero_line(c, build);
}

/** The line of a block, good for every level in it: from the block's first integer to that of the
 * next one outwards, where g is known from the block's bounds to 2^-63 (and so H g to H 2^-63). */
typedef struct block_line {
    int32_t block;
    dg_line line;       /* its base is the fraction of H g at the far end */
    uint32_t far_cells; /* and this the whole cells */
} block_line;

/** H times a bound of g: the whole cells, and the rest in units of 2^-63. */
static uint64_t in_cells(uint32_t *whole, uint64_t units, uint32_t height)
{
    const uint64_t low = height * (units & UINT32_MAX); /* height <= 2^16 */
    const uint64_t high = height * (units >> 32) + (low >> 32);
    *whole = (uint32_t)(high >> (UNIT_BITS - 32));
    return (high << 32 | (low & UINT32_MAX)) & ((UINT64_C(1) << UNIT_BITS) - 1);
}

/** Requires: if out is the line of the block before, then c is still its chord. */
static void set_block_line(block_line *out, int32_t block, chord *c, dg_builder *build)
{
    const bool left = block < 0;
    const uint32_t height = build->table->height;
    /* i + 1 < n: the blocks collected go past the core */
    const uint64_t *largest =
        left ? &build->left.largest_upper[-1 - block] : &build->right.largest_upper[block];
    /* neighbours share an end: it becomes this one's far end on the left, else its near end */
    const bool shared = out->block == block - 1 && block != 0;
    chord_step(c);
    for (int k = shared && !left; k < (shared && left ? 1 : 2); k++) {
        dg_build_edge(left ? block - k : block + k, left, build);
        dg_exponent_upper(&build->e);
        set_place(k == 0 ? &c->near : &c->far, c, build);
    }
    uint32_t near_cells;
    const uint64_t near_rest = in_cells(&near_cells, largest[0], height);
    const uint64_t far_rest = in_cells(&out->far_cells, largest[1], height);
    mpfr_set_uj(c->fall, largest[0] > largest[1] ? largest[0] - largest[1] : 0, MPFR_RNDN);
    mpfr_mul_ui(c->fall, c->fall, height, MPFR_RNDN);
    mpfr_div_2ui(c->fall, c->fall, UNIT_BITS, MPFR_RNDN);
    out->block = block;
    out->line = chord_line(c, near_cells + (near_rest != 0) + 1, build);
    out->line.error += height;
    out->line.base = (int64_t)(far_rest >> (UNIT_BITS - DG_HEIGHT_BITS));
}

/** The block's line for one level. */
static dg_line at_level(const block_line *of, uint32_t level)
{
    const int64_t cells = (int64_t)of->far_cells - (int64_t)level;
    if (cells <= -32 || cells >= 32 || of->line.error >= DG_UNKNOWN_ERROR) {
        return unknown_line();
    }
    dg_line line = of->line;
    line.base += cells * (INT64_C(1) << DG_HEIGHT_BITS);
    return line;
}

/** Give every partial cell of a table with blocks of several integers the better of two lines: that
 * of its level, or that of its block. The first is better where g is steep, the second where it is
 * flat. */
static void choose_lines(uint32_t *n_lines, chord *c, dg_builder *build)
{
    dg_table *table = build->table;
    block_line of_block = {table->first_block - 2, {0, 0, 0, 0}, 0};
    for (uint32_t i = 0; i < table->n_partial; i++) {
        dg_partial *cell = &table->partial[i];
        cell->line = cell->level;
        if (cell->block != of_block.block) {
            set_block_line(&of_block, cell->block, c, build);
        }
        if (of_block.line.error < table->lines[cell->level].error) {
            cell->line = *n_lines;
            table->lines[(*n_lines)++] = at_level(&of_block, cell->level);
        }
    }
}

/** The line that is constant: bounds of 2^i H g(y) at one integer of the i-th tail block, where it
 * is at most 1. Its error covers both bounds. */
static dg_line constant_line(unsigned tail_level, dg_builder *build)
{
    dg_enclosure *e = &build->e;
    const long bits = DG_HEIGHT_BITS + (long)tail_level;
    dg_weight_lower(e);
    mpfr_mul_ui(e->lower, e->lower, build->table->height, MPFR_RNDD);
    const int64_t lowest = (int64_t)dg_get_word(e->lower, bits, false, e->integer);
    dg_weight_upper(e);
    mpfr_mul_ui(e->upper, e->upper, build->table->height, MPFR_RNDU);
    int64_t highest = INT64_C(1) << DG_HEIGHT_BITS;
    if (mpfr_cmp_ui_2exp(e->upper, 1, -(mpfr_exp_t)tail_level) < 0) {
        highest = (int64_t)dg_get_word(e->upper, bits, true, e->integer);
    }
    return (dg_line){lowest, highest - lowest, 0, 0};
}

/** The lines of one tail, each from the first integer of its part to that of the next. */
static void tail_lines(uint32_t *n_lines, bool left, chord *c, dg_builder *build)
{
    dg_table *table = build->table;
    dg_enclosure *e = &build->e;
    const size_t part_bits = table->tail_bits + table->block_bits - table->tail_line_bits;
    mpz_t part_d;
    mpz_init(part_d);
    mpz_mul_2exp(part_d, table->law->d, part_bits);
    dg_build_edge(left ? table->first_block - 1 : table->last_block + 1, left, build);
    set_end(&c->far, c, build);
    for (size_t i = 0; i < (size_t)DG_TAIL_LEVELS << table->tail_line_bits; i++) {
        const unsigned level = (unsigned)(i >> table->tail_line_bits);
        dg_line *line = &table->lines[(*n_lines)++];
        if (part_bits == 0) {
            *line = constant_line(level, build);
            (left ? mpz_sub : mpz_add)(e->y_d, e->y_d, part_d);
            continue;
        }
        (left ? mpz_sub : mpz_add)(e->y_d, e->y_d, part_d);
        chord_step(c);
        set_end(&c->far, c, build);
        mpfr_sub(c->fall, c->near.v, c->far.v, MPFR_RNDN);
        mpfr_mul_2ui(c->fall, c->fall, level, MPFR_RNDN);
        *line = chord_line(c, 2, build);
        if (line->error < DG_UNKNOWN_ERROR) { /* 2^i H g <= 1 */
            line->base =
                (int64_t)dg_get_word(c->far.v, DG_HEIGHT_BITS + (long)level, false, e->integer);
        }
    }
    mpz_clear(part_d);
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
    chord c;
    chord_open(&c, build);
    if (table->block_bits == 0) {
        single_lines(&n_lines, build);
    } else {
        core_lines(&c, build);
        n_lines = table->height;
        choose_lines(&n_lines, &c, build);
    }
    table->tail_lines = n_lines;
    tail_lines(&n_lines, true, &c, build);
    tail_lines(&n_lines, false, &c, build);
    table->n_lines = n_lines;
    chord_close(&c);
}
