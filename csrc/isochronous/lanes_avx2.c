/* Four attempts at once, by AVX2: products of 52 bits in halves of 26. The steps are those of
 * lanes_portable.c, which says what they are. */
#include "isochronous/lanes.h"

#include "base/contract.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64
#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

enum { LANES = 4, GROUPS = 4, HALF_BITS = DG_LANE_BITS / 2 };

#define EACH_GROUP(g) _Pragma("GCC unroll 4") for (size_t g = 0; g < GROUPS; g++)

INLINE __m256i same(uint64_t value)
{
    return _mm256_set1_epi64x((long long)value);
}

INLINE __m256i add(__m256i a, __m256i b)
{
    return _mm256_add_epi64(a, b);
}

/** All ones where a > b; both below 2^63. */
INLINE __m256i greater(__m256i a, __m256i b)
{
    return _mm256_cmpgt_epi64(a, b);
}

/** a, or 0 where that is negative. */
INLINE __m256i positive(__m256i a)
{
    return _mm256_andnot_si256(greater(_mm256_setzero_si256(), a), a);
}

/** Where the mask is all ones a, where it is 0 b. */
INLINE __m256i choose(__m256i mask, __m256i a, __m256i b)
{
    return _mm256_blendv_epi8(b, a, mask);
}

INLINE __m256i lesser(__m256i a, __m256i b)
{
    return choose(greater(a, b), b, a);
}

/** high 2^26 + low. */
typedef struct halves {
    __m256i high, low;
} halves;

INLINE halves halve(__m256i a)
{
    return (halves){_mm256_srli_epi64(a, HALF_BITS),
                    _mm256_and_si256(a, same((UINT64_C(1) << HALF_BITS) - 1))};
}

/** A product over 2^26 without its upper part: below 2^54 + 2^27. */
INLINE __m256i middle(halves a, halves b, __m256i lowest)
{
    return add(add(_mm256_mul_epu32(a.high, b.low), _mm256_mul_epu32(a.low, b.high)),
               _mm256_srli_epi64(lowest, HALF_BITS));
}

/** floor(a b / 2^52), both at most 2^52. */
INLINE __m256i high_of(halves a, halves b)
{
    const __m256i sum = middle(a, b, _mm256_mul_epu32(a.low, b.low));
    return add(_mm256_mul_epu32(a.high, b.high), _mm256_srli_epi64(sum, HALF_BITS));
}

/** A product: high 2^52 + low. */
typedef struct whole_product {
    __m256i high;
    halves low;
} whole_product;

/** a b, both below 2^52. */
INLINE whole_product product_of(halves a, halves b)
{
    const __m256i half = same((UINT64_C(1) << HALF_BITS) - 1);
    const __m256i lowest = _mm256_mul_epu32(a.low, b.low), sum = middle(a, b, lowest);
    return (whole_product){add(_mm256_mul_epu32(a.high, b.high), _mm256_srli_epi64(sum, HALF_BITS)),
                           {_mm256_and_si256(sum, half), _mm256_and_si256(lowest, half)}};
}

/** floor(a b / 2^64): a at most 2^61, given with its upper half, b at most 2^52. The middle is below 2^62. */
INLINE __m256i high_shifted(__m256i a, __m256i a_high, __m256i b)
{
    const __m256i b_high = _mm256_srli_epi64(b, 32);
    const __m256i lowest = _mm256_srli_epi64(_mm256_mul_epu32(a, b), 32);
    const __m256i sum = add(add(_mm256_mul_epu32(a_high, b), _mm256_mul_epu32(a, b_high)), lowest);
    return add(_mm256_mul_epu32(a_high, b_high), _mm256_srli_epi64(sum, 32));
}

/** Four of four items at `table`, by the places of their halves: the low 3 bits of 32. */
INLINE __m256i pick(const uint64_t *table, __m256i places)
{
    return _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(const void *)table),
                                       places);
}

