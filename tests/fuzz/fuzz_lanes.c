/* Isochronous fills, and attempts of arrays in lanes. From any tape every instruction set fills alike, and the draws that
 * kernels decide are those of the definition. Every kernel of arrays decides each attempt as MPFR does, and leaves
 * undecided only what is within its bounds of the edge. No input hits a height next to the edge by itself, so an attempt
 * may request one: a byte's sixteenth parts of a unit of 2^-52 away. */
#include "input.h"

#include "isochronous/lane_laws.h"
#include "isochronous/silent.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { PRECISION = 400, MOST_ATTEMPTS = 40, MOST_KERNELS = 5, MOST_FILL = 3000 };

static const dg_isa isas[MOST_KERNELS] = {DG_ISA_PORTABLE, DG_ISA_SSE41, DG_ISA_AVX2,
                                          DG_ISA_AVX512_VBMI2, DG_ISA_NEON};

/* --- the model ------------------------------------------------------------------------------- */

/** The truth about an attempt: f' 2^n_bits is in [f, f + 1), and it succeeds below 2^n_bits 2^k g(y), which is in
 *  [edge, edge + 1), or 2^n_bits if is_certain. */
typedef struct truth {
    bool counts, is_beyond, is_certain;
    size_t n_bits, step;
    uint64_t f, edge;
    mpz_t x;
} truth;

/** out = phi(r), to some 390 bits. */
static void phi(mpfr_t out, const mpq_t r, const numbers *of)
{
    mpq_t ratio;
    mpq_init(ratio);
    mpq_div(ratio, r, of->first);
    if (of->kind == DG_DISCRETE_GAUSSIAN) {
        mpq_mul(ratio, ratio, r);
        mpq_div_2exp(ratio, ratio, 1);
    }
    mpfr_set_q(out, ratio, MPFR_RNDN);
    if (of->kind == DG_GENERALIZED_GAUSSIAN) {
        mpfr_t beta;
        mpfr_init2(beta, PRECISION);
        mpfr_set_q(beta, of->beta, MPFR_RNDN);
        mpfr_pow(out, out, beta, MPFR_RNDN);
        mpfr_clear(beta);
    }
    mpq_clear(ratio);
}

/** out = phi(|y - f|) - phi(|f|), where mu = c + f; 0 exactly if the difference is. */
static void exponent(mpfr_t out, const mpz_t y, const mpq_t f, const numbers *of)
{
    mpq_t near, far;
    mpfr_t at_centre;
    mpq_inits(near, far, NULL);
    mpfr_init2(at_centre, PRECISION);
    mpq_set_z(far, y);
    mpq_sub(far, far, f);
    mpq_abs(far, far);
    mpq_abs(near, f);
    phi(out, far, of);
    phi(at_centre, near, of);
    mpfr_sub(out, out, at_centre, MPFR_RNDN);
    mpfr_clear(at_centre);
    mpq_clears(near, far, NULL);
}

/** f = mu - c, c = floor(mu + 1/2). */
static void set_centre(mpz_t c, mpq_t f, const mpq_t mu)
{
    mpq_t whole;
    mpq_init(whole);
    mpq_set_ui(whole, 1, 2);
    mpq_add(whole, whole, mu);
    mpz_fdiv_q(c, mpq_numref(whole), mpq_denref(whole));
    mpq_set_z(whole, c);
    mpq_sub(f, mu, whole);
    mpq_clear(whole);
}

static void find_edge(truth *out, const mpz_t y, const mpq_t f, const numbers *of)
{
    mpfr_t g;
    mpz_t edge;
    mpz_init(edge);
    mpfr_init2(g, PRECISION);
    exponent(g, y, f, of);
    out->is_certain = mpfr_sgn(g) == 0;
    mpfr_neg(g, g, MPFR_RNDN);
    mpfr_exp(g, g, MPFR_RNDN);
    mpfr_mul_2ui(g, g, out->n_bits + out->step, MPFR_RNDN);
    REQUIRE(mpfr_cmp_ui_2exp(g, 1, (long)out->n_bits) <= 0); /* the staircase is above the law */
    mpfr_get_z(edge, g, MPFR_RNDD);
    out->edge = mpz_get_ui(edge);
    mpfr_clear(g);
    mpz_clear(edge);
}

static uint64_t word_at(const uint8_t *bytes, size_t n)
{
    uint64_t word = 0;
    for (size_t i = n; i > 0; i--) {
        word = word << 8 | bytes[i - 1];
    }
    return word;
}

