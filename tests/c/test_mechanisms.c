/* Selections and the sides of cells: from the same bytes, machine words and GMP give the same results and use the same
 * bytes; wrong arguments are refused. */
#include "mechanisms/leave_cell.h"
#include "mechanisms/select.h"
#include "support.h"

#include <string.h>

enum { TAPE = 1 << 16, ROWS = 3, K = 4, N = 60 };

static uint8_t bytes[TAPE];

static void gaps_of(uint8_t *out, const uint64_t *gaps, size_t n, size_t gap_bytes)
{
    memset(out, 0, n * gap_bytes);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof *gaps && k < gap_bytes; k++) {
            out[i * gap_bytes + k] = (uint8_t)(gaps[i] >> (8 * k));
        }
    }
}

/** Select N times from gaps of gap_bytes bytes, with a rate of 1/3. Returns: the bytes used. */
static size_t select_with(int64_t *out, dg_selection_kind kind, dg_arithmetic arithmetic,
                          size_t gap_bytes)
{
    static const uint64_t gaps[ROWS * K] = {0, 1, 2, 3, 9, 0, 0, 1, 200, 5, 0, 255};
    uint8_t as_bytes[ROWS * K * 16];
    int64_t which[N];
    for (size_t i = 0; i < N; i++) {
        which[i] = (int64_t)(i % ROWS);
    }
    gaps_of(as_bytes, gaps, ROWS * K, gap_bytes);
    dg_selection *selection;
    CHECK(dg_selection_new(&selection, kind, "1/3", as_bytes, gap_bytes, ROWS, K, which) == DG_OK,
          "kind %d", (int)kind);
    if (arithmetic == DG_ARITHMETIC_GMP) {
        selection->rate->uses_words = selection->in_words = false;
    }
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    CHECK(dg_selection_fill(out, N, DG_INT64, selection, NULL, &source) == DG_OK, "kind %d",
          (int)kind);
    dg_selection_free(selection);
    return from.used;
}

static void test_selections(void)
{
    for (int kind = DG_PERMUTE_AND_FLIP; kind <= DG_EXPONENTIAL; kind++) {
        int64_t words[N], gmp[N], wide[N], narrow[N];
        const dg_selection_kind one = (dg_selection_kind)kind;
        const size_t used = select_with(words, one, DG_ARITHMETIC_AUTO, 8);
        CHECK(select_with(gmp, one, DG_ARITHMETIC_GMP, 8) == used, "by GMP");
        CHECK(select_with(wide, one, DG_ARITHMETIC_AUTO, 16) == used, "of 16 bytes");
        CHECK(select_with(narrow, one, DG_ARITHMETIC_AUTO, 1) == used, "of one byte");
        CHECK(memcmp(words, gmp, sizeof words) == 0, "by GMP");
        CHECK(memcmp(words, wide, sizeof words) == 0, "of 16 bytes");
        CHECK(memcmp(words, narrow, sizeof words) == 0, "of one byte");
        for (size_t i = 0; i < N; i++) {
            CHECK(words[i] >= 0 && words[i] < K, "place %zu", i);
        }
    }
}

static void test_errors_of_selections(void)
{
    static const uint8_t gaps[2 * K] = {0, 1, 2, 3, 9, 0, 9, 9}, far[] = {0, 0, 200, 200};
    dg_selection *s;
    CHECK(dg_selection_new(&s, (dg_selection_kind)2, "1", gaps, 1, 2, K, NULL) ==
              DG_ERR_SELECTION_KIND,
          "no such kind");
    CHECK(dg_selection_new(&s, DG_EXPONENTIAL, "1 ", gaps, 1, 2, K, NULL) == DG_ERR_RATE,
          "no number");
    CHECK(dg_selection_new(&s, DG_EXPONENTIAL, "-1/3", gaps, 1, 2, K, NULL) == DG_ERR_RATE,
          "rate < 0");
    const char *rate = "1000";
    CHECK(dg_selection_new(&s, DG_EXPONENTIAL, rate, gaps, 1, 2, 0, NULL) == DG_ERR_K,
          "no candidate");
    CHECK(dg_selection_new(&s, DG_EXPONENTIAL, rate, gaps, 0, 2, K, NULL) == DG_ERR_GAP_BYTES,
          "no bytes");
    CHECK(dg_selection_new(&s, DG_EXPONENTIAL, rate, gaps, 1 << 20, 2, K, NULL) == DG_ERR_GAP_BYTES,
          "long gaps");
    CHECK(s == NULL, "a selection was left");
    for (int kind = DG_PERMUTE_AND_FLIP; kind <= DG_EXPONENTIAL; kind++) {
        /* the second row has no gap of 0: an exponential selection from it would hardly ever end */
        CHECK(dg_selection_new(&s, (dg_selection_kind)kind, "1", far, 1, 2, 2, NULL) == DG_ERR_GAPS,
              "no gap of 0, kind %d", kind);
        CHECK(s == NULL, "a selection was left");
        CHECK(dg_selection_new(&s, (dg_selection_kind)kind, "1", far, 2, 1, 2, NULL) == DG_OK,
              "a gap of 0 in two bytes, kind %d", kind);
        dg_selection_free(s);
    }
    CHECK(dg_selection_new(&s, DG_PERMUTE_AND_FLIP, rate, gaps, 1, 2, K, NULL) == DG_OK, "rows");
    int64_t out[2];
    tape empty = {bytes, 0, 0};
    const dg_source source = tape_source(&empty);
    CHECK(dg_selection_fill(out, 2, DG_INT64, s, NULL, &source) == DG_ERR_SOURCE, "no bytes");
    CHECK(dg_selection_fill(out, 2, (dg_dtype)99, s, NULL, NULL) == DG_ERR_DTYPE, "dtype");
    dg_selection_free(s);
    dg_selection_free(NULL);
}

