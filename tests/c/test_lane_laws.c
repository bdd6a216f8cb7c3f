/* Laws whose lane constants are computed without GMP: 10^5 of either kind at random and at both ends of every step,
 * with centre 0 and others. Facts, with logarithms of 2 from MPFR at 200 bits:
 *
 *   - the staircase is above the law (PROOF.md, lemma 1), and its fields are those of one staircase;
 *   - the rate is the true one, rounded down; the exponent at `farthest` is in its range;
 *   - twice_f and the offsets are the true ones, rounded down, to less than one unit;
 *   - the errors change heights by less than `above` (PROOF.md, lemma 14);
 *   - laws beyond the ends are not held;
 *   - all this holds of laws that are given by sigma, whose square is the parameter;
 *   - all kernels make the same draws of a batch of any size from the same bytes, and read the same. */
#include "support.h"

#include "isochronous/lane_laws.h"

#include <mpfr.h>
#include <string.h>

#if DG_HAVE_WORDS

enum { PRECISION = 200, LAWS = 100000 };

/** out = num/den 2^exponent. */
static void set_number(mpfr_t out, dg_lane_number number)
{
    mpfr_set_sj(out, number.num, MPFR_RNDN);
    mpfr_t den;
    mpfr_init2(den, PRECISION);
    mpfr_set_sj(den, number.den, MPFR_RNDN);
    mpfr_div(out, out, den, MPFR_RNDN);
    mpfr_mul_2si(out, out, number.exponent, MPFR_RNDN);
    mpfr_clear(den);
}

/** out = log2(e)/(2 sigma2) or log2(e)/scale. */
static void true_rate(mpfr_t out, dg_law_kind kind, dg_lane_number parameter, bool is_root)
{
    mpfr_t number;
    mpfr_init2(number, PRECISION);
    set_number(number, parameter);
    mpfr_pow_ui(number, number, is_root ? 2 : 1, MPFR_RNDN); /* exact */
    mpfr_const_log2(out, MPFR_RNDN);
    mpfr_mul(out, out, number, MPFR_RNDN);
    mpfr_mul_2ui(out, out, kind == DG_DISCRETE_GAUSSIAN, MPFR_RNDN);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
    mpfr_clear(number);
}

/** out = E at n blocks on the right: rate (n - t) n, or rate (n - t), with t = 2 max(f, 0) in blocks. */
static void exponent_at(mpfr_t out, mpfr_t rate, uint64_t n, mpfr_t t, bool squared)
{
    mpfr_ui_sub(out, n, t, MPFR_RNDN);
    mpfr_mul(out, out, rate, MPFR_RNDN);
    mpfr_mul_ui(out, out, squared ? n : 1, MPFR_RNDN);
}

/** Return whether x - n is from 0 to below `most` units. */
static bool is_rounded_down(mpfr_t x, int64_t n, double most, mpfr_t room)
{
    mpfr_set_sj(room, n, MPFR_RNDN);
    mpfr_sub(room, x, room, MPFR_RNDN);
    return mpfr_sgn(room) >= 0 && mpfr_cmp_d(room, most) <= 0;
}

/** The parameter and the centre of the law that is checked. */
static dg_lane_number looked_at[2];

/** Check a fact of that law. */
#define HOLDS(condition, what)                                                                     \
    CHECK(condition, "%s: %lld/%lld 2^%d, centre %lld/%lld 2^%d", what,                            \
          (long long)looked_at[0].num, (long long)looked_at[0].den, looked_at[0].exponent,         \
          (long long)looked_at[1].num, (long long)looked_at[1].den, looked_at[1].exponent)