/** Read the words of an attempt (lanes.h). wish: 0, or the place of its height relative to the edge. */
static void judge(truth *out, uint8_t *bytes, uint8_t wish, const dg_lanes *lanes,
                  const numbers *of)
{
    const uint64_t point = word_at(bytes, 8), head = word_at(bytes + 8, lanes->attempt_bytes - 8);
    const uint64_t product = (head % 65536) * lanes->n_cells, cell = product / 65536;
    const bool is_tail = cell >= lanes->n_core;
    uint64_t level = 0;
    while (is_tail && level < 63 && point >> (63 - level) & 1) {
        level++;
    }
    mpz_t y;
    mpq_t f;
    mpz_init(y);
    mpq_init(f);
    out->counts = product % 65536 >= 65536 % lanes->n_cells;
    out->is_beyond = level >= DG_LANE_MOST_STEP;
    out->step = is_tail ? level + 1 : 0;
    out->n_bits = 63 - (out->is_beyond ? 0 : out->step);
    const uint64_t places = (UINT64_C(1) << out->n_bits) - 1;
    out->f = point >> 1 & places;
    mpz_set_ui(y, cell + level * lanes->n_tail);
    mpz_mul_2exp(y, y, lanes->block_bits);
    mpz_add_ui(y, y, (head >> 16) % (UINT64_C(1) << lanes->block_bits));
    if (point & 1) {
        mpz_com(y, y);
    }
    set_centre(out->x, f, of->mu);
    mpz_add(out->x, out->x, y);
    if (!out->is_beyond) {
        find_edge(out, y, f, of);
        if (wish != 0) { /* 1 ... 255: near the edge */
            const uint64_t part = out->n_bits > 56 ? UINT64_C(1) << (out->n_bits - 56) : 1;
            out->f = (out->edge + wish * part - 128 * part) & places;
            const uint64_t moved = (point & ~(places << 1)) | out->f << 1;
            for (size_t i = 0; i < 8; i++) {
                bytes[i] = (uint8_t)(moved >> (8 * i));
            }
        }
    }
    mpq_clear(f);
    mpz_clear(y);
}

/** Return whether the kernels may leave an attempt undecided. */
static bool may_be_undecided(const truth *of, const dg_lanes *lanes)
{
    if (of->is_beyond || of->n_bits < DG_LANE_BITS) {
        return true; /* bits that were not read may matter */
    }
    const unsigned unit = (unsigned)of->n_bits - DG_LANE_BITS;
    const uint64_t error = (lanes->above + of->step * lanes->above_a_step + lanes->below + 2)
                           << unit;
    const uint64_t off = of->f > of->edge ? of->f - of->edge : of->edge - of->f;
    return off <= error;
}

/* --- comparisons ----------------------------------------------------------------------------- */

/** Make attempts of copies of a law by a kernel. It continues behind those that it leaves undecided. */
static void check_kernel(const uint8_t *bytes, size_t n, const truth *of, const dg_lanes *lanes,
                         const dg_lane_laws *laws)
{
    for (size_t done = 0; done < n; done++) {
        const size_t left = n - done, n_bytes = left * lanes->attempt_bytes;
        dg_lane_laws all = *laws;
        dg_lane_round round = {.n_pending = left};
        int64_t out[DG_LANE_LAWS];
        bool kept[MOST_ATTEMPTS] = {false};
        uint8_t *words = exactly(n_bytes); /* a step beyond is reported */
        memcpy(words, bytes + done * lanes->attempt_bytes, n_bytes);
        for (size_t i = 0; i < left; i++) {
            round.pending[i] = i;
            if (i > 0) {
                dg_lane_laws_again(&all);
            }
        }
        dg_lane_laws_attempt(out, &round, words, &all);
        REQUIRE(round.n_made <= left && round.n_kept <= round.n_made);
        for (size_t i = 0; i < round.n_kept; i++) {
            kept[round.pending[i]] = true;
        }
        for (size_t i = 0; i < round.n_made; i++) {
            const truth *at = &of[done + i];
            if (!at->counts) {
                REQUIRE(kept[i]);
                continue;
            }
            REQUIRE(!at->is_beyond);
            REQUIRE(at->is_certain || at->f != at->edge); /* no words decide it */
            REQUIRE(kept[i] == (!at->is_certain && at->f > at->edge));
            REQUIRE(kept[i] || mpz_cmp_si(at->x, out[i]) == 0);
        }
        done += round.n_made;
        REQUIRE(done == n || (of[done].counts && may_be_undecided(&of[done], lanes)));
        free(words);
    }
}

