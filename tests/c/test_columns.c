/* Columns of laws in one call: from the same bytes what one sampler a law draws in the order that the header says,
 * and the nearest integers added; errors before a draw; forks in a pause. */
#define _GNU_SOURCE
#include "api/columns.h"
#include "api/group.h"
#include "base/int128.h"
#include "base/threads.h"
#include "sampler/choose.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAPE = 1 << 20, MOST = 6000 };

static uint8_t bytes[TAPE];

/* every look at the clock takes so long, if it is not 0 */
static uint64_t milliseconds_a_look;
static bool is_timeless; /* the clock stands still */

uint64_t __real_dg_milliseconds(void);
uint64_t __wrap_dg_milliseconds(void);
uint64_t __wrap_dg_milliseconds(void)
{
    static uint64_t now = 0;
    if (is_timeless) {
        return 0;
    }
    return milliseconds_a_look > 0 ? (now += milliseconds_a_look) : __real_dg_milliseconds();
}

/** The bits of m 2^exponent, 0 < |m| < 2^53. */
static uint64_t float_of(int64_t m, int exponent)
{
    uint64_t size = (uint64_t)(m < 0 ? -m : m);
    while (size >> 52 == 0) {
        size *= 2;
        exponent--;
    }
    return (uint64_t)(m < 0) << 63 | (uint64_t)(exponent + 1075) << 52 |
           (size & ((UINT64_C(1) << 52) - 1));
}

/* --- the slow way ---------------------------------------------------------------------------- */

/** A law as ratios: the parameter, and its centre's nearest integer and rest. */
typedef struct row {
    int64_t a, b, integer, num, den;
} row;

static dg_integer integer_of(uint8_t out[8], int64_t value)
{
    for (size_t k = 0; k < 8; k++) {
        out[k] = (uint8_t)((uint64_t)value >> (8 * k));
    }
    return (dg_integer){out, 8};
}

static dg_sampler *sampler_of(dg_law_kind kind, const row *of)
{
    uint8_t to[4][8];
    const uint8_t one[] = {1};
    const dg_parameters parameters = {integer_of(to[0], of->a),
                                      integer_of(to[1], of->b),
                                      integer_of(to[2], of->num),
                                      integer_of(to[3], of->den),
                                      {one, 1},
                                      {one, 1}};
    dg_sampler *sampler;
    CHECK(dg_sampler_new(&sampler, kind, &parameters) == DG_OK, "no sampler");
    return sampler;
}

static bool are_equal(const row *x, const row *y)
{
    return x->a == y->a && x->b == y->b && x->num == y->num && x->den == y->den;
}

/** Draw items [0, n) whose place in `of` is `first`, by one sampler. */
static void draw_law(int64_t *out, size_t first, const size_t *group, size_t n, const row *rows,
                     dg_law_kind kind, dg_method method, const dg_source *source)
{
    static int64_t drawn[MOST];
    size_t count = 0, k = 0;
    for (size_t i = 0; i < n; i++) {
        count += group[i] == first;
    }
    dg_sampler *sampler = sampler_of(kind, &rows[first]);
    CHECK(dg_sampler_fill(drawn, count, DG_INT64, method, sampler, NULL, source) == DG_OK,
          "law %zu", first);
    dg_sampler_free(sampler);
    for (size_t i = 0; i < n; i++) {
        out[i] = group[i] == first ? drawn[k++] + rows[i].integer : out[i];
    }
}

/** As dg_samplers_fill by DG_AUTO, DG_REFERENCE or DG_CELLS, with a caller's bits. */
static void draw_slowly(int64_t *out, size_t n, const row *rows, dg_law_kind kind, dg_method method,
                        bool must_group, const dg_source *source)
{
    enum { ALONE_FROM = 128 }; /* as published */
    static size_t group[MOST], count[MOST];
    size_t n_groups = 0;
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++) {
        for (group[i] = 0; !are_equal(&rows[group[i]], &rows[i]); group[i]++) {
        }
        n_groups += count[group[i]]++ == 0;
    }
    const bool is_ungrouped = !must_group && n > 1 && n_groups > n / 2;
    for (size_t i = 0; is_ungrouped && i < n; i++) {
        group[i] = i;
    }
    for (int together = 0; together < 2; together++) {
        for (size_t i = 0; i < n; i++) {
            dg_method way = DG_REFERENCE;
            if (!is_ungrouped && method == DG_AUTO && (count[i] >= ALONE_FROM || n_groups == 1)) {
                dg_sampler *sampler = sampler_of(kind, &rows[i]);
                CHECK(dg_sampler_choose(&way, count[i], DG_AUTO, sampler, NULL, source) == DG_OK,
                      "no way");
                dg_sampler_free(sampler);
            }
            way = method == DG_CELLS ? DG_CELLS : way;
            if (group[i] == i && (way == DG_REFERENCE) == (together == 1)) {
                draw_law(out, i, group, n, rows, kind, way, source);
            }
        }
    }
}

