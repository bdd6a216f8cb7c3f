#include "cells/build_chord.h"

/** Return whether beta is too large for 128-bit numbers to bound g, and the distances where H g = m,
 *  as closely as lemma 18 of PROOF.md says: surely from 2^33 on, never up to 2^32. */
static bool steep_exponent(const dg_law *law)
{
    return law->kind == DG_GENERALIZED_GAUSSIAN &&
           mpz_sizeinbase(law->beta_num, 2) > mpz_sizeinbase(law->beta_den, 2) + 32;
}

void dg_chord_open(dg_chord *c, dg_builder *build)
{
    const dg_table *table = build->table;
    const dg_law *law = table->law;
    mpfr_inits2(DG_WORDS_PRECISION, c->near.at, c->near.phi, c->near.v, c->far.at, c->far.phi,
                c->far.v, c->width, c->bulge, c->spread, c->first[0], c->first[1], c->second[0],
                c->second[1], c->unit, c->log_height, c->beta, c->beta_less_one, (mpfr_ptr)0);
    mpfr_set_ui_2exp(c->unit, 1, DG_DISTANCE_BITS - (mpfr_exp_t)table->block_bits, MPFR_RNDN);
    mpfr_div_z(c->unit, c->unit, law->d, MPFR_RNDN);
    dg_log_integer(c->log_height, table->height);
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN; /* law->beta_num = law->beta_den then */
    if (squared) {
        mpfr_set_ui(c->beta, 2, MPFR_RNDN);
    } else {
        mpfr_set(c->beta, build->e.beta_upper, MPFR_RNDN);
    }
    mpz_mul_2exp(build->e.integer, law->beta_den, 1);
    c->falls = !squared && mpz_cmp(law->beta_num, law->beta_den) > 0 &&
               mpz_cmp(law->beta_num, build->e.integer) < 0;
    mpfr_sub_ui(c->beta_less_one, c->beta, 1, MPFR_RNDN);
}

void dg_chord_close(dg_chord *c)
{
    mpfr_clears(c->near.at, c->near.phi, c->near.v, c->far.at, c->far.phi, c->far.v, c->width,
                c->bulge, c->spread, c->first[0], c->first[1], c->second[0], c->second[1], c->unit,
                c->log_height, c->beta, c->beta_less_one, (mpfr_ptr)0);
}

void dg_chord_step(dg_chord *c)
{
    mpfr_swap(c->near.at, c->far.at);
    mpfr_swap(c->near.phi, c->far.phi);
    mpfr_swap(c->near.v, c->far.v);
}

/** Set phi' width and phi'' width^2 at an end off the centre, where phi' = beta phi/r and phi'' =
 *  phi' (beta - 1)/r. */
static void derivatives(mpfr_t first, mpfr_t second, const dg_end *at, const dg_chord *c)
{
    mpfr_div(second, c->width, at->at, MPFR_RNDN);
    mpfr_mul(first, second, c->beta, MPFR_RNDN);
    mpfr_mul(first, first, at->phi, MPFR_RNDN);
    mpfr_mul(second, second, c->beta_less_one, MPFR_RNDN);
    mpfr_mul(second, second, first, MPFR_RNDN);
}

/** Set the least value that (H g)'' width^2 may have on the chord, or the greatest if `most`. H g lies
 *  between v at the ends; the extremes of phi' and phi'' bound phi'^2 - phi''. */
static void bend(mpfr_t out, bool most, const dg_chord *c)
{
    mpfr_sqr(out, c->first[most], MPFR_RNDN);
    mpfr_sub(out, out, c->second[!most], MPFR_RNDN);
    const bool positive = mpfr_sgn(out) > 0;
    mpfr_mul(out, out, positive == most ? c->near.v : c->far.v, MPFR_RNDN);
}

