#include "isochronous/narrow.h"

#include "base/memory.h"
#include "base/wipe.h"
#include "bounds/refine.h"
#include "isochronous/lane_attempt.h"

#if DG_HAVE_WORDS

/* --- draws that the kernels leave undecided ---------------------------------------------------- */

enum { PLACE_UNITS = 4 }; /* units of v for each place of a tail */

/** A question about y for dg_refine. f' begins with the n_bits of `bits`. */
typedef struct question_about {
    int64_t y;
    dg_question question;
    uint32_t bits;
    size_t n_bits;
} question_about;

/** Ask whether a tail's place is drawn. The ones before the stream's next zero count its level. */
static dg_status ask_tail(question_about *out, uint64_t place, size_t side, const dg_narrow *narrow,
                          dg_bits *bits)
{
    uint64_t level = 0;
    uint32_t byte;
    do {
        DG_TRY(dg_bits_byte(&byte, bits));
        level += byte == 0xFF ? 8 : (uint64_t)__builtin_clz(~(byte << 24));
    } while (byte == 0xFF);
    const int64_t size = (int64_t)(narrow->first[side] + place + level * narrow->n_tail[side]);
    *out = (question_about){.y = side == 0 ? size : -size,
                            .question = {.height = (uint32_t)narrow->height, .level = 31 + level}};
    return DG_OK;
}

/** Ask whether an outcome gets the unit of which it owns a part: W + f' < C g(y). */
static question_about ask_rest(size_t j, const dg_narrow *narrow)
{
    const uint64_t before = j == 0 ? 0 : narrow->threshold[j - 1];
    const uint64_t whole = (narrow->threshold[j] - before) >> narrow->has_sign;
    return (question_about){
        .y = narrow->least + (int64_t)j,
        .question = {.height = (uint32_t)narrow->height, .m = (uint32_t)(whole >> 32)},
        .bits = (uint32_t)whole,
        .n_bits = 32};
}

static dg_status answer(bool *yes, const question_about *of, const dg_law *law, dg_bits *bits)
{
    mpz_t y, f;
    DG_TRY(dg_memory_available(law->room_bytes));
    mpz_init2(y, law->limb_bits); /* GMP would leave limbs behind if it had to move them */
    mpz_init2(f, law->limb_bits);
    mpz_set_si(y, (long)of->y);
    mpz_set_ui(f, of->bits);
    const dg_status status = dg_refine(yes, f, of->n_bits, y, &of->question, law, bits);
    dg_wipe_mpz(y);
    dg_wipe_mpz(f);
    mpz_clears(y, f, NULL);
    return status;
}

dg_status dg_narrow_settle(int64_t *out, size_t *n_accepted, const dg_lanes *lanes, dg_bits *bits)
{
    const dg_narrow *narrow = lanes->narrow;
    const uint64_t end = narrow->threshold[narrow->n - 1];
    uint64_t u;
    question_about of = {.y = narrow->least};
    bool yes = true;
    *n_accepted = 0;
    DG_TRY(dg_bits_word(&u, sizeof u, bits));
    if (u < end) { /* only if DG_ALWAYS_REFINE settles every draw here */
        for (size_t j = 0; j + 1 < narrow->n; j++) {
            of.y += u >= narrow->threshold[j];
        }
    } else {
        uint64_t unit = (u - end) >> narrow->has_sign;
        if (unit < narrow->n) {
            of = ask_rest((size_t)unit, narrow);
            yes = of.y != 0; /* C g(0) is a whole number */
        } else {
            const uint64_t right = PLACE_UNITS * narrow->n_tail[0];
            const uint64_t left = narrow->has_sign ? 0 : PLACE_UNITS * narrow->n_tail[1];
            unit -= narrow->n;
            if (unit >= right + left) {
                return DG_OK;
            }
            const size_t side = unit >= right;
            DG_TRY(ask_tail(&of, (unit - (side ? right : 0)) / PLACE_UNITS, side, narrow, bits));
        }
        if (yes) {
            DG_TRY(answer(&yes, &of, lanes->law, bits));
        }
    }
    const int64_t y = narrow->has_sign && (u & 1) ? -of.y : of.y;
    *out = yes ? lanes->c + y : 0;
    *n_accepted = yes;
    return DG_OK;
}

/* --- the kernel in portable C ------------------------------------------------------------------ */

void dg_narrow_kernel_portable(int64_t *out, size_t *n_accepted, size_t *n_made,
                               const uint8_t *bytes, size_t n_attempts, const dg_lanes *lanes)
{
    const dg_narrow *narrow = lanes->narrow;
    const size_t n_thresholds = narrow->n - 1;
    const uint64_t sign = narrow->has_sign, end = narrow->undecided_from;
    const uint64_t least_draw = (uint64_t)lanes->c + (uint64_t)narrow->least;
    size_t made = 0;
    while (made < n_attempts) {
        const size_t n =
            n_attempts - made < DG_LANE_TOGETHER ? n_attempts - made : DG_LANE_TOGETHER;
        uint64_t u[DG_LANE_TOGETHER], j[DG_LANE_TOGETHER];
        for (size_t i = 0; i < DG_LANE_TOGETHER; i++) { /* fill up with the first one */
            u[i] = load_word(bytes + 8 * (made + (i < n ? i : 0)));
            j[i] = n_thresholds;
        }
        for (size_t k = 0; k < n_thresholds; k++) { /* subtract 1 for each one above u */
            const uint64_t threshold = narrow->threshold[k];
            DG_LANE_EACH(i, DG_LANE_TOGETHER)
            {
                j[i] -= u[i] < threshold;
            }
        }
        uint64_t undecided = 0;
        for (size_t i = 0; i < DG_LANE_TOGETHER; i++) {
            const uint64_t left = 0 - (u[i] & sign);
            undecided |= (uint64_t)(u[i] >= end) << i;
            out[made + i] = (int64_t)(((j[i] ^ left) - left) + least_draw);
        }
        undecided &= (UINT64_C(1) << n) - 1;
        DG_PUBLIC(undecided);
        if (__builtin_expect(undecided != 0, 0)) {
            made += (size_t)__builtin_ctzll(undecided);
            break;
        }
        made += n;
    }
    *n_accepted = *n_made = made;
}

#endif
