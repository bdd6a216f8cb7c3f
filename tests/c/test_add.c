/* Noise added to integers: sums are exact, refused, clamped, or reduced; nulls; the draws are those of a fill.
 * Bounds of integers. */
#include "api/add.h"
#include "base/dtype.h"
#include "base/int128.h"
#include "support.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40000, TAPE = 1 << 21 };

static uint8_t bytes[TAPE];
static int64_t noise[N], values[N], sums[N], more[N];
static uint8_t nulls[N];

static dg_sampler *new_gaussian(const char *sigma2, dg_method method)
{
    dg_sampler *sampler;
    if (dg_sampler_new(&sampler, DG_DISCRETE_GAUSSIAN, sigma2, NULL, NULL, method) != DG_OK) {
        abort();
    }
    return sampler;
}

/** Add noise from the tape, by the sampler's method. */
static dg_status add_by(const dg_sampler *sampler, const uint8_t *is_null)
{
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    const dg_run run = {1, NULL, NULL};
    const dg_addend addend = {.values = values, .dtype = DG_INT64, .is_null = is_null};
    return dg_sampler_add(sums, N, &addend, sampler, &run, &source);
}

static void check_sums(dg_method method)
{
    dg_sampler *sampler = new_gaussian("100", method);
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    const dg_run run = {1, NULL, NULL};
    const dg_status filled = dg_sampler_fill(noise, N, DG_INT64, sampler, &run, &source);
    const dg_status added = add_by(sampler, NULL);
    CHECK(filled == DG_OK && added == DG_OK, "method %d: %d, %d", method, filled, added);
    size_t n_wrong = 0;
    for (size_t i = 0; i < N; i++) {
        n_wrong += sums[i] != values[i] + noise[i];
    }
    CHECK(n_wrong == 0, "method %d: %zu sums", method, n_wrong);
    /* if a null hides the end of int64, its sum may wrap */
    values[7] = INT64_MAX, values[N - 1] = INT64_MIN, nulls[7] = nulls[N - 1] = 1;
    for (size_t i = 100; i < 300; i++) {
        nulls[i] = i % 3 != 0;
    }
    CHECK(add_by(sampler, nulls) == DG_OK, "method %d", method);
    n_wrong = 0;
    for (size_t i = 0; i < N; i++) {
        n_wrong += sums[i] != (nulls[i] ? 0 : values[i] + noise[i]);
    }
    CHECK(n_wrong == 0, "method %d: %zu sums beside nulls", method, n_wrong);
    /* a sum that leaves int64, in the first block and in the last */
    for (size_t k = 0; k < 2; k++) {
        size_t place = k == 0 ? 11 : N - 20;
        while (noise[place] == 0) {
            place++;
        }
        const int64_t before = values[place];
        values[place] = noise[place] > 0 ? INT64_MAX : INT64_MIN;
        CHECK(add_by(sampler, NULL) == DG_ERR_RANGE, "method %d: %zu wraps", method, place);
        values[place] = before;
    }
    values[7] = values[N - 1] = 5;
    memset(nulls, 0, sizeof nulls);
    dg_sampler_free(sampler);
}

/** With several threads all sums are near the integers. */
static void check_threads(dg_sampler *sampler)
{
    const dg_run run = {3, NULL, NULL};
    const dg_source source = {DG_SOURCE_CHACHA20, NULL, NULL};
    const dg_addend addend = {.values = values, .dtype = DG_INT64};
    const dg_status status = dg_sampler_add(more, N, &addend, sampler, &run, &source);
    size_t n_far = 0;
    for (size_t i = 0; i < N; i++) {
        n_far += llabs(more[i] - values[i]) > 200;
    }
    CHECK(status == DG_OK && n_far == 0, "%d: %zu are far", status, n_far);
}

/* --- other integers, and other sums ---------------------------------------------------------- */

static void set_word(mpz_t out, uint64_t word, bool is_signed)
{
    mpz_import(out, 1, -1, sizeof word, 0, 0, &word);
    if (is_signed && word >> 63 != 0) {
        mpz_t all;
        mpz_init_set_ui(all, 1);
        mpz_mul_2exp(all, all, 64);
        mpz_sub(out, out, all);
        mpz_clear(all);
    }
}

static uint64_t word_of(const mpz_t value)
{
    uint64_t word = 0;
    mpz_t rest;
    mpz_init(rest);
    mpz_fdiv_r_2exp(rest, value, 64);
    mpz_export(&word, NULL, -1, sizeof word, 0, 0, rest);
    mpz_clear(rest);
    return word;
}

