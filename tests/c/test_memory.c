/* Memory that runs out: an error, no draws, nothing lost, and the next call right.
 *
 * The core's own allocations come here (the linker's --wrap), and each is made to fail once. GMP's
 * and MPFR's come here, too, and are only counted: they must never take more than the core has asked
 * for, nor any before it asks (base/memory.h), since a failure of theirs ends the process. */
#define _DEFAULT_SOURCE
#include "base/memory.h"
#include "cells/decide.h"
#include "isochronous/narrow.h"
#include "support.h"

#include <gmp.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the core's allocations -------------------------------------------------------------------- */

static size_t n_asked, fails_at; /* the fails_at-th fails; 0: none */
static size_t most_asked;        /* the longest block asked for beforehand */
static long n_ours;              /* blocks given and not yet freed */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t n);
void __real_free(void *block);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t n);
void __wrap_free(void *block);

static bool fails(void)
{
    return ++n_asked == fails_at;
}

void *__wrap_malloc(size_t n)
{
    most_asked =
        n > most_asked ? n : most_asked; /* tables and lists come from calloc and realloc */
    if (fails()) {
        return NULL;
    }
    n_ours++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    if (fails()) {
        return NULL;
    }
    n_ours++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t n)
{
    if (fails()) {
        return NULL;
    }
    n_ours += block == NULL;
    return __real_realloc(block, n);
}

void __wrap_free(void *block)
{
    n_ours -= block != NULL;
    __real_free(block);
}

/* --- GMP's and MPFR's -------------------------------------------------------------------------- */

static size_t gmp_live, gmp_peak, gmp_longest;
static size_t gmp_early; /* taken before the core has asked for anything */

static void count(size_t n)
{
    gmp_early += most_asked == 0 ? n : 0;
    gmp_live += n;
    gmp_peak = gmp_live > gmp_peak ? gmp_live : gmp_peak;
    gmp_longest = n > gmp_longest ? n : gmp_longest;
}

static void *gmp_allocate(size_t n)
{
    count(n);
    return __real_malloc(n);
}

static void *gmp_reallocate(void *block, size_t n, size_t new_n)
{
    count(new_n); /* both blocks may exist for a moment */
    gmp_live -= n;
    return __real_realloc(block, new_n);
}

static void gmp_free(void *block, size_t n)
{
    gmp_live -= n;
    __real_free(block);
}

/* --- laws, from parameters as long as they may be ---------------------------------------------- */

enum { LONGEST = DG_MAX_PARAMETER_BITS / 8 };

typedef struct memory_case {
    const char *name;
    dg_law_kind kind;
    dg_arithmetic arithmetic;
    size_t a, b, c, d, beta; /* bytes of the parameters; 0: the number 1, for c 0 */
} memory_case;

#define WORDS DG_ARITHMETIC_AUTO
#define GMP DG_ARITHMETIC_GMP

static const memory_case cases[] = {
    {"bernoulli", DG_BERNOULLI_EXP, GMP, 0, LONGEST, 0, 0, 0},
    {"geometric", DG_GEOMETRIC_EXP, GMP, LONGEST, LONGEST, 0, 0, 0},
    {"laplace, words", DG_DISCRETE_LAPLACE, WORDS, 2, 1, 0, 0, 0},
    {"laplace, long", DG_DISCRETE_LAPLACE, GMP, LONGEST, LONGEST, LONGEST, LONGEST, 0},
    {"gaussian, words", DG_DISCRETE_GAUSSIAN, WORDS, 2, 1, 0, 0, 0},
    {"gaussian, GMP", DG_DISCRETE_GAUSSIAN, GMP, 2, 1, 1, 2, 0},
    {"gaussian, 2^-65535", DG_DISCRETE_GAUSSIAN, GMP, 0, LONGEST, LONGEST, LONGEST, 0},
    {"gaussian, long", DG_DISCRETE_GAUSSIAN, GMP, LONGEST, LONGEST, LONGEST, LONGEST, 0},
    {"gaussian, long, centred", DG_DISCRETE_GAUSSIAN, GMP, LONGEST, 0, 0, 0, 0},
    {"gaussian, half as long", DG_DISCRETE_GAUSSIAN, GMP, LONGEST, LONGEST / 2, LONGEST,
     LONGEST / 2, 0},
    {"generalised", DG_GENERALIZED_GAUSSIAN, WORDS, 2, 1, 0, 0, 1},
    {"generalised, long", DG_GENERALIZED_GAUSSIAN, WORDS, LONGEST, LONGEST / 2, 0, 0, LONGEST},
    {"generalised, all long", DG_GENERALIZED_GAUSSIAN, WORDS, LONGEST, LONGEST, LONGEST, LONGEST,
     LONGEST},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/** bytes[0 .. n) = an odd integer of n bytes, positive. Two of a case have no common factor with a
 *  probability of about 1/2: the caller tries again. */
static dg_integer integer(uint8_t *bytes, size_t n, uint8_t instead, uint64_t *state)
{
    if (n == 0) {
        bytes[0] = instead;
        return (dg_integer){bytes, 1};
    }
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)next_word(state);
    }
    bytes[0] |= 1;
    bytes[n - 1] = (uint8_t)((bytes[n - 1] & 0x3F) | 0x40);
    return (dg_integer){bytes, n};
}

