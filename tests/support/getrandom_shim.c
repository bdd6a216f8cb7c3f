/* getrandom(2) as a test wants it, by LD_PRELOAD: a stream that repeats, and faults.
 *
 * The C core calls getrandom(), and Python's os.getrandom syscall(SYS_getrandom, ...). Both come
 * here. dg_shim_set chooses what they do. Before it is called, and in mode 0, the real ones do it.
 *
 * For the tests of wiping: a caller's source that hands out the same stream and keeps no copy
 * (dg_shim_fill), and wiping that can be turned off (dg_shim_no_wiping). The clock stands still,
 * or makes a second's step at each look where a signal is to be heard.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { REAL, WHOLE, EINTR_MANY, SHORT_READS, FAIL, ZERO, FAIL_LATE, TOO_MUCH, FAIL_EARLY, SIGNAL };

static int mode;
static int error_to_give;
static uint64_t position; /* bytes of the stream handed out; several threads count on */
static uint64_t calls;
static int no_wiping;
static uint64_t given; /* FAIL_LATE: bytes before the failure; FAIL_EARLY: failures; SIGNAL: at which call */
static uint64_t looks; /* at the clock */
static unsigned flags_seen;

typedef long (*syscall_function)(long, ...);

void dg_shim_set(int new_mode, int error, uint64_t number)
{
    mode = new_mode;
    error_to_give = error;
    given = number;
    position = 0;
    calls = 0;
    flags_seen = 0;
}

uint64_t dg_shim_position(void)
{
    return position;
}

void dg_shim_no_wiping(int off)
{
    no_wiping = off;
}

uint64_t dg_shim_calls(void)
{
    return calls;
}

unsigned dg_shim_flags(void)
{
    return flags_seen;
}

/** Byte i of the stream: splitmix64, enough for a test. */
static uint8_t stream_byte(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint8_t)((z ^ (z >> 31)) >> 56);
}

/** The next n bytes of the stream, the place of the first of which is given. */
static ssize_t deliver_at(uint64_t first, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = stream_byte(first + i);
    }
    return (ssize_t)n;
}

static uint64_t advance(size_t n)
{
    return __atomic_fetch_add(&position, n, __ATOMIC_RELAXED);
}

static ssize_t deliver(uint8_t *out, size_t n)
{
    return deliver_at(advance(n), out, n);
}

/** Fill the buffer of a caller's source. */
void dg_shim_fill(uint8_t *out, size_t n)
{
    deliver(out, n);
}

void explicit_bzero(void *memory, size_t n)
{
    if (!no_wiping) {
        memset(memory, 0, n);
        __asm__ volatile("" : : "r"(memory) : "memory"); /* the memset stays */
    }
}

/* The name of explicit_bzero under _FORTIFY_SOURCE. */
void __explicit_bzero_chk(void *memory, size_t n, size_t room)
{
    (void)room;
    explicit_bzero(memory, n);
}

static ssize_t shim(void *buffer, size_t n, unsigned flags)
{
    uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&flags_seen, flags, __ATOMIC_RELAXED);
    switch (mode) {
    case EINTR_MANY: /* a hundred interruptions before each delivery */
        if (call % 101 != 0) {
            errno = EINTR;
            return -1;
        }
        return deliver(buffer, n);
    case SHORT_READS: { /* one to seven bytes at a time */
        size_t some = 1 + (size_t)(call % 7);
        return deliver(buffer, n < some ? n : some);
    }
    case FAIL:
        memset(buffer, 0xa5, n); /* what a failed call leaves must not become noise */
        errno = error_to_give;
        return -1;
    case ZERO:
        return 0;
    case FAIL_LATE: {
        uint64_t first = advance(n);
        if (first >= given) {
            errno = error_to_give;
            return -1;
        }
        return deliver_at(first, buffer, n);
    }
    case TOO_MUCH:
        deliver(buffer, n);
        return (ssize_t)n + 1;
    case FAIL_EARLY:
        if (call <= given) {
            errno = error_to_give;
            return -1;
        }
        return deliver(buffer, n);
    case SIGNAL: /* for the process, as our threads block it */
        if (call == given) {
            kill(getpid(), SIGINT);
        }
        return deliver(buffer, n);
    default:
        return deliver(buffer, n);
    }
}

static syscall_function real_syscall(void)
{
    syscall_function real;
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real;
}

typedef int (*clock_function)(clockid_t, struct timespec *);

/** Time stands still while getrandom is ours: a fill that takes 20 ms, as on a busy machine, hears signals,
 *  and then begins a new stream. In the mode SIGNAL it does so after each piece. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (mode != REAL && clock == CLOCK_MONOTONIC) {
        *now = (struct timespec){mode == SIGNAL ? (time_t)++looks : 1, 0};
        return 0;
    }
    clock_function real;
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    return real(clock, now);
}

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    if (mode == REAL) {
        return (ssize_t)real_syscall()(SYS_getrandom, buffer, n, flags);
    }
    return shim(buffer, n, flags);
}

long syscall(long number, ...)
{
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    if (number == SYS_getrandom && mode != REAL) {
        return (long)shim((void *)a[0], (size_t)a[1], (unsigned)a[2]);
    }
    return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
