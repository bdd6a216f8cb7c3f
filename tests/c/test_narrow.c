/* Narrow laws by inversion have the exact law. Facts, with g from MPFR at 400 bits by formulas of this file:
 *
 *   - each outcome has floor(C g) words, and the outcomes are those with g >= 2^-63. Words are left for attempts that
 *     are settled. A law has this format if and only if it has at most 128 outcomes;
 *   - next to every threshold, and at both ends, every kernel draws what integer arithmetic says, or leaves undecided,
 *     in batches of every length and place;
 *   - each outcome's last part of a word, and each place of the tails on many levels, is accepted up to the 64th bit
 *     behind the edge, with the right integer, and not beyond. Everything else is tried again.
 *
 * The AVX-512 kernel runs on every x86-64: if the machine lacks AVX-512, word by word in C (emulated/). */
#include "support.h"

#include "isochronous/narrow.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

#include "bounds/refine.h"

enum { PRECISION = 400, MOST_KERNELS = 4, LONGEST = 70, BATCHES = 300, MOST_FURTHER = 256 };

typedef struct test_case {
    dg_law_kind kind;
    int64_t a, b, c; /* mu = c + n/d */
    int64_t n, d, beta_num, beta_den;
    int is_narrow;
} test_case;

static const test_case CASES[] = {
    {DG_DISCRETE_GAUSSIAN, 1, 1, 0, 0, 1, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 1, 4, 0, 0, 1, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 1, 1000, 7, 0, 1, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 1, 1000, 0, -1, 2, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 4, 1, -3, 1, 3, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 355, 113, 0, -1, 2, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 36, 1, (INT64_C(1) << 53) + 7, 49, 100, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 187, 1, 0, 0, 1, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 188, 1, 0, 0, 1, 2, 1, 0},
    {DG_DISCRETE_GAUSSIAN, 46, 1, 0, 1, INT64_C(1) << 60, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 47, 1, 0, 1, 3, 2, 1, 1},
    {DG_DISCRETE_GAUSSIAN, 48, 1, 0, 1, 3, 2, 1, 0},
    {DG_DISCRETE_LAPLACE, 1, 1, 0, 0, 1, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 1, 20, 0, -1, 2, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 10, 7, 5, 1, 3, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 10, 7, 5, -1, 3, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 1, 1, 0, 1, INT64_C(1) << 60, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 29, 10, 0, 0, 1, 1, 1, 1},
    {DG_DISCRETE_LAPLACE, 3, 1, 0, 0, 1, 1, 1, 0},
    {DG_GENERALIZED_GAUSSIAN, 1, 1, 0, 0, 1, 3, 2, 1},
    {DG_GENERALIZED_GAUSSIAN, 5, 1, -9, -1, 3, 5, 2, 1},
    {DG_GENERALIZED_GAUSSIAN, 20, 1, 0, 2, 5, 8, 1, 1},
    {DG_GENERALIZED_GAUSSIAN, 50, 1, 0, 0, 1, 127, 2, 1},
    {DG_GENERALIZED_GAUSSIAN, 1, 3, 0, 1, 2, 1, 1, 1},
};

/* --- the law ------------------------------------------------------------------------------------ */

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
    if (of->kind == DG_GENERALIZED_GAUSSIAN) {
        mpfr_t beta;
        mpfr_init2(beta, PRECISION);
        mpfr_set_si(beta, of->beta_num, MPFR_RNDN);
        mpfr_div_si(beta, beta, of->beta_den, MPFR_RNDN);
        mpfr_pow(out, out, beta, MPFR_RNDN);
        mpfr_clear(beta);
    }
}

/** out = floor(2^shift height g(y)). f = 1/2 is computed as -1/2. */
static void scaled_weight(mpz_t out, int64_t y, unsigned long shift, uint64_t height,
                          const test_case *of)
{
    const int64_t n = 2 * of->n == of->d ? -of->n : of->n;
    mpz_t far, near;
    mpfr_t g, at_centre;
    mpz_init_set_si(far, y);
    mpz_init_set_si(near, n);
    mpfr_inits2(PRECISION, g, at_centre, (mpfr_ptr)0);
    mpz_mul_si(far, far, of->d);
    mpz_sub(far, far, near);
    mpz_abs(far, far);
    mpz_abs(near, near);
    phi(g, far, of);
    phi(at_centre, near, of);
    mpfr_sub(g, at_centre, g, MPFR_RNDN);
    mpfr_exp(g, g, MPFR_RNDN);
    mpfr_mul_ui(g, g, height, MPFR_RNDN);
    mpfr_mul_2ui(g, g, shift, MPFR_RNDN);
    mpfr_get_z(out, g, MPFR_RNDD);
    mpfr_clears(g, at_centre, (mpfr_ptr)0);
    mpz_clears(far, near, NULL);
}

