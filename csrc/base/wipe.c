#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/wipe.h"

#include <string.h>

/* The word path and our own GMP path use under 2 KiB of stack below the API function (measured with
 * -fstack-usage: the deepest chain, fill -> gaussian -> laplace -> exp -> bernoulli -> refill, adds
 * up to less than 1 KiB); GMP's temporaries for long operands may reach deeper. */
enum { DG_STACK_WIPED = 4096 };

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

__attribute__((noinline)) void dg_wipe_stack(void)
{
    unsigned char below[DG_STACK_WIPED];
    explicit_bzero(below, sizeof below);
}
