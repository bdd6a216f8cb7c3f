#include "cells/build.h"

#include "base/int128_portable.h"
#include "base/memory.h"
#include "cells/build_chord.h"

#include <stdlib.h>

/* SLOPE_BITS: binary places of a slope, in fine heights per unit of distance. DROP: the binary places
 * that fine heights have beyond those of arcs. */
enum { SLOPE_BITS = 40, DROP = DG_FINE_BITS - DG_HEIGHT_BITS };

/** The fine error of a parabola that bounds nothing. */
static const int64_t NO_ARC = INT64_C(1) << 60;

/** Return the parabola from `near` at reach 0 to `far` at reach 2^24. Both are rounded down to units
 *  of 2^-16 of a cell's height, and bulge to the nearest. Before these roundings, which lemma 17 of
 *  PROOF.md counts, t is within fine_error of the parabola. */
static dg_arc arc_between(int64_t near, int64_t far, int64_t bulge, int64_t fine_error)
{
    const int64_t most = INT64_C(1) << 29, most_bulge = INT64_C(1) << 14;
    if (fine_error >= NO_ARC || near > most || far < -most || bulge > most_bulge ||
        bulge < -most_bulge) {
        return dg_unknown_arc();
    }
    const int64_t slope = near > far ? near - far : 0; /* equal ends may be rounded out of order */
    const int64_t error = (fine_error >> DROP) + (slope >> DG_REACH_BITS) + 6;
    if (error >= DG_UNKNOWN_ERROR) {
        return dg_unknown_arc();
    }
    return (dg_arc){(int32_t)near, (uint32_t)slope, (uint16_t)error, (int16_t)bulge};
}

/** Return the arc of a single integer whose t is from lowest to highest. */
static dg_arc constant_arc(int64_t lowest, int64_t highest)
{
    const int64_t most = INT64_C(1) << 30;
    if (lowest < -most || lowest > most || highest - lowest >= DG_UNKNOWN_ERROR) {
        return dg_unknown_arc();
    }
    return (dg_arc){(int32_t)lowest, 0, (uint16_t)(highest - lowest), 0};
}

/** The parabola of a level, valid at any distance. In fine heights it is
 *  base + (far - at) (slope + bend (at - near) / 2^48) / 2^40. Without its bend it is the chord, whose
 *  error is chord_error. */
typedef struct level_arc {
    int64_t base, error, chord_error, bend;
    uint64_t near, far, slope;
} level_arc;

static level_arc no_level_arc(void)
{
    return (level_arc){.error = NO_ARC, .chord_error = NO_ARC};
}

/** Return the parabola through the ends of the chord, with base 0. */
static level_arc parabola(dg_chord *c, dg_builder *build)
{
    if (!dg_chord_measure(c, 0, build)) {
        return no_level_arc();
    }
    level_arc arc = {.error = dg_chord_spread(c)};
    arc.chord_error = arc.error + dg_chord_bulge_size(c, build);
    mpfr_ptr slope = c->first[0], bent = c->first[1];
    mpfr_sub(slope, c->near.v, c->far.v, MPFR_RNDN);
    mpfr_div(slope, slope, c->width, MPFR_RNDN);
    /* the parabola is 4 bulge (at - near) (far - at) / width^2 above the chord */
    mpfr_div(bent, c->bulge, c->width, MPFR_RNDN);
    mpfr_div(bent, bent, c->width, MPFR_RNDN);
    mpfr_mul_2ui(bent, bent, 2 + DG_DISTANCE_BITS, MPFR_RNDN);
    if (!mpfr_number_p(slope) || mpfr_sgn(slope) <= 0 ||
        mpfr_cmp_ui_2exp(slope, 1, 20 - DG_FINE_BITS) >= 0 || !mpfr_number_p(bent) ||
        mpfr_cmp_ui_2exp(c->far.at, 1, 62) >= 0) {
        return no_level_arc();
    }
    arc.near = mpfr_sgn(c->near.at) <= 0 ? 0 : dg_get_word(c->near.at, 0, false);
    arc.far = dg_get_word(c->far.at, 0, false);
    arc.slope = dg_get_word(slope, DG_FINE_BITS + SLOPE_BITS, false);
    if (mpfr_cmpabs(bent, slope) >= 0) { /* it need not fall on a whole block */
        arc.error = arc.chord_error;
        return arc;
    }
    mpfr_abs(slope, bent, MPFR_RNDN);
    arc.bend = (int64_t)dg_get_word(slope, DG_FINE_BITS + SLOPE_BITS, false);
    arc.bend = mpfr_sgn(bent) < 0 ? -arc.bend : arc.bend;
    return arc;
}

