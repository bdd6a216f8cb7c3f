#include "isochronous/lane_laws.h"

#include "base/contract.h"
#include "isochronous/lane_attempt.h"

#if DG_HAVE_WORDS

enum {
    GAUSSIAN_OCTAVES = 14, /* sigma2 in blocks is below 2^14 */
    LAPLACE_OCTAVES = 7,   /* scale in blocks is below 2^7 */
    MOST_GAUSSIAN_OCTAVE = 61,
    MOST_LAPLACE_OCTAVE = 41, /* blocks have at most 2^35 integers: distances leave no bit out */
    LEAST_LAPLACE_OCTAVE = -11,
    LEAST_OFF_CENTRE = -4, /* below, the errors of heights would be too large */
    LEAST = -DG_LANE_LEAST_OCTAVE,
    STEPS = 1 << DG_LANE_OCTAVE_BITS,
    EXACT = 2 /* above and above_a_step, if no distance is rounded (PROOF.md, lemma 14) */
};

/* log2(e) times 2^30 and 2^63, rounded down */
static const uint64_t LOG2_E_30 = UINT64_C(0x5C551D94), LOG2_E_63 = UINT64_C(0xB8AA3B295C17F0BB);

/* --- constants ------------------------------------------------------------------------------ */

/** Build the staircases of laws whose centre f has 2 max(f, 0) <= most_twice_f. */
static void build_staircases(uint8_t n[][3], uint64_t most_twice_f, bool squared)
{
    uint64_t core = 1, end = 2;
    const int n_octaves = LEAST + (squared ? GAUSSIAN_OCTAVES : LAPLACE_OCTAVES);
    for (int octave = 0; octave < n_octaves; octave++) {
        for (uint64_t step = 0; step < STEPS; step++, n++) {
            /* parameters are below next 2^-(LEAST + DG_LANE_OCTAVE_BITS) */
            const uint64_t next = (STEPS + step + 1) << octave;
            if (squared) { /* log2(e) C (C - t) >= 2 sigma2; the same for the tail's level */
                const uint64_t least = next << (1 + 30 - LEAST - DG_LANE_OCTAVE_BITS);
                while (core * (core - most_twice_f) * LOG2_E_30 < least) {
                    core++;
                }
                while ((end - core) * (end + core - most_twice_f) * LOG2_E_30 < least) {
                    end++;
                }
            } else { /* log2(e) (C - t) >= scale, log2(e) K >= scale */
                while ((core - most_twice_f) * LOG2_E_30 <
                       next << (30 - LEAST - DG_LANE_OCTAVE_BITS)) {
                    core++;
                }
                end = 2 * core - most_twice_f;
            }
            (*n)[0] = (uint8_t)core;
            (*n)[1] = (uint8_t)(end - core);
            (*n)[2] = (uint8_t)((1u << 16) % (unsigned)end);
        }
    }
}

void dg_lane_staircases_build(dg_lane_staircases *out, dg_law_kind kind, bool off_centre)
{
    DG_REQUIRES(kind == DG_DISCRETE_LAPLACE || kind == DG_DISCRETE_GAUSSIAN);
    out->squared = kind == DG_DISCRETE_GAUSSIAN;
    out->off_centre = off_centre;
    build_staircases(out->n[0], 0, out->squared);
    if (off_centre) {
        build_staircases(out->n[1], 1, out->squared);
    }
}

void dg_lane_laws_open(dg_lane_laws *laws, const dg_lane_staircases *staircases, dg_isa isa)
{
    laws->squared = staircases->squared;
    laws->is_long = false;
    laws->n = 0;
    laws->isa = DG_ISA_PORTABLE;
#if DG_ISA_X86_64
    const dg_isa best = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    if (best == DG_ISA_AVX512_VBMI2 && dg_isa_has_ifma()) {
        laws->isa = best;
    }
#else
    (void)isa;
#endif
}

/** Bounds of a positive number: [mantissa, mantissa_up] 2^(octave - 63), with 2^63 <= mantissa. */
typedef struct leading {
    uint64_t mantissa, mantissa_up; /* equal, or one apart */
    int octave;
} leading;

