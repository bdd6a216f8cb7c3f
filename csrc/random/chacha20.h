/* The keystream of RFC 8439 ChaCha20, many blocks at once. These are pure functions of key and position: the
 * caller takes the key from the system and wipes it. */
#ifndef DG_RANDOM_CHACHA20_H
#define DG_RANDOM_CHACHA20_H

#include "base/isa.h"
#include "base/prefetch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DG_CHACHA20_KEY = 32, DG_CHACHA20_NONCE = 12, DG_CHACHA20_BLOCK = 64 }; /* bytes */
enum { DG_CHACHA20_MOST_LANES = 16 }; /* the most blocks that a kernel makes at once */

/** Write blocks [first_block, first_block + n_blocks) of the stream under key.
 *
 *  Block i is the RFC's block function with the low half of i in the 32-bit counter, the high
 *  half in the first word of the nonce, and zero in the nonce's other two words.
 *  The memory that *meanwhile describes, if any, is fetched in between, because the rounds access none.
 *  Requires:  first_block + n_blocks <= 2^64; out has 64 n_blocks bytes, of any alignment.
 *  Ensures:   nothing behind them is written. The copy of the key is wiped.
 *  Cost:      in batches of 16 blocks (AVX-512), 16 or 8 (AVX2), 8 or 4 (NEON) or 4 (portable): one block costs
 *             as much as a batch. Time and memory access depend on n_blocks alone.
 */
void dg_chacha20_blocks(uint8_t *out, size_t n_blocks, const uint8_t key[DG_CHACHA20_KEY],
                        uint64_t first_block, dg_prefetch *meanwhile);

/** Do what dg_chacha20_blocks does with the kernel for `isa`, without fetching.
 *
 *  Returns:   true | false: this machine or build has no such kernel, and nothing was written.
 */
bool dg_chacha20_blocks_isa(uint8_t *out, size_t n_blocks, const uint8_t key[DG_CHACHA20_KEY],
                            uint64_t first_block, dg_isa isa);

/** Write blocks [counter, counter + n_blocks) of the RFC's own stream, with a nonce of 96 bits.
 *
 *  Requires:  counter + n_blocks <= 2^32. Otherwise as dg_chacha20_blocks_isa.
 */
bool dg_chacha20_rfc8439(uint8_t *out, size_t n_blocks, const uint8_t key[DG_CHACHA20_KEY],
                         const uint8_t nonce[DG_CHACHA20_NONCE], uint32_t counter, dg_isa isa);

#endif
