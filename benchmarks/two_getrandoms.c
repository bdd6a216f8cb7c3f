/* getrandom of the C library, or by a system call: by LD_PRELOAD, for two_getrandoms.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int dg_by_syscall;

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    static ssize_t (*real)(void *, size_t, unsigned);
    if (dg_by_syscall) {
        return syscall(SYS_getrandom, buffer, n, flags);
    }
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "getrandom");
    }
    return real(buffer, n, flags);
}
