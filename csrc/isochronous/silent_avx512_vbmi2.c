/* The silent engine by AVX-512 with VBMI2: 64 attempts at a time. Planes are looked up in registers. 16 bits decide
 * most attempts; the open ones wait, are decided one by one (silent_decide.h), and get their answers in order. No
 * branch, address or count depends on a byte of the batch before the answers of the whole batch are known, except
 * the number of rounds. Compressions stay in registers: in memory their time may depend on the mask. */
#include "isochronous/silent.h"

#if DG_HAVE_WORDS && DG_ISA_X86_64
#include "isochronous/silent_decide.h"

#include "base/wipe.h"

#include <immintrin.h>
#include <stddef.h>

#define INLINE static inline __attribute__((always_inline)) DG_TARGET_AVX512_VBMI2

enum { GROUP = 64 };

INLINE __m512i load(const void *from)
{
    return _mm512_loadu_si512(from);
}

/** Return the bytes of a plane that 64 indices name. All its bytes are loaded. */
INLINE __m512i look_up(const uint8_t plane[DG_SILENT_CODES], __m512i i)
{
    const __m512i low = _mm512_permutex2var_epi8(load(plane), i, load(plane + 64));
    const __m512i high = _mm512_permutex2var_epi8(load(plane + 128), i, load(plane + 192));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(i), low, high);
}

/** 64 attempts. */
typedef struct group {
    __m512i position[2], end[2]; /* lower and upper bytes */
    __m512i code;
    __mmask64 is_second; /* whether the piece is the row's second one */
} group;

INLINE group group_of(__m512i row, __m512i upper, __m512i lower, const dg_silent_planes *planes)
{
    group of = {.position = {lower, upper},
                .end = {look_up(planes->end[0], row), look_up(planes->end[1], row)}};
    of.is_second =
        _mm512_cmpgt_epu8_mask(upper, of.end[1]) |
        (_mm512_cmpeq_epi8_mask(upper, of.end[1]) & _mm512_cmpge_epu8_mask(lower, of.end[0]));
    of.code = _mm512_mask_blend_epi8(of.is_second, row, look_up(planes->alias, row));
    return of;
}

/* --- most attempts -------------------------------------------------------------------------------- */

/** 32 attempts: numbers of 16 bits. Those of a are signed, less 2^15. */
typedef struct half {
    __m512i position, end, base, slope, bulge, err, tick;
} half;

/** Which attempts are accepted, and which are open. */
typedef struct answers {
    __mmask32 accepted, open;
} answers;

/** Return the arc at a tick. */
INLINE __m512i arc_at(const half *of, dg_silent_shape shape, const dg_silent *silent)
{
    const __m512i ones = _mm512_set1_epi16(-1), q = of->tick;
    if (shape == DG_SILENT_PARABOLA) {
        const __m512i both = _mm512_mulhi_epu16(q, _mm512_xor_si512(q, ones));
        return _mm512_adds_epi16(_mm512_sub_epi16(of->base, _mm512_mulhi_epu16(of->slope, q)),
                                 _mm512_mulhi_epi16(of->bulge, both));
    }
    if (shape == DG_SILENT_EXPONENTIAL) {
        const __m512i top = _mm512_set1_epi16(INT16_MIN);
        __m512i fall = _mm512_setzero_si512(); /* 1 - exp(-tau q/2) */
        for (size_t k = 5; k-- > 0;) {
            const __m512i term = _mm512_set1_epi16((short)silent->planes.k[k]);
            fall = _mm512_mulhi_epu16(q, _mm512_sub_epi16(term, fall));
        }
        const __m512i root = _mm512_xor_si512(fall, ones);
        return _mm512_xor_si512(
            _mm512_mulhi_epu16(_mm512_xor_si512(of->base, top), _mm512_mulhi_epu16(root, root)),
            top);
    }
    return of->base;
}

INLINE answers compare(const half *of, dg_silent_shape shape, const dg_silent *silent)
{
    const __m512i zero = _mm512_setzero_si512(), top = _mm512_set1_epi16(INT16_MIN);
    const __mmask32 is_second = _mm512_cmpge_epu16_mask(of->position, of->end);
    const __m512i rel = _mm512_mask_sub_epi16(of->position, is_second, of->position, of->end);
    const __m512i length = _mm512_mask_sub_epi16(of->end, is_second, zero, of->end);
    const __m512i arc = arc_at(of, shape, silent);
    const __m512i low = _mm512_xor_si512(_mm512_subs_epi16(arc, of->err), top);
    const __m512i high = _mm512_xor_si512(_mm512_adds_epi16(arc, of->err), top);
    const __mmask32 accepted = _mm512_cmplt_epu16_mask(rel, _mm512_mulhi_epu16(length, low));
    const __mmask32 maybe = _mm512_cmple_epu16_mask(rel, _mm512_mulhi_epu16(length, high));
    return (answers){accepted, maybe & ~accepted};
}

