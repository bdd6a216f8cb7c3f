/* The kernels of isochronous fills decide truly, and alike. Facts, with g from MPFR at 400 bits by formulas
 * of this file:
 *
 *   - of heights next to 2^k g(y), on both sides and ever closer, no kernel accepts one above it or
 *     rejects one below it, in any cell, level and place of laws of every width;
 *   - a height as far from it as `above`, `above_a_step` and `below` say is decided (not with
 *     -DDG_NARROW_BOUNDS=ON, where nothing is);
 *   - of random words every kernel makes the same draws, batches of every length and place. */
#include "support.h"

#include "isochronous/lane_laws.h"
#include "isochronous/lanes.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

#include "bounds/refine.h"

enum { PRECISION = 400, SPOTS = 300, MOST_KERNELS = 4 };

typedef struct test_case {
    dg_law_kind kind;
    int64_t a;
    size_t shift; /* the parameter is a 2^shift / b */
    int64_t b, n, d;
} test_case;

static const test_case CASES[] = {
    {DG_DISCRETE_GAUSSIAN, 1, 0, 1, 0, 1},      {DG_DISCRETE_GAUSSIAN, 4, 0, 1, 1, 3},
    {DG_DISCRETE_GAUSSIAN, 4, 0, 1, -1, 2},     {DG_DISCRETE_GAUSSIAN, 355, 0, 113, 2, 5},
    {DG_DISCRETE_GAUSSIAN, 1, 0, 100, 0, 1},    {DG_DISCRETE_GAUSSIAN, 1, 0, 5, -1, 2},
    {DG_DISCRETE_GAUSSIAN, 100, 0, 1, 0, 1},    {DG_DISCRETE_GAUSSIAN, 10000, 0, 7, -1, 5},
    {DG_DISCRETE_GAUSSIAN, 25, 20, 3, 49, 100}, {DG_DISCRETE_GAUSSIAN, 25, 66, 1, 1, 3},
    {DG_DISCRETE_GAUSSIAN, 25, 98, 1, 1, 3},    {DG_DISCRETE_LAPLACE, 1, 0, 1, 0, 1},
    {DG_DISCRETE_LAPLACE, 10, 0, 3, 1, 3},      {DG_DISCRETE_LAPLACE, 1, 0, 10, -1, 2},
    {DG_DISCRETE_LAPLACE, 100, 0, 1, -2, 5},    {DG_DISCRETE_LAPLACE, 3, 34, 1, 1, 3},
    {DG_DISCRETE_LAPLACE, 3, 50, 1, 1, 3},
};

/** The lanes of a law, by each kernel that this machine has. */
static size_t kernels_of(dg_lanes *lanes[MOST_KERNELS], const dg_law *law)
{
    static const dg_isa all[] = {DG_ISA_PORTABLE, DG_ISA_AVX2, DG_ISA_AVX512_VBMI2};
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (dg_isa_available(all[i])) {
            const dg_status status = dg_lanes_build(&lanes[n], law, all[i]);
            CHECK(status == DG_OK && lanes[n]->kernel != NULL, "no lanes: status %d", (int)status);
            if (n == 0 || lanes[n]->isa != lanes[n - 1]->isa) {
                n++;
            } else {
                dg_lanes_release(lanes[n]);
                lanes[n] = NULL;
            }
        }
    }
    return n;
}

/** out = phi(|y - f|) - phi(|f|), to some 390 bits. */
static void exponent(mpfr_t out, const mpz_t y, const test_case *of)
{
    mpz_t far, near;
    mpz_inits(far, near, NULL);
    mpz_mul_si(far, y, of->d);
    mpz_set_si(near, of->n);
    mpz_sub(far, far, near);
    mpz_abs(far, far);
    mpz_abs(near, near);
    if (of->kind == DG_DISCRETE_GAUSSIAN) {
        mpz_mul(far, far, far);
        mpz_mul(near, near, near);
    }
    mpz_sub(far, far, near);
    mpfr_set_z(out, far, MPFR_RNDN);
    mpfr_div_si(out, out, of->d, MPFR_RNDN);
    if (of->kind == DG_DISCRETE_GAUSSIAN) {
        mpfr_div_si(out, out, of->d, MPFR_RNDN);
        mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    }
    mpfr_mul_si(out, out, of->b, MPFR_RNDN);
    mpfr_div_si(out, out, of->a, MPFR_RNDN);
    mpfr_div_2ui(out, out, of->shift, MPFR_RNDN);
    mpz_clears(far, near, NULL);
}