/** Set *out to x + d by the rules of `by`, as a word. Returns: whether it is refused. */
static bool model(uint64_t *out, uint64_t x, bool is_signed, int64_t d, const dg_addend *by)
{
    mpz_t sum, end;
    mpz_inits(sum, end, NULL);
    set_word(sum, x, is_signed);
    set_word(end, (uint64_t)d, true);
    mpz_add(sum, sum, end);
    bool is_lost = false;
    if (by->overflow == DG_REDUCE) {
        mpz_set_ui(end, 1);
        mpz_mul_2exp(end, end, 64);
        if (by->modulus != 0) {
            set_word(end, by->modulus, false);
        }
        mpz_mod(sum, sum, end);
    } else {
        set_word(end, (uint64_t)INT64_MAX, true);
        const bool is_above = mpz_cmp(sum, end) > 0;
        if (by->overflow == DG_CLAMP && is_above) {
            mpz_set(sum, end);
        }
        set_word(end, (uint64_t)INT64_MIN, true);
        const bool is_below = mpz_cmp(sum, end) < 0;
        if (by->overflow == DG_CLAMP && is_below) {
            mpz_set(sum, end);
        }
        is_lost = by->overflow == DG_REFUSE && (is_above || is_below);
    }
    *out = word_of(sum);
    mpz_clears(sum, end, NULL);
    return is_lost;
}

/** Store a word, cut, as integer i of a dtype. Returns: that integer as a word. */
static uint64_t cut_to(void *out, size_t i, dg_dtype dtype, uint64_t word)
{
    const unsigned unused = 64 - 8 * (unsigned)dg_dtype_size(dtype);
    const uint64_t low = word << unused >> unused;
    const bool is_negative = dtype <= DG_INT64 && low >> (63 - unused) != 0;
    const uint64_t size = is_negative ? (0 - low) << unused >> unused : low;
    CHECK(dg_dtype_store(out, i, dtype, is_negative, size) == DG_OK, "dtype %d", dtype);
    return is_negative ? 0 - size : size;
}

/** Sums of every dtype, near its ends and elsewhere, by every rule, with nulls, are those of the model, or refused. */
static void test_rules(dg_sampler *sampler)
{
    enum { M = 1500 };
    static const uint64_t moduli[] = {
        0, 1, 2, 10, UINT64_C(1) << 40, (UINT64_C(1) << 63) + 29, UINT64_MAX};
    static uint64_t integers[M];
    uint64_t state = 3;
    size_t n_refused = 0, n_clamped = 0;
    for (size_t k = 0; k < 8 * 9 * 3; k++) {
        const dg_dtype dtype = (dg_dtype)(k % 8);
        const size_t rule = k / 8 % 9, spread = k / 72;
        dg_addend by = {.values = integers,
                        .dtype = dtype,
                        .is_null = spread == 1 ? nulls : NULL,
                        .overflow = rule < 2 ? (dg_overflow)rule : DG_REDUCE,
                        .modulus = rule < 2 ? 0 : moduli[rule - 2]};
        uint64_t words[M], out[M];
        for (size_t i = 0; i < M; i++) {
            const uint64_t word = next_word(&state), end = UINT64_C(1) << 63;
            const uint64_t near = (word % 40) + (word >> 40 & 1 ? end : 0) - 20;
            words[i] = cut_to(integers, i, dtype, spread == 0 && word >> 50 & 1 ? near : word >> 3);
            nulls[i] = word >> 61 == 0;
        }
        tape one = {bytes, TAPE, 0}, other = {bytes, TAPE, 0};
        const dg_source from_one = tape_source(&one), from_other = tape_source(&other);
        CHECK(dg_sampler_fill(noise, M, DG_INT64, sampler, NULL, &from_other) == DG_OK, "no noise");
        bool is_refused = false;
        for (size_t i = 0; i < M; i++) {
            const bool is_null = by.is_null != NULL && nulls[i] != 0;
            const bool is_lost = model(&out[i], words[i], dtype <= DG_INT64, noise[i], &by);
            n_clamped += by.overflow == DG_CLAMP && out[i] != words[i] + (uint64_t)noise[i];
            is_refused = is_refused || (is_lost && !is_null);
            out[i] = is_null ? 0 : out[i];
        }
        n_refused += is_refused;
        const dg_status status = dg_sampler_add(sums, M, &by, sampler, NULL, &from_one);
        CHECK(status == (is_refused ? DG_ERR_RANGE : DG_OK), "case %zu: %d", k, (int)status);
        CHECK(one.used == other.used, "case %zu: %zu and %zu bytes", k, one.used, other.used);
        CHECK(is_refused || memcmp(sums, out, sizeof out) == 0, "case %zu: other sums", k);
    }
    CHECK(n_refused > 0 && n_clamped > 0, "%zu refused, %zu clamped", n_refused, n_clamped);
    memset(nulls, 0, sizeof nulls);
    dg_addend by = {.values = integers, .dtype = (dg_dtype)8};
    CHECK(dg_sampler_add(sums, 1, &by, sampler, NULL, NULL) == DG_ERR_ADDEND_DTYPE, "dtype");
    by = (dg_addend){.values = integers, .dtype = DG_INT8, .overflow = (dg_overflow)3};
    CHECK(dg_sampler_add(sums, 1, &by, sampler, NULL, NULL) == DG_ERR_OVERFLOW, "rule");
}