/* --- columns --------------------------------------------------------------------------------- */

static uint64_t words[2][2 * MOST];
static row rows[MOST];

/** Make columns of a format of n laws, whose parameters and rests are some of k. */
static dg_laws make_laws(dg_law_kind kind, dg_number_format format, dg_number_format centre_format,
                         size_t n, size_t k, uint64_t *state)
{
    static const int64_t primes[] = {2, 3, 5, 7, 11};
    const size_t width = format == DG_RATIOS ? 2 : 1,
                 centre_width = centre_format == DG_RATIOS ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        const int64_t a = 1 + (int64_t)(next_word(state) % k), r = (int64_t)(next_word(state) % 4);
        row *of = &rows[i];
        of->integer = (int64_t)(next_word(state) % 2000) - 1000;
        uint64_t *p = &words[0][i * width], *c = &words[1][i * centre_width];
        *of = (row){a, 1, of->integer, 0, 1};
        if (format == DG_INTEGERS) {
            *p = (uint64_t)a;
        } else if (format == DG_FLOATS) {
            of->a = 2 * a + 1;
            of->b = 8;
            *p = float_of(of->a, -3);
        } else {
            of->b = primes[a % 5];
            of->a = a * of->b + 1;
            p[0] = (uint64_t)of->a;
            p[1] = (uint64_t)of->b;
        }
        if (centre_format == DG_INTEGERS) {
            *c = (uint64_t)of->integer;
        } else if (centre_format == DG_FLOATS) {
            static const int64_t eighths[] = {0, -4, 3, -1}; /* -4: a half */
            const int64_t m = 8 * of->integer + eighths[r];
            *c = m == 0 ? 0 : float_of(m, -3);
            of->num = r == 0 ? 0 : r == 1 ? -1 : eighths[r];
            of->den = r == 0 ? 1 : r == 1 ? 2 : 8;
        } else {
            static const int64_t thirds[] = {0, 1, -1, 1};
            of->num = thirds[r];
            of->den = r == 0 ? 1 : 3;
            c[0] = (uint64_t)(of->integer * of->den + of->num);
            c[1] = (uint64_t)of->den;
        }
    }
    return (dg_laws){.kind = kind,
                     .parameter = {words[0], width, format, 0, 0},
                     .centre = {words[1], centre_width, centre_format, 0, 0}};
}

static void test_draws(void)
{
    static int64_t drawn[MOST], wanted[MOST];
    static const size_t sizes[] = {1, 2, 7, 60, 700, 6000}, numbers[] = {1, 2, 5, 100000};
    uint64_t state = 5;
    size_t used_cells = 0;
    for (size_t k = 0; k < 6 * 4 * 9 * 2; k++) {
        const size_t n = sizes[k % 6], distinct = numbers[k / 6 % 4];
        const dg_number_format format = (dg_number_format)(k / 24 % 3),
                               centre = (dg_number_format)(k / 72 % 3);
        const dg_law_kind kind = k % 5 < 3 ? DG_DISCRETE_GAUSSIAN : DG_DISCRETE_LAPLACE;
        const dg_method method = k / 216 == 0         ? DG_AUTO
                                 : n * distinct < 100 ? DG_CELLS
                                                      : DG_REFERENCE;
        if (n > 700 && distinct > 5) {
            continue;
        }
        const dg_laws laws = make_laws(kind, format, centre, n, distinct, &state);
        bool rests_differ = false;
        for (size_t i = 0; i < n; i++) {
            rests_differ = rests_differ || rows[i].num != rows[0].num;
        }
        tape one = {bytes, TAPE, 0}, other = {bytes, TAPE, 0};
        const dg_source from_one = tape_source(&one), from_other = tape_source(&other);
        size_t bad = 99;
        const dg_status status =
            dg_samplers_fill(drawn, n, DG_INT64, &laws, method, &bad, NULL, &from_one);
        CHECK(status == DG_OK && bad == n, "case %zu: status %d", k, (int)status);
        const bool must_group =
            method == DG_CELLS || format == DG_RATIOS || (centre == DG_RATIOS && rests_differ);
        draw_slowly(wanted, n, rows, kind, method, must_group, &from_other);
        CHECK(memcmp(drawn, wanted, n * sizeof *drawn) == 0, "case %zu", k);
        CHECK(one.used == other.used, "case %zu: %zu and %zu bytes", k, one.used, other.used);
        used_cells += method == DG_CELLS;
        /* a narrower dtype has the same draws */
        static int16_t narrow[MOST];
        one.used = 0;
        CHECK(dg_samplers_fill(narrow, n, DG_INT16, &laws, method, NULL, NULL, &from_one) ==
                      DG_OK ||
                  distinct > 5,
              "case %zu", k);
        for (size_t i = 0; distinct <= 5 && i < n; i++) {
            CHECK(narrow[i] == wanted[i], "case %zu", k);
        }
    }
    CHECK(used_cells > 5, "cells were not tried");
}

