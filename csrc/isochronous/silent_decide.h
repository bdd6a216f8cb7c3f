/* The steps of an attempt that kernels of the silent engine compute in portable C. */
#ifndef DG_ISOCHRONOUS_SILENT_DECIDE_H
#define DG_ISOCHRONOUS_SILENT_DECIDE_H

#include "isochronous/lane_attempt.h"
#include "isochronous/lane_power.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS

/* --- the first stage: 16 bits of a = H g / c ----------------------------------------------------- */

/** Return the mask of the tick's upper 16 bits: those that its bytes have, but not the tick. */
static inline uint16_t dg_silent_of_tick(unsigned block_bits)
{
    return (uint16_t)(block_bits >= 16 ? 0xFFFFu : 0xFFFFu << (16 - block_bits));
}

/** Return all ones if a number is below 0, else 0. clang may make branches of what it knows to be a comparison; gcc does
 *  not of this, and makes vectors of it. */
DG_LANE_INLINE uint32_t dg_silent_sign(int32_t number)
{
    uint32_t mask = 0 - ((uint32_t)number >> 31);
#if defined(__clang__)
    __asm__("" : "+r"(mask));
#endif
    return mask;
}

/** Return 65535 exp(-tau q / 2^17), about. k: (tau/2)^j / j!, in units of 2^-16. */
DG_LANE_INLINE uint32_t dg_silent_half_exponential(uint32_t q, const uint16_t k[5])
{
    uint32_t y = q * k[4] >> 16;
    y = q * (k[3] - y) >> 16;
    y = q * (k[2] - y) >> 16;
    y = q * (k[1] - y) >> 16;
    y = q * (k[0] - y) >> 16;
    return 65535 - y;
}

/** Return 2^16 a, about. base and slope are not negative; q < 2^16 is the tick's upper 16 bits as a fraction. */
DG_LANE_INLINE int32_t dg_silent_arc(int32_t base, int32_t slope, int32_t bulge, uint32_t q,
                                     dg_silent_shape shape, const uint16_t k[5])
{
    if (shape == DG_SILENT_PARABOLA) {
        const int32_t bow = (int32_t)(q * (65535 - q) >> 16);
        const int32_t v = base - (int32_t)((uint32_t)slope * q >> 16) + (bulge * bow >> 16);
        const uint32_t least_v = (uint32_t)v & ~dg_silent_sign(v);
        return (int32_t)((least_v | dg_silent_sign(65535 - (int32_t)least_v)) & 65535);
    }
    if (shape == DG_SILENT_EXPONENTIAL) {
        const uint32_t y = dg_silent_half_exponential(q, k);
        return (int32_t)((uint32_t)base * (y * y >> 16) >> 16);
    }
    return base;
}

/* --- the second stage: attempts that 16 bits leave open ----------------------------------------- */

enum {
    DG_SILENT_TOGETHER = 8,    /* attempts that are decided together, at most */
    DG_SILENT_GATHERED = 64,   /* attempts of a round, at most */
    DG_SILENT_OF_CODE = 4 + 7, /* bytes that are looked up by codes, at most */
};

/** Attempts of a round. Kernels set the bytes, dg_silent_decide_all the numbers, and kernels wipe all. */
typedef struct dg_silent_round {
    uint8_t of_attempt[4 + DG_SILENT_PLANES][DG_SILENT_GATHERED]; /* code, row, position, tick */
    uint8_t of_row[2][DG_SILENT_GATHERED];                        /* end */
    uint8_t of_code[DG_SILENT_OF_CODE]
                   [DG_SILENT_GATHERED]; /* c, lift; of blocks of one integer kept */
    /* of those that are decided together */
    uint64_t code[DG_SILENT_TOGETHER], rel[DG_SILENT_TOGETHER], length[DG_SILENT_TOGETHER];
    uint64_t c[DG_SILENT_TOGETHER], lift[DG_SILENT_TOGETHER];
    uint64_t number[DG_SILENT_TOGETHER]; /* z; of blocks of one integer the kept height */
    uint64_t height[DG_SILENT_TOGETHER];
} dg_silent_round;

/** Return how many bytes are looked up by codes. */
static inline size_t dg_silent_of_code(const dg_silent *silent)
{
    return silent->n_planes == 0 ? DG_SILENT_OF_CODE : 4;
}

