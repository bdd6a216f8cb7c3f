/* A tape as a source of bits: a dg_integer whose bytes are handed out in order. */
#include <discretegauss.h>
#include <string.h>

static int read_tape(void *context, uint8_t *out, size_t n)
{
    dg_integer *const tape = context;
    if (n > tape->n_bytes) {
        return 1;
    }
    memcpy(out, tape->bytes, n);
    *tape = (dg_integer){tape->bytes + n, tape->n_bytes - n};
    return 0;
}