/* --- turns ------------------------------------------------------------------------------------ */

/** Numbers that take turns draw what as many numbers as there are draws do. */
static void test_turns(void)
{
    enum { N = 900 };
    static int64_t drawn[N], wanted[N];
    static uint64_t wide[2][2 * N];
    static const size_t turns[][2] = {{1, 2}, {0, 3}, {300, 3},  {450, 2},
                                      {7, 5}, {1, N}, {2 * N, 4}};
    enum { K = sizeof turns / sizeof *turns };
    uint64_t state = 21;
    for (size_t k = 0; k < K * K * 3 * 2 * 3; k++) {
        const size_t *turn[2] = {turns[k % K], turns[k / K % K]};
        const dg_number_format format = (dg_number_format)(k / K / K % 3);
        const dg_method method = (dg_method[]){DG_AUTO, DG_REFERENCE, DG_CELLS}[k / K / K / 6];
        const size_t n = k % 4 == 0 ? N - 13 : N;
        if (method == DG_CELLS && k % 5 != 0) { /* takes long */
            continue;
        }
        dg_laws few = make_laws(DG_DISCRETE_GAUSSIAN, format, format, N, 3, &state), many = few;
        dg_column *columns[2][2] = {{&few.parameter, &few.centre}, {&many.parameter, &many.centre}};
        for (size_t c = 0; c < 2; c++) {
            const size_t repeat = turn[c][0] > 1 ? turn[c][0] : 1, width = few.parameter.stride;
            columns[0][c]->repeat = turn[c][0];
            columns[0][c]->n = turn[c][1];
            for (size_t i = 0; i < n; i++) {
                const uint64_t *from = words[c] + i / repeat % turn[c][1] * width;
                memcpy(&wide[c][i * width], from, width * sizeof *from);
            }
            columns[1][c]->words = wide[c];
        }
        const dg_dtype dtype = k % 3 == 0 ? DG_INT64 : DG_INT16;
        tape one = {bytes, TAPE, 0}, other = {bytes, TAPE, 0};
        const dg_source from_one = tape_source(&one), from_other = tape_source(&other);
        CHECK(dg_samplers_fill(drawn, n, dtype, &few, method, NULL, NULL, &from_one) == DG_OK &&
                  dg_samplers_fill(wanted, n, dtype, &many, method, NULL, NULL, &from_other) ==
                      DG_OK,
              "case %zu", k);
        CHECK(memcmp(drawn, wanted, n * (dtype == DG_INT64 ? 8 : 2)) == 0, "case %zu", k);
        CHECK(one.used == other.used, "case %zu: %zu and %zu bytes", k, one.used, other.used);
    }
    /* the first law of a number that breaks a rule */
    const uint64_t bad[] = {1, 2, 0};
    const dg_laws laws = {.kind = DG_DISCRETE_LAPLACE,
                          .parameter = {bad, 1, DG_INTEGERS, 5, 3},
                          .centre = {bad + 2, 0, DG_INTEGERS, 0, 0}};
    size_t which = 99;
    CHECK(dg_samplers_fill(drawn, 12, DG_INT64, &laws, DG_AUTO, &which, NULL, NULL) ==
                  DG_ERR_PARAMETER &&
              which == 10,
          "law %zu", which);
    CHECK(dg_samplers_fill(drawn, 10, DG_INT64, &laws, DG_AUTO, NULL, NULL, NULL) == DG_OK,
          "the third has no turn");
    CHECK(!dg_laws_fit_int64(12, &laws) && dg_laws_fit_int64(10, &laws), "int64");
}

