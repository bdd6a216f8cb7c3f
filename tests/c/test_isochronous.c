/* The exact law of the isochronous sampler, through the compiled code. Facts, with g from MPFR at 400
 * bits by formulas of this file:
 *
 *   - 2^-x and log2 in fixed point are as near as fixed_point.h says;
 *   - dg_isochronous_weight encloses 2^63 2^k g(y), for laws of every width and steps 0 ... 56, and
 *     attempts are left undecided with a probability below 2^-50;
 *   - every cell has as many choices, 2^64/n_cells rounded down;
 *   - cells, tail levels, sides and low bits lead to every integer of a window once;
 *   - at each of these integers, and at levels that no fixed point decides, heights are accepted up
 *     to 2^k g(y), and rejected from there on, to the last bit that the attempt has and 64 more: so
 *     an attempt returns y with probability g(y) 2^-(block_bits + 1) floor(2^64/n_cells)/2^64.
 *
 * With -DDG_NARROW_BOUNDS=ON every attempt is undecided and goes to dg_refine, from 8 bits of
 * precision up; the last fact must hold. */
#include "support.h"

#include "isochronous/sampler.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

#include "isochronous/fixed_point.h"

enum { PRECISION = 400, MOST_TAPE = 64, WIDE = 64, LEVELS = 6 };

typedef struct test_case {
    dg_law_kind kind;
    int64_t a;
    size_t shift; /* the parameter is a 2^shift / b */
    int64_t b, n, d, beta_num, beta_den;
} test_case;

#define GAUSSIAN DG_DISCRETE_GAUSSIAN
#define LAPLACE DG_DISCRETE_LAPLACE
#define GENERALIZED DG_GENERALIZED_GAUSSIAN

static const test_case CASES[] = {
    {GAUSSIAN, 1, 0, 1, 0, 1, 2, 1},        {GAUSSIAN, 4, 0, 1, 1, 3, 2, 1},
    {GAUSSIAN, 4, 0, 1, -1, 2, 2, 1},       {GAUSSIAN, 355, 0, 113, 2, 5, 2, 1},
    {GAUSSIAN, 1, 0, 100, 0, 1, 2, 1},      {GAUSSIAN, 1, 0, 10000, -1, 2, 2, 1},
    {GAUSSIAN, 1, 0, 10000, 49, 100, 2, 1}, {GAUSSIAN, 100, 0, 1, 0, 1, 2, 1},
    {GAUSSIAN, 10000, 0, 7, -1, 5, 2, 1},   {GAUSSIAN, 25, 66, 1, 1, 3, 2, 1},
    {GAUSSIAN, 25, 110, 1, 1, 3, 2, 1},     {GAUSSIAN, 7, 400, 3, -1, 2, 2, 1},
    {LAPLACE, 1, 0, 1, 0, 1, 1, 1},         {LAPLACE, 10, 0, 3, 1, 3, 1, 1},
    {LAPLACE, 1, 0, 100, -1, 2, 1, 1},      {LAPLACE, 100, 0, 1, -2, 5, 1, 1},
    {LAPLACE, 3, 34, 1, 1, 3, 1, 1},        {LAPLACE, 5, 200, 7, 1, 3, 1, 1},
    {GENERALIZED, 4, 0, 1, 0, 1, 3, 1},     {GENERALIZED, 10, 0, 1, 2, 5, 3, 2},
    {GENERALIZED, 50, 0, 3, 1, 3, 11, 10},  {GENERALIZED, 100, 0, 1, -1, 2, 4, 1},
    {GENERALIZED, 10, 0, 1, 0, 1, 63, 1},   {GENERALIZED, 1, 0, 2, 1, 3, 1, 1},
    {GENERALIZED, 3, 35, 1, 1, 3, 5, 2},    {GENERALIZED, 3, 52, 1, 0, 1, 1, 1},
    {GENERALIZED, 3, 47, 1, 0, 1, 11, 10},  {GENERALIZED, 5, 300, 7, 0, 1, 7, 3},
};