/** Return the number whose bytes are n planes, the lowest first, at a place. */
DG_LANE_INLINE uint64_t dg_silent_number(uint8_t planes[][DG_SILENT_GATHERED], size_t n,
                                         size_t place)
{
    uint64_t number = 0;
    for (size_t k = 0; k < n; k++) {
        number |= (uint64_t)planes[k][place] << (8 * k);
    }
    return number;
}

/** Set the numbers of attempt i of those decided together, which is at a place of the round. */
DG_LANE_INLINE void dg_silent_set_numbers(dg_silent_round *of, size_t i, size_t place,
                                          const dg_silent *silent)
{
    const size_t n_planes = silent->n_planes;
    const uint64_t code = of->of_attempt[0][place];
    const uint64_t position = (uint64_t)of->of_attempt[2][place] << 8 | of->of_attempt[3][place];
    const uint64_t end = dg_silent_number(of->of_row, 2, place), is_first = less(position, end);
    of->code[i] = code;
    of->rel[i] = position - (end & ~is_first);
    of->length[i] = chosen(is_first, end, (UINT64_C(1) << 16) - end);
    of->c[i] = dg_silent_number(of->of_code, 3, place);
    of->lift[i] = of->of_code[3][place];
    of->number[i] = n_planes == 0 ? dg_silent_number(of->of_code + 4, 7, place)
                                  : (code & 127) << silent->block_bits |
                                        dg_silent_number(of->of_attempt + 4, n_planes, place) >>
                                            (8 * n_planes - silent->block_bits);
}

/** How many of a batch's words were asked for. */
typedef struct dg_silent_words {
    const uint8_t *of_batch; /* DG_SILENT_WORDS of 8 bytes */
    uint64_t n_taken;
    uint64_t
        doubtful; /* not 0: one more word may be taken, by an attempt that is decided whether or not it is */
    uint64_t
        undecided; /* not 0: an attempt is undecided, is in a tail and not rejected, or needs another word */
} dg_silent_words;

/** Return word i of a batch, or 0 if it has fewer, reading all its words. */
DG_LANE_INLINE uint64_t dg_silent_word(const uint8_t *words, uint64_t i)
{
    uint64_t word = 0;
    for (uint64_t k = 0; k < DG_SILENT_WORDS; k++) {
        word |= load_word(words + 8 * k) & dg_mask(0 - (uint64_t)(k == i));
    }
    return word;
}

/** Set x to 2^52 2^lift g, rounded as the law's bounds say. */
DG_LANE_INLINE void dg_silent_heights(uint64_t *x, size_t n, const dg_silent_round *of,
                                      const dg_silent *silent)
{
    const dg_lanes *lanes = &silent->lanes;
    for (size_t i = 0; i < n; i++) {
        const uint64_t z = of->number[i], left = dg_mask(0 - (of->code[i] >> 7));
        if (silent->block_bits == 0) {
            x[i] = z;
            continue;
        }
        const uint64_t exponent = law_exponent_at(z, left, lanes);
        const uint64_t lifted = exponent - (of->lift[i] << DG_LANE_BITS);
        x[i] =
            lifted & ~filled(lifted); /* an exponent is below 2^62; one next to 0 may be below 0 */
    }
    for (size_t i = 0; silent->block_bits > 0 && i < n; i += DG_LANE_TOGETHER) {
        heights_of(x + i, DG_LANE_TOGETHER);
    }
}

/** Decide attempts as dg_silent_settle does. Let T = 2^(52 + lift) L H g, from `low` to `up`, and unit = 2^(52 + lift) c.
 *
 *  PROOF.md, lemma 10. T is more than low, or low itself where heights are kept that were cut; it is less than up.
 *  T >= (rel + 1) unit means accepted, T <= rel unit rejected, and an attempt is at a border if rel unit < T <
 *  (rel + 1) unit; this is known if rel unit < low, or rel is 0 as T > 0, and up <= (rel + 1) unit. 2^lift g is at most 1,
 *  and 1 only at z = 0 (g is transcendental elsewhere, or 1 at z = 0 on the left). So up is at most 2^52 L H where z > 0:
 *  without this, positions next to H of a piece of all c = H + 1 positions would stay undecided where g is nearly 1.
 *  An attempt that may be at a border or not is decided if the next word decides it in the same way at a border; then no
 *  later attempt may need a word.
 *
 *  Requires:  n is 4 or 8; the first n_waiting attempts wait, and are in the order of the batch.
 *  Returns:   bit i: attempt i is accepted, unless words->undecided is not 0.
 *  Cost:      depends on the law and n alone.
 */