/** Sums near the ends of every dtype are right: its signed draws, and integers. */
static void test_dtypes(void)
{
    enum { N = 256 };
    static int64_t centres[N];
    const uint64_t small = 2;
    for (int dtype = DG_INT8; dtype <= DG_UINT64; dtype++) {
        union {
            int64_t s64[N];
            int8_t s8[N];
            int16_t s16[N];
            int32_t s32[N];
            uint8_t u8[N];
            uint16_t u16[N];
            uint32_t u32[N];
            uint64_t u64[N];
        } out;
        const unsigned n_bits = 8U << (dtype % 4);
        for (size_t i = 0; i < N; i++) { /* in the middle, or far below the upper end if int64 is */
            const uint64_t middle = dtype > DG_INT64 ? UINT64_C(1) << (n_bits - 1) : 0;
            centres[i] = (int64_t)(n_bits == 64 ? middle - 100 : middle) + (int64_t)(i % 50);
        }
        const dg_laws laws = {.kind = DG_DISCRETE_GAUSSIAN,
                              .parameter = {&small, 0, DG_INTEGERS, 0, 0},
                              .centre = {(const uint64_t *)centres, 1, DG_INTEGERS, 0, 0}};
        CHECK(dg_samplers_fill(&out, N, (dg_dtype)dtype, &laws, DG_AUTO, NULL, NULL, NULL) == DG_OK,
              "dtype %d", dtype);
        size_t n_far = 0;
        for (size_t i = 0; i < N; i++) {
            const int64_t sums[] = {out.s8[i], out.s16[i], out.s32[i], out.s64[i],
                                    out.u8[i], out.u16[i], out.u32[i], (int64_t)out.u64[i]};
            const int64_t off = sums[dtype] - centres[i];
            n_far += off < -30 || off > 30;
        }
        CHECK(n_far == 0, "dtype %d: %zu are far", dtype, n_far);
    }
    /* beyond int64, in uint64 */
    uint64_t beyond[N];
    for (size_t i = 0; i < N; i++) {
        centres[i] = INT64_MAX;
    }
    const dg_laws laws = {.kind = DG_DISCRETE_GAUSSIAN,
                          .parameter = {&small, 0, DG_INTEGERS, 0, 0},
                          .centre = {(const uint64_t *)centres, 1, DG_INTEGERS, 0, 0}};
    CHECK(dg_samplers_fill(beyond, N, DG_UINT64, &laws, DG_AUTO, NULL, NULL, NULL) == DG_OK,
          "no sums");
    size_t n_beyond = 0;
    for (size_t i = 0; i < N; i++) {
        n_beyond += beyond[i] > INT64_MAX;
        CHECK(beyond[i] - INT64_MAX + 30 < 60, "draw %zu", i);
    }
    CHECK(n_beyond > 20, "%zu of 256", n_beyond);
}

/* --- pauses ------------------------------------------------------------------------------------ */

static size_t n_paused, stop_at;
static size_t used_last, used_before_last;
static const tape *paused_tape;

static int count_pauses(void *context)
{
    (void)context;
    used_before_last = used_last;
    used_last = paused_tape->used;
    return ++n_paused == stop_at;
}