static const uint64_t ONE = UINT64_C(1) << DG_ISOCHRONOUS_BITS;

static dg_integer number(uint8_t bytes[WIDE], int64_t value, size_t shift)
{
    mpz_t z;
    memset(bytes, value < 0 ? 0xFF : 0, WIDE);
    mpz_init_set_si(z, value);
    mpz_mul_2exp(z, z, shift);
    mpz_fdiv_r_2exp(z, z, 8 * WIDE);
    mpz_export(bytes, NULL, -1, 1, 0, 0, z);
    mpz_clear(z);
    return (dg_integer){bytes, WIDE};
}

static dg_law *law_for(const test_case *of)
{
    uint8_t bytes[6][WIDE];
    dg_parameters parameters = {
        number(bytes[0], of->a, of->shift), number(bytes[1], of->b, 0),
        number(bytes[2], of->n, 0),         number(bytes[3], of->d, 0),
        number(bytes[4], of->beta_num, 0),  number(bytes[5], of->beta_den, 0)};
    dg_law *law = NULL;
    dg_status status = law_of_bytes(&law, of->kind, DG_ARITHMETIC_AUTO, &parameters);
    CHECK(status == DG_OK, "no law: status %d", (int)status);
    return law;
}

/* --- the truth ------------------------------------------------------------------------------- */

/** out = (|y - f| / scale)^beta: scale the law's, or sqrt(2 sigma2), to some 390 bits. */
static void phi(mpfr_t out, const mpz_t y, const test_case *of)
{
    mpz_t num;
    mpfr_t beta;
    mpz_init(num);
    mpfr_init2(beta, PRECISION);
    mpz_mul_si(num, y, of->d);
    mpz_sub_ui(num, num, (unsigned long)llabs(of->n));
    if (of->n < 0) {
        mpz_add_ui(num, num, 2 * (unsigned long)llabs(of->n));
    }
    mpz_abs(num, num);
    mpfr_set_z(out, num, MPFR_RNDN);
    mpfr_div_si(out, out, of->d, MPFR_RNDN);
    if (of->kind == GAUSSIAN) {
        mpfr_mul(out, out, out, MPFR_RNDN);
        mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    }
    mpfr_mul_si(out, out, of->b, MPFR_RNDN);
    mpfr_div_si(out, out, of->a, MPFR_RNDN);
    mpfr_div_2ui(out, out, of->shift, MPFR_RNDN);
    if (of->kind == GENERALIZED) {
        mpfr_set_si(beta, of->beta_num, MPFR_RNDN);
        mpfr_div_si(beta, beta, of->beta_den, MPFR_RNDN);
        mpfr_pow(out, out, beta, MPFR_RNDN);
    }
    mpfr_clear(beta);
    mpz_clear(num);
}

/** out = 2^n_bits 2^step g(y), to some 300 bits behind the point. */
static void weigh(mpfr_t out, const mpz_t y, uint64_t step, size_t n_bits, const test_case *of)
{
    mpz_t zero;
    mpfr_t at_zero;
    mpz_init(zero);
    mpfr_init2(at_zero, PRECISION);
    phi(out, y, of);
    phi(at_zero, zero, of);
    mpfr_sub(out, at_zero, out, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, step + n_bits, MPFR_RNDN);
    mpfr_clear(at_zero);
    mpz_clear(zero);
}

/** y = z or -1 - z, z = block 2^block_bits + low. */
static void place(mpz_t y, uint64_t block, const mpz_t low, bool left,
                  const dg_isochronous *sampler)
{
    mpz_import(y, 1, -1, sizeof block, 0, 0, &block);
    mpz_mul_2exp(y, y, sampler->block_bits);
    mpz_add(y, y, low);
    if (left) {
        mpz_com(y, y);
    }
}

/* --- fixed point ----------------------------------------------------------------------------- */

