/* The silent engine by NEON, for AArch64. A part of a table has 64 bytes. */
#include "base/isa.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS && DG_ISA_AARCH64
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))
#define BYTES 16
#define PART 64

typedef uint8x16_t vec8;
typedef int8x16_t vec8s;
typedef uint16x8_t vec16;
typedef uint32x4_t vec32;
typedef uint8x16x4_t table_part;

INLINE table_part part_of(const uint8_t *table)
{
    return (table_part){
        {vld1q_u8(table), vld1q_u8(table + 16), vld1q_u8(table + 32), vld1q_u8(table + 48)}};
}

INLINE vec8 ready(vec8 index)
{
    return index;
}

INLINE vec8 taken(table_part from, vec8 at)
{
    return vqtbl4q_u8(from, at);
}

INLINE vec8 taken_in_lanes(vec8 from, vec8 at)
{
    return vqtbl1q_u8(from, at);
}

INLINE vec8 lower_pairs(vec8 a, vec8 b)
{
    return vzip1q_u8(a, b);
}

INLINE vec8 upper_pairs(vec8 a, vec8 b)
{
    return vzip2q_u8(a, b);
}

INLINE vec8 masks_of(vec16 lower, vec16 upper)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(lower), vreinterpretq_u8_u16(upper));
}

INLINE vec16 high_product(vec16 a, vec16 b)
{
    const uint32x4_t lower = vmull_u16(vget_low_u16(a), vget_low_u16(b));
    return vuzp2q_u16(vreinterpretq_u16_u32(lower), vreinterpretq_u16_u32(vmull_high_u16(a, b)));
}

INLINE vec16 high_signed(vec16 a, vec16 b)
{
    const int16x8_t x = vreinterpretq_s16_u16(a), y = vreinterpretq_s16_u16(b);
    const int32x4_t lower = vmull_s16(vget_low_s16(x), vget_low_s16(y));
    return vuzp2q_u16(vreinterpretq_u16_s32(lower), vreinterpretq_u16_s32(vmull_high_s16(x, y)));
}

INLINE vec16 bounded_sum(vec16 a, vec16 b)
{
    return vreinterpretq_u16_s16(vqaddq_s16(vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b)));
}

INLINE vec16 bounded_difference(vec16 a, vec16 b)
{
    return vreinterpretq_u16_s16(vqsubq_s16(vreinterpretq_s16_u16(a), vreinterpretq_s16_u16(b)));
}

INLINE vec8 excess(vec8 a, vec8 b)
{
    return vqsubq_u8(a, b);
}

INLINE vec8 lesser(vec8 a, vec8 b)
{
    return vminq_u8(a, b);
}

INLINE vec8 running_sums(vec8 a)
{
    const vec8 none = vdupq_n_u8(0);
    a = vaddq_u8(a, vextq_u8(none, a, 15));
    a = vaddq_u8(a, vextq_u8(none, a, 14));
    a = vaddq_u8(a, vextq_u8(none, a, 12));
    return vaddq_u8(a, vextq_u8(none, a, 8));
}

INLINE vec8 last_of(vec8 a)
{
    return vdupq_laneq_u8(a, 15);
}

INLINE uint32_t bits_of(vec8 mask)
{
    static const uint8_t ones[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const vec8 bits = vandq_u8(mask, vld1q_u8(ones)), pairs = vpaddq_u8(bits, bits);
    const vec8 fours = vpaddq_u8(pairs, pairs);
    return vgetq_lane_u16(vreinterpretq_u16_u8(vpaddq_u8(fours, fours)), 0);
}

INLINE void pack8(uint8_t *to, const uint8_t *from, const uint8_t *places)
{
    vst1_u8(to, vtbl1_u8(vld1_u8(from), vld1_u8(places)));
}

INLINE vec32 widened(const uint8_t *from)
{
    uint32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    return vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four))));
}

INLINE void put(int64_t *to, vec32 numbers, uint64_t least)
{
    const int64x2_t each = vdupq_n_s64((int64_t)least);
    vst1q_s64(to, vaddw_s32(each, vreinterpret_s32_u32(vget_low_u32(numbers))));
    vst1q_s64(to + 2, vaddw_high_s32(each, vreinterpretq_s32_u32(numbers)));
}

#define KERNEL_TARGET
#define KERNEL dg_silent_kernel_neon
#include "isochronous/silent_vectors.h"

#endif
