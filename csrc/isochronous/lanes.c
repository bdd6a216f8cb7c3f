#include "isochronous/lanes.h"

#include "base/contract.h"
#include "isochronous/narrow.h"

#if DG_HAVE_WORDS

/** Return the least number of bytes that n draws read. If bytes come from the system, which is cheap,
 *  return about how many they will read: 1 attempt a draw (narrow laws), or 4/3 to 3. */
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
        const size_t left = n - drawn; /* at least this many attempts are used */
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
    if (best == DG_ISA_AVX512 || best == DG_ISA_AVX512_VBMI2) {
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
    } else if (dg_isa_has_avx2(best) && !lanes->is_power) {
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