static void check_fixed_point(void)
{
    uint64_t state = 1;
    mpfr_t truth;
    mpfr_init2(truth, PRECISION);
    for (int i = 0; i < 20000; i++) {
        const uint64_t last = (UINT64_C(1) << DG_EXPONENT_BITS) - 1;
        const uint64_t x = i < 200 ? (i % 2 ? last - (uint64_t)i : (uint64_t)i)
                                   : next_word(&state) >> (64 - DG_EXPONENT_BITS);
        mpfr_set_ui_2exp(truth, x, -DG_EXPONENT_BITS, MPFR_RNDN);
        mpfr_neg(truth, truth, MPFR_RNDN);
        mpfr_exp2(truth, truth, MPFR_RNDN);
        mpfr_mul_2ui(truth, truth, DG_ISOCHRONOUS_BITS, MPFR_RNDN);
        mpfr_sub_ui(truth, truth, dg_exp2_mantissa(x), MPFR_RNDN);
        CHECK(mpfr_cmpabs_ui(truth, DG_EXP_ERROR) < 0, "2^-%llu", (unsigned long long)x);
        uint64_t d = next_word(&state) >> (i % 64);
        d = i < 200 ? (uint64_t)i + 1 : i < 400 ? 0 - (uint64_t)(i - 199) : d | 1;
        mpfr_set_ui(truth, d, MPFR_RNDN);
        mpfr_log2(truth, truth, MPFR_RNDN);
        mpfr_mul_2ui(truth, truth, DG_LOG_BITS, MPFR_RNDN);
        const dg_i128 log = dg_log2(d) + 64; /* at 1 it is slightly negative */
        mpfr_add_ui(truth, truth, 64, MPFR_RNDN);
        mpfr_sub_ui(truth, truth, (uint64_t)(log / 2), MPFR_RNDN);
        mpfr_sub_ui(truth, truth, (uint64_t)(log - log / 2), MPFR_RNDN);
        CHECK(mpfr_cmpabs_ui(truth, DG_LOG_ERROR) <= 0, "log2(%llu)", (unsigned long long)d);
    }
    mpfr_clear(truth);
}

/* --- bounds of weights ----------------------------------------------------------------------- */

/** A place of a law: block, low bits, side, step. */
typedef struct spot {
    uint64_t block, step;
    bool left;
    mpz_t low;
} spot;

static void any_spot(spot *at, uint64_t *state, const dg_isochronous *sampler)
{
    at->step = next_word(state) % (DG_MOST_STEP + 1);
    at->left = next_word(state) % 2 == 1;
    at->block = at->step == 0 ? next_word(state) % sampler->n_core
                              : sampler->n_core + (at->step - 1) * sampler->n_tail +
                                    next_word(state) % sampler->n_tail;
    if (next_word(state) % 4 == 0) { /* the ends */
        at->block = at->step == 0 ? 0 : sampler->n_core + (at->step - 1) * sampler->n_tail;
    }
    mpz_set_ui(at->low, 0);
    for (size_t i = 0; i < sampler->block_bits; i += 64) {
        mpz_mul_2exp(at->low, at->low, 64);
        mpz_add_ui(at->low, at->low, next_word(state));
    }
    mpz_fdiv_r_2exp(at->low, at->low, sampler->block_bits);
    const size_t kept = next_word(state) % 256; /* near the block's edge, at every distance */
    if (next_word(state) % 4 == 0 && kept < sampler->block_bits) {
        mpz_fdiv_r_2exp(at->low, at->low, kept);
    }
}

static uint64_t tick_of(const mpz_t low, const dg_isochronous *sampler)
{
    mpz_t tick;
    mpz_init_set(tick, low);
    if (sampler->block_bits > sampler->place_bits) {
        mpz_fdiv_q_2exp(tick, tick, sampler->block_bits - sampler->place_bits);
    }
    const uint64_t result = mpz_get_ui(tick);
    mpz_clear(tick);
    return result;
}

