#include "base/isa.h"

/* __builtin_cpu_supports reads what the compiler's runtime found before main. It asks CPUID, and XGETBV for
 * the state that the operating system must save. */

dg_isa dg_isa_best(void)
{
#if DG_ISA_AARCH64
    return DG_ISA_NEON;
#else
    if (dg_isa_available(DG_ISA_AVX512_VBMI2)) {
        return DG_ISA_AVX512_VBMI2;
    }
    if (dg_isa_available(DG_ISA_AVX512)) {
        return DG_ISA_AVX512;
    }
    if (dg_isa_available(DG_ISA_AVX2)) {
        return DG_ISA_AVX2;
    }
    return dg_isa_available(DG_ISA_SSE41) ? DG_ISA_SSE41 : DG_ISA_PORTABLE;
#endif
}

bool dg_isa_available(dg_isa isa)
{
    switch (isa) {
    case DG_ISA_AUTO:
    case DG_ISA_PORTABLE:
        return true;
#if DG_ISA_X86_64
    case DG_ISA_SSE41:
        return __builtin_cpu_supports("sse4.1") != 0 && __builtin_cpu_supports("popcnt") != 0;
    case DG_ISA_AVX2:
        /* compilers assume popcnt with AVX2 */
        return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0;
    case DG_ISA_AVX512:
        return dg_isa_available(DG_ISA_AVX2) && __builtin_cpu_supports("avx512f") != 0 &&
               __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
               __builtin_cpu_supports("avx512vl") != 0;
    case DG_ISA_AVX512_VBMI2:
        return dg_isa_available(DG_ISA_AVX512) && __builtin_cpu_supports("avx512vbmi") != 0 &&
               __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("bmi2") != 0;
#endif
#if DG_ISA_AARCH64
    case DG_ISA_NEON:
        return true;
#endif
    default:
        return false;
    }
}

bool dg_isa_has_avx2(dg_isa isa)
{
    return isa == DG_ISA_AVX2 || isa == DG_ISA_AVX512 || isa == DG_ISA_AVX512_VBMI2;
}

bool dg_isa_has_ifma(void)
{
#if DG_ISA_X86_64
    return dg_isa_available(DG_ISA_AVX512) && __builtin_cpu_supports("avx512cd") != 0 &&
           __builtin_cpu_supports("avx512ifma") != 0;
#else
    return false;
#endif
}