/** Return how many words outcome j has. *places: the 64 binary places behind that number. */
static uint64_t words_of(uint64_t *places, size_t j, const dg_narrow *narrow, const test_case *of)
{
    mpz_t whole, part;
    mpz_inits(whole, part, NULL);
    scaled_weight(whole, narrow->least + (int64_t)j, 32 + 64, narrow->height, of);
    mpz_fdiv_r_2exp(part, whole, 64);
    mpz_fdiv_q_2exp(whole, whole, 64);
    *places = mpz_get_ui(part);
    const uint64_t words = mpz_get_ui(whole);
    mpz_clears(whole, part, NULL);
    return words;
}

/** Return whether g(y) >= 2^-63. */
static bool is_outcome(int64_t y, const test_case *of)
{
    mpz_t g;
    mpz_init(g);
    scaled_weight(g, y, 63, 1, of);
    const bool is = mpz_sgn(g) > 0;
    mpz_clear(g);
    return is;
}

static void check_format(const dg_narrow *narrow, const test_case *of)
{
    uint64_t sum = 0, places;
    for (size_t j = 0; j < narrow->n; j++) {
        const int64_t y = narrow->least + (int64_t)j;
        const uint64_t words = words_of(&places, j, narrow, of);
        sum += narrow->has_sign && y != 0 ? 2 * words : words;
        CHECK(narrow->threshold[j] == sum, "outcome %zu", j);
        CHECK(is_outcome(y, of), "no outcome: %lld", (long long)y);
    }
    const int64_t end = narrow->least + (int64_t)narrow->n;
    CHECK(!is_outcome(end, of) && (uint64_t)end == narrow->first[0], "an end");
    CHECK(narrow->has_sign || (!is_outcome(narrow->least - 1, of) &&
                               (uint64_t)(1 - narrow->least) == narrow->first[1]),
          "an end");
    CHECK(narrow->has_sign == (of->n == 0), "a sign");
    const uint64_t settled = narrow->n + 4 * (narrow->n_tail[0] + narrow->n_tail[1]);
    CHECK(sum <= 0 - (settled << narrow->has_sign), "more than all words");
    CHECK(0 - sum < UINT64_C(1) << 40, "C is small: %llu words are left", 0 - (long long)sum);
    CHECK(narrow->height >> 32 == 0, "the height");
    for (size_t side = 0; side < 2; side++) { /* lemma 24: 2^(i - 1) C g <= 1 on level i */
        for (uint64_t i = 0; i < 40 && (side == 0 || !narrow->has_sign); i++) {
            const int64_t size = (int64_t)(narrow->first[side] + i * narrow->n_tail[side]);
            mpz_t chance;
            mpz_init(chance);
            scaled_weight(chance, side == 0 ? size : -size, 131 + i, narrow->height, of);
            CHECK(mpz_sizeinbase(chance, 2) <= 100, "level %d is too low", (int)i);
            mpz_clear(chance);
        }
    }
}

/* --- kernels ------------------------------------------------------------------------------------ */

#if DG_ISA_X86_64
dg_lane_kernel emulated_narrow_kernel_avx512;
#endif

static size_t kernels_of(dg_lanes *lanes[MOST_KERNELS], const dg_law *law)
{
    static const dg_isa all[] = {DG_ISA_PORTABLE, DG_ISA_AVX2, DG_ISA_AVX512, DG_ISA_NEON};
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (dg_isa_available(all[i])) {
            const dg_status status = dg_lanes_build(&lanes[n], law, all[i]);
            CHECK(status == DG_OK && lanes[n]->narrow != NULL && lanes[n]->isa == all[i],
                  "not narrow: status %d", (int)status);
            n++;
        }
    }
#if DG_ISA_X86_64
    CHECK(dg_lanes_build(&lanes[n], law, DG_ISA_PORTABLE) == DG_OK, "not narrow");
    lanes[n]->isa = DG_ISA_AVX512;
    lanes[n++]->kernel = emulated_narrow_kernel_avx512;
#endif
    return n;
}

/** Find what a word draws. Returns: false if it is undecided. */
static bool drawn_by(int64_t *out, uint64_t u, const dg_lanes *lanes)
{
    const dg_narrow *narrow = lanes->narrow;
    int64_t y = narrow->least;
    for (size_t j = 0; j + 1 < narrow->n && u >= narrow->threshold[j]; j++) {
        y++;
    }
    *out = lanes->c + (narrow->has_sign && u % 2 == 1 ? -y : y);
    return u < narrow->threshold[narrow->n - 1] && !DG_ALWAYS_REFINE;
}

static void write_word(uint8_t *bytes, uint64_t word)
{
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
}