static void check_weights(const test_case *of, const dg_isochronous *sampler)
{
    uint64_t state = 7;
    dg_u128 widths = 0; /* of undecided heights, in units of 2^-63, over steps as they come */
    enum { SPOTS = 4000 };
    mpz_t y;
    mpfr_t truth;
    spot at;
    mpz_inits(y, at.low, NULL);
    mpfr_init2(truth, PRECISION);
    for (int i = 0; i < SPOTS; i++) {
        any_spot(&at, &state, sampler);
        const uint64_t tick = tick_of(at.low, sampler);
        const dg_bounds bounds =
            dg_isochronous_weight(at.block, tick, at.left ? UINT64_MAX : 0, at.step, sampler);
        place(y, at.block, at.low, at.left, sampler);
        weigh(truth, y, at.step, DG_ISOCHRONOUS_BITS, of);
        CHECK(mpfr_cmp_ui(truth, bounds.lower) >= 0 && bounds.lower <= ONE, "below: step %d",
              (int)at.step);
        /* at the edge of the envelope the truth is 2^63, to the 400 bits it is known by */
        mpfr_sub_ui(truth, truth, 1, MPFR_RNDN);
        CHECK(mpfr_cmp_ui(truth, bounds.upper) < 0 && bounds.upper <= ONE, "above: step %d",
              (int)at.step);
        mpfr_add_ui(truth, truth, 1, MPFR_RNDN);
        CHECK(bounds.upper == ONE || mpfr_cmp_ui(truth, bounds.upper) <= 0, "above: step %d",
              (int)at.step);
        widths += ((dg_u128)(bounds.upper - bounds.lower) >> at.step) + 1;
    }
    /* steps above were uniform on 0 ... 56 instead of geometric: P(undecided) is the mean of
     * width 2^-step times at most 57 */
    const uint64_t mean = (uint64_t)(widths * (DG_MOST_STEP + 1) / SPOTS);
    CHECK(mean < UINT64_C(1) << (DG_ISOCHRONOUS_BITS - 50), "undecided: %llu units of 2^-63",
          (unsigned long long)mean);
    mpfr_clear(truth);
    mpz_clears(y, at.low, NULL);
}

/* --- one attempt ----------------------------------------------------------------------------- */

/** A tape that notes how much was asked for when it ended. */
typedef struct noting_tape {
    uint8_t bytes[MOST_TAPE];
    size_t n, used, asked;
} noting_tape;

static int read_noting(void *context, uint8_t *out, size_t n)
{
    noting_tape *from = context;
    if (n > from->n - from->used) {
        from->asked = n;
        return 1;
    }
    memcpy(out, from->bytes + from->used, n);
    from->used += n;
    return 0;
}

static void append(noting_tape *to, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        to->bytes[to->n++] = (uint8_t)(value >> (8 * i));
    }
}

typedef enum outcome { REJECTED, UNDECIDED, ACCEPTED } outcome;

/** What the sampler makes of a tape with one attempt: it accepts (*x is the draw), asks for the
 *  next attempt, or for more bits of this one. Narrow and wide draws must agree. */
static outcome outcome_of(mpz_t x, noting_tape *from, const dg_isochronous *sampler)
{
    const dg_source source = {DG_SOURCE_CALLER, read_noting, from};
    uint8_t wide[2 * WIDE];
    from->used = from->asked = 0;
    dg_status status = dg_isochronous_draw_wide(wide, sizeof wide, sampler, &source);
    mpz_import(x, sizeof wide, -1, 1, 0, 0, wide);
    if (wide[sizeof wide - 1] >= 128) {
        mpz_t wrap;
        mpz_init(wrap);
        mpz_setbit(wrap, 8 * sizeof wide);
        mpz_sub(x, x, wrap);
        mpz_clear(wrap);
    }
    if (sampler->fits_int64) {
        const size_t used = from->used;
        from->used = 0;
        const int64_t narrow = dg_isochronous_draw(sampler, &source);
        const int64_t failed = INT64_MIN + (int64_t)status;
        CHECK(from->used == used, "narrow and wide draws do not read alike");
        CHECK(status == DG_OK ? mpz_cmp_si(x, narrow) == 0 : narrow == failed,
              "narrow and wide draws differ");
    }
    if (status == DG_OK) {
        CHECK(from->used == from->n, "%zu bytes used", from->used);
        return ACCEPTED;
    }
    CHECK(status == DG_ERR_SOURCE, "status %d", (int)status);
    return from->asked == DG_ATTEMPT_BYTES + sampler->low_bytes ? REJECTED : UNDECIDED;
}

