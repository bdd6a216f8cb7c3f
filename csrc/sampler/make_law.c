#include "sampler/make_law.h"

#include "base/memory.h"
#include "exact/words.h"
#include "law/rational.h"

#include <stdlib.h>

dg_status dg_law_refused(dg_law_kind kind)
{
    switch (kind) {
    case DG_BERNOULLI:
        return DG_ERR_PROBABILITY;
    case DG_UNIFORM_BELOW:
        return DG_ERR_N_VALUES;
    case DG_BERNOULLI_EXP:
        return DG_ERR_NEGATIVE;
    case DG_GEOMETRIC_EXP:
    case DG_DISCRETE_LAPLACE:
    case DG_DISCRETE_GAUSSIAN:
    case DG_GENERALIZED_GAUSSIAN:
        return DG_ERR_NOT_POSITIVE;
    }
    return DG_ERR_KIND;
}

/** Return whether a/b obeys the rule of its kind. */
static bool parameter_obeys(dg_law_kind kind, const mpz_t a, const mpz_t b)
{
    switch (kind) {
    case DG_BERNOULLI:
        return mpz_sgn(a) >= 0 && mpz_cmp(a, b) <= 0;
    case DG_UNIFORM_BELOW:
        return mpz_sgn(a) > 0 && mpz_cmp_ui(b, 1) == 0;
    case DG_BERNOULLI_EXP:
        return mpz_sgn(a) >= 0;
    default:
        return mpz_sgn(a) > 0;
    }
}

/** Check the rules of dg_law_kind in discretegauss.h. value: a, b, c, d, and beta's numerator and denominator. */
static dg_status check_rules(dg_law_kind kind, mpz_t value[6])
{
    if (!parameter_obeys(kind, value[0], value[1])) {
        return dg_law_refused(kind);
    }
    if (kind < DG_DISCRETE_LAPLACE && mpz_sgn(value[2]) != 0) {
        return DG_ERR_NO_CENTRE;
    }
    const bool has_beta = kind == DG_GENERALIZED_GAUSSIAN;
    return has_beta && mpz_cmp(value[4], value[5]) < 0 ? DG_ERR_BETA : DG_OK;
}

dg_status dg_law_make(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic, mpz_t value[6])
{
    *law = NULL;
    DG_TRY(check_rules(kind, value));
    if (arithmetic != DG_ARITHMETIC_AUTO && arithmetic != DG_ARITHMETIC_GMP) {
        return DG_ERR_METHOD;
    }
    *law = malloc(sizeof **law);
    if (*law == NULL) {
        return DG_ERR_NOMEM;
    }
    dg_law_prepare(*law, kind, value[0], value[1], value[2], value[3], value[4], value[5]);
#if DG_HAVE_WORDS
    (*law)->uses_words = arithmetic == DG_ARITHMETIC_AUTO && dg_words_prepare(&(*law)->words, *law);
#endif
    return DG_OK;
}

dg_status dg_law_new(dg_law **law, dg_law_kind kind, const char *parameter, const char *mu,
                     const char *beta, dg_arithmetic arithmetic)
{
    const char *const text[3] = {parameter, mu == NULL ? "0" : mu,
                                 beta == NULL || kind != DG_GENERALIZED_GAUSSIAN ? "1" : beta};
    const dg_refused refused[3] = {{dg_law_refused(kind), DG_ERR_LONG_PARAMETER},
                                   {DG_ERR_MU, DG_ERR_LONG_MU},
                                   {DG_ERR_BETA, DG_ERR_LONG_BETA}};
    mpz_t value[6];
    size_t n_bytes = 0;
    dg_status status = dg_law_refused(kind) == DG_ERR_KIND ? DG_ERR_KIND : DG_OK;
    *law = NULL;
    DG_TRY(status);
    for (size_t i = 0; i < 3; i++) {
        DG_TRY(dg_rational_length(&n_bytes, text[i], &refused[i]));
    }
    /* making a law takes some 10 times the memory of its parameters (measured) */
    DG_TRY(dg_memory_available(DG_ROOM + 32 * n_bytes));
    for (size_t i = 0; i < 6; i++) {
        mpz_init(value[i]);
    }
    for (size_t i = 0; i < 3 && status == DG_OK; i++) {
        status = dg_rational_read(value[2 * i], value[2 * i + 1], text[i], &refused[i]);
    }
    if (status == DG_OK) {
        status = dg_law_make(law, kind, arithmetic, value);
    }
    for (size_t i = 0; i < 6; i++) {
        mpz_clear(value[i]);
    }
    return status;
}
