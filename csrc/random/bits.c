#include "random/bits.h"

#include "base/wipe.h"
#include "random/chacha20.h"
#include "random/system.h"

#include <string.h>

void dg_bits_open(dg_bits *bits, const dg_source *source)
{
    static const dg_source default_source = {DG_SOURCE_CHACHA20, NULL, NULL};
    bits->source = source != NULL ? source : &default_source;
    bits->position = 0;
    bits->end = 0;
    bits->touched = 0;
    bits->bytes_ahead = 0;
    bits->fetch = (dg_prefetch){0};
    bits->next_block = 0;
    bits->keyed = 0;
}

void dg_bits_close(dg_bits *bits)
{
    dg_wipe(bits->buffer, bits->touched);
    dg_wipe(bits, offsetof(dg_bits, buffer)); /* the key, and how much of the buffer was used */
}

int dg_bits_from_caller(const dg_bits *bits)
{
    return bits->source->kind == DG_SOURCE_CALLER;
}

/** Expand the call's key. Requires: n is a multiple of the block. */
static dg_status read_chacha20(uint8_t *out, size_t n, dg_bits *bits)
{
    DG_REQUIRES(n % DG_CHACHA20_BLOCK == 0);
    if (!bits->keyed) {
        DG_TRY(dg_system_random(bits->key, sizeof bits->key));
        bits->keyed = 1;
    }
    dg_chacha20_blocks(out, n / DG_CHACHA20_BLOCK, bits->key, bits->next_block, &bits->fetch);
    bits->next_block += n / DG_CHACHA20_BLOCK;
    return DG_OK;
}

static dg_status read_source(uint8_t *out, size_t n, dg_bits *bits)
{
    switch (bits->source->kind) {
    case DG_SOURCE_GETRANDOM:
        return dg_system_random(out, n);
    case DG_SOURCE_CHACHA20:
        return read_chacha20(out, n, bits);
    case DG_SOURCE_CALLER:
        if (bits->source->fill == NULL) {
            return DG_ERR_SOURCE;
        }
        return bits->source->fill(bits->source->context, out, n) == 0 ? DG_OK : DG_ERR_SOURCE;
    }
    return DG_ERR_SOURCE;
}

dg_status dg_bits_refill(dg_bits *bits, size_t need)
{
    DG_REQUIRES(need <= DG_BITS_MOST);
    size_t n_unread = bits->end - bits->position;
    if (n_unread >= need) {
        return DG_OK;
    }
    memmove(bits->buffer, bits->buffer + bits->position, n_unread);
    bits->position = 0;
    bits->end = n_unread;
    size_t room = DG_BITS_CAPACITY - n_unread;
    size_t wanted = need - n_unread;
    wanted = bits->bytes_ahead < room - wanted ? wanted + bits->bytes_ahead : room;
    if (bits->source->kind == DG_SOURCE_CHACHA20) {
        size_t blocks = (wanted + DG_CHACHA20_BLOCK - 1) / DG_CHACHA20_BLOCK;
        size_t most = room / DG_CHACHA20_BLOCK; /* room for whole batches: need <= DG_BITS_MOST */
        if (blocks > most) { /* another refill follows, and whole batches leave no lane idle */
            blocks = most / DG_CHACHA20_MOST_LANES * DG_CHACHA20_MOST_LANES;
        }
        wanted = blocks * DG_CHACHA20_BLOCK;
    }
    if (bits->source->kind == DG_SOURCE_GETRANDOM) {
        /* Linux makes 32 bytes with the key of a call, and 64 with each block that follows */
        const size_t whole = wanted <= 32 ? 32 : (wanted + 63) / 64 * 64;
        wanted = whole < room ? whole : wanted;
    }
    DG_REQUIRES(n_unread + wanted >= need && n_unread + wanted <= DG_BITS_CAPACITY);
    if (n_unread + wanted > bits->touched) {
        bits->touched = n_unread + wanted;
    }
    DG_TRY(read_source(bits->buffer + n_unread, wanted, bits));
    bits->end = n_unread + wanted;
    return DG_OK;
}

dg_status dg_bits_take(uint8_t *out, size_t n, dg_bits *bits)
{
    enum { WHOLE = DG_CHACHA20_MOST_LANES * DG_CHACHA20_BLOCK };
    const size_t ahead = bits->bytes_ahead;
    dg_status status = DG_OK;
    while (n > 0 && status == DG_OK) {
        const size_t n_unread = bits->end - bits->position;
        size_t some = n_unread < n ? n_unread : n;
        if (some > 0) {
            memcpy(out, bits->buffer + bits->position, some);
            bits->position += some;
        } else if (bits->source->kind == DG_SOURCE_CHACHA20 && n >= WHOLE) { /* without a copy */
            some = n / WHOLE * WHOLE;
            status = read_chacha20(out, some, bits);
        } else {
            const size_t need = n < DG_BITS_MOST ? n : (size_t)DG_BITS_MOST;
            bits->bytes_ahead = ahead + (n - need);
            if (bits->source->kind == DG_SOURCE_CHACHA20 && bits->bytes_ahead > WHOLE - need) {
                bits->bytes_ahead = WHOLE - need; /* the next call takes more without a copy */
            }
            status = dg_bits_refill(bits, need);
        }
        out += some;
        n -= some;
    }
    bits->bytes_ahead = ahead;
    return status;
}
