/* What fits and what does not: output types, wide integers, parameters. */
#include "support.h"

#include "cells/decide.h"

#include <stdlib.h>
#include <string.h>

/** A fill either holds the draws of the int64 fill of the same tape, or reports DG_ERR_RANGE and is
 *  zero, according to whether those fit. */
static void test_dtypes(const dg_law *law, const uint8_t *bytes, size_t n_bytes)
{
    static const struct {
        dg_dtype dtype;
        size_t size;
        int64_t low, high;
    } types[] = {{DG_INT8, 1, INT8_MIN, INT8_MAX},    {DG_INT16, 2, INT16_MIN, INT16_MAX},
                 {DG_INT32, 4, INT32_MIN, INT32_MAX}, {DG_INT64, 8, INT64_MIN, INT64_MAX},
                 {DG_UINT8, 1, 0, UINT8_MAX},         {DG_UINT16, 2, 0, UINT16_MAX},
                 {DG_UINT32, 4, 0, UINT32_MAX},       {DG_UINT64, 8, 0, INT64_MAX}};
    tape from = {bytes, n_bytes, 0};
    dg_source source = tape_source(&from);
    int64_t value = 0;
    if (dg_law_fill(&value, 1, DG_INT64, law, NULL, &source) != DG_OK) {
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint8_t out[16];
        memset(out, 0xAA, sizeof out);
        from.used = 0;
        dg_status status = dg_law_fill(out, 1, types[i].dtype, law, NULL, &source);
        bool fits = value >= types[i].low && value <= types[i].high;
        CHECK(status == (fits ? DG_OK : DG_ERR_RANGE), "type %zu, status %d", i, (int)status);
        uint64_t expected = fits ? (uint64_t)value : 0, stored = 0;
        for (size_t k = 0; k < types[i].size; k++) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            stored |= (uint64_t)out[k] << (8 * k);
#else
            stored = (stored << 8) | out[k];
#endif
        }
        uint64_t mask = UINT64_MAX >> (64 - 8 * types[i].size);
        CHECK(stored == (expected & mask), "type %zu", i);
        CHECK(out[types[i].size] == 0xAA, "type %zu: written past the end", i);
    }
    from.used = 0;
    CHECK(dg_law_fill_wide(NULL, 1, 0, law, NULL, &source) == DG_ERR_RANGE, "no bytes hold %lld",
          (long long)value);
    for (size_t width = 1; width <= 12; width++) {
        uint8_t out[16];
        memset(out, 0xAA, sizeof out);
        from.used = 0;
        dg_status status = dg_law_fill_wide(out, 1, width, law, NULL, &source);
        bool fits = width >= 8 || (value >= -(INT64_C(1) << (8 * width - 1)) &&
                                   value < INT64_C(1) << (8 * width - 1));
        CHECK(status == (fits ? DG_OK : DG_ERR_RANGE), "width %zu, status %d", width, (int)status);
        for (size_t k = 0; k < width; k++) {
            uint8_t byte = (uint8_t)(k < 8 ? (uint64_t)value >> (8 * k) : value < 0 ? 255u : 0u);
            CHECK(out[k] == (fits ? byte : 0), "width %zu, byte %zu", width, k);
        }
        CHECK(out[width] == 0xAA, "width %zu: written past the end", width);
    }
}

static void test_outputs(void)
{
    static const int64_t centres[] = {0,     100,   -100,       127,        -128,       255,
                                      32767, 70000, 2147483647, 4294967295, -2147483648};
    uint64_t state = 7;
    for (int i = 0; i < 2; i++) {
        dg_arithmetic arithmetic = i == 0 ? DG_ARITHMETIC_AUTO : DG_ARITHMETIC_GMP;
        for (size_t j = 0; j < sizeof centres / sizeof *centres; j++) {
            dg_law *law = law_of(DG_DISCRETE_LAPLACE, arithmetic, 2, 1, centres[j], 1);
            for (int k = 0; k < 200; k++) {
                uint8_t bytes[256];
                for (size_t m = 0; m < sizeof bytes; m++) {
                    bytes[m] = (uint8_t)next_word(&state);
                }
                test_dtypes(law, bytes, sizeof bytes);
            }
            dg_law_free(law);
        }
    }
}