/** Return the bits of 64 attempts in order. _mm512_unpacklo_epi8 takes eight bytes of each 16, and
 *  _mm512_unpackhi_epi8 the others. */
INLINE uint64_t in_order(__mmask32 low, __mmask32 high)
{
    return _pdep_u64(low, UINT64_C(0x00FF00FF00FF00FF)) |
           _pdep_u64(high, UINT64_C(0xFF00FF00FF00FF00));
}

/** The place of a batch, and the parts of the scratch. Bit i of a mask is bit i % 8 of byte i / 8. */
typedef struct places {
    const uint8_t *columns; /* row, position, tick */
    const uint8_t *words;
    uint8_t *code;            /* a column */
    uint8_t *accepted, *open; /* masks */
    uint8_t *rest;            /* 14 bytes an attempt, and 128 */
    size_t n, n_planes;
} places;

INLINE void store_mask(uint8_t *mask, size_t i, uint64_t bits)
{
    memcpy(mask + i / 8, &bits, sizeof bits);
}

INLINE uint64_t load_mask(const uint8_t *mask, size_t i)
{
    return load_word(mask + i / 8);
}

INLINE void decide_most(const places *at, dg_silent_shape shape, const dg_silent *silent)
{
    const dg_silent_planes *planes = &silent->planes;
    const __m512i zero = _mm512_setzero_si512();
    const __m512i of_tick = _mm512_set1_epi16((short)dg_silent_of_tick(silent->block_bits));
    const size_t n = at->n;
    const uint8_t *const last = at->columns + n * (at->n_planes > 1 ? at->n_planes + 2 : 3);
    const uint8_t *const before = at->n_planes > 1 ? last - n : last; /* or of_tick cuts it off */
    for (size_t i = 0; i < n; i += GROUP) {
        const uint8_t *const row = at->columns + i;
        const group all = group_of(load(row), load(row + n), load(row + 2 * n), planes);
        const __m512i base[2] = {look_up(planes->base[0], all.code),
                                 look_up(planes->base[1], all.code)};
        const __m512i err = look_up(planes->err, all.code);
        __m512i slope[2] = {zero, zero}, bulge[2] = {zero, zero}, tick[2] = {zero, zero};
        if (shape == DG_SILENT_PARABOLA) {
            for (size_t k = 0; k < 2; k++) {
                slope[k] = look_up(planes->slope[k], all.code);
                bulge[k] = look_up(planes->bulge[k], all.code);
            }
        }
        if (shape != DG_SILENT_FLAT) {
            tick[0] = load(before + i);
            tick[1] = load(last + i);
        }
        _mm512_storeu_si512(at->code + i, all.code);
#define HALF(unpack)                                                                               \
    (half)                                                                                         \
    {                                                                                              \
        unpack(all.position[0], all.position[1]), unpack(all.end[0], all.end[1]),                  \
            unpack(base[0], base[1]), unpack(slope[0], slope[1]), unpack(bulge[0], bulge[1]),      \
            unpack(err, zero), _mm512_and_si512(unpack(tick[0], tick[1]), of_tick)                 \
    }
        const half low = HALF(_mm512_unpacklo_epi8), high = HALF(_mm512_unpackhi_epi8);
        const answers of_low = compare(&low, shape, silent),
                      of_high = compare(&high, shape, silent);
        store_mask(at->accepted, i, in_order(of_low.accepted, of_high.accepted));
        store_mask(at->open, i, in_order(of_low.open, of_high.open));
    }
}

/* --- open attempts -------------------------------------------------------------------------------- */

/** Return all ones in the lower n bits. Requires: n <= 64. */
INLINE uint64_t first_bits(uint64_t n)
{
    return _bzhi_u64(UINT64_MAX, (unsigned)n);
}

/** Return the bytes of a column that belong to the first 64 open attempts, in order. */
INLINE __m512i waiting(const uint8_t *column, const places *at)
{
    __m512i all = _mm512_setzero_si512();
    uint64_t n_waiting = 0;
    for (size_t i = 0; i < at->n; i += GROUP) {
        const uint64_t open = load_mask(at->open, i), count = (uint64_t)_mm_popcnt_u64(open);
        const uint64_t to = first_bits(count) << (n_waiting & 63) & less(n_waiting, GROUP);
        const __m512i bytes = _mm512_maskz_compress_epi8(open, load(column + i));
        all = _mm512_or_si512(all, _mm512_maskz_expand_epi8(to, bytes));
        n_waiting += count;
    }
    return all;
}

