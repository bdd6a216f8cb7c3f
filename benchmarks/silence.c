/* Times of draws and fills, each with what it drew: what silence.py judges.
 *
 *     silence KIND A B C D BETA SIZE CALLS SEED WAY...
 *
 * The law of KIND (dg_law_kind), parameter A/B, centre C/D and BETA; CALLS calls for SIZE draws by every WAY, some
 * by one way and then some by the next, so that a busy moment of the machine hits all. A WAY is two
 * letters: who draws, and where bits come from.
 *
 *     d  dg_lanes_fill, the best kernel         t  a tape of test data, read through a caller's source
 *     p  dg_lanes_fill, the portable kernel     c  ChaCha20
 *     2  the same, AVX2                         g  getrandom
 *     5  the same, AVX-512
 *     n  the same, NEON
 *     l  dg_laws_fill_in_lanes, of equal laws (whole A, B = 1, C = 0)
 *     a  dg_sampler_add, as add_noise does
 *     r  dg_law_fill, the reference path: a control
 *     b  dg_lanes_fill by the best kernel, and some steps for every draw below the centre: a leak planted
 *
 * Standard output has a `row` for every call. The last line of standard error: ticks of the clock in a
 * millisecond. A way that this machine does not have ends the program with 77.
 *
 * It uses the public C API alone. */
#include "discretegauss_parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { MOST_DRAWS = 4096, AT_A_TIME = 256, MOST_WAYS = 16, WAYS = 10, SKIPPED = 77 };

/** A call. Values are about the integer next to the centre, which is 0 here. */
typedef struct row {
    int64_t way, ticks;
    int64_t asked; /* bytes, by a tape */
    int64_t sum, sizes, zeros, largest;
} row;

/* --- clock ----------------------------------------------------------------------------------- */

static int64_t nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/** Ticks: nothing before it is timed, and all of it is, as far as the processor can be told. */
static inline int64_t ticks(void)
{
#if defined(__x86_64__)
    _mm_lfence();
    const int64_t now = (int64_t)__builtin_ia32_rdtsc();
    _mm_lfence();
    return now;
#else
    return nanoseconds();
#endif
}

/* --- bits ------------------------------------------------------------------------------------ */

/** Test data of a call, made before its time is taken; 16 bytes an attempt, four attempts a draw and
 *  more: a call that finds too little fails. */
static uint8_t tape_bytes[64 * MOST_DRAWS + 2048];
static size_t n_asked;

static int read_tape(void *context, uint8_t *out, size_t n)
{
    (void)context;
    if (n > sizeof tape_bytes - n_asked) {
        return 1;
    }
    memcpy(out, tape_bytes + n_asked, n);
    n_asked += n;
    return 0;
}

/** Splitmix64. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void write_tape(size_t n, uint64_t *state)
{
    for (size_t i = 0; i < 64 * n + 2048; i += 8) {
        const uint64_t word = next_word(state);
        memcpy(tape_bytes + i, &word, 8);
    }
    n_asked = 0;
}

/* --- ways ------------------------------------------------------------------------------------ */

typedef struct way {
    char who;
    dg_source source;
} way;

/** What all ways draw from. */
typedef struct samplers {
    dg_law *law;
    dg_sampler *sampler;
    dg_lanes *lanes[DG_ISA_NEON + 1]; /* NULL: not asked for */
    dg_laws laws;
} samplers;

static int64_t out[MOST_DRAWS], counts[MOST_DRAWS];
static volatile int64_t below; /* of the leak planted */

static dg_isa isa_of(char who)
{
    switch (who) {
    case 'p':
        return DG_ISA_PORTABLE;
    case '2':
        return DG_ISA_AVX2;
    case '5':
        return DG_ISA_AVX512_VBMI2;
    case 'n':
        return DG_ISA_NEON;
    default:
        return DG_ISA_AUTO;
    }
}

static dg_status fill(const way *by, size_t n, const samplers *of)
{
    dg_status status;
    switch (by->who) {
    case 'l':
        return dg_laws_fill_in_lanes(out, n, DG_INT64, &of->laws, NULL, 1, DG_ISA_AUTO, NULL,
                                     &by->source);
    case 'a':
        return dg_sampler_add(out, n, &(dg_addend){.values = counts, .dtype = DG_INT64},
                              DG_ISOCHRONOUS, of->sampler, NULL, &by->source);
    case 'r':
        return dg_law_fill(out, n, DG_INT64, of->law, NULL, &by->source);
    default:
        status = dg_lanes_fill(out, n, DG_INT64, of->lanes[isa_of(by->who)], NULL, &by->source);
    }
    if (by->who == 'b') {
        for (size_t i = 0; i < n; i++) {
            for (int k = 0; out[i] < 0 && k < 32; k++) {
                below = below + 1;
            }
        }
    }
    return status;
}

