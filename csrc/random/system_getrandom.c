#define _DEFAULT_SOURCE /* getrandom */
#include "random/system.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

/* With flags 0 getrandom blocks until the system's generator is seeded.
 *
 * A signal may cut a call short or end it with EINTR. The loop keeps what arrived and asks for the remainder. A
 * call that delivers no byte would repeat forever, so it is reported as EIO.
 */
dg_status dg_system_random(uint8_t *out, size_t n)
{
    while (n > 0) {
        ssize_t got = getrandom(out, n, 0);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return DG_ERR_ENTROPY;
        }
        if (got == 0 || (size_t)got > n) {
            errno = EIO;
            return DG_ERR_ENTROPY;
        }
        out += got;
        n -= (size_t)got;
    }
    return DG_OK;
}