/** Give the first 64 open attempts their answers, in order: then they are no longer open. */
INLINE void answer(uint64_t accepted, const places *at)
{
    uint64_t n_before = 0;
    for (size_t i = 0; i < at->n; i += GROUP) {
        const uint64_t open = load_mask(at->open, i), is_in = less(n_before, GROUP);
        const uint64_t its = accepted >> (n_before & 63) & is_in;
        const uint64_t known = _pdep_u64(UINT64_MAX >> (n_before & 63) & is_in, open);
        store_mask(at->accepted, i, load_mask(at->accepted, i) | _pdep_u64(its, open));
        store_mask(at->open, i, open & ~known);
        n_before += (uint64_t)_mm_popcnt_u64(open);
    }
}

/** Return how many attempts are open. */
INLINE uint64_t count_open(const places *at)
{
    uint64_t n = 0;
    for (size_t i = 0; i < at->n; i += GROUP) {
        n += (uint64_t)_mm_popcnt_u64(load_mask(at->open, i));
    }
    return n;
}

/** Decide the first 64 open attempts, of which the first n_places are there, if any. */
INLINE void decide_first(uint64_t n_waiting, size_t n_places, dg_silent_words *words,
                         const places *at, const dg_silent *silent)
{
    const dg_silent_planes *planes = &silent->planes;
    const __m512i code = waiting(at->code, at), row = waiting(at->columns, at);
    const uint8_t *const of_code =
        (const uint8_t *)planes + offsetof(dg_silent_planes, c); /* c, lift, kept */
    dg_silent_round of;
    _mm512_storeu_si512(of.of_attempt[0], code);
    for (size_t k = 0; k < 3 + at->n_planes; k++) {
        _mm512_storeu_si512(of.of_attempt[1 + k], waiting(at->columns + k * at->n, at));
    }
    for (size_t k = 0; k < 2; k++) {
        _mm512_storeu_si512(of.of_row[k], look_up(planes->end[k], row));
    }
    for (size_t k = 0; k < dg_silent_of_code(silent); k++) {
        _mm512_storeu_si512(of.of_code[k], look_up(of_code + DG_SILENT_CODES * k, code));
    }
    answer(dg_silent_decide_all(&of, n_places, n_waiting, words, silent), at);
    dg_wipe(&of, sizeof of);
}

/** Decide the open attempts. Returns: as the kernel. */
INLINE bool decide_open(const places *at, const dg_silent *silent)
{
    dg_silent_words words = {.of_batch = at->words};
    uint64_t n_waiting = count_open(at);
    size_t n_places = dg_silent_places(at->n, silent);
    for (bool are_more = true; are_more;) {
        bool are_many = n_waiting > n_places;
        DG_PUBLIC(are_many);
        n_places = are_many ? GROUP : n_places;
        decide_first(n_waiting, n_places, &words, at, silent);
        n_waiting -= least(n_waiting, GROUP);
        are_more = n_waiting > 0;
        DG_PUBLIC(are_more);
    }
    bool is_known = words.undecided == 0;
    DG_PUBLIC(is_known);
    return is_known;
}

/* --- draws ---------------------------------------------------------------------------------------- */

/** Move what belongs to accepted attempts to the beginning of a column; to may be the column. Returns: their number. */
INLINE size_t compress(uint8_t *to, const uint8_t *column, const places *at)
{
    size_t count = 0;
    for (size_t i = 0; i < at->n; i += GROUP) {
        uint64_t accepted = load_mask(at->accepted, i);
        DG_PUBLIC(accepted);
        _mm512_storeu_si512(to + count, _mm512_maskz_compress_epi8(accepted, load(column + i)));
        count += (size_t)_mm_popcnt_u64(accepted);
    }
    return count;
}

/** The parts of numbers of 16, 32 or 64 bits. A code as a signed number is negative on the left. */
typedef struct widening {
    const uint8_t *code, *ticks; /* of accepted attempts: columns of stride n */
    size_t n, n_planes;
    __m128i up, down; /* shifts */
    __m512i flip, centre;
} widening;

INLINE void store_draws(int64_t *to, __m512i y, const widening *by)
{
    _mm512_storeu_si512(to, _mm512_add_epi64(by->centre, y));
}

INLINE void widen_16(int64_t *out, size_t n, const widening *by)
{
    for (size_t i = 0; i < n; i += 32) {
        const __m512i code = _mm512_cvtepi8_epi16(_mm512_castsi512_si256(load(by->code + i)));
        const __m512i tick = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(load(by->ticks + i)));
        const __m512i block = _mm512_and_si512(code, _mm512_set1_epi16(127));
        const __m512i z =
            _mm512_or_si512(_mm512_sll_epi16(block, by->up), _mm512_srl_epi16(tick, by->down));
        const __m512i side = _mm512_xor_si512(_mm512_srai_epi16(code, 15), by->flip);
        const __m512i y = _mm512_xor_si512(z, side);
        store_draws(out + i, _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(y, 0)), by);
        store_draws(out + i + 8, _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(y, 1)), by);
        store_draws(out + i + 16, _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(y, 2)), by);
        store_draws(out + i + 24, _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(y, 3)), by);
    }
}