bool dg_chord_measure(dg_chord *c, unsigned tail_level, const dg_builder *build)
{
    mpfr_sub(c->width, c->far.at, c->near.at, MPFR_RNDN);
    const bool from_centre = mpfr_sgn(c->near.at) <= 0;
    if (steep_exponent(build->table->law) || mpfr_sgn(c->far.at) <= 0 ||
        (c->falls && from_centre)) {
        return false;
    }
    derivatives(c->first[1], c->second[!c->falls], &c->far, c);
    if (from_centre) { /* it suffices that phi'' at the centre is not negative */
        mpfr_set_zero(c->first[0], 1);
        mpfr_set_zero(c->second[0], 1);
    } else {
        derivatives(c->first[0], c->second[c->falls], &c->near, c);
    }
    bend(c->bulge, false, c);
    bend(c->spread, true, c);
    mpfr_mul_2ui(c->bulge, c->bulge, tail_level, MPFR_RNDN);
    mpfr_mul_2ui(c->spread, c->spread, tail_level, MPFR_RNDN);
    mpfr_add(c->first[0], c->bulge, c->spread, MPFR_RNDN);
    mpfr_sub(c->spread, c->spread, c->bulge, MPFR_RNDN);
    mpfr_div_si(c->bulge, c->first[0], -16, MPFR_RNDN);
    mpfr_div_ui(c->spread, c->spread, 16, MPFR_RNDN);
    return mpfr_number_p(c->bulge) && mpfr_number_p(c->spread) && mpfr_cmpabs_ui(c->bulge, 1) < 0 &&
           mpfr_cmp_ui(c->spread, 1) < 0;
}

int64_t dg_chord_spread(const dg_chord *c)
{
    return mpfr_sgn(c->spread) <= 0 ? 0 : (int64_t)dg_get_word(c->spread, DG_FINE_BITS, true);
}

int64_t dg_chord_bulge_size(const dg_chord *c, dg_builder *build)
{
    mpfr_ptr size = build->e.work;
    mpfr_abs(size, c->bulge, MPFR_RNDN);
    return (int64_t)dg_get_word(size, DG_FINE_BITS, true);
}

int64_t dg_chord_bulge(const dg_chord *c, dg_builder *build)
{
    mpfr_ptr size = build->e.work;
    mpfr_abs(size, c->bulge, MPFR_RNDN);
    const int64_t twice = (int64_t)dg_get_word(size, DG_HEIGHT_BITS + 1, false);
    const int64_t nearest = (twice + 1) >> 1;
    return mpfr_sgn(c->bulge) < 0 ? -nearest : nearest;
}

void dg_end_place(dg_end *to, const dg_chord *c, dg_builder *build)
{
    dg_enclosure *e = &build->e;
    mpfr_add(to->phi, e->upper, e->centre_upper, MPFR_RNDN);
    mpz_sub(e->integer, e->y_d, build->table->law->n);
    mpfr_set_z(to->at, e->integer, MPFR_RNDN);
    mpfr_mul(to->at, to->at, c->unit, MPFR_RNDN);
    mpfr_abs(to->at, to->at, MPFR_RNDN);
}

void dg_end_set(dg_end *to, const dg_chord *c, dg_builder *build)
{
    dg_weight_lower(&build->e);
    mpfr_mul_ui(to->v, build->e.lower, build->table->height, MPFR_RNDN);
    dg_end_place(to, c, build);
}

void dg_end_at_level(dg_end *to, uint32_t m, const dg_chord *c, dg_builder *build)
{
    dg_enclosure *e = &build->e;
    mpfr_set_ui(to->v, m, MPFR_RNDN);
    dg_log_integer(to->phi, m);
    mpfr_sub(to->phi, c->log_height, to->phi, MPFR_RNDN);
    dg_enclose_level(e, to->phi);
    mpfr_set(to->phi, e->lower, MPFR_RNDN);
    mpfr_mul_2si(to->at, e->upper, DG_DISTANCE_BITS - (long)build->table->block_bits, MPFR_RNDN);
}
