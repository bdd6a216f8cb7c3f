/* Algorithms 1-3 in machine words against GMP, which is the reference, for any law and any tape:
 *
 *   - draws one by one, the same draws from the same bytes, up to the end of the tape;
 *   - a fill of n draws equals n draws one by one, in values and in bytes used: no byte is requested
 *     that goes unused, and none twice;
 *   - a tape one byte shorter gives DG_ERR_SOURCE. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWS = 3000, SOME_DRAWS = 60, LONG_TAPES_FROM = 252, MOST_SHIFT = 200 };

/** Draw one by one. Returns: how many draws there were before the tape ended. */
static size_t one_by_one(uint8_t *words_out, uint8_t *gmp_out, size_t most, size_t *used,
                         const dg_sampler *words, const dg_sampler *gmp, const tape *full_tape)
{
    const size_t width = dg_sampler_wide_bytes(gmp);
    tape ours = *full_tape, theirs = *full_tape;
    dg_source our_source = tape_source(&ours), their_source = tape_source(&theirs);
    size_t n = 0;
    for (; n < most; n++) {
        *used = ours.used;
        dg_status status =
            dg_sampler_fill_wide(words_out + n * width, 1, width, words, NULL, &our_source);
        dg_status expected =
            dg_sampler_fill_wide(gmp_out + n * width, 1, width, gmp, NULL, &their_source);
        REQUIRE(status == expected);
        REQUIRE(ours.used == theirs.used);
        REQUIRE(status == DG_OK || status == DG_ERR_SOURCE);
        if (status != DG_OK) {
            break;
        }
    }
    REQUIRE(memcmp(words_out, gmp_out, n * width) == 0);
    if (n == most) {
        *used = ours.used;
    }
    return n;
}

/** Fill n draws at once, from all of the tape, and from one byte less. */
static void in_one_fill(uint8_t *out, const uint8_t *expected, size_t n, size_t used,
                        const dg_sampler *sampler, const tape *full_tape)
{
    const size_t n_bytes = n * dg_sampler_wide_bytes(sampler);
    tape whole = {full_tape->bytes, used, 0};
    dg_source source = tape_source(&whole);
    REQUIRE(dg_sampler_fill_wide(out, n, dg_sampler_wide_bytes(sampler), sampler, NULL, &source) ==
            DG_OK);
    REQUIRE(whole.used == used);
    REQUIRE(memcmp(out, expected, n_bytes) == 0);
    if (used > 0) {
        whole = (tape){full_tape->bytes, used - 1, 0};
        REQUIRE(dg_sampler_fill_wide(out, n, dg_sampler_wide_bytes(sampler), sampler, NULL,
                                     &source) == DG_ERR_SOURCE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, size};
    numbers of;
    uint8_t kind = take_byte(&from) % DG_GENERALIZED_GAUSSIAN;
    uint8_t length = take_byte(&from); /* sometimes more than the stream's buffer holds */
    size_t at_least = length >= LONG_TAPES_FROM ? 32768 : 4u * length;
    take_numbers(&of, (dg_law_kind)kind, MOST_SHIFT, &from);
    tape full_tape = take_tape(at_least, &from);
    dg_options by_gmp = default_options();
    by_gmp.arithmetic = DG_ARITHMETIC_GMP;
    dg_sampler *words = sampler_of(&of, DG_REFERENCE, NULL);
    dg_sampler *gmp = sampler_of(&of, DG_REFERENCE, &by_gmp);
    dg_sampler_info info;
    dg_sampler_describe(&info, gmp);
    REQUIRE(words != NULL && !info.uses_words);
    REQUIRE(dg_sampler_wide_bytes(words) == dg_sampler_wide_bytes(gmp));

    const size_t width = dg_sampler_wide_bytes(gmp);
    const size_t most = length >= LONG_TAPES_FROM ? MOST_DRAWS : SOME_DRAWS;
    uint8_t *draws = exactly(most * width), *again = exactly(most * width);
    size_t used;
    size_t n = one_by_one(draws, again, most, &used, words, gmp, &full_tape);
    in_one_fill(again, draws, n, used, words, &full_tape);
    in_one_fill(again, draws, n, used, gmp, &full_tape);
    free(again);
    free(draws);
    dg_sampler_free(gmp);
    dg_sampler_free(words);
    tape_free(&full_tape);
    numbers_clear(&of);
    return 0;
}
