#include "random/chacha20.h"

#include "base/contract.h"
#include "base/wipe.h"
#include "random/chacha20_kernels.h"

/** Requires: isa is available. */
static const dg_chacha20_kernel *kernel_of(dg_isa isa)
{
#if DG_ISA_X86_64
    switch (isa == DG_ISA_AUTO ? dg_isa_best() : isa) {
    case DG_ISA_AVX512_VBMI2:
    case DG_ISA_AVX512:
        return &dg_chacha20_avx512;
    case DG_ISA_AVX2:
        return &dg_chacha20_avx2;
    default:
        break;
    }
#elif DG_ISA_AARCH64
    if (isa == DG_ISA_AUTO || isa == DG_ISA_NEON) {
        return &dg_chacha20_neon;
    }
#else
    (void)isa;
#endif
    return &dg_chacha20_portable;
}

const dg_chacha20_kernel *dg_chacha20_kernel_for(dg_isa isa)
{
    return dg_isa_available(isa) ? kernel_of(isa) : NULL;
}

static uint32_t load32(const uint8_t bytes[4])
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/** Run a kernel on the state (constants, key, tail). The tail is the counter and the nonce. */
static void run(const dg_chacha20_kernel *kernel, uint8_t *out, size_t n_blocks,
                const uint8_t key[DG_CHACHA20_KEY], const uint32_t tail[4], dg_prefetch *meanwhile)
{
    /* "expand 32-byte k" (RFC 8439, 2.3) */
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (size_t i = 0; i < 8; i++) {
        state[4 + i] = load32(key + 4 * i);
    }
    for (size_t i = 0; i < 4; i++) {
        state[12 + i] = tail[i];
    }
    kernel->blocks(out, n_blocks, state, meanwhile);
    dg_wipe(state, sizeof state);
}

/** Do what dg_chacha20_blocks does, with this kernel. */
static void run_stream(const dg_chacha20_kernel *kernel, uint8_t *out, size_t n_blocks,
                       const uint8_t key[DG_CHACHA20_KEY], uint64_t first_block,
                       dg_prefetch *meanwhile)
{
    DG_REQUIRES(n_blocks == 0 || n_blocks - 1 <= UINT64_MAX - first_block);
    const uint32_t tail[4] = {(uint32_t)first_block, (uint32_t)(first_block >> 32), 0, 0};
    run(kernel, out, n_blocks, key, tail, meanwhile);
}

bool dg_chacha20_blocks_isa(uint8_t *out, size_t n_blocks, const uint8_t key[DG_CHACHA20_KEY],
                            uint64_t first_block, dg_isa isa)
{
    const dg_chacha20_kernel *kernel = dg_chacha20_kernel_for(isa);
    if (kernel == NULL) {
        return false;
    }
    run_stream(kernel, out, n_blocks, key, first_block, &(dg_prefetch){0});
    return true;
}

void dg_chacha20_blocks(uint8_t *out, size_t n_blocks, const uint8_t key[DG_CHACHA20_KEY],
                        uint64_t first_block, dg_prefetch *meanwhile)
{
    run_stream(kernel_of(DG_ISA_AUTO), out, n_blocks, key, first_block, meanwhile);
}

bool dg_chacha20_rfc8439(uint8_t *out, size_t n_blocks, const uint8_t key[DG_CHACHA20_KEY],
                         const uint8_t nonce[DG_CHACHA20_NONCE], uint32_t counter, dg_isa isa)
{
    /* so that no block carries from the counter into the nonce */
    DG_REQUIRES(n_blocks == 0 || n_blocks - 1 <= UINT32_MAX - counter);
    const dg_chacha20_kernel *kernel = dg_chacha20_kernel_for(isa);
    if (kernel == NULL) {
        return false;
    }
    const uint32_t tail[4] = {counter, load32(nonce), load32(nonce + 4), load32(nonce + 8)};
    run(kernel, out, n_blocks, key, tail, &(dg_prefetch){0});
    return true;
}