static const dg_parameters *parameters_of(const memory_case *of, uint64_t *state)
{
    static uint8_t bytes[6][LONGEST + 1];
    static dg_parameters parameters;
    parameters.a = integer(bytes[0], of->a, 1, state);
    parameters.b = integer(bytes[1], of->b, 1, state);
    parameters.c = integer(bytes[2], of->c, 0, state);
    parameters.d = integer(bytes[3], of->d, 1, state);
    parameters.beta_num = integer(bytes[4], of->beta, 1, state);
    parameters.beta_den = integer(bytes[5], of->beta / 2, 1, state);
    return &parameters;
}

/** The parameters as text. */
static char *texts[3];

static void write_texts(const dg_parameters *p)
{
    for (size_t i = 0; i < 3; i++) {
        __real_free(texts[i]);
    }
    texts[0] = text_of_bytes(&p->a, &p->b);
    texts[1] = text_of_bytes(&p->c, &p->d);
    texts[2] = text_of_bytes(&p->beta_num, &p->beta_den);
}

static dg_law *try_law(dg_status *status, const memory_case *of)
{
    dg_law *law = NULL;
    *status = dg_law_new(&law, of->kind, texts[0], texts[1], texts[2], of->arithmetic);
    return law;
}

/* --- one operation, watched -------------------------------------------------------------------- */

enum operation {
    NEW_LAW,
    FILL,
    NEW_TABLE,
    TABLE_FILL,
    DECIDE,
    NEW_LANES,
    LANES_FILL,
    SAMPLER
};
static const char *const operation_names[] = {
    "new law",          "fill",      "new table",  "table fill", "decision", "new lanes", "lanes fill", "sampler"};

typedef struct work {
    const memory_case *of;
    const dg_parameters *parameters;
    dg_law *law;
    dg_table *table;
    dg_lanes *lanes;
    uint8_t *out;
    size_t n, width;
} work;

/** The decision of the first partial cell that is always right. */
static dg_status decide(work *with)
{
    static dg_bits bits;
    dg_place place = {0, 0};
    bool accepted;
    dg_bits_open(&bits, NULL);
    dg_status status = dg_decide_in_doubt(&place, &accepted, with->table->n_full, 1, with->out,
                                          with->table, &bits);
    dg_bits_close(&bits);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* as a fill does, of which this is a part */
    return status;
}

/** Bytes with which an isochronous draw begins with an attempt that is not decided at once, and how many were
 *  given. */
typedef struct undecided {
    uint8_t first[16];
    size_t given;
} undecided;

/** A caller's source: those, then others. */
static int undecided_first(void *context, uint8_t *out, size_t n)
{
    static uint64_t state = 13;
    undecided *from = context;
    for (size_t i = 0; i < n; i++) {
        const size_t at = from->given++;
        out[i] = at < sizeof from->first ? from->first[at] : (uint8_t)next_word(&state);
    }
    return 0;
}

static dg_status fill_steadily(work *with)
{
    undecided from = {.given = 0};
    memset(from.first, 0xFF, sizeof from.first);
#if DG_HAVE_WORDS
    const dg_narrow *narrow = with->lanes->narrow;
    if (narrow != NULL) { /* the first unit of the tail */
        const uint64_t unit =
            narrow->threshold[narrow->n - 1] + ((uint64_t)narrow->n << narrow->has_sign);
        for (size_t i = 0; i < 8; i++) {
            from.first[i] = (uint8_t)(unit >> (8 * i));
        }
    }
#endif
    dg_source source = {DG_SOURCE_CALLER, undecided_first, &from};
    return dg_lanes_fill_wide(with->out, with->n, with->width, with->lanes, NULL, &source);
}

/** Whether a case has parameters so long that its table takes a second. */
static bool is_long(const memory_case *of)
{
    return of->a + of->b > 100;
}