static dg_status new_law(dg_law_kind kind, int8_t a, int8_t b, int8_t c, int8_t d)
{
    uint8_t bytes[5] = {(uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d, 1};
    dg_parameters parameters = {{bytes, 1},     {bytes + 1, 1}, {bytes + 2, 1},
                                {bytes + 3, 1}, {bytes + 4, 1}, {bytes + 4, 1}};
    dg_law *law = (dg_law *)&parameters; /* must be overwritten */
    dg_status status = law_of_bytes(&law, kind, DG_ARITHMETIC_AUTO, &parameters);
    CHECK((law != NULL) == (status == DG_OK), "status %d", (int)status);
    dg_law_free(law);
    return status;
}

static void test_parameters(void)
{
    for (int kind = DG_BERNOULLI; kind <= DG_GENERALIZED_GAUSSIAN; kind++) {
        dg_law_kind k = (dg_law_kind)kind;
        bool zero_is_fine = k == DG_BERNOULLI || k == DG_BERNOULLI_EXP;
        bool has_centre = k >= DG_DISCRETE_LAPLACE;
        CHECK(new_law(k, 1, 1, 0, 1) == DG_OK, "kind %d", kind);
        CHECK(new_law(k, 0, 1, 0, 1) == (zero_is_fine ? DG_OK : DG_ERR_PARAMETER), "kind %d", kind);
        CHECK(new_law(k, -1, 1, 0, 1) == DG_ERR_PARAMETER, "kind %d", kind);
        CHECK(new_law(k, 1, 0, 0, 1) == DG_ERR_PARAMETER, "kind %d", kind);
        CHECK(new_law(k, 1, -1, 0, 1) == DG_ERR_PARAMETER, "kind %d", kind);
        CHECK(new_law(k, 2, 2, 0, 1) == DG_ERR_PARAMETER, "kind %d: lowest terms", kind);
        CHECK(new_law(k, 1, 1, 0, 2) == DG_ERR_PARAMETER, "kind %d: lowest terms", kind);
        CHECK(new_law(k, 1, 1, 1, 0) == DG_ERR_PARAMETER, "kind %d", kind);
        CHECK(new_law(k, 1, 1, 1, 3) == (has_centre ? DG_OK : DG_ERR_PARAMETER), "kind %d", kind);
    }
    CHECK(new_law(DG_BERNOULLI, 3, 2, 0, 1) == DG_ERR_PARAMETER, "a probability above 1");
    CHECK(new_law(DG_UNIFORM_BELOW, 3, 2, 0, 1) == DG_ERR_PARAMETER, "n is an integer");
    CHECK(new_law((dg_law_kind)7, 1, 1, 0, 1) == DG_ERR_PARAMETER, "no such law");
}

static void test_too_long(void)
{
    static uint8_t bytes[DG_MAX_PARAMETER_BITS / 8 + 2];
    uint8_t one[1] = {1}, zero[1] = {0};
    dg_law *law;
    bytes[DG_MAX_PARAMETER_BITS / 8 - 1] = 0x80; /* 2^(max - 1): as long as may be */
    dg_parameters parameters = {
        {bytes, DG_MAX_PARAMETER_BITS / 8 + 1}, {one, 1}, {zero, 1}, {one, 1}, {one, 1}, {one, 1}};
    CHECK(law_of_bytes(&law, DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, &parameters) == DG_OK,
          "longest");
    size_t width = dg_law_wide_bytes(law);
    uint8_t *out = malloc(width);
    CHECK(out != NULL && dg_law_fill_wide(out, 1, width, law, NULL, NULL) == DG_OK,
          "longest: a draw");
    free(out);
    dg_law_free(law);
    bytes[DG_MAX_PARAMETER_BITS / 8] = 1;
    CHECK(law_of_bytes(&law, DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, &parameters) ==
              DG_ERR_TOO_LONG,
          "one bit too long");
    CHECK(law == NULL, "no law");
    bytes[DG_MAX_PARAMETER_BITS / 8] = 0;
    parameters.a.n_bytes = sizeof bytes;
    CHECK(law_of_bytes(&law, DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, &parameters) ==
              DG_ERR_TOO_LONG,
          "one byte too long");
}

/** Fill three items of a dtype and report the status. After an error, all must be zero bytes. */
static dg_status fill_by(const dg_law *law, const dg_table *table, dg_dtype dtype)
{
    uint8_t out[24];
    memset(out, 0xAA, sizeof out);
    dg_status status = table != NULL ? dg_table_fill(out, 3, dtype, table, NULL, NULL)
                                     : dg_law_fill(out, 3, dtype, law, NULL, NULL);
    if (status != DG_OK && (unsigned)dtype <= DG_UINT64) {
        for (size_t i = 0; i < 3; i++) {
            CHECK(out[i] == 0, "status %d", (int)status);
        }
    }
    return status;
}

/** As fill_by, for items of n_bytes. Nothing is written behind them. */
static dg_status fill_wide_by(const dg_law *law, const dg_table *table, size_t n_bytes)
{
    uint8_t out[3 * 64];
    memset(out, 0xAA, sizeof out);
    dg_status status = table != NULL ? dg_table_fill_wide(out, 3, n_bytes, table, NULL, NULL)
                                     : dg_law_fill_wide(out, 3, n_bytes, law, NULL, NULL);
    for (size_t i = 3 * n_bytes; i < sizeof out; i++) {
        CHECK(out[i] == 0xAA, "byte %zu behind items of %zu", i, n_bytes);
    }
    return status;
}

/** A law far too wide for any dtype, one with a centre that no dtype holds, one that has no
 *  algorithm but tables, and dtypes that do not exist. */
static void test_what_fits_nothing(void)
{
    uint8_t one[] = {1}, zero[] = {0}, sixteen[17] = {0};
    sixteen[16] = 1; /* 2^128 */
    dg_parameters generalized = {{one, 1}, {one, 1}, {zero, 1}, {one, 1}, {one, 1}, {one, 1}};
    dg_law *laws[] = {long_law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 1, 400, 1, 0, 0, 1),
                      NULL, NULL};
    dg_parameters far = generalized;
    far.c = (dg_integer){sixteen, 17};
    CHECK(law_of_bytes(&laws[1], DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, &far) == DG_OK, "far");
    CHECK(law_of_bytes(&laws[2], DG_GENERALIZED_GAUSSIAN, DG_ARITHMETIC_AUTO, &generalized) == DG_OK,
          "generalised");
    for (size_t i = 0; i < 3; i++) {
        dg_table *table = NULL;
        const bool is_wide = i < 2;
        dg_status status = dg_table_new(&table, laws[i], 16, -1, DG_ISA_AUTO);
        CHECK(status == DG_OK, "table %zu: status %d", i, (int)status);
        CHECK(fill_by(laws[i], table, DG_INT64) == (is_wide ? DG_ERR_RANGE : DG_OK), "law %zu", i);
        CHECK(fill_wide_by(laws[i], table, 3) == DG_ERR_RANGE, "law %zu", i);
        CHECK(fill_wide_by(laws[i], table, 64) == DG_OK, "law %zu", i);
        CHECK(fill_by(laws[i], table, (dg_dtype)8) == DG_ERR_PARAMETER, "no such dtype");
        CHECK(fill_by(laws[i], NULL, (dg_dtype)99) == DG_ERR_PARAMETER, "no such dtype");
        CHECK(fill_by(laws[i], NULL, DG_UINT64) == (is_wide ? DG_ERR_RANGE : DG_ERR_PARAMETER),
              "law %zu", i);
        CHECK(fill_wide_by(laws[i], NULL, 4) == (is_wide ? DG_ERR_RANGE : DG_ERR_PARAMETER),
              "law %zu", i);
        CHECK(fill_wide_by(laws[i], NULL, 64) == (is_wide ? DG_OK : DG_ERR_PARAMETER), "law %zu",
              i);
        dg_table_free(table);
        dg_law_free(laws[i]);
    }
}

