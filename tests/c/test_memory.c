/* When memory runs out, a call returns an error, loses nothing, and the next call is right.
 *
 * The linker's --wrap brings the core's own allocations here, and each is made to fail once. The allocations of GMP and
 * MPFR come here, too, and are only counted. They must never take more than the core has checked for, nor any memory
 * before it checks (base/memory.h), because their failures end the process. */
#define _DEFAULT_SOURCE
#include "base/memory.h"
#include "cells/decide.h"
#include "isochronous/silent.h"
#include "sampler/prepare.h"
#include "support.h"

#include <gmp.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the core's allocations -------------------------------------------------------------------- */

static size_t n_allocations, fails_at; /* the fails_at-th fails; 0: none */
static size_t most_checked;            /* the longest block that was checked for */
static long n_ours;                    /* blocks allocated and not yet freed */

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
    return ++n_allocations == fails_at;
}

/* Another thread that is faster, as it seems to a call: at the call's next malloc it fills from the same sampler. */
static const dg_sampler *rival;
static int64_t of_rival[1 << 16];

static void let_rival_fill(void)
{
    const dg_sampler *from = rival;
    rival = NULL;
    if (from != NULL && dg_sampler_fill(of_rival, sizeof of_rival / sizeof *of_rival, DG_INT64,
                                        from, NULL, NULL) != DG_OK) {
        abort();
    }
}