/** There are pauses after the last draw, while draws are put in their places; stopped there, none is left. */
static void test_pauses(void)
{
    enum { N = 9 << 20 };
    const uint64_t numbers[] = {1, 4};
    static const uint64_t zero = 0;
    const dg_laws laws = {.kind = DG_DISCRETE_GAUSSIAN,
                          .parameter = {numbers, 1, DG_INTEGERS, 0, 2},
                          .centre = {&zero, 0, DG_INTEGERS, 0, 0}};
    int8_t *out = malloc(N);
    uint8_t *many = malloc(3 * (size_t)N);
    if (out == NULL || many == NULL) {
        abort();
    }
    for (size_t i = 0; i < 3 * (size_t)N; i++) {
        many[i] = bytes[i % TAPE];
    }
    tape from = {many, 3 * (size_t)N, 0};
    paused_tape = &from;
    const dg_source source = tape_source(&from);
    const dg_run run = {1, count_pauses, NULL};
    is_timeless = true;
    CHECK(dg_samplers_fill(out, N, DG_INT8, &laws, DG_CELLS, NULL, &run, &source) == DG_OK, "fill");
    CHECK(n_paused > 1 && used_last == from.used && used_before_last == from.used,
          "%zu pauses, the last two at %zu and %zu of %zu bytes", n_paused, used_before_last,
          used_last, from.used);
    for (size_t k = 0; k < 2; k++) { /* stop at the last one, and at the one before */
        stop_at = n_paused - k;
        n_paused = from.used = 0;
        memset(out, 0, N);
        const dg_status status =
            dg_samplers_fill(out, N, DG_INT8, &laws, DG_CELLS, NULL, &run, &source);
        CHECK(status == DG_ERR_STOPPED && n_paused == stop_at, "status %d", (int)status);
        size_t n_left = 0;
        for (size_t i = 0; i < N; i++) {
            n_left += out[i] != 0;
        }
        CHECK(n_left == 0, "%zu draws are left", n_left);
        n_paused = stop_at + k;
    }
    is_timeless = false;
    free(out);
    free(many);
}

/* --- choices --------------------------------------------------------------------------------- */

static void test_choices(void)
{
    dg_crowd crowd = {
        .n = 100, .method = DG_AUTO, .source = DG_SOURCE_GETRANDOM, .lanes_hold = true};
    CHECK(dg_crowd_in_lanes(32, &crowd) && !dg_crowd_in_lanes(31, &crowd), "lanes from 32");
    CHECK(dg_crowd_most_groups(&crowd) == 50, "half");
    crowd.n = 1000000;
    CHECK(dg_crowd_most_groups(&crowd) == 7812, "a 128th");
    CHECK(dg_crowd_alone_from(2, &crowd) < dg_crowd_alone_from(100, &crowd) &&
              dg_crowd_alone_from(100, &crowd) < dg_crowd_alone_from(1000, &crowd),
          "few laws");
    CHECK(dg_crowd_in_blocks(100, 256, &crowd) && !dg_crowd_in_blocks(100, 255, &crowd) &&
              dg_crowd_in_blocks(2, 128, &crowd) && !dg_crowd_in_blocks(1000, 5000, &crowd),
          "blocks");
    crowd.source = DG_SOURCE_CALLER; /* as published */
    CHECK(!dg_crowd_in_lanes(1000, &crowd) && dg_crowd_most_groups(&crowd) == 65536, "no lanes");
    CHECK(!dg_crowd_in_blocks(2, 10000, &crowd), "in order");
    CHECK(dg_crowd_alone_from(2, &crowd) == 128 && dg_crowd_alone_from(1000, &crowd) == 128,
          "alone");
    crowd.method = DG_ISOCHRONOUS;
    CHECK(dg_crowd_in_lanes(1, &crowd) && dg_crowd_alone_from(1000, &crowd) == 1024, "isochronous");
    crowd.method = DG_REFERENCE;
    CHECK(dg_crowd_alone_from(1, &crowd) == SIZE_MAX, "none");
    crowd.must_group = true;
    CHECK(dg_crowd_most_groups(&crowd) == crowd.n, "all");
}

/** A law's samplers, asked for twice, are kept by the caller, and so pay rent. */
static dg_sampler *kept[4];
static size_t n_asked;

static dg_sampler *give_kept(void *context, size_t i, const uint64_t *rest)
{
    CHECK(*rest == 0, "centres are integers");
    n_asked++;
    const size_t which = (size_t)(*(const dg_column *)context).words[i] - 100;
    if (kept[which] == NULL) {
        const row of = {100 + (int64_t)which, 1, 0, 0, 1};
        kept[which] = sampler_of(DG_DISCRETE_GAUSSIAN, &of);
    }
    return kept[which];
}

static dg_sampler *give_none(void *context, size_t i, const uint64_t *rest)
{
    (void)context, (void)i, (void)rest;
    return NULL;
}