/** Write an attempt at a spot, whose height begins with the n_bits = 63 - step bits of f, and behind
 *  them 64 bits more unless `more` is NULL. */
static void write_attempt(noting_tape *to, const spot *at, uint64_t f, const uint64_t *more,
                          const dg_isochronous *sampler)
{
    const uint64_t level = at->step - 1; /* if step > 0 */
    const uint64_t cell = at->step == 0 ? at->block : at->block - level * sampler->n_tail;
    const dg_u128 start = (dg_u128)cell << 64;
    uint64_t bits = f;
    if (at->step > 0) {
        bits = level >= 63 ? ONE - 1 : ((UINT64_C(1) << level) - 1) << (63 - level) | f;
    }
    to->n = 0;
    append(to, (uint64_t)((start + sampler->n_cells - 1) / sampler->n_cells) + 1, 8);
    append(to, bits << 1 | (uint64_t)at->left, 8);
    uint8_t low[WIDE] = {0};
    mpz_export(low, NULL, -1, 1, 0, 0, at->low);
    for (size_t i = 0; i < sampler->low_bytes; i++) {
        append(to, low[i], 1);
    }
    if (at->step > 63) {
        for (uint64_t ones = level - 63; ones >= 8; ones -= 8) {
            append(to, 0xFF, 1);
        }
        append(to, 0xFFu & ~(0xFFu >> (level - 63) % 8), 1);
    }
    if (more != NULL) {
        append(to, *more, 8);
    }
}

/** Check what becomes of an attempt whose height begins with `value`, of n_bits bits if that is at
 *  most 63, else of 64 bits more, where heights below `edge` are to be accepted, those above
 *  rejected. */
static void check_height(const spot *at, const mpz_t value, const mpz_t edge, bool has_more,
                         const dg_isochronous *sampler)
{
    noting_tape from;
    mpz_t part, x, y;
    mpz_inits(part, x, y, NULL);
    mpz_fdiv_q_2exp(part, value, has_more ? 64 : 0);
    const uint64_t f = mpz_get_ui(part);
    mpz_fdiv_r_2exp(part, value, 64);
    const uint64_t more = mpz_get_ui(part);
    write_attempt(&from, at, f, has_more ? &more : NULL, sampler);
    const outcome result = outcome_of(x, &from, sampler);
    place(y, at->block, at->low, at->left, sampler);
    CHECK(result != ACCEPTED || mpz_cmp(x, y) == 0, "another integer, step %d", (int)at->step);
    mpz_sub(part, value, edge);
    /* bounds within 2 of each other tell nothing next to the edge: then more bits are read */
    const bool may_be_open = mpz_cmpabs_ui(part, 1) <= 0;
    const int side = mpz_sgn(part);
    CHECK(result == UNDECIDED ? may_be_open : side != 0 && (result == ACCEPTED) == (side < 0),
          "step %d: outcome %d, side %d of the edge", (int)at->step, (int)result, side);
    mpz_clears(part, x, y, NULL);
}

/** Check heights around the edge, floor(2^n_bits 2^step g(y)), and all over; then, if has_more, those
 *  that begin as the edge does and go on for 64 bits. */
