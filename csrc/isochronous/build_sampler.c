#include "isochronous/sampler.h"

#include "base/contract.h"
#include "bounds/enclosure.h"
#include "isochronous/fixed_point.h"

#include <stdlib.h>

#if DG_HAVE_WORDS

enum { PRECISION = DG_WORDS_PRECISION, MOST_TRIES = 40, MOST_PLACE_BITS = 56, MOST_BETA = 64 };

typedef struct builder {
    dg_isochronous *sampler;
    unsigned blocks_bits; /* a wide law has about 2^blocks_bits blocks */
    dg_enclosure e;
    mpz_t y;
    mpfr_t ln2; /* an upper bound */
    mpfr_t at;
} builder;

/* --- the staircase -------------------------------------------------------------------------- */

/** Bounds of phi(|y - f|) - phi(|f|) at the first integer of a block on the right, in build->e. */
static void enclose_at(uint64_t block, builder *build)
{
    mpz_import(build->y, 1, -1, sizeof block, 0, 0, &block);
    mpz_mul_2exp(build->y, build->y, build->sampler->block_bits);
    mpz_mul(build->e.y_d, build->y, build->sampler->law->d);
    dg_exponent_lower(&build->e);
    dg_exponent_upper(&build->e);
}

/** Whether g <= 1/2 from the block on is certain. */
static bool core_may_end(uint64_t n_core, builder *build)
{
    enclose_at(n_core, build);
    return mpfr_greaterequal_p(build->e.lower, build->ln2) != 0;
}

/** Whether g(r0 + W)/g(r0) <= 1/2 is certain, r0 the tail's first integer, W its levels' width. */
static bool tail_may_halve(uint64_t n_tail, builder *build)
{
    const uint64_t n_core = build->sampler->n_core;
    enclose_at(n_core, build);
    mpfr_add(build->at, build->e.upper, build->ln2, MPFR_RNDU);
    enclose_at(n_core + n_tail, build);
    return mpfr_greaterequal_p(build->e.lower, build->at) != 0;
}

/** The least number, from a guess on in growing steps, that passes; 0 if none does. */
static uint64_t first_from(uint64_t guess, bool (*passes)(uint64_t, builder *), builder *build)
{
    uint64_t n = guess > 0 ? guess : 1;
    for (int i = 0; i < MOST_TRIES && n >> (build->blocks_bits + 1) == 0; i++) {
        if (passes(n, build)) {
            return n;
        }
        n += UINT64_C(1) << (i < 2 ? 0 : i - 1);
    }
    return 0;
}

/** build->e.upper = about the distance at which g = 1/n: a guess. */
static void reach(unsigned long n, builder *build)
{
    mpfr_log_ui(build->at, n, MPFR_RNDU);
    dg_enclose_level(&build->e, build->at);
}

/** ceil((r + f) / w), r = build->e.upper, a distance: a guess. 0 where rounding leaves nothing of r + f,
 *  in steep laws, or it is out of reach. */
static uint64_t blocks_to(builder *build)
{
    const dg_law *law = build->sampler->law;
    mpfr_set_z(build->at, law->n, MPFR_RNDU);
    mpfr_div_z(build->at, build->at, law->d, MPFR_RNDU);
    mpfr_add(build->at, build->at, build->e.upper, MPFR_RNDU);
    mpfr_div_2ui(build->at, build->at, build->sampler->block_bits, MPFR_RNDU);
    mpfr_ceil(build->at, build->at);
    if (mpfr_sgn(build->at) <= 0 ||
        mpfr_cmp_ui_2exp(build->at, 1, (mpfr_exp_t)build->blocks_bits + 1) >= 0) {
        return 0;
    }
    return mpfr_get_uj(build->at, MPFR_RNDU);
}

/** Choose blocks, core and tail: about 2^blocks_bits blocks where the law is so wide. */
static dg_status set_staircase(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    reach(4, build);
    if (!mpfr_regular_p(build->e.upper)) {
        return DG_ERR_PARAMETER;
    }
    const long reach_bits = (long)mpfr_get_exp(build->e.upper);
    const long spare_bits = reach_bits - (long)build->blocks_bits;
    sampler->block_bits = spare_bits > 0 ? (size_t)spare_bits : 0;
    const uint64_t to_quarter = blocks_to(build);
    reach(2, build);
    sampler->n_core = first_from(blocks_to(build), core_may_end, build);
    if (sampler->n_core == 0) {
        return DG_ERR_PARAMETER;
    }
    const uint64_t guess = to_quarter > sampler->n_core ? to_quarter - sampler->n_core : 1;
    sampler->n_tail = first_from(guess, tail_may_halve, build);
    if (sampler->n_tail == 0) {
        return DG_ERR_PARAMETER;
    }
    sampler->n_cells = sampler->n_core + sampler->n_tail;
    sampler->excess = (0 - sampler->n_cells) % sampler->n_cells;
    return DG_OK;
}

/* --- constants ------------------------------------------------------------------------------ */

