#define _DEFAULT_SOURCE /* getrandom */
#include "random/system.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

/* Flags 0: it blocks until the system's generator is seeded.
 *
 * A signal may end a call early or with EINTR; what was delivered is kept and the rest asked
 * again. Zero bytes would be asked for ever: reported as EIO.
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
