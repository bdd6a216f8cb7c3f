/* Draws of many laws in one call against draws of one law after the other: the same values, the same
 * bytes; a failure where there is one, and zeros then. Numbers are any 64 bits, so that most laws break
 * a rule or need GMP. */
#include "input.h"

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
    tape ours = take_tape(at_least, &from), theirs = ours;
    dg_source our_source = tape_source(&ours), their_source = tape_source(&theirs);
    const size_t n_bytes = n * sizes[dtype];
    uint8_t *out = exactly(n_bytes), *expected = exactly(n_bytes);

    const uint64_t *words = (const uint64_t *)numbers;
    const dg_laws laws = {kind, {words, 4, DG_RATIOS}, {words + 2, 4, DG_RATIOS}};
    dg_status status = dg_laws_fill(out, n, dtype, &laws, which, NULL, &our_source);
    dg_status wanted =
        one_by_one(expected, n, dtype, sizes[dtype], kind, numbers, which, &their_source);
    /* which failure comes first depends on how many bytes are asked for at once */
    REQUIRE((status == DG_OK) == (wanted == DG_OK));
    if (status == DG_OK) {
        REQUIRE(ours.used == theirs.used);
        REQUIRE(memcmp(out, expected, n_bytes) == 0);
    } else {
        REQUIRE(all_zero(out, n_bytes));
    }
    REQUIRE(dg_laws_fill(out, n, (dg_dtype)(DG_UINT64 + 1), &laws, which, NULL, NULL) ==
            DG_ERR_PARAMETER);
    free(expected);
    free(out);
    tape_free(&ours);
    return 0;
}
