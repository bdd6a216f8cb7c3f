#include "isochronous/lane_laws.h"

#include "base/contract.h"
#include "isochronous/lane_attempt.h"

#if DG_HAVE_WORDS

enum {
    PLACES = DG_LANE_PLACES,
    GAUSSIAN_OCTAVES = 14, /* sigma2 in blocks is below 2^14 */
    LAPLACE_OCTAVES = 7,   /* scale in blocks is below 2^7 */
    MOST_GAUSSIAN_OCTAVE = 61,
    MOST_LAPLACE_OCTAVE = 41, /* blocks have at most 2^35 integers: distances leave no bit out */
    LEAST = -DG_LANE_LEAST_OCTAVE,
    STEPS = 1 << DG_LANE_OCTAVE_BITS
};

/* log2(e) times 2^30 and 2^63, rounded down */
static const uint64_t LOG2_E_30 = UINT64_C(0x5C551D94), LOG2_E_63 = UINT64_C(0xB8AA3B295C17F0BB);

/* --- constants ------------------------------------------------------------------------------ */

void dg_lane_staircases_build(dg_lane_staircases *out, dg_law_kind kind)
{
    DG_REQUIRES(kind == DG_DISCRETE_LAPLACE || kind == DG_DISCRETE_GAUSSIAN);
    out->squared = kind == DG_DISCRETE_GAUSSIAN;
    uint64_t core = 1, end = 2;
    const int n_octaves = LEAST + (out->squared ? GAUSSIAN_OCTAVES : LAPLACE_OCTAVES);
    for (int octave = 0; octave < n_octaves; octave++) {
        for (uint64_t step = 0; step < STEPS; step++) {
            /* parameters are below next 2^-(LEAST + DG_LANE_OCTAVE_BITS) */
            const uint64_t next = (STEPS + step + 1) << octave;
            if (out->squared) { /* log2(e) C^2 >= 2 sigma2, log2(e) (end^2 - C^2) >= 2 sigma2 */
                const uint64_t least = next << (1 + 30 - LEAST - DG_LANE_OCTAVE_BITS);
                while (core * core * LOG2_E_30 < least) {
                    core++;
                }
                while ((end * end - core * core) * LOG2_E_30 < least) {
                    end++;
                }
            } else { /* log2(e) C >= scale */
                while (core * LOG2_E_30 < next << (30 - LEAST - DG_LANE_OCTAVE_BITS)) {
                    core++;
                }
                end = 2 * core;
            }
            uint8_t *n = out->n[octave * STEPS + (int)step];
            n[0] = (uint8_t)core;
            n[1] = (uint8_t)(end - core);
            n[2] = (uint8_t)((1u << 16) % (unsigned)end);
        }
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

bool dg_lane_laws_add(dg_lane_laws *laws, const dg_lane_staircases *staircases, uint64_t num,
                      int exponent)
{
    DG_REQUIRES(laws->n < DG_LANE_LAWS && laws->squared == staircases->squared);
    if (num == 0) {
        return false;
    }
    const int zeros = __builtin_clzll(num), octave = 63 - zeros + exponent;
    const int most = laws->squared ? MOST_GAUSSIAN_OCTAVE : MOST_LAPLACE_OCTAVE;
    if (octave < DG_LANE_LEAST_OCTAVE || octave > most) {
        return false;
    }
    /* the parameter is mantissa 2^(octave - 63); in blocks, its octave is `within` */
    const uint64_t mantissa = num << zeros;
    int block_bits = 0, within = octave;
    if (laws->squared && octave >= GAUSSIAN_OCTAVES) {
        block_bits = (octave - GAUSSIAN_OCTAVES) / 2 + 1;
        within = octave - 2 * block_bits;
    } else if (!laws->squared && octave >= LAPLACE_OCTAVES) {
        block_bits = octave - LAPLACE_OCTAVES + 1;
        within = octave - block_bits;
    }
    const uint64_t step = mantissa >> (63 - DG_LANE_OCTAVE_BITS) & (STEPS - 1);
    const uint8_t *n = staircases->n[(within + LEAST) * STEPS + (int)step];
    /* rate = log2(e)/(parameter in blocks): 51 or 52 places keep it from 2^51 to 2^52 */
    const unsigned places = LOG2_E_63 < mantissa ? 52 : 51;
    const uint64_t rate = (uint64_t)(((dg_u128)LOG2_E_63 << places) / mantissa);
    int rate_shift, log_farthest;
    if (laws->squared) {
        rate_shift = within + 2 * PLACES - 103 + (int)places;
        log_farthest = (within + 10 + LEAST) / 2 - LEAST / 2 + PLACES;
    } else {
        rate_shift = within + PLACES - 52 + (int)places;
        log_farthest = within + 8 + PLACES;
    }
    const size_t i = laws->n++;
    laws->rate[i] = rate;
    laws->shape[i] = (uint64_t)n[0] | (uint64_t)n[1] << 8 | (uint64_t)n[2] << 16 |
                     (uint64_t)block_bits << 24 | (uint64_t)rate_shift << 32 |
                     (uint64_t)log_farthest << 40;
    laws->is_long |= block_bits > 16;
    return true;
}

DG_LANE_INLINE dg_lanes one_of(uint64_t rate, uint64_t shape, bool squared, bool is_long)
{
    const uint64_t n_core = shape & 0xFF, n_tail = shape >> 8 & 0xFF;
    const unsigned block_bits = shape >> 24 & 0xFF;
    return (dg_lanes){
        .attempt_bytes = is_long ? 16 : 12,
        .squared = squared,
        .n_core = n_core,
        .n_tail = n_tail,
        .n_cells = n_core + n_tail,
        .excess = shape >> 16 & 0xFF,
        .low_mask = (UINT64_C(1) << block_bits) - 1,
        .block_bits = block_bits,
        .units_up = PLACES - block_bits,
        .offset = {0, INT64_C(1) << (PLACES - block_bits)},
        .farthest = UINT64_C(1) << (shape >> 40 & 0xFF),
        .rate = rate,
        .rate_shift = shape >> 32 & 0xFF,
        .above = DG_LANE_ABOVE,
        .above_a_step = DG_LANE_ABOVE,
        .below = DG_ALWAYS_REFINE ? DG_LANE_ABOVE : DG_LANE_BELOW,
    };
}

void dg_lane_laws_one(dg_lanes *out, size_t which, const dg_lane_laws *laws)
{
    *out = one_of(laws->rate[which], laws->shape[which], laws->squared, laws->is_long);
}

/* --- draws ---------------------------------------------------------------------------------- */

DG_LANE_INLINE void make_attempts(int64_t *out, dg_lane_round *round, const uint8_t *bytes,
                                  bool is_long, bool squared, const dg_lane_laws *laws)
{
    for (; round->n_made < round->n_pending; round->n_made++, bytes += is_long ? 16 : 12) {
        const size_t which = round->pending[round->n_made];
        const dg_lanes of = one_of(laws->rate[which], laws->shape[which], squared, is_long);
        dg_lane_found found = attempt_at(bytes, is_long, squared, &of);
        DG_PUBLIC(found.undecided);
        if (__builtin_expect(found.undecided != 0, 0)) {
            break;
        }
        DG_PUBLIC(found.accepted);
        out[which] = (int64_t)found.draw; /* written again, if it is not accepted */
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
            dg_isochronous sampler = {.law = law};
            dg_lanes lanes =
                one_of(laws->rate[which], laws->shape[which], laws->squared, laws->is_long);
            sampler.n_tail = lanes.n_tail;
            sampler.block_bits = lanes.block_bits;
            sampler.low_bytes = (lanes.block_bits + 7) / 8;
            lanes.sampler = &sampler;
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
