#include "cells/refine.h"

#include "base/wipe.h"
#include "cells/enclosure.h"

/** bound = 2^n_bits (2^level H g(y) - m), e->lower rounded down or e->upper rounded up. */
static void height_bound(mpz_t bound, bool up, size_t n_bits, const dg_question *q, dg_enclosure *e)
{
    mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
    mpfr_ptr value = up ? e->upper : e->lower;
    mpfr_mul_ui(value, value, q->height, round);
    mpfr_mul_2ui(value, value, q->level, MPFR_RNDN);
    mpfr_sub_ui(value, value, q->m, round);
    mpfr_mul_2ui(value, value, n_bits, MPFR_RNDN);
    mpfr_get_z(bound, value, round);
}

dg_status dg_refine(bool *accepted, mpz_t f, size_t n_bits, const mpz_t y, const dg_question *q,
                    const dg_law *law, dg_bits *bits)
{
    dg_status status = DG_OK;
    mpz_t lower, upper;
    mpz_inits(lower, upper, NULL);
    for (mpfr_prec_t precision = DG_FIRST_PRECISION;; precision *= 2) {
        dg_enclosure e;
        dg_enclosure_open(&e, precision);
        dg_enclose_weight(&e, y, law);
        height_bound(lower, false, n_bits, q, &e);
        height_bound(upper, true, n_bits, q, &e);
        dg_enclosure_close(&e);
        bool accept = mpz_cmp(f, lower) < 0; /* f + 1 <= lower */
        if (accept || mpz_cmp(f, upper) >= 0) {
            *accepted = accept;
            break;
        }
        mpz_sub(upper, upper, lower);
        if (mpz_cmp_ui(upper, 2) <= 0) { /* the bounds are as close as n_bits can tell */
            uint64_t more;
            status = dg_bits_word(&more, sizeof more, bits);
            if (status != DG_OK) {
                break;
            }
            mpz_import(lower, 1, -1, sizeof more, 0, 0, &more);
            mpz_mul_2exp(f, f, 64);
            mpz_add(f, f, lower);
            n_bits += 64;
        }
    }
    dg_wipe_mpz(lower);
    dg_wipe_mpz(upper);
    mpz_clears(lower, upper, NULL);
    return status;
}
