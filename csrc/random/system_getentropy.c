#include "random/system.h"

#include <sys/random.h>

enum { MOST = 256 }; /* the most that one call delivers */

/* macOS. getentropy(2) delivers all bytes or none, and sets errno. */
dg_status dg_system_random(uint8_t *out, size_t n)
{
    while (n > 0) {
        size_t some = n < MOST ? n : (size_t)MOST;
        if (getentropy(out, some) != 0) {
            return DG_ERR_ENTROPY;
        }
        out += some;
        n -= some;
    }
    return DG_OK;
}