static void test_rent(void)
{
    enum { N = 100 };
    static int64_t out[N], centres[N];
    for (size_t i = 0; i < N; i++) {
        words[0][i] = 100 + i % 2;
        centres[i] = (int64_t)i * 1000;
    }
    dg_laws laws = {.kind = DG_DISCRETE_GAUSSIAN,
                    .parameter = {words[0], 1, DG_INTEGERS, 0, 0},
                    .centre = {(const uint64_t *)centres, 1, DG_INTEGERS, 0, 0},
                    .sampler_of = give_kept};
    laws.context = &laws.parameter;
    dg_sampler_info info = {.n_built = 0};
    for (size_t k = 0; k < 10000 && info.n_built == 0; k++) {
        CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, DG_AUTO, NULL, NULL, NULL) == DG_OK,
              "call %zu", k);
        for (size_t i = 0; i < N; i++) {
            CHECK(out[i] > centres[i] - 500 && out[i] < centres[i] + 500, "draw %zu", i);
        }
        dg_sampler_describe(&info, kept[1]);
    }
    CHECK(info.n_built == 1 && n_asked > 2, "two laws of 50 draws a call come to a table");
    words[0][0] = 103; /* a law of one draw is not asked for */
    n_asked = 0;
    CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, DG_AUTO, NULL, NULL, NULL) == DG_OK &&
              n_asked == 2,
          "%zu", n_asked);
    laws.sampler_of = give_none;
    out[0] = 7;
    CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, DG_AUTO, NULL, NULL, NULL) == DG_ERR_STOPPED,
          "none");
    for (size_t i = 0; i < 4; i++) {
        dg_sampler_free(kept[i]);
    }
}

/** In blocks each element is of its law, and its centre is added: the laws take turns, and differ much; by two
 *  threads, in a last block that is not full. Stopped, none is left. */
static void test_blocks(void)
{
    enum { N = 100003, LAWS = 3 };
    static const uint64_t parameters[LAWS] = {1, UINT64_C(1) << 40, 1};
    static int64_t out[N], centres[N];
    for (size_t i = 0; i < N; i++) {
        centres[i] = (int64_t)(i % 7 * 1000000000);
    }
    dg_laws laws = {.kind = DG_DISCRETE_GAUSSIAN,
                    .parameter = {parameters, 1, DG_INTEGERS, 1, LAWS},
                    .centre = {(const uint64_t *)centres, 1, DG_INTEGERS, 0, 0}};
    const dg_crowd crowd = {
        .n = N, .method = DG_AUTO, .source = DG_SOURCE_CHACHA20, .lanes_hold = true};
    CHECK(dg_crowd_in_blocks(2, N / 3, &crowd), "this is done in blocks");
    for (size_t repeat = 1; repeat < 12; repeat += 5) {
        const dg_source source = {DG_SOURCE_CHACHA20, NULL, NULL};
        const dg_run run = {2, NULL, NULL};
        laws.parameter.repeat = repeat;
        CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, DG_AUTO, NULL, &run, &source) == DG_OK,
              "repeat %zu", repeat);
        size_t n_narrow = 0, n_zeros = 0, n_near = 0, n_positive = 0;
        for (size_t i = 0; i < N; i++) {
            const int64_t off = out[i] - centres[i];
            const bool is_wide = i / repeat % LAWS == 1, is_far = off < -20 || off > 20;
            CHECK(is_wide || !is_far, "draw %zu is not of its law", i);
            n_near += is_wide && !is_far;
            n_narrow += !is_wide;
            n_zeros += !is_wide && off == 0;
            n_positive += is_wide && off > 0;
        }
        /* probabilities below 10^-8: P(0) = 0.3989, 41 of 2.6 million, and one half */
        const double share = (double)n_zeros / (double)n_narrow;
        const double half = (double)n_positive / (double)(N - n_narrow);
        CHECK(share > 0.387 && share < 0.411, "repeat %zu: %g", repeat, share);
        CHECK(half > 0.483 && half < 0.517, "repeat %zu: %g", repeat, half);
        CHECK(n_near < 12, "repeat %zu: %zu", repeat, n_near);
    }
    stop_at = 2;
    n_paused = 0;
    milliseconds_a_look = 100;
    tape none = {NULL, 0, 0};
    paused_tape = &none;
    const dg_run stopped = {1, count_pauses, NULL};
    memset(out, 0, sizeof out);
    CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, DG_AUTO, NULL, &stopped, NULL) ==
              DG_ERR_STOPPED,
          "it is stopped");
    milliseconds_a_look = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < N; i++) {
        n_left += out[i] != 0;
    }
    CHECK(n_left == 0, "%zu draws are left", n_left);
}

