/* Several threads draw from one sampler at once, and each draws what it draws alone. The test matters most in a build
 * with -DDG_SANITIZE=thread, which reports every memory access of two threads in no certain order.
 *
 * With the argument `race` the program makes such an access itself, through one stream that two threads share. A build
 * that does not report it is blind. */
#define _DEFAULT_SOURCE
#include "base/int128.h"
#include "random/bits.h"
#include "support.h"

#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_THREADS = 4, N = 1 << 12, N_ROUNDS = 5, SEED = 32 };

/** One thread's part. */
typedef struct part {
    const dg_sampler *from;
    uint8_t key[SEED]; /* of the caller's source, which is its own keystream */
    uint64_t n_used;
    uint8_t *out;
    dg_status status;
} part;

static int caller(void *context, uint8_t *out, size_t n)
{
    part *mine = context;
    uint8_t block[64] = {0};
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || mine->n_used % 64 == 0) {
            dg_keystream(block, 1, mine->key, mine->n_used / 64);
        }
        out[i] = block[mine->n_used++ % 64];
    }
    return 0;
}

static dg_status draw(part *mine, dg_source_kind kind)
{
    const dg_source source = {kind, kind == DG_SOURCE_CALLER ? caller : NULL, mine};
    return dg_sampler_fill_wide(mine->out, N, dg_sampler_wide_bytes(mine->from), mine->from, NULL,
                                &source);
}

/** Draw from every source. The caller's is the last, and its draws stay. */
static void *run(void *argument)
{
    part *mine = argument;
    for (int i = 0; i < N_ROUNDS && mine->status == DG_OK; i++) {
        for (int kind = DG_SOURCE_GETRANDOM; kind <= DG_SOURCE_CALLER; kind++) {
            mine->n_used = 0;
            dg_status status = draw(mine, (dg_source_kind)kind);
            mine->status = status == DG_OK ? mine->status : status;
        }
    }
    return NULL;
}

/** Run each part in its own thread. */
static void run_at_once(part parts[N_THREADS], void *(*function)(void *))
{
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, function, &parts[i]) != 0) {
            abort();
        }
    }
    for (int i = 0; i < N_THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void test_shared(const dg_sampler *from, const char *name)
{
    part parts[N_THREADS];
    const size_t n_bytes = N * dg_sampler_wide_bytes(from);
    uint8_t *alone = malloc(n_bytes);
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < N_THREADS; i++) {
        parts[i].from = from;
        parts[i].key[0] = (uint8_t)(i + 1);
        parts[i].out = malloc(n_bytes);
        if (parts[i].out == NULL || alone == NULL) {
            abort();
        }
    }
    run_at_once(parts, run);
    for (int i = 0; i < N_THREADS; i++) {
        part again = parts[i];
        again.out = alone;
        again.n_used = 0;
        CHECK(parts[i].status == DG_OK && draw(&again, DG_SOURCE_CALLER) == DG_OK, "%s", name);
        CHECK(memcmp(alone, parts[i].out, n_bytes) == 0, "%s: thread %d draws otherwise", name, i);
        CHECK(i == 0 || memcmp(parts[0].out, parts[i].out, n_bytes) != 0, "%s: one stream", name);
    }
    for (int i = 0; i < N_THREADS; i++) {
        free(parts[i].out);
    }
    free(alone);
}

/** Make, use and free samplers in a thread. */
static void *make_and_free(void *argument)
{
    static const char *const sigma2[] = {"1000/7", "2000/7", "3000/7"};
    part *mine = argument;
    int64_t out[100];
    for (int i = 0; i < 6; i++) {
        dg_sampler *sampler = NULL;
        mine->status = dg_sampler_new(&sampler, DG_DISCRETE_GAUSSIAN, sigma2[i / 2], "1/3", NULL,
                                      i % 2 == 0 ? DG_CELLS : DG_AUTO);
        if (mine->status == DG_OK) {
            mine->status = dg_sampler_fill(out, 100, DG_INT64, sampler, NULL, NULL);
        }
        dg_sampler_free(sampler);
    }
    return NULL;
}

static void test_building(void)
{
    part parts[N_THREADS];
    memset(parts, 0, sizeof parts);
    run_at_once(parts, make_and_free);
    for (int i = 0; i < N_THREADS; i++) {
        CHECK(parts[i].status == DG_OK, "thread %d: status %d", i, (int)parts[i].status);
    }
}

