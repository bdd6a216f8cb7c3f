/* Laws that are given lanes of their own without GMP, 10^5 of either kind at random and at both ends of
 * every step. Facts, with logarithms of 2 from MPFR at 200 bits:
 *
 *   - the staircase is above the law: PROOF.md, lemma 1, and its fields are those of one staircase;
 *   - the rate is the true one, rounded down; the exponent at `farthest` is in its range;
 *   - laws beyond the ends are not held;
 *   - from the same bytes all kernels make the same draws of a batch, of every size, and read the same. */
#include "support.h"

#include "isochronous/lane_laws.h"

#include <mpfr.h>
#include <string.h>

#if DG_HAVE_WORDS

enum { PRECISION = 200, LAWS = 100000 };

/** out = log2(e)/(2 sigma2) or log2(e)/scale. */
static void true_rate(mpfr_t out, dg_law_kind kind, uint64_t num, int exponent)
{
    mpfr_const_log2(out, MPFR_RNDN);
    mpfr_mul_ui(out, out, num, MPFR_RNDN);
    mpfr_mul_2si(out, out, exponent + (kind == DG_DISCRETE_GAUSSIAN), MPFR_RNDN);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

/** Whether rate (n^2 - m^2), or rate (n - m), is 1 at least. */
static bool is_a_step(mpfr_t rate, uint64_t n, uint64_t m, bool squared, mpfr_t room)
{
    mpfr_mul_ui(room, rate, squared ? n * n - m * m : n - m, MPFR_RNDN);
    return mpfr_cmp_ui(room, 1) >= 0;
}

static void check_law(dg_law_kind kind, uint64_t num, int exponent,
                      const dg_lane_staircases *staircases)
{
    const bool squared = kind == DG_DISCRETE_GAUSSIAN;
    dg_lane_laws laws;
    dg_lanes of;
    mpfr_t rate, room;
    dg_lane_laws_open(&laws, staircases, DG_ISA_AUTO);
    CHECK(dg_lane_laws_add(&laws, staircases, num, exponent), "%llu 2^%d", (unsigned long long)num,
          exponent);
    dg_lane_laws_one(&of, 0, &laws);
    mpfr_inits2(PRECISION, rate, room, (mpfr_ptr)0);
    true_rate(rate, kind, num, exponent);
    mpfr_mul_2ui(rate, rate, (squared ? 2UL : 1UL) * of.block_bits, MPFR_RNDN); /* per block */
    CHECK(is_a_step(rate, of.n_core, 0, squared, room), "%llu 2^%d: g > 1/2 behind the core",
          (unsigned long long)num, exponent);
    CHECK(is_a_step(rate, of.n_core + of.n_tail, of.n_core, squared, room),
          "%llu 2^%d: a tail level does not halve", (unsigned long long)num, exponent);
    CHECK(of.n_cells == of.n_core + of.n_tail && of.n_tail > 0 && of.excess == 65536 % of.n_cells &&
              of.low_mask == (UINT64_C(1) << of.block_bits) - 1 && of.block_bits <= 35 &&
              of.n_core + 48 * of.n_tail < 1 << 14 &&
              of.attempt_bytes == (of.block_bits > 16 ? 16 : 12),
          "%llu 2^%d: fields", (unsigned long long)num, exponent);
    CHECK(of.offset[0] == 0 && (uint64_t)of.offset[1] == UINT64_C(1) << of.units_up &&
              of.units_down == 0 && of.twice_f == 0 && of.farthest <= (UINT64_C(1) << 52) - 3,
          "%llu 2^%d: distances", (unsigned long long)num, exponent);
    /* the rate per unit, 2^units_up of which make an integer, is of.rate 2^-(104 + shift) or so */
    true_rate(rate, kind, num, exponent);
    mpfr_div_2ui(rate, rate, (squared ? 2UL : 1UL) * of.units_up, MPFR_RNDN);
    mpfr_mul_2ui(rate, rate, (squared ? 104UL : 52UL) + of.rate_shift, MPFR_RNDN);
    mpfr_sub_ui(room, rate, of.rate, MPFR_RNDN);
    CHECK(of.rate >> 51 == 1 && of.rate_shift >= 1 && of.rate_shift <= 52 && mpfr_sgn(room) >= 0 &&
              mpfr_cmp_d(room, 1.001) < 0,
          "%llu 2^%d: rate", (unsigned long long)num, exponent);
    mpfr_mul_ui(room, rate, of.farthest, MPFR_RNDN);
    mpfr_mul_ui(room, room, squared ? of.farthest : 1, MPFR_RNDN);
    mpfr_div_2ui(room, room, (squared ? 104UL : 52UL) + of.rate_shift, MPFR_RNDN);
    CHECK(mpfr_cmp_ui(room, 111) > 0 && mpfr_cmp_ui(room, 1023) < 0, "%llu 2^%d: farthest",
          (unsigned long long)num, exponent);
    mpfr_clears(rate, room, (mpfr_ptr)0);
}

static void check_laws(dg_law_kind kind, uint64_t *state)
{
    dg_lane_staircases staircases;
    dg_lane_laws laws;
    const int n_octaves = kind == DG_DISCRETE_GAUSSIAN ? 78 : 58;
    dg_lane_staircases_build(&staircases, kind);
    for (size_t i = 0; i < LAWS; i++) {
        const uint64_t num = next_word(state) | UINT64_C(1) << 63;
        const int octave = (int)(next_word(state) % (uint64_t)n_octaves) - 16;
        const unsigned cut = (unsigned)(next_word(state) % 64);
        check_law(kind, num >> cut, octave - 63 + (int)cut, &staircases);
    }
    for (int octave = -16; octave < n_octaves - 16; octave++) {
        for (uint64_t step = 32; step < 64; step++) {
            check_law(kind, step, octave - 5, &staircases);
            check_law(kind, ((step + 1) << 58) - 1, octave - 63, &staircases);
        }
    }
    dg_lane_laws_open(&laws, &staircases, DG_ISA_AUTO);
    CHECK(!dg_lane_laws_add(&laws, &staircases, 0, 0), "0 is held");
    CHECK(!dg_lane_laws_add(&laws, &staircases, UINT64_MAX, -17 - 63), "too steep");
    CHECK(!dg_lane_laws_add(&laws, &staircases, 1, n_octaves - 16), "too wide");
    CHECK(!dg_lane_laws_add(&laws, &staircases, 1, 2000), "much too wide");
    CHECK(laws.n == 0, "something was added");
}

static dg_status law_of_three(dg_law **law, size_t which, void *context)
{
    const dg_law_kind kind = *(const dg_law_kind *)context;
    *law = law_of(kind, DG_ARITHMETIC_AUTO, 3 + (int64_t)which * 1000, 1, 0, 1);
    return DG_OK;
}

/** Draw a batch of n laws of parameters 3, 1003, 2003 ... by a kernel, from a tape. */
static size_t draw_batch(int64_t *out, size_t n, dg_law_kind kind, dg_isa isa,
                         const dg_lane_staircases *staircases, const uint8_t *bytes, size_t n_bytes)
{
    static dg_bits bits; /* large */
    dg_lane_laws laws;
    tape from = {bytes, n_bytes, 0};
    const dg_source source = tape_source(&from);
    dg_lane_laws_open(&laws, staircases, isa);
    for (size_t i = 0; i < n; i++) {
        CHECK(dg_lane_laws_add(&laws, staircases, 3 + i * 1000, 0), "law %zu", i);
    }
    dg_bits_open(&bits, &source);
    CHECK(dg_lane_laws_draw(out, 0, &laws, law_of_three, &kind, &bits) == DG_OK, "%zu laws", n);
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
    dg_lane_staircases_build(&staircases, kind);
    for (size_t n = 0; n <= DG_LANE_LAWS; n += DG_ALWAYS_REFINE ? 16 : 1) {
        int64_t out[2][DG_LANE_LAWS];
        for (size_t i = 0; i < TAPE; i++) {
            bytes[i] = (uint8_t)(next_word(state) >> 56);
        }
        if (n > 0 && n % 3 == 0) { /* a run of ones: undecided, if an attempt of a tail */
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
    check_laws(DG_DISCRETE_GAUSSIAN, &state);
    check_laws(DG_DISCRETE_LAPLACE, &state);
    check_kernels(DG_DISCRETE_GAUSSIAN, &state);
    check_kernels(DG_DISCRETE_LAPLACE, &state);
    mpfr_free_cache();
    return report("laws that have lanes of their own");
}

#else
int main(void)
{
    return 77; /* no 128-bit integers: no lanes */
}
#endif