/** Check what a kernel draws from n words. */
static void check_batch(const uint64_t *words, size_t n, const dg_lanes *lanes)
{
    uint8_t *bytes = malloc(8 * n); /* a sanitizer reports a step beyond */
    int64_t out[LONGEST + DG_LANE_BEHIND], wanted[LONGEST];
    size_t accepted, made, decided = 0;
    for (size_t i = 0; i < n; i++) {
        write_word(bytes + 8 * i, words[i]);
    }
    while (decided < n && drawn_by(&wanted[decided], words[decided], lanes)) {
        decided++;
    }
    lanes->kernel(out, &accepted, &made, bytes, n, lanes);
    CHECK(accepted == made && made == decided, "kernel %d: %zu made, %zu decided of %zu",
          (int)lanes->isa, made, decided, n);
    CHECK(memcmp(out, wanted, decided * sizeof *out) == 0, "kernel %d: other draws",
          (int)lanes->isa);
    free(bytes);
}

static void check_kernels(uint64_t *state, dg_lanes *const *lanes, size_t n)
{
    const dg_narrow *narrow = lanes[0]->narrow;
    uint64_t words[LONGEST];
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j <= narrow->n; j++) {
            const uint64_t at = j == 0 ? 0 : narrow->threshold[j - 1];
            for (uint64_t off = 0; off < 6; off++) { /* each alone, and at every place */
                for (size_t i = 0; i < LONGEST; i++) {
                    words[i] = at - 3 + off;
                }
                check_batch(words, off % 2 == 0 ? 1 + j % LONGEST : LONGEST, lanes[k]);
            }
        }
        for (size_t i = 0; i < BATCHES; i++) {
            const size_t length = 1 + i % LONGEST;
            for (size_t at = 0; at < length; at++) {
                words[at] = next_word(state) >> (next_word(state) % 2);
                if (next_word(state) % 3 == 0) {
                    words[at] = narrow->threshold[next_word(state) % narrow->n] - 1;
                }
            }
            if (i % 3 == 0) {
                words[next_word(state) % length] = UINT64_MAX - next_word(state) % 1000;
            }
            check_batch(words, length, lanes[k]);
        }
    }
}

/* --- undecided words ---------------------------------------------------------------------------- */

/** The draw of an undecided word, with `more` behind it: one y, or none. */
typedef struct outcome {
    int64_t y;
    size_t n_drawn, used;
} outcome;

static outcome settled(uint64_t u, const uint8_t *more, size_t n_more, const dg_lanes *lanes)
{
    uint8_t bytes[8 + MOST_FURTHER];
    dg_bits bits;
    outcome out;
    int64_t x = 0;
    write_word(bytes, u);
    memcpy(bytes + 8, more, n_more);
    tape from = {bytes, 8 + n_more, 0};
    const dg_source source = tape_source(&from);
    dg_bits_open(&bits, &source);
    const dg_status status = dg_lanes_settle(&x, &out.n_drawn, lanes, &bits);
    dg_bits_close(&bits);
    CHECK(status == DG_OK, "status %d", (int)status);
    out.y = out.n_drawn == 1 ? x - lanes->c : 0;
    out.used = from.used - 8;
    return out;
}

/** Check the question that a unit asks about y: it is accepted if the next word, behind n_before bytes, is below
 *  `edge`. At `edge` the word behind that one decides. */
static void check_edge(uint64_t u, int64_t y, const uint8_t *before, size_t n_before, uint64_t edge,
                       const dg_lanes *lanes)
{
    for (int off = -1; off <= 1; off++) {
        if ((off < 0 && edge == 0) || (off > 0 && edge == UINT64_MAX)) {
            continue;
        }
        /* behind a word of zeros or ones alone, many more may be read */
        const int most = off == 0 && edge != UINT64_MAX;
        for (int last = off == 0 && edge == 0; last <= most; last++) {
            uint8_t more[MOST_FURTHER];
            memset(more, last == 0 ? 0 : 0xFF, sizeof more);
            memcpy(more, before, n_before);
            write_word(more + n_before, edge + (uint64_t)off);
            const outcome got = settled(u, more, sizeof more, lanes);
            const bool wanted = off < 0 || (off == 0 && last == 0);
            CHECK(got.n_drawn == wanted, "u %llx, y %lld, %d from the edge: %zu drawn",
                  (unsigned long long)u, (long long)y, off, got.n_drawn);
            CHECK(!wanted || got.y == y, "%lld for %lld", (long long)got.y, (long long)y);
            CHECK(got.used >= n_before + (off == 0 ? 16 : 8), "%zu bytes used", got.used);
        }
    }
}

