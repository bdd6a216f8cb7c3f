/* The stream of random bytes that one call draws from. It lives on the stack of that call.
 *
 * The protocol, which reference.py shares: draws read whole bytes in the order in which the source delivers
 * them. An integer of k bytes is read least significant byte first.
 */
#ifndef DG_RANDOM_BITS_H
#define DG_RANDOM_BITS_H

#include "base/contract.h"
#include "base/prefetch.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* DG_BITS_CAPACITY: bytes of the buffer. DG_BITS_MOST: the longest single read. DG_BITS_SLACK: bytes behind the
 * buffer, which code that loads several words at once may load, and never uses. */
enum { DG_BITS_CAPACITY = 16384, DG_BITS_MOST = 8192, DG_BITS_SLACK = 64, DG_KEY_BYTES = 32 };

typedef struct dg_bits {
    const dg_source *source;
    size_t position; /* next unread byte */
    size_t end;      /* one past the last byte delivered */
    size_t touched;  /* buffer[touched ..) was never written */
    /* Bytes that the call will use after the ones that it requests now. For a caller's source it is
     * a lower bound: the source delivers no byte that draws do not read, so a seeded stream gives the
     * same draws however a fill is cut into calls, if it is cut where its draws may be cut. For the
     * other sources it is an estimate, because their unused bytes cost little. */
    size_t bytes_ahead;
    dg_prefetch fetch;   /* memory that the call writes next, fetched while ChaCha20 computes */
    uint64_t next_block; /* ChaCha20: the next block of the key's stream */
    int keyed;           /* ChaCha20: whether `key` holds a key */
    uint8_t key[DG_KEY_BYTES];
    uint8_t buffer[DG_BITS_CAPACITY + DG_BITS_SLACK];
} dg_bits;

/** Open a stream. A source of NULL means DG_SOURCE_CHACHA20. Nothing is read yet. */
void dg_bits_open(dg_bits *bits, const dg_source *source);

/** Wipe the stream. Every function that opens one closes it on every way out. */
void dg_bits_close(dg_bits *bits);

/** Return 1 if the bytes come from a caller's source, else 0. */
int dg_bits_from_caller(const dg_bits *bits);

/** Make at least `need` unread bytes available.
 *
 *  Requires:  need <= DG_BITS_MOST.
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE.
 */
dg_status dg_bits_refill(dg_bits *bits, size_t need);

/** Read n bytes, for any n. bits->bytes_ahead does not count them. Returns: as dg_bits_refill. */
dg_status dg_bits_take(uint8_t *out, size_t n, dg_bits *bits);

/** Read one byte. Returns: as dg_bits_refill. */
static inline dg_status dg_bits_byte(uint32_t *out, dg_bits *bits)
{
    if (__builtin_expect(bits->position == bits->end, 0)) {
        DG_TRY(dg_bits_refill(bits, 1));
    }
    *out = bits->buffer[bits->position++];
    return DG_OK;
}

/** Read an integer of n bytes, least significant first.
 *
 *  Requires:  n <= 8.
 *  Returns:   as dg_bits_refill.
 */
static inline dg_status dg_bits_word(uint64_t *out, size_t n, dg_bits *bits)
{
    DG_REQUIRES(n <= 8);
    if (__builtin_expect(bits->end - bits->position < n, 0)) {
        DG_TRY(dg_bits_refill(bits, n));
    }
    uint64_t value; /* the load may reach into the slack */
    __builtin_memcpy(&value, bits->buffer + bits->position, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    bits->position += n;
    *out = n == 8 ? value : value & ((UINT64_C(1) << (8 * n)) - 1);
    return DG_OK;
}

#endif
