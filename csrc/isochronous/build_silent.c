#include "isochronous/silent.h"

#include "bounds/refine.h"
#include "isochronous/lane_attempt.h"

#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

enum {
    TOP_BITS = 32,  /* binary places of top_i */
    ALL_BITS = 24,  /* the c_i add up to 2^24 */
    REACH = 64,     /* g is at most 2^-64 in tails */
    MOST_LIFT = 40, /* lifted products stay below 2^128 */
    MOST_BLOCK_BITS = 8 * DG_SILENT_PLANES,
    ROOM_FROM = 16, /* Gaussians get room where g <= 2^-16 */
    ROOM = 8,
    MOST_ROOM = 304 /* 9/8 2^16 over this leaves a byte room for roundings */
};

/* --- weights ------------------------------------------------------------------------------------ */

/** Return ceil(2^bits g) at z, by as many bits of g as that takes. Requires: bits <= 64, and g < 1 if they are 64. */
static uint64_t ceil_at_last(unsigned bits, uint64_t z, unsigned left, const dg_law *law)
{
    mpz_t y;
    mpz_init(y);
    dg_silent_set_y(y, z, left);
    mpfr_prec_t precision = DG_FIRST_PRECISION;
    uint64_t lower = 0, upper = 1;
    while (lower != upper) { /* ends: g is transcendental, or it is 1 and so are its bounds */
        dg_enclosure e;
        dg_enclosure_open(&e, precision);
        dg_enclose_weight(&e, y, law);
        mpfr_mul_2ui(e.lower, e.lower, bits, MPFR_RNDN);
        mpfr_mul_2ui(e.upper, e.upper, bits, MPFR_RNDN);
        upper = mpfr_get_uj(e.upper, MPFR_RNDU);
        lower = mpfr_get_uj(e.lower, MPFR_RNDU);
        lower += lower == 0; /* g > 0 */
        dg_enclosure_close(&e);
        precision *= 2;
    }
    mpz_clear(y);
    return lower;
}

/** Return ceil(2^32 g) at z. at: its height, if the law has exponents. */
static uint64_t top_of(uint64_t z, unsigned left, uint64_t at, const dg_silent *silent)
{
    if (silent->has_exponents && !DG_ALWAYS_REFINE) {
        enum { DROP = DG_LANE_BITS - TOP_BITS };
        const uint64_t round_up = (UINT64_C(1) << DROP) - 1;
        const uint64_t low = at > silent->above ? at - silent->above : 1;
        const uint64_t lower = (low + round_up) >> DROP, one = UINT64_C(1) << TOP_BITS;
        const uint64_t upper = (at + silent->below + round_up) >> DROP;
        if (lower == (upper < one ? upper : one)) { /* g is at most 1 */
            return lower;
        }
    }
    return ceil_at_last(TOP_BITS, z, left, &silent->law);
}

/** Return whether g <= 2^-64 from z on, on a side. */
static bool is_far(uint64_t z, unsigned left, const dg_silent *silent)
{
    if (silent->has_exponents && !DG_ALWAYS_REFINE) { /* exponents are less than 2^20 too low */
        const uint64_t exponent = dg_silent_exponent(z, left, silent);
        const uint64_t reach = (uint64_t)REACH << DG_LANE_BITS;
        if (exponent >= reach || exponent + (1 << 20) < reach) {
            return exponent >= reach;
        }
    }
    return ceil_at_last(REACH, z, left, &silent->law) == 1;
}

/* --- parts of dg_silent_build --------------------------------------------------------------------- */

/** Set `law` to a law, or to its mirror image if its f is above 0. Ensures: the law is to be cleared. */
static void set_law(dg_silent *silent, const dg_law *law)
{
    mpz_t mu;
    mpz_init(mu);
    mpz_mul(mu, law->c, law->d);
    mpz_add(mu, mu, law->n);
    silent->flip = mpz_sgn(law->n) > 0 ? -1 : 0;
    if (silent->flip) {
        mpz_neg(mu, mu);
    }
    dg_law_prepare(&silent->law, law->kind, law->a, law->b, mu, law->d, law->beta_num,
                   law->beta_den);
    mpz_clear(mu);
}

/** Choose the width of blocks. Returns: whether there is one. */
static bool set_width(dg_silent *silent)
{
    const unsigned most = silent->has_exponents ? MOST_BLOCK_BITS : 0;
    unsigned bits = 0;
    while (bits <= most && !(is_far((uint64_t)DG_SILENT_TAIL << bits, 0, silent) &&
                             is_far((uint64_t)DG_SILENT_TAIL << bits, 1, silent))) {
        bits++;
    }
    silent->block_bits = bits;
    silent->n_planes = (bits + 7) / 8;
    return bits <= most;
}

