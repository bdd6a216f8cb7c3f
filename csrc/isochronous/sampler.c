#include "isochronous/sampler.h"

#include "base/contract.h"
#include "base/memory.h"
#include "base/wipe.h"
#include "bounds/refine.h"
#include "isochronous/fixed_point.h"

#include <string.h>

#if DG_HAVE_WORDS

enum { CHEAP_BYTES = 32 }; /* for so many getrandom(2) takes as long as for one */

/* --- bounds of the law's exponent -------------------------------------------------------------
 *
 * E = log2(e) (phi(r) - phi(|f|)), r = |y - f| = delta + |f|, so that g = 2^-E. */

/** delta (delta + 2 |f|) rate: the Gaussian's. */
static inline dg_bounds gaussian_exponent(dg_bounds delta, const dg_isochronous *sampler)
{
    const unsigned shift = sampler->rate_shift - 64;
    const dg_u128 low = (dg_u128)delta.lower * (delta.lower + sampler->twice_f.lower);
    const dg_u128 high = (dg_u128)delta.upper * (delta.upper + sampler->twice_f.upper);
    const dg_u128 lower =
        (low >> 64) * sampler->rate.lower + dg_high_product((uint64_t)low, sampler->rate.lower);
    const dg_u128 upper = (high >> 64) * sampler->rate.upper +
                          dg_high_product((uint64_t)high, sampler->rate.upper) + 1;
    return (dg_bounds){dg_saturated(lower >> shift), dg_saturated((upper >> shift) + 1)};
}

/** delta rate: the Laplace's. */
static inline dg_bounds laplace_exponent(dg_bounds delta, const dg_isochronous *sampler)
{
    const dg_u128 lower = (dg_u128)delta.lower * sampler->rate.lower;
    const dg_u128 upper = (dg_u128)delta.upper * sampler->rate.upper;
    return (dg_bounds){dg_saturated(lower >> sampler->rate_shift),
                       dg_saturated((upper >> sampler->rate_shift) + 1)};
}

/** log2 of log2(e) (r / scale)^beta, r >= 1 unit, in units of exponents, within sampler->log_error
 *  where it is below 2^7 in size. */
static inline dg_i128 log_of_power(uint64_t r, const dg_isochronous *sampler)
{
    const dg_i128 ratio = dg_log2(r) - sampler->log_scale; /* below 2^7: 65 bits; beta below 2^62 */
    return ((ratio * sampler->beta) >> sampler->beta_shift) + sampler->log_factor;
}

/** 2^m, a mantissa shifted right: *mantissa >> *shift in units of exponents. Returns: all ones if
 *  m >= 6, where it does not hold. */
static inline uint64_t exp2_of(uint64_t *mantissa, uint64_t *shift, int64_t m)
{
    const uint64_t ones = (UINT64_C(1) << DG_EXPONENT_BITS) - 1;
    const uint64_t whole = (uint64_t)((m >> DG_EXPONENT_BITS) + 64); /* 0 ... 127 */
    *mantissa = dg_exp2_mantissa(ones - ((uint64_t)m & ones));
    *shift = dg_least(dg_difference(64 + 5, whole), 63);
    return dg_mask_less(64 + 5, whole);
}

dg_bounds dg_isochronous_power(dg_bounds distance, const dg_isochronous *sampler)
{
    const uint64_t is_positive = dg_mask_nonzero(distance.lower);
    const dg_i128 low = log_of_power(distance.lower | (1 & ~is_positive), sampler);
    const dg_i128 high =
        log_of_power(distance.upper | (1 & ~dg_mask_nonzero(distance.upper)), sampler);
    uint64_t mantissa, shift;
    dg_bounds power;
    uint64_t is_large = exp2_of(&mantissa, &shift, dg_saturated_signed(low - sampler->log_error));
    power.lower =
        dg_select(is_large, UINT64_C(64) << DG_EXPONENT_BITS, (mantissa - DG_EXP_ERROR) >> shift) &
        is_positive;
    is_large = exp2_of(&mantissa, &shift, dg_saturated_signed(high + sampler->log_error));
    power.upper = (((mantissa + DG_EXP_ERROR) >> shift) + 1) | is_large;
    return power;
}