/** Requires: the size of z is below 2^63. */
static int64_t to_int64(const mpz_t z)
{
    uint64_t size = 0;
    mpz_export(&size, NULL, -1, sizeof size, 0, 0, z);
    return mpz_sgn(z) < 0 ? -(int64_t)size : (int64_t)size;
}

/** out = floor or ceiling of num 2^shift / den. */
static int64_t scaled(const mpz_t num, const mpz_t den, long shift, bool up, builder *build)
{
    mpz_ptr above = build->y, below = build->e.integer;
    mpz_mul_2exp(above, num, shift > 0 ? (mp_bitcnt_t)shift : 0);
    mpz_mul_2exp(below, den, shift < 0 ? (mp_bitcnt_t)-shift : 0);
    if (up) {
        mpz_cdiv_q(above, above, below);
    } else {
        mpz_fdiv_q(above, above, below);
    }
    return to_int64(above); /* below 2^57 in size: num/den is at most 1 */
}

/** The units of distance, and what has to do with f. */
static void set_distances(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    const dg_law *law = sampler->law;
    uint64_t blocks = sampler->n_core + (DG_MOST_STEP + 1) * sampler->n_tail + 1;
    sampler->place_bits = (unsigned)__builtin_clzll(blocks) - 2; /* blocks 2^place_bits <= 2^62 */
    if (sampler->place_bits > MOST_PLACE_BITS) {
        sampler->place_bits = MOST_PLACE_BITS;
    }
    sampler->is_cut = sampler->block_bits > sampler->place_bits;
    const long shift = (long)sampler->place_bits - (long)sampler->block_bits;
    mpz_t right, left, twice;
    mpz_inits(right, left, twice, NULL);
    mpz_abs(twice, law->n);
    mpz_mul_2exp(twice, twice, 1);
    if (mpz_sgn(law->n) > 0) { /* right: |z - f| - f = z - 2 f; left: z + 1 + f - f */
        mpz_neg(right, twice);
        mpz_set(left, law->d);
    } else { /* right: z - f - |f| = z; left: z + 1 + f + f */
        mpz_sub(left, law->d, twice);
    }
    for (int up = 0; up < 2; up++) {
        sampler->offset[0][up] = scaled(right, law->d, shift, up, build);
        sampler->offset[1][up] = scaled(left, law->d, shift, up, build);
        *(up ? &sampler->twice_f.upper : &sampler->twice_f.lower) =
            (uint64_t)scaled(twice, law->d, shift, up, build);
    }
    mpz_clears(right, left, twice, NULL);
}

/** Bounds of log2(e) b/(2 a) or log2(e)/scale over units of distance, in units of exponents: a
 *  mantissa below 2^63 and a shift. */
static dg_status set_rate(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    const dg_law *law = sampler->law;
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN;
    const long units = (long)sampler->block_bits - (long)sampler->place_bits; /* 2^units integers */
    mpfr_ptr bound[] = {build->e.upper, build->e.lower}; /* the shift is the upper one's */
    for (int i = 0; i < 2; i++) {
        mpfr_rnd_t round = i == 0 ? MPFR_RNDU : MPFR_RNDD;
        mpfr_const_log2(build->at, i == 0 ? MPFR_RNDD : MPFR_RNDU);
        mpfr_ui_div(bound[i], 1, build->at, round);
        mpfr_mul_z(bound[i], bound[i], squared ? law->b : law->s, round);
        mpfr_div_z(bound[i], bound[i], squared ? law->a : law->t, round);
        mpfr_mul_2si(bound[i], bound[i], DG_EXPONENT_BITS + (squared ? 2 * units - 1 : units),
                     MPFR_RNDN);
        if (i == 0) {
            const long shift = 63 - (long)mpfr_get_exp(bound[i]);
            if (shift < (squared ? 64 : 0) || shift >= (squared ? 64 + 128 : 128)) {
                return DG_ERR_PARAMETER;
            }
            sampler->rate_shift = (unsigned)shift;
        }
        mpfr_mul_2ui(bound[i], bound[i], sampler->rate_shift, MPFR_RNDN);
    }
    sampler->rate.upper = mpfr_get_uj(bound[0], MPFR_RNDU);
    sampler->rate.lower = mpfr_get_uj(bound[1], MPFR_RNDD);
    return DG_OK;
}

/** log2 of the scale in units of distance. */
static dg_status set_log_scale(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    const dg_law *law = sampler->law;
    mpfr_set_z(build->at, law->t, MPFR_RNDN);
    mpfr_div_z(build->at, build->at, law->s, MPFR_RNDN);
    mpfr_mul_2si(build->at, build->at, (long)sampler->place_bits - (long)sampler->block_bits,
                 MPFR_RNDN);
    mpfr_log2(build->at, build->at, MPFR_RNDN);
    if (!mpfr_number_p(build->at) || mpfr_cmpabs_ui(build->at, 64) >= 0) {
        return DG_ERR_PARAMETER;
    }
    mpfr_mul_2ui(build->at, build->at, DG_LOG_BITS - 2, MPFR_RNDN); /* below 2^62 */
    const int64_t coarse = mpfr_get_sj(build->at, MPFR_RNDD);
    mpfr_set_sj(build->e.work, coarse, MPFR_RNDN);
    mpfr_sub(build->at, build->at, build->e.work, MPFR_RNDN);
    mpfr_mul_2ui(build->at, build->at, 2, MPFR_RNDN);
    sampler->log_scale = (dg_i128)coarse * 4 + mpfr_get_sj(build->at, MPFR_RNDN);
    return DG_OK;
}