/** Item i mod 16 of DG_LANE_POWERS, all of which is read. */
INLINE __m256i power_at(__m256i i)
{
    static const uint64_t powers[16] = DG_LANE_POWERS;
    const __m256i twice = add(i, i); /* its low 3 bits are used */
    const __m256i places =
        add(_mm256_or_si256(twice, _mm256_slli_epi64(twice, 32)), same(UINT64_C(1) << 32));
    const __m256i upper = _mm256_sub_epi64(_mm256_setzero_si256(),
                                           _mm256_and_si256(_mm256_srli_epi64(i, 3), same(1)));
    const __m256i odd = _mm256_sub_epi64(_mm256_setzero_si256(),
                                         _mm256_and_si256(_mm256_srli_epi64(i, 2), same(1)));
    return choose(upper, choose(odd, pick(powers + 12, places), pick(powers + 8, places)),
                  choose(odd, pick(powers + 4, places), pick(powers, places)));
}

/** x[g] = 2^-x[g], rounded down; x[g] < 128 in units of exponents. The groups take each step together, as a
 *  step waits for the one before. */
INLINE void heights_of(__m256i x[GROUPS])
{
    static const uint64_t terms[] = {
        DG_LANE_TERM(7, 5040), DG_LANE_TERM(6, 720), DG_LANE_TERM(5, 120), DG_LANE_TERM(4, 24),
        DG_LANE_TERM(3, 6),    DG_LANE_TERM(2, 2),   DG_LANE_TERM(1, 1)};
    __m256i sum[GROUPS], s[GROUPS], s_high[GROUPS];
    EACH_GROUP(g)
    {
        const __m256i left =
            _mm256_sub_epi64(same(UINT64_C(1) << (DG_LANE_BITS - 4)),
                             _mm256_and_si256(x[g], same((UINT64_C(1) << (DG_LANE_BITS - 4)) - 1)));
        const __m256i left_shifted = _mm256_slli_epi64(left, 65 - DG_LANE_BITS); /* at most 2^61 */
        s[g] = _mm256_slli_epi64(
            high_shifted(left_shifted, _mm256_srli_epi64(left_shifted, 32), same(DG_LANE_LN2)),
            64 - DG_LANE_BITS);
        s_high[g] = _mm256_srli_epi64(s[g], 32);
        sum[g] = same(DG_LANE_TERM(8, 40320));
    }
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        EACH_GROUP(g)
        {
            sum[g] = add(same(terms[i]), high_shifted(s[g], s_high[g], sum[g]));
        }
    }
    EACH_GROUP(g)
    {
        const __m256i power = power_at(_mm256_srli_epi64(x[g], DG_LANE_BITS - 4));
        const __m256i more = high_shifted(s[g], s_high[g], sum[g]);
        x[g] = _mm256_srlv_epi64(add(power, high_of(halve(power), halve(more))),
                                 _mm256_srli_epi64(x[g], DG_LANE_BITS));
    }
}

/** The exponent at z, rounded down. */
INLINE __m256i exponent_at(__m256i z, __m256i left, bool squared, const dg_lanes *lanes)
{
    const __m256i offset =
        choose(left, same((uint64_t)lanes->offset[1]), same((uint64_t)lanes->offset[0]));
    const __m256i units =
        _mm256_srl_epi64(_mm256_sll_epi64(z, _mm_cvtsi32_si128((int)lanes->units_up)),
                         _mm_cvtsi32_si128((int)lanes->units_down));
    const __m256i d = lesser(positive(add(units, offset)), same(lanes->farthest));
    const halves rate = halve(same(lanes->rate));
    __m256i upper = d, carried = _mm256_setzero_si256();
    if (squared) {
        const whole_product squares = product_of(halve(d), halve(add(d, same(lanes->twice_f))));
        upper = squares.high;
        carried = high_of(squares.low, rate);
    }
    const whole_product scaled = product_of(halve(upper), rate);
    const __m256i low =
        _mm256_or_si256(_mm256_slli_epi64(scaled.low.high, HALF_BITS), scaled.low.low);
    return add(
        _mm256_sll_epi64(scaled.high, _mm_cvtsi32_si128(DG_LANE_BITS - (int)lanes->rate_shift)),
        _mm256_srl_epi64(add(low, carried), _mm_cvtsi32_si128((int)lanes->rate_shift)));
}

/** The number of leading zeros of words from 2 on. */
INLINE __m256i leading_zeros(__m256i words)
{
    __m256i zeros = _mm256_setzero_si256();
    words = _mm256_srli_epi64(words, 1); /* below 2^63, what greater asks for */
    for (int shift = 32; shift > 0; shift /= 2) {
        const __m256i is_small = greater(same(UINT64_C(1) << (63 - shift)), words);
        const __m256i more = _mm256_and_si256(is_small, same((uint64_t)shift));
        zeros = add(zeros, more);
        words = _mm256_sllv_epi64(words, more);
    }
    return zeros;
}

