/* Making and freeing laws: the only place where parameters from outside are checked in C. */
#include "base/memory.h"
#include "base/status.h"
#include "exact/words.h"
#include "law/law.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>

/** Bytes that a parameter may have: DG_MAX_PARAMETER_BITS and one more for the sign bit. */
enum { DG_MAX_PARAMETER_BYTES = DG_MAX_PARAMETER_BITS / 8 + 1 };

/** z = the integer given. z is initialised. */
static dg_status import_integer(mpz_t z, const dg_integer *integer)
{
    if (integer->n_bytes > DG_MAX_PARAMETER_BYTES) {
        return DG_ERR_TOO_LONG;
    }
    mpz_import(z, integer->n_bytes, -1, 1, 0, 0, integer->bytes);
    if (integer->n_bytes > 0 && integer->bytes[integer->n_bytes - 1] >= 128) {
        mpz_t wrap;
        mpz_init(wrap);
        mpz_setbit(wrap, 8 * integer->n_bytes);
        mpz_sub(z, z, wrap);
        mpz_clear(wrap);
    }
    return mpz_sizeinbase(z, 2) > DG_MAX_PARAMETER_BITS ? DG_ERR_TOO_LONG : DG_OK;
}

static bool in_lowest_terms(const mpz_t num, const mpz_t den)
{
    if (mpz_sgn(den) <= 0) {
        return false;
    }
    mpz_t common;
    mpz_init(common);
    mpz_gcd(common, num, den);
    bool lowest = mpz_cmp_ui(common, 1) == 0;
    mpz_clear(common);
    return lowest;
}

/** The rules of discretegauss.h, dg_law_kind. value: a, b, c, d, and beta's. */
static bool obeys_rules(dg_law_kind kind, mpz_t value[6])
{
    if (!in_lowest_terms(value[0], value[1]) || !in_lowest_terms(value[2], value[3]) ||
        !in_lowest_terms(value[4], value[5])) {
        return false;
    }
    if (kind < DG_DISCRETE_LAPLACE && mpz_sgn(value[2]) != 0) {
        return false;
    }
    switch (kind) {
    case DG_BERNOULLI:
        return mpz_sgn(value[0]) >= 0 && mpz_cmp(value[0], value[1]) <= 0;
    case DG_UNIFORM_BELOW:
        return mpz_sgn(value[0]) > 0 && mpz_cmp_ui(value[1], 1) == 0;
    case DG_BERNOULLI_EXP:
        return mpz_sgn(value[0]) >= 0;
    case DG_GEOMETRIC_EXP:
    case DG_DISCRETE_LAPLACE:
    case DG_DISCRETE_GAUSSIAN:
        return mpz_sgn(value[0]) > 0;
    case DG_GENERALIZED_GAUSSIAN:
        return mpz_sgn(value[0]) > 0 && mpz_cmp(value[4], value[5]) >= 0;
    }
    return false;
}

/** Bytes that GMP takes, at most, to make a law of parameters so long: some 10 times what they take
 * themselves (measured). */
static size_t room_for(const dg_integer *const given[], int n_given)
{
    size_t n_bytes = 0;
    for (int i = 0; i < n_given; i++) {
        bool too_long = given[i]->n_bytes > DG_MAX_PARAMETER_BYTES;
        n_bytes += too_long ? (size_t)DG_MAX_PARAMETER_BYTES : given[i]->n_bytes;
    }
    return DG_ROOM + 32 * n_bytes;
}

dg_status dg_law_new(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic,
                     const dg_parameters *parameters)
{
    static const uint8_t one[] = {1};
    const dg_integer no_beta = {one, 1};
    bool has_beta = kind == DG_GENERALIZED_GAUSSIAN;
    const dg_integer *given[] = {&parameters->a,
                                 &parameters->b,
                                 &parameters->c,
                                 &parameters->d,
                                 has_beta ? &parameters->beta_num : &no_beta,
                                 has_beta ? &parameters->beta_den : &no_beta};
    enum { N_GIVEN = sizeof given / sizeof *given };
    mpz_t value[N_GIVEN];
    dg_status status = DG_OK;
    *law = NULL;
    DG_TRY(dg_memory_at_hand(room_for(given, N_GIVEN)));
    for (int i = 0; i < N_GIVEN; i++) {
        mpz_init(value[i]);
    }
    for (int i = 0; i < N_GIVEN; i++) {
        status = import_integer(value[i], given[i]);
        if (status != DG_OK) {
            goto done;
        }
    }
    if (!obeys_rules(kind, value) ||
        (arithmetic != DG_ARITHMETIC_AUTO && arithmetic != DG_ARITHMETIC_GMP)) {
        status = DG_ERR_PARAMETER;
        goto done;
    }
    *law = malloc(sizeof **law);
    if (*law == NULL) {
        status = DG_ERR_NOMEM;
        goto done;
    }
    dg_law_prepare(*law, kind, value[0], value[1], value[2], value[3], value[4], value[5]);
#if DG_HAVE_WORDS
    (*law)->uses_words = arithmetic == DG_ARITHMETIC_AUTO && dg_words_prepare(&(*law)->words, *law);
#endif
done:
    for (int i = 0; i < N_GIVEN; i++) {
        mpz_clear(value[i]);
    }
    return status;
}

void dg_law_free(dg_law *law)
{
    dg_law_release(law);
}

int dg_law_uses_words(const dg_law *law)
{
    return law->uses_words;
}

size_t dg_law_wide_bytes(const dg_law *law)
{
    return law->wide_bytes;
}

const char *dg_gmp_version(void)
{
    return gmp_version;
}

const char *dg_mpfr_version(void)
{
    return mpfr_get_version();
}

int dg_mpfr_is_thread_local(void)
{
    return mpfr_buildopt_tls_p() != 0;
}