/** Set exponents and heights at half blocks; at blocks, if these have one integer. */
static void set_steps(dg_silent_steps *steps, const dg_silent *silent)
{
    const bool is_flat = silent->block_bits == 0;
    const uint64_t low = (uint64_t)(is_flat ? MOST_LIFT + DG_LANE_BITS : MOST_LIFT) << DG_LANE_BITS;
    const size_t by = is_flat ? 2 : 1;
    memset(steps, 0, sizeof *steps);
    for (unsigned left = 0; left < 2 && silent->has_exponents; left++) {
        uint64_t *const exponent = steps->exponent[left], *const height = steps->height[left];
        size_t n = 0;
        for (uint64_t last = 0; n < DG_SILENT_HALVES && last < low; n += by) {
            last = dg_silent_exponent((uint64_t)n << silent->block_bits >> 1, left, silent);
            exponent[n] = last;
        }
        for (size_t i = 0; i < n; i += DG_LANE_TOGETHER) {
            uint64_t four[DG_LANE_TOGETHER];
            memcpy(four, exponent + i, sizeof four);
            heights_of(four, DG_LANE_TOGETHER);
            memcpy(height + i, four, sizeof four);
        }
        for (; n < DG_SILENT_HALVES; n++) {
            exponent[n] = DG_SILENT_FARTHEST;
            height[n] = 0;
        }
    }
}

/** Return the sign of beta - num/den. */
static int beta_against(unsigned num, unsigned den, const dg_law *law)
{
    mpz_t difference;
    mpz_init(difference);
    mpz_mul_ui(difference, law->beta_num, den);
    mpz_submul_ui(difference, law->beta_den, num);
    const int sign = mpz_sgn(difference);
    mpz_clear(difference);
    return sign;
}

/** Set m. */
static void set_rooms(uint64_t room[DG_SILENT_CODES], const uint64_t top[DG_SILENT_CODES],
                      const dg_silent *silent)
{
    const dg_law *law = &silent->law;
    const bool is_power = law->kind == DG_GENERALIZED_GAUSSIAN;
    const bool is_steep = is_power && beta_against(2, 1, law) > 0;
    const bool is_bent = is_power && beta_against(7, 5, law) < 0;
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        room[i] = 1;
        if (silent->block_bits == 0 || law->kind == DG_DISCRETE_LAPLACE ||
            (i & 127) == DG_SILENT_TAIL) {
            continue;
        }
        if (!is_power) {
            room[i] = top[i] <= UINT64_C(1) << (TOP_BITS - ROOM_FROM) ? ROOM : 1;
            continue;
        }
        const dg_u128 next = top[i + 1] > 0 ? top[i + 1] : 1;
        const dg_u128 falls =
            is_steep ? (dg_u128)top[i] * top[i] / (next * next) : (dg_u128)top[i] / next;
        const uint64_t least = is_bent && (i & 127) == 0 ? 2 : 1;
        room[i] = falls > MOST_ROOM ? MOST_ROOM : falls > least ? (uint64_t)falls : least;
    }
}

/** Set H, c and per_1024. */
static void set_units(dg_silent *silent, const dg_silent_steps *steps)
{
    const uint64_t all = UINT64_C(1) << ALL_BITS;
    uint64_t top[DG_SILENT_CODES], room[DG_SILENT_CODES], sum = 0, twice = 0;
    uint32_t total = 0;
    for (unsigned left = 0; left < 2; left++) {
        uint64_t *const of = top + (size_t)128 * left;
        for (uint64_t h = 0; h < DG_SILENT_TAIL; h++) { /* g falls: behind 1 there is only 1 */
            of[h] = h > 0 && of[h - 1] == 1
                        ? 1
                        : top_of(h << silent->block_bits, left, steps->height[left][2 * h], silent);
        }
        of[DG_SILENT_TAIL] = 0;
    }
    for (size_t i = 0; i < DG_SILENT_CODES;
         i++) { /* trapezoids of the tops, or the tops of single integers */
        const uint64_t last =
            (i & 127) == DG_SILENT_TAIL ? 0 : top[silent->block_bits > 0 ? i + 1 : i];
        twice += top[i] + last;
    }
    set_rooms(room, top, silent);
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        top[i] *= room[i];
        sum += top[i];
    }
    silent->height = (uint32_t)(((dg_u128)(all - DG_SILENT_CODES) << TOP_BITS) / sum);
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        silent->c[i] = (uint32_t)(((dg_u128)silent->height * top[i]) >> TOP_BITS) + 1;
        total += silent->c[i];
    }
    silent->c[0] += (uint32_t)all - total;
    /* of 2^57 attempts, `height` `twice` are accepted */
    silent->per_1024 = (uint32_t)(((dg_u128)1024 << (1 + TOP_BITS + ALL_BITS)) /
                                  ((dg_u128)silent->height * twice)) +
                       1;
}

