/* An isochronous fill takes as many instructions whatever is drawn: batches whose attempts are accepted and
 * rejected in the same places, but are of other values, as counted by valgrind (callgrind).
 *
 * Each measurement is a dump of callgrind's, named after what has to be equal and, last, which values
 * they are; compare_counts.sh runs this program and compares. Run by itself it says that it was skipped:
 *
 *     sh tests/c/compare_counts.sh valgrind build/tests/c/test_isochronous_counts
 *
 * The positive control is the reference path, whose counts have to differ. */
#include "api/add.h"
#include "support.h"

#include "isochronous/narrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, ATTEMPTS = 256, MOST_BYTES = 16 * ATTEMPTS, FILL = 100 };

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif

#if DG_HAVE_WORDS && defined(CALLGRIND_DUMP_STATS_AT)

/* --- batches --------------------------------------------------------------------------------- */

/** Which values the attempts of a batch have. */
typedef enum values { CENTRE, WAITING, RIGHT_CORE, LEFT_TAIL, ANY, N_VALUES } values;

static const char *const NAMES[N_VALUES] = {"centre", "centre-one-waits", "right-core", "left-tail",
                                            "any"};

/** Write an attempt that is accepted (f' = 0) or rejected (f' next to 1): no word of it is near an
 *  edge. Returns: what it draws. */
static int64_t write_attempt(uint8_t *bytes, bool accepted, values of, uint64_t level_end,
                             const dg_lanes *lanes, uint64_t *state)
{
    const uint64_t any = next_word(state), tail = lanes->n_core + any % lanes->n_tail;
    uint64_t cell = 0, low = 0, left = 0, level = 0;
    switch (of) {
    case CENTRE:
        break;
    case RIGHT_CORE:
        cell = lanes->n_core - 1;
        low = lanes->low_mask;
        break;
    case LEFT_TAIL:
        cell = tail;
        level = level_end - 1;
        left = 1;
        low = next_word(state) & lanes->low_mask;
        break;
    default:
        cell = any >> 32 & 1 ? tail : any % lanes->n_core;
        left = any >> 33 & 1;
        level = cell >= lanes->n_core ? (any >> 34) % level_end : 0;
        low = next_word(state) & lanes->low_mask;
    }
    const uint64_t ones = level == 0 ? 0 : UINT64_MAX << (64 - level);
    uint64_t point = ones | left;
    /* the last choice of a cell counts, the first one does not if the remainder is small */
    const uint64_t first = ((cell << 16) + lanes->n_cells - 1) / lanes->n_cells;
    uint64_t choice = first + 1;
    if (!accepted) {
        point |= UINT64_MAX >> (cell >= lanes->n_core ? level + 1 : 0) & ~UINT64_C(1);
        if (cell == 0) { /* g may be 1 there: the choice fails */
            choice = 0;
        }
    }
    for (size_t i = 0; i < 16 && i < lanes->attempt_bytes; i++) {
        const uint64_t word = i < 8 ? point : choice | (low & 0xFFFF) << 16 | (low >> 16) << 32;
        bytes[i] = (uint8_t)(word >> (8 * (i % 8)));
    }
    const uint64_t z = (cell + level * lanes->n_tail) << lanes->block_bits | low;
    return (int64_t)((left ? ~z : z) + (uint64_t)lanes->c);
}

/** Write the word of an outcome of a narrow law, of which every attempt succeeds. Returns: what it draws. */
static int64_t write_word(uint8_t *bytes, values of, const dg_lanes *lanes, uint64_t *state)
{
    const dg_narrow *narrow = lanes->narrow;
    const size_t centre = (size_t)-narrow->least, last = narrow->n - 1;
    const uint64_t any = next_word(state), sign = of == LEFT_TAIL || (of == ANY && any >> 40 & 1);
    size_t j = of == CENTRE                          ? centre
               : of == RIGHT_CORE                    ? centre + 1
               : of == LEFT_TAIL && narrow->has_sign ? last
               : of == LEFT_TAIL                     ? 0
                                                     : any % narrow->n;
    while (j > 0 && narrow->threshold[j] == narrow->threshold[j - 1]) { /* no word at all */
        j--;
    }
    uint64_t word = narrow->threshold[j] - 1; /* the last one; it is odd, if there is a sign */
    word -= narrow->has_sign & ~sign;
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(word >> (8 * i));
    }
    const int64_t y = narrow->least + (int64_t)j;
    return lanes->c + (narrow->has_sign && sign ? -y : y);
}

