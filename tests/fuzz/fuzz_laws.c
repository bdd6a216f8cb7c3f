/* Draws of many laws in one call against draws of one law after the other: the same values, the same
 * bytes; a failure where there is one, and zeros then. In lanes, too, where one law after the other is a
 * batch by the kernel in plain C, and then those that lanes do not hold. Numbers are any 64 bits, so that
 * most laws break a rule or need GMP. */
#include "input.h"

#include "isochronous/lane_laws.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LAWS = 5, MOST_DRAWS = 40 };

/** A number that is small, near a power of 2, or any. */
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

/** The law of four numbers: NULL where dg_law_new refuses it. */
static dg_law *law_for(dg_law_kind kind, const int64_t numbers[4])
{
    uint8_t bytes[4][8];
    dg_integer integers[4];
    const dg_integer none = {NULL, 0};
    dg_law *law;
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 8; k++) {
            bytes[i][k] = (uint8_t)((uint64_t)numbers[i] >> (8 * k));
        }
        integers[i] = (dg_integer){bytes[i], 8};
    }
    const dg_parameters parameters = {integers[0], integers[1], integers[2],
                                      integers[3], none,        none};
    dg_status status = dg_law_new(&law, kind, DG_ARITHMETIC_AUTO, &parameters);
    REQUIRE(status == DG_OK || status == DG_ERR_PARAMETER);
    return law;
}

/** What dg_laws_fill does, by dg_law_new and dg_law_fill. */
static dg_status one_by_one(uint8_t *out, size_t n, dg_dtype dtype, size_t item, dg_law_kind kind,
                            const int64_t *numbers, const int64_t *which, const dg_source *source)
{
    for (size_t i = 0; i < n; i++) {
        dg_law *law = law_for(kind, numbers + 4 * which[i]);
        if (law == NULL) {
            return DG_ERR_PARAMETER;
        }
        dg_status status = dg_law_fill(out + i * item, 1, dtype, law, NULL, source);
        dg_law_free(law);
        if (status != DG_OK) {
            return status;
        }
    }
    return DG_OK;
}

/** Laws of a fill that lanes hold, drawn together. */
typedef struct in_lanes {
    dg_law_kind kind;
    const int64_t *numbers[MOST_DRAWS];
} in_lanes;

static dg_status exact_law(dg_law **law, size_t which, void *context)
{
    const in_lanes *of = context;
    *law = law_for(of->kind, of->numbers[which]);
    return *law == NULL ? DG_ERR_PARAMETER : DG_OK;
}

/** Fill one item, isochronously or by Algorithms 1-3, of a law that lanes do not hold. */
static dg_status draw_other(uint8_t *out, dg_dtype dtype, bool isochronous, dg_law_kind kind,
                            const int64_t *numbers, const dg_source *source)
{
    dg_law *law = law_for(kind, numbers);
    dg_lanes *lanes = NULL;
    dg_status status = law == NULL ? DG_ERR_PARAMETER : DG_OK;
    if (status == DG_OK && isochronous) {
        status = dg_lanes_new(&lanes, law, DG_ISA_PORTABLE);
    }
    if (status == DG_OK) {
        status = isochronous ? dg_lanes_fill(out, 1, dtype, lanes, NULL, source)
                             : dg_law_fill(out, 1, dtype, law, NULL, source);
    }
    dg_lanes_free(lanes);
    dg_law_free(law);
    return status;
}

/** Store an integer. Returns: whether it fits. */
static bool store(uint8_t *out, dg_dtype dtype, size_t item, int64_t x)
{
    const bool is_signed = dtype <= DG_INT64;
    const int64_t most = (int64_t)(UINT64_MAX >> (64 - 8 * item + (is_signed || item == 8)));
    for (size_t i = 0; i < item; i++) {
        out[i] = (uint8_t)((uint64_t)x >> (8 * i));
    }
    return x <= most && x >= (is_signed ? -most - 1 : 0);
}