/** A sampler by each method that the law has, and one draw. */
static dg_status use_sampler(work *with)
{
    static const dg_method methods[] = {DG_AUTO, DG_ISOCHRONOUS, DG_CELLS};
    dg_status status = DG_OK;
    for (size_t i = 0; i < (is_long(with->of) ? 2 : 3) && status == DG_OK; i++) {
        dg_sampler *sampler;
        status = dg_sampler_new(&sampler, with->of->kind, texts[0], texts[1], texts[2],
                                methods[i]);
        CHECK((sampler != NULL) == (status == DG_OK), "%s", with->of->name);
        if (status == DG_OK && i == 0) {
            status = dg_sampler_fill_wide(with->out, 1, with->width, sampler, NULL, NULL);
        }
        dg_sampler_free(sampler);
        status = status == DG_ERR_PARAMETER ? DG_OK : status;
    }
    return status;
}

/** Do it, and undo what it made. */
static dg_status operate(enum operation what, work *with)
{
    dg_status status = DG_OK;
    dg_law *law = NULL;
    dg_table *table = NULL;
    dg_lanes *lanes = NULL;
    switch (what) {
    case NEW_LAW:
        law = try_law(&status, with->of);
        CHECK((law != NULL) == (status == DG_OK), "%s", with->of->name);
        dg_law_free(law);
        break;
    case FILL:
        status = dg_law_fill_wide(with->out, with->n, with->width, with->law, NULL, NULL);
        break;
    case NEW_TABLE:
        status = dg_table_new(&table, with->law, 16, -1, DG_ISA_AUTO);
        CHECK((table != NULL) == (status == DG_OK), "%s", with->of->name);
        dg_table_free(table);
        break;
    case TABLE_FILL:
        status = dg_table_fill_wide(with->out, with->n, with->width, with->table, NULL, NULL);
        break;
    case DECIDE:
        status = decide(with);
        break;
    case NEW_LANES:
        status = dg_lanes_new(&lanes, with->law, DG_ISA_AUTO);
        CHECK((lanes != NULL) == (status == DG_OK), "%s", with->of->name);
        dg_lanes_free(lanes);
        break;
    case LANES_FILL:
        status = fill_steadily(with);
        break;
    case SAMPLER:
        status = use_sampler(with);
        break;
    }
    return status;
}

static bool all_zero(const work *with)
{
    for (size_t i = 0; i < with->n * with->width; i++) {
        if (with->out[i] != 0) {
            return false;
        }
    }
    return true;
}

/** GMP never takes more than was asked for, nor before, nor a long block. */
static void test_room(enum operation what, work *with, bool always_asks)
{
    const char *name = with->of->name, *doing = operation_names[what];
    size_t before = gmp_live;
    gmp_peak = gmp_live;
    gmp_longest = gmp_early = most_asked = n_asked = fails_at = 0;
    dg_status status = operate(what, with);
    size_t taken = gmp_peak - before;
    CHECK(status == DG_OK, "%s, %s: status %d", name, doing, (int)status);
    size_t room = most_asked < DG_ROOM ? most_asked : most_asked - DG_ROOM + 16384;
    CHECK(taken <= room, "%s, %s: GMP took %zu, asked for were %zu", name, doing, taken, room);
    CHECK(gmp_early == 0, "%s, %s: GMP took %zu before it was asked for", name, doing, gmp_early);
    CHECK(taken < 1 << 20 && gmp_longest < 1 << 16, "%s, %s: GMP took %zu, %zu at once", name,
          doing, taken, gmp_longest);
    CHECK(n_asked > 0 || !always_asks, "%s, %s: blind", name, doing);
}

/** Every allocation of ours fails once. */
static void test_failures(enum operation what, work *with)
{
    const char *name = with->of->name, *doing = operation_names[what];
    const bool draws = what == FILL || what == TABLE_FILL || what == LANES_FILL;
    const long before = n_ours;
    const size_t gmp_before = gmp_live;
    const size_t most =
        what == SAMPLER ? 40 : 10; /* of fills: as many as there are draws that ask */
    for (size_t nth = 1; nth <= most; nth++) {
        n_asked = 0;
        fails_at = nth;
        memset(with->out, 1, with->n * with->width);
        dg_status status = operate(what, with);
        fails_at = 0;
        bool failed = n_asked >= nth;
        CHECK(status == (failed ? DG_ERR_NOMEM : DG_OK), "%s, %s, %zu: status %d", name, doing, nth,
              (int)status);
        CHECK(n_ours == before, "%s, %s, %zu: %ld blocks lost", name, doing, nth, n_ours - before);
        CHECK(gmp_live == gmp_before, "%s, %s, %zu: GMP keeps %zu bytes", name, doing, nth,
              gmp_live - gmp_before);
        CHECK(!failed || !draws || all_zero(with), "%s, %s, %zu: draws", name, doing, nth);
        if (!failed) {
            break;
        }
        status = operate(what, with);
        CHECK(status == DG_OK, "%s, %s, after %zu: status %d", name, doing, nth, (int)status);
    }
}

