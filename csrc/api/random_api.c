/* The keystream from outside, for repeatable tests. */
#include "discretegauss.h"
#include "random/chacha20.h"

void dg_keystream(uint8_t *out, size_t n_blocks, const uint8_t *key, uint64_t first_block)
{
    dg_chacha20_blocks(out, n_blocks, key, first_block, &(dg_prefetch){0});
}