/** Words hold a gap times the rate up to 127 bits; GMP multiplies from 128 bits on. A product of 2^128 would be 0 in
 *  words, and the worst candidate as likely as the best. */
static void test_long_products(void)
{
    static const struct {
        const char *rate; /* of 64, 65 and 66 bits */
        uint64_t gap;     /* of 63, 63 and 64 bits */
        bool in_words;
    } cases[] = {{"0x8000000000000000", UINT64_C(1) << 62, true},
                 {"0x10000000000000000", UINT64_C(1) << 62, false},
                 {"0x20000000000000000", UINT64_C(1) << 63, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t gaps[2] = {0, cases[i].gap};
        uint8_t as_bytes[16];
        gaps_of(as_bytes, gaps, 2, 8);
        dg_selection *selection;
        CHECK(dg_selection_new(&selection, DG_EXPONENTIAL, cases[i].rate, as_bytes, 8, 1, 2,
                               NULL) == DG_OK,
              "case %zu", i);
        CHECK(selection->in_words == (DG_HAVE_WORDS && cases[i].in_words), "case %zu", i);
        int64_t out[N];
        tape from = {bytes, TAPE, 0};
        const dg_source source = tape_source(&from);
        CHECK(dg_selection_fill(out, N, DG_INT64, selection, NULL, &source) == DG_OK, "case %zu",
              i);
        for (size_t k = 0; k < N; k++) {
            CHECK(out[k] == 0, "case %zu: the worst candidate", i);
        }
        dg_selection_free(selection);
    }
}

/** Draw sides of values in cells of (a/b) 2^doublings scales. Returns: the bytes used. */
static size_t sides_with(int64_t *out, dg_arithmetic arithmetic, int64_t a, int64_t b,
                         size_t doublings)
{
    static const int64_t offsets[] = {0, -1, 1, 123456789, -(INT64_C(1) << 51), 3};
    static const int64_t shifts[] = {1, 1, 3, 40, 52, 200};
    enum { KINDS = sizeof shifts / sizeof *shifts };
    int64_t offset[N], shift[N];
    for (size_t i = 0; i < N; i++) {
        offset[i] = offsets[i % KINDS];
        shift[i] = shifts[i % KINDS];
    }
    dg_snapping *snapping;
    char step[LONGEST_RATIO];
    CHECK(dg_snapping_new(&snapping, write_ratio(step, a, 0, b, 0), doublings, offset, shift) ==
              DG_OK,
          "%zu", doublings);
    if (arithmetic == DG_ARITHMETIC_GMP) {
        snapping->step->uses_words = false;
    }
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    CHECK(dg_snapping_fill(out, N, DG_INT64, snapping, NULL, &source) == DG_OK, "%zu", doublings);
    CHECK(dg_snapping_fill(out, N, DG_UINT8, snapping, NULL, NULL) != DG_OK, "no sign");
    from.used = 0;
    CHECK(dg_snapping_fill(out, N, DG_INT64, snapping, NULL, &source) == DG_OK, "again");
    dg_snapping_free(snapping);
    return from.used;
}

static void test_sides(void)
{
    static const struct {
        int64_t a, b;
        size_t doublings;
    } cells[] = {{1, 1, 0}, {2, 3, 1}, {5, 8, 63}, {INT64_C(3602879701896397), INT64_MAX, 0}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        int64_t words[N], gmp[N];
        const int64_t a = cells[i].a, b = cells[i].b;
        const size_t used = sides_with(words, DG_ARITHMETIC_AUTO, a, b, cells[i].doublings);
        CHECK(sides_with(gmp, DG_ARITHMETIC_GMP, a, b, cells[i].doublings) == used, "cell %zu", i);
        CHECK(memcmp(words, gmp, sizeof words) == 0, "cell %zu", i);
    }
    dg_snapping *snapping;
    CHECK(dg_snapping_new(&snapping, "2", 0, NULL, NULL) == DG_ERR_STEP, "step > 1");
    CHECK(snapping == NULL, "one was left");
    CHECK(dg_snapping_new(&snapping, "1/2", 1, NULL, NULL) == DG_ERR_SHORT_STEP, "step <= 1/2");
    CHECK(dg_snapping_new(&snapping, "1/2", 0, NULL, NULL) == DG_OK, "no doublings");
    dg_snapping_free(snapping);
}

static void test_words(void)
{
    uint64_t words[3];
    uint16_t short_words[5];
    tape from = {bytes, TAPE, 0};
    const dg_source source = tape_source(&from);
    CHECK(dg_words_fill(words, 3, DG_UINT64, NULL, &source) == DG_OK, "words");
    CHECK(from.used == sizeof words, "%zu", from.used);
    CHECK((words[0] & 255) == bytes[0] && words[0] >> 56 == bytes[7], "order of bytes");
    CHECK(dg_words_fill(short_words, 5, DG_UINT16, NULL, &source) == DG_OK, "short words");
    CHECK(short_words[0] == (bytes[24] | bytes[25] << 8), "order of bytes");
    CHECK(dg_words_fill(words, 3, DG_INT64, NULL, &source) == DG_ERR_SIGNED, "signed");
}

int main(void)
{
    uint64_t state = 12;
    for (size_t i = 0; i < TAPE; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    test_selections();
    test_errors_of_selections();
    test_long_products();
    test_sides();
    test_words();
    return report("selections and snapping");
}