static void check_distances(const dg_lanes *of, bool squared, dg_lane_number centre, mpfr_t rate,
                            mpfr_t f, mpfr_t room)
{
    mpfr_t x, root;
    mpfr_inits2(PRECISION, x, root, (mpfr_ptr)0);
    mpfr_abs(x, f, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 1 + of->units_up, MPFR_RNDN);
    const bool exact = mpfr_integer_p(x) != 0;
    const double most = exact ? 0 : 1;
    HOLDS(is_rounded_down(x, (int64_t)of->twice_f, most, room), "twice_f");
    /* the numbers that are added to z: -2 max(f, 0), and 1 - 2 max(-f, 0) */
    mpfr_set_zero(root, 1);
    mpfr_sub(root, root, x, MPFR_RNDN);
    if (centre.num <= 0) {
        mpfr_set_zero(root, 1);
    }
    HOLDS(is_rounded_down(root, of->offset[0], most, room), "the offset on the right");
    mpfr_set_ui_2exp(root, 1, (mpfr_exp_t)of->units_up, MPFR_RNDN);
    if (centre.num <= 0) {
        mpfr_sub(root, root, x, MPFR_RNDN);
    }
    HOLDS(is_rounded_down(root, of->offset[1], most, room), "the offset on the left");
    HOLDS(of->units_down == 0 && of->farthest == UINT64_C(1) << 51 &&
              of->farthest + of->twice_f + 3 <= UINT64_C(1) << 52 && of->c == 0,
          "distances");
    /* lemma 14, with rho = rate: a and b from 3 (rho 2 abs(f) + 0.77 sqrt(rho)), or rho */
    mpfr_sqrt(root, rate, MPFR_RNDN);
    mpfr_mul(x, x, rate, MPFR_RNDN);
    mpfr_mul_d(room, root, 0.77, MPFR_RNDN);
    mpfr_add(x, x, room, MPFR_RNDN);
    mpfr_mul_ui(x, squared ? x : rate, exact ? 0 : squared ? 3 : 1, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 52, MPFR_RNDN);
    mpfr_add_d(x, x, 1 + 2.01 * 0.54, MPFR_RNDN);
    mpfr_mul_d(x, x, 0.6932, MPFR_RNDN);
    HOLDS(DG_ALWAYS_REFINE || mpfr_cmp_ui(x, of->above) <= 0, "above");
    HOLDS(exact == (of->above_a_step == 2) && of->above_a_step < 1 << 10, "above, where exact");
    mpfr_mul_d(x, root, exact || !squared ? 0 : 1.5, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 52, MPFR_RNDN);
    mpfr_add_d(x, x, 2.01, MPFR_RNDN);
    mpfr_mul_d(x, x, 0.6932, MPFR_RNDN);
    HOLDS(mpfr_cmp_ui(x, of->above_a_step) <= 0, "above_a_step");
    mpfr_clears(x, root, (mpfr_ptr)0);
}

/** Check the law of a parameter, or of the square of `parameter`, if that is given as a root. */
static void check_law_of(dg_law_kind kind, dg_lane_number parameter, bool is_root,
                         dg_lane_number centre, const dg_lane_staircases *staircases)
{
    const bool squared = kind == DG_DISCRETE_GAUSSIAN;
    const unsigned long twice = squared ? 2 : 1;
    dg_lane_laws laws;
    dg_lanes of;
    looked_at[0] = parameter;
    looked_at[1] = centre;
    mpfr_t rate, room, at, f, t;
    dg_lane_laws_open(&laws, staircases, DG_ISA_AUTO);
    HOLDS(is_root
              ? dg_lane_laws_add_root(&laws, staircases, parameter.num, parameter.exponent, &centre)
              : dg_lane_laws_add(&laws, staircases, &parameter, &centre),
          "not held");
    dg_lane_laws_one(&of, 0, &laws);
    mpfr_inits2(PRECISION, rate, room, at, f, t, (mpfr_ptr)0);
    set_number(f, centre);
    mpfr_mul_ui(t, f, centre.num > 0 ? 2 : 0, MPFR_RNDN);
    mpfr_div_2ui(t, t, of.block_bits, MPFR_RNDN);
    true_rate(rate, kind, parameter, is_root);
    mpfr_mul_2ui(rate, rate, twice * of.block_bits, MPFR_RNDN); /* per block */
    exponent_at(at, rate, of.n_core, t, squared);
    HOLDS(mpfr_cmp_ui(at, 1) >= 0, "g > 1/2 behind the core");
    exponent_at(room, rate, of.n_core + of.n_tail, t, squared);
    mpfr_sub(room, room, at, MPFR_RNDN);
    HOLDS(mpfr_cmp_ui(room, 1) >= 0, "a tail level does not halve");
    HOLDS(of.n_cells == of.n_core + of.n_tail && of.n_tail > 0 && of.excess == 65536 % of.n_cells &&
              of.low_mask == (UINT64_C(1) << of.block_bits) - 1 && of.block_bits <= 35 &&
              of.n_core + 48 * of.n_tail < UINT64_C(1) << (62 - of.units_up - of.block_bits) &&
              of.attempt_bytes == (of.block_bits > 16 ? 16 : 12),
          "fields");
    /* with 2^units_up units per integer, the rate per unit is about of.rate 2^-(104 + shift) */
    true_rate(rate, kind, parameter, is_root);
    mpfr_div_2ui(rate, rate, twice * of.units_up, MPFR_RNDN);
    check_distances(&of, squared, centre, rate, f, room);
    mpfr_mul_2ui(rate, rate, (squared ? 104UL : 52UL) + of.rate_shift, MPFR_RNDN);
    mpfr_sub_ui(room, rate, of.rate, MPFR_RNDN);
    HOLDS(of.rate >> 51 == 1 && of.rate_shift >= 1 && of.rate_shift <= 52 && mpfr_sgn(room) >= 0 &&
              mpfr_cmp_d(room, 1.001) < 0,
          "rate");
    mpfr_mul_ui(room, rate, of.farthest, MPFR_RNDN);
    mpfr_mul_ui(room, room, squared ? of.farthest + of.twice_f : 1, MPFR_RNDN);
    mpfr_div_2ui(room, room, (squared ? 104UL : 52UL) + of.rate_shift, MPFR_RNDN);
    HOLDS(mpfr_cmp_ui(room, 111) > 0 && mpfr_cmp_ui(room, 1023) < 0, "farthest");
    mpfr_clears(rate, room, at, f, t, (mpfr_ptr)0);
}

