/* A law for each element, against draws of one law after the other: the same values from the same bytes, or a failure
 * in both. For Algorithms 1-3 the other draws are fills of one, each by its own sampler. For lanes they are a batch by
 * the portable kernel, and then, by Algorithms 1-3, the laws that lanes do not hold. Numbers are any 64 bits, so most
 * laws break a rule or need GMP. */
#include "input.h"

#include "isochronous/lane_laws.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAWS = 5, MOST_DRAWS = 40, TEXT_BYTES = 48 };

/** Return a number that is small, near a power of 2, or any. */
static int64_t take_number(input *from)
{
    uint8_t shape = take_byte(from);
    if (shape < 128) {
        return shape - 8;
    }
    if (shape < 192) {
        return (int64_t)((UINT64_C(1) << shape % 64) + (uint64_t)(int8_t)take_byte(from));
    }
    return (int64_t)take_word(8, from);
}

/** Reduce a ratio to lowest terms, as columns require. */
static void reduce(int64_t ratio[2])
{
    uint64_t a = ratio[0] < 0 ? 0 - (uint64_t)ratio[0] : (uint64_t)ratio[0];
    uint64_t b = ratio[1] < 0 ? 0 - (uint64_t)ratio[1] : (uint64_t)ratio[1];
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    if (a > 1 && a <= INT64_MAX) {
        ratio[0] /= (int64_t)a;
        ratio[1] /= (int64_t)a;
    }
}

/** Make the law of a parameter and a centre. Returns: NULL if a number breaks a rule. */
static dg_law *law_for(dg_law_kind kind, const int64_t numbers[4])
{
    char parameter[TEXT_BYTES], mu[TEXT_BYTES];
    dg_law *law;
    (void)snprintf(parameter, sizeof parameter, "%" PRId64 "/%" PRId64, numbers[0], numbers[1]);
    (void)snprintf(mu, sizeof mu, "%" PRId64 "/%" PRId64, numbers[2], numbers[3]);
    dg_status status = dg_law_new(&law, kind, parameter, mu, NULL, DG_ARITHMETIC_AUTO);
    REQUIRE(status == DG_OK || (status >= DG_ERR_KIND && status <= DG_ERR_BETA));
    return law;
}

/** Return floor(ratio + 1/2). Requires: the denominator is positive. */
static int64_t nearest(const int64_t ratio[2])
{
    const __int128 twice = 2 * (__int128)ratio[0] + ratio[1], unit = 2 * (__int128)ratio[1];
    return (int64_t)(twice >= 0 ? twice / unit : -((unit - 1 - twice) / unit));
}

/** Return whether some draw, minus its centre's nearest integer, does not fit the signed type of as many bytes.
 *  dg_laws_fill refuses such a draw, whatever the sum. */
static bool leaves(const uint8_t *draws, size_t n, dg_dtype dtype, size_t item,
                   const int64_t *numbers)
{
    const __int128 most = ((__int128)1 << (8 * item - 1)) - 1;
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        unsigned __int128 word = 0;
        for (size_t k = 0; k < item; k++) {
            word |= (unsigned __int128)draws[i * item + k] << (8 * k);
        }
        __int128 x = (__int128)word;
        x -= dtype <= DG_INT64 && x > most ? 2 * (most + 1) : 0;
        x -= nearest(numbers + 4 * i + 2);
        found = found || x > most || x < -most - 1;
    }
    return found;
}

/** Store an integer. Returns: whether it fits. */
static bool store(uint8_t *out, dg_dtype dtype, size_t item, __int128 x)
{
    const bool is_signed = dtype <= DG_INT64;
    const __int128 most = ((__int128)1 << (8 * item - is_signed)) - 1;
    for (size_t i = 0; i < item; i++) {
        out[i] = (uint8_t)((unsigned __int128)x >> (8 * i));
    }
    return x <= most && x >= (is_signed ? -most - 1 : 0);
}

/** Fill one item by Algorithms 1-3. */
static dg_status draw_one(uint8_t *out, dg_dtype dtype, dg_law_kind kind, const int64_t numbers[4],
                          const dg_source *source)
{
    char parameter[TEXT_BYTES], mu[TEXT_BYTES];
    dg_sampler *sampler;
    (void)snprintf(parameter, sizeof parameter, "%" PRId64 "/%" PRId64, numbers[0], numbers[1]);
    (void)snprintf(mu, sizeof mu, "%" PRId64 "/%" PRId64, numbers[2], numbers[3]);
    dg_status status = dg_sampler_new(&sampler, kind, parameter, mu, NULL, DG_REFERENCE);
    if (status == DG_OK) {
        status = dg_sampler_fill(out, 1, dtype, sampler, NULL, source);
    }
    dg_sampler_free(sampler);
    return status;
}

/** Do what dg_laws_fill does with DG_REFERENCE. */
static dg_status one_by_one(uint8_t *out, size_t n, dg_dtype dtype, size_t item, dg_law_kind kind,
                            const int64_t *numbers, const dg_source *source)
{
    dg_status status = kind < DG_GENERALIZED_GAUSSIAN ? DG_OK : DG_ERR_KIND; /* also of no draws */
    for (size_t i = 0; i < n && status == DG_OK; i++) {
        status = draw_one(out + i * item, dtype, kind, numbers + 4 * i, source);
    }
    return status;
}

/** The laws of a fill that lanes hold. They draw together. */
typedef struct in_lanes {
    dg_law_kind kind;
    int64_t numbers[MOST_DRAWS][4]; /* with the remainders of their centres */
} in_lanes;

