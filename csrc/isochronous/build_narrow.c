#include "isochronous/narrow.h"

#include "base/contract.h"
#include "bounds/enclosure.h"
#include "bounds/refine.h"

#include <stdlib.h>

#if DG_HAVE_WORDS

enum {
    PLACES = 127,     /* binary places of weights: 1 is 2^127 */
    CUT = 4,          /* more than a product of weights loses */
    SUM_BITS = 56,    /* of weights that are summed */
    SETTLED_BITS = 20 /* 2^20 words are left to dg_narrow_settle: PROOF.md, lemma 24 */
};

static const dg_u128 ONE = (dg_u128)1 << PLACES;

/** Bounds lower <= 2^127 g <= upper of an outcome's g, or of the ratio of two. */
typedef struct weight {
    dg_u128 lower, upper;
} weight;

typedef struct builder {
    dg_narrow *narrow;
    const dg_law *law;
    dg_enclosure e;
    size_t n[2];                      /* outcomes from 0 on; those below 0 */
    weight of[2][DG_NARROW_MOST + 1]; /* of y = 0, 1, ...; of y = 0, -1, ... */
} builder;

/* --- weights ------------------------------------------------------------------------------------ */

/** Return bounds of g(y), by a certified exponential. */
static weight enclosed(int64_t y, builder *build)
{
    dg_enclosure *e = &build->e;
    weight of;
    mpz_set_si(e->y_d, (long)y); /* below 2^8 in size */
    mpz_mul(e->y_d, e->y_d, build->law->d);
    dg_weight_lower(e);
    of.lower = dg_get_words(e->lower, PLACES, false);
    dg_weight_upper(e);
    of.upper = dg_get_words(e->upper, PLACES, true);
    return of;
}

/** Return floor(a b / 2^127), or up to CUT less. */
static dg_u128 high_product(dg_u128 a, dg_u128 b)
{
    const uint64_t a_high = (uint64_t)(a >> 64), b_high = (uint64_t)(b >> 64);
    return 2 * ((dg_u128)a_high * b_high) + (((dg_u128)a_high * (uint64_t)b) >> 63) +
           (((dg_u128)b_high * (uint64_t)a) >> 63);
}

/** Return bounds of the product. */
static weight times(weight a, weight b)
{
    const dg_u128 upper = high_product(a.upper, b.upper) + CUT;
    return (weight){high_product(a.lower, b.lower), upper < ONE ? upper : ONE};
}

/** Return floor(2^bits factor g(y)), by as many bits of g as that takes. */
static uint64_t floor_at_last(uint64_t factor, unsigned bits, int64_t y, const dg_law *law)
{
    mpz_t integer;
    mpz_init_set_si(integer, (long)y);
    mpfr_prec_t precision = DG_FIRST_PRECISION;
    uint64_t lower = 0, upper = 1;
    while (lower != upper) { /* ends: g is transcendental, or it is 1 and so are its bounds */
        dg_enclosure e;
        dg_enclosure_open(&e, precision);
        dg_enclose_weight(&e, integer, law);
        mpfr_mul_ui(e.lower, e.lower, (unsigned long)factor, MPFR_RNDD);
        mpfr_mul_ui(e.upper, e.upper, (unsigned long)factor, MPFR_RNDU);
        mpfr_mul_2ui(e.lower, e.lower, bits, MPFR_RNDN);
        mpfr_mul_2ui(e.upper, e.upper, bits, MPFR_RNDN);
        lower = mpfr_get_uj(e.lower, MPFR_RNDD);
        upper = mpfr_get_uj(e.upper, MPFR_RNDD);
        dg_enclosure_close(&e);
        precision *= 2;
    }
    mpz_clear(integer);
    return lower;
}

/** Return floor(factor weight / 2^drop). Requires: factor < 2^32, 64 <= drop. */
static uint64_t scaled(uint64_t factor, dg_u128 of, unsigned drop)
{
    const dg_u128 high = (of >> 64) * factor, low = (of & UINT64_MAX) * factor;
    return (uint64_t)((high + (low >> 64)) >> (drop - 64));
}

/** Return floor(2^bits factor g(y)), for y = i on the right, -i on the left. Requires: factor < 2^32,
 *  bits < 64, and the result is below 2^64. */
static uint64_t floor_of(uint64_t factor, unsigned bits, size_t i, size_t side,
                         const builder *build)
{
    const weight *of = &build->of[side][i];
    const uint64_t lower = scaled(factor, of->lower, PLACES - bits);
    const uint64_t upper = scaled(factor, of->upper, PLACES - bits);
    const int64_t y = side == 0 ? (int64_t)i : -(int64_t)i;
    return lower == upper && !DG_ALWAYS_REFINE ? lower : floor_at_last(factor, bits, y, build->law);
}

/** Enclose g on a side, from 1 on, while it is at least 2^-63. of: the weights of y = 1 and y = -1.
 *  Returns: whether there is room. */