/** log2(e) ((r / scale)^beta - (|f| / scale)^beta): the generalised Gaussian's. */
static inline dg_bounds generalized_exponent(dg_bounds delta, const dg_isochronous *sampler)
{
    const dg_bounds distance = {delta.lower + sampler->twice_f.lower / 2,
                                delta.upper + (sampler->twice_f.upper + 1) / 2};
    const dg_bounds power = dg_isochronous_power(distance, sampler);
    const uint64_t upper = power.upper - sampler->at_centre.lower;
    return (dg_bounds){dg_difference(power.lower, sampler->at_centre.upper),
                       (upper | ~dg_mask_nonzero(~power.upper)) & dg_mask_nonzero(delta.upper)};
}

/* --- one attempt --------------------------------------------------------------------------- */

/** z + an offset, 0 if that is negative. */
static inline uint64_t distance_from(uint64_t z, int64_t offset)
{
    const int64_t at = (int64_t)z + offset;
    return (uint64_t)(at & ~(at >> 63));
}

/** Bounds of delta = |y - f| - |f|. */
static inline dg_bounds delta_of(uint64_t block, uint64_t tick, uint64_t left,
                                 const dg_isochronous *sampler)
{
    const unsigned tick_shift =
        sampler->is_cut ? 0 : sampler->place_bits - (unsigned)sampler->block_bits;
    const uint64_t z = (block << sampler->place_bits) + (tick << tick_shift);
    const uint64_t *right = (const uint64_t *)sampler->offset[0];
    const uint64_t *on_left = (const uint64_t *)sampler->offset[1];
    const int64_t lower = (int64_t)dg_select(left, on_left[0], right[0]);
    const int64_t upper = (int64_t)dg_select(left, on_left[1], right[1]);
    return (dg_bounds){distance_from(z, lower), distance_from(z, upper + (int64_t)sampler->is_cut)};
}

static inline dg_bounds weight(uint64_t block, uint64_t tick, uint64_t left, uint64_t step,
                               const dg_isochronous *sampler)
{
    const dg_bounds delta = delta_of(block, tick, left, sampler);
    const uint64_t lift = step << DG_EXPONENT_BITS;
    dg_bounds exponent;
    switch (sampler->law->kind) {
    case DG_DISCRETE_GAUSSIAN:
        exponent = gaussian_exponent(delta, sampler);
        break;
    case DG_DISCRETE_LAPLACE:
        exponent = laplace_exponent(delta, sampler);
        break;
    default:
        exponent = generalized_exponent(delta, sampler);
    }
    return (dg_bounds){dg_exp2_lower(dg_difference(exponent.upper, lift)),
                       dg_exp2_upper(dg_difference(exponent.lower, lift))};
}

dg_bounds dg_isochronous_weight(uint64_t block, uint64_t tick, uint64_t left, uint64_t step,
                                const dg_isochronous *sampler)
{
    return weight(block, tick, left, step, sampler);
}

void dg_isochronous_attempt(dg_attempt *out, uint64_t choice, uint64_t point, uint64_t tick,
                            const dg_isochronous *sampler)
{
    const dg_u128 product = (dg_u128)choice * sampler->n_cells;
    const uint64_t cell = (uint64_t)(product >> 64);
    const uint64_t counts = ~dg_mask_less((uint64_t)product, sampler->excess);
    const uint64_t is_tail = ~dg_mask_less(cell, sampler->n_core);
    out->left = dg_mask(0 - (point & 1));
    point &= ~UINT64_C(1);
    const uint64_t ones = (uint64_t)__builtin_clzll(~point);
    const uint64_t is_beyond = is_tail & ~dg_mask_less(ones, DG_MOST_STEP);
    const uint64_t level = dg_least(ones, DG_MOST_STEP - 1);
    out->step = (level + 1) & is_tail;
    out->block = cell + ((level * sampler->n_tail) & is_tail);
    out->height = (point << out->step) >> 1;
    const dg_bounds bounds = weight(out->block, tick, out->left, out->step, sampler);
    const uint64_t end = out->height + (UINT64_C(1) << out->step);
    uint64_t is_below = ~dg_mask_less(bounds.lower, end) & ~is_beyond;
    uint64_t is_above = ~dg_mask_less(out->height, bounds.upper) & ~is_beyond;
    if (DG_ALWAYS_REFINE) {
        is_below = is_above = 0;
    }
    out->accepted = dg_mask(counts & is_below);
    out->undecided = dg_mask(counts & ~(is_below | is_above));
}

