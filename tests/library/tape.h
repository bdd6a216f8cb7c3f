/* A source of bits that hands out given bytes in order. */
#include <discretegauss.h>
#include <string.h>

typedef struct tape {
    const uint8_t *bytes;
    size_t n_left;
} tape;

static int read_tape(void *context, uint8_t *out, size_t n)
{
    tape *const from = context;
    if (n > from->n_left) {
        return 1;
    }
    memcpy(out, from->bytes, n);
    *from = (tape){from->bytes + n, from->n_left - n};
    return 0;
}