/** Words of four attempts. */
typedef struct words {
    __m256i point, head, more;
} words;

/** Load four attempts. */
INLINE words load_all(const uint8_t *bytes, bool is_long)
{
    const size_t second_at = is_long ? 32 : 16; /* of 12 bytes: words 0 to 7 and 4 to 11 */
    const __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    const __m256i second = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + second_at));
    if (is_long) {
        const __m256i heads = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(first, second), 0xD8);
        return (words){_mm256_permute4x64_epi64(_mm256_unpacklo_epi64(first, second), 0xD8),
                       _mm256_and_si256(heads, same(UINT32_MAX)), _mm256_srli_epi64(heads, 32)};
    }
    const __m256i points = _mm256_setr_epi32(0, 1, 3, 4, 6, 7, 5, 6);
    const __m256i heads = _mm256_setr_epi32(2, 2, 5, 5, 4, 4, 7, 7);
    const __m256i point = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(first, points),
                                             _mm256_permutevar8x32_epi32(second, points), 0xC0);
    const __m256i head = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(first, heads),
                                            _mm256_permutevar8x32_epi32(second, heads), 0xF0);
    return (words){point, _mm256_and_si256(head, same(UINT32_MAX)), _mm256_setzero_si256()};
}

/** Load n <= 4 attempts; the others' words are zero. */
INLINE words load(const uint8_t *bytes, size_t n, bool is_long)
{
    if (__builtin_expect(n == LANES, 1)) {
        return load_all(bytes, is_long);
    }
    uint8_t all[16 * LANES] = {0};
    memcpy(all, bytes, n * (is_long ? 16 : 12));
    return load_all(all, is_long);
}

/** A bit for each lane of a mask. */
INLINE unsigned lanes_of(__m256i mask)
{
    const uint32_t bits =
        (uint32_t)_mm256_movemask_epi8(mask) & 0x01010101; /* 1, 2^8, 2^16, 2^24 */
    return bits * 0x01020408 >> 24;                        /* by 2^24, 2^17, 2^10, 2^3 */
}

/** What is found out about four attempts before their heights are known. */
typedef struct tried {
    __m256i draws, exponent, fails, is_beyond, first, last_above;
} tried;

INLINE tried try(words of, bool squared, const dg_lanes *lanes)
{
    const __m256i one = same(1), ones = same(UINT64_MAX), zero = _mm256_setzero_si256();
    const __m256i product =
        _mm256_mul_epu32(_mm256_and_si256(of.head, same(0xFFFF)), same(lanes->n_cells));
    const __m256i cell = _mm256_srli_epi64(product, 16);
    const __m256i is_core = greater(same(lanes->n_core), cell);
    const __m256i left = _mm256_sub_epi64(zero, _mm256_and_si256(of.point, one));
    const __m256i other = _mm256_xor_si256(_mm256_or_si256(of.point, one), ones);
    /* levels that are beyond give anything */
    const __m256i level =
        _mm256_andnot_si256(is_core, leading_zeros(_mm256_or_si256(other, same(2))));
    const __m256i step = add(level, _mm256_andnot_si256(is_core, one));
    const __m256i block = add(cell, _mm256_mul_epu32(level, same(lanes->n_tail)));
    const __m256i low = _mm256_and_si256(
        _mm256_or_si256(_mm256_srli_epi64(of.head, 16), _mm256_slli_epi64(of.more, 16)),
        same(lanes->low_mask));
    const __m256i z =
        _mm256_or_si256(_mm256_sll_epi64(block, _mm_cvtsi32_si128((int)lanes->block_bits)), low);
    const __m256i lifted = _mm256_sub_epi64(exponent_at(z, left, squared, lanes),
                                            _mm256_slli_epi64(step, DG_LANE_BITS));
    const __m256i first = _mm256_srli_epi64(
        _mm256_sllv_epi64(_mm256_andnot_si256(one, of.point), step), 64 - DG_LANE_BITS);
    const __m256i last = _mm256_srli_epi64(_mm256_xor_si256(_mm256_sllv_epi64(other, step), ones),
                                           64 - DG_LANE_BITS);
    const __m256i above =
        add(same(lanes->above), _mm256_mul_epu32(step, same(lanes->above_a_step)));
    return (tried){
        .draws = add(_mm256_xor_si256(z, left), same((uint64_t)lanes->c)),
        .exponent = positive(lifted),
        .fails = greater(same(lanes->excess), _mm256_and_si256(product, same(0xFFFF))),
        .is_beyond = greater(level, same(DG_LANE_MOST_STEP - 1)),
        .first = first,
        .last_above = add(last, above),
    };
}

