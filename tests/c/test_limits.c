/* Values that fit and values that do not: output types, wide integers, parameters, tables. */
#include "cells/decide.h"
#include "sampler/prepare.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static const dg_method METHODS[] = {DG_REFERENCE, DG_CELLS, DG_ISOCHRONOUS};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };

static dg_sampler *default_sampler(dg_law_kind kind, const char *parameter, const char *mu,
                                   dg_method method)
{
    return sampler_of(kind, parameter, mu, NULL, method, DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
}

/** A fill from the same tape holds the draw of an int64 fill if it fits, and reports DG_ERR_RANGE if it does not. It
 *  writes nothing behind it. */
static void test_dtypes(const dg_sampler *sampler, const uint8_t *bytes, size_t n_bytes)
{
    static const struct {
        dg_dtype dtype;
        size_t size;
        int64_t low, high;
    } types[] = {{DG_INT8, 1, INT8_MIN, INT8_MAX},    {DG_INT16, 2, INT16_MIN, INT16_MAX},
                 {DG_INT32, 4, INT32_MIN, INT32_MAX}, {DG_INT64, 8, INT64_MIN, INT64_MAX},
                 {DG_UINT8, 1, 0, UINT8_MAX},         {DG_UINT16, 2, 0, UINT16_MAX},
                 {DG_UINT32, 4, 0, UINT32_MAX},       {DG_UINT64, 8, 0, INT64_MAX}};
    const size_t least = dg_sampler_wide_bytes(sampler);
    tape from = {bytes, n_bytes, 0};
    dg_source source = tape_source(&from);
    int64_t value = 0;
    if (dg_sampler_fill(&value, 1, DG_INT64, sampler, NULL, &source) != DG_OK) {
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint8_t out[16];
        memset(out, 0xAA, sizeof out);
        from.used = 0;
        dg_status status = dg_sampler_fill(out, 1, types[i].dtype, sampler, NULL, &source);
        bool fits = value >= types[i].low && value <= types[i].high;
        CHECK(status == (fits ? DG_OK : DG_ERR_RANGE), "type %zu, status %d", i, (int)status);
        uint64_t stored = 0;
        for (size_t k = 0; k < types[i].size; k++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            stored |= (uint64_t)out[k] << (8 * k);
#else
            stored = (stored << 8) | out[k];
#endif
        }
        uint64_t mask = UINT64_MAX >> (64 - 8 * types[i].size);
        CHECK(!fits || stored == ((uint64_t)value & mask), "type %zu", i);
        CHECK(out[types[i].size] == 0xAA, "type %zu: written past the end", i);
    }
    CHECK(dg_sampler_fill_wide(NULL, 1, 0, sampler, NULL, &source) == DG_ERR_N_BYTES, "no bytes");
    for (size_t width = least - 1; width <= least + 3; width++) {
        uint8_t out[64];
        memset(out, 0xAA, sizeof out);
        from.used = 0;
        dg_status status = dg_sampler_fill_wide(out, 1, width, sampler, NULL, &source);
        CHECK(status == (width < least ? DG_ERR_N_BYTES : DG_OK), "width %zu, status %d", width,
              (int)status);
        for (size_t k = 0; k < width; k++) {
            uint8_t byte = (uint8_t)(k < 8 ? (uint64_t)value >> (8 * k) : value < 0 ? 255u : 0u);
            CHECK(width < least || out[k] == byte, "width %zu, byte %zu", width, k);
        }
        CHECK(out[width] == 0xAA, "width %zu: written past the end", width);
    }
}

static void test_outputs(void)
{
    static const char *const centres[] = {"0",          "100",        "-100",       "127",
                                          "-128",       "255",        "32767",      "70000",
                                          "2147483647", "4294967295", "-2147483648"};
    uint64_t state = 7;
    for (size_t i = 0; i < N_METHODS + 1; i++) { /* the last one: the first method, by GMP */
        for (size_t j = 0; j < sizeof centres / sizeof *centres; j++) {
            dg_sampler *sampler =
                sampler_of(DG_DISCRETE_LAPLACE, "2", centres[j], NULL, METHODS[i % N_METHODS],
                           i < N_METHODS ? DG_ARITHMETIC_AUTO : DG_ARITHMETIC_GMP, DG_ISA_AUTO);
            for (int k = 0; sampler != NULL && k < 100; k++) {
                uint8_t bytes[256];
                for (size_t m = 0; m < sizeof bytes; m++) {
                    bytes[m] = (uint8_t)next_word(&state);
                }
                test_dtypes(sampler, bytes, sizeof bytes);
            }
            dg_sampler_free(sampler);
        }
    }
}

static dg_status new_sampler(dg_law_kind kind, const char *parameter, const char *mu,
                             const char *beta)
{
    dg_sampler *sampler = (dg_sampler *)&parameter; /* must be overwritten */
    const dg_status status = dg_sampler_new(&sampler, kind, parameter, mu, beta, DG_AUTO);
    CHECK((sampler != NULL) == (status == DG_OK), "status %d", (int)status);
    dg_sampler_free(sampler);
    return status;
}

/** Every kind takes a parameter of 1, and integers in other terms. test_statuses.c has what breaks a rule. */
static void test_parameters(void)
{
    for (int kind = DG_BERNOULLI; kind <= DG_GENERALIZED_GAUSSIAN; kind++) {
        const dg_law_kind k = (dg_law_kind)kind;
        CHECK(new_sampler(k, "1", NULL, NULL) == DG_OK, "kind %d", kind);
        CHECK(new_sampler(k, "2/2", "0/2", "3/3") == DG_OK, "kind %d: other terms", kind);
    }
    CHECK(new_sampler(DG_UNIFORM_BELOW, "6/2", NULL, NULL) == DG_OK, "n is an integer");
    CHECK(new_sampler(DG_BERNOULLI, "0", NULL, NULL) == DG_OK, "p = 0");
    CHECK(new_sampler(DG_BERNOULLI_EXP, "0", NULL, NULL) == DG_OK, "gamma = 0");
}

/** The longest parameter has a sampler that draws; one bit more is too long. */
static void test_too_long(void)
{
    static char text[DG_MAX_PARAMETER_BITS];
    (void)write_number(text, 1, DG_MAX_PARAMETER_BITS - 1);
    dg_sampler *sampler = default_sampler(DG_DISCRETE_GAUSSIAN, text, NULL, DG_AUTO);
    const size_t width = dg_sampler_wide_bytes(sampler);
    uint8_t *out = malloc(width);
    CHECK(out != NULL && dg_sampler_fill_wide(out, 1, width, sampler, NULL, NULL) == DG_OK,
          "longest: a draw");
    free(out);
    dg_sampler_free(sampler);
    (void)write_number(text, 1, DG_MAX_PARAMETER_BITS);
    CHECK(new_sampler(DG_DISCRETE_GAUSSIAN, text, NULL, NULL) == DG_ERR_LONG_PARAMETER,
          "parameter");
    CHECK(new_sampler(DG_DISCRETE_GAUSSIAN, "1", text, NULL) == DG_ERR_LONG_MU, "mu");
}

/** Fill three items of a dtype. */
static dg_status fill_by(const dg_sampler *sampler, dg_dtype dtype)
{
    int64_t out[3];
    return dg_sampler_fill(out, 3, dtype, sampler, NULL, NULL);
}

/** Fill three items of n_bytes, and check that nothing is written behind them. */
static dg_status fill_wide_by(const dg_sampler *sampler, size_t n_bytes)
{
    uint8_t out[3 * 64];
    memset(out, 0xAA, sizeof out);
    dg_status status = dg_sampler_fill_wide(out, 3, n_bytes, sampler, NULL, NULL);
    for (size_t i = 3 * n_bytes; i < sizeof out; i++) {
        CHECK(out[i] == 0xAA, "byte %zu behind items of %zu", i, n_bytes);
    }
    return status;
}

/** Test a law far too wide for any dtype, one with a centre that no dtype holds, and one that is neither; and dtypes
 *  that do not exist. */
static void test_laws_that_fit_nothing(void)
{
    for (size_t i = 0; i < 3 * N_METHODS; i++) {
        const bool is_wide = i % 3 < 2;
        dg_sampler *sampler =
            default_sampler(DG_DISCRETE_GAUSSIAN, i % 3 == 0 ? power_text(400) : "1",
                            i % 3 == 1 ? power_text(128) : "0", METHODS[i / 3]);
        CHECK((sampler == NULL) ==
                  (METHODS[i / 3] == DG_ISOCHRONOUS && (is_wide || !DG_HAVE_WORDS)),
              "law %zu", i);
        if (sampler == NULL) {
            continue;
        }
        CHECK(dg_sampler_fits_int64(sampler) == !is_wide, "law %zu", i);
        CHECK(fill_by(sampler, DG_INT64) == (is_wide ? DG_ERR_RANGE : DG_OK), "law %zu", i);
        CHECK(fill_wide_by(sampler, 3) == DG_ERR_N_BYTES, "law %zu", i);
        CHECK(fill_wide_by(sampler, 64) == DG_OK, "law %zu", i);
        CHECK(fill_by(sampler, (dg_dtype)8) == DG_ERR_DTYPE, "no such dtype");
        CHECK(fill_by(sampler, (dg_dtype)99) == DG_ERR_DTYPE, "no such dtype");
        dg_sampler_free(sampler);
    }
}

/** Around 2^64 - 1, larger integers are noticed, and none is wrapped. */
static void test_the_end_of_64_bits(void)
{
    static uint64_t out[300];
    for (size_t i = 0; i < 2; i++) {
        dg_sampler *sampler =
            default_sampler(DG_DISCRETE_GAUSSIAN, "100", "18446744073709551615", METHODS[i]);
        CHECK(dg_sampler_fill(out, 300, DG_UINT64, sampler, NULL, NULL) == DG_ERR_RANGE,
              "half are beyond it");
        dg_sampler_free(sampler);
    }
}

/** Draws of some 64 bits, one at a time: a dtype holds the draw, or the call says that it does not. */
static void test_draws_of_64_bits(void)
{
    enum { WIDTH = 32 };
    uint64_t state = 3;
    for (int i = 0; i < 400; i++) {
        dg_sampler *sampler =
            default_sampler(DG_DISCRETE_GAUSSIAN, power_text(128), NULL, METHODS[i % 2]);
        uint8_t bytes[4096], wide[WIDTH], out[8], above[WIDTH - 8];
        for (size_t k = 0; k < sizeof bytes; k++) {
            bytes[k] = (uint8_t)next_word(&state);
        }
        tape from = {bytes, sizeof bytes, 0};
        const dg_source source = tape_source(&from);
        const bool is_signed = i % 4 < 2;
        const dg_dtype dtype = is_signed ? DG_INT64 : DG_UINT64;
        dg_status status = dg_sampler_fill_wide(wide, 1, WIDTH, sampler, NULL, &source);
        CHECK(status == DG_OK, "draw %d: status %d", i, (int)status);
        from.used = 0;
        status = dg_sampler_fill(out, 1, dtype, sampler, NULL, &source);
        dg_sampler_free(sampler);
        memset(above, is_signed && wide[7] >= 128 ? 0xFF : 0, sizeof above);
        if (memcmp(wide + 8, above, sizeof above) != 0) {
            CHECK(status == DG_ERR_RANGE, "draw %d: status %d", i, (int)status);
            continue;
        }
        uint64_t value = 0;
        for (size_t k = 8; k > 0; k--) {
            value = value << 8 | wide[k - 1];
        }
        CHECK(status == DG_OK && memcmp(out, &value, 8) == 0, "draw %d: status %d", i, (int)status);
    }
}

/** A comparison that 60 words of zeros leave open, with a law so narrow that its tail is below them. Each word takes
 *  one step at the current precision; the precision is not doubled for it. */
static void test_many_words_of_zeros(void)
{
    static uint8_t bytes[1 + 8 * 70];
    static dg_bits bits;
    const dg_options options = {DG_ARITHMETIC_AUTO, DG_ISA_AUTO, 8, 0};
    dg_sampler *sampler;
    CHECK(dg_sampler_new_with(&sampler, DG_DISCRETE_LAPLACE, "1/1000000", NULL, NULL, DG_CELLS,
                              &options) == DG_OK,
          "table");
    const dg_table *table = sampler->table;
    memset(bytes + 1 + 8 * 60, 0xFF, 8);
    tape from = {bytes, sizeof bytes, 0};
    dg_source source = tape_source(&from);
    dg_place place = {0, 0};
    bool accepted = true;
    dg_bits_open(&bits, &source);
    dg_status status = dg_decide_in_doubt(&place, &accepted, table->n_full + table->n_partial, 0,
                                          bytes, table, &bits);
    dg_bits_close(&bits);
    CHECK(status == DG_OK && !accepted, "status %d", (int)status);
    CHECK(from.used == 1 + 8 * 61, "%zu bytes", from.used); /* a level, and 61 words */
    dg_sampler_free(sampler);
}

/** Impossible options, and tables of impossible sizes, are refused, and no sampler is made. */
static void test_options(void)
{
    static const struct {
        const char *sigma2;
        uint32_t index_bits;
        int32_t block_bits;
        int isa;
    } cases[] = {{"100", 3, -1, DG_ISA_AUTO},
                 {"100", 17, -1, DG_ISA_AUTO},
                 {"100", 16, DG_MAX_PARAMETER_BITS + 1, DG_ISA_AUTO},
                 {"100", 16, -1, 77},
                 {"100", 4, 0, DG_ISA_AUTO},  /* the tails would need half the height */
                 {"100", 4, 20, DG_ISA_AUTO}, /* no block is under the law, so blocks never end */
                 {"1000000000000", 16, 0, DG_ISA_AUTO}}; /* more blocks than a table holds */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dg_options options = {DG_ARITHMETIC_AUTO, (dg_isa)cases[i].isa, cases[i].index_bits,
                                    cases[i].block_bits};
        dg_sampler *sampler = (dg_sampler *)&sampler; /* must be overwritten */
        const dg_status status = dg_sampler_new_with(
            &sampler, DG_DISCRETE_GAUSSIAN, cases[i].sigma2, NULL, NULL, DG_CELLS, &options);
        CHECK((status == DG_ERR_METHOD || status == DG_ERR_STEEP_BETA) && sampler == NULL,
              "case %zu: status %d", i, (int)status);
    }
    dg_sampler_free(NULL);
}

int main(void)
{
    test_outputs();
    test_laws_that_fit_nothing();
    test_the_end_of_64_bits();
    test_draws_of_64_bits();
    test_many_words_of_zeros();
    test_options();
    test_parameters();
    test_too_long();
    return report("limits");
}