static void check_law(dg_law_kind kind, dg_lane_number parameter, dg_lane_number centre,
                      const dg_lane_staircases *staircases)
{
    check_law_of(kind, parameter, false, centre, staircases);
}

static int64_t some_bits(unsigned most, uint64_t *state)
{
    return (int64_t)(next_word(state) >> (64 - most) >> (next_word(state) % most));
}

/** Return a centre from -1/2 to 1/2: a ratio, a float, one next to an end, or 0. */
static dg_lane_number some_centre(uint64_t *state)
{
    const int64_t sign = next_word(state) % 2 == 0 ? 1 : -1;
    const int64_t den = 2 * some_bits(61, state) + 3, num = some_bits(53, state);
    const int exponent = -54 - (int)(next_word(state) % 100);
    switch (next_word(state) % 5) {
    case 0:
        return (dg_lane_number){sign * ((int64_t)(next_word(state) >> 1) % (den / 2)), den, 0};
    case 1:
        return (dg_lane_number){sign * num, 1, exponent};
    case 2:
        return (dg_lane_number){sign * num, INT64_C(1) << 54, 0};
    case 3:
        return (dg_lane_number){sign * (den / 2), den, 0};
    default:
        return (dg_lane_number){0, 1, 0};
    }
}

static void check_random_laws(dg_law_kind kind, int least, int most, uint64_t *state)
{
    static const dg_lane_number zero = {0, 1, 0};
    dg_lane_staircases staircases;
    dg_lane_staircases_build(&staircases, kind, true);
    for (size_t i = 0; i < LAWS; i++) {
        const dg_lane_number centre = some_centre(state);
        const int from = centre.num == 0 ? least : -4;
        const int octave = from + (int)(next_word(state) % (uint64_t)(most - from));
        const int64_t num = some_bits(63, state) | 1;
        if (next_word(state) % 2 == 0) {
            const int bits = 64 - __builtin_clzll((uint64_t)num);
            check_law(kind, (dg_lane_number){num, 1, octave - bits + 1}, centre, &staircases);
        } else { /* a ratio in that octave, or in the one below */
            const int64_t top = INT64_C(1) << 62 | some_bits(62, state), above = top >> 45 | 1;
            const unsigned down = (unsigned)(octave < 0 ? -octave : octave);
            if (down < 45 && octave > from) {
                check_law(kind,
                          octave < 0 ? (dg_lane_number){above, above << down | 3, 0}
                                     : (dg_lane_number){top, (top >> down) - (down > 2), 0},
                          centre, &staircases);
            }
        }
    }
    for (int octave = least; octave < most; octave++) {
        for (int64_t step = 32; step < 64; step++) {
            check_law(kind, (dg_lane_number){step, 1, octave - 5}, zero, &staircases);
            const int64_t last = step << 57 | ((INT64_C(1) << 57) - 1);
            check_law(kind, (dg_lane_number){last, 1, octave - 62}, zero, &staircases);
        }
    }
}

