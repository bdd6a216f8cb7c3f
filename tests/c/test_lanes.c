/* Exponents and heights in fixed point, and attempts in lanes that have their own laws. Facts, with g from MPFR at 400
 * bits by formulas of this file:
 *
 *   - heights at any place of laws of every width are as far from g as `above`, `above_a_step` and `below` say, and so
 *     are those that are lifted by a power of two, as the silent engine and CUDA ask for them;
 *   - logarithms and powers are within the bounds of PROOF.md;
 *   - every law of the range that lanes.h states is held, and those next to it are not;
 *   - next to 2^k g(y), on both sides and ever closer, no kernel of arrays accepts a height above it or rejects one below
 *     it, and each decides what is as far from it as the bounds say (except with -DDG_NARROW_BOUNDS=ON);
 *   - undecided attempts, in the core and on tail levels as far as bits go, are accepted up to 2^k g(y), and not
 *     beyond, to the 64th bit behind their words. */
#include "support.h"

#include "isochronous/lane_laws.h"
#include "isochronous/lane_power.h"
#include "isochronous/silent.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

#include "bounds/refine.h"

enum { PRECISION = 400, SPOTS = 300, COPIES = 16 /* twice what a kernel takes together */ };

typedef struct test_case {
    dg_law_kind kind;
    int64_t a;
    size_t shift; /* the parameter is a 2^shift / b */
    int64_t b, n, d;
    int64_t beta_num, beta_den;
} test_case;

static const test_case CASES[] = {
    {DG_DISCRETE_GAUSSIAN, 188, 0, 1, 0, 1, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 200, 0, 1, 1, 3, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 400, 0, 1, -1, 2, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 35500, 0, 113, 2, 5, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 10000, 0, 7, -1, 5, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 25, 20, 3, 49, 100, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 25, 66, 1, 1, 3, 2, 1},
    {DG_DISCRETE_GAUSSIAN, 25, 98, 1, 1, 3, 2, 1},
    {DG_DISCRETE_LAPLACE, 3, 0, 1, 0, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 10, 0, 3, 1, 3, 1, 1},
    {DG_DISCRETE_LAPLACE, 100, 0, 1, -2, 5, 1, 1},
    {DG_DISCRETE_LAPLACE, 3, 34, 1, 1, 3, 1, 1},
    {DG_DISCRETE_LAPLACE, 3, 50, 1, 1, 3, 1, 1},
};

static const test_case POWERS[] = {
    {DG_GENERALIZED_GAUSSIAN, 40, 0, 1, 0, 1, 3, 1},
    {DG_GENERALIZED_GAUSSIAN, 20, 0, 1, 2, 5, 3, 2},
    {DG_GENERALIZED_GAUSSIAN, 5, 0, 1, 1, 3, 1, 1},
    {DG_GENERALIZED_GAUSSIAN, 1000, 0, 1, 0, 1, 1, 1},
    {DG_GENERALIZED_GAUSSIAN, 50, 0, 3, 1, 3, 11, 10},
    {DG_GENERALIZED_GAUSSIAN, 100, 0, 1, -1, 2, 8, 1},
    {DG_GENERALIZED_GAUSSIAN, 100, 0, 1, 9, 20, 2, 1},
    {DG_GENERALIZED_GAUSSIAN, 500, 0, 1, 0, 1, 63, 1},
    {DG_GENERALIZED_GAUSSIAN, 1000, 0, 7, -3, 7, 127, 2},
    {DG_GENERALIZED_GAUSSIAN, 130, 0, 1, 0, 1, 6391, 100},
    {DG_GENERALIZED_GAUSSIAN, 12345, 0, 1, 49, 100, 355, 113},
    {DG_GENERALIZED_GAUSSIAN, 3, 30, 1, 1, 3, 5, 2},
    {DG_GENERALIZED_GAUSSIAN, 3, 30, 1, 0, 1, 4503599627370497, 4503599627370496},
    {DG_GENERALIZED_GAUSSIAN, 3, 48, 1, -1, 3, 9, 4},
};

