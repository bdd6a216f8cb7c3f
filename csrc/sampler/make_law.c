#include "sampler/make_law.h"

#include "base/memory.h"
#include "exact/words.h"
#include "law/rational.h"

#include <stdlib.h>

/** Check the rules of dg_law_kind in discretegauss.h. value: a, b, c, d, and beta's numerator and denominator. */
static bool obeys_rules(dg_law_kind kind, mpz_t value[6])
{
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

dg_status dg_law_make(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic, mpz_t value[6])
{
    *law = NULL;
    if (!obeys_rules(kind, value) ||
        (arithmetic != DG_ARITHMETIC_AUTO && arithmetic != DG_ARITHMETIC_GMP)) {
        return DG_ERR_PARAMETER;
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
    mpz_t value[6];
    size_t n_bytes = 0;
    dg_status status = DG_OK;
    *law = NULL;
    for (size_t i = 0; i < 3; i++) {
        DG_TRY(dg_rational_length(&n_bytes, text[i]));
    }
    /* making a law takes some 10 times the memory of its parameters (measured) */
    DG_TRY(dg_memory_available(DG_ROOM + 32 * n_bytes));
    for (size_t i = 0; i < 6; i++) {
        mpz_init(value[i]);
    }
    for (size_t i = 0; i < 3 && status == DG_OK; i++) {
        status = dg_rational_read(value[2 * i], value[2 * i + 1], text[i]);
    }
    if (status == DG_OK) {
        status = dg_law_make(law, kind, arithmetic, value);
    }
    for (size_t i = 0; i < 6; i++) {
        mpz_clear(value[i]);
    }
    return status;
}
