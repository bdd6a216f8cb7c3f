/* Selections and the sides of cells, in machine words and by GMP, for any rates of up to 260 bits, gaps of any length,
 * offsets and shifts within their rules, and any tape: the same results from the same bytes, or an error in both. */
#include "input.h"

#include "mechanisms/leave_cell.h"
#include "mechanisms/select.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWS = 24, MOST_ROWS = 3, MOST_CANDIDATES = 6, MOST_GAP_BYTES = 10, MOST_SHIFT = 260 };

/** Return a rate as text. The caller frees it. */
static char *take_rate(bool at_most_one, bool *above_half, input *from)
{
    numbers n;
    take_numbers(&n, DG_BERNOULLI_EXP, MOST_SHIFT, from);
    if (at_most_one && mpq_cmp_ui(n.first, 1, 1) > 0) {
        mpq_inv(n.first, n.first);
    }
    char *rate = text_of(n.first);
    *above_half = mpq_cmp_ui(n.first, 1, 2) > 0;
    numbers_clear(&n);
    return rate;
}

static void compare(dg_status status, dg_status wanted, const tape *ours, const tape *theirs,
                    const int64_t *out, const int64_t *expected, size_t n)
{
    REQUIRE((status == DG_OK) == (wanted == DG_OK));
    if (status == DG_OK) {
        REQUIRE(ours->used == theirs->used);
        REQUIRE(memcmp(out, expected, n * sizeof *out) == 0);
    }
}

static void select_both(dg_selection_kind kind, size_t n, input *from)
{
    const size_t n_rows = 1u + take_byte(from) % MOST_ROWS,
                 k = 1u + take_byte(from) % MOST_CANDIDATES;
    const size_t gap_bytes = 1u + take_byte(from) % MOST_GAP_BYTES;
    uint8_t gaps[MOST_ROWS * MOST_CANDIDATES * MOST_GAP_BYTES];
    int64_t which[MOST_DRAWS];
    for (size_t i = 0; i < n_rows * k * gap_bytes; i++) {
        gaps[i] = take_byte(from);
    }
    for (size_t row = 0; row < n_rows; row++) { /* the best of a row has a gap of 0 */
        memset(gaps + (row * k + take_byte(from) % k) * gap_bytes, 0, gap_bytes);
    }
    for (size_t i = 0; i < n; i++) {
        which[i] = take_byte(from) % (int64_t)n_rows;
    }
    bool above_half;
    char *rate = take_rate(false, &above_half, from);
    tape ours = take_tape(16u * take_byte(from), from), theirs = ours;
    const dg_source our_source = tape_source(&ours), their_source = tape_source(&theirs);
    int64_t *out = exactly(n * sizeof *out), *expected = exactly(n * sizeof *out);
    dg_selection *words, *gmp;
    REQUIRE(dg_selection_new(&words, kind, rate, gaps, gap_bytes, n_rows, k, which) == DG_OK);
    REQUIRE(dg_selection_new(&gmp, kind, rate, gaps, gap_bytes, n_rows, k, which) == DG_OK);
    gmp->rate->uses_words = gmp->in_words = false;
    const dg_status status = dg_selection_fill(out, n, DG_INT64, words, NULL, &our_source);
    const dg_status wanted = dg_selection_fill(expected, n, DG_INT64, gmp, NULL, &their_source);
    compare(status, wanted, &ours, &theirs, out, expected, n);
    for (size_t i = 0; status == DG_OK && i < n; i++) {
        REQUIRE(out[i] >= 0 && out[i] < (int64_t)k);
    }
    dg_selection_free(words);
    dg_selection_free(gmp);
    free(rate);
    free(out);
    free(expected);
    tape_free(&ours);
}

static void leave_both(size_t n, input *from)
{
    int64_t offset[MOST_DRAWS], shift[MOST_DRAWS];
    size_t doublings = take_byte(from) % 64;
    for (size_t i = 0; i < n; i++) {
        shift[i] = 1 + take_byte(from);
        const uint64_t bits = shift[i] < 62 ? (uint64_t)shift[i] - 1 : 61;
        const uint64_t half = UINT64_C(1) << bits;
        offset[i] = (int64_t)(take_word(8, from) % (2 * half)) - (int64_t)half;
    }
    bool above_half;
    char *rate = take_rate(true, &above_half, from);
    tape ours = take_tape(16u * take_byte(from), from), theirs = ours;
    const dg_source our_source = tape_source(&ours), their_source = tape_source(&theirs);
    int64_t *out = exactly(n * sizeof *out), *expected = exactly(n * sizeof *out);
    dg_snapping *words, *gmp;
    if (doublings > 0 && !above_half) {
        REQUIRE(dg_snapping_new(&words, rate, doublings, offset, shift) == DG_ERR_SHORT_STEP);
        doublings = 0;
    }
    REQUIRE(dg_snapping_new(&words, rate, doublings, offset, shift) == DG_OK);
    REQUIRE(dg_snapping_new(&gmp, rate, doublings, offset, shift) == DG_OK);
    gmp->step->uses_words = false;
    const dg_status status = dg_snapping_fill(out, n, DG_INT64, words, NULL, &our_source);
    const dg_status wanted = dg_snapping_fill(expected, n, DG_INT64, gmp, NULL, &their_source);
    compare(status, wanted, &ours, &theirs, out, expected, n);
    for (size_t i = 0; status == DG_OK && i < n; i++) {
        REQUIRE(out[i] >= -1 && out[i] <= 1);
    }
    dg_snapping_free(words);
    dg_snapping_free(gmp);
    free(rate);
    free(out);
    free(expected);
    tape_free(&ours);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, size};
    const uint8_t which = take_byte(&from) % 3;
    const size_t n = 1u + take_byte(&from) % MOST_DRAWS;
    if (which == 2) {
        leave_both(n, &from);
    } else {
        select_both((dg_selection_kind)which, n, &from);
    }
    return 0;
}