static void check_kernels(const dg_lane_laws *laws, const numbers *of, input *from)
{
    dg_lanes lanes;
    dg_lane_laws_one(&lanes, 0, laws);
    const size_t size = lanes.attempt_bytes, n = take_byte(from) % MOST_ATTEMPTS;
    uint8_t *bytes = exactly(n * size);
    truth truths[MOST_ATTEMPTS];
    for (size_t i = 0; i < n; i++) {
        const uint8_t wish = take_byte(from);
        for (size_t k = 0; k < size; k++) {
            bytes[i * size + k] = take_byte(from);
        }
        mpz_init(truths[i].x);
        judge(&truths[i], bytes + i * size, wish, &lanes, of);
    }
    dg_lane_laws by = *laws;
    check_kernel(bytes, n, truths, &lanes, &by);
    by.isa = DG_ISA_AVX512_VBMI2;
    if (dg_isa_available(by.isa) && dg_isa_has_ifma()) {
        check_kernel(bytes, n, truths, &lanes, &by);
    }
    for (size_t i = 0; i < n; i++) {
        mpz_clear(truths[i].x);
    }
    free(bytes);
}

/** The result of one fill. */
typedef struct outcome {
    dg_status status;
    size_t used;
} outcome;

static outcome fill(uint8_t *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                    const tape *full_tape)
{
    tape from = *full_tape;
    dg_source source = tape_source(&from);
    const dg_status status = dg_sampler_fill(out, n, dtype, sampler, NULL, &source);
    return (outcome){status, from.used};
}

/** Compare fills of a type and length, from any tape, with those of the portable kernel. */
static void check_fills(const numbers *of, input *from)
{
    static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    const dg_dtype dtype = (dg_dtype)(take_byte(from) % (DG_UINT64 + 1));
    const size_t n = take_word(2, from) % MOST_FILL, n_bytes = n * sizes[dtype];
    tape full_tape = take_tape(64u * take_byte(from), from);
    uint8_t *expected = exactly(n_bytes), *out = exactly(n_bytes);
    outcome wanted = {DG_OK, 0};
    for (size_t k = 0; k < MOST_KERNELS; k++) {
        dg_options options = default_options();
        options.isa = isas[k];
        dg_sampler *sampler = sampler_of(of, DG_ISOCHRONOUS, &options);
        if (k == 0) {
            wanted = fill(expected, n, dtype, sampler, &full_tape);
        } else if (sampler != NULL) {
            memset(out, 0xA5, n_bytes);
            const outcome got = fill(out, n, dtype, sampler, &full_tape);
            REQUIRE(got.status == wanted.status && got.used == wanted.used);
            REQUIRE(wanted.status != DG_OK || memcmp(out, expected, n_bytes) == 0);
        }
        dg_sampler_free(sampler);
    }
    free(out);
    free(expected);
    tape_free(&full_tape);
}

/** Convert a rational to words. Returns: whether it fits; *out is then set. */
static bool in_words(dg_lane_number *out, const mpq_t of)
{
    if (!mpz_fits_slong_p(mpq_numref(of)) || !mpz_fits_slong_p(mpq_denref(of))) {
        return false;
    }
    *out = (dg_lane_number){mpz_get_si(mpq_numref(of)), mpz_get_si(mpq_denref(of)), 0};
    return true;
}

/** Check the law as lane_laws.h holds it, with its centre reduced to its remainder; if lanes hold it. */
static void check_law_in_a_lane(numbers *of, input *from)
{
    dg_lane_staircases staircases;
    dg_lane_laws laws;
    dg_lane_number parameter, centre;
    mpz_t c;
    mpz_init(c);
    set_centre(c, of->mu, of->mu);
    mpz_clear(c);
    if (!in_words(&parameter, of->first) || !in_words(&centre, of->mu)) {
        return;
    }
    dg_lane_staircases_build(&staircases, of->kind, true);
    dg_lane_laws_open(&laws, &staircases, DG_ISA_PORTABLE);
    if (dg_lane_laws_add(&laws, &staircases, &parameter, &centre)) {
        check_kernels(&laws, of, from);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const dg_law_kind kinds[] = {DG_DISCRETE_GAUSSIAN, DG_DISCRETE_LAPLACE,
                                        DG_GENERALIZED_GAUSSIAN, DG_DISCRETE_LAPLACE};
    enum { MOST_SHIFT = 70 };
    input from = {data, size};
    numbers of;
    const uint8_t shape = take_byte(&from);
    take_numbers(&of, kinds[shape % 4], MOST_SHIFT, &from);
    if (shape >= 160 && of.kind != DG_GENERALIZED_GAUSSIAN) {
        check_law_in_a_lane(&of, &from);
        numbers_clear(&of);
        return 0;
    }
    dg_options options = default_options();
    dg_sampler *sampler = sampler_of(&of, DG_ISOCHRONOUS, &options);
    if (sampler != NULL) { /* otherwise isochronous draws do not hold it */
        dg_sampler_free(sampler);
        check_fills(&of, &from);
    }
    numbers_clear(&of);
    return 0;
}
