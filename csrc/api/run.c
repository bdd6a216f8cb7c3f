#include "api/run.h"

#include "api/add.h"
#include "base/threads.h"

#include <errno.h>
#include <mpfr.h>
#include <stdatomic.h>
#include <stdlib.h>

/** The state that the threads of a fill share. Pieces are numbered. Piece i < n_threads is the first one of thread i,
 *  so that each thread has one. The calling thread also draws the first pieces of threads that could not be started. */
typedef struct job {
    const dg_fill *fill;
    const dg_run *run;
    size_t piece; /* its length, in items */
    size_t n_pieces;
    size_t n_threads;
    atomic_size_t next; /* the first piece that no thread has taken */
    atomic_bool stop;
    /* only the calling thread uses these: */
    size_t n_started;    /* other threads, in this process */
    size_t unstarted;    /* the next first piece of a thread that was not started */
    uint64_t last_pause; /* in milliseconds */
    int64_t process;
} job;

typedef struct worker {
    job *of;
    size_t piece;
    dg_status status;
    int saved_errno;
    dg_thread thread;
} worker;

static size_t take(job *of, bool calling)
{
    if (calling && of->unstarted < of->n_threads) {
        return of->unstarted++;
    }
    return atomic_fetch_add(&of->next, 1);
}

static dg_status session_open(dg_session *session, const dg_fill *fill)
{
    session->big.open = false;
    dg_bits_open(&session->bits, fill->source);
    if (fill->law == NULL) {
        return DG_OK;
    }
    return fill->law->uses_words ? DG_OK : dg_big_open(&session->big, fill->law);
}

/** Wipe and close the session. */
static void session_close(dg_session *session)
{
    const int saved_errno = errno;
    dg_big_close(&session->big);
    dg_bits_close(&session->bits);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); /* a thread that ends would leak it */
    errno = saved_errno;
}

/** Draw items [first, end) and add to them, a block at a time, so that a block stays in a core's cache. */
static dg_status draw_and_add(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    enum { BLOCK = 1 << 17 };
    const size_t chunks = fill->chunk > 0 ? BLOCK / fill->chunk : 0;
    const size_t block = fill->chunk == 0 ? BLOCK : (chunks > 0 ? chunks : 1) * fill->chunk;
    for (size_t stop; first < end; first = stop) {
        stop = end - first < block ? end : first + block;
        DG_TRY(fill->draw(fill, first, stop, session));
        DG_TRY(dg_add(fill->out, first, stop, fill->sums));
    }
    return DG_OK;
}

/** Draw pieces, starting with *piece, until there are no more, the fill is stopped, or a pause is due. */
static dg_status draw_pieces(size_t *piece, bool calling, job *of, dg_session *session)
{
    const dg_fill *fill = of->fill;
    while (*piece < of->n_pieces && !atomic_load_explicit(&of->stop, memory_order_relaxed)) {
        const size_t first = *piece * of->piece, left = fill->n - first;
        const size_t end = left < of->piece ? fill->n : first + of->piece;
        DG_TRY(fill->sums == NULL ? fill->draw(fill, first, end, session)
                                  : draw_and_add(fill, first, end, session));
        *piece = take(of, calling);
        if (calling && of->run->pause != NULL && *piece < of->n_pieces &&
            dg_milliseconds() - of->last_pause >= DG_PAUSE_MILLISECONDS) {
            break;
        }
    }
    return DG_OK;
}

/** Call the caller's pause function. If it forked, the fill ends in the child: the draws so far are the parent's, and
 *  the threads of the fill do not exist here. */
static dg_status pause_fill(job *of)
{
    const bool stops = of->run->pause(of->run->context) != 0;
    if (dg_process() != of->process) {
        of->n_started = 0;
        return DG_ERR_STOPPED;
    }
    of->last_pause = dg_milliseconds();
    return stops ? DG_ERR_STOPPED : DG_OK;
}

/** Do one thread's part of the fill. Its session is closed during a pause, so a fork there copies no stream. */
static dg_status work(size_t piece, bool calling, job *of)
{
    dg_status status = DG_OK;
    while (status == DG_OK && piece < of->n_pieces && !atomic_load(&of->stop)) {
        dg_session session;
        status = session_open(&session, of->fill);
        if (status == DG_OK) {
            status = draw_pieces(&piece, calling, of, &session);
        }
        session_close(&session);
        if (status == DG_OK && calling && piece < of->n_pieces && of->run->pause != NULL) {
            status = pause_fill(of);
        }
    }
    if (status != DG_OK) {
        atomic_store(&of->stop, true);
    }
    return status;
}

static void *work_along(void *argument)
{
    worker *one = argument;
    one->status = work(one->piece, false, one->of);
    one->saved_errno = errno;
    return NULL;
}

/** Start the other threads, as many as the system gives. */
static worker *start_workers(job *of)
{
    worker *workers = of->n_threads > 1 ? calloc(of->n_threads - 1, sizeof *workers) : NULL;
    of->n_started = 0;
    while (workers != NULL && of->n_started + 1 < of->n_threads) {
        worker *one = &workers[of->n_started];
        *one = (worker){.of = of, .piece = of->n_started + 1};
        if (!dg_thread_start(&one->thread, work_along, one)) {
            break;
        }
        of->n_started++;
    }
    of->unstarted = of->n_started + 1;
    return workers;
}

dg_status dg_fill_run(const dg_fill *fill, const dg_run *run)
{
    static const dg_run alone = {1, NULL, NULL};
    if (fill->n == 0) {
        return DG_OK;
    }
    job of = {.fill = fill, .run = run == NULL ? &alone : run, .piece = fill->piece};
    if (run == NULL || fill->piece > fill->n) {
        of.piece = fill->n;
    }
    of.n_pieces = (fill->n - 1) / of.piece + 1;
    const bool from_caller = fill->source != NULL && fill->source->kind == DG_SOURCE_CALLER;
    of.n_threads = from_caller || of.run->threads < 1 ? 1 : of.run->threads;
    const size_t repaid = fill->n / of.piece; /* each thread needs a whole piece */
    if (of.n_threads > repaid) {
        of.n_threads = repaid > 0 ? repaid : 1;
    }
    atomic_init(&of.next, of.n_threads);
    atomic_init(&of.stop, false);
    if (of.n_pieces > 1) {
        of.process = dg_process();
        of.last_pause = dg_milliseconds();
    }
    worker *workers = start_workers(&of);
    dg_status status = work(0, true, &of);
    int saved_errno = errno;
    for (size_t i = 0; workers != NULL && i < of.n_started; i++) {
        dg_thread_join(workers[i].thread);
        if (status == DG_OK && workers[i].status != DG_OK) {
            status = workers[i].status;
            saved_errno = workers[i].saved_errno;
        }
    }
    free(workers);
    errno = saved_errno;
    return status;
}