/** What dg_laws_fill_in_lanes does with at most 256 items. */
static dg_status one_by_one_in_lanes(uint8_t *out, size_t n, dg_dtype dtype, size_t item,
                                     bool isochronous, dg_law_kind kind, const int64_t *numbers,
                                     const int64_t *which, const dg_source *source)
{
    static dg_bits bits; /* large */
    dg_lane_staircases staircases;
    dg_lane_laws laws;
    in_lanes held = {.kind = kind};
    size_t items[MOST_DRAWS];
    int64_t drawn[DG_LANE_LAWS];
    dg_lane_staircases_build(&staircases, kind, true);
    dg_lane_laws_open(&laws, &staircases, DG_ISA_PORTABLE);
    for (size_t i = 0; i < n; i++) {
        const int64_t *of = numbers + 4 * which[i];
        const dg_lane_number parameter = {of[0], of[1], 0}, centre = {of[2], of[3], 0};
        dg_law *law = law_for(kind, of);
        if (law != NULL) {
            items[laws.n] = i;
            held.numbers[laws.n] = of;
            (void)dg_lane_laws_add(&laws, &staircases, &parameter, &centre);
        }
        dg_law_free(law);
    }
    dg_bits_open(&bits, source);
    dg_status status = dg_lane_laws_draw(drawn, 0, &laws, exact_law, &held, &bits);
    dg_bits_close(&bits);
    for (size_t i = 0; i < laws.n && status == DG_OK; i++) {
        status = store(out + items[i] * item, dtype, item, drawn[i]) ? DG_OK : DG_ERR_RANGE;
    }
    for (size_t i = 0, next = 0; i < n && status == DG_OK; i++) {
        if (next < laws.n && items[next] == i) {
            next++;
        } else {
            status = draw_other(out + i * item, dtype, isochronous, kind, numbers + 4 * which[i],
                                source);
        }
    }
    return status;
}

/** Compare the outcomes of two fills. */
static void check(dg_status status, dg_status wanted, const uint8_t *out, const uint8_t *expected,
                  size_t n_bytes, size_t used, size_t wanted_used)
{
    /* which failure comes first depends on how many bytes are asked for at once */
    REQUIRE((status == DG_OK) == (wanted == DG_OK));
    if (status == DG_OK) {
        REQUIRE(used == wanted_used);
        REQUIRE(memcmp(out, expected, n_bytes) == 0);
    } else {
        REQUIRE(all_zero(out, n_bytes));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    input from = {data, size};
    dg_law_kind kind = (dg_law_kind)(take_byte(&from) % (DG_GENERALIZED_GAUSSIAN + 2));
    dg_dtype dtype = (dg_dtype)(take_byte(&from) % (DG_UINT64 + 1));
    size_t n = take_byte(&from) % (MOST_DRAWS + 1), n_laws = 1u + take_byte(&from) % MOST_LAWS;
    int64_t numbers[4 * MOST_LAWS], which[MOST_DRAWS];
    for (size_t i = 0; i < 4 * n_laws; i++) {
        numbers[i] = take_number(&from);
    }
    for (size_t i = 0; i < n; i++) {
        which[i] = take_byte(&from) % (int64_t)n_laws;
    }
    size_t at_least = 16u * take_byte(&from);
    tape given = take_tape(at_least, &from);
    const size_t n_bytes = n * sizes[dtype];
    uint8_t *out = exactly(n_bytes), *expected = exactly(n_bytes);

    const uint64_t *words = (const uint64_t *)numbers;
    const dg_laws laws = {.kind = kind,
                          .parameter = {words, 4, DG_RATIOS, 0, 0},
                          .centre = {words + 2, 4, DG_RATIOS, 0, 0}};
    const bool has_lanes = kind == DG_DISCRETE_LAPLACE || kind == DG_DISCRETE_GAUSSIAN;
    for (int way = 0; way < (has_lanes ? 3 : 1); way++) { /* in lanes; isochronous, too */
        tape ours = given, theirs = given;
        dg_source our_source = tape_source(&ours), their_source = tape_source(&theirs);
        dg_status status, wanted;
        if (way == 0) {
            status = dg_laws_fill(out, n, dtype, &laws, which, NULL, &our_source);
            wanted =
                one_by_one(expected, n, dtype, sizes[dtype], kind, numbers, which, &their_source);
        } else {
            status = dg_laws_fill_in_lanes(out, n, dtype, &laws, which, way == 2, DG_ISA_AUTO, NULL,
                                           &our_source);
            wanted = one_by_one_in_lanes(expected, n, dtype, sizes[dtype], way == 2, kind, numbers,
                                         which, &their_source);
        }
        check(status, wanted, out, expected, n_bytes, ours.used, theirs.used);
    }
    REQUIRE(dg_laws_fill(out, n, (dg_dtype)(DG_UINT64 + 1), &laws, which, NULL, NULL) ==
            DG_ERR_PARAMETER);
    free(expected);
    free(out);
    tape_free(&given);
    return 0;
}
