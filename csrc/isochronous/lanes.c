#include "isochronous/lanes.h"

#include "base/contract.h"
#include "isochronous/narrow.h"

#if DG_HAVE_WORDS

dg_status dg_lanes_settle(int64_t *out, size_t *n_accepted, const dg_lanes *lanes, dg_bits *bits)
{
    if (lanes->narrow != NULL) {
        return dg_narrow_settle(out, n_accepted, lanes, bits);
    }
    uint64_t point, head, more = 0;
    DG_TRY(dg_bits_word(&point, 8, bits));
    DG_TRY(dg_bits_word(&head, 4, bits));
    DG_TRY(dg_bits_word(&more, lanes->attempt_bytes - 12, bits));
    const uint64_t low = (head >> 16 | more << 16) & lanes->low_mask;
    const uint64_t cell = (head & 0xFFFF) * lanes->n_cells >> 16;
    dg_attempt attempt = {.block = cell, .left = 0 - (point & 1)};
    if (cell >= lanes->n_core) {
        const uint64_t level = (uint64_t)__builtin_clzll(~point | 1);
        attempt.step = level + 1;
        attempt.block += level * lanes->n_tail;
    }
    uint8_t low_bytes[8];
    for (size_t i = 0; i < sizeof low_bytes; i++) {
        low_bytes[i] = (uint8_t)(low >> (8 * i));
    }
    DG_TRY(dg_isochronous_settle(&attempt, point, low_bytes, lanes->sampler, bits));
    if (attempt.accepted == 0) {
        *n_accepted = 0;
        return DG_OK;
    }
    if (attempt.block >> (62 - lanes->block_bits) != 0) {
        return DG_ERR_RANGE;
    }
    const uint64_t z = attempt.block << lanes->block_bits | low;
    *out = (int64_t)((z ^ attempt.left) + (uint64_t)lanes->c);
    *n_accepted = 1;
    return DG_OK;
}

/** Bytes that n draws read, at least; of the system's, which cost little, about as many as they will
 *  read: 1 attempt a draw (narrow laws), or 4/3 to 3. */
static size_t bytes_of(size_t n, const dg_lanes *lanes, const dg_bits *bits)
{
    if (n > DG_BITS_CAPACITY) {
        n = DG_BITS_CAPACITY;
    }
    const bool is_sure = lanes->narrow != NULL || dg_bits_from_caller(bits);
    return (is_sure ? n : n + n / 3) * lanes->attempt_bytes;
}

dg_status dg_lanes_draw(int64_t *out, size_t n, size_t n_later, const dg_lanes *lanes,
                        dg_bits *bits)
{
    size_t drawn = 0;
    while (drawn < n) {
        const size_t left = n - drawn; /* attempts: so many are sure to be used */
        const size_t wanted = left < DG_LANE_MOST_BATCH ? left : DG_LANE_MOST_BATCH;
        size_t n_accepted, n_made;
        bits->bytes_ahead = bytes_of(left - wanted + n_later, lanes, bits);
        if (!dg_bits_from_caller(bits)) {
            bits->bytes_ahead += bytes_of(wanted, lanes, bits) - wanted * lanes->attempt_bytes;
        }
        DG_TRY(dg_bits_refill(bits, wanted * lanes->attempt_bytes));
        lanes->kernel(out + drawn, &n_accepted, &n_made, bits->buffer + bits->position, wanted,
                      lanes);
        bits->position += n_made * lanes->attempt_bytes;
        drawn += n_accepted;
        if (__builtin_expect(n_made < wanted, 0)) {
            DG_TRY(dg_lanes_settle(out + drawn, &n_accepted, lanes, bits));
            drawn += n_accepted;
        }
    }
    return DG_OK;
}

/** dg_lanes_dispatch for narrow laws. */
static void dispatch_narrow(dg_lanes *lanes, dg_isa isa)
{
    lanes->isa = DG_ISA_PORTABLE;
    lanes->kernel = dg_narrow_kernel_portable;
#if DG_ISA_X86_64
    const dg_isa best = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    if (best >= DG_ISA_AVX512) {
        lanes->isa = DG_ISA_AVX512;
        lanes->kernel = dg_narrow_kernel_avx512;
    } else if (best == DG_ISA_AVX2) {
        lanes->isa = DG_ISA_AVX2;
        lanes->kernel = dg_narrow_kernel_avx2;
    }
#elif DG_ISA_AARCH64
    if ((isa == DG_ISA_AUTO ? dg_isa_best() : isa) == DG_ISA_NEON) {
        lanes->isa = DG_ISA_NEON;
        lanes->kernel = dg_narrow_kernel_neon;
    }
#else
    (void)isa;
#endif
}

void dg_lanes_dispatch(dg_lanes *lanes, dg_isa isa)
{
    if (lanes->narrow != NULL) {
        dispatch_narrow(lanes, isa);
        return;
    }
    lanes->isa = DG_ISA_PORTABLE;
    lanes->kernel = lanes->is_power ? dg_lane_power_kernel_portable : dg_lane_kernel_portable;
#if DG_ISA_X86_64
    const dg_isa best = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    if (best == DG_ISA_AVX512_VBMI2 && dg_isa_has_ifma()) {
        lanes->isa = best;
        lanes->kernel =
            lanes->is_power ? dg_lane_power_kernel_avx512_ifma : dg_lane_kernel_avx512_ifma;
    } else if (best >= DG_ISA_AVX2 && !lanes->is_power) {
        lanes->isa = DG_ISA_AVX2; /* AVX-512 without IFMA has no kernel of its own */
        lanes->kernel = dg_lane_kernel_avx2;
    }
#elif DG_ISA_AARCH64
    if ((isa == DG_ISA_AUTO ? dg_isa_best() : isa) == DG_ISA_NEON && !lanes->is_power) {
        lanes->isa = DG_ISA_NEON;
        lanes->kernel = dg_lane_kernel_neon;
    }
#else
    (void)isa;
#endif
}

#endif
