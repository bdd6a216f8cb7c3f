#include "api/columns.h"

#include "api/pause.h"
#include "base/contract.h"
#include "base/memory.h"
#include "sampler/make_law.h"

#include <stdlib.h>
#include <string.h>

/** Read the number that a binary64 is. Returns: false if it is not finite. */
static bool read_float(dg_number *out, uint64_t bits)
{
    enum { WORD_BITS = 62 };
    int64_t num;
    int exponent;
    if (!dg_split_float(&num, &exponent, bits)) {
        return false;
    }
    *out = (dg_number){.num = 0, .den = 1};
    if (num == 0) {
        return true;
    }
    uint64_t mantissa = num < 0 ? (uint64_t)-num : (uint64_t)num;
    const int zeros = __builtin_ctzll(mantissa);
    mantissa >>= zeros;
    exponent += zeros;
    if (exponent < -WORD_BITS) {
        out->down = (unsigned)-exponent;
    } else if (exponent < 0) {
        out->den = INT64_C(1) << -exponent;
    } else if (64 - __builtin_clzll(mantissa) + exponent > WORD_BITS) {
        out->up = (unsigned)exponent;
    } else {
        mantissa <<= exponent;
    }
    out->num = num < 0 ? -(int64_t)mantissa : (int64_t)mantissa;
    return true;
}

static bool read_number(dg_number *out, const dg_column *column, size_t i)
{
    const uint64_t *words = dg_words_at(column, i);
    switch (column->format) {
    case DG_INTEGERS:
        *out = (dg_number){.num = (int64_t)words[0], .den = 1};
        return true;
    case DG_FLOATS:
        return read_float(out, words[0]);
    case DG_ROOTS:
        if (!read_float(out, words[0])) {
            return false;
        }
        out->is_root = true;
        return true;
    case DG_RATIOS:
        *out = (dg_number){.num = (int64_t)words[0], .den = (int64_t)words[1]};
        return true;
    }
    return false;
}

dg_status dg_read_law(dg_number *parameter, dg_number *centre, const dg_laws *laws, size_t i)
{
    if (!read_number(parameter, &laws->parameter, i) || parameter->den <= 0) {
        return DG_ERR_LAWS_PARAMETER;
    }
    return read_number(centre, &laws->centre, i) && centre->den > 0 && !centre->is_root
               ? DG_OK
               : DG_ERR_LAWS_CENTRE;
}

static void set_number(mpz_t out, int64_t word, unsigned shift)
{
    const uint64_t size = word < 0 ? 0 - (uint64_t)word : (uint64_t)word;
    mpz_import(out, 1, -1, sizeof size, 0, 0, &size);
    mpz_mul_2exp(out, out, shift);
    if (word < 0) {
        mpz_neg(out, out);
    }
}

static void reduce(mpz_t num, mpz_t den)
{
    mpz_t common;
    mpz_init(common);
    mpz_gcd(common, num, den);
    mpz_divexact(num, num, common);
    mpz_divexact(den, den, common);
    mpz_clear(common);
}

dg_status dg_long_law_new(dg_law **law, dg_law_kind kind, const dg_number *parameter,
                          const dg_number *centre)
{
    enum { ROOM = 6 * (64 + 1074) / 8 };
    mpz_t value[6];
    *law = NULL;
    DG_TRY(dg_memory_available(DG_ROOM + 32 * ROOM));
    for (size_t i = 0; i < 6; i++) {
        mpz_init_set_ui(value[i], 1);
    }
    set_number(value[0], parameter->num, parameter->up);
    set_number(value[1], parameter->den, parameter->down);
    if (parameter->is_root) {
        mpz_mul(value[0], value[0], value[0]);
        mpz_mul(value[1], value[1], value[1]);
    }
    set_number(value[2], centre->num, centre->up);
    set_number(value[3], centre->den, centre->down);
    reduce(value[0], value[1]);
    reduce(value[2], value[3]);
    const dg_status status = dg_law_make(law, kind, DG_ARITHMETIC_AUTO, value);
    for (size_t i = 0; i < 6; i++) {
        mpz_clear(value[i]);
    }
    return status;
}

dg_status dg_exact_law_new(dg_law **law, const dg_laws *laws, size_t i)
{
    dg_number parameter, centre;
    *law = NULL;
    DG_TRY(dg_read_law(&parameter, &centre, laws, i));
    return dg_long_law_new(law, laws->kind, &parameter, &centre);
}

