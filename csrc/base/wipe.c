#define _DEFAULT_SOURCE /* explicit_bzero */
#include "base/wipe.h"

#include "base/isa.h"

#include <stdint.h>
#include <string.h>

void dg_wipe(void *memory, size_t n)
{
    if (n > 0) {
        explicit_bzero(memory, n);
    }
}

void dg_wipe_mpz(mpz_t z)
{
    if (z->_mp_alloc > 0) {
        explicit_bzero(z->_mp_d, (size_t)z->_mp_alloc * sizeof(mp_limb_t));
    }
    z->_mp_size = 0;
}

__attribute__((noinline)) void dg_wipe_below(size_t n)
{
    explicit_bzero(__builtin_alloca(n), n);
}

#if DG_ISA_X86_64

/* clang-format off */
#define DG_ALL_SIXTEEN(op)                                                                         \
    op("0") op("1") op("2") op("3") op("4") op("5") op("6") op("7")                                \
    op("8") op("9") op("10") op("11") op("12") op("13") op("14") op("15")
#define DG_EIGHT(op) op("0") op("1") op("2") op("3") op("4") op("5") op("6") op("7")
#define DG_SIXTEEN_MORE(op)                                                                        \
    op("16") op("17") op("18") op("19") op("20") op("21") op("22") op("23")                        \
    op("24") op("25") op("26") op("27") op("28") op("29") op("30") op("31")
#define DG_ZERO_LOW(i) "pxor %%xmm" i ", %%xmm" i "\n\t"
#define DG_ZERO_EVEX(i) "vpxord %%xmm" i ", %%xmm" i ", %%xmm" i "\n\t" /* all 512 bits */
#define DG_ZERO_MASK(i) "kxorw %%k" i ", %%k" i ", %%k" i "\n\t" /* all 64 bits */
#define DG_EVERY_XMM                                                                               \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
/* clang-format on */

DG_TARGET_AVX2 static void wipe_sixteen(void)
{
    __asm__ volatile("vzeroall" : : : DG_EVERY_XMM);
}

/** And the masks, which may be 64 bits of the stream each. */
DG_TARGET_AVX512 static void wipe_sixteen_more(void)
{
    __asm__ volatile(DG_SIXTEEN_MORE(DG_ZERO_EVEX) DG_EIGHT(DG_ZERO_MASK)
                     :
                     :
                     : "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "xmm16", "xmm17", "xmm18",
                       "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26",
                       "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}

/** The general registers that a function need not keep for its caller. */
static inline void wipe_general(void)
{
    __asm__ volatile("xorl %%eax, %%eax\n\t"
                     "xorl %%ecx, %%ecx\n\t"
                     "xorl %%edx, %%edx\n\t"
                     "xorl %%esi, %%esi\n\t"
                     "xorl %%edi, %%edi\n\t"
                     "xorl %%r8d, %%r8d\n\t"
                     "xorl %%r9d, %%r9d\n\t"
                     "xorl %%r10d, %%r10d\n\t"
                     "xorl %%r11d, %%r11d"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

/* clang-format off */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define DG_CFA_OFFSET(change) ".cfi_adjust_cfa_offset " change "\n\t"
#else
#define DG_CFA_OFFSET(change)
#endif
#define DG_ZERO_64(a, b, c, d)                                                                     \
    "movups %xmm0, " a "(%rsp)\n\tmovups %xmm0, " b "(%rsp)\n\t"                                   \
    "movups %xmm0, " c "(%rsp)\n\tmovups %xmm0, " d "(%rsp)\n\t"

/* In assembly alone, so that it has no frame to spare. DG_NEAREST_BYTES is 256. */
__attribute__((naked, noinline)) void dg_wipe_nearest(void)
{
    __asm__("pxor %xmm0, %xmm0\n\t"
            "subq $256, %rsp\n\t" DG_CFA_OFFSET("256")
            DG_ZERO_64("0", "16", "32", "48") DG_ZERO_64("64", "80", "96", "112")
            DG_ZERO_64("128", "144", "160", "176") DG_ZERO_64("192", "208", "224", "240")
            "addq $256, %rsp\n\t" DG_CFA_OFFSET("-256")
            "ret");
}
/* clang-format on */

void dg_wipe_registers(void)
{
    wipe_general();
    switch (dg_isa_best()) {
    case DG_ISA_AVX512_VBMI2:
    case DG_ISA_AVX512:
        wipe_sixteen();
        wipe_sixteen_more();
        break;
    case DG_ISA_AVX2:
        wipe_sixteen();
        break;
    default:
        __asm__ volatile(DG_ALL_SIXTEEN(DG_ZERO_LOW) : : : DG_EVERY_XMM);
    }
}

#else

__attribute__((noinline)) void dg_wipe_nearest(void)
{
    uint8_t nearest[DG_NEAREST_BYTES];
    explicit_bzero(nearest, sizeof nearest);
}

/* Not inlined: the attribute acts where the function returns. */
#if defined(__has_attribute)
#if __has_attribute(zero_call_used_regs)
__attribute__((noinline, zero_call_used_regs("all")))
#endif
#endif
void dg_wipe_registers(void)
{
    __asm__ volatile("");
}

#endif
