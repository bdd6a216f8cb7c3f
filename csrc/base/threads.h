/* Threads, the clock and the process, as the system has them (POSIX here). */
#ifndef DG_BASE_THREADS_H
#define DG_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/** Between two pauses (dg_run); the reader of the clock is at most a piece of work late. */
enum { DG_PAUSE_MILLISECONDS = 20 };

typedef pthread_t dg_thread;

/** Make one call in a thread of its own, to be joined.
 *
 *  Ensures:   true -> *thread is started; it has a stack of a mebibyte at least, whatever the process's
 *             limits and defaults say, and gets no signal: these go to the threads that expect them.
 *  Returns:   false if the system has no thread to give.
 */
bool dg_thread_start(dg_thread *thread, void *(*call)(void *), void *argument);

/** Return when the thread's call has. */
void dg_thread_join(dg_thread thread);

/** Milliseconds of a clock that only goes forward. */
uint64_t dg_milliseconds(void);

/** A number that tells a process from one that it was forked from. */
int64_t dg_process(void);

#endif