/** Around the last of 64 bits: integers beyond it are seen, and none is wrapped. */
static void test_the_end_of_64_bits(void)
{
    uint8_t hundred[] = {100}, one[] = {1}, last[9] = {0};
    memset(last, 0xFF, 8);
    dg_parameters parameters = {{hundred, 1}, {one, 1}, {last, 9}, {one, 1}, {one, 1}, {one, 1}};
    dg_law *law;
    dg_table *table;
    static uint64_t out[300];
    CHECK(law_of_bytes(&law, DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, &parameters) == DG_OK, "law");
    CHECK(dg_table_new(&table, law, 16, -1, DG_ISA_AUTO) == DG_OK, "table");
    CHECK(dg_law_fill(out, 300, DG_UINT64, law, NULL, NULL) == DG_ERR_RANGE, "half are beyond it");
    CHECK(dg_table_fill(out, 300, DG_UINT64, table, NULL, NULL) == DG_ERR_RANGE,
          "half are beyond it");
    dg_table_free(table);
    dg_law_free(law);
}

/** Draws of some 64 bits, each by itself: a dtype holds it, or the call says that it does not. */
static void test_draws_of_64_bits(void)
{
    enum { WIDTH = 32 };
    dg_law *law = long_law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 1, 128, 1, 0, 0, 1);
    dg_table *table;
    uint64_t state = 3;
    CHECK(dg_table_new(&table, law, 16, -1, DG_ISA_AUTO) == DG_OK, "table");
    for (int i = 0; i < 400; i++) {
        uint8_t bytes[4096], wide[WIDTH], out[8], above[WIDTH - 8];
        for (size_t k = 0; k < sizeof bytes; k++) {
            bytes[k] = (uint8_t)next_word(&state);
        }
        tape from = {bytes, sizeof bytes, 0};
        const dg_source source = tape_source(&from);
        const bool by_table = i % 2 == 0, is_signed = i % 4 < 2;
        const dg_dtype dtype = is_signed ? DG_INT64 : DG_UINT64;
        dg_status status = by_table ? dg_table_fill_wide(wide, 1, WIDTH, table, NULL, &source)
                                    : dg_law_fill_wide(wide, 1, WIDTH, law, NULL, &source);
        CHECK(status == DG_OK, "draw %d: status %d", i, (int)status);
        from.used = 0;
        status = by_table ? dg_table_fill(out, 1, dtype, table, NULL, &source)
                          : dg_law_fill(out, 1, dtype, law, NULL, &source);
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
    dg_table_free(table);
    dg_law_free(law);
}