/** floor(num/2^shift), 0 <= shift < 63. */
static int64_t floor_shift(int64_t num, unsigned shift)
{
    return num >= 0 ? num >> shift : -1 - (int64_t)((uint64_t)(-1 - num) >> shift);
}

/** Return the binary64 num 2^exponent. Requires: it is one, and not denormal. */
static uint64_t float_of(int64_t num, int exponent)
{
    enum { FRACTION_BITS = 52, BIAS = 1023 };
    if (num == 0) {
        return 0;
    }
    const uint64_t size = num < 0 ? 0 - (uint64_t)num : (uint64_t)num;
    const int top = 63 - __builtin_clzll(size);
    const uint64_t fraction = (size << (FRACTION_BITS - top)) ^ (UINT64_C(1) << FRACTION_BITS);
    return (uint64_t)(num < 0) << 63 | (uint64_t)(top + exponent + BIAS) << FRACTION_BITS |
           fraction;
}

/** Split a finite binary64 below 2^62. If the integer is not 0, the remainder is a multiple of the number's last
 *  place and no larger than the number, so it is a binary64, too. */
static int64_t split_float(uint64_t *remainder, uint64_t bits)
{
    int64_t m;
    int exponent;
    (void)dg_split_float(&m, &exponent, bits);
    if (exponent >= 0) {
        *remainder = 0;
        return exponent < 62 ? m * (INT64_C(1) << exponent) : 0; /* only 0 has such an exponent */
    }
    const unsigned shift = (unsigned)-exponent;
    if (shift > 60 || m == 0) { /* below 2^-7 in size */
        *remainder = m == 0 ? 0 : bits;
        return 0;
    }
    const int64_t whole = floor_shift(m + (INT64_C(1) << (shift - 1)), shift);
    *remainder = whole == 0 ? bits : float_of(m - whole * (INT64_C(1) << shift), exponent);
    return whole;
}

static int64_t split_ratio(uint64_t *remainder, const uint64_t *words)
{
    const int64_t num = (int64_t)words[0], den = (int64_t)words[1];
    remainder[0] = words[0];
    remainder[1] = words[1];
    if (den <= 0) {
        return 0;
    }
    int64_t whole = num / den, left = num % den;
    if (left < 0) {
        whole--;
        left += den;
    }
    if (left >= den - left) {
        whole++;
        left -= den;
    }
    remainder[0] = (uint64_t)left;
    return whole;
}

static int64_t split_number(uint64_t *remainder, const uint64_t *words, dg_number_format format)
{
    if (format == DG_FLOATS) {
        return split_float(remainder, *words);
    }
    if (format == DG_RATIOS) {
        return split_ratio(remainder, words);
    }
    *remainder = 0;
    return (int64_t)*words;
}

dg_status dg_split_centres(dg_split *split, const dg_column *centres, size_t n, const dg_run *run)
{
    static const uint64_t zero = 0;
    *split = (dg_split){.remainders = {.words = &zero, .format = DG_INTEGERS}};
    if (centres->format == DG_INTEGERS) {
        if (centres->stride != 0 || *centres->words != 0) {
            split->integers = *centres;
        }
        return DG_OK;
    }
    const size_t width = centres->format == DG_RATIOS ? 2 : 1;
    DG_REQUIRES(n > 0);
    const size_t n_numbers = dg_n_numbers(centres, n);
    uint64_t *remainders = split->own_remainders = calloc(n_numbers, width * sizeof *remainders);
    int64_t *integers = split->own_integers = calloc(n_numbers, sizeof *integers);
    if (remainders == NULL || integers == NULL) {
        return DG_ERR_NOMEM;
    }
    int64_t any = 0;
    uint64_t differ = 0;
    for (size_t i = 0; i < n_numbers; i++) {
        uint64_t *remainder = remainders + i * width;
        integers[i] =
            split_number(remainder, centres->words + i * centres->stride, centres->format);
        any |= integers[i];
        differ |= (remainder[0] ^ remainders[0]) | (remainder[width - 1] ^ remainders[width - 1]);
        DG_TRY(dg_pause_at(i, run));
    }
    if (differ != 0 || remainders[0] != 0) { /* else all centres are integers */
        split->remainders = *centres;
        split->remainders.words = remainders;
        split->remainders.stride = differ != 0 ? width : 0;
    }
    if (any != 0) {
        split->integers = *centres;
        split->integers.words = (const uint64_t *)integers;
        split->integers.stride = centres->stride != 0;
    }
    return DG_OK;
}

void dg_split_free(dg_split *split)
{
    free(split->own_integers);
    free(split->own_remainders);
}