void dg_silent_fill_rows(dg_silent *silent)
{
    enum { POSITIONS = 1 << 16 };
    uint32_t left[DG_SILENT_CODES];
    uint8_t small[DG_SILENT_CODES], large[DG_SILENT_CODES];
    size_t n_small = 0, n_large = 0;
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        left[i] = silent->c[i];
        if (left[i] < POSITIONS) {
            small[n_small++] = (uint8_t)i;
        } else {
            large[n_large++] = (uint8_t)i;
        }
    }
    while (n_small > 0) { /* what is left is 2^16 for each row left: some code has 2^16 or more */
        const uint8_t row = small[--n_small], of = large[n_large - 1];
        silent->end[row] = (uint16_t)left[row];
        silent->alias[row] = of;
        left[of] -= POSITIONS - left[row];
        if (left[of] < POSITIONS) {
            n_large--;
            small[n_small++] = of;
        }
    }
    while (n_large > 0) { /* 2^16 each */
        const uint8_t row = large[--n_large];
        silent->end[row] = POSITIONS - 1;
        silent->alias[row] = row;
    }
}

/** Set the lifts, and the heights of single integers, by exponents. */
static void set_heights(dg_silent *silent, const dg_silent_steps *steps)
{
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        const uint64_t exponent = steps->exponent[i >> 7][2 * (i & 127)];
        const uint64_t lift =
            exponent >> DG_LANE_BITS < MOST_LIFT ? exponent >> DG_LANE_BITS : MOST_LIFT;
        if ((i & 127) == DG_SILENT_TAIL) {
            continue;
        }
        silent->lift[i] = (uint8_t)lift;
        silent->kept[i] =
            silent->block_bits == 0 ? height_of(exponent - (lift << DG_LANE_BITS)) : 0;
    }
}

/** Set the lifts and the heights of single integers by bounds of weights, which only laws without exponents need: they have
 *  few integers that are likely. */
static void set_kept(dg_silent *silent)
{
    dg_enclosure e;
    dg_enclosure_open_for_table(&e, &silent->law);
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        const uint64_t z = i & 127;
        unsigned lift = 0;
        if (z == DG_SILENT_TAIL) {
            continue;
        }
        if (z > 0 && silent->kept[i - 1] == 0) { /* 2^40 g was below 2^-52; g falls */
            silent->lift[i] = MOST_LIFT;
            continue;
        }
        dg_silent_set_y(e.y_d, z, (unsigned)(i >> 7));
        mpz_mul(e.y_d, e.y_d, silent->law.d);
        dg_weight_upper(&e);
        while (lift < MOST_LIFT && mpfr_cmp_ui_2exp(e.upper, 1, -(long)lift - 1) < 0) {
            lift++; /* 2^lift g stays below 1, and not only its lower bound */
        }
        dg_weight_lower(&e);
        silent->lift[i] = (uint8_t)lift;
        silent->kept[i] = (uint64_t)dg_get_words(e.lower, DG_LANE_BITS + lift, false);
    }
    dg_enclosure_close(&e);
    /* kept heights are cut, and dg_weight_lower loses less than 2^-60 of them */
    silent->above = DG_ALWAYS_REFINE ? UINT64_C(2) << DG_LANE_BITS : 0;
    silent->above_a_step = 0;
    silent->below = DG_ALWAYS_REFINE ? UINT64_C(2) << DG_LANE_BITS : 2;
}

static dg_status build(dg_silent *silent, const dg_law *law)
{
    set_law(silent, law);
    const dg_status status = dg_lane_exponents(&silent->lanes, &silent->law);
    silent->has_exponents = status == DG_OK;
    uint64_t size = 0;
    mpz_export(&size, NULL, -1, sizeof size, 0, 0, silent->law.c);
    const int64_t c = mpz_sgn(silent->law.c) < 0 ? -(int64_t)size : (int64_t)size;
    silent->centre = silent->flip ? -c : c;
    silent->above = silent->lanes.above;
    silent->above_a_step = silent->lanes.above_a_step;
    silent->below = silent->lanes.below;
    if (!set_width(silent)) {
        return DG_ERR_METHOD;
    }
    dg_silent_steps steps;
    set_steps(&steps, silent);
    set_units(silent, &steps);
    dg_silent_fill_rows(silent);
    if (silent->has_exponents) {
        set_heights(silent, &steps);
    } else {
        set_kept(silent);
    }
    return dg_silent_set_arcs(silent, &steps) ? DG_OK : DG_ERR_METHOD;
}

dg_status dg_silent_build(dg_silent **out, const dg_law *law)
{
    DG_REQUIRES(law->kind >= DG_DISCRETE_LAPLACE);
    *out = NULL;
    if (!dg_lanes_hold(law)) {
        return DG_ERR_METHOD;
    }
    dg_silent *silent = calloc(1, sizeof *silent);
    if (silent == NULL) {
        return DG_ERR_NOMEM;
    }
    const dg_status status = build(silent, law);
    if (status != DG_OK) {
        dg_silent_free(silent);
        return status;
    }
    *out = silent;
    return DG_OK;
}

void dg_silent_free(dg_silent *silent)
{
    if (silent != NULL) {
        dg_law_clear(&silent->law);
        free(silent);
    }
}

#endif
