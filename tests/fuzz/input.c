#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require_(bool holds, const char *condition, const char *file, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
        abort();
    }
}

uint8_t take_byte(input *from)
{
    if (from->n == 0) {
        return 0;
    }
    from->n--;
    return *from->bytes++;
}

uint64_t take_word(size_t n_bytes, input *from)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        word |= (uint64_t)take_byte(from) << (8 * i);
    }
    return word;
}

void take_integer(mpz_t z, unsigned most_shift, input *from)
{
    uint8_t shape = take_byte(from); /* bytes of the mantissa, and the sign */
    unsigned shift = take_byte(from) % most_shift;
    uint64_t mantissa = take_word(shape % 9, from);
    mpz_import(z, 1, -1, sizeof mantissa, 0, 0, &mantissa);
    mpz_mul_2exp(z, z, shift);
    int8_t offset = (int8_t)take_byte(from);
    if (offset < 0) {
        mpz_sub_ui(z, z, (unsigned long)-offset);
    } else {
        mpz_add_ui(z, z, (unsigned long)offset);
    }
    if (shape >= 128) {
        mpz_neg(z, z);
    }
}

/** q = an integer over a positive integer. */
static void take_rational(mpq_t q, unsigned most_shift, input *from)
{
    mpq_init(q);
    take_integer(mpq_numref(q), most_shift, from);
    take_integer(mpq_denref(q), most_shift, from);
    mpz_abs(mpq_denref(q), mpq_denref(q));
    if (mpz_sgn(mpq_denref(q)) == 0) {
        mpz_set_ui(mpq_denref(q), 1);
    }
    mpq_canonicalize(q);
}

void take_numbers(numbers *out, dg_law_kind kind, unsigned most_shift, input *from)
{
    out->kind = kind;
    take_rational(out->first, most_shift, from);
    mpq_abs(out->first, out->first);
    if (mpq_sgn(out->first) == 0 && kind != DG_BERNOULLI && kind != DG_BERNOULLI_EXP) {
        mpq_set_ui(out->first, 1, 1);
    }
    if (kind == DG_BERNOULLI && mpq_cmp_ui(out->first, 1, 1) > 0) {
        mpq_inv(out->first, out->first);
    }
    if (kind == DG_UNIFORM_BELOW) {
        mpz_set_ui(mpq_denref(out->first), 1);
    }
    mpq_init(out->mu);
    mpq_init(out->beta);
    mpq_set_ui(out->beta, 1, 1);
    if (kind >= DG_DISCRETE_LAPLACE) {
        mpq_clear(out->mu);
        take_rational(out->mu, most_shift, from);
    }
    if (kind == DG_GENERALIZED_GAUSSIAN) {
        mpq_clear(out->beta);
        take_rational(out->beta, most_shift, from);
        mpq_abs(out->beta, out->beta);
        if (mpq_cmp_ui(out->beta, 1, 1) < 0) {
            mpq_t one;
            mpq_init(one);
            mpq_set_ui(one, 1, 1);
            mpq_add(out->beta, out->beta, one);
            mpq_clear(one);
        }
    }
}

void numbers_clear(numbers *of)
{
    mpq_clears(of->first, of->mu, of->beta, NULL);
}

char *text_of(const mpq_t number)
{
    return mpq_get_str(NULL, 10, number);
}

dg_options default_options(void)
{
    return (dg_options){DG_ARITHMETIC_AUTO, DG_ISA_AUTO, 16, -1};
}

dg_sampler *sampler_of(const numbers *of, dg_method method, const dg_options *options)
{
    dg_sampler *sampler;
    char *parameter = text_of(of->first), *mu = text_of(of->mu), *beta = text_of(of->beta);
    const dg_status status =
        dg_sampler_new_with(&sampler, of->kind, parameter, mu, beta, method, options);
    REQUIRE(status == DG_OK || status == DG_ERR_METHOD || status == DG_ERR_STEEP_BETA);
    REQUIRE((sampler != NULL) == (status == DG_OK));
    free(parameter);
    free(mu);
    free(beta);
    return sampler;
}

dg_law *law_of(const numbers *of)
{
    dg_law *law;
    char *parameter = text_of(of->first), *mu = text_of(of->mu), *beta = text_of(of->beta);
    REQUIRE(dg_law_new(&law, of->kind, parameter, mu, beta, DG_ARITHMETIC_AUTO) == DG_OK);
    free(parameter);
    free(mu);
    free(beta);
    return law;
}

tape take_tape(size_t at_least, input *from)
{
    size_t n = from->n > at_least ? from->n : at_least;
    uint8_t *bytes = exactly(n);
    uint64_t state = from->n;
    for (size_t i = 0; i < n; i++) {
        if (i < from->n) {
            bytes[i] = from->bytes[i];
            state = (state ^ bytes[i]) * UINT64_C(0x100000001B3);
        } else {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            bytes[i] = (uint8_t)(state >> 56);
        }
    }
    from->n = 0;
    return (tape){bytes, n, 0};
}

void tape_free(tape *of)
{
    free(of->bytes);
}

static int read_tape(void *context, uint8_t *out, size_t n)
{
    tape *from = context;
    if (n > from->n - from->used) {
        return 1;
    }
    memcpy(out, from->bytes + from->used, n);
    from->used += n;
    return 0;
}

dg_source tape_source(tape *from)
{
    return (dg_source){DG_SOURCE_CALLER, read_tape, from};
}

void *exactly(size_t n)
{
    void *memory = malloc(n > 0 ? n : 1);
    if (memory == NULL) {
        exit(2);
    }
    return memory;
}

bool all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}