/** Return the parabola of level 0, from the distance where H g = 1 to the farther end of the core. */
static level_arc level_zero_arc(dg_chord *c, dg_builder *build)
{
    const dg_table *table = build->table;
    dg_build_edge(table->last_block + 1, false, build);
    dg_end_set(&c->far, c, build);
    dg_build_edge(table->first_block, false, build);
    dg_end_set(&c->near, c, build);
    if (mpfr_greater_p(c->near.at, c->far.at)) {
        dg_chord_step(c);
    }
    if (mpfr_cmp_ui(c->far.v, 1) >= 0) { /* only on the left, where the end is in the core */
        return no_level_arc();
    }
    dg_end_at_level(&c->near, 1, c, build);
    level_arc arc = parabola(c, build);
    arc.base = (int64_t)dg_get_word(c->far.v, DG_FINE_BITS, false);
    return arc;
}

/** Set of_level[m] for every level m of a table whose blocks have several integers: the parabola from
 *  the distance where H g = m + 1 to the one where H g = m. One parabola serves both sides because g
 *  depends on the distance alone. */
static void level_arcs(level_arc *of_level, dg_chord *c, dg_builder *build)
{
    const dg_table *table = build->table;
    dg_end_at_level(&c->far, table->height, c, build);
    for (uint32_t m = table->height - 1; m > 0; m--) {
        dg_chord_step(c);
        dg_end_at_level(&c->far, m, c, build);
        of_level[m] = parabola(c, build);
    }
    of_level[0] = level_zero_arc(c, build);
}

/** Set *height to a level's parabola at a distance, in units of 2^-16 of a cell's height, rounded
 *  down.
 *
 *  Returns:   false if the parabola does not fall all the way between the distance and its far end. */
static bool height_at(int64_t *height, const level_arc *arc, int64_t distance)
{
    const int64_t from_near = distance - (int64_t)arc->near, bend = arc->bend;
    dg_int128 steep = dg_int128_product(bend < 0 ? -from_near : from_near,
                                        bend < 0 ? (uint64_t)-bend : (uint64_t)bend);
    steep = dg_int128_down(steep, DG_DISTANCE_BITS);
    steep = dg_int128_add(steep, dg_int128_of_unsigned(arc->slope));
    if (steep.high != 0 || steep.low >> 61 != 0) {
        return false;
    }
    dg_int128 fine = dg_int128_product((int64_t)arc->far - distance, steep.low);
    fine = dg_int128_add(fine, dg_int128_up(dg_int128_of(arc->base), SLOPE_BITS));
    *height = (int64_t)dg_int128_down(dg_int128_down(fine, SLOPE_BITS), DROP).low; /* below 2^45 */
    return true;
}

/** Return the arc of a level's parabola on the block whose near end is at distance `near`, if the block
 *  meets the level and the parabola falls on the whole block. A chord falls everywhere. Outside the
 *  level t is beyond [0, 2^16], and it suffices that the arc is, too. */
static dg_arc arc_on_block(const level_arc *of_level, int64_t near)
{
    const int64_t far = near + (INT64_C(1) << DG_DISTANCE_BITS);
    int64_t first, last;
    if (of_level->error >= NO_ARC || near > (int64_t)of_level->far ||
        far < (int64_t)of_level->near || !height_at(&first, of_level, near) ||
        !height_at(&last, of_level, far)) {
        return dg_unknown_arc();
    }
    /* bend 2^96/(4 2^48 2^40) fine heights, since w is 2^48 here: bend/2^34 in units of 2^-16 */
    const int64_t bulge = ((of_level->bend >> 33) + 1) >> 1;
    const int64_t steepest = 4 * (bulge < 0 ? -bulge : bulge);
    if (of_level->bend != 0 && first - last < steepest + 8) {
        return dg_unknown_arc();
    }
    return arc_between(first, last, bulge, of_level->error);
}

/** Return a level's arc on a block: the parabola's, or the chord's if the parabola bulges too much. A
 *  block with many levels meets each for a short distance only, so a chord is close, too. */
static dg_arc level_on_block(const level_arc *of_level, int32_t block, const dg_builder *build)
{
    const int64_t w = INT64_C(1) << DG_DISTANCE_BITS;
    const size_t block_bits = build->table->block_bits;
    int64_t near = block * w - build->centre; /* of the block's integer next to the centre */
    if (block < 0) {
        near =
            build->centre - (block + 1) * w + (block_bits > DG_DISTANCE_BITS ? 0 : w >> block_bits);
    }
    const dg_arc arc = arc_on_block(of_level, near);
    if (arc.error < DG_UNKNOWN_ERROR) {
        return arc;
    }
    level_arc chord = *of_level;
    chord.bend = 0;
    chord.error = chord.chord_error;
    return arc_on_block(&chord, near);
}

