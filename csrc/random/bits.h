/* The stream of random bytes that one call draws from. It lives on the stack of that call.
 *
 * Protocol, shared with reference.py: draws read whole bytes, in the order in which the
 * source delivers them; an integer of k bytes is read least significant byte first.
 */
#ifndef DG_RANDOM_BITS_H
#define DG_RANDOM_BITS_H

#include "base/contract.h"
#include "base/prefetch.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* The buffer; the longest read that may be asked for at once; bytes past the end that may be looked
 * at (never used) by whoever loads words many at a time. */
enum { DG_BITS_CAPACITY = 16384, DG_BITS_MOST = 8192, DG_BITS_SLACK = 64, DG_KEY_BYTES = 32 };

typedef struct dg_bits {
    const dg_source *source;
    size_t position; /* next unread byte */
    size_t end;      /* one past the last byte delivered */
    size_t touched;  /* buffer[touched ..) was never written */
    /* Bytes that the call will use beyond the ones it asks for now. A lower bound if the source is
     * a caller's: it is asked for no byte that goes unused, so one seeded stream gives the same
     * draws however a fill is cut into calls. An estimate for getrandom, where a byte too many is
     * free. */
    size_t bytes_ahead;
    dg_prefetch fetch;   /* what the call writes next: fetched while ChaCha20 computes */
    uint64_t next_block; /* ChaCha20: of the stream under key */
    int keyed;           /* ChaCha20: whether key holds one */
    uint8_t key[DG_KEY_BYTES];
    uint8_t buffer[DG_BITS_CAPACITY + DG_BITS_SLACK];
} dg_bits;

/** Open a stream. source == NULL: DG_SOURCE_CHACHA20. Nothing is read yet. */
void dg_bits_open(dg_bits *bits, const dg_source *source);

/** Wipe the stream. Every opened stream is closed, on every way out. */
void dg_bits_close(dg_bits *bits);

/** 1 if the bytes come from a caller's source, 0 if from getrandom. */
int dg_bits_from_caller(const dg_bits *bits);

/** Make at least `need` unread bytes available.
 *
 *  Requires:  need <= DG_BITS_MOST.
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE.
 */
dg_status dg_bits_refill(dg_bits *bits, size_t need);

/** Read n bytes. Returns: as dg_bits_refill. Cost: any n. */
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
    uint64_t value; /* reads on into the slack, perhaps */
    __builtin_memcpy(&value, bits->buffer + bits->position, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    bits->position += n;
    *out = n == 8 ? value : value & ((UINT64_C(1) << (8 * n)) - 1);
    return DG_OK;
}

#endif
