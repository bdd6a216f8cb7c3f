/* Instruction sets. A function that has one file for each instruction set chooses among them at run time. Tests
 * force each. */
#ifndef DG_BASE_ISA_H
#define DG_BASE_ISA_H

#include "discretegauss_parts.h"

#include <stdbool.h>

/* The attribute of a function that is compiled for an instruction set. A compiler option would need a rule for
 * each file in the build. */
#if defined(__x86_64__) && defined(__GNUC__)
#define DG_ISA_X86_64 1
#define DG_TARGET_SSE41 __attribute__((target("sse4.1,popcnt")))
#define DG_TARGET_AVX2 __attribute__((target("avx2")))
#define DG_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define DG_TARGET_AVX512_VBMI2                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2,"        \
                          "popcnt")))
#define DG_TARGET_AVX512_IFMA                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512ifma,popcnt")))
#else
#define DG_ISA_X86_64 0
#endif

/* NEON is part of every such processor, so it needs neither an attribute nor a check at run time. Big-endian
 * machines run the portable code. */
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DG_ISA_AARCH64 1
#else
#define DG_ISA_AARCH64 0
#endif

/** Return the best instruction set of this build that the processor has and the operating system saves. It is
 *  never DG_ISA_AUTO, and the same in every call. */
dg_isa dg_isa_best(void);

/** Return whether this machine and build can run code for `isa`: true for DG_ISA_AUTO and DG_ISA_PORTABLE, false
 *  for a value that is not a dg_isa. */
bool dg_isa_available(dg_isa isa);

/** Return whether `isa` is AVX2, or has it: the order of the numbers says nothing. */
bool dg_isa_has_avx2(dg_isa isa);

/** Return whether the processor also has AVX-512's 52-bit products and its count of leading zeros. All known
 *  processors with DG_ISA_AVX512_VBMI2 have both. */
bool dg_isa_has_ifma(void);

#endif