/** In one call by several threads every draw is made. */
static void test_one_call(const dg_sampler *from, const char *name)
{
    enum { N_LONG = 500000 };
    const dg_run run = {N_THREADS, NULL, NULL};
    const size_t n = dg_sampler_method(from, 1) == DG_REFERENCE ? N_LONG / 50 : N_LONG;
    int64_t *out = malloc(N_LONG * sizeof *out);
    if (out == NULL) {
        abort();
    }
    for (int kind = DG_SOURCE_GETRANDOM; kind <= DG_SOURCE_CHACHA20; kind++) {
        const dg_source source = {(dg_source_kind)kind, NULL, NULL};
        memset(out, 0x7F, N_LONG * sizeof *out);
        const dg_status status = dg_sampler_fill(out, n, DG_INT64, from, &run, &source);
        size_t n_untouched = 0;
        for (size_t i = 0; i < N_LONG; i++) {
            n_untouched += out[i] == INT64_C(0x7F7F7F7F7F7F7F7F);
        }
        CHECK(status == DG_OK, "%s: status %d", name, (int)status);
        CHECK(n_untouched == N_LONG - n, "%s", name);
    }
    free(out);
}

/* --- the control -------------------------------------------------------------------------------- */

static dg_bits one_for_all;

static void *read_shared_stream(void *argument)
{
    part *mine = argument;
    for (int i = 0; i < 1000; i++) {
        uint32_t byte;
        mine->status = dg_bits_byte(&byte, &one_for_all);
    }
    return NULL;
}

static int make_a_race(void)
{
    part parts[N_THREADS];
    memset(parts, 0, sizeof parts);
    dg_bits_open(&one_for_all, NULL);
    run_at_once(parts, read_shared_stream);
    (void)puts("two threads shared a stream, and nothing was reported");
    return 0;
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments > 1 && strcmp(arguments[1], "race") == 0) {
        return make_a_race();
    }
    CHECK(mpfr_buildopt_tls_p() != 0, "this MPFR shares its state between threads");
    static const struct {
        const char *name;
        dg_law_kind kind;
        dg_arithmetic arithmetic;
        const char *parameter, *mu;
        dg_method method;
    } cases[] = {
        {"gaussian, words", DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, "100/7", "1/3", DG_REFERENCE},
        {"gaussian, GMP", DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_GMP, "100/7", "1/3", DG_REFERENCE},
        {"laplace, words", DG_DISCRETE_LAPLACE, DG_ARITHMETIC_AUTO, "1000/7", "0", DG_REFERENCE},
        {"geometric, GMP", DG_GEOMETRIC_EXP, DG_ARITHMETIC_GMP, "1/10", "0", DG_REFERENCE},
        {"gaussian, cells", DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, "100/7", "1/3", DG_CELLS},
        {"laplace, cells", DG_DISCRETE_LAPLACE, DG_ARITHMETIC_AUTO, "1000000000/7", "0", DG_CELLS},
        {"generalised, cells", DG_GENERALIZED_GAUSSIAN, DG_ARITHMETIC_AUTO, "50", "0", DG_CELLS},
        {"gaussian, lanes", DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, "100/7", "1/3",
         DG_ISOCHRONOUS},
        /* N draws are just enough for cells, so all threads need a table at once */
        {"gaussian, auto", DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, "100/7", "0x4000000000000000",
         DG_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dg_sampler *from = sampler_of(cases[i].kind, cases[i].parameter, cases[i].mu, NULL,
                                      cases[i].method, cases[i].arithmetic, DG_ISA_AUTO);
        CHECK(from != NULL || (cases[i].method == DG_ISOCHRONOUS && !DG_HAVE_WORDS), "%s",
              cases[i].name);
        if (from != NULL) {
            CHECK(cases[i].method != DG_AUTO || (dg_sampler_method(from, N) == DG_CELLS &&
                                                 dg_sampler_method(from, N - 1) == DG_REFERENCE),
                  "%s", cases[i].name);
            test_shared(from, cases[i].name);
            test_one_call(from, cases[i].name);
        }
        dg_sampler_free(from);
    }
    test_building();
    return report("threads");
}
