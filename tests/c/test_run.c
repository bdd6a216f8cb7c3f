/* Running a fill (api/run.h), with a `draw` of this file instead of a law's, so that each thread can be observed,
 * delayed, and made to fail. */
#define _GNU_SOURCE
#include "api/run.h"
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, PIECE = 7, N_PIECES = (N + PIECE - 1) / PIECE, MOST_THREADS = 8 };
enum { UNTOUCHED = 0xAA, DRAWN = 1 };

static struct {
    pthread_t calling;
    pthread_t by[N_PIECES];
    atomic_int times[N_PIECES];
    atomic_int n_now;           /* how many threads draw now */
    atomic_int n_threads_to_be; /* no first piece ends before this many have begun */
    int milliseconds;           /* duration of a worker's piece */
    int calling_milliseconds;   /* duration of the calling thread's piece */
    bool workers_fail;
    atomic_bool workers_hear_signals;
} seen;

/** The result of pthread_create; 0: that of the real function. */
static int refusal;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*call)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*call)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*call)(void *), void *argument)
{
    return refusal != 0 ? refusal : __real_pthread_create(thread, attributes, call, argument);
}

static void wait_milliseconds(int n)
{
    const struct timespec time = {n / 1000, n % 1000 * 1000000L};
    (void)nanosleep(&time, NULL);
}

#if defined(__SANITIZE_THREAD__) /* it uses most of a thread's stack itself */
enum { DEEP = 64 * 1024 };
#else
enum { DEEP = 700 * 1024 }; /* more than some limits allow, less than a mebibyte */
#endif

static __attribute__((noinline)) void look_at_worker(void)
{
    volatile char deep[DEEP];
    deep[0] = deep[sizeof deep - 1] = 1;
    sigset_t blocked;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (sigismember(&blocked, SIGINT) == 0) {
        atomic_store(&seen.workers_hear_signals, true);
    }
}

static dg_status watched_draw(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    (void)session;
    const size_t piece = first / PIECE;
    const bool calling = pthread_equal(pthread_self(), seen.calling) != 0;
    (void)atomic_fetch_add(&seen.n_now, 1);
    seen.by[piece] = pthread_self();
    (void)atomic_fetch_add(&seen.times[piece], 1);
    if (!calling) {
        look_at_worker();
    }
    while (piece < MOST_THREADS && atomic_load(&seen.n_now) < atomic_load(&seen.n_threads_to_be)) {
        wait_milliseconds(1);
    }
    if (piece < MOST_THREADS) {
        atomic_store(&seen.n_threads_to_be, 0);
    }
    wait_milliseconds(calling ? seen.calling_milliseconds : seen.milliseconds);
    if (seen.workers_fail && !calling) {
        (void)atomic_fetch_sub(&seen.n_now, 1);
        errno = EDOM;
        return DG_ERR_ENTROPY;
    }
    memset(fill->out + first, DRAWN, end - first);
    (void)atomic_fetch_sub(&seen.n_now, 1);
    return DG_OK;
}

static uint8_t out[N];

static dg_status run(size_t threads, int (*pause)(void *))
{
    const dg_run by = {threads, pause, NULL};
    const dg_fill fill = {
        .out = out, .n = N, .item_bytes = 1, .piece = PIECE, .draw = watched_draw};
    memset(out, UNTOUCHED, sizeof out);
    return dg_fill_run(&fill, &by);
}

static void begin(int n_together)
{
    memset(&seen, 0, sizeof seen);
    seen.calling = pthread_self();
    atomic_store(&seen.n_threads_to_be, n_together);
}

static size_t count(uint8_t value)
{
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        n += out[i] == value;
    }
    return n;
}

/** Check that no thread draws, or will draw. */
static void check_given_up(const char *name)
{
    CHECK(atomic_load(&seen.n_now) == 0, "%s: somebody still draws", name);
    CHECK(count(UNTOUCHED) > 0, "%s: all is drawn", name);
    memset(out, UNTOUCHED, sizeof out);
    wait_milliseconds(20);
    CHECK(count(UNTOUCHED) == N, "%s: somebody wrote after the call", name);
}

static int never(void *context)
{
    (void)context;
    return 0;
}

static void test_every_piece_once(void)
{
    for (size_t threads = 1; threads <= MOST_THREADS; threads++) {
        begin((int)threads);
        CHECK(run(threads, never) == DG_OK && count(DRAWN) == N, "%zu threads", threads);
        for (size_t i = 0; i < N_PIECES; i++) {
            CHECK(atomic_load(&seen.times[i]) == 1, "%zu threads: piece %zu", threads, i);
        }
        for (size_t i = 0; i < threads; i++) {
            for (size_t k = 0; k < i; k++) {
                CHECK(!pthread_equal(seen.by[i], seen.by[k]), "%zu threads: not so many draw",
                      threads);
            }
        }
        CHECK(!atomic_load(&seen.workers_hear_signals), "signals go to threads of ours");
    }
    begin(0);
    CHECK(run(10 * N, never) == DG_OK && count(DRAWN) == N, "more threads than pieces");
}

static void test_no_threads_available(void)
{
    begin(0);
    refusal = EAGAIN;
    CHECK(run(4, never) == DG_OK && count(DRAWN) == N, "the calling thread draws all");
    refusal = 0;
    for (size_t i = 0; i < N_PIECES; i++) {
        CHECK(atomic_load(&seen.times[i]) == 1, "piece %zu", i);
    }
}

static void test_a_worker_fails(void)
{
    begin(3);
    seen.workers_fail = true;
    errno = 0;
    CHECK(run(3, never) == DG_ERR_ENTROPY, "the error of a worker is the fill's");
    CHECK(errno == EDOM, "errno is the worker's, not %d", errno);
    check_given_up("a worker fails");
}

static int stop(void *context)
{
    (void)context;
    return 1;
}

static void test_stopped(void)
{
    for (size_t threads = 1; threads <= MOST_THREADS; threads++) {
        begin((int)threads);
        seen.calling_milliseconds = 3;
        seen.milliseconds = 40;
        CHECK(run(threads, stop) == DG_ERR_STOPPED, "%zu threads", threads);
        check_given_up("stopped");
    }
}

static pid_t child;

static int fork_once(void *context)
{
    (void)context;
    if (child == 0) {
        child = fork();
        if (child == 0) {
            child = -1; /* so that it does not fork */
            begin(0);
        }
    }
    return 0;
}

/** In the child, which has none of the threads, the fill ends without another draw. In the parent it continues. */
static void test_fork(size_t threads)
{
    begin((int)threads);
    seen.calling_milliseconds = 3;
    seen.milliseconds = 10;
    child = 0;
    const dg_status status = run(threads, fork_once);
    if (child == -1) {
        bool is_idle = status == DG_ERR_STOPPED;
        for (size_t i = 0; i < N_PIECES; i++) {
            is_idle &= atomic_load(&seen.times[i]) == 0;
        }
        _exit(is_idle ? 0 : 1);
    }
    CHECK(status == DG_OK && count(DRAWN) == N, "the parent: status %d", (int)status);
    int ended = -1;
    CHECK(child > 0 && waitpid(child, &ended, 0) == child && ended == 0, "the child of %zu threads",
          threads);
}

int main(void)
{
    test_every_piece_once();
    test_no_threads_available();
    test_a_worker_fails();
    test_stopped();
    test_fork(1);
    test_fork(3);
    return report("run");
}