static dg_law *law_for(const test_case *of)
{
    if (of->kind != DG_GENERALIZED_GAUSSIAN) {
        return long_law_of(of->kind, DG_ARITHMETIC_AUTO, of->a, of->shift, of->b, 0, of->n, of->d);
    }
    return power_law_of(of->a, of->shift, of->b, of->n, of->d, of->beta_num, of->beta_den);
}

/** out = phi(r/d): (r / (d scale))^beta, r^2 / (2 d^2 sigma2), or r / (d scale). */
static void phi(mpfr_t out, const mpz_t r, const test_case *of)
{
    mpfr_set_z(out, r, MPFR_RNDN);
    mpfr_div_si(out, out, of->d, MPFR_RNDN);
    if (of->kind == DG_DISCRETE_GAUSSIAN) {
        mpfr_sqr(out, out, MPFR_RNDN);
        mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    }
    mpfr_mul_si(out, out, of->b, MPFR_RNDN);
    mpfr_div_si(out, out, of->a, MPFR_RNDN);
    mpfr_div_2ui(out, out, of->shift, MPFR_RNDN);
    if (of->kind == DG_GENERALIZED_GAUSSIAN) {
        mpfr_t beta;
        mpfr_init2(beta, PRECISION);
        mpfr_set_si(beta, of->beta_num, MPFR_RNDN);
        mpfr_div_si(beta, beta, of->beta_den, MPFR_RNDN);
        mpfr_pow(out, out, beta, MPFR_RNDN);
        mpfr_clear(beta);
    }
}

/** out = phi(|y - f|) - phi(|f|), to some 300 bits; 0 exactly if the difference is. */
static void exponent(mpfr_t out, const mpz_t y, const test_case *of)
{
    mpz_t far, near;
    mpfr_t at_centre;
    mpz_inits(far, near, NULL);
    mpfr_init2(at_centre, PRECISION);
    mpz_mul_si(far, y, of->d);
    mpz_set_si(near, of->n);
    mpz_sub(far, far, near);
    mpz_abs(far, far);
    mpz_abs(near, near);
    phi(out, far, of);
    phi(at_centre, near, of);
    mpfr_sub(out, out, at_centre, MPFR_RNDN);
    mpfr_clear(at_centre);
    mpz_clears(far, near, NULL);
}

/** Check the height at a place, lifted by 2^lift. */
static void check_height(uint64_t z, bool left, uint64_t lift, const test_case *of,
                         const dg_lanes *lanes)
{
    const uint64_t found = law_exponent_at(z, 0 - (uint64_t)left, lanes);
    const int64_t lifted = (int64_t)(found - (lift << DG_LANE_BITS));
    const uint64_t height = height_of(lifted < 0 ? 0 : (uint64_t)lifted);
    mpz_t y;
    mpfr_t truth;
    mpz_init(y);
    mpfr_init2(truth, PRECISION);
    mpz_import(y, 1, -1, sizeof z, 0, 0, &z);
    if (left) {
        mpz_com(y, y);
    }
    exponent(truth, y, of);
    mpfr_neg(truth, truth, MPFR_RNDN);
    mpfr_exp(truth, truth, MPFR_RNDN);
    mpfr_mul_2ui(truth, truth, DG_LANE_BITS + lift, MPFR_RNDN);
    if (mpfr_cmp_ui_2exp(truth, 1, DG_LANE_BITS) <=
        0) { /* else the lift is more than the height has room for */
        mpfr_sub_ui(truth, truth, height, MPFR_RNDN);
        const double low = mpfr_get_d(truth, MPFR_RNDN);
        CHECK(low < (double)lanes->below &&
                  -low < (double)(lanes->above + lift * lanes->above_a_step),
              "z = %llu, lifted by %d: %g units too low", (unsigned long long)z, (int)lift, low);
    }
    mpfr_clear(truth);
    mpz_clear(y);
}

