#include "isochronous/staircase.h"

enum { MOST_TRIES = 40 };

typedef struct builder {
    dg_staircase *staircase;
    dg_enclosure *e;
    mpz_t y;
    mpfr_t ln2; /* an upper bound */
    mpfr_t at;
} builder;

/** Set build->e to bounds of phi(|y - f|) - phi(|f|) at the first integer of a block on the right. */
static void enclose_at(uint64_t block, builder *build)
{
    mpz_import(build->y, 1, -1, sizeof block, 0, 0, &block);
    mpz_mul_2exp(build->y, build->y, build->staircase->block_bits);
    mpz_mul(build->e->y_d, build->y, build->e->law->d);
    dg_exponent_lower(build->e);
    dg_exponent_upper(build->e);
}

/** Return whether g <= 1/2 is certain from block n_core on. */
static bool core_may_end(uint64_t n_core, builder *build)
{
    enclose_at(n_core, build);
    return mpfr_greaterequal_p(build->e->lower, build->ln2) != 0;
}

/** Return whether g(r0 + W)/g(r0) <= 1/2 is certain for the tail's first integer r0 and width W of a level. */
static bool tail_may_halve(uint64_t n_tail, builder *build)
{
    const uint64_t n_core = build->staircase->n_core;
    enclose_at(n_core, build);
    mpfr_add(build->at, build->e->upper, build->ln2, MPFR_RNDU);
    enclose_at(n_core + n_tail, build);
    return mpfr_greaterequal_p(build->e->lower, build->at) != 0;
}

/** Return the first number that passes, from a guess on in growing steps, or 0 if none does. */
static uint64_t first_from(uint64_t guess, bool (*passes)(uint64_t, builder *), builder *build)
{
    uint64_t n = guess > 0 ? guess : 1;
    for (int i = 0; i < MOST_TRIES && n >> (DG_STAIRCASE_BITS + 1) == 0; i++) {
        if (passes(n, build)) {
            return n;
        }
        n += UINT64_C(1) << (i < 2 ? 0 : i - 1);
    }
    return 0;
}

/** Guess the distance at which g = 1/n, into build->e->upper. */
static void reach(unsigned long n, builder *build)
{
    mpfr_log_ui(build->at, n, MPFR_RNDU);
    dg_enclose_level(build->e, build->at);
}

/** Guess ceil((r + f) / w) for the distance r = build->e->upper. Returns 0 if that is out of reach. */
static uint64_t blocks_to(builder *build)
{
    const dg_law *law = build->e->law;
    mpfr_set_z(build->at, law->n, MPFR_RNDU);
    mpfr_div_z(build->at, build->at, law->d, MPFR_RNDU);
    mpfr_add(build->at, build->at, build->e->upper, MPFR_RNDU);
    mpfr_div_2ui(build->at, build->at, build->staircase->block_bits, MPFR_RNDU);
    mpfr_ceil(build->at, build->at);
    if (mpfr_sgn(build->at) <= 0 || mpfr_cmp_ui(build->at, 2 << DG_STAIRCASE_BITS) >= 0) {
        return 0;
    }
    return mpfr_get_uj(build->at, MPFR_RNDU);
}

static dg_status choose(builder *build)
{
    dg_staircase *staircase = build->staircase;
    reach(4, build);
    if (!mpfr_regular_p(build->e->upper)) {
        return DG_ERR_METHOD;
    }
    const long spare_bits = (long)mpfr_get_exp(build->e->upper) - DG_STAIRCASE_BITS;
    staircase->block_bits = spare_bits > 0 ? (size_t)spare_bits : 0;
    const uint64_t to_quarter = blocks_to(build);
    reach(2, build);
    staircase->n_core = first_from(blocks_to(build), core_may_end, build);
    if (staircase->n_core == 0) {
        return DG_ERR_METHOD;
    }
    const uint64_t guess = to_quarter > staircase->n_core ? to_quarter - staircase->n_core : 1;
    staircase->n_tail = first_from(guess, tail_may_halve, build);
    return staircase->n_tail == 0 ? DG_ERR_METHOD : DG_OK;
}

dg_status dg_staircase_choose(dg_staircase *out, dg_enclosure *e)
{
    builder build = {.staircase = out, .e = e};
    mpz_init(build.y);
    mpfr_inits2(DG_WORDS_PRECISION, build.ln2, build.at, (mpfr_ptr)0);
    mpfr_const_log2(build.ln2, MPFR_RNDU);
    const dg_status status = choose(&build);
    mpfr_clears(build.ln2, build.at, (mpfr_ptr)0);
    mpz_clear(build.y);
    return status;
}
