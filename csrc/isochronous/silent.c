#include "isochronous/silent.h"

#include "base/wipe.h"

#if DG_HAVE_WORDS

size_t dg_silent_attempts(size_t left, const dg_silent *silent)
{
    if (left >= DG_SILENT_BATCH) {
        return DG_SILENT_BATCH;
    }
    const size_t wanted = (left * silent->per_1024 >> 10) + (left >> 5) + 12;
    return wanted >= DG_SILENT_BATCH ? DG_SILENT_BATCH : (wanted + 63) / 64 * 64;
}

/** Return how many bytes the piece will use at least behind a batch of n attempts, which begins when `left` draws are
 *  missing. More missing draws never make a batch smaller. */
static size_t bytes_behind(size_t n_attempts, size_t left, const dg_silent *silent)
{
    return left <= n_attempts
               ? 0
               : dg_silent_bytes(dg_silent_attempts(left - n_attempts, silent), silent);
}

dg_status dg_silent_next(int64_t *out, size_t *n, size_t left, const dg_silent *silent,
                         dg_silent_space *space, dg_bits *bits)
{
    const size_t n_attempts = dg_silent_attempts(left, silent);
    size_t n_accepted = 0;
    if (n_attempts > space->most) {
        space->most = n_attempts;
    }
    bits->bytes_ahead = bytes_behind(n_attempts, left, silent);
    DG_TRY(dg_bits_take(space->batch, dg_silent_bytes(n_attempts, silent), bits));
    if (silent->kernel == NULL ||
        !silent->kernel(out, &n_accepted, space->scratch, space->batch, n_attempts, silent)) {
        bits->bytes_ahead = 0;
        DG_TRY(dg_silent_settle(out, &n_accepted, space->batch, n_attempts, silent, bits));
    }
    *n = n_accepted < left ? n_accepted : left;
    return DG_OK;
}

void dg_silent_close(dg_silent_space *space, const dg_silent *silent)
{
    if (space->most > 0) {
        dg_wipe(space->batch, dg_silent_bytes(space->most, silent));
        dg_wipe(space->scratch, space->most * DG_SILENT_SCRATCH + DG_SILENT_BEHIND);
        dg_wipe(space->draws, (space->most + DG_SILENT_BEHIND) * sizeof *space->draws);
    }
}

void dg_silent_dispatch(dg_silent *silent, dg_isa isa)
{
    const dg_isa best = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    silent->isa = DG_ISA_PORTABLE;
    silent->kernel = dg_silent_kernel_portable;
#if DG_ISA_X86_64
    if (best == DG_ISA_AVX512_VBMI2) {
        silent->isa = best;
        silent->kernel = dg_silent_kernel_avx512_vbmi2;
    } else if (dg_isa_has_avx2(best)) {
        silent->isa = DG_ISA_AVX2; /* AVX-512 without VBMI2 has no kernel of its own */
        silent->kernel = dg_silent_kernel_avx2;
    } else if (best == DG_ISA_SSE41) {
        silent->isa = best;
        silent->kernel = dg_silent_kernel_sse41;
    }
#elif DG_ISA_AARCH64
    if (best == DG_ISA_NEON) {
        silent->isa = best;
        silent->kernel = dg_silent_kernel_neon;
    }
#else
    (void)best;
#endif
    if (silent->kernel == dg_silent_kernel_portable) {
        dg_silent_set_leaves(silent);
    }
}

#endif