static void check_tail(size_t side, uint64_t first_unit, const dg_lanes *lanes, const test_case *of)
{
    static const uint64_t levels[] = {0, 1, 2, 6, 7, 8, 9, 15, 16, 17};
    const dg_narrow *narrow = lanes->narrow;
    const uint64_t end = narrow->threshold[narrow->n - 1];
    mpz_t edge;
    mpz_init(edge);
    for (uint64_t unit = 0; unit < 4 * narrow->n_tail[side]; unit++) {
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            const uint64_t level = levels[i];
            const int64_t size =
                (int64_t)(narrow->first[side] + unit / 4 + level * narrow->n_tail[side]);
            uint8_t ones[4] = {0xFF, 0xFF, 0xFF, 0xFF};
            ones[level / 8] = (uint8_t)~(0xFFu >> level % 8) | (uint8_t)(unit % 2); /* any end */
            if (level % 8 == 7) {
                ones[level / 8] = 0xFE;
            }
            scaled_weight(edge, side == 0 ? size : -size, 64 + 31 + level, narrow->height, of);
            for (uint64_t sign = 0; sign <= narrow->has_sign; sign++) {
                const uint64_t u = end + ((first_unit + unit) << narrow->has_sign) + sign;
                check_edge(u, (side == 0) == (sign == 0) ? size : -size, ones, level / 8 + 1,
                           mpz_get_ui(edge), lanes);
            }
        }
    }
    mpz_clear(edge);
}

static void check_settled(const dg_lanes *lanes, const test_case *of)
{
    const dg_narrow *narrow = lanes->narrow;
    const uint64_t end = narrow->threshold[narrow->n - 1];
    const uint8_t nothing[8] = {0};
    for (size_t j = 0; j < narrow->n; j++) {
        const int64_t y = narrow->least + (int64_t)j;
        uint64_t places;
        (void)words_of(&places, j, narrow, of);
        for (uint64_t sign = 0; sign <= narrow->has_sign; sign++) {
            const uint64_t u = end + ((uint64_t)j << narrow->has_sign) + sign;
            if (y == 0 || (y == -1 && 2 * llabs(of->n) == of->d)) { /* C g is an integer */
                CHECK(settled(u, nothing, 8, lanes).n_drawn == 0, "a remainder of %lld",
                      (long long)y);
            } else {
                check_edge(u, sign == 0 ? y : -y, nothing, 0, places, lanes);
            }
        }
    }
    check_tail(0, narrow->n, lanes, of);
    uint64_t behind = narrow->n + 4 * narrow->n_tail[0];
    if (!narrow->has_sign) {
        check_tail(1, behind, lanes, of);
        behind += 4 * narrow->n_tail[1];
    }
    const uint64_t last = (UINT64_MAX - end) >> narrow->has_sign;
    CHECK(behind <= last, "no word is left");
    for (uint64_t unit = behind; unit <= last; unit += 1 + (last - behind) / 10) {
        const outcome got = settled(end + (unit << narrow->has_sign), nothing, 0, lanes);
        CHECK(got.n_drawn == 0 && got.used == 0, "what is left is not tried again");
    }
    for (size_t j = 0; DG_ALWAYS_REFINE && narrow->threshold[j] < end; j++) { /* decided words */
        int64_t x;
        (void)drawn_by(&x, narrow->threshold[j], lanes);
        CHECK(settled(narrow->threshold[j], nothing, 0, lanes).y + lanes->c == x, "%zu", j);
    }
}

static void check_case(const test_case *of, uint64_t *state)
{
    dg_law *law;
    if (of->kind == DG_GENERALIZED_GAUSSIAN) {
        law =
            power_law_of(of->a, 0, of->b, of->c * of->d + of->n, of->d, of->beta_num, of->beta_den);
    } else {
        law = law_of(of->kind, DG_ARITHMETIC_AUTO, of->a, of->b, of->c * of->d + of->n, of->d);
    }
    dg_lanes *lanes[MOST_KERNELS] = {0};
    dg_narrow *narrow;
    const dg_status status = dg_narrow_build(&narrow, law);
    CHECK(status == (of->is_narrow ? DG_OK : DG_ERR_METHOD), "status %d", (int)status);
    if (status == DG_OK) {
        free(narrow);
        const size_t n = kernels_of(lanes, law);
        check_format(lanes[0]->narrow, of);
        check_kernels(state, lanes, n);
        check_settled(lanes[0], of);
    }
    for (size_t k = 0; k < MOST_KERNELS; k++) {
        dg_lanes_release(lanes[k]);
    }
    dg_law_free(law);
}

int main(void)
{
    uint64_t state = 20261125;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        check_case(&CASES[i], &state);
    }
    mpfr_free_cache();
    return report("narrow laws");
}

#else
int main(void)
{
    return 77; /* without 128-bit integers there is no isochronous sampler */
}
#endif