/** Return H times a bound of g on a block, rounded down, in units of 2^-16. */
static int64_t in_cells(uint64_t units, uint32_t height)
{
    return (int64_t)dg_int128_down(dg_int128_product(height, units), UNIT_BITS - DG_HEIGHT_BITS)
        .low;
}

/** The parabola of a block, valid for every level in it, from the block's first integer to that of the
 *  next block outwards. The blocks' bounds give g there to 2^-63, and so H g to H 2^-63. */
typedef struct block_arc {
    int32_t block;
    int64_t near, far; /* H g there, in units of 2^-16 */
    int64_t bulge, fine_error;
} block_arc;

/** Set v of a block's end. */
static void set_block_height(dg_end *to, uint64_t largest, uint32_t height)
{
    mpfr_set_uj(to->v, largest, MPFR_RNDN);
    mpfr_mul_ui(to->v, to->v, height, MPFR_RNDN);
    mpfr_div_2ui(to->v, to->v, UNIT_BITS, MPFR_RNDN);
}

/** Set the parabola of a block. Requires: if out is that of the block before, c is still its chord. */
static void set_block_arc(block_arc *out, int32_t block, dg_chord *c, dg_builder *build)
{
    const bool left = block < 0;
    const uint32_t height = build->table->height;
    /* largest[1] exists because the blocks collected go past the core */
    const uint64_t *largest =
        left ? &build->left.largest_upper[-1 - block] : &build->right.largest_upper[block];
    /* neighbours share an end: this block's far end on the left, its near end on the right */
    const bool shared = out->block == block - 1 && block != 0;
    dg_chord_step(c);
    for (int k = shared && !left; k < (shared && left ? 1 : 2); k++) {
        dg_end *of = k == 0 ? &c->near : &c->far;
        dg_build_edge(left ? block - k : block + k, left, build);
        dg_exponent_upper(&build->e);
        dg_end_place(of, c, build);
        set_block_height(of, largest[k], height);
    }
    out->block = block;
    out->near = in_cells(largest[0], height);
    out->far = in_cells(largest[1], height);
    out->fine_error = NO_ARC;
    /* if f > 0, the centre lies between y = 0 and the other integers of block 0 */
    if (!(block == 0 && mpz_sgn(build->table->law->n) > 0) && dg_chord_measure(c, 0, build)) {
        out->bulge = dg_chord_bulge(c, build);
        out->fine_error = dg_chord_spread(c) + height;
    }
}

/** Return the block's arc for one level. */
static dg_arc at_level(const block_arc *of, uint32_t level)
{
    const int64_t drop = (int64_t)level << DG_HEIGHT_BITS;
    return arc_between(of->near - drop, of->far - drop, of->bulge, of->fine_error);
}

/** Give every partial cell the better of two arcs: that of its level, which is better if g is steep,
 *  or that of its block, which is better if g is flat. Requires: blocks of several integers. */
static void choose_arcs(const level_arc *of_level, dg_chord *c, dg_builder *build)
{
    dg_table *table = build->table;
    block_arc of_block = {table->first_block - 2, 0, 0, 0, NO_ARC};
    for (uint32_t i = 0; i < table->n_partial; i++) {
        dg_partial *cell = &table->partial[i];
        if (cell->block != of_block.block) {
            set_block_arc(&of_block, cell->block, c, build);
        }
        const dg_arc by_level = level_on_block(&of_level[cell->level], cell->block, build);
        const dg_arc by_block = at_level(&of_block, cell->level);
        cell->arc = by_block.error < by_level.error ? by_block : by_level;
    }
}

/** Return the arc of the integer in e.y_d, of the i-th tail block, where 2^i H g is at most 1. */
static dg_arc tail_integer_arc(unsigned tail_level, dg_builder *build)
{
    dg_enclosure *e = &build->e;
    const long bits = DG_HEIGHT_BITS + (long)tail_level;
    dg_weight_lower(e);
    mpfr_mul_ui(e->lower, e->lower, build->table->height, MPFR_RNDD);
    const int64_t lowest = (int64_t)dg_get_word(e->lower, bits, false);
    dg_weight_upper(e);
    mpfr_mul_ui(e->upper, e->upper, build->table->height, MPFR_RNDU);
    int64_t highest = INT64_C(1) << DG_HEIGHT_BITS;
    if (mpfr_cmp_ui_2exp(e->upper, 1, -(mpfr_exp_t)tail_level) < 0) {
        highest = (int64_t)dg_get_word(e->upper, bits, true);
    }
    return constant_arc(lowest, highest);
}