void *__wrap_malloc(size_t n)
{
    let_rival_fill();
    most_checked =
        n > most_checked ? n : most_checked; /* tables and lists come from calloc and realloc */
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

/* --- the allocations of GMP and MPFR ------------------------------------------------------------ */

static size_t gmp_live, gmp_peak, gmp_longest;
static size_t gmp_early; /* taken before the core has checked for any */

static void count(size_t n)
{
    gmp_early += most_checked == 0 ? n : 0;
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

/* --- laws, with parameters up to the longest ---------------------------------------------------- */

enum { LONGEST = DG_MAX_PARAMETER_BITS / 8 };

typedef struct memory_case {
    const char *name;
    dg_law_kind kind;
    dg_arithmetic arithmetic;
    size_t a, b, c, d, beta; /* bytes of the parameters; 0: the number 1, or for c 0 */
} memory_case;

#define WORDS DG_ARITHMETIC_AUTO
#define GMP DG_ARITHMETIC_GMP

static const memory_case cases[] = {
    {"bernoulli", DG_BERNOULLI_EXP, GMP, 0, LONGEST, 0, 0, 0},
    {"uniform", DG_UNIFORM_BELOW, GMP, LONGEST, 0, 0, 0, 0},
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

/** The parameters of the current case. */
static char texts[3][4 * LONGEST + 16];

/** Write an odd positive integer of n bytes, or `instead` if n is 0. Returns: the end. */
static char *write_integer(char *to, size_t n, char instead, uint64_t *state)
{
    static const char digits[] = "0123456789abcdef";
    *to++ = '0';
    *to++ = 'x';
    for (size_t i = 0; i < 2 * n; i++) {
        const unsigned any = (unsigned)(next_word(state) >> 60);
        *to++ = digits[i == 0 ? 4 + any % 4 : i == 2 * n - 1 ? any | 1 : any];
    }
    if (n == 0) {
        *to++ = instead;
    }
    *to = 0;
    return to;
}

static void write_texts(const memory_case *of)
{
    static uint64_t state = 11;
    const size_t sizes[3][2] = {{of->a, of->b}, {of->c, of->d}, {of->beta, of->beta / 2}};
    for (size_t i = 0; i < 3; i++) {
        char *end = write_integer(texts[i], sizes[i][0], i == 1 ? '0' : '1', &state);
        *end++ = '/';
        (void)write_integer(end, sizes[i][1], '1', &state);
    }
}

/* --- one operation under observation ------------------------------------------------------------ */

enum operation { NEW, FILL, DECIDE };
static const char *const operation_names[] = {"new sampler", "fill", "decision"};
static const char *const method_names[] = {"auto", "reference", "cells", "isochronous"};

typedef struct work {
    const memory_case *of;
    dg_method method;
    dg_sampler *sampler;
    uint8_t *out;
    size_t n, width;
} work;

static dg_status new_sampler(dg_sampler **sampler, const work *with)
{
    const dg_options options = {with->of->arithmetic, DG_ISA_AUTO, 16, -1};
    return dg_sampler_new_with(sampler, with->of->kind, texts[0], texts[1], texts[2], with->method,
                               &options);
}

/** Decide the first partial cell by the comparison that is always right. */
static dg_status decide(work *with)
{
    static dg_bits bits;
    const dg_table *table = with->sampler->table;
    dg_place place = {0, 0};
    bool accepted;
    dg_bits_open(&bits, NULL);
    dg_status status =
        dg_decide_in_doubt(&place, &accepted, table->n_full, 1, with->out, table, &bits);
    dg_bits_close(&bits);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* as a fill does, of which this is a part */
    return status;
}

/** A caller's source that gives these bytes, then others. */
typedef struct given {
    uint8_t first[DG_SILENT_BYTES];
    size_t n, n_given;
    uint64_t state;
} given;

static int give(void *context, uint8_t *out, size_t n)
{
    given *from = context;
    for (size_t i = 0; i < n; i++) {
        const size_t at = from->n_given++;
        out[i] = at < from->n ? from->first[at] : (uint8_t)next_word(&from->state);
    }
    return 0;
}

/** Fill, with a batch that kernels leave undecided. */
static dg_status fill_settled(work *with)
{
    static given from;
    from.state = 13;
    from.n_given = 0;
    from.n = write_tail(from.first, with->n, with->sampler, &from.state);
    dg_source source = {DG_SOURCE_CALLER, give, &from};
    return dg_sampler_fill_wide(with->out, with->n, with->width, with->sampler, NULL, &source);
}

/** Return whether a case has parameters so long that its table takes a second. */
static bool is_long(const memory_case *of)
{
    return of->a + of->b > 100;
}

/** Do an operation, and free what it made. */
static dg_status operate(enum operation what, work *with)
{
    dg_status status = DG_OK;
    dg_sampler *sampler = NULL;
    switch (what) {
    case NEW:
        status = new_sampler(&sampler, with);
        CHECK((sampler != NULL) == (status == DG_OK), "%s", with->of->name);
        dg_sampler_free(sampler);
        break;
    case FILL:
        status =
            with->method == DG_ISOCHRONOUS
                ? fill_settled(with)
                : dg_sampler_fill_wide(with->out, with->n, with->width, with->sampler, NULL, NULL);
        break;
    case DECIDE:
        status = decide(with);
        break;
    }
    return status;
}

/** GMP never takes more memory than was checked for, nor any before, nor a long block. */
static void test_room(enum operation what, work *with, bool always_asks)
{
    const char *name = with->of->name, *by = method_names[with->method];
    const char *doing = operation_names[what];
    size_t before = gmp_live;
    gmp_peak = gmp_live;
    gmp_longest = gmp_early = most_checked = n_allocations = fails_at = 0;
    dg_status status = operate(what, with);
    size_t taken = gmp_peak - before;
    CHECK(status == DG_OK, "%s, %s by %s: status %d", name, doing, by, (int)status);
    size_t room = most_checked < DG_ROOM ? most_checked : most_checked - DG_ROOM + 16384;
    CHECK(taken <= room, "%s, %s by %s: GMP took %zu, checked for were %zu", name, doing, by, taken,
          room);
    CHECK(gmp_early == 0, "%s, %s by %s: GMP took %zu before it was checked for", name, doing, by,
          gmp_early);
    CHECK(taken < 1 << 20 && gmp_longest < 1 << 16, "%s, %s by %s: GMP took %zu, %zu at once", name,
          doing, by, taken, gmp_longest);
    CHECK(n_allocations > 0 || !always_asks, "%s, %s by %s: blind", name, doing, by);
}

/** Make every allocation of the core fail once. */
static void test_failures(enum operation what, work *with)
{
    const char *name = with->of->name, *by = method_names[with->method];
    const char *doing = operation_names[what];
    const long before = n_ours;
    const size_t gmp_before = gmp_live;
    const size_t most = what == NEW ? 40 : 10; /* fills: as many as there are draws that allocate */
    for (size_t nth = 1; nth <= most; nth++) {
        n_allocations = 0;
        fails_at = nth;
        dg_status status = operate(what, with);
        fails_at = 0;
        bool failed = n_allocations >= nth;
        CHECK(status == (failed ? DG_ERR_NOMEM : DG_OK), "%s, %s by %s, %zu: status %d", name,
              doing, by, nth, (int)status);
        CHECK(n_ours == before, "%s, %s by %s, %zu: %ld blocks lost", name, doing, by, nth,
              n_ours - before);
        CHECK(gmp_live == gmp_before, "%s, %s by %s, %zu: GMP keeps %zu bytes", name, doing, by,
              nth, gmp_live - gmp_before);
        if (!failed) {
            break;
        }
        status = operate(what, with);
        CHECK(status == DG_OK, "%s, %s by %s, after %zu: status %d", name, doing, by, nth,
              (int)status);
    }
}

/** Test a method, if the law has it. */
static void test_method(dg_method method, size_t most_draws, work *with)
{
    with->method = method;
    dg_status status = new_sampler(&with->sampler, with);
    CHECK(status == DG_OK || status == DG_ERR_METHOD, "%s: %d", with->of->name, (int)status);
    if (status != DG_OK) {
        return;
    }
    dg_sampler_info info;
    dg_sampler_describe(&info, with->sampler);
    const bool by_cells = dg_sampler_method(with->sampler, 1) == DG_CELLS;
    test_room(NEW, with, true);
    if (!by_cells ||
        !is_long(with->of)) { /* a table of long parameters allocates as often, and takes long */
        test_failures(NEW, with);
    }
    with->width = dg_sampler_wide_bytes(with->sampler);
    /* in a table one draw in 10^6 needs memory; with -DDG_NARROW_BOUNDS=ON, one in 100 */
    with->n = method == DG_CELLS ? most_draws : method == DG_ISOCHRONOUS ? 1 : 4;
    with->out = __real_calloc(with->n, with->width);
    test_room(FILL, with, method == DG_REFERENCE ? !info.uses_words : method == DG_ISOCHRONOUS);
    test_failures(FILL, with);
    if (method == DG_CELLS && info.n_partial > 0) { /* a law that is nearly certain has none */
        test_room(DECIDE, with, true);
        test_failures(DECIDE, with);
    }
    __real_free(with->out);
    dg_sampler_free(with->sampler);
}

static void test_case(const memory_case *of, size_t most_draws)
{
    work with = {.of = of};
    write_texts(of);
    for (int method = DG_AUTO; method <= DG_ISOCHRONOUS; method++) {
        test_method((dg_method)method, is_long(of) ? 300 : most_draws, &with);
    }
}

/** The longest texts, decimal or in other terms, are read in the memory that was checked for, and each of the core's
 *  allocations fails once. */
static void test_texts(void)
{
    enum { MOST = 2 * DG_MAX_PARAMETER_BITS, DIGITS = MOST * 3 / 10 - 8 };
    static char decimal[2 * DIGITS + 2], fraction[DIGITS + 1], terms[MOST / 2 + 16];
    memset(decimal, '7', sizeof decimal - 1);
    decimal[DIGITS] = '/';
    memset(decimal + DIGITS + 1, '3', DIGITS);
    memset(fraction, '0', DIGITS); /* 0.0...01: its denominator is 10^n */
    fraction[1] = '.';
    fraction[DIGITS - 1] = '1';
    char *end = write_number(terms, 1, MOST - 8); /* long terms of a short number */
    *end++ = '/';
    (void)write_number(end, 7, MOST - 12);
    const struct {
        const char *text;
        dg_status status;
    } texts_of[] = {{decimal, DG_OK}, {fraction, DG_ERR_LONG_PARAMETER}, {terms, DG_OK}};
    for (size_t i = 0; i < sizeof texts_of / sizeof *texts_of; i++) {
        const long before = n_ours;
        const size_t gmp_before = gmp_live;
        for (size_t nth = 0; nth <= 6; nth++) { /* 0: none fails */
            dg_sampler *sampler = NULL;
            gmp_peak = gmp_live;
            gmp_longest = gmp_early = most_checked = n_allocations = 0;
            fails_at = nth;
            const dg_status status =
                dg_sampler_new(&sampler, DG_DISCRETE_GAUSSIAN, texts_of[i].text, texts_of[i].text,
                               NULL, DG_REFERENCE);
            const bool failed = nth > 0 && n_allocations >= nth;
            fails_at = 0;
            CHECK(status == (failed ? DG_ERR_NOMEM : texts_of[i].status),
                  "text %zu, %zu: status %d", i, nth, (int)status);
            CHECK(gmp_peak - gmp_before <= most_checked || failed, "text %zu: GMP took %zu of %zu",
                  i, gmp_peak - gmp_before, most_checked);
            CHECK(gmp_early == 0 && gmp_longest < 1 << 16, "text %zu: %zu at once", i, gmp_longest);
            dg_sampler_free(sampler);
            CHECK(n_ours == before && gmp_live == gmp_before, "text %zu, %zu: lost", i, nth);
        }
    }
}

/* --- many draws by DG_AUTO ---------------------------------------------------------------------- */

static dg_sampler *new_auto(void)
{
    return sampler_of(DG_DISCRETE_LAPLACE, "5/2", "1/3", NULL, DG_AUTO, DG_ARITHMETIC_AUTO,
                      DG_ISA_AUTO);
}

/** The first call of many draws makes a table. If there is no memory for it, that call fails alone. If another thread
 *  makes one meanwhile, one of both is kept, and the other is freed. */
static void test_bulk(void)
{
    enum { MANY = sizeof of_rival / sizeof *of_rival };
    const long before = n_ours;
    const size_t gmp_before = gmp_live;
    const dg_sampler *by;
    dg_sampler *sampler = new_auto();
    size_t nth = 0;
    dg_status status;
    do {
        n_allocations = 0;
        fails_at = ++nth;
        status = nth == 1 ? dg_sampler_fill(of_rival, MANY, DG_INT64, sampler, NULL, NULL)
                          : dg_sampler_for(&by, MANY, sampler);
        fails_at = 0;
        CHECK(status == (n_allocations >= nth ? DG_ERR_NOMEM : DG_OK), "%zu: status %d", nth,
              (int)status);
    } while (status == DG_ERR_NOMEM);
    CHECK(nth > 5, "blind: %zu", nth);
    n_allocations = 0;
    CHECK(dg_sampler_for(&by, MANY, sampler) == DG_OK && n_allocations == 0, "a second table");
    dg_sampler_free(sampler);
    CHECK(n_ours == before && gmp_live == gmp_before, "lost");

    sampler = new_auto();
    rival = sampler;
    CHECK(dg_sampler_for(&by, MANY, sampler) == DG_OK && rival == NULL, "the rival did nothing");
    n_allocations = 0;
    CHECK(dg_sampler_for(&by, MANY, sampler) == DG_OK && n_allocations == 0, "none is kept");
    dg_sampler_free(sampler);
    CHECK(n_ours == before && gmp_live == gmp_before, "the other is lost");
}

/* --- threads that end -------------------------------------------------------------------------- */

static void *build_in_thread(void *argument)
{
    dg_sampler *sampler;
    dg_status *status = argument;
    *status = dg_sampler_new(&sampler, DG_DISCRETE_LAPLACE, "5/2", "1/3", NULL, DG_CELLS);
    dg_sampler_free(sampler);
    return NULL;
}

/** MPFR keeps constants for every thread. They must be freed with it. */
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

/** The positive control of a run under valgrind: a decision by memory that was never set, which is also lost. */
static int make_an_error(void)
{
    volatile uint8_t *lost = __real_malloc(100);
    (void)puts(lost != NULL && lost[50] == 7 ? "seven" : "not seven");
    return 0;
}

/** With the argument `brief`, test short parameters only, and fewer draws. */
int main(int n_arguments, char **arguments)
{
    const bool in_part = n_arguments > 1;
    if (in_part && strcmp(arguments[1], "error") == 0) {
        return make_an_error();
    }
    /* A C library that is linked statically also allocates here: some blocks before main, and those of
     * threads. */
    const long at_start = n_ours;
    mp_set_memory_functions(gmp_allocate, gmp_reallocate, gmp_free);
    for (size_t i = 0; i < N_CASES; i++) {
        if (!in_part || !is_long(&cases[i])) {
            test_case(&cases[i], in_part ? 2000 : 200000);
        }
    }
    test_texts();
    test_bulk();
    CHECK(n_ours == at_start, "%ld blocks of ours lost", n_ours - at_start);
    test_threads();
    CHECK(gmp_live == 0, "%zu bytes of GMP's lost", gmp_live);
    return report("memory");
}