/** Exact ends are the least and the greatest integer. The others are powers of two, or one less, not far from them. */
static void test_ends(void)
{
    enum { M = 700 };
    static uint64_t integers[M];
    uint64_t state = 8;
    for (size_t k = 0; k < 8 * 6 * 2 * 2; k++) {
        const dg_dtype dtype = (dg_dtype)(k % 8);
        const unsigned width = (unsigned)(k / 8 % 6) * 12;
        const size_t n = k / 48 % 2 == 0 ? M : k % 3;
        const dg_addend by = {
            .values = integers, .dtype = dtype, .is_null = k >= 96 ? nulls : NULL};
        const bool is_signed = dtype <= DG_INT64;
        bool is_any = false;
        uint64_t least = 0, greatest = 0, found[2], about[2];
        for (size_t i = 0; i < n; i++) {
            const uint64_t word = next_word(&state) >> (63 - width);
            const uint64_t integer = cut_to(integers, i, dtype, state % 3 == 0 ? 0 - word : word);
            nulls[i] = state % 5 != 1;
            if (by.is_null != NULL && nulls[i] != 0) {
                continue;
            }
            least = !is_any || (is_signed ? (int64_t)integer < (int64_t)least : integer < least)
                        ? integer
                        : least;
            greatest =
                !is_any || (is_signed ? (int64_t)integer > (int64_t)greatest : integer > greatest)
                    ? integer
                    : greatest;
            is_any = true;
        }
        CHECK(dg_addend_ends(found, n, &by, 1, NULL) == DG_OK, "case %zu", k);
        CHECK(found[0] == least && found[1] == greatest, "case %zu", k);
        CHECK(dg_addend_ends(about, n, &by, 0, NULL) == DG_OK, "case %zu", k);
        const uint64_t below = is_signed && (int64_t)least < 0 ? ~least : 0;
        const uint64_t above = is_signed && (int64_t)greatest < 0 ? 0 : greatest;
        const uint64_t size = below > above ? below : above;
        const uint64_t low = is_signed ? ~about[1] : 0;
        CHECK(about[1] >= size && about[1] / 2 <= size && (about[1] & (about[1] + 1)) == 0,
              "case %zu", k);
        CHECK(about[0] == low || (about[0] == 0 && least == 0 && greatest == 0), "case %zu", k);
    }
    memset(nulls, 0, sizeof nulls);
    const dg_addend bad = {.values = integers, .dtype = (dg_dtype)8};
    uint64_t found[2];
    CHECK(dg_addend_ends(found, 1, &bad, 1, NULL) == DG_ERR_ADDEND_DTYPE, "dtype");
}

int main(void)
{
    uint64_t state = 20261123;
    for (size_t i = 0; i < TAPE; i += 8) {
        const uint64_t word = next_word(&state);
        memcpy(bytes + i, &word, 8);
    }
    for (size_t i = 0; i < N; i++) {
        values[i] = (int64_t)(next_word(&state) >> 2) - (INT64_C(1) << 60);
    }
    dg_sampler *sampler = new_gaussian("100", DG_CELLS);
    check_sums(DG_REFERENCE);
    check_sums(DG_CELLS);
    if (DG_HAVE_WORDS) {
        check_sums(DG_ISOCHRONOUS);
    }
    check_sums(DG_AUTO);
    check_threads(sampler);
    test_rules(sampler);
    test_ends();
    const dg_addend none = {.values = NULL, .dtype = DG_INT64};
    CHECK(dg_sampler_add(NULL, 0, &none, sampler, NULL, NULL) == DG_OK, "none");
    dg_sampler_free(sampler);
    return report("test_add");
}