/** What dg_isochronous_power needs: PROOF.md, lemma 8. */
static dg_status set_power(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    const dg_law *law = sampler->law;
    DG_TRY(set_log_scale(build));
    mpfr_set_z(build->at, law->beta_num, MPFR_RNDN);
    mpfr_div_z(build->at, build->at, law->beta_den, MPFR_RNDN);
    if (mpfr_cmp_ui(build->at, MOST_BETA) >= 0) {
        return DG_ERR_PARAMETER;
    }
    const unsigned whole_bits = (unsigned)mpfr_get_exp(build->at); /* beta >= 1 */
    sampler->log_error = (DG_LOG_ERROR + 1) * (int64_t)mpfr_get_uj(build->at, MPFR_RNDU) + 12;
    mpfr_mul_2ui(build->at, build->at, 62 - whole_bits, MPFR_RNDN);
    sampler->beta = mpfr_get_sj(build->at, MPFR_RNDN);
    sampler->beta_shift = 62 - whole_bits + DG_LOG_BITS - DG_EXPONENT_BITS;
    mpfr_const_log2(build->at, MPFR_RNDN);
    mpfr_log2(build->at, build->at, MPFR_RNDN);
    mpfr_mul_2ui(build->at, build->at, DG_EXPONENT_BITS, MPFR_RNDN);
    sampler->log_factor = -mpfr_get_sj(build->at, MPFR_RNDN);
    const dg_bounds f = {sampler->twice_f.lower / 2, (sampler->twice_f.upper + 1) / 2};
    sampler->at_centre = dg_isochronous_power(f, sampler);
    if (law->centred) {
        sampler->at_centre = (dg_bounds){0, 0};
    }
    return sampler->at_centre.upper >> 63 != 0 ? DG_ERR_PARAMETER : DG_OK;
}

/** c, as a machine integer if it is one, and as bytes. */
static dg_status set_centre(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    const dg_law *law = sampler->law;
    const size_t n_bytes = law->wide_bytes;
    sampler->c_is_narrow = mpz_sizeinbase(law->c, 2) <= 61;
    sampler->fits_int64 = sampler->block_bits <= DG_NARROW_BLOCK && sampler->c_is_narrow;
    sampler->c = sampler->c_is_narrow ? to_int64(law->c) : 0;
    sampler->centre_bytes = calloc(n_bytes, 1);
    if (sampler->centre_bytes == NULL) {
        return DG_ERR_NOMEM;
    }
    mpz_fdiv_r_2exp(build->y, law->c, 8 * n_bytes); /* c modulo 256^n_bytes */
    mpz_export(sampler->centre_bytes, NULL, -1, 1, 0, 0, build->y);
    return DG_OK;
}

static dg_status build_all(builder *build)
{
    dg_isochronous *sampler = build->sampler;
    DG_TRY(set_staircase(build));
    set_distances(build);
    sampler->low_bytes = (sampler->block_bits + 7) / 8;
    if (sampler->law->kind == DG_GENERALIZED_GAUSSIAN) {
        DG_TRY(set_power(build));
    } else {
        DG_TRY(set_rate(build));
    }
    return set_centre(build);
}

dg_status dg_isochronous_build(dg_isochronous **out, unsigned blocks_bits, const dg_law *law)
{
    DG_REQUIRES(law->kind >= DG_DISCRETE_LAPLACE);
    *out = NULL;
    dg_isochronous *sampler = calloc(1, sizeof *sampler);
    if (sampler == NULL) {
        return DG_ERR_NOMEM;
    }
    sampler->law = law;
    builder build = {.sampler = sampler, .blocks_bits = blocks_bits};
    mpz_init(build.y);
    mpfr_inits2(PRECISION, build.ln2, build.at, (mpfr_ptr)0);
    dg_enclosure_open_for_table(&build.e, law);
    mpfr_const_log2(build.ln2, MPFR_RNDU);
    dg_status status = build_all(&build);
    dg_enclosure_close(&build.e);
    mpfr_clears(build.ln2, build.at, (mpfr_ptr)0);
    mpz_clear(build.y);
    if (status != DG_OK) {
        dg_isochronous_release(sampler);
        return status;
    }
    *out = sampler;
    return DG_OK;
}

void dg_isochronous_release(dg_isochronous *sampler)
{
    if (sampler != NULL) {
        free(sampler->centre_bytes);
        free(sampler);
    }
}

#endif
