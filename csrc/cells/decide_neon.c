/* dg_decide_each in NEON, 4 attempts at a time: dg_decide_at_once, step by step. */
#include "cells/decide.h"

#include "base/isa.h"

#if DG_ISA_AARCH64
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))

enum { GROUP = 4 };

/** A number of 64 bits for each attempt. */
typedef struct wide {
    uint64x2_t a, b;
} wide;

INLINE wide widen(int32x4_t lanes)
{
    return (wide){vreinterpretq_u64_s64(vmovl_s32(vget_low_s32(lanes))),
                  vreinterpretq_u64_s64(vmovl_high_s32(lanes))};
}

INLINE wide shift_left(wide lanes, int64_t n_bits)
{
    const int64x2_t by = vdupq_n_s64(n_bits); /* to the right if negative */
    return (wide){vshlq_u64(lanes.a, by), vshlq_u64(lanes.b, by)};
}

/** dg_reach of 4 ticks, counted outwards in their blocks. */
INLINE uint32x4_t reach_of(wide tick, int32x4_t block, unsigned n_bits)
{
    const uint64x2_t last_tick = vdupq_n_u64((UINT64_C(1) << n_bits) - 1);
    const wide negative = widen(vshrq_n_s32(block, 31));
    const wide inwards = {veorq_u64(tick.a, vandq_u64(negative.a, last_tick)),
                          veorq_u64(tick.b, vandq_u64(negative.b, last_tick))};
    const wide reach = shift_left(inwards, (int64_t)DG_REACH_BITS - (int64_t)n_bits);
    return vmovn_high_u64(vmovn_u64(reach.a), reach.b);
}

/** The products without their last n_bits bits. Requires: at most 32 bits are left. */
#define MULTIPLY(a, b, n_bits)                                                                     \
    vshrn_high_n_u64(vshrn_n_u64(vmull_u32(vget_low_u32(a), vget_low_u32(b)), n_bits),             \
                     vmull_high_u32(a, b), n_bits)

/** dg_arc_height of 4 arcs, or the integer of 32 bits that is nearest to it. */
INLINE int32x4_t arc_height(uint32x4_t reach, int32x4_t base, uint32x4_t slope, int32x4_t bulge)
{
    enum { DROP = 2 * DG_REACH_BITS - DG_HEIGHT_BITS - 2 };
    const uint32x4_t one = vdupq_n_u32(UINT32_C(1) << DG_REACH_BITS);
    const uint32x4_t fall = MULTIPLY(slope, reach, DG_REACH_BITS); /* 2^30 at most */
    const uint32x4_t middle = MULTIPLY(reach, vsubq_u32(one, reach), DROP);
    /* the product is at most 2^30 in size */
    const int32x4_t raised =
        vshrq_n_s32(vmulq_s32(bulge, vreinterpretq_s32_u32(middle)), DG_HEIGHT_BITS);
    return vqaddq_s32(vsubq_s32(base, vreinterpretq_s32_u32(fall)), raised);
}

/** Return the blocks of full cells, and for other cells any block. */
INLINE int32x4_t full_block(uint32x4_t full, uint32x4_t cell, const dg_table *table)
{
    uint32_t of[GROUP];
    int32_t block[GROUP];
    vst1q_u32(of, vandq_u32(cell, full));
    for (size_t i = 0; i < GROUP; i++) {
        block[i] = table->block_of[of[i]];
    }
    return vld1q_s32(block);
}

INLINE void decide_group(uint8_t outcome[GROUP], uint64_t y[GROUP], const uint16_t special[GROUP],
                         const dg_partial of[GROUP], const uint8_t heights[2 * GROUP],
                         const dg_table *table)
{
    const uint32x4_t cell = vaddw_u16(vdupq_n_u32(table->n_coded), vld1_u16(special));
    const uint32x4_t partial = vsubq_u32(cell, vdupq_n_u32(table->n_full));
    const uint32x4_t full = vcltq_u32(cell, vdupq_n_u32(table->n_full));
    const uint32x4_t is_partial = vcltq_u32(partial, vdupq_n_u32(table->n_partial));
    const uint32x4x4_t words = vld4q_u32((const void *)of);
    int32x4_t block = vshrq_n_s32(vshlq_n_s32(vreinterpretq_s32_u32(words.val[0]), 16), 16);
    const int32x4_t base = vreinterpretq_s32_u32(words.val[1]);
    const uint32x4_t slope = words.val[2];
    const uint32x4_t error_u = vandq_u32(words.val[3], vdupq_n_u32(UINT16_MAX));
    const int32x4_t error = vreinterpretq_s32_u32(error_u);
    const int32x4_t bulge = vshrq_n_s32(vreinterpretq_s32_u32(words.val[3]), 16);

    const wide tick = {vld1q_u64(y), vld1q_u64(y + 2)};
    const uint32x4_t reach = reach_of(tick, block, table->tick_bits);
    /* Saturation changes no comparison: heights are below 2^16 and twice the errors below 2^17. */
    const int32x4_t lower = vqsubq_s32(arc_height(reach, base, slope, bulge), error);
    const int32x4_t height =
        vreinterpretq_s32_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8(heights))));
    const int32x4_t above = vqsubq_s32(height, lower);
    uint32x4_t accepted = vcltzq_s32(above);
    const uint32x4_t sure = vorrq_u32(accepted, vcgeq_s32(above, vaddq_s32(error, error)));
    uint32x4_t told = DG_ALWAYS_REFINE ? vdupq_n_u32(0) : vandq_u32(is_partial, sure);
    if (table->n_full > table->n_coded) {
        block = vbslq_s32(full, full_block(full, cell, table), block);
        accepted = vorrq_u32(accepted, full);
        told = vorrq_u32(told, full);
    }
    const uint32x4_t outcomes =
        vbslq_u32(told, vandq_u32(accepted, vdupq_n_u32(DG_ACCEPTED)), vdupq_n_u32(DG_IN_DOUBT));
    uint32_t each[GROUP];
    vst1q_u32(each, outcomes);
    for (size_t i = 0; i < GROUP; i++) {
        outcome[i] = (uint8_t)each[i];
    }
    const wide first = shift_left(widen(block), table->tick_bits);
    vst1q_u64(y, vaddq_u64(first.a, tick.a));
    vst1q_u64(y + 2, vaddq_u64(first.b, tick.b));
}

void dg_decide_each_neon(uint8_t *outcome, uint64_t *y, const uint16_t *special,
                         const dg_partial *partial, const uint8_t *heights, size_t n,
                         const dg_table *table)
{
    const size_t whole = n - n % GROUP;
    for (size_t i = 0; i < whole; i += GROUP) {
        decide_group(outcome + i, y + i, special + i, partial + i, heights + 2 * i, table);
    }
    dg_decide_each_portable(outcome + whole, y + whole, special + whole, partial + whole,
                            heights + 2 * whole, n - whole, table);
}

#endif