static row timed(size_t index, const way *by, size_t n, const samplers *of, uint64_t *state)
{
    if (by->source.kind == DG_SOURCE_CALLER) {
        write_tape(n, state);
    }
    const int64_t start = ticks();
    const dg_status status = fill(by, n, of);
    const int64_t end = ticks();
    if (status != DG_OK) {
        (void)fprintf(stderr, "way %c: status %d\n", by->who, (int)status);
        exit(1);
    }
    row made = {.way = (int64_t)index,
                .ticks = end - start,
                .asked = by->source.kind == DG_SOURCE_CALLER ? (int64_t)n_asked : 0};
    for (size_t i = 0; i < n; i++) {
        const int64_t size = out[i] < 0 ? -out[i] : out[i];
        made.sum += out[i];
        made.sizes += size;
        made.zeros += size == 0;
        made.largest = size > made.largest ? size : made.largest;
    }
    return made;
}

/** Requires: numbers below 2^63. Ends the program if the core refuses the law. */
/** Prepare a law, and all of its ways in one. */
static void new_law(dg_law **law, dg_sampler **sampler, dg_law_kind kind, const int64_t numbers[5])
{
    uint8_t bytes[5][8], one[] = {1};
    dg_integer integers[5];
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 8; k++) {
            bytes[i][k] = (uint8_t)((uint64_t)numbers[i] >> (8 * k));
        }
        integers[i] = (dg_integer){bytes[i], 8};
    }
    const dg_parameters parameters = {integers[0], integers[1], integers[2],
                                      integers[3], integers[4], {one, 1}};
    dg_status status = dg_law_new(law, kind, DG_ARITHMETIC_AUTO, &parameters);
    if (status == DG_OK) {
        status = dg_sampler_new(sampler, kind, &parameters);
    }
    if (status != DG_OK) {
        (void)fprintf(stderr, "no such law: status %d\n", (int)status);
        exit(2);
    }
}

/** Read a way, and prepare what it needs. Returns: whether this machine has it. */
static bool read_way(way *by, samplers *of, const char *text)
{
    const dg_isa isa = isa_of(text[0]);
    *by = (way){text[0], {DG_SOURCE_CHACHA20, NULL, NULL}};
    if (strlen(text) != 2 || strchr("dp25nlarb", text[0]) == NULL ||
        strchr("tcg", text[1]) == NULL) {
        (void)fprintf(stderr, "no way %s\n", text);
        exit(2);
    }
    if (text[1] == 't') {
        by->source = (dg_source){DG_SOURCE_CALLER, read_tape, NULL};
    } else if (text[1] == 'g') {
        by->source.kind = DG_SOURCE_GETRANDOM;
    }
    if (strchr("alr", text[0]) != NULL || of->lanes[isa] != NULL) {
        return true;
    }
    dg_lanes_info info;
    if (dg_lanes_new(&of->lanes[isa], of->law, isa) != DG_OK) {
        return false;
    }
    dg_lanes_describe(&info, of->lanes[isa]);
    return isa == DG_ISA_AUTO || info.isa == isa;
}

int main(int argc, char **argv)
{
    if (argc <= WAYS || argc > WAYS + MOST_WAYS) {
        (void)fputs("silence KIND A B C D BETA SIZE CALLS SEED WAY...\n", stderr);
        return 2;
    }
    int64_t given[WAYS];
    for (int i = 1; i < WAYS; i++) {
        given[i] = strtoll(argv[i], NULL, 10);
    }
    const size_t n = (size_t)given[7], n_ways = (size_t)(argc - WAYS);
    if (n < 1 || n > MOST_DRAWS) {
        return 2;
    }
    const dg_law_kind kind = (dg_law_kind)given[1];
    const uint64_t parameter = (uint64_t)given[2], centre = 0;
    samplers of = {
        .laws = {kind, {&parameter, 0, DG_INTEGERS, 0, 0}, {&centre, 0, DG_INTEGERS, 0, 0}},
    };
    new_law(&of.law, &of.sampler, kind, given + 2);
    way ways[MOST_WAYS];
    for (size_t i = 0; i < n_ways; i++) {
        if (!read_way(&ways[i], &of, argv[WAYS + (int)i])) {
            return SKIPPED;
        }
    }
    uint64_t state = (uint64_t)given[9];
    static row rows[AT_A_TIME];
    const int64_t ticks_before = ticks(), time_before = nanoseconds();
    for (int64_t done = -AT_A_TIME; done < given[8];
         done += AT_A_TIME) { /* the first ones warm caches */
        for (size_t i = 0; i < n_ways; i++) {
            for (size_t k = 0; k < AT_A_TIME; k++) {
                rows[k] = timed(i, &ways[i], n, &of, &state);
            }
            if (done >= 0 && fwrite(rows, sizeof *rows, AT_A_TIME, stdout) != AT_A_TIME) {
                return 1;
            }
        }
    }
    const int64_t per_millisecond =
        (ticks() - ticks_before) * 1000 / ((nanoseconds() - time_before) / 1000);
    (void)fprintf(stderr, "%" PRId64 "\n", per_millisecond);
    for (size_t i = 0; i <= DG_ISA_NEON; i++) {
        dg_lanes_free(of.lanes[i]);
    }
    dg_law_free(of.law);
    dg_sampler_free(of.sampler);
    return fflush(stdout) != 0;
}