static void check_edge(const spot *at, bool has_more, const test_case *of,
                       const dg_isochronous *sampler)
{
    enum { NEAR = 20, FAR = 8 };
    const size_t n_bits = at->step < 63 ? 63 - at->step : 0;
    mpz_t base, span, edge, value;
    mpfr_t truth;
    mpz_inits(base, span, edge, value, NULL);
    mpfr_init2(truth, PRECISION);
    place(value, at->block, at->low, at->left, sampler);
    weigh(truth, value, at->step, n_bits, of);
    mpz_setbit(span, has_more ? 64 : n_bits);
    if (has_more) {
        mpfr_get_z(base, truth, MPFR_RNDD);
        mpz_mul_2exp(base, base, 64);
        mpfr_mul_2ui(truth, truth, 64, MPFR_RNDN);
    }
    mpfr_get_z(edge, truth, MPFR_RNDD);
    for (int i = -NEAR; i <= NEAR + FAR; i++) {
        if (i <= NEAR) {
            mpz_sub(value, edge, base);
            mpz_add_ui(value, value, NEAR);
            mpz_sub_ui(value, value, (unsigned long)(NEAR - i));
        } else {
            mpz_mul_ui(value, span, (unsigned long)(i - NEAR - 1));
            mpz_fdiv_q_ui(value, value, FAR);
        }
        if (mpz_sgn(value) >= 0 && mpz_cmp(value, span) < 0) {
            mpz_add(value, value, base);
            check_height(at, value, edge, has_more, sampler);
        }
    }
    mpfr_clear(truth);
    mpz_clears(base, span, edge, value, NULL);
}

/** Whether g(y) = 1, where every height is accepted. */
static bool is_centre(const spot *at, const test_case *of, const dg_isochronous *sampler)
{
    mpz_t y;
    mpfr_t truth;
    mpz_init(y);
    mpfr_init2(truth, PRECISION);
    place(y, at->block, at->low, at->left, sampler);
    weigh(truth, y, 0, 0, of);
    const bool result = mpfr_cmp_ui(truth, 1) == 0;
    mpfr_clear(truth);
    mpz_clear(y);
    return result;
}

static void check_spot(const spot *at, const test_case *of, const dg_isochronous *sampler)
{
    check_edge(at, false, of, sampler);
    if (!is_centre(at, of, sampler)) {
        check_edge(at, true, of, sampler);
    }
}

/** Every integer of the core and the first tail levels of a law with blocks of one integer. */
static void check_window(const test_case *of, const dg_isochronous *sampler)
{
    spot at = {0};
    mpz_init(at.low);
    for (at.block = 0; at.block < sampler->n_core + LEVELS * sampler->n_tail; at.block++) {
        const bool in_core = at.block < sampler->n_core;
        at.step = in_core ? 0 : 1 + (at.block - sampler->n_core) / sampler->n_tail;
        for (int left = 0; left < 2; left++) {
            at.left = left == 1;
            check_spot(&at, of, sampler);
        }
    }
    mpz_clear(at.low);
}

/** Some places anywhere, and levels at and beyond the last that is decided in fixed point. */
static void check_places(const test_case *of, const dg_isochronous *sampler)
{
    static const uint64_t steps[] = {55, 56, 57, 58, 62, 63, 64, 65, 70, 71, 72, 73, 80, 100};
    enum { N_STEPS = sizeof steps / sizeof *steps, SPOTS = 60 };
    uint64_t state = 11;
    spot at;
    mpz_init(at.low);
    for (int i = 0; i < SPOTS; i++) {
        any_spot(&at, &state, sampler);
        if (i < N_STEPS) {
            at.step = steps[i];
            at.block = sampler->n_core + steps[i] * sampler->n_tail - 1;
        }
        check_spot(&at, of, sampler);
    }
    mpz_clear(at.low);
}