static bool enclose_side(size_t side, const weight of[2], builder *build)
{
    const dg_law_kind kind = build->law->kind;
    weight ratio = of[side], second; /* g(i) / g(i - 1), and the ratio of two such ratios */
    if (kind == DG_DISCRETE_GAUSSIAN) {
        second = times(of[0], of[1]);
    } else {
        second = (weight){ONE, ONE};
    }
    build->of[side][0] = (weight){ONE, ONE};
    for (size_t i = 1; i <= DG_NARROW_MOST; i++) {
        weight *at = &build->of[side][i];
        if (kind == DG_GENERALIZED_GAUSSIAN) {
            *at = i == 1 ? of[side] : enclosed(side == 0 ? (int64_t)i : -(int64_t)i, build);
        } else {
            *at = times(build->of[side][i - 1], ratio);
            if (i == 1 && kind == DG_DISCRETE_LAPLACE) { /* all ratios beyond are exp(-1/scale) */
                ratio = of[mpz_sgn(build->law->n) > 0];
            }
            ratio = times(ratio, second);
        }
        if (floor_of(1, DG_NARROW_REACH, i, side, build) == 0) {
            build->n[side] = i - side;
            return true;
        }
    }
    return false;
}

/** Find all outcomes. Returns: whether there are at most DG_NARROW_MOST. */
static bool find_outcomes(builder *build)
{
    dg_narrow *narrow = build->narrow;
    narrow->has_sign = build->law->centred;
    /* if g(y) is large enough, so is g(1 - y) */
    const weight far = enclosed(narrow->has_sign ? DG_NARROW_MOST : DG_NARROW_MOST / 2 + 1, build);
    if (far.lower >> (PLACES - DG_NARROW_REACH) != 0) {
        return false;
    }
    weight of[2];
    of[0] = enclosed(1, build);
    of[1] = narrow->has_sign ? of[0] : enclosed(-1, build);
    if (!enclose_side(0, of, build) || (!narrow->has_sign && !enclose_side(1, of, build))) {
        return false;
    }
    narrow->n = build->n[0] + build->n[1];
    narrow->least = -(int64_t)build->n[1];
    narrow->first[0] = build->n[0];
    narrow->first[1] = build->n[1] + 1;
    for (size_t side = 0; side < 2; side++) { /* g halves over each such width */
        narrow->n_tail[side] = (narrow->first[side] + DG_NARROW_REACH - 1) / DG_NARROW_REACH;
    }
    return narrow->n <= DG_NARROW_MOST;
}

/* --- words -------------------------------------------------------------------------------------- */

/** Choose C: nearly the largest for which there are enough words. */
static void set_height(builder *build)
{
    dg_u128 sum = 0; /* more than 2^56 times the sum of g */
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = side; i < build->n[side] + side; i++) {
            const uint64_t above = floor_of(1, SUM_BITS, i, side, build) + 1;
            sum += build->narrow->has_sign && i > 0 ? 2 * above : above;
        }
    }
    const uint64_t words = 0 - (UINT64_C(1) << SETTLED_BITS); /* 2^64 - 2^20 */
    build->narrow->height = (uint64_t)(((dg_u128)words << (SUM_BITS - 32)) / sum);
}

static void set_thresholds(const builder *build)
{
    dg_narrow *narrow = build->narrow;
    uint64_t sum = 0;
    for (size_t j = 0; j < narrow->n; j++) {
        const int64_t y = narrow->least + (int64_t)j;
        const size_t side = y < 0, i = (size_t)(y < 0 ? -y : y);
        const uint64_t whole = floor_of(narrow->height, 32, i, side, build);
        sum += narrow->has_sign && j > 0 ? 2 * whole : whole;
        narrow->threshold[j] = sum;
    }
    narrow->undecided_from = DG_ALWAYS_REFINE ? 0 : sum;
    for (size_t j = narrow->n; j < DG_NARROW_MOST; j++) {
        narrow->threshold[j] = UINT64_MAX;
    }
    narrow->levels = DG_NARROW_LEAST_LEVELS;
    while ((size_t)1 << narrow->levels < narrow->n) {
        narrow->levels++;
    }
    for (unsigned level = 0; level < narrow->levels; level++) {
        const size_t step = (size_t)1 << (narrow->levels - level);
        for (size_t i = 0; i < (size_t)1 << level; i++) {
            narrow->node[((size_t)1 << level) + i] = narrow->threshold[i * step + step / 2 - 1];
        }
    }
}

dg_status dg_narrow_build(dg_narrow **out, const dg_law *law)
{
    DG_REQUIRES(law->kind >= DG_DISCRETE_LAPLACE);
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return DG_ERR_NOMEM;
    }
    builder build = {.narrow = *out, .law = law};
    dg_enclosure_open_for_table(&build.e, law);
    const bool is_narrow = find_outcomes(&build);
    if (is_narrow) {
        set_height(&build);
        set_thresholds(&build);
    }
    dg_enclosure_close(&build.e);
    if (!is_narrow) {
        free(*out);
        *out = NULL;
        return DG_ERR_METHOD;
    }
    return DG_OK;
}

#endif