static dg_status exact_law(dg_law **law, size_t which, void *context)
{
    const in_lanes *of = context;
    *law = law_for(of->kind, of->numbers[which]);
    return *law == NULL ? DG_ERR_KIND : DG_OK;
}

/** Do what dg_laws_fill does in lanes with at most 256 items. */
static dg_status in_lanes_first(uint8_t *out, size_t n, dg_dtype dtype, size_t item,
                                bool isochronous, dg_law_kind kind, const int64_t *numbers,
                                const dg_source *source)
{
    static dg_bits bits; /* large */
    static in_lanes held;
    dg_lane_staircases staircases;
    dg_lane_laws laws;
    size_t items[MOST_DRAWS];
    int64_t draws[DG_LANE_LAWS], integers[MOST_DRAWS];
    held.kind = kind;
    dg_lane_staircases_build(&staircases, kind, true);
    dg_lane_laws_open(&laws, &staircases, DG_ISA_PORTABLE);
    for (size_t i = 0; i < n; i++) {
        const int64_t *of = numbers + 4 * i;
        dg_law *law = law_for(kind, of);
        if (law == NULL) {
            return DG_ERR_KIND;
        }
        dg_law_free(law);
        integers[i] = nearest(of + 2);
        const int64_t rest = (int64_t)(of[2] - (__int128)integers[i] * of[3]);
        const dg_lane_number parameter = {of[0], of[1], 0}, centre = {rest, of[3], 0};
        const size_t which = laws.n;
        if (dg_lane_laws_add(&laws, &staircases, &parameter, &centre)) {
            items[which] = i;
            memcpy(held.numbers[which], (int64_t[]){of[0], of[1], rest, of[3]}, 4 * sizeof *of);
        } else if (isochronous) {
            return DG_ERR_METHOD;
        }
    }
    dg_bits_open(&bits, source);
    dg_status status = dg_lane_laws_draw(draws, 0, &laws, exact_law, &held, &bits);
    dg_bits_close(&bits);
    for (size_t i = 0; i < laws.n && status == DG_OK; i++) {
        const __int128 sum = (__int128)draws[i] + integers[items[i]];
        status = store(out + items[i] * item, dtype, item, sum) ? DG_OK : DG_ERR_RANGE;
    }
    for (size_t i = 0, next = 0; i < n && status == DG_OK; i++) {
        if (next < laws.n && items[next] == i) {
            next++;
        } else {
            status = draw_one(out + i * item, dtype, kind, numbers + 4 * i, source);
        }
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    static const dg_method methods[] = {DG_REFERENCE, DG_AUTO, DG_ISOCHRONOUS};
    input from = {data, size};
    dg_law_kind kind = (dg_law_kind)(take_byte(&from) % (DG_GENERALIZED_GAUSSIAN + 2));
    dg_dtype dtype = (dg_dtype)(take_byte(&from) % (DG_UINT64 + 1));
    size_t n = take_byte(&from) % (MOST_DRAWS + 1), n_laws = 1u + take_byte(&from) % MOST_LAWS;
    int64_t some[4 * MOST_LAWS], numbers[4 * MOST_DRAWS];
    for (size_t i = 0; i < 4 * n_laws; i++) {
        some[i] = take_number(&from);
    }
    for (size_t i = 0; i < 2 * n_laws; i++) {
        reduce(some + 2 * i);
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(numbers + 4 * i, some + 4 * (take_byte(&from) % n_laws), 4 * sizeof *some);
    }
    size_t at_least = 16u * take_byte(&from);
    tape full_tape = take_tape(at_least, &from);
    const size_t item = sizes[dtype], n_bytes = n * item;
    uint8_t *out = exactly(n_bytes), *expected = exactly(n_bytes);

    const uint64_t *words = (const uint64_t *)numbers;
    const bool has_lanes = kind == DG_DISCRETE_LAPLACE || kind == DG_DISCRETE_GAUSSIAN;
    for (size_t method_index = 0; method_index < (has_lanes ? 3u : 1u); method_index++) {
        const dg_laws laws = {.kind = kind,
                              .parameter = {words, 4, DG_RATIOS},
                              .centre = {words + 2, 4, DG_RATIOS},
                              .method = methods[method_index]};
        tape ours = full_tape, theirs = full_tape;
        dg_source our_source = tape_source(&ours), their_source = tape_source(&theirs);
        dg_status status = dg_laws_fill(out, n, dtype, &laws, NULL, NULL, &our_source);
        dg_status wanted = method_index == 0
                               ? one_by_one(expected, n, dtype, item, kind, numbers, &their_source)
                               : in_lanes_first(expected, n, dtype, item, method_index == 2, kind,
                                                numbers, &their_source);
        /* the first failure depends on how many bytes are requested at once */
        if (status == DG_ERR_RANGE && wanted == DG_OK) {
            REQUIRE(leaves(expected, n, dtype, item, numbers));
            continue;
        }
        REQUIRE((status == DG_OK) == (wanted == DG_OK));
        if (status == DG_OK) {
            REQUIRE(ours.used == theirs.used);
            REQUIRE(memcmp(out, expected, n_bytes) == 0);
        }
        const dg_status other =
            dg_laws_fill(out, n, (dg_dtype)(DG_UINT64 + 1), &laws, NULL, NULL, NULL);
        REQUIRE(other == DG_ERR_DTYPE || (status != DG_OK && other == status)); /* a wrong law */
    }
    free(expected);
    free(out);
    tape_free(&full_tape);
    return 0;
}