DG_LANE_INLINE uint64_t dg_silent_decide(dg_silent_round *of, size_t n, uint64_t n_waiting,
                                         dg_silent_words *words, const dg_silent *silent)
{
    enum { SMALL_BITS = 26 }; /* a tail is rejected if f' is not below 2^26 2^-64 */
    uint64_t *const height = of->height, answers = 0;
    dg_silent_heights(height, n, of, silent);
    for (size_t i = 0; i < n; i++) {
        const uint64_t above = silent->above + of->lift[i] * silent->above_a_step;
        const uint64_t less_height = height[i] - above, c = of->c[i] << of->lift[i];
        const uint64_t product = of->length[i] * silent->height; /* below 2^40 */
        const dg_u128 low = (dg_u128)product * (less_height & ~filled(less_height));
        const uint64_t z = silent->block_bits == 0 ? of->code[i] & 127 : of->number[i];
        const uint64_t most_height = (UINT64_C(1) << DG_LANE_BITS) + (silent->below & ~less(0, z));
        const dg_u128 up = (dg_u128)product * least(height[i] + silent->below, most_height);
        const dg_u128 unit = (dg_u128)c << DG_LANE_BITS, rel = of->rel[i] * unit;
        const uint64_t waits = less(i, n_waiting);
        const uint64_t tail = dg_mask(0 - (uint64_t)((of->code[i] & 127) == DG_SILENT_TAIL));
        const uint64_t sure = dg_mask(0 - (uint64_t)(rel + unit <= low)) & ~tail;
        const uint64_t never = dg_mask(0 - (uint64_t)(rel >= up)) & ~tail;
        const uint64_t from_rel = dg_mask(0 - (uint64_t)((rel < low) | (of->rel[i] == 0)));
        const uint64_t to_next = dg_mask(0 - (uint64_t)(up <= rel + unit));
        const uint64_t border = from_rel & to_next & ~(sure | never | tail);
        const uint64_t word = dg_silent_word(words->of_batch, words->n_taken);
        /* (rel + f') unit < T, f' from word/2^64 to (word + 1)/2^64; unit/2^64 is c/2^12 */
        const dg_u128 beyond_low = (low - rel) & ~(dg_u128)((dg_i128)(low - rel) >> 127);
        const uint64_t yes = dg_mask(0 - (uint64_t)(((dg_u128)word + 1) * c <= beyond_low << 12));
        const uint64_t no = dg_mask(0 - (uint64_t)((dg_u128)word * c >= (up - rel) << 12));
        const uint64_t is_small = dg_mask(0 - (uint64_t)(word >> SMALL_BITS == 0));
        const uint64_t in_batch = less(words->n_taken, DG_SILENT_WORDS);
        const uint64_t either = ~(sure | never | border | tail) & (yes | no) & in_batch;
        const uint64_t decided = sure | never | (border & (yes | no)) | either | (tail & ~is_small);
        words->undecided |= waits & (~decided | ((border | tail | either) & words->doubtful));
        words->doubtful |= waits & either;
        words->n_taken += (border | tail) & waits & 1;
        answers |= (waits & (sure | ((border | either) & yes)) & 1) << i;
    }
    words->undecided |= less(DG_SILENT_WORDS, words->n_taken);
    return answers;
}

/** Decide the attempts of a round, of which the first n_waiting wait. n: 4, or a multiple of 8. Returns, Cost: as
 *  dg_silent_decide. */
DG_LANE_INLINE uint64_t dg_silent_decide_all(dg_silent_round *of, size_t n, uint64_t n_waiting,
                                             dg_silent_words *words, const dg_silent *silent)
{
    uint64_t answers = 0;
    for (size_t first = 0; first < n; first += DG_SILENT_TOGETHER) {
        const size_t together = least(DG_SILENT_TOGETHER, n - first);
        for (size_t i = 0; i < together; i++) {
            dg_silent_set_numbers(of, i, first + i, silent);
        }
        const uint64_t waiting = n_waiting - least(first, n_waiting);
        answers |= dg_silent_decide(of, together, waiting, words, silent) << first;
    }
    return answers;
}

#endif
#endif