/** Check Gaussians given by sigma: at random, and those whose sigma2 is nearest below a power of 2. */
static void check_roots(uint64_t *state)
{
    static const dg_lane_number zero = {0, 1, 0};
    dg_lane_staircases staircases;
    dg_lane_laws laws;
    dg_lane_staircases_build(&staircases, DG_DISCRETE_GAUSSIAN, true);
    for (size_t i = 0; i < LAWS; i++) {
        const dg_lane_number centre = some_centre(state);
        const int least = centre.num == 0 ? -8 : -2;
        const int octave = least + (int)(next_word(state) % (uint64_t)(31 - least));
        const int64_t root = some_bits(53, state) | 1;
        const int bits = 64 - __builtin_clzll((uint64_t)root);
        check_law_of(DG_DISCRETE_GAUSSIAN, (dg_lane_number){root, 1, octave - bits + 1}, true,
                     centre, &staircases);
    }
    int64_t root = 1;
    for (int k = 0; k <= 52; k++) { /* root is floor(sqrt(2^(2 k + 1))) */
        check_law_of(DG_DISCRETE_GAUSSIAN, (dg_lane_number){root, 1, 30 - k}, true, zero,
                     &staircases);
        const dg_u128 next = 2 * (dg_u128)root + 1;
        root = (int64_t)(next * next < (dg_u128)1 << (2 * k + 3) ? next : next - 1);
    }
    dg_lane_laws_open(&laws, &staircases, DG_ISA_AUTO);
    CHECK(!dg_lane_laws_add_root(&laws, &staircases, 0, 0, &zero) &&
              !dg_lane_laws_add_root(&laws, &staircases, -1, 0, &zero) &&
              !dg_lane_laws_add_root(&laws, &staircases, 1, 31, &zero) &&
              !dg_lane_laws_add_root(&laws, &staircases, (INT64_C(1) << 53) - 1, -8 - 53, &zero),
          "a root beyond the ends is held");
}

static void check_ends(dg_law_kind kind, int least, int most)
{
    static const dg_lane_number zero = {0, 1, 0}, nine = {9, 1, 0}, near_half = {INT64_MAX, 1, -64},
                                far[] = {{1, 2, 0}, {1, 1, 0},  {-2, 3, 0},          {1, 1, 1000},
                                         {1, 0, 0}, {1, -3, 0}, {INT64_MIN, 1, -63}, {0, 0, 0}},
                                near[] = {{-1, 2, 0},
                                          {1, 3, 0},
                                          {INT64_MIN, 1, -64},
                                          {1, INT64_MAX, 0},
                                          {-1, 1, -1074}};
    const struct {
        dg_lane_number parameter, centre;
    } beyond[] = {{{0, 1, 0}, zero},
                  {{-1, 1, 0}, zero},
                  {{1, 0, 0}, zero},
                  {{1, -1, 0}, zero},
                  {{INT64_MAX, 1, least - 63}, zero},
                  {{INT64_MAX, 1, -4 - 63}, near_half},
                  {{1, 1, most}, zero},
                  {{1, 1, 2000}, zero},
                  {{1, INT64_MAX, 0}, zero}};
    dg_lane_staircases staircases;
    dg_lane_laws laws;
    dg_lane_staircases_build(&staircases, kind, true);
    dg_lane_laws_open(&laws, &staircases, DG_ISA_AUTO);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        CHECK(!dg_lane_laws_add(&laws, &staircases, &beyond[i].parameter, &beyond[i].centre),
              "parameter %zu is held", i);
    }
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        CHECK(!dg_lane_laws_add(&laws, &staircases, &nine, &far[i]), "centre %zu is held", i);
    }
    CHECK(laws.n == 0, "something was added");
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        check_law(kind, (dg_lane_number){INT64_MAX - 1, INT64_MAX, 0}, near[i], &staircases);
        check_law(kind, (dg_lane_number){1, 1, -4}, near[i], &staircases);
        check_law(kind, (dg_lane_number){INT64_MAX, 1, most - 63}, near[i], &staircases);
    }
    dg_lane_staircases_build(&staircases, kind, false);
    CHECK(!dg_lane_laws_add(&laws, &staircases, &nine, &near[1]),
          "a centre is held for which there are no staircases");
    check_law(kind, nine, zero, &staircases);
}

