#include "isochronous/silent.h"

#include "base/wipe.h"

#include <string.h>

#if DG_HAVE_WORDS

size_t dg_silent_attempts(size_t left, const dg_silent *silent)
{
    if (left >= DG_SILENT_BATCH) {
        return DG_SILENT_BATCH;
    }
    const size_t wanted = (left * silent->per_1024 >> 10) + (left >> 5) + 12;
    return wanted >= DG_SILENT_BATCH ? DG_SILENT_BATCH : (wanted + 63) / 64 * 64;
}

dg_status dg_silent_draw(int64_t *out, size_t n, const dg_silent *silent, dg_bits *bits)
{
    uint8_t batch[DG_SILENT_BYTES + DG_SILENT_BEHIND];
    uint8_t scratch[DG_SILENT_BATCH * DG_SILENT_SCRATCH + DG_SILENT_BEHIND];
    int64_t draws[DG_SILENT_BATCH + DG_SILENT_BEHIND];
    dg_status status = DG_OK;
    size_t most = 0; /* attempts of a batch */
    for (size_t done = 0; done < n && status == DG_OK;) {
        const size_t left = n - done, n_attempts = dg_silent_attempts(left, silent);
        int64_t *const to = left >= DG_SILENT_BATCH + DG_SILENT_BEHIND ? out + done : draws;
        size_t n_accepted = 0;
        most = n_attempts > most ? n_attempts : most;
        /* at least these follow: more missing draws never make a batch smaller */
        bits->bytes_ahead =
            left <= n_attempts
                ? 0
                : dg_silent_bytes(dg_silent_attempts(left - n_attempts, silent), silent);
        status = dg_bits_take(batch, dg_silent_bytes(n_attempts, silent), bits);
        if (status == DG_OK &&
            (silent->kernel == NULL ||
             !silent->kernel(to, &n_accepted, scratch, batch, n_attempts, silent))) {
            status = dg_silent_settle(to, &n_accepted, batch, n_attempts, silent, bits);
        }
        const size_t used = n_accepted < left ? n_accepted : left;
        if (to == draws) {
            memcpy(out + done, draws, used * sizeof *draws);
        }
        done += used;
    }
    dg_wipe(batch, dg_silent_bytes(most, silent));
    dg_wipe(scratch, most * DG_SILENT_SCRATCH + DG_SILENT_BEHIND);
    dg_wipe(draws, (most + DG_SILENT_BEHIND) * sizeof *draws);
    return status;
}

void dg_silent_dispatch(dg_silent *silent, dg_isa isa)
{
    const dg_isa best = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    silent->isa = DG_ISA_PORTABLE;
    silent->kernel = dg_silent_kernel_portable;
#if DG_ISA_X86_64
    if (dg_isa_has_avx2(best)) {
        silent->isa = DG_ISA_AVX2;
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
