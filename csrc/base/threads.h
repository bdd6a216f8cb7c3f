/* Threads, the clock and the process id of the operating system (POSIX). */
#ifndef DG_BASE_THREADS_H
#define DG_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/** Time between two pauses (dg_run). The thread that reads the clock is late by at most one piece of work. */
enum { DG_PAUSE_MILLISECONDS = 20 };

typedef pthread_t dg_thread;

/** Start a thread that makes one call. The caller joins it.
 *
 *  Ensures:   true -> *thread is started. Its stack has at least one mebibyte, whatever the limits and defaults of
 *             the process. It gets no signals, because the threads that expect them must get them.
 *  Returns:   false if the system gives no thread.
 */
bool dg_thread_start(dg_thread *thread, void *(*call)(void *), void *argument);

/** Wait until the thread's call returns. */
void dg_thread_join(dg_thread thread);

/** Return the milliseconds of a monotonic clock. */
uint64_t dg_milliseconds(void);

/** Return a number that differs between a process and one that it was forked from. */
int64_t dg_process(void);

#endif