static leading leading_of(uint64_t num, uint64_t den, int exponent)
{
    const int num_zeros = __builtin_clzll(num), den_zeros = __builtin_clzll(den);
    const uint64_t n = num << num_zeros, d = den << den_zeros;
    const int octave = den_zeros - num_zeros + exponent;
    if (d << 1 == 0) {
        return (leading){n, n, octave};
    }
    const unsigned is_less = n < d;
    const dg_u128 scaled = (dg_u128)n << (63 + is_less);
    const uint64_t mantissa = (uint64_t)(scaled / d);
    const uint64_t is_cut = (uint64_t)scaled != mantissa * d;
    return (leading){mantissa, mantissa + is_cut, octave - (int)is_less};
}

/** Return bounds of (root 2^exponent)^2. Requires: 0 < root < 2^53. */
static leading leading_of_square(uint64_t root, int exponent)
{
    const uint64_t most = root << __builtin_clzll(root); /* root 2^zeros, from 2^63 to 2^64 */
    const dg_u128 square = (dg_u128)most * most;
    const unsigned is_less = square >> 127 == 0;
    const dg_u128 scaled = square << is_less;
    const uint64_t mantissa = (uint64_t)(scaled >> 64);
    const int octave = 2 * (63 - __builtin_clzll(root) + exponent) + 1 - (int)is_less;
    return (leading){mantissa, mantissa + ((uint64_t)scaled != 0), octave};
}

/** Return whether a centre is in [-1/2, 1/2). */
static bool is_near_zero(uint64_t size, const dg_lane_number *centre)
{
    if (size == 0 || centre->den <= 0 || centre->exponent > 0) {
        return size == 0 && centre->den > 0;
    }
    const int down = centre->exponent < -64 ? 64 : -centre->exponent;
    const dg_u128 end = (dg_u128)(uint64_t)centre->den << down, twice = (dg_u128)size * 2;
    return twice < end || (twice == end && centre->num < 0);
}

/** Return floor(2 size/den 2^(exponent + places)), and set *rounded. Requires: is_near_zero. */
static uint64_t twice_in_units(bool *rounded, uint64_t size, const dg_lane_number *centre,
                               int places)
{
    const uint64_t den = (uint64_t)centre->den;
    if ((den & (den - 1)) == 0) {
        const int up = places + 1 + centre->exponent - __builtin_ctzll(den);
        if (up >= 0) {
            *rounded = false;
            return size << up;
        }
        const uint64_t units = up > -64 ? size >> -up : 0;
        *rounded = up > -64 ? units << -up != size : size != 0;
        return units;
    }
    const dg_u128 scaled = (dg_u128)size << (places + 1);
    const uint64_t units = (uint64_t)(scaled / den);
    *rounded = (dg_u128)units * den != scaled;
    return units;
}

/** Return `above` of laws whose distances are rounded: PROOF.md, lemma 18. */
static uint64_t above_of(bool squared, int within, int block_bits, int places)
{
    const int shift = DG_LANE_BITS - places - block_bits - within;
    const uint64_t fixed = squared ? 3 * (42 + (shift > 0 ? UINT64_C(3) << shift >> 2 : 1)) : 739;
    return (7 * (21 + 10 * fixed) + 99) / 100;
}