INLINE void widen_32(int64_t *out, size_t n, const widening *by)
{
    for (size_t i = 0; i < n; i += 16) {
        const __m512i code = _mm512_cvtepi8_epi32(_mm512_castsi512_si128(load(by->code + i)));
        __m512i tick = _mm512_setzero_si512();
        for (size_t k = by->n_planes; k-- > 0;) {
            const __m512i byte = load(by->ticks + k * by->n + i);
            tick = _mm512_or_si512(_mm512_slli_epi32(tick, 8),
                                   _mm512_cvtepu8_epi32(_mm512_castsi512_si128(byte)));
        }
        const __m512i block = _mm512_and_si512(code, _mm512_set1_epi32(127));
        const __m512i z =
            _mm512_or_si512(_mm512_sll_epi32(block, by->up), _mm512_srl_epi32(tick, by->down));
        const __m512i side = _mm512_xor_si512(_mm512_srai_epi32(code, 31), by->flip);
        const __m512i y = _mm512_xor_si512(z, side);
        store_draws(out + i, _mm512_cvtepi32_epi64(_mm512_castsi512_si256(y)), by);
        store_draws(out + i + 8, _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(y, 1)), by);
    }
}

INLINE void widen_64(int64_t *out, size_t n, const widening *by)
{
    for (size_t i = 0; i < n; i += 8) {
        const __m512i code = _mm512_cvtepi8_epi64(_mm512_castsi512_si128(load(by->code + i)));
        __m512i tick = _mm512_setzero_si512();
        for (size_t k = by->n_planes; k-- > 0;) {
            const __m512i byte = load(by->ticks + k * by->n + i);
            tick = _mm512_or_si512(_mm512_slli_epi64(tick, 8),
                                   _mm512_cvtepu8_epi64(_mm512_castsi512_si128(byte)));
        }
        const __m512i block = _mm512_and_si512(code, _mm512_set1_epi64(127));
        const __m512i z =
            _mm512_or_si512(_mm512_sll_epi64(block, by->up), _mm512_srl_epi64(tick, by->down));
        const __m512i side = _mm512_xor_si512(_mm512_srai_epi64(code, 63), by->flip);
        store_draws(out + i, _mm512_xor_si512(z, side), by);
    }
}

INLINE void widen(int64_t *out, size_t n, const places *at, const dg_silent *silent)
{
    widening by = {
        .code = at->code,
        .ticks = at->rest,
        .n = at->n,
        .n_planes = at->n_planes,
        .up = _mm_cvtsi32_si128((int)silent->block_bits),
        .down = _mm_cvtsi32_si128(at->n_planes == 0 ? 16
                                                    : (int)(8 * at->n_planes - silent->block_bits)),
        .flip = _mm512_set1_epi64(silent->flip),
        .centre = _mm512_set1_epi64(silent->centre - silent->flip),
    };
    switch (at->n_planes) {
    case 0:
    case 1:
        widen_16(out, n, &by);
        break;
    case 2:
        by.n_planes = 2; /* a constant here */
        widen_32(out, n, &by);
        break;
    case 3:
        by.n_planes = 3;
        widen_32(out, n, &by);
        break;
    default:
        widen_64(out, n, &by);
    }
}

DG_TARGET_AVX512_VBMI2
bool dg_silent_kernel_avx512_vbmi2(int64_t *out, size_t *n_accepted, uint8_t *scratch,
                                   const uint8_t *batch, size_t n_attempts, const dg_silent *silent)
{
    const size_t n = n_attempts;
    const places at = {
        .columns = batch,
        .words = batch + n * (3 + silent->n_planes),
        .code = scratch,
        .accepted = scratch + n,
        .open = scratch + n + n / 8,
        .rest = scratch + n + n / 4,
        .n = n,
        .n_planes = silent->n_planes,
    };
    switch (silent->shape) {
    case DG_SILENT_FLAT:
        decide_most(&at, DG_SILENT_FLAT, silent);
        break;
    case DG_SILENT_PARABOLA:
        decide_most(&at, DG_SILENT_PARABOLA, silent);
        break;
    case DG_SILENT_EXPONENTIAL:
        decide_most(&at, DG_SILENT_EXPONENTIAL, silent);
        break;
    }
    if (!decide_open(&at, silent)) {
        return false;
    }
    for (size_t k = 0; k < at.n_planes; k++) {
        (void)compress(at.rest + k * n, batch + (3 + k) * n, &at);
    }
    *n_accepted = compress(at.code, at.code, &at);
    widen(out, *n_accepted, &at, silent);
    return true;
}

#endif