/** A bit for each of the four attempts: accepted; undecided. */
typedef struct outcome {
    unsigned accepted, undecided;
} outcome;

INLINE outcome outcome_of(const tried *of, __m256i height, const dg_lanes *lanes)
{
    const __m256i is_below = greater(height, of->last_above);
    const __m256i is_open = greater(add(height, same(lanes->below)), of->first); /* not above */
    const __m256i accepted =
        _mm256_andnot_si256(_mm256_or_si256(of->fails, of->is_beyond), is_below);
    const __m256i undecided = _mm256_andnot_si256(
        of->fails, _mm256_or_si256(of->is_beyond, _mm256_andnot_si256(is_below, is_open)));
    return (outcome){lanes_of(accepted), lanes_of(undecided)};
}

/** The pairs of 32 bits that come first, by which lanes are wanted. */
static const uint32_t ORDER[16][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 0, 1, 2, 3, 6, 7}, {0, 1, 4, 5, 2, 3, 6, 7},
    {2, 3, 4, 5, 0, 1, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {6, 7, 0, 1, 2, 3, 4, 5},
    {0, 1, 6, 7, 2, 3, 4, 5}, {2, 3, 6, 7, 0, 1, 4, 5}, {0, 1, 2, 3, 6, 7, 4, 5},
    {4, 5, 6, 7, 0, 1, 2, 3}, {0, 1, 4, 5, 6, 7, 2, 3}, {2, 3, 4, 5, 6, 7, 0, 1},
    {0, 1, 2, 3, 4, 5, 6, 7},
};

INLINE void make_attempts(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                          size_t n_attempts, bool is_long, bool squared, const dg_lanes *lanes)
{
    const size_t attempt_bytes = is_long ? 16 : 12;
    size_t accepted = 0, made = 0;
    bool goes_on = true;
    while (made < n_attempts && goes_on) {
        tried of[GROUPS];
        __m256i heights[GROUPS];
        EACH_GROUP(g)
        {
            const size_t skipped = g * LANES < n_attempts - made ? g * LANES : n_attempts - made;
            const size_t first = made + skipped, left = n_attempts - first;
            const size_t n = left < LANES ? left : LANES;
            of[g] = try(load(bytes + first * attempt_bytes, n, is_long), squared, lanes);
            heights[g] = of[g].exponent;
        }
        heights_of(heights);
        EACH_GROUP(g)
        {
            if (made == n_attempts || !goes_on) {
                break;
            }
            outcome found = outcome_of(&of[g], heights[g], lanes);
            DG_PUBLIC(found.undecided);
            DG_PUBLIC(found.accepted);
            size_t n = n_attempts - made < LANES ? n_attempts - made : LANES;
            const unsigned undecided = found.undecided & ((1u << n) - 1);
            if (__builtin_expect(undecided != 0, 0)) {
                n = (size_t)__builtin_ctz(undecided);
                goes_on = false;
            }
            const unsigned accept = found.accepted & ((1u << n) - 1);
            const __m256i order = _mm256_loadu_si256((const __m256i *)(const void *)ORDER[accept]);
            _mm256_storeu_si256((__m256i *)(void *)(out + accepted),
                                _mm256_permutevar8x32_epi32(of[g].draws, order));
            accepted += (size_t)__builtin_popcount(accept);
            made += n;
        }
    }
    *n_accepted = accepted;
    *n_made = made;
}

DG_TARGET_AVX2
void dg_lane_kernel_avx2(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                         size_t n_attempts, const dg_lanes *lanes)
{
    /* one loop each: what is public does not vary in it */
    if (lanes->attempt_bytes > 12) {
        if (lanes->squared) {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, true, lanes);
        } else {
            make_attempts(out, n_accepted, n_made, bytes, n_attempts, true, false, lanes);
        }
    } else if (lanes->squared) {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, true, lanes);
    } else {
        make_attempts(out, n_accepted, n_made, bytes, n_attempts, false, false, lanes);
    }
}

#endif