/** Add the law of a parameter with these bounds, and a centre. */
static inline bool add_law(dg_lane_laws *laws, const dg_lane_staircases *staircases, leading of,
                           const dg_lane_number *centre)
{
    const bool squared = staircases->squared;
    DG_REQUIRES(laws->n < DG_LANE_LAWS && laws->squared == squared && of.mantissa_up > 0);
    const uint64_t size = centre->num < 0 ? 0 - (uint64_t)centre->num : (uint64_t)centre->num;
    if (!is_near_zero(size, centre) || (size != 0 && !staircases->off_centre)) {
        return false;
    }
    const int least = size != 0 ? LEAST_OFF_CENTRE : squared ? -LEAST : LEAST_LAPLACE_OCTAVE;
    if (of.octave < least || of.octave > (squared ? MOST_GAUSSIAN_OCTAVE : MOST_LAPLACE_OCTAVE)) {
        return false;
    }
    /* the parameter's octave is `within` in blocks; at 2^reach blocks the exponent is above 110 */
    int block_bits = 0, within = of.octave, reach;
    if (squared && of.octave >= GAUSSIAN_OCTAVES) {
        block_bits = (of.octave - GAUSSIAN_OCTAVES) / 2 + 1;
        within = of.octave - 2 * block_bits;
    } else if (!squared && of.octave >= LAPLACE_OCTAVES) {
        block_bits = of.octave - LAPLACE_OCTAVES + 1;
        within = of.octave - block_bits;
    }
    reach = squared ? (within + 10 + LEAST) / 2 - LEAST / 2 : within + 8;
    const int places = DG_LANE_FARTHEST_BITS - reach;
    const uint64_t step = of.mantissa >> (63 - DG_LANE_OCTAVE_BITS) & (STEPS - 1);
    const uint8_t *n = staircases->n[centre->num > 0][(within + LEAST) * STEPS + (int)step];
    /* rate = log2(e)/(parameter in blocks): 51 or 52 places keep it from 2^51 to 2^52 */
    const unsigned rate_places = LOG2_E_63 < of.mantissa_up ? 52 : 51;
    const uint64_t rate = (uint64_t)(((dg_u128)LOG2_E_63 << rate_places) / of.mantissa_up);
    const int rate_shift = within + (squared ? 2 * places - 103 : places - 52) + (int)rate_places;
    bool rounded = false;
    const uint64_t twice_f =
        size == 0 ? 0 : twice_in_units(&rounded, size, centre, places - block_bits);
    const uint64_t above = rounded ? above_of(squared, within, block_bits, places) : EXACT;
    const size_t i = laws->n++;
    laws->rate[i] = rate;
    laws->shape[i] = (uint64_t)n[0] | (uint64_t)n[1] << 8 | (uint64_t)n[2] << 16 |
                     (uint64_t)block_bits << 24 | (uint64_t)rate_shift << 32 |
                     (uint64_t)(places - block_bits) << 40;
    laws->centre[i] = (uint64_t)(centre->num > 0) | (uint64_t)rounded << 1 | above << 2 |
                      twice_f << (2 + DG_LANE_ABOVE_BITS);
    laws->is_long |= block_bits > 16;
    return true;
}

bool dg_lane_laws_add(dg_lane_laws *laws, const dg_lane_staircases *staircases,
                      const dg_lane_number *parameter, const dg_lane_number *centre)
{
    const int64_t num = parameter->num, den = parameter->den;
    return num > 0 && den > 0 &&
           add_law(laws, staircases, leading_of((uint64_t)num, (uint64_t)den, parameter->exponent),
                   centre);
}

bool dg_lane_laws_add_root(dg_lane_laws *laws, const dg_lane_staircases *staircases, int64_t root,
                           int exponent, const dg_lane_number *centre)
{
    DG_REQUIRES(root < INT64_C(1) << 53);
    return root > 0 &&
           add_law(laws, staircases, leading_of_square((uint64_t)root, exponent), centre);
}

void dg_lane_laws_again(dg_lane_laws *laws)
{
    DG_REQUIRES(laws->n > 0 && laws->n < DG_LANE_LAWS);
    const size_t i = laws->n++;
    laws->rate[i] = laws->rate[i - 1];
    laws->shape[i] = laws->shape[i - 1];
    laws->centre[i] = laws->centre[i - 1];
}