/** Return 2^i H g at the end of a part of a tail, in units of 2^-16, rounded down. */
static int64_t tail_height(const dg_end *at, unsigned tail_level)
{
    const long bits = DG_HEIGHT_BITS + (long)tail_level;
    return (int64_t)dg_get_word(at->v, bits, false);
}

/** Set the arcs of one tail, each from the first integer of its part to that of the next. */
static void tail_arcs(dg_arc *arcs, bool left, dg_chord *c, dg_builder *build)
{
    const dg_table *table = build->table;
    dg_enclosure *e = &build->e;
    const size_t part_bits = table->tail_bits + table->block_bits - table->tail_arc_bits;
    mpz_t part_d;
    mpz_init(part_d);
    mpz_mul_2exp(part_d, table->law->d, part_bits);
    dg_build_edge(left ? table->first_block - 1 : table->last_block + 1, left, build);
    dg_end_set(&c->far, c, build);
    const size_t n = (size_t)DG_TAIL_LEVELS << table->tail_arc_bits;
    for (size_t i = 0; i < n; i++) {
        const unsigned level = (unsigned)(i >> table->tail_arc_bits);
        if (part_bits == 0) {
            arcs[i] = tail_integer_arc(level, build);
            (left ? mpz_sub : mpz_add)(e->y_d, e->y_d, part_d);
            continue;
        }
        (left ? mpz_sub : mpz_add)(e->y_d, e->y_d, part_d);
        dg_chord_step(c);
        dg_end_set(&c->far, c, build);
        if (!dg_chord_measure(c, level, build)) {
            arcs[i] = dg_unknown_arc();
            continue;
        }
        arcs[i] = arc_between(tail_height(&c->near, level), tail_height(&c->far, level),
                              dg_chord_bulge(c, build), dg_chord_spread(c));
    }
    mpz_clear(part_d);
}

/** Set the arcs of partial cells of single integers: H g - m from the block's bounds of g. */
static void single_arcs(dg_builder *build)
{
    dg_table *table = build->table;
    for (uint32_t i = 0; i < table->n_partial; i++) {
        dg_partial *cell = &table->partial[i];
        const dg_side *at = cell->block < 0 ? &build->left : &build->right;
        const int32_t k = cell->block < 0 ? -1 - cell->block : cell->block;
        const int64_t drop = (int64_t)cell->level << DG_HEIGHT_BITS;
        const int64_t lowest = in_cells(at->least_lower[k], table->height) - drop;
        const int64_t highest = in_cells(at->largest_upper[k], table->height) + 1 - drop;
        cell->arc = constant_arc(lowest, highest);
    }
}

/** Return f as a distance, to the nearest unit. */
static int64_t centre_distance(dg_builder *build)
{
    const dg_law *law = build->table->law;
    mpfr_ptr centre = build->e.work;
    mpfr_set_z(centre, law->n, MPFR_RNDN);
    mpfr_div_z(centre, centre, law->d, MPFR_RNDN);
    mpfr_mul_2si(centre, centre, DG_DISTANCE_BITS - (long)build->table->block_bits, MPFR_RNDN);
    return mpfr_get_sj(centre, MPFR_RNDN);
}

void dg_build_tail_arc_bits(dg_table *table)
{
    size_t part_bits = table->tail_bits + table->block_bits;
    for (table->tail_arc_bits = 0; (1u << table->tail_arc_bits) < DG_TAIL_ARCS;) {
        if (table->tail_arc_bits == part_bits) {
            break;
        }
        table->tail_arc_bits++;
    }
}

dg_status dg_build_arcs(dg_builder *build)
{
    dg_table *table = build->table;
    level_arc *of_level = NULL;
    if (table->block_bits > 0) {
        of_level = calloc(table->height, sizeof *of_level);
        if (of_level == NULL) {
            return DG_ERR_NOMEM;
        }
    }
    dg_status status = dg_memory_available(table->law->room_bytes); /* MPFR still needs it */
    if (status == DG_OK) {
        dg_chord c;
        dg_chord_open(&c, build);
        if (table->block_bits == 0) {
            single_arcs(build);
        } else {
            build->centre = centre_distance(build);
            level_arcs(of_level, &c, build);
            choose_arcs(of_level, &c, build);
        }
        tail_arcs(table->tail_arcs, true, &c, build);
        tail_arcs(table->tail_arcs + dg_table_tail_arcs(table) / 2, false, &c, build);
        dg_chord_close(&c);
    }
    free(of_level);
    return status;
}
