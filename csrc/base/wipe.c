#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/wipe.h"

#include <string.h>

void dg_wipe(void *memory, size_t n)
{
    if (n > 0) {
        explicit_bzero(memory, n);
    }
}

void dg_wipe_mpz(mpz_t z)
{
    if (z->_mp_alloc > 0) {
        explicit_bzero(z->_mp_d, (size_t)z->_mp_alloc * sizeof(mp_limb_t));
    }
    z->_mp_size = 0;
}