DG_LANE_INLINE dg_lanes one_of(size_t which, bool squared, bool is_long, const dg_lane_laws *laws)
{
    const uint64_t shape = laws->shape[which], centre = laws->centre[which];
    const uint64_t n_core = shape & 0xFF, n_tail = shape >> 8 & 0xFF;
    const unsigned block_bits = shape >> 24 & 0xFF, units_up = shape >> 40 & 0xFF;
    const uint64_t above = centre >> 2 & ((1u << DG_LANE_ABOVE_BITS) - 1);
    const int64_t twice_f = (int64_t)(centre >> (2 + DG_LANE_ABOVE_BITS));
    const int64_t twice_f_up = twice_f + (int64_t)(centre >> 1 & 1);
    const bool is_positive = centre & 1;
    return (dg_lanes){
        .attempt_bytes = is_long ? 16 : 12,
        .squared = squared,
        .n_core = n_core,
        .n_tail = n_tail,
        .n_cells = n_core + n_tail,
        .excess = shape >> 16 & 0xFF,
        .low_mask = (UINT64_C(1) << block_bits) - 1,
        .block_bits = block_bits,
        .units_up = units_up,
        .offset = {is_positive ? -twice_f_up : 0,
                   (INT64_C(1) << units_up) - (is_positive ? 0 : twice_f_up)},
        .twice_f = (uint64_t)twice_f,
        .farthest = UINT64_C(1) << DG_LANE_FARTHEST_BITS,
        .rate = laws->rate[which],
        .rate_shift = shape >> 32 & 0xFF,
        .above = DG_ALWAYS_REFINE ? UINT64_C(2) << DG_LANE_BITS : above,
        .above_a_step = above,
        .below = DG_ALWAYS_REFINE ? UINT64_C(2) << DG_LANE_BITS : DG_LANE_BELOW,
    };
}

void dg_lane_laws_one(dg_lanes *out, size_t which, const dg_lane_laws *laws)
{
    *out = one_of(which, laws->squared, laws->is_long, laws);
}

/* --- draws ---------------------------------------------------------------------------------- */

DG_LANE_INLINE void make_attempts(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                                  bool is_long, bool squared, const dg_lane_laws *laws)
{
    for (; round->n_made < round->n_pending; round->n_made++, bytes += is_long ? 16 : 12) {
        const size_t which = round->pending[round->n_made];
        const dg_lanes of = one_of(which, squared, is_long, laws);
        dg_lane_found found = attempt_at(bytes, is_long, squared, &of);
        DG_PUBLIC(found.undecided);
        if (__builtin_expect(found.undecided != 0, 0)) {
            break;
        }
        DG_PUBLIC(found.accepted);
        out[which] = (int64_t)found.draw; /* overwritten later if it is not accepted */
        round->pending[round->n_kept] = which;
        round->n_kept += ~found.accepted & 1;
    }
}

void dg_lane_laws_attempt(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                          const dg_lane_laws *laws)
{
#if DG_ISA_X86_64
    if (laws->isa != DG_ISA_PORTABLE) {
        dg_lane_laws_attempt_avx512_ifma(out, round, bytes, laws);
        return;
    }
#endif
    if (laws->squared) {
        make_attempts(out, round, bytes, laws->is_long, true, laws);
    } else {
        make_attempts(out, round, bytes, laws->is_long, false, laws);
    }
}

dg_status dg_lane_laws_draw(int64_t out[DG_LANE_LAWS], size_t bytes_later, const dg_lane_laws *laws,
                            dg_lane_law_of *law_of, void *context, dg_bits *bits)
{
    const size_t attempt_bytes = laws->is_long ? 16 : 12;
    dg_lane_round round = {.n_pending = laws->n};
    for (size_t i = 0; i < laws->n; i++) {
        round.pending[i] = i;
    }
    while (round.n_pending > 0) {
        const size_t left = round.n_pending - round.n_made;
        if (left == 0) {
            round.n_pending = round.n_kept;
            round.n_made = round.n_kept = 0;
            continue;
        }
        bits->bytes_ahead = dg_bits_from_caller(bits) ? 0 : left * attempt_bytes / 2 + bytes_later;
        DG_TRY(dg_bits_refill(bits, left * attempt_bytes));
        const size_t before = round.n_made;
        dg_lane_laws_attempt(out, &round, bits->buffer + bits->position, laws);
        bits->position += (round.n_made - before) * attempt_bytes;
        if (__builtin_expect(round.n_made < round.n_pending, 0)) {
            const size_t which = round.pending[round.n_made++];
            size_t n_accepted = 0;
            dg_law *law;
            DG_TRY(law_of(&law, which, context));
            dg_lanes lanes;
            dg_lane_laws_one(&lanes, which, laws);
            lanes.law = law;
            const dg_status status = dg_lanes_settle(out + which, &n_accepted, &lanes, bits);
            dg_law_free(law);
            DG_TRY(status);
            round.pending[round.n_kept] = which;
            round.n_kept += 1 - n_accepted;
        }
    }
    return DG_OK;
}

#endif