/* --- draws ---------------------------------------------------------------------------------- */

/** The level of an attempt beyond the steps that are decided: the leading ones of `point`, and if
 *  its 63 bits are ones, those of further bytes. */
static dg_status level_beyond(uint64_t *level, uint64_t point, dg_bits *bits)
{
    *level = (uint64_t)__builtin_clzll(~(point & ~UINT64_C(1)));
    uint32_t byte = 0xFF;
    while (*level >= 63 && byte == 0xFF) {
        DG_TRY(dg_bits_byte(&byte, bits));
        *level += byte == 0xFF ? 8 : (uint64_t)__builtin_clz(~(byte << 24));
    }
    return DG_OK;
}

/** y = z or -1 - z, z = block 2^block_bits + the low bits. */
static void set_y(mpz_t y, const dg_attempt *attempt, const uint8_t *low,
                  const dg_isochronous *sampler)
{
    mpz_t high;
    mpz_init2(high, sampler->law->limb_bits);
    mpz_import(high, 1, -1, sizeof attempt->block, 0, 0, &attempt->block);
    mpz_mul_2exp(high, high, sampler->block_bits);
    mpz_import(y, sampler->low_bytes, -1, 1, 0, 0, low);
    mpz_add(y, y, high);
    if (attempt->left != 0) {
        mpz_com(y, y);
    }
    dg_wipe_mpz(high);
    mpz_clear(high);
}

dg_status dg_isochronous_settle(dg_attempt *attempt, uint64_t point, const uint8_t *low,
                                const dg_isochronous *sampler, dg_bits *bits)
{
    if (attempt->step != 0) {
        uint64_t level;
        DG_TRY(level_beyond(&level, point, bits));
        attempt->block += (level + 1 - attempt->step) * sampler->n_tail;
        attempt->step = level + 1;
    }
    /* what is left of the point's 63 bits behind those that tell the step */
    const size_t n_bits =
        attempt->step < DG_ISOCHRONOUS_BITS ? DG_ISOCHRONOUS_BITS - attempt->step : 0;
    const uint64_t leading = n_bits == 0 ? 0 : (point >> 1) & ((UINT64_C(1) << n_bits) - 1);
    const dg_question question = {.height = 1, .m = 0, .level = attempt->step};
    bool accepted = false;
    mpz_t y, f;
    DG_TRY(dg_memory_at_hand(sampler->law->room_bytes));
    mpz_init2(y, sampler->law->limb_bits); /* room: limbs that GMP moved would stay behind */
    mpz_init2(f, sampler->law->limb_bits);
    set_y(y, attempt, low, sampler);
    mpz_import(f, 1, -1, sizeof leading, 0, 0, &leading);
    dg_status status = dg_refine(&accepted, f, n_bits, y, &question, sampler->law, bits);
    dg_wipe_mpz(y);
    dg_wipe_mpz(f);
    mpz_clears(y, f, NULL);
    attempt->accepted = accepted ? UINT64_MAX : 0;
    return status;
}

dg_status dg_isochronous_value(int64_t *out, const dg_isochronous *sampler, dg_bits *bits)
{
    DG_REQUIRES(sampler->fits_int64);
    const uint64_t low_mask = (UINT64_C(1) << sampler->block_bits) - 1;
    const size_t n_bytes = DG_ATTEMPT_BYTES + sampler->low_bytes;
    dg_attempt attempt;
    uint64_t choice, point, low;
    if (!dg_bits_from_caller(bits) && 2 * n_bytes <= CHEAP_BYTES) {
        bits->bytes_ahead = n_bytes; /* for the next attempt */
    }
    do {
        DG_TRY(dg_bits_refill(bits, n_bytes));
        DG_TRY(dg_bits_word(&choice, sizeof choice, bits));
        DG_TRY(dg_bits_word(&point, sizeof point, bits));
        DG_TRY(dg_bits_word(&low, sampler->low_bytes, bits));
        low &= low_mask;
        dg_isochronous_attempt(&attempt, choice, point, low, sampler);
        DG_PUBLIC(attempt.accepted);
        DG_PUBLIC(attempt.undecided);
        if (__builtin_expect(attempt.undecided != 0, 0)) {
            uint8_t bytes[8];
            for (size_t i = 0; i < sizeof bytes; i++) {
                bytes[i] = (uint8_t)(low >> (8 * i));
            }
            DG_TRY(dg_isochronous_settle(&attempt, point, bytes, sampler, bits));
            if (attempt.accepted != 0 && attempt.block >> (62 - DG_NARROW_BLOCK) != 0) {
                return DG_ERR_RANGE;
            }
        }
    } while (attempt.accepted == 0);
    const uint64_t z = (attempt.block << sampler->block_bits) | low;
    *out = (int64_t)((z ^ attempt.left) + (uint64_t)sampler->c);
    return DG_OK;
}