/** Return the parameter of law i of those that compare kernels. Centres are 0, thirds of either sign, and -1/2. */
static dg_lane_number parameter_of(size_t i)
{
    return (dg_lane_number){3 + (int64_t)i * 1000, i % 2 == 0 ? 1 : 7, 0};
}

static dg_lane_number centre_of(size_t i)
{
    static const dg_lane_number centres[] = {{0, 1, 0}, {1, 3, 0}, {-1, 3, 0}, {-1, 2, 0}};
    return centres[i / 3 % 4];
}

static dg_status numbered_law(dg_law **law, size_t which, void *context)
{
    const dg_lane_number parameter = parameter_of(which), centre = centre_of(which);
    const int64_t common = parameter.num % 7 == 0 && parameter.den == 7 ? 7 : 1;
    *law = law_of(*(const dg_law_kind *)context, DG_ARITHMETIC_AUTO, parameter.num / common,
                  parameter.den / common, centre.num, centre.den);
    return DG_OK;
}

/** Draw a batch of n laws, parameters 3, 1003/7, 2003 ..., by a kernel, from a tape. */
static size_t draw_batch(int64_t *out, size_t n, dg_law_kind kind, dg_isa isa,
                         const dg_lane_staircases *staircases, const uint8_t *bytes, size_t n_bytes)
{
    static dg_bits bits; /* large */
    dg_lane_laws laws;
    tape from = {bytes, n_bytes, 0};
    const dg_source source = tape_source(&from);
    dg_lane_laws_open(&laws, staircases, isa);
    for (size_t i = 0; i < n; i++) {
        const dg_lane_number parameter = parameter_of(i), centre = centre_of(i);
        CHECK(dg_lane_laws_add(&laws, staircases, &parameter, &centre), "law %zu", i);
    }
    dg_bits_open(&bits, &source);
    CHECK(dg_lane_laws_draw(out, 0, &laws, numbered_law, &kind, &bits) == DG_OK, "%zu laws", n);
    CHECK(bits.position == bits.end, "bytes were read and not used");
    dg_bits_close(&bits);
    return from.used;
}

static void check_kernels(dg_law_kind kind, uint64_t *state)
{
    enum { TAPE = 40000 };
    static uint8_t bytes[TAPE];
    static const dg_isa all[] = {DG_ISA_AVX2, DG_ISA_AVX512_VBMI2};
    dg_lane_staircases staircases;
    dg_lane_staircases_build(&staircases, kind, true);
    for (size_t n = 0; n <= DG_LANE_LAWS; n += DG_ALWAYS_REFINE ? 16 : 1) {
        int64_t out[2][DG_LANE_LAWS];
        for (size_t i = 0; i < TAPE; i++) {
            bytes[i] = (uint8_t)(next_word(state) >> 56);
        }
        if (n > 0 && n % 3 == 0) { /* a run of ones: undecided, if the attempt is in a tail */
            memset(bytes + 12 * (next_word(state) % n), 0xFF, 12);
        }
        const size_t used = draw_batch(out[0], n, kind, DG_ISA_PORTABLE, &staircases, bytes, TAPE);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            if (dg_isa_available(all[k])) {
                CHECK(draw_batch(out[1], n, kind, all[k], &staircases, bytes, TAPE) == used,
                      "other bytes, %zu laws", n);
                CHECK(memcmp(out[0], out[1], n * sizeof out[0][0]) == 0, "other draws, %zu laws",
                      n);
            }
        }
    }
}

int main(void)
{
    uint64_t state = 20261125;
    check_random_laws(DG_DISCRETE_GAUSSIAN, -16, 62, &state);
    check_random_laws(DG_DISCRETE_LAPLACE, -11, 42, &state);
    check_roots(&state);
    check_ends(DG_DISCRETE_GAUSSIAN, -16, 62);
    check_ends(DG_DISCRETE_LAPLACE, -11, 42);
    check_kernels(DG_DISCRETE_GAUSSIAN, &state);
    check_kernels(DG_DISCRETE_LAPLACE, &state);
    mpfr_free_cache();
    return report("laws that have lanes of their own");
}

#else
int main(void)
{
    return 77; /* without 128-bit integers there are no lanes */
}
#endif