/** A comparison that 60 words of zeros leave open, with a law so narrow that its tail is below them:
 *  each word costs one step at the precision that there is, not one at twice the precision. */
static void test_many_words_of_zeros(void)
{
    static uint8_t bytes[1 + 8 * 70];
    static dg_bits bits;
    dg_law *law = law_of(DG_DISCRETE_LAPLACE, DG_ARITHMETIC_AUTO, 1, 1000000, 0, 1);
    dg_table *table;
    CHECK(dg_table_new(&table, law, 8, 0, DG_ISA_AUTO) == DG_OK, "table");
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
    CHECK(from.used == 1 + 8 * 61, "%zu bytes", from.used); /* a level, 61 words */
    dg_table_free(table);
    dg_law_free(law);
}

/** Tables of sizes that cannot be: refused, and none is made. */
static void test_tables(void)
{
    dg_law *narrow = law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 100, 1, 0, 1);
    dg_law *wide = law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 1000000000000, 1, 0, 1);
    dg_law *no_centre = law_of(DG_GEOMETRIC_EXP, DG_ARITHMETIC_AUTO, 1, 1, 0, 1);
    const struct {
        const dg_law *law;
        uint32_t index_bits;
        int32_t block_bits;
        int isa;
    } cases[] = {{no_centre, 16, -1, DG_ISA_AUTO},
                 {narrow, 3, -1, DG_ISA_AUTO},
                 {narrow, 17, -1, DG_ISA_AUTO},
                 {narrow, 16, DG_MAX_PARAMETER_BITS + 1, DG_ISA_AUTO},
                 {narrow, 16, -1, 77},
                 {narrow, 4, 0, DG_ISA_AUTO},  /* the tails would have to be half as high */
                 {narrow, 4, 20, DG_ISA_AUTO}, /* no block is under the law: no end of them */
                 {wide, 16, 0, DG_ISA_AUTO}};  /* more blocks than a table has */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dg_table *table = (dg_table *)&table; /* must be overwritten */
        dg_status status = dg_table_new(&table, cases[i].law, cases[i].index_bits,
                                        cases[i].block_bits, (dg_isa)cases[i].isa);
        CHECK(status == DG_ERR_PARAMETER && table == NULL, "case %zu: status %d", i, (int)status);
    }
    dg_lanes *lanes = (dg_lanes *)&lanes; /* likewise */
    CHECK(dg_lanes_new(&lanes, no_centre, DG_ISA_AUTO) == DG_ERR_PARAMETER && lanes == NULL,
          "no centre");
    dg_lanes_free(NULL);
    dg_table_free(NULL);
    dg_law_free(narrow);
    dg_law_free(wide);
    dg_law_free(no_centre);
}

int main(void)
{
    test_outputs();
    test_what_fits_nothing();
    test_the_end_of_64_bits();
    test_draws_of_64_bits();
    test_many_words_of_zeros();
    test_tables();
    test_parameters();
    test_too_long();
    dg_law_free(NULL);
    return report("limits");
}
