/* Attempts by AVX2, in two stages. The first multiplies 32 bits, so it knows heights to about 2^-22, and about
 * 2^-22 of the attempts stay open. They wait in two places of each lane until the batch ends. Then lane_attempt.h
 * makes an attempt for every place, even for an empty one, so that the time does not tell which were open.
 * If a lane gets a third open attempt, or if one is undecided, lanes_portable.c repeats the whole batch.
 * PROOF.md, lemma 26. */
#include "isochronous/lane_attempt.h"

#include "base/contract.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX2

enum {
    LANES = 4,
    GROUPS = 2,
    TOGETHER = LANES * GROUPS,
    LEAST = 16, /* the portable kernel makes fewer attempts than this */
    DEEP = 24,  /* attempts on levels from this on wait */
    ROOM = 2,   /* attempts of a lane that may wait */
    ROUGH_BITS = 32,
    SPARE = DG_LANE_BITS - ROUGH_BITS,
    HEIGHT_BELOW = 8 /* rough heights are less than 8 units too low, and never too high */
};

#define EACH_GROUP(g) _Pragma("GCC unroll 2") for (size_t g = 0; g < GROUPS; g++)

INLINE __m256i same(uint64_t value)
{
    return _mm256_set1_epi64x((long long)value);
}

INLINE __m256i add(__m256i a, __m256i b)
{
    return _mm256_add_epi64(a, b);
}

INLINE __m256i subtract(__m256i a, __m256i b)
{
    return _mm256_sub_epi64(a, b);
}

INLINE __m256i both(__m256i a, __m256i b)
{
    return _mm256_and_si256(a, b);
}

INLINE __m256i either(__m256i a, __m256i b)
{
    return _mm256_or_si256(a, b);
}

INLINE __m256i without(__m256i a, __m256i b)
{
    return _mm256_andnot_si256(b, a);
}

/** Return ones in lanes where a > b. Requires: both are below 2^63 in size. */
INLINE __m256i greater(__m256i a, __m256i b)
{
    return _mm256_cmpgt_epi64(a, b);
}

/** Return a in lanes where the mask is all ones, and b where it is 0. */
INLINE __m256i choose(__m256i mask, __m256i a, __m256i b)
{
    return _mm256_blendv_epi8(b, a, mask);
}

INLINE __m256i halved(__m256i a, int times)
{
    return _mm256_srli_epi64(a, times);
}

/** Return the product of the lower halves. */
INLINE __m256i product(__m256i a, __m256i b)
{
    return _mm256_mul_epu32(a, b);
}

/** The constants of a law for the first stage. */
typedef struct rough {
    __m256i n_cells, excess, last_core, n_tail, low_mask, c;
    __m256i offset[2], twice_f, d_mask, farthest, rate;
    __m256i above, below; /* an attempt is decided if its height is farther than these from f' */
    __m128i block_bits, units_up, units_down, shift, rate_shift;
    __m128i last_of_four; /* shuffles the bytes of the fourth attempt out of the last 16 */
} rough;

INLINE __m128i count(unsigned bits)
{
    return _mm_cvtsi32_si128((int)bits);
}

/** Set the constants of a law. Returns: whether they fit. */
INLINE bool get_rough(rough *of, const dg_lanes *lanes)
{
    const uint64_t z = (lanes->n_core + DEEP * lanes->n_tail) << lanes->block_bits;
    const int64_t offset = lanes->offset[lanes->offset[1] > lanes->offset[0]];
    const uint64_t most = (z << lanes->units_up >> lanes->units_down) + (uint64_t)offset;
    const unsigned bits = 64 - (unsigned)__builtin_clzll((most + lanes->twice_f) | 1);
    const unsigned shift = bits > 31 ? bits - 31 : 0;
    const unsigned cut = lanes->squared ? 2 * shift : shift + 22;
    if (lanes->rate_shift + 22 < cut) {
        return false;
    }
    const unsigned rate_shift = lanes->rate_shift + 22 - cut;
    const uint64_t rate = lanes->rate >> SPARE;
    const uint64_t farthest = least(lanes->farthest >> shift, INT32_MAX);
    const uint64_t twice_f = lanes->squared ? lanes->twice_f >> shift : UINT64_C(1) << 30;
    const uint64_t d = least(most >> shift, farthest), d_2f = (lanes->squared ? d : 0) + twice_f;
    const uint64_t area = d * d_2f >> 30, of_area = ((3 * d_2f + 2) >> 30) + 2;
    const uint64_t of_exponent = (of_area * (rate + 1) >> rate_shift) + (area >> rate_shift) + 3;
    const uint64_t more = lanes->above + (DEEP + 1) * lanes->above_a_step + DG_LANE_BELOW;
    *of = (rough){
        .n_cells = same(lanes->n_cells),
        .excess = same(lanes->excess),
        .last_core = same(lanes->n_core - 1),
        .n_tail = same(lanes->n_tail),
        .low_mask = same(lanes->low_mask),
        .c = same((uint64_t)lanes->c),
        .offset = {same((uint64_t)lanes->offset[0]), same((uint64_t)lanes->offset[1])},
        .twice_f = same(twice_f),
        .d_mask = same(lanes->squared ? UINT64_MAX : 0),
        .farthest = same(farthest),
        .rate = same(rate),
        .above = same(7 * of_exponent / 10 + 2 + (more >> SPARE)),
        .below = same(0 - (HEIGHT_BELOW + 1 + (lanes->below >> SPARE))),
        .block_bits = count(lanes->block_bits),
        .units_up = count(lanes->units_up),
        .units_down = count(lanes->units_down),
        .shift = count(shift),
        .rate_shift = count(rate_shift),
        .last_of_four =
            _mm_add_epi8(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm_set1_epi8((char)(16 - lanes->attempt_bytes))),
    };
    return true;
}

