/* The loop of memory_scan.py: which of many words may begin at which byte of a piece of memory.
 *
 * `listed` has a bit for each value of a word's lowest 24 bits; most of memory is dismissed by it.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Write to `at` where words begin whose bit is set; return how many, `most` at most.
 *
 *  The search begins at byte *from, which is set to where the next one has to go on.
 */
size_t dg_scan(const uint8_t *memory, size_t size, const uint8_t *listed, size_t *from, size_t *at,
               size_t most)
{
    size_t n = 0;
    size_t i = *from;
    for (; i + sizeof(uint64_t) <= size && n < most; i++) {
        uint64_t word;
        memcpy(&word, memory + i, sizeof word);
        if (listed[(word & 0xffffff) >> 3] >> (word & 7) & 1) {
            at[n++] = i;
        }
    }
    *from = i;
    return n;
}
