#include "bounds/refine.h"

#include "base/wipe.h"
#include "bounds/enclosure.h"

#if defined(DG_NARROW_BOUNDS) && DG_NARROW_BOUNDS
dg_refinements dg_refined;
#define COUNT(what, precision) (dg_refined.what[__builtin_ctzl((unsigned long)(precision))]++)
#else
#define COUNT(what, precision) ((void)0)
#endif

/** bound = 2^n_bits (2^level H g(y) [pieces/units] - m); e->lower is rounded down, or e->upper up. */
static void height_bound(mpz_t bound, bool up, size_t n_bits, const dg_question *q, dg_enclosure *e)
{
    mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
    mpfr_ptr value = up ? e->upper : e->lower;
    mpfr_mul_ui(value, value, q->height, round);
    if (q->units != 0) {
        mpfr_mul_ui(value, value, q->pieces, round);
        mpfr_div_ui(value, value, q->units, round);
    }
    /* a level is below 2^32, which any long holds: no run ever sees as many one bits */
    mpfr_mul_2ui(value, value, (unsigned long)q->level, MPFR_RNDN);
    mpfr_sub_ui(value, value, q->m, round);
    mpfr_mul_2ui(value, value, n_bits, MPFR_RNDN);
    mpfr_get_z(bound, value, round);
}

/** Open an enclosure whose integers have room, so that GMP does not move limbs and leave copies unwiped. */
static void open_with_room(dg_enclosure *e, mpfr_prec_t precision, const dg_law *law)
{
    dg_enclosure_open(e, precision);
    mpz_realloc2(e->integer, law->limb_bits);
    mpz_realloc2(e->y_d, law->limb_bits);
}

dg_status dg_refine(bool *accepted, mpz_t f, size_t n_bits, const mpz_t y, const dg_question *q,
                    const dg_law *law, dg_bits *bits)
{
    dg_status status = DG_OK;
    mpz_t lower, upper;
    mpz_init2(lower, law->limb_bits);
    mpz_init2(upper, law->limb_bits);
    mpfr_prec_t precision = DG_FIRST_PRECISION;
    for (;;) {
        dg_enclosure e;
        open_with_room(&e, precision, law);
        dg_enclose_weight(&e, y, law);
        dg_wipe_mpz(lower); /* MPFR gives back the limbs of an integer that it sets */
        dg_wipe_mpz(upper);
        height_bound(lower, false, n_bits, q, &e);
        height_bound(upper, true, n_bits, q, &e);
        dg_enclosure_close(&e);
        bool accept = mpz_cmp(f, lower) < 0; /* f + 1 <= lower */
        COUNT(reached, precision);
        if (accept || mpz_cmp(f, upper) >= 0) {
            COUNT(decided, precision);
            *accepted = accept;
            break;
        }
        mpz_sub(upper, upper, lower);
        if (mpz_cmp_ui(upper, 2) > 0) {
            precision *= 2;
            continue;
        }
        uint64_t more; /* the bounds are as close as n_bits can tell */
        COUNT(read_more, precision);
        status = dg_bits_word(&more, sizeof more, bits);
        if (status != DG_OK) {
            break;
        }
        mpz_import(lower, 1, -1, sizeof more, 0, 0, &more);
        mpz_mul_2exp(f, f, 64);
        mpz_add(f, f, lower);
        n_bits += 64;
    }
    dg_wipe_mpz(lower);
    dg_wipe_mpz(upper);
    mpz_clears(lower, upper, NULL);
    return status;
}
