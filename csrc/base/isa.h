/* Instruction sets. A function with a file per instruction set picks one by these at run time;
 * tests force each. */
#ifndef DG_BASE_ISA_H
#define DG_BASE_ISA_H

#include "discretegauss_parts.h"

#include <stdbool.h>

/* What a function must carry to be compiled for an instruction set. Attributes and not compiler
 * options, so a file needs no rule of its own in the build. */
#if defined(__x86_64__) && defined(__GNUC__)
#define DG_ISA_X86_64 1
#define DG_TARGET_AVX2 __attribute__((target("avx2")))
#define DG_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define DG_TARGET_AVX512_VBMI2                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))
#define DG_TARGET_AVX512_IFMA                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512ifma,popcnt")))
#else
#define DG_ISA_X86_64 0
#endif

/* NEON is part of every such processor: no attribute, no question at run time. Where the most significant
 * byte comes first, the portable code runs. */
#if defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DG_ISA_AARCH64 1
#else
#define DG_ISA_AARCH64 0
#endif

/** The best instruction set of this build that the processor has and the operating system saves:
 *  never DG_ISA_AUTO. The same in every call. */
dg_isa dg_isa_best(void);

/** Whether this machine and build can run code for `isa`. True for DG_ISA_AUTO and
 *  DG_ISA_PORTABLE; false for anything that is no dg_isa. */
bool dg_isa_available(dg_isa isa);

/** Whether there are also AVX-512's products of 52 bits and its count of leading zeros, as in all known
 *  processors with DG_ISA_AVX512_VBMI2. */
bool dg_isa_has_ifma(void);

#endif