/** Isochronous draws, of a law that has them. */
static void test_isochronous(work *with)
{
    with->n = 1;
    if (with->of->kind < DG_DISCRETE_LAPLACE ||
        dg_lanes_new(&with->lanes, with->law, DG_ISA_AUTO) != DG_OK) {
        return;
    }
    test_room(NEW_LANES, with, true);
    test_failures(NEW_LANES, with);
    test_room(LANES_FILL, with, true);
    test_failures(LANES_FILL, with);
    dg_lanes_free(with->lanes);
}

static void test_case(const memory_case *of, size_t most_draws)
{
    static uint64_t state = 11;
    work with = {.of = of, .n = 4};
    dg_status status = DG_ERR_PARAMETER;
    for (int i = 0; i < 200 && status == DG_ERR_PARAMETER; i++) {
        with.parameters = parameters_of(of, &state);
        write_texts(with.parameters);
        with.law = try_law(&status, of);
    }
    CHECK(status == DG_OK, "%s: status %d", of->name, (int)status);
    if (status != DG_OK) {
        return;
    }
    with.width = dg_law_wide_bytes(with.law);
    most_draws = is_long(of) ? 300 : most_draws;
    with.out = calloc(most_draws, with.width);
    bool by_gmp = dg_law_uses_words(with.law) == 0;
    test_room(NEW_LAW, &with, true);
    test_failures(NEW_LAW, &with);
    if (of->kind != DG_GENERALIZED_GAUSSIAN) {
        test_room(FILL, &with, by_gmp);
        test_failures(FILL, &with);
    }
    if (of->kind >= DG_DISCRETE_LAPLACE &&
        dg_table_new(&with.table, with.law, 16, -1, DG_ISA_AUTO) == DG_OK) {
        test_room(NEW_TABLE, &with, true);
        if (!is_long(of)) { /* a table of long parameters takes a second, and asks as often */
            test_failures(NEW_TABLE, &with);
        }
        with.n = most_draws; /* one in 10^6 needs memory; with -DDG_NARROW_BOUNDS=ON, one in 100 */
        test_room(TABLE_FILL, &with, false);
        test_failures(TABLE_FILL, &with);
        if (with.table->n_partial > 0) { /* not of a law that is next to certain */
            test_room(DECIDE, &with, true);
            test_failures(DECIDE, &with);
        }
        dg_table_free(with.table);
    }
    test_isochronous(&with);
    with.n = 1;
    test_room(SAMPLER, &with, true);
    test_failures(SAMPLER, &with);
    free(with.out);
    dg_law_free(with.law);
}

/* --- threads that end -------------------------------------------------------------------------- */

static void *build_in_thread(void *argument)
{
    dg_table *table = NULL;
    dg_status *status = argument;
    dg_law *law = law_of(DG_DISCRETE_LAPLACE, DG_ARITHMETIC_AUTO, 5, 2, 1, 3);
    *status = dg_table_new(&table, law, 16, -1, DG_ISA_AUTO);
    dg_table_free(table);
    dg_law_free(law);
    return NULL;
}

/** MPFR keeps constants for every thread: they have to go with it. */
static void test_threads(void)
{
    size_t before = gmp_live;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        dg_status status = DG_ERR_NOMEM;
        if (pthread_create(&thread, NULL, build_in_thread, &status) != 0) {
            abort();
        }
        (void)pthread_join(thread, NULL);
        CHECK(status == DG_OK, "status %d", (int)status);
    }
    CHECK(gmp_live == before, "threads that ended left %zu bytes of MPFR's", gmp_live - before);
}

/** The control of a run under valgrind: a decision by memory that was never set, which is lost. */
static int make_an_error(void)
{
    volatile uint8_t *lost = __real_malloc(100);
    (void)puts(lost != NULL && lost[50] == 7 ? "seven" : "not seven");
    return 0;
}

/** With the argument `brief`: short parameters only, and fewer draws. */
int main(int n_arguments, char **arguments)
{
    const bool in_part = n_arguments > 1;
    if (in_part && strcmp(arguments[1], "error") == 0) {
        return make_an_error();
    }
    /* A C library that is linked statically takes its blocks from here, too: some before main, and
     * those of threads. */
    const long at_start = n_ours;
    mp_set_memory_functions(gmp_allocate, gmp_reallocate, gmp_free);
    for (size_t i = 0; i < N_CASES; i++) {
        if (!in_part || !is_long(&cases[i])) {
            test_case(&cases[i], in_part ? 2000 : 200000);
        }
    }
    CHECK(n_ours == at_start, "%ld blocks of ours lost", n_ours - at_start);
    test_threads();
    CHECK(gmp_live == 0, "%zu bytes of GMP's lost", gmp_live);
    return report("memory");
}