/* --- errors ---------------------------------------------------------------------------------- */

static int must_not_draw(void *context, uint8_t *out, size_t n)
{
    (void)context, (void)out, (void)n;
    CHECK(false, "bits were asked for");
    return 1;
}

static void test_errors(void)
{
    enum { N = 5 };
    static const uint64_t inf = UINT64_C(0x7ff) << 52, nan = inf + 1, minus = UINT64_C(1) << 63;
    static const struct {
        uint64_t parameter, centre;
        dg_number_format format;
        dg_law_kind kind;
    } bad[] = {
        {0, 0, DG_INTEGERS, DG_DISCRETE_GAUSSIAN},
        {UINT64_MAX, 0, DG_INTEGERS, DG_DISCRETE_LAPLACE},
        {0, 0, DG_FLOATS, DG_DISCRETE_GAUSSIAN},
        {inf, 0, DG_FLOATS, DG_DISCRETE_GAUSSIAN},
        {nan, 0, DG_FLOATS, DG_GEOMETRIC_EXP},
        {minus | 1, 0, DG_FLOATS, DG_DISCRETE_LAPLACE},
        {minus, 0, DG_FLOATS, DG_DISCRETE_LAPLACE},
        {1, inf, DG_FLOATS, DG_DISCRETE_GAUSSIAN},
        {1, minus | nan, DG_FLOATS, DG_DISCRETE_LAPLACE},
        {1, 1, DG_INTEGERS, DG_GEOMETRIC_EXP},
        {2, 0, DG_INTEGERS, DG_BERNOULLI},
        {0, 0, DG_INTEGERS, DG_UNIFORM_BELOW},
    };
    const dg_source source = {DG_SOURCE_CALLER, must_not_draw, NULL};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        int64_t out[N] = {7, 7, 7, 7, 7};
        const uint64_t good = bad[k].format == DG_FLOATS ? float_of(1, 0) : 1;
        for (size_t i = 0; i < N; i++) {
            words[0][i] = i < 3 ? good : bad[k].parameter;
            words[1][i] = i < 3 ? 0 : bad[k].centre;
        }
        const dg_laws laws = {.kind = bad[k].kind,
                              .parameter = {words[0], 1, bad[k].format, 0, 0},
                              .centre = {words[1], 1, bad[k].format, 0, 0}};
        size_t which = 99;
        CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, DG_AUTO, &which, NULL, &source) ==
                  DG_ERR_PARAMETER,
              "case %zu", k);
        CHECK(which == 3 && out[0] == 7 && out[4] == 7, "case %zu: law %zu", k, which);
        CHECK(!dg_laws_fit_int64(N, &laws), "case %zu", k);
    }
    /* sums that leave the dtype: none is left */
    const int64_t centres[N] = {0, INT64_MAX, 0, 0, INT64_MIN};
    const uint64_t wide = 1000000;
    const dg_laws far = {.kind = DG_DISCRETE_GAUSSIAN,
                         .parameter = {&wide, 0, DG_INTEGERS, 0, 0},
                         .centre = {(const uint64_t *)centres, 1, DG_INTEGERS, 0, 0}};
    CHECK(!dg_laws_fit_int64(N, &far), "beyond 2^62");
    for (int dtype = DG_INT8; dtype <= DG_INT64; dtype++) {
        int64_t out[N] = {7, 7, 7, 7, 7};
        size_t n_failed = 0;
        for (size_t k = 0; k < 40; k++) {
            const dg_status status =
                dg_samplers_fill(out, N, (dg_dtype)dtype, &far, DG_AUTO, NULL, NULL, NULL);
            CHECK(status == DG_OK || status == DG_ERR_RANGE, "status %d", (int)status);
            n_failed += status == DG_ERR_RANGE;
            CHECK(status == DG_OK || out[0] == 0, "dtype %d left draws", dtype);
        }
        CHECK(n_failed > 5, "dtype %d", dtype);
    }
}