/** Check heights everywhere, as far as they are not 0. */
static void check_heights(const test_case *of, const dg_lanes *lanes, uint64_t *state)
{
    enum { PLACES = 2000, MOST_LIFT = 40 };
    const unsigned all_bits = 62 - lanes->units_up + lanes->units_down;
    const unsigned far_bits = all_bits < 62 ? all_bits : 62; /* z is below 2^62 */
    for (int i = 0; i < PLACES; i++) {
        const uint64_t z = i < 10
                               ? (uint64_t)i
                               : next_word(state) >> (64 - far_bits) >> next_word(state) % far_bits;
        const bool left = next_word(state) % 2 == 1;
        const uint64_t whole = law_exponent_at(z, 0 - (uint64_t)left, lanes) >> DG_LANE_BITS;
        check_height(z, left, 0, of, lanes);
        if (whole <= 127) { /* a power next to 0 may be below it */
            check_height(z, left, whole < MOST_LIFT ? whole : MOST_LIFT, of, lanes);
        }
    }
}

/** A place that an attempt may choose. */
typedef struct spot {
    uint64_t cell, level, low;
    bool tail, left;
} spot;

static spot any_spot(uint64_t *state, const dg_lanes *lanes)
{
    spot at;
    at.cell = next_word(state) % lanes->n_cells;
    at.tail = at.cell >= lanes->n_core;
    at.level = at.tail ? (uint64_t)__builtin_clzll(next_word(state) | 1) : 0;
    at.level += at.tail && next_word(state) % 8 == 0 ? next_word(state) % 40 : 0;
    at.level = at.level < DG_LANE_MOST_STEP ? at.level : DG_LANE_MOST_STEP - 1;
    at.left = next_word(state) % 2 == 1;
    at.low = next_word(state) & lanes->low_mask;
    return at;
}