/** A place of a law. */
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

/** The words of an attempt at a spot, whose height begins with the 63 - step bits of f. */
static void write_attempt(uint8_t bytes[16], const spot *at, uint64_t f, const dg_lanes *lanes)
{
    const uint64_t choice = ((at->cell << 16) + lanes->n_cells - 1) / lanes->n_cells + 1;
    const uint64_t ones = at->level == 0 ? 0 : ((UINT64_C(1) << at->level) - 1) << (63 - at->level);
    const uint64_t words[2] = {(ones | f) << 1 | (uint64_t)at->left,
                               (at->low & 0xFFFF) << 16 | choice | (at->low >> 16) << 32};
    for (size_t i = 0; i < 16; i++) {
        bytes[i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
    }
}

/** Check what the kernels make of heights next to the edge. */
static void check_spot(const spot *at, const test_case *of, dg_lanes *const *lanes, size_t n)
{
    static const uint64_t offsets[] = {0,   1,   2,    3,    4,       5,      6,   7,
                                       8,   9,   12,   16,   24,      50,     100, 200,
                                       400, 800, 1600, 4110, 1 << 20, 1 << 30};
    const uint64_t step = at->tail ? at->level + 1 : 0;
    const size_t n_bits = 63 - step;
    const unsigned unit = n_bits > 52 ? (unsigned)n_bits - 52 : 0; /* of heights, in bits of f' */
    const uint64_t block = at->cell + at->level * lanes[0]->n_tail;
    mpz_t y, edge;
    mpfr_t truth;
    mpz_inits(y, edge, NULL);
    mpfr_init2(truth, PRECISION);
    mpz_import(y, 1, -1, sizeof block, 0, 0, &block);
    mpz_mul_2exp(y, y, lanes[0]->block_bits);
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
    mpfr_get_z(edge, truth, MPFR_RNDD); /* heights below it are to be accepted */
    const uint64_t whole = mpz_get_ui(edge), end = UINT64_C(1) << n_bits;
    const uint64_t error = (lanes[0]->above + step * lanes[0]->above_a_step + lanes[0]->below + 2)
                           << unit;
    for (size_t i = 0; i < 2 * sizeof offsets / sizeof *offsets; i++) {
        const uint64_t off = i == 0 ? 0 : offsets[i / 2] << unit;
        const uint64_t f = i % 2 == 0 ? whole + off : whole - 1 - off;
        if (f >= end) {
            continue; /* also below 0 */
        }
        uint8_t bytes[16];
        int64_t out[1 + DG_LANE_BEHIND];
        write_attempt(bytes, at, f, lanes[0]);
        size_t first_accepted = 0, first_made = 0;
        for (size_t k = 0; k < n; k++) {
            size_t accepted, made;
            lanes[k]->kernel(out, &accepted, &made, bytes, 1, lanes[k]);
            const bool below = f < whole || is_centre;
            CHECK(made == 0 || f == whole || (accepted == 1) == below,
                  "kernel %d, step %d: accepted %zu, %llu from the edge", (int)lanes[k]->isa,
                  (int)step, accepted, (unsigned long long)(f - whole));
            /* the edge's own height is accepted in part: no words decide it */
            CHECK(f != whole || is_centre || made == 0, "kernel %d decides the edge",
                  (int)lanes[k]->isa);
            CHECK(accepted == 0 || mpz_cmp_si(y, out[0] - lanes[k]->c) == 0, "another integer");
            CHECK(made == 1 || DG_ALWAYS_REFINE || off <= error || n_bits < 52,
                  "kernel %d, step %d: undecided %llu from the edge", (int)lanes[k]->isa, (int)step,
                  (unsigned long long)off);
            if (k == 0) {
                first_accepted = accepted;
                first_made = made;
            }
            CHECK(accepted == first_accepted && made == first_made, "kernels differ");
        }
    }
    mpfr_clear(truth);
    mpz_clears(y, edge, NULL);
}

/** Batches of all lengths of random words, among which undecided attempts are planted. */
static void check_batches(uint64_t *state, dg_lanes *const *lanes, size_t n)
{
    enum { LONGEST = 40, BATCHES = 400 };
    uint8_t bytes[16 * LONGEST];
    int64_t out[2][LONGEST + DG_LANE_BEHIND];
    size_t accepted[2], made[2];
    const size_t size = lanes[0]->attempt_bytes;
    for (size_t i = 0; i < BATCHES; i++) {
        const size_t length = 1 + i % LONGEST;
        for (size_t k = 0; k < sizeof bytes; k++) {
            bytes[k] = (uint8_t)(next_word(state) >> 56);
        }
        if (i % 3 == 0) { /* 63 ones: beyond, if in the tail */
            memset(bytes + size * (next_word(state) % length), 0xFF, size);
        }
        lanes[0]->kernel(out[0], &accepted[0], &made[0], bytes, length, lanes[0]);
        for (size_t k = 1; k < n; k++) {
            lanes[k]->kernel(out[1], &accepted[1], &made[1], bytes, length, lanes[k]);
            CHECK(accepted[0] == accepted[1] && made[0] == made[1] &&
                      memcmp(out[0], out[1], accepted[0] * sizeof out[0][0]) == 0,
                  "kernels differ in a batch of %zu", length);
        }
    }
}

/** Laws that are given their lanes without GMP decide truly, too, by their own constants. */
static void check_lane_laws(uint64_t *state)
{
    static const test_case cases[] = {
        {DG_DISCRETE_GAUSSIAN, 1, 0, 65536, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 6004799503160661, 0, INT64_C(1) << 54, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 1, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 12345, 0, 64, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 16383, 0, 1, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 16384, 0, 1, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 77777777777777, 0, 1, 0, 1},
        {DG_DISCRETE_GAUSSIAN, INT64_MAX / 2, 0, 1, 0, 1},
        {DG_DISCRETE_LAPLACE, 1, 0, 2048, 0, 1},
        {DG_DISCRETE_LAPLACE, 1, 0, 1, 0, 1},
        {DG_DISCRETE_LAPLACE, 6004799503160661, 0, INT64_C(1) << 49, 0, 1},
        {DG_DISCRETE_LAPLACE, 127, 0, 1, 0, 1},
        {DG_DISCRETE_LAPLACE, 6004799503160661, 0, INT64_C(1) << 12, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 3, 0, 1},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 16, -1, 2},
        {DG_DISCRETE_GAUSSIAN, 1, 0, 15, 499999, 1000003},
        {DG_DISCRETE_GAUSSIAN, 355, 0, 113, 1, 3},
        {DG_DISCRETE_GAUSSIAN, 355, 0, 113, -1, 3},
        {DG_DISCRETE_GAUSSIAN, 16385, 0, 1, 6004799503160661, INT64_C(1) << 54},
        {DG_DISCRETE_GAUSSIAN, 999999999989, 0, 7, -5, 11},
        {DG_DISCRETE_LAPLACE, 1, 0, 16, 1, 3},
        {DG_DISCRETE_LAPLACE, 22, 0, 7, 2, 5},
        {DG_DISCRETE_LAPLACE, 1000000000000, 0, 3, -1, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const test_case *of = &cases[i];
        dg_lane_staircases staircases;
        dg_lane_laws laws;
        dg_lanes one, *lanes[] = {&one};
        dg_lane_staircases_build(&staircases, of->kind, true);
        dg_lane_laws_open(&laws, &staircases, DG_ISA_PORTABLE);
        const dg_lane_number parameter = {of->a, of->b, 0}, centre = {of->n, of->d, 0};
        CHECK(dg_lane_laws_add(&laws, &staircases, &parameter, &centre), "case %zu", i);
        dg_lane_laws_one(&one, 0, &laws);
        one.isa = DG_ISA_PORTABLE;
        one.kernel = dg_lane_kernel_portable;
        for (int k = 0; k < SPOTS; k++) {
            const spot at = any_spot(state, &one);
            check_spot(&at, of, lanes, 1);
        }
    }
}

int main(void)
{
    uint64_t state = 20261123;
    check_lane_laws(&state);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const test_case *of = &CASES[i];
        dg_law *law =
            long_law_of(of->kind, DG_ARITHMETIC_AUTO, of->a, of->shift, of->b, 0, of->n, of->d);
        dg_lanes *lanes[MOST_KERNELS] = {0};
        const size_t n = kernels_of(lanes, law);
        for (int k = 0; k < SPOTS; k++) {
            const spot at = any_spot(&state, lanes[0]);
            check_spot(&at, of, lanes, n);
        }
        check_batches(&state, lanes, n);
        for (size_t k = 0; k < MOST_KERNELS; k++) {
            dg_lanes_release(lanes[k]);
        }
        dg_law_free(law);
    }
    mpfr_free_cache();
    return report("lanes of the isochronous sampler");
}

#else
int main(void)
{
    return 77; /* no 128-bit integers: no isochronous sampler */
}
#endif
