/* Arcs of the silent engine (isochronous/arcs_silent.c). Facts:
 *
 *   - what kernels compute of a = H g / c by 16 bits is at most err units from it, at many places of each block;
 *   - the errors are small: of random attempts few are left open, and rounds have places for them;
 *   - no generalised Gaussian, whatever beta and scale are, needs a larger error than a byte holds. */
#include "support.h"

#include "bounds/refine.h"
#include "isochronous/silent.h"
#include "isochronous/silent_decide.h"
#include "sampler/make_law.h"

#include <mpfr.h>

#if DG_HAVE_WORDS

enum { PRECISION = 256, PLACES = 24 };

typedef struct one_law {
    dg_law_kind kind;
    const char *parameter, *mu, *beta;
    double most_open; /* log2 */
    unsigned places;
} one_law;

static const one_law LAWS[] = {
    {DG_DISCRETE_GAUSSIAN, "1", "1/3", NULL, -14, 16},
    {DG_DISCRETE_GAUSSIAN, "1/1000000", "549755813889/1099511627776", NULL, -14, 16},
    {DG_DISCRETE_GAUSSIAN, "182", "1/3", NULL, -11.8, 16},
    {DG_DISCRETE_GAUSSIAN, "191", "-1/2", NULL, -11.8, 16},
    {DG_DISCRETE_GAUSSIAN, "900", "0", NULL, -11.8, 16},
    {DG_DISCRETE_GAUSSIAN, "1000000", "-5/2", NULL, -11.8, 16},
    {DG_DISCRETE_GAUSSIAN, "1000000000000", "1/7", NULL, -11.8, 16}, /* blocks of 17 bits */
    {DG_DISCRETE_GAUSSIAN, "81129638414606681695789005144064", "-1/2", NULL, -11.4,
     16}, /* sigma = 2^53 */
    {DG_DISCRETE_LAPLACE, "1/50", "1/4", NULL, -14, 16},
    {DG_DISCRETE_LAPLACE, "8", "1/3", NULL, -11.2, 16},
    {DG_DISCRETE_LAPLACE, "30", "-1/3", NULL, -11.2, 16},
    {DG_DISCRETE_LAPLACE, "1000", "0", NULL, -11.2, 16},
    {DG_DISCRETE_LAPLACE, "1000000000", "1/3", NULL, -11.2, 16},
    {DG_DISCRETE_LAPLACE, "9007199254740992", "1/2", NULL, -11.2, 16},
    {DG_GENERALIZED_GAUSSIAN, "5", "1/3", "3", -14, 16},
    {DG_GENERALIZED_GAUSSIAN, "3", "0", "1", -13, 16}, /* blocks of two integers */
    {DG_GENERALIZED_GAUSSIAN, "200", "1/3", "1", -8.2, 32},
    {DG_GENERALIZED_GAUSSIAN, "70163419019", "1/3", "11/10", -7.5, 64},
    {DG_GENERALIZED_GAUSSIAN, "200", "1/3", "5/4", -8, 32},
    {DG_GENERALIZED_GAUSSIAN, "1000", "-1/2", "3/2", -9.9, 32},
    {DG_GENERALIZED_GAUSSIAN, "1000000", "1/3", "5/2", -12, 16},
    {DG_GENERALIZED_GAUSSIAN, "100", "0", "4", -12, 16},
    {DG_GENERALIZED_GAUSSIAN, "1000", "1/3", "20", -12, 16},
    {DG_GENERALIZED_GAUSSIAN, "1000", "1/3", "63", -9, 32},
    {DG_GENERALIZED_GAUSSIAN, "9007199254740992", "1/7", "127/2", -8.8, 32},
};

static const one_law *looked_at;

/** Return a plane's number. */
static int32_t number_of(uint8_t plane[2][DG_SILENT_CODES], size_t i)
{
    return plane[0][i] | plane[1][i] << 8;
}

/** Check 2^16 a of a tick against the arc's v. */
static void check_place(mpfr_t work, size_t code, uint64_t tick, int32_t v, dg_enclosure *e,
                        const dg_silent *silent)
{
    const uint64_t z = (uint64_t)(code & 127) << silent->block_bits | tick;
    const int err = silent->planes.err[code];
    mpz_t y;
    mpz_init(y);
    dg_silent_set_y(y, z, (unsigned)(code >> 7));
    dg_enclose_weight(e, y, &silent->law);
    for (int side = 0; side < 2; side++) {
        mpfr_mul_ui(work, side ? e->upper : e->lower, silent->height, MPFR_RNDN);
        mpfr_div_ui(work, work, silent->c[code], MPFR_RNDN);
        mpfr_mul_2ui(work, work, 16, MPFR_RNDN);
        mpfr_sub_si(work, work, v, MPFR_RNDN);
        CHECK(mpfr_cmpabs_ui(work, (unsigned long)err) <= 0,
              "%s %s, code %zu, tick %llu: the arc is off by %.2f units, err is %d",
              looked_at->parameter, looked_at->mu, code, (unsigned long long)tick,
              mpfr_get_d(work, MPFR_RNDN), err);
    }
    mpz_clear(y);
}