/* --- draws of any size ---------------------------------------------------------------------- */

/** Read the low bits into out, and the leading place_bits of them, at most, into *tick. */
static dg_status take_low(uint8_t *out, uint64_t *tick, const dg_isochronous *sampler,
                          dg_bits *bits)
{
    const size_t n = sampler->low_bytes;
    const size_t dropped = sampler->is_cut ? sampler->block_bits - sampler->place_bits : 0;
    *tick = 0;
    if (n == 0) {
        return DG_OK;
    }
    DG_TRY(dg_bits_take(out, n, bits));
    out[n - 1] &= (uint8_t)(0xFFu >> (8 * n - sampler->block_bits));
    for (size_t i = dropped / 8; i < n; i++) { /* at most 8 bytes: place_bits + 7 bits and less */
        *tick |= (uint64_t)out[i] << (8 * (i - dropped / 8));
    }
    *tick >>= dropped % 8;
    return DG_OK;
}

/** out[0 .. n_bytes) = c + y, where out[0 .. low_bytes) hold the low bits of z. */
static dg_status store_wide(uint8_t *out, size_t n_bytes, const dg_attempt *attempt,
                            const dg_isochronous *sampler)
{
    const size_t at = sampler->block_bits / 8, n_given = sampler->law->wide_bytes;
    dg_u128 high = (dg_u128)attempt->block << (sampler->block_bits % 8);
    memset(out + sampler->low_bytes, 0, n_bytes - sampler->low_bytes);
    for (size_t i = at; i < n_bytes && i < at + 9; i++) {
        out[i] |= (uint8_t)high;
        high >>= 8;
    }
    uint8_t lost = (uint8_t)(dg_mask_nonzero((uint64_t)high) & 1) | out[n_bytes - 1] >> 7;
    const uint8_t *c = sampler->centre_bytes;
    const uint8_t c_sign = c[n_given - 1] >> 7, sign = (uint8_t)(attempt->left & 1);
    unsigned carry = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        carry += (unsigned)(out[i] ^ (uint8_t)attempt->left);
        carry += i < n_given ? c[i] : c_sign * 255u;
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    lost |= (uint8_t)(~(sign ^ c_sign) & (sign ^ out[n_bytes - 1] >> 7) & 1);
    DG_PUBLIC(lost); /* never, but for a probability below 2^-128 */
    return lost ? DG_ERR_RANGE : DG_OK;
}

dg_status dg_isochronous_bytes(uint8_t *out, size_t n_bytes, const dg_isochronous *sampler,
                               dg_bits *bits)
{
    if (n_bytes < sampler->law->wide_bytes || n_bytes <= sampler->low_bytes) {
        return DG_ERR_RANGE;
    }
    dg_attempt attempt;
    uint64_t choice, point, tick;
    do {
        bits->bytes_ahead = sizeof point + sampler->low_bytes;
        DG_TRY(dg_bits_word(&choice, sizeof choice, bits));
        DG_TRY(dg_bits_word(&point, sizeof point, bits));
        bits->bytes_ahead = 0;
        DG_TRY(take_low(out, &tick, sampler, bits));
        dg_isochronous_attempt(&attempt, choice, point, tick, sampler);
        DG_PUBLIC(attempt.accepted);
        DG_PUBLIC(attempt.undecided);
        if (__builtin_expect(attempt.undecided != 0, 0)) {
            DG_TRY(dg_isochronous_settle(&attempt, point, out, sampler, bits));
        }
    } while (attempt.accepted == 0);
    return store_wide(out, n_bytes, &attempt, sampler);
}

#endif
