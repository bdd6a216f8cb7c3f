#define _DEFAULT_SOURCE /* pthread_sigmask, clock_gettime, getpid */
#include "base/threads.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/** Four times the stack that discretegauss.h asks for. */
enum { STACK_BYTES = 1 << 20 };

bool dg_thread_start(dg_thread *thread, void *(*call)(void *), void *argument)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    bool started = false;
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0) {
#if defined(_WIN32) /* Windows sends no signals to threads */
        started = pthread_create(thread, &attributes, call, argument) == 0;
#else
        sigset_t all, before;
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits the mask */
        started = pthread_create(thread, &attributes, call, argument) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    }
    (void)pthread_attr_destroy(&attributes);
    return started;
}

void dg_thread_join(dg_thread thread)
{
    (void)pthread_join(thread, NULL);
}

uint64_t dg_milliseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int64_t dg_process(void)
{
    return getpid();
}
