#include "base/memory.h"
#include "base/wipe.h"
#include "bounds/refine.h"
#include "isochronous/lanes.h"

#if DG_HAVE_WORDS

enum { POINT_BITS = 63 }; /* of a point without the side: the level, then f' */

/** Read the level of an attempt in the tail: how many ones the point begins with. If all its bits are ones, further
 *  bytes are read. */
static dg_status read_level(uint64_t *level, uint64_t point, dg_bits *bits)
{
    *level = (uint64_t)__builtin_clzll(~point | 1);
    uint32_t byte = 0xFF;
    while (*level >= POINT_BITS && byte == 0xFF) {
        DG_TRY(dg_bits_byte(&byte, bits));
        *level += byte == 0xFF ? 8 : (uint64_t)__builtin_clz(~(byte << 24));
    }
    return DG_OK;
}

/** Ask whether f' < 2^step g(y). f' begins with the end of `point`; z is block 2^block_bits + low. */
static dg_status ask(bool *yes, uint64_t block, uint64_t low, uint64_t step, uint64_t point,
                     const dg_lanes *lanes, dg_bits *bits)
{
    const dg_law *law = lanes->law;
    const size_t n_bits = step < POINT_BITS ? POINT_BITS - step : 0;
    const uint64_t leading = n_bits == 0 ? 0 : (point >> 1) & ((UINT64_C(1) << n_bits) - 1);
    const dg_question question = {.height = 1, .m = 0, .level = step};
    mpz_t y, f;
    DG_TRY(dg_memory_available(law->room_bytes));
    mpz_init2(y, law->limb_bits); /* GMP would leave limbs behind if it had to move them */
    mpz_init2(f, law->limb_bits);
    mpz_import(y, 1, -1, sizeof block, 0, 0, &block);
    mpz_mul_2exp(y, y, lanes->block_bits);
    mpz_import(f, 1, -1, sizeof low, 0, 0, &low);
    mpz_add(y, y, f);
    if (point & 1) { /* on the left */
        mpz_com(y, y);
    }
    mpz_import(f, 1, -1, sizeof leading, 0, 0, &leading);
    const dg_status status = dg_refine(yes, f, n_bits, y, &question, law, bits);
    dg_wipe_mpz(y);
    dg_wipe_mpz(f);
    mpz_clears(y, f, NULL);
    return status;
}

dg_status dg_lanes_settle(int64_t *out, size_t *n_accepted, const dg_lanes *lanes, dg_bits *bits)
{
    uint64_t point, head, more = 0, step = 0;
    DG_TRY(dg_bits_word(&point, 8, bits));
    DG_TRY(dg_bits_word(&head, 4, bits));
    DG_TRY(dg_bits_word(&more, lanes->attempt_bytes - 12, bits));
    const uint64_t low = (head >> 16 | more << 16) & lanes->low_mask;
    uint64_t block = (head & 0xFFFF) * lanes->n_cells >> 16;
    if (block >= lanes->n_core) {
        uint64_t level;
        DG_TRY(read_level(&level, point, bits));
        block += level * lanes->n_tail;
        step = level + 1;
    }
    bool accepted = false;
    DG_TRY(ask(&accepted, block, low, step, point, lanes, bits));
    if (accepted && block >> (62 - lanes->block_bits) != 0) {
        return DG_ERR_RANGE;
    }
    const uint64_t z = block << lanes->block_bits | low, left = 0 - (point & 1);
    *out = (int64_t)((z ^ left) + (uint64_t)lanes->c);
    *n_accepted = accepted;
    return DG_OK;
}

#endif