static void check_arcs(uint64_t *state, dg_silent *silent)
{
    dg_silent_planes *planes = &silent->planes;
    const unsigned b = silent->block_bits;
    const uint64_t last = (UINT64_C(1) << b) - 1;
    dg_enclosure e;
    mpfr_t work;
    dg_enclosure_open(&e, PRECISION);
    mpfr_init2(work, PRECISION);
    for (size_t code = 0; code < DG_SILENT_CODES; code++) {
        for (size_t j = 0; j < PLACES && (code & 127) != DG_SILENT_TAIL; j++) {
            const uint64_t ticks[] = {0, last, last / 2, last / 2 + 1, last / 4, last - last / 4};
            const uint64_t tick = j < 6 ? ticks[j] & last : next_word(state) & last;
            const uint32_t q = (uint32_t)(b <= 16 ? tick << (16 - b) : tick >> (b - 16));
            const int32_t base = number_of(planes->base, code) ^ 1 << 15;
            const int32_t slope = number_of(planes->slope, code);
            const int32_t v = dg_silent_arc(base, slope, (int16_t)number_of(planes->bulge, code), q,
                                            silent->shape, planes->k);
            CHECK(slope <= base, "%s %s, code %zu: the slope", looked_at->parameter, looked_at->mu,
                  code);
            check_place(work, code, tick, v, &e, silent);
        }
    }
    mpfr_clear(work);
    dg_enclosure_close(&e);
}

/** At most 2^most_open of random attempts stay open: 2 err + 1 of 2^16, code by code. */
static void check_open(const dg_silent *silent)
{
    double open = 0, most = 1;
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        open += silent->c[i] * 0x1p-40 * (2 * silent->planes.err[i] + 1);
    }
    mpfr_t work;
    mpfr_init2(work, PRECISION);
    mpfr_set_d(work, looked_at->most_open, MPFR_RNDN);
    mpfr_exp2(work, work, MPFR_RNDU);
    most = mpfr_get_d(work, MPFR_RNDU);
    mpfr_set_d(work, open, MPFR_RNDN);
    mpfr_log2(work, work, MPFR_RNDN);
    CHECK(open <= most, "%s %s: 2^%.2f stay open", looked_at->parameter, looked_at->mu,
          mpfr_get_d(work, MPFR_RNDN));
    mpfr_clear(work);
    CHECK(silent->places == looked_at->places, "%s %s: %u places", looked_at->parameter,
          looked_at->mu, silent->places);
}

/** Check that a law is held. number: says which scale it has. */
static void check_held(dg_law *law, const char *name, int64_t number, int64_t beta)
{
    dg_silent *silent;
    CHECK(dg_silent_build(&silent, law) == DG_OK, "%s %lld, beta %lld/100: it is not held", name,
          (long long)number, (long long)beta);
    dg_silent_free(silent);
    dg_law_free(law);
}

/** Build laws of scales from 4 to 2^53, for beta from 1 to 63, and of small scales, where blocks have two integers. */
static void check_powers(void)
{
    enum { STEPS = 200, SCALES = 12, OCTAVES = 50 };
    for (int64_t i = 0; i < STEPS; i++) {
        for (int64_t j = 0; j < SCALES; j++) {
            const int64_t beta = i < STEPS / 2 ? 100 + i : 200 + 61 * (i - STEPS / 2),
                          k = SCALES * i + j;
            dg_law *law = power_law_of(32 + 7 * k % 32, (size_t)(5 * k % OCTAVES), 8,
                                       k % 1001 - 500, 1001, beta, 100);
            check_held(law, "octave", 5 * k % OCTAVES, beta);
        }
    }
    for (int64_t beta = 100; beta <= 300; beta += 50) {
        for (int64_t scale = 64; scale < 144; scale++) { /* in parts of 1/32 */
            check_held(power_law_of(scale, 0, 32, -(scale % 3), 4, beta, 100), "scale in 1/32",
                       scale, beta);
        }
    }
}

int main(void)
{
    uint64_t state = 20261129;
    check_powers();
    for (size_t i = 0; i < sizeof LAWS / sizeof *LAWS; i++) {
        looked_at = &LAWS[i];
        dg_law *law = law_by_text(looked_at->kind, DG_ARITHMETIC_AUTO, looked_at->parameter,
                                  looked_at->mu, looked_at->beta);
        dg_silent *silent;
        CHECK(dg_silent_build(&silent, law) == DG_OK, "law %zu is not held", i);
        check_arcs(&state, silent);
        check_open(silent);
        dg_silent_free(silent);
        dg_law_free(law);
    }
    mpfr_free_cache();
    return report("the silent engine's arcs");
}

#else
int main(void)
{
    return 77; /* it needs 128-bit integers */
}
#endif