/** Return the number of leading ones, or a number from DEEP + 8 on. */
INLINE __m256i leading_ones(__m256i words)
{
    const __m256i nibble = _mm256_set1_epi8(15), far = same(UINT64_C(0x0008101800000000));
    const __m256i of_upper = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 127));
    const __m256i of_lower = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 7, 127));
    /* count for each byte as if all bytes above it were ones, then take the least count */
    const __m256i of_each =
        _mm256_min_epu8(_mm256_shuffle_epi8(of_upper, both(halved(words, 4), nibble)),
                        _mm256_shuffle_epi8(of_lower, both(words, nibble)));
    const __m256i of_four = halved(_mm256_add_epi8(of_each, far), 32);
    const __m256i of_two = _mm256_min_epu8(of_four, halved(of_four, 16));
    return both(_mm256_min_epu8(of_two, halved(of_two, 8)), same(0xFF));
}

/** floor(2^32 2^-((i + 1)/16)), i = 0 ... 15. */
static const uint32_t POWERS[16] = {
    0xF5257D15, 0xEAC0C6E7, 0xE0CCDEEC, 0xD744FCCA, 0xCE248C15, 0xC5672A11, 0xBD08A39F, 0xB504F333,
    0xAD583EEA, 0xA5FED6A9, 0x9EF53260, 0x9837F051, 0x91C3D373, 0x8B95C1E3, 0x85AAC367, 0x80000000,
};

/** Set x[g] = 2^-x[g], rounded down, in units of 2^-32. */
INLINE void rough_heights(__m256i x[GROUPS])
{
    /* floor(2^(35 - 3 k) (ln 2)^k/k!): 2^t - 1 of t < 1/16, in units of 2^-35 */
    static const uint64_t terms[] = {0x13B2A, 0x38D611, 0x7AFEF7F, 0xB17217F7};
    __m256i sum[GROUPS], t[GROUPS];
    EACH_GROUP(g)
    {
        const __m256i left = subtract(same(1u << 28), both(x[g], same((1u << 28) - 1)));
        t[g] = _mm256_slli_epi64(left, 3);
        sum[g] = same(terms[0]);
    }
    for (size_t k = 1; k < 4; k++) {
        EACH_GROUP(g)
        {
            sum[g] = add(same(terms[k]), halved(product(t[g], sum[g]), 32));
        }
    }
    EACH_GROUP(g)
    {
        const __m256i place = halved(x[g], 28); /* its low 3 bits select, then the fourth */
        const __m256i first =
            _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)POWERS), place);
        const __m256i second =
            _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)(POWERS + 8)), place);
        const __m256i power =
            both(choose(_mm256_srai_epi32(x[g], 31), second, first), same(UINT32_MAX));
        const __m256i m = halved(product(t[g], sum[g]), 32);
        x[g] = _mm256_srlv_epi64(add(power, halved(product(power, m), 35)), halved(x[g], 32));
    }
}

/** The words of four attempts: point, and head with the bytes that follow it. */
typedef struct words {
    __m256i point, head;
} words;

INLINE __m256i pair(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

INLINE words load_four(const uint8_t *bytes, size_t attempt_bytes, const rough *law)
{
    const uint8_t *second = bytes + attempt_bytes, *third = second + attempt_bytes;
    const uint8_t *last = bytes + 4 * attempt_bytes - 16; /* no byte behind is read */
    const __m128i fourth = _mm_shuffle_epi8(_mm_loadu_si128((const void *)last), law->last_of_four);
    const __m256i even =
        pair(_mm_loadu_si128((const void *)bytes), _mm_loadu_si128((const void *)third));
    const __m256i odd = pair(_mm_loadu_si128((const void *)second), fourth);
    return (words){_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)};
}

