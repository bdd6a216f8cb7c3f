#include "random/system.h"

#include <windows.h>

#include <bcrypt.h>
#include <errno.h>

enum { MOST = 1 << 20 }; /* a length is a ULONG */

/* Windows. BCryptGenRandom delivers all bytes or none. It sets no errno, so a failure sets EIO. */
dg_status dg_system_random(uint8_t *out, size_t n)
{
    while (n > 0) {
        size_t some = n < MOST ? n : (size_t)MOST;
        if (BCryptGenRandom(NULL, out, (ULONG)some, BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0) {
            errno = EIO;
            return DG_ERR_ENTROPY;
        }
        out += some;
        n -= some;
    }
    return DG_OK;
}