/** A batch in which every third attempt or so is rejected, if any is: always the same ones. */
typedef struct batch {
    uint8_t bytes[MOST_BYTES];
    size_t used;
    int64_t draws[ATTEMPTS];
    size_t n_draws;
} batch;

/** A point on the right whose f' is 1 - 2^-28. */
static const uint8_t NEARLY_ONE[8] = {0, 0, 0, 0, 0xF0, 0xFF, 0xFF, 0xFF};

static void write_batch(batch *out, values of, uint64_t level_end, const dg_lanes *lanes)
{
    uint64_t pattern = 20261123, state = (uint64_t)of + 1;
    const values places = of == WAITING ? CENTRE : of;
    out->used = out->n_draws = 0;
    for (size_t i = 0; i < ATTEMPTS; i++) {
        const bool accepted = next_word(&pattern) >> 62 != 0 || lanes->narrow != NULL;
        uint8_t *bytes = out->bytes + i * lanes->attempt_bytes;
        const int64_t draw = lanes->narrow != NULL
                                 ? write_word(bytes, places, lanes, &state)
                                 : write_attempt(bytes, accepted, places, level_end, lanes, &state);
        if (of == WAITING && accepted && out->n_draws == 0 && lanes->narrow == NULL) {
            memcpy(bytes, NEARLY_ONE,
                   sizeof NEARLY_ONE); /* 32 bits do not tell that g = 1 is above */
        }
        if (accepted) {
            out->draws[out->n_draws++] = draw;
        }
    }
}

/** A source that gives a batch's bytes. */
static int next_bytes(void *context, uint8_t *out, size_t n)
{
    batch *of = context;
    if (n > sizeof of->bytes - of->used) {
        return 1;
    }
    memcpy(out, of->bytes + of->used, n);
    of->used += n;
    return 0;
}

/* --- measurements ---------------------------------------------------------------------------- */

/* What is between two COUNTs is counted, of the second call: in the first one the addresses of functions
 * are looked up. */
#define COUNT(i)                                                                                   \
    if ((i) == 1) {                                                                                \
        CALLGRIND_TOGGLE_COLLECT;                                                                  \
    }

static void count_batch(const char *group, batch *of, values name, const dg_lanes *lanes)
{
    static int64_t out[ATTEMPTS + DG_LANE_BEHIND];
    char label[100];
    size_t n_accepted = 0, n_made = 0;
    (void)snprintf(label, sizeof label, "equal attempts-%s %s", group, NAMES[name]);
    for (int i = 0; i < 2; i++) {
        COUNT(i);
        lanes->kernel(out, &n_accepted, &n_made, of->bytes, ATTEMPTS, lanes);
        COUNT(i);
    }
    CALLGRIND_DUMP_STATS_AT(label);
    CHECK(n_made == ATTEMPTS && n_accepted == of->n_draws &&
              memcmp(out, of->draws, n_accepted * sizeof *out) == 0,
          "%s: not the batch that was meant: %zu made, %zu accepted of %zu", label, n_made,
          n_accepted, of->n_draws);
}

static void count_fill(const char *group, batch *of, values name, const dg_lanes *lanes)
{
    static int64_t out[FILL], sums[FILL], counts[FILL];
    const dg_sums added = {
        .addend = {.values = counts, .dtype = DG_INT64}, .stride = 1, .dtype = DG_INT64};
    const dg_source source = {DG_SOURCE_CALLER, next_bytes, of};
    char label[100];
    dg_status status = DG_OK;
    (void)snprintf(label, sizeof label, "equal fill-%s %s", group, NAMES[name]);
    for (int i = 0; i < 2; i++) {
        of->used = 0;
        COUNT(i);
        status = dg_lanes_fill(out, FILL, DG_INT64, lanes, NULL, &source);
        memcpy(sums, out, sizeof sums);
        (void)dg_add(sums, 0, FILL, &added); /* as add_noise does */
        COUNT(i);
    }
    CALLGRIND_DUMP_STATS_AT(label);
    CHECK(status == DG_OK && memcmp(out, of->draws, sizeof out) == 0, "%s: status %d", label,
          (int)status);
}