/** Each cell has floor(2^64 / n_cells) choices, consecutive but for one in excess. */
static void check_choices(const dg_isochronous *sampler)
{
    const uint64_t n = sampler->n_cells, each = (uint64_t)(((dg_u128)1 << 64) / n);
    uint64_t state = 13;
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t cell = i < 100 ? i % n : next_word(&state) % n;
        const dg_u128 first = (((dg_u128)cell << 64) + n - 1) / n;
        const dg_u128 end = (((dg_u128)(cell + 1) << 64) + n - 1) / n;
        uint64_t counted = 0;
        for (int k = 0; k < 3; k++) { /* the first two and the last: all between them count too */
            dg_attempt attempt;
            const uint64_t choice = (uint64_t)(k < 2 ? first + (unsigned)k : end - 1);
            dg_isochronous_attempt(&attempt, choice, 0, 0, sampler);
            const bool counts = (attempt.accepted | attempt.undecided) != 0;
            const bool in_core = cell < sampler->n_core;
            CHECK(attempt.block == cell && attempt.step == !in_core, "cell %llu",
                  (unsigned long long)cell);
            CHECK(counts || k == 0, "a choice is lost");
            counted += k == 0 && !counts;
        }
        CHECK((uint64_t)(end - first) - counted == each, "cell %llu", (unsigned long long)cell);
    }
}

static void test_law(const test_case *of)
{
    dg_law *law = law_for(of);
    dg_isochronous *sampler = NULL;
    dg_status status = dg_isochronous_build(&sampler, DG_BLOCKS_BITS, law);
    CHECK(status == DG_OK, "no isochronous sampler for kind %d, %lld 2^%zu/%lld: status %d",
          (int)of->kind, (long long)of->a, of->shift, (long long)of->b, (int)status);
    if (status == DG_OK) {
        check_weights(of, sampler);
        check_choices(sampler);
        check_places(of, sampler);
        if (sampler->block_bits == 0 && sampler->n_cells <= 200) {
            check_window(of, sampler);
        }
    }
    dg_isochronous_release(sampler);
    dg_law_free(law);
}

/** Laws too narrow or too steep for these numbers are refused; the last that are not are bounded. */
static void test_refused(void)
{
    static const dg_law_kind kinds[] = {GAUSSIAN, LAPLACE};
    test_case of = {GENERALIZED, 10, 0, 1, 0, 1, 64, 1};
    dg_isochronous *sampler;
    dg_law *law = law_for(&of);
    CHECK(dg_isochronous_build(&sampler, DG_BLOCKS_BITS, law) == DG_ERR_PARAMETER &&
              sampler == NULL,
          "beta = 64");
    dg_law_free(law);
    uint8_t bytes[4][WIDE];
    const dg_integer one = number(bytes[0], 1, 0), two = number(bytes[1], 2, 0);
    const dg_parameters narrow = {one, number(bytes[2], 1, 128), number(bytes[3], 0, 0), one, two,
                                  one};
    CHECK(law_of_bytes(&law, GENERALIZED, DG_ARITHMETIC_AUTO, &narrow) == DG_OK, "a law");
    CHECK(dg_isochronous_build(&sampler, DG_BLOCKS_BITS, law) == DG_ERR_PARAMETER,
          "a scale of 2^-128");
    dg_isochronous_release(sampler);
    dg_law_free(law);
    for (size_t i = 0; i < 2; i++) {
        dg_status status = DG_OK;
        for (int n_bits = 50; n_bits <= 62; n_bits++) {
            of = (test_case){kinds[i], 1, 0, INT64_C(1) << n_bits, 0, 1, 2 - (int)i, 1};
            law = law_for(&of);
            const dg_status before = status;
            status = dg_isochronous_build(&sampler, DG_BLOCKS_BITS, law);
            CHECK(status == DG_ERR_PARAMETER || (status == DG_OK && before == DG_OK),
                  "2^-%d: status %d", n_bits, (int)status);
            if (status == DG_OK) {
                check_weights(&of, sampler);
            }
            dg_isochronous_release(sampler);
            dg_law_free(law);
        }
        CHECK(status == DG_ERR_PARAMETER, "kind %d: a parameter of 2^-62", (int)kinds[i]);
    }
}

int main(int argc, char **argv)
{
    size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (step < 1) {
        return 2;
    }
    check_fixed_point();
    test_refused();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i += step) {
        test_law(&CASES[i]);
    }
    mpfr_free_cache();
    return report("law of the isochronous sampler");
}

#else
int main(void)
{
    return 77; /* no 128-bit integers: no isochronous sampler */
}
#endif