/** Return the exponent at z, rounded down, in units of 2^-32. */
INLINE __m256i rough_exponent(__m256i z, __m256i left, const rough *law)
{
    const __m256i units = _mm256_srl_epi64(_mm256_sll_epi64(z, law->units_up), law->units_down);
    const __m256i delta = add(units, choose(left, law->offset[1], law->offset[0]));
    const __m256i cut =
        _mm256_max_epi32(_mm256_srl_epi64(delta, law->shift), _mm256_setzero_si256());
    const __m256i d = _mm256_min_epu32(cut, law->farthest);
    const __m256i area = halved(product(d, add(both(d, law->d_mask), law->twice_f)), 30);
    return _mm256_srl_epi64(product(area, law->rate), law->rate_shift);
}

/** Four attempts before their heights are known. */
typedef struct tried {
    words words;
    __m256i draws, exponent, f, fails, is_deep;
} tried;

INLINE tried try_four(words of, const rough *law)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i choice = product(both(of.head, same(0xFFFF)), law->n_cells);
    const __m256i cell = halved(choice, 16), is_tail = greater(cell, law->last_core);
    const __m256i left = subtract(zero, both(of.point, same(1)));
    const __m256i level = both(leading_ones(of.point), is_tail);
    const __m256i step = subtract(level, is_tail);
    const __m256i block = add(cell, product(level, law->n_tail));
    const __m256i low = both(halved(of.head, 16), law->low_mask);
    const __m256i z = either(_mm256_sll_epi64(block, law->block_bits), low);
    const __m256i lifted =
        subtract(rough_exponent(z, left, law), _mm256_slli_epi64(step, ROUGH_BITS));
    return (tried){
        .words = of,
        .draws = add(_mm256_xor_si256(z, left), law->c),
        .exponent = without(lifted, greater(zero, lifted)),
        .f = halved(_mm256_sllv_epi64(of.point, step), 64 - ROUGH_BITS),
        .fails = greater(law->excess, both(choice, same(0xFFFF))),
        .is_deep = greater(level, same(DEEP - 1)),
    };
}

/** Attempts that wait, one in each lane. */
typedef struct waiting {
    words words;
    __m256i at; /* the vector of the batch that it comes from; -1 if none waits */
} waiting;

INLINE void choose_waiting(waiting *to, __m256i mask, const waiting *from)
{
    to->words.point = choose(mask, from->words.point, to->words.point);
    to->words.head = choose(mask, from->words.head, to->words.head);
    to->at = choose(mask, from->at, to->at);
}

/** Decide vector `at` of a batch, and let open attempts wait. Ensures: *lost is not 0 if there was no room.
 *  Returns: a bit for each attempt, 1 if it is accepted. */
INLINE uint8_t decide(waiting wait[ROOM], __m256i *lost, const tried *of, __m256i height,
                      __m256i at, const rough *law)
{
    const __m256i over = subtract(height, of->f);
    const __m256i is_below = greater(over, law->above), is_near = greater(over, law->below);
    const __m256i accepted = without(is_below, either(of->fails, of->is_deep));
    const __m256i open = without(either(of->is_deep, without(is_near, is_below)), of->fails);
    const waiting here = {of->words, at};
    *lost = either(*lost, without(open, wait[1].at)); /* 0 if `at` is -1 */
    choose_waiting(&wait[1], open, &wait[0]);
    choose_waiting(&wait[0], open, &here);
    return (uint8_t)_mm256_movemask_pd(_mm256_castsi256_pd(accepted));
}

/** The outcomes of four attempts that waited, and their draws. */
typedef struct late {
    __m256i accepted, draws, at;
} late;

/** Make the attempts that waited. Ensures: *anew is all ones if one is undecided. */
INLINE late make_waiting(uint64_t *anew, const waiting *wait, const dg_lanes *lanes)
{
    uint64_t points[LANES], heads[LANES], heights[LANES], accepted[LANES], draws[LANES];
    dg_lane_tried of[LANES];
    _mm256_storeu_si256((void *)points, wait->words.point);
    _mm256_storeu_si256((void *)heads, wait->words.head);
    for (size_t i = 0; i < LANES; i++) { /* an empty place's bytes are zeros */
        const uint64_t pair[2] = {points[i], heads[i]};
        of[i] = try_at((const uint8_t *)pair, lanes->attempt_bytes > 12,
                       lanes->squared ? gaussian_exponent_at : laplace_exponent_at, lanes);
        heights[i] = of[i].exponent;
    }
    heights_of(heights, LANES);
    for (size_t i = 0; i < LANES; i++) {
        const dg_lane_found found = found_by(&of[i], heights[i], lanes);
        accepted[i] = found.accepted;
        draws[i] = found.draw;
        *anew |= found.undecided;
    }
    return (late){_mm256_loadu_si256((const void *)accepted),
                  _mm256_loadu_si256((const void *)draws), wait->at};
}