typedef struct test_case {
    const char *name;
    dg_law_kind kind;
    int64_t a;
    size_t shift;
    int64_t n, d;
    uint64_t
        level_end; /* tail levels from it on are too unlikely for f' = 0 to be sure, or AVX2 lets them wait */
} test_case;

static const test_case CASES[] = {
    {"narrow", DG_DISCRETE_GAUSSIAN, 25, 0, 0, 1, 0},
    {"narrow-off-centre", DG_DISCRETE_GAUSSIAN, 4, 0, 1, 3, 0},
    {"narrow-laplace", DG_DISCRETE_LAPLACE, 1, 0, 0, 1, 0},
    {"gaussian", DG_DISCRETE_GAUSSIAN, 400, 0, 0, 1, 4},
    {"gaussian-off-centre", DG_DISCRETE_GAUSSIAN, 25, 4, 1, 3, 4},
    {"gaussian-wide", DG_DISCRETE_GAUSSIAN, 25, 60, 1, 3, 4},
    {"laplace", DG_DISCRETE_LAPLACE, 50, 0, 0, 1, 24},
    {"laplace-wide", DG_DISCRETE_LAPLACE, 50, 30, -2, 5, 24},
    {"generalised", DG_GENERALIZED_GAUSSIAN, 50, 0, 1, 3, 8},
    {"generalised-wide", DG_GENERALIZED_GAUSSIAN, 50, 30, -2, 5, 8},
};

static void count_law(const test_case *of, dg_isa isa, const char *isa_name)
{
    static batch made;
    char group[60];
    dg_law *law =
        of->kind == DG_GENERALIZED_GAUSSIAN
            ? power_law_of(of->a, of->shift, 1, of->n, of->d, 3, 2)
            : long_law_of(of->kind, DG_ARITHMETIC_AUTO, of->a, of->shift, 1, 0, of->n, of->d);
    dg_lanes *lanes = NULL;
    if (dg_lanes_new(&lanes, law, isa) != DG_OK || lanes->kernel == NULL) {
        exit(2);
    }
    CHECK(lanes->isa == isa, "another kernel");
    (void)snprintf(group, sizeof group, "%s-%s", isa_name, of->name);
    for (values name = 0; name < N_VALUES; name++) {
        write_batch(&made, name, of->level_end, lanes);
        count_batch(group, &made, name, lanes);
        count_fill(group, &made, name, lanes);
    }
    dg_lanes_free(lanes);
    dg_law_free(law);
}

/** The reference path, on some bytes of the batches. */
static void count_reference(void)
{
    static batch made;
    dg_law *law = law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 100, 1, 0, 1);
    const dg_source source = {DG_SOURCE_CALLER, next_bytes, &made};
    for (values name = 0; name < N_VALUES; name++) {
        char label[100];
        uint64_t state = (uint64_t)name + 1;
        int64_t x;
        for (size_t i = 0; i < sizeof made.bytes; i++) {
            made.bytes[i] = (uint8_t)(next_word(&state) >> 56);
        }
        (void)snprintf(label, sizeof label, "differ reference %s", NAMES[name]);
        for (int i = 0; i < 2; i++) {
            made.used = 0;
            COUNT(i);
            (void)dg_law_fill(&x, 1, DG_INT64, law, NULL, &source);
            COUNT(i);
        }
        CALLGRIND_DUMP_STATS_AT(label);
    }
    dg_law_free(law);
}

int main(void)
{
    if (RUNNING_ON_VALGRIND == 0) {
        puts("skipped: not under valgrind");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        count_law(&CASES[i], DG_ISA_PORTABLE, "portable");
        if (dg_isa_available(DG_ISA_AVX2) && CASES[i].kind != DG_GENERALIZED_GAUSSIAN) {
            count_law(&CASES[i], DG_ISA_AVX2, "avx2");
        }
    }
    count_reference();
    return report("batches whose instructions are counted");
}

#else
int main(void)
{
    return SKIPPED; /* no valgrind headers, or no 128-bit integers */
}
#endif