/** Write the words of an attempt at a spot, whose height begins with the 63 - step bits of f. */
static void write_attempt(uint8_t bytes[16], const spot *at, uint64_t f, const dg_lanes *lanes)
{
    const uint64_t choice = ((at->cell << 16) + lanes->n_cells - 1) / lanes->n_cells + 1;
    const uint64_t in_point = at->level < 63 ? at->level : 63;
    const uint64_t ones = in_point == 0 ? 0 : ((UINT64_C(1) << in_point) - 1) << (63 - in_point);
    const uint64_t words[2] = {(ones | f) << 1 | (uint64_t)at->left,
                               (at->low & 0xFFFF) << 16 | choice | (at->low >> 16) << 32};
    for (size_t i = 0; i < 16; i++) {
        bytes[i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
    }
}

static const dg_isa ISAS[] = {DG_ISA_PORTABLE, DG_ISA_AVX512_VBMI2};
enum { N_ISAS = 2, ACCEPTED = 0, UNDECIDED, REJECTED };

/** Make copies of an attempt by one law, in a batch of copies of it. */
static int decision(int64_t *draw, const spot *at, uint64_t f, dg_isa isa, const dg_lane_laws *laws,
                    const dg_lanes *lanes)
{
    uint8_t bytes[16 * COPIES];
    int64_t out[DG_LANE_LAWS];
    dg_lane_laws all = *laws;
    dg_lane_round round = {.n_pending = COPIES};
    all.isa = dg_isa_available(isa) && dg_isa_has_ifma() ? isa : DG_ISA_PORTABLE;
    for (size_t k = 0; k < COPIES; k++) {
        write_attempt(bytes + k * lanes->attempt_bytes, at, f, lanes);
        round.pending[k] = k;
        if (k > 0) {
            dg_lane_laws_again(&all);
        }
    }
    dg_lane_laws_attempt(out, &round, bytes, &all);
    *draw = out[0];
    CHECK(round.n_made == 0 || (round.n_made == COPIES && round.n_kept % COPIES == 0),
          "%zu copies are made, %zu kept", round.n_made, round.n_kept);
    return round.n_made == 0 ? UNDECIDED : round.n_kept == 0 ? ACCEPTED : REJECTED;
}

/** Check the kernels' decisions on heights next to the edge. */
static void check_spot(const spot *at, const test_case *of, const dg_lane_laws *laws,
                       const dg_lanes *lanes)
{
    static const uint64_t offsets[] = {0,       1,       2,       3,       4,       5,      6,
                                       7,       8,       9,       12,      16,      24,     50,
                                       100,     200,     400,     800,     1600,    4110,   1 << 20,
                                       1 << 23, 1 << 25, 1 << 27, 1 << 28, 1 << 29, 1 << 30};
    const uint64_t step = at->tail ? at->level + 1 : 0;
    const size_t n_bits = 63 - step;
    const unsigned unit = n_bits > 52 ? (unsigned)n_bits - 52 : 0; /* of heights, in bits of f' */
    const uint64_t block = at->cell + at->level * lanes->n_tail;
    mpz_t y, edge;
    mpfr_t truth;
    mpz_inits(y, edge, NULL);
    mpfr_init2(truth, PRECISION);
    mpz_import(y, 1, -1, sizeof block, 0, 0, &block);
    mpz_mul_2exp(y, y, lanes->block_bits);
    mpz_add_ui(y, y, at->low);
    if (at->left) {
        mpz_com(y, y);
    }
    exponent(truth, y, of);
    const bool is_centre = mpfr_sgn(truth) == 0;
    mpfr_neg(truth, truth, MPFR_RNDN);
    mpfr_exp(truth, truth, MPFR_RNDN);
    mpfr_mul_2ui(truth, truth, step + n_bits, MPFR_RNDN);
    CHECK(mpfr_cmp_ui_2exp(truth, 1, (long)n_bits) <= 0, "2^k g is above 1");
    mpfr_get_z(edge, truth, MPFR_RNDD); /* heights below it must be accepted */
    const uint64_t whole = mpz_get_ui(edge), end = UINT64_C(1) << n_bits;
    const uint64_t error = (lanes->above + step * lanes->above_a_step + lanes->below + 2) << unit;
    for (size_t i = 0; i < 2 * sizeof offsets / sizeof *offsets; i++) {
        const uint64_t off = i == 0 ? 0 : offsets[i / 2] << unit;
        const uint64_t f = i % 2 == 0 ? whole + off : whole - 1 - off;
        if (f >= end) {
            continue; /* also if f is below 0 */
        }
        for (size_t k = 0; k < N_ISAS; k++) {
            int64_t draw;
            const int is = decision(&draw, at, f, ISAS[k], laws, lanes);
            const bool below = f < whole || is_centre;
            CHECK(is == UNDECIDED || f == whole || (is == ACCEPTED) == below,
                  "kernel %zu, step %d: %d, %llu from the edge", k, (int)step, is,
                  (unsigned long long)(f - whole));
            /* the edge's own height is accepted in part, so no words decide it */
            CHECK(f != whole || is_centre || is == UNDECIDED, "kernel %zu decides the edge", k);
            CHECK(is != ACCEPTED || mpz_cmp_si(y, draw) == 0, "another integer");
            CHECK(is != UNDECIDED || DG_ALWAYS_REFINE || off <= error || n_bits < 52,
                  "kernel %zu, step %d: undecided %llu from the edge", k, (int)step,
                  (unsigned long long)off);
        }
    }
    mpfr_clear(truth);
    mpz_clears(y, edge, NULL);
}

/** log2_of is never too low, and less than DG_LANE_LOG_ABOVE too high: around every place where its table changes, and
 *  anywhere. */
static void check_logs(uint64_t *state)
{
    enum { RANDOM = 20000, PLACES = 52 * 16 * 3 };
    mpfr_t truth, found;
    mpfr_inits2(PRECISION, truth, found, (mpfr_ptr)0);
    for (uint64_t i = 0; i < RANDOM + PLACES; i++) {
        uint64_t r = next_word(state) >> 12 >> next_word(state) % 52;
        if (i < PLACES) {
            const uint64_t place = (16 + i / 3 % 16) << 48;
            r = (place >> (i / 48 + 1)) + i % 3 - 1;
        }
        if (r == 0 || r >> 52 != 0) {
            continue;
        }
        mpfr_set_uj(truth, r, MPFR_RNDN);
        mpfr_log2(truth, truth, MPFR_RNDN);
        mpfr_mul_2ui(truth, truth, DG_LANE_LOG_BITS, MPFR_RNDN);
        mpfr_set_uj(found, log2_of(r), MPFR_RNDN);
        mpfr_sub(found, found, truth, MPFR_RNDN);
        CHECK(mpfr_sgn(found) >= 0 && mpfr_cmp_ui(found, DG_LANE_LOG_ABOVE) < 0,
              "log2 of %llu: %g units too high", (unsigned long long)r,
              mpfr_get_d(found, MPFR_RNDN));
    }
    mpfr_clears(truth, found, (mpfr_ptr)0);
}

/** power_of is within the bounds of PROOF.md, lemma 21, for distances of all sizes, and at their ends. */
static void check_powers(const test_case *of, const dg_lanes *lanes, uint64_t *state)
{
    enum { PLACES = 2000 };
    mpfr_t truth, found;
    mpz_t distance;
    mpfr_inits2(PRECISION, truth, found, (mpfr_ptr)0);
    mpz_init(distance);
    const test_case centred = {of->kind, of->a, of->shift, of->b, 0, 1, of->beta_num, of->beta_den};
    const double beta = (double)of->beta_num / (double)of->beta_den;
    const double share = 0.6932 * (3.04 * beta + 19.1) + 12.1;
    for (uint64_t i = 0; i < PLACES; i++) {
        uint64_t r = next_word(state) % (lanes->farthest + 1) >> (i % 4 == 0 ? i % 53 : 0);
        r = i % 5 == 0 ? lanes->farthest - i / 5 : r;
        r = i % 7 == 0 ? lanes->nearest + i / 7 : r;
        mpz_set_ui(distance, r);
        mpz_mul_2exp(distance, distance, lanes->units_down);
        phi(truth, distance, &centred); /* for a distance that is 2^units_up times as large */
        mpfr_set_si(found, of->beta_num * (long)lanes->units_up, MPFR_RNDN);
        mpfr_div_si(found, found, of->beta_den, MPFR_RNDN);
        mpfr_exp2(found, found, MPFR_RNDN);
        mpfr_div(truth, truth, found, MPFR_RNDN);
        mpfr_const_log2(found, MPFR_RNDN);
        mpfr_div(truth, truth, found, MPFR_RNDN);
        const double power = mpfr_get_d(truth, MPFR_RNDN);
        mpfr_mul_2ui(truth, truth, DG_LANE_BITS, MPFR_RNDN);
        mpfr_set_uj(found, power_of(r, lanes), MPFR_RNDN);
        mpfr_sub(truth, truth, found, MPFR_RNDN);
        const double low = mpfr_get_d(truth, MPFR_RNDN);
        CHECK(low >= -1.07 && low < share * power + 1,
              "power %g at %llu, beta %g: %g units too low, of %g", power, (unsigned long long)r,
              beta, low, share * power + 1);
    }
    mpfr_clears(truth, found, (mpfr_ptr)0);
    mpz_clear(distance);
}

/** Check the decision on an attempt whose height begins with `value`, which has n_bits: its words and 64 bits behind
 *  them. Bytes `last` follow. */
static void check_settled(const spot *at, const mpz_t value, uint8_t last, bool wanted,
                          const mpz_t y, const dg_lanes *lanes)
{
    enum { ONES = 8, MORE = 64 };
    uint8_t bytes[16 + ONES + 8 + MORE];
    size_t n = lanes->attempt_bytes;
    dg_bits bits;
    mpz_t part;
    mpz_init(part);
    mpz_fdiv_q_2exp(part, value, 64);
    write_attempt(bytes, at, mpz_get_ui(part), lanes);
    if (at->level >= 63) {
        const uint64_t further = at->level - 63;
        memset(bytes + n, 0xFF, further / 8);
        n += further / 8;
        bytes[n++] = (uint8_t)~(0xFFu >> further % 8);
    }
    mpz_fdiv_r_2exp(part, value, 64);
    const uint64_t more = mpz_get_ui(part);
    for (size_t i = 0; i < 8; i++) {
        bytes[n++] = (uint8_t)(more >> (8 * i));
    }
    memset(bytes + n, last, MORE);
    tape from = {bytes, n + MORE, 0};
    const dg_source source = tape_source(&from);
    int64_t x = 0;
    size_t n_accepted = 0;
    dg_bits_open(&bits, &source);
    const dg_status status = dg_lanes_settle(&x, &n_accepted, lanes, &bits);
    dg_bits_close(&bits);
    CHECK(status == DG_OK && n_accepted == wanted, "level %d: status %d, accepted %zu",
          at->tail ? (int)at->level : -1, (int)status, n_accepted);
    CHECK(!wanted || mpz_cmp_si(y, x - lanes->c) == 0, "another integer");
    mpz_clear(part);
}

/** Check undecided attempts around the edge of their place. */
static void check_edge(const spot *at, const test_case *of, const dg_lanes *lanes)
{
    const uint64_t step = at->tail ? at->level + 1 : 0;
    const unsigned n_bits = 64 + (step < 63 ? 63 - (unsigned)step : 0);
    mpz_t y, value;
    mpfr_t truth;
    mpz_inits(y, value, NULL);
    mpfr_init2(truth, PRECISION);
    mpz_set_ui(y, at->cell + at->level * lanes->n_tail);
    mpz_mul_2exp(y, y, lanes->block_bits);
    mpz_add_ui(y, y, at->low);
    if (at->left) {
        mpz_com(y, y);
    }
    exponent(truth, y, of);
    mpfr_neg(truth, truth, MPFR_RNDN);
    mpfr_exp(truth, truth, MPFR_RNDN);
    mpfr_mul_2ui(truth, truth, step + n_bits, MPFR_RNDN);
    mpfr_get_z(value, truth, MPFR_RNDD);
    const bool is_one = mpz_sizeinbase(value, 2) > n_bits; /* or within the last place of it */
    if (!is_one) {
        if (mpz_sgn(value) > 0) { /* otherwise the number of bytes grows as 2^k g decreases */
            check_settled(at, value, 0, true, y, lanes);
        }
        check_settled(at, value, 0xFF, false, y, lanes);
        mpz_add_ui(value, value, 1);
        if (mpz_sizeinbase(value, 2) <= n_bits) {
            check_settled(at, value, 0, false, y, lanes);
        }
        mpz_sub_ui(value, value, 1);
    }
    mpz_sub_ui(value, value, 1);
    if (mpz_sgn(value) >= 0) {
        check_settled(at, value, is_one ? 0 : 0xFF, true, y, lanes);
    }
    mpfr_clear(truth);
    mpz_clears(y, value, NULL);
}

static void check_edges(const test_case *of, const dg_lanes *lanes, uint64_t *state)
{
    static const uint64_t levels[] = {0, 5, 46, 47, 48, 49, 61, 62, 63, 64, 70, 71, 72, 100};
    enum { N_LEVELS = sizeof levels / sizeof *levels };
    for (int k = 0; k < 40 + N_LEVELS; k++) {
        spot at = k < 2 ? (spot){.left = k == 1} : any_spot(state, lanes);
        if (k >= 40) {
            at.tail = true;
            at.cell = lanes->n_core + at.cell % lanes->n_tail;
            at.level = levels[k - 40];
        }
        check_edge(&at, of, lanes);
    }
}

static void check_held(dg_law *law, bool wanted, const char *name)
{
    dg_silent *silent = NULL;
    const dg_status status = dg_silent_build(&silent, law);
    CHECK(status == (wanted ? DG_OK : DG_ERR_METHOD) && (silent != NULL) == wanted, "%s: status %d",
          name, (int)status);
    dg_silent_free(silent);
    dg_law_free(law);
}

static void check_range(uint64_t *state)
{
    enum { LAWS = 3000 };
    const struct {
        const char *name;
        dg_law_kind kind;
        int64_t a;
        size_t shift;
        int64_t b, mu;
        bool is_held;
    } ends[] = {
        {"scale 2^53", DG_DISCRETE_LAPLACE, 1, 53, 1, 0, true},
        {"scale above 2^53", DG_DISCRETE_LAPLACE, (INT64_C(1) << 53) + 1, 0, 1, 0, false},
        {"scale 2^-20", DG_DISCRETE_LAPLACE, 1, 0, 1 << 20, 0, true},
        {"scale below 2^-20", DG_DISCRETE_LAPLACE, 1, 0, (1 << 20) + 1, 0, false},
        {"sigma 2^53", DG_DISCRETE_GAUSSIAN, 1, 106, 1, 0, true},
        {"sigma above 2^53", DG_DISCRETE_GAUSSIAN, (INT64_C(1) << 60) + 1, 46, 1, 0, false},
        {"sigma 2^-20", DG_DISCRETE_GAUSSIAN, 1, 0, INT64_C(1) << 40, 0, true},
        {"sigma below 2^-20", DG_DISCRETE_GAUSSIAN, 1, 0, (INT64_C(1) << 40) + 1, 0, false},
        {"a centre of 61 bits", DG_DISCRETE_LAPLACE, 1, 53, 1, (INT64_C(1) << 61) - 1, true},
        {"of 61, below 0", DG_DISCRETE_LAPLACE, 1, 0, 1, 1 - (INT64_C(1) << 61), true},
        {"of 62", DG_DISCRETE_LAPLACE, 1, 0, 1, INT64_C(1) << 61, false},
        {"of 62, below 0", DG_DISCRETE_LAPLACE, 1, 0, 1, -(INT64_C(1) << 61), false},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        check_held(long_law_of(ends[i].kind, DG_ARITHMETIC_AUTO, ends[i].a, ends[i].shift,
                               ends[i].b, 0, ends[i].mu, 1),
                   ends[i].is_held, ends[i].name);
    }
    check_held(power_law_of(10, 0, 1, 1, 3, 64, 1), false, "beta 64");
    check_held(power_law_of(10, 0, 1, 1, 3, INT64_MAX, INT64_C(1) << 57), true, "beta below 64");
    check_held(power_law_of(1, 53, 1, 1, 2, INT64_MAX, INT64_C(1) << 57), true, "beta below 64");
    check_held(power_law_of(1, 0, 1 << 20, -1, 3, 63, 1), true, "steep powers");
    for (size_t i = 0; i < LAWS; i++) {
        const dg_law_kind kind = (dg_law_kind)(DG_DISCRETE_LAPLACE + i % 3);
        const long power = kind == DG_DISCRETE_GAUSSIAN ? 2 : 1;
        const int64_t a = (int64_t)(next_word(state) >> 32 | UINT64_C(1) << 32);
        const long e = (long)(next_word(state) % (uint64_t)(73 * power)) - 20 * power - 32;
        const size_t up = e > 0 ? (size_t)e : 0, down = e < 0 ? (size_t)-e : 0;
        const int64_t d = 1 + (int64_t)(next_word(state) >> (2 + next_word(state) % 62));
        const int64_t n = (int64_t)(next_word(state) % (uint64_t)d) - d / 2, one = INT64_C(1) << 40;
        const int64_t beta = one + (int64_t)(next_word(state) % (63 * (uint64_t)one));
        check_held(kind == DG_GENERALIZED_GAUSSIAN
                       ? power_law_of(a, up, INT64_C(1) << down, n, d, beta, one)
                       : long_law_of(kind, DG_ARITHMETIC_AUTO, a, up, 1, down, n, d),
                   true, "a law");
    }
}

/** Attempts of arrays, whose constants are computed without GMP, are decided correctly. */
static void check_lane_laws(uint64_t *state)
{
    static const test_case cases[] = {
        {DG_DISCRETE_GAUSSIAN, 1, 0, 65536, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 6004799503160661, 0, INT64_C(1) << 54, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 1, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 12345, 0, 64, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 16383, 0, 1, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 16384, 0, 1, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 77777777777777, 0, 1, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, INT64_MAX / 2, 0, 1, 0, 1, 2, 1},
        {DG_DISCRETE_LAPLACE, 1, 0, 2048, 0, 1, 1, 1},
        {DG_DISCRETE_LAPLACE, 1, 0, 1, 0, 1, 1, 1},
        {DG_DISCRETE_LAPLACE, 6004799503160661, 0, INT64_C(1) << 49, 0, 1, 1, 1},
        {DG_DISCRETE_LAPLACE, 127, 0, 1, 0, 1, 1, 1},
        {DG_DISCRETE_LAPLACE, 6004799503160661, 0, INT64_C(1) << 12, 0, 1, 1, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 3, 0, 1, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 16, -1, 2, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 15, 499999, 1000003, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 355, 0, 113, 1, 3, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 355, 0, 113, -1, 3, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 16385, 0, 1, 6004799503160661, INT64_C(1) << 54, 2, 1},
        {DG_DISCRETE_GAUSSIAN, 999999999989, 0, 7, -5, 11, 2, 1},
        {DG_DISCRETE_LAPLACE, 1, 0, 16, 1, 3, 1, 1},
        {DG_DISCRETE_LAPLACE, 22, 0, 7, 2, 5, 1, 1},
        {DG_DISCRETE_LAPLACE, 1000000000000, 0, 3, -1, 7, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const test_case *of = &cases[i];
        dg_lane_staircases staircases;
        dg_lane_laws laws;
        dg_lanes lanes;
        dg_lane_staircases_build(&staircases, of->kind, true);
        dg_lane_laws_open(&laws, &staircases, DG_ISA_PORTABLE);
        const dg_lane_number parameter = {of->a, of->b, 0}, centre = {of->n, of->d, 0};
        CHECK(dg_lane_laws_add(&laws, &staircases, &parameter, &centre), "case %zu", i);
        dg_law *law = law_for(of);
        dg_lane_laws_one(&lanes, 0, &laws);
        lanes.law = law;
        for (int k = 0; k < SPOTS; k++) {
            const spot at = k < 2 ? (spot){.left = k == 1} : any_spot(state, &lanes);
            check_spot(&at, of, &laws, &lanes);
        }
        check_edges(of, &lanes, state);
        dg_law_free(law);
    }
}

static void check_case(const test_case *of, uint64_t *state)
{
    dg_law *law = law_for(of);
    dg_lanes lanes;
    CHECK(dg_lane_exponents(&lanes, law) == DG_OK, "no exponents");
    check_heights(of, &lanes, state);
    if (of->kind == DG_GENERALIZED_GAUSSIAN) {
        check_powers(of, &lanes, state);
    }
    dg_law_free(law);
}

int main(int argc, char **argv)
{
    const size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (step < 1) {
        return 2;
    }
    uint64_t state = 20261123;
    check_range(&state);
    check_lane_laws(&state);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i += step) {
        check_case(&CASES[i], &state);
    }
    check_logs(&state);
    for (size_t i = 0; i < sizeof POWERS / sizeof *POWERS; i += step) {
        check_case(&POWERS[i], &state);
    }
    mpfr_free_cache();
    return report("heights, and attempts in lanes");
}

#else
int main(void)
{
    return 77; /* without 128-bit integers there is no isochronous sampler */
}
#endif