/** For each set of accepted lanes, the order of 32-bit halves that puts them first. */
static const uint32_t ORDER[16][8] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 0, 1, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 0, 1, 2, 3, 6, 7}, {0, 1, 4, 5, 2, 3, 6, 7},
    {2, 3, 4, 5, 0, 1, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {6, 7, 0, 1, 2, 3, 4, 5},
    {0, 1, 6, 7, 2, 3, 4, 5}, {2, 3, 6, 7, 0, 1, 4, 5}, {0, 1, 2, 3, 6, 7, 4, 5},
    {4, 5, 6, 7, 0, 1, 2, 3}, {0, 1, 4, 5, 6, 7, 2, 3}, {2, 3, 4, 5, 6, 7, 0, 1},
    {0, 1, 2, 3, 4, 5, 6, 7},
};

DG_TARGET_AVX2
void dg_lane_kernel_avx2(int64_t *out, size_t *n_accepted, size_t *n_made, const uint8_t *bytes,
                         size_t n_attempts, const dg_lanes *lanes)
{
    DG_REQUIRES(n_attempts <= DG_LANE_MOST_BATCH);
    const size_t attempt_bytes = lanes->attempt_bytes;
    const size_t n_first = n_attempts - n_attempts % TOGETHER;
    const __m256i zero = _mm256_setzero_si256(), none = same(UINT64_MAX);
    uint8_t accepted[DG_LANE_MOST_BATCH / LANES];
    waiting wait[ROOM] = {{{zero, zero}, none}, {{zero, zero}, none}};
    __m256i at = zero, lost = zero;
    rough law;
    if (n_attempts < LEAST || !get_rough(&law, lanes)) {
        dg_lane_kernel_portable(out, n_accepted, n_made, bytes, n_attempts, lanes);
        return;
    }
    for (size_t i = 0; i < n_first; i += TOGETHER) {
        tried of[GROUPS];
        __m256i heights[GROUPS];
        EACH_GROUP(g)
        {
            const uint8_t *from = bytes + (i + g * LANES) * attempt_bytes;
            of[g] = try_four(load_four(from, attempt_bytes, &law), &law);
            heights[g] = of[g].exponent;
        }
        rough_heights(heights);
        EACH_GROUP(g)
        {
            /* store all draws; the accepted ones move to the front later */
            _mm256_storeu_si256((void *)(out + i + g * LANES), of[g].draws);
            accepted[i / LANES + g] = decide(wait, &lost, &of[g], heights[g], at, &law);
            at = add(at, same(1));
        }
    }
    uint64_t anew = (uint64_t)!_mm256_testz_si256(lost, lost);
    const late first = make_waiting(&anew, &wait[0], lanes);
    const late second = make_waiting(&anew, &wait[1], lanes);
    DG_PUBLIC(anew);
    if (__builtin_expect(anew != 0, 0)) {
        dg_lane_kernel_portable(out, n_accepted, n_made, bytes, n_attempts, lanes);
        return;
    }
    size_t n = 0;
    at = zero;
    for (size_t i = 0; i < n_first; i += LANES) {
        const __m256i is_first = _mm256_cmpeq_epi64(first.at, at);
        const __m256i is_second = _mm256_cmpeq_epi64(second.at, at);
        const __m256i are_late =
            either(both(first.accepted, is_first), both(second.accepted, is_second));
        unsigned accept =
            accepted[i / LANES] | (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(are_late));
        DG_PUBLIC(accept);
        __m256i draws = _mm256_loadu_si256((const void *)(out + i));
        draws = choose(is_second, second.draws, choose(is_first, first.draws, draws));
        const __m256i order = _mm256_loadu_si256((const void *)ORDER[accept]);
        _mm256_storeu_si256((void *)(out + n), _mm256_permutevar8x32_epi32(draws, order));
        n += (size_t)__builtin_popcount(accept);
        at = add(at, same(1));
    }
    dg_lane_kernel_portable(out + n, n_accepted, n_made, bytes + n_first * attempt_bytes,
                            n_attempts - n_first, lanes);
    *n_accepted += n;
    *n_made += n_first;
}

#endif