/** Which laws int64 holds, at the ends. */
static void test_fit(void)
{
    const uint64_t parameters[] = {1, UINT64_C(1) << 50, (UINT64_C(1) << 50) + 1};
    const int64_t centres[] = {INT64_C(1) << 62, -(INT64_C(1) << 62), (INT64_C(1) << 62) + 1};
    for (size_t i = 0; i < 9; i++) {
        const dg_laws laws = {.kind = DG_DISCRETE_LAPLACE,
                              .parameter = {&parameters[i % 3], 0, DG_INTEGERS, 0, 0},
                              .centre = {(const uint64_t *)&centres[i / 3], 0, DG_INTEGERS, 0, 0}};
        CHECK(dg_laws_fit_int64(3, &laws) == (i % 3 < 2 && i / 3 < 2), "case %zu", i);
    }
}

/** Keys that are chosen to collide are told apart in time. */
static void test_groups(void)
{
    enum { N = 1 << 16 };
    static uint64_t keys[N];
    for (size_t i = 0; i < N; i++) {
        keys[i] = (uint64_t)(i % (N / 2)) << 49 ^ 5;
    }
    dg_groups groups = {.n = 0};
    CHECK(dg_group(&groups, keys, 1, N, N, NULL) == DG_OK, "all");
    CHECK(groups.n == N / 2, "%zu groups", groups.n);
    for (size_t i = 0; i < N; i++) {
        CHECK(groups.which[i] == i % (N / 2), "key %zu", i);
    }
    CHECK(groups.first[9] == 9 && groups.counts[9] == 2, "group 9");
    dg_groups_free(&groups);
    CHECK(dg_group(&groups, keys, 1, N, 9, NULL) == DG_OK, "too many");
    CHECK(groups.n == 10, "%zu groups", groups.n);
    dg_groups_free(&groups);
}

/* --- forks ----------------------------------------------------------------------------------- */

static size_t n_pauses, fork_at;
static pid_t child;

static int fork_once(void *context)
{
    (void)context;
    if (++n_pauses == fork_at) {
        child = fork();
    }
    return 0;
}

/** A fork while the second law is drawn shares no draw of the first. */
static void test_fork(dg_method method)
{
    enum { N = 200000 };
    const uint64_t wide = UINT64_C(1) << 40;
    uint64_t *parameters = calloc(N, sizeof *parameters);
    const size_t size = N * sizeof(int64_t);
    int64_t *out = calloc(N, sizeof *out);
    int64_t *theirs = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (parameters == NULL || out == NULL || theirs == MAP_FAILED) {
        abort();
    }
    for (size_t i = 0; i < N; i++) {
        parameters[i] = wide + i % 2;
    }
    const uint64_t zero = 0;
    const dg_laws laws = {.kind = DG_DISCRETE_LAPLACE,
                          .parameter = {parameters, 1, DG_INTEGERS, 0, 0},
                          .centre = {&zero, 0, DG_INTEGERS, 0, 0}};
    const dg_run run = {1, fork_once, NULL};
    milliseconds_a_look = 100;
    n_pauses = fork_at = 0;
    CHECK(dg_samplers_fill(out, N, DG_INT64, &laws, method, NULL, &run, NULL) == DG_OK, "no fork");
    CHECK(n_pauses > 3, "%zu pauses", n_pauses);
    fork_at = n_pauses - 1;
    n_pauses = 0;
    const dg_status status = dg_samplers_fill(out, N, DG_INT64, &laws, method, NULL, &run, NULL);
    if (child == 0) {
        memcpy(theirs, out, size);
        _exit((int)status);
    }
    int ended = 1;
    CHECK(status == DG_OK && waitpid(child, &ended, 0) == child && ended == 0, "status %d",
          (int)status);
    size_t n_shared = 0;
    for (size_t i = 0; i < N; i++) {
        n_shared += theirs[i] == out[i];
    }
    CHECK(n_shared < 20, "%zu draws are shared", n_shared); /* of 10^5 that would be */
    milliseconds_a_look = 0;
    free(parameters);
    free(out);
    (void)munmap(theirs, size);
}

int main(int n_arguments, char **arguments)
{
    (void)arguments;
    uint64_t state = 11;
    for (size_t i = 0; i < TAPE; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    test_draws();
    test_turns();
    test_dtypes();
    test_pauses();
    test_choices();
    test_rent();
    test_blocks();
    test_errors();
    test_fit();
    test_groups();
    if (DG_HAVE_WORDS && n_arguments < 2) {
        test_fork(DG_ISOCHRONOUS);
        test_fork(DG_AUTO); /* in blocks */
    }
    return report("columns of laws");
}
