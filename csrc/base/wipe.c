#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/wipe.h"

#if defined(_WIN32)
#include <windows.h>
#define explicit_bzero(memory, n) ((void)SecureZeroMemory((memory), (n)))
#elif defined(__APPLE__)
#define __STDC_WANT_LIB_EXT1__ 1
#include <string.h>
#define explicit_bzero(memory, n) ((void)memset_s((memory), (n), 0, (n)))
#else
#include <string.h>
#endif

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
