/* Noise added to integers: exact sums or none, nulls, and the draws of a fill. */
#include "base/int128.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 40000, TAPE = 1 << 21 };

static uint8_t bytes[TAPE];
static int64_t noise[N], values[N], sums[N], more[N];
static uint8_t nulls[N];

static dg_sampler *new_gaussian(uint8_t sigma2)
{
    const uint8_t zero[] = {0}, one[] = {1}, number[] = {sigma2};
    const dg_parameters given = {{number, 1}, {one, 1}, {zero, 1}, {one, 1}, {one, 1}, {one, 1}};
    dg_sampler *sampler;
    if (dg_sampler_new(&sampler, DG_DISCRETE_GAUSSIAN, &given) != DG_OK) {
        abort();
    }
    return sampler;
}

/** Add by a way, from the tape. */
static dg_status add_by(dg_method method, dg_sampler *sampler, const uint8_t *is_null)
{
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    const dg_run run = {1, NULL, NULL};
    return dg_sampler_add(sums, values, is_null, N, method, sampler, &run, &source);
}

static void check_sums(dg_method method, dg_sampler *sampler)
{
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    const dg_run run = {1, NULL, NULL};
    const dg_status filled = dg_sampler_fill(noise, N, DG_INT64, method, sampler, &run, &source);
    const dg_status added = add_by(method, sampler, NULL);
    CHECK(filled == DG_OK && added == DG_OK, "method %d: %d, %d", method, filled, added);
    size_t n_wrong = 0;
    for (size_t i = 0; i < N; i++) {
        n_wrong += sums[i] != values[i] + noise[i];
    }
    CHECK(n_wrong == 0, "method %d: %zu sums", method, n_wrong);
    /* where a null hides the end of int64 its sum may wrap */
    values[7] = INT64_MAX, values[N - 1] = INT64_MIN, nulls[7] = nulls[N - 1] = 1;
    for (size_t i = 100; i < 300; i++) {
        nulls[i] = i % 3 != 0;
    }
    CHECK(add_by(method, sampler, nulls) == DG_OK, "method %d", method);
    n_wrong = 0;
    for (size_t i = 0; i < N; i++) {
        n_wrong += sums[i] != (nulls[i] ? 0 : values[i] + noise[i]);
    }
    CHECK(n_wrong == 0, "method %d: %zu sums beside nulls", method, n_wrong);
    /* a sum that leaves int64, in the first block and in the last: none is left */
    for (size_t k = 0; k < 2; k++) {
        size_t place = k == 0 ? 11 : N - 20, n_left = 0;
        while (noise[place] == 0) {
            place++;
        }
        const int64_t kept = values[place];
        values[place] = noise[place] > 0 ? INT64_MAX : INT64_MIN;
        memset(sums, 0, sizeof sums); /* what no piece was begun of stays */
        CHECK(add_by(method, sampler, NULL) == DG_ERR_RANGE, "method %d: %zu wraps", method, place);
        values[place] = kept;
        for (size_t i = 0; i < N; i++) {
            n_left += sums[i] != 0;
        }
        CHECK(n_left == 0, "method %d: %zu sums are left", method, n_left);
    }
    values[7] = values[N - 1] = 5;
    memset(nulls, 0, sizeof nulls);
}

/** The same noise is added however many threads and pieces there are: here only that all sums are near. */
static void check_threads(dg_sampler *sampler)
{
    const dg_run run = {3, NULL, NULL};
    const dg_source source = {DG_SOURCE_CHACHA20, NULL, NULL};
    const dg_status status = dg_sampler_add(more, values, NULL, N, DG_AUTO, sampler, &run, &source);
    size_t n_far = 0;
    for (size_t i = 0; i < N; i++) {
        n_far += llabs(more[i] - values[i]) > 200;
    }
    CHECK(status == DG_OK && n_far == 0, "%d: %zu are far", status, n_far);
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
    dg_sampler *sampler = new_gaussian(100);
    check_sums(DG_REFERENCE, sampler);
    check_sums(DG_CELLS, sampler);
    if (DG_HAVE_WORDS) {
        check_sums(DG_ISOCHRONOUS, sampler);
    }
    check_sums(DG_AUTO, sampler);
    check_threads(sampler);
    CHECK(dg_sampler_add(NULL, NULL, NULL, 0, DG_AUTO, sampler, NULL, NULL) == DG_OK, "none");
    dg_sampler_free(sampler);
    return report("test_add");
}
