#include "api/add.h"

#include "api/pause.h"
#include "base/contract.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/wipe.h"

#include <string.h>

/* How many integers are handled at a time, as 64-bit words that stay in a core's first cache. */
enum { PART = 512 };

/* --- int64 plus int64, the usual case: in place -------------------------------------------------- */

/** Add in place. Returns: in its top bit, whether some sum has a sign that neither summand has. */
static inline uint64_t add(int64_t *to, const int64_t *addend, size_t n)
{
    uint64_t overflows = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)to[i], y = (uint64_t)addend[i], sum = x + y;
        overflows |= (x ^ sum) & (y ^ sum);
        to[i] = (int64_t)sum;
    }
    return overflows;
}

/** Do what `add` does, but write 0 where is_null is 1, and ignore those sums. */
static inline uint64_t add_not_null(int64_t *to, const int64_t *addend, const uint8_t *is_null,
                                    size_t n)
{
    uint64_t overflows = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = (uint64_t)to[i], y = (uint64_t)addend[i], sum = x + y;
        const uint64_t not_null = (uint64_t)is_null[i] - 1; /* all bits, or none */
        overflows |= (x ^ sum) & (y ^ sum) & not_null;
        to[i] = (int64_t)(sum & not_null);
    }
    return overflows;
}

static uint64_t add_words(int64_t *to, const int64_t *addend, const uint8_t *is_null, size_t n)
{
    enum { BLOCK = 64 }; /* mostly without a null, so nothing is masked */
    if (is_null == NULL) {
        return add(to, addend, n);
    }
    uint64_t overflows = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t m = n - i < BLOCK ? n - i : BLOCK;
        if (memchr(is_null + i, 1, m) == NULL) {
            overflows |= add(to + i, addend + i, m);
        } else {
            overflows |= add_not_null(to + i, addend + i, is_null + i, m);
        }
    }
    return overflows;
}

/* --- other dtypes: a part at a time, as words ---------------------------------------------------- */

#define WIDEN(type)                                                                                \
    for (size_t i = 0; i < n; i++) {                                                               \
        out[i] = (uint64_t)((const type *)values)[first + i];                                      \
    }                                                                                              \
    break

/** Read integers as words, in two's complement if the dtype is signed. */
static void widen(uint64_t *out, size_t n, const void *values, size_t first, dg_dtype dtype)
{
    switch (dtype) {
    case DG_INT8:
        WIDEN(int8_t);
    case DG_INT16:
        WIDEN(int16_t);
    case DG_INT32:
        WIDEN(int32_t);
    case DG_UINT8:
        WIDEN(uint8_t);
    case DG_UINT16:
        WIDEN(uint16_t);
    case DG_UINT32:
        WIDEN(uint32_t);
    default:
        memcpy(out, (const uint64_t *)values + first, n * sizeof *out);
    }
}

/** Read the integers that are added to draws [first, first + n). */
static void read_addend(uint64_t *out, size_t n, size_t first, const dg_sums *sums)
{
    if (sums->stride == 1) {
        widen(out, n, sums->addend.values, first, sums->addend.dtype);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = *(const uint64_t *)sums->addend.values;
    }
}

/** Return all bits if the top bit of `top` is set, else none. */
static inline uint64_t all_if(uint64_t top)
{
    return 0 - (top >> 63);
}

static inline uint64_t not_null(const uint8_t *is_null, size_t i)
{
    return is_null == NULL ? UINT64_MAX : (uint64_t)is_null[i] - 1;
}

/** Return x + d as int64. x is unsigned if is_unsigned has all bits, signed if it has none. *lost: in its top bit,
 *  whether int64 does not hold the sum. */
static inline uint64_t sum_of(uint64_t *lost, uint64_t x, uint64_t d, uint64_t is_unsigned)
{
    const uint64_t sum = x + d;
    const uint64_t above = x & is_unsigned; /* x >= 2^63: x + d < 2^63 fits only if d < 0 */
    *lost = (above & (~d | sum)) | (~above & (x ^ sum) & (d ^ sum));
    return sum;
}

static uint64_t refuse(uint64_t *to, const uint64_t *addend, const uint8_t *is_null, size_t n,
                       uint64_t is_unsigned)
{
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t lost;
        const uint64_t sum = sum_of(&lost, addend[i], to[i], is_unsigned);
        any |= lost & not_null(is_null, i);
        to[i] = sum & not_null(is_null, i);
    }
    return any;
}

/** Write sums of int64 and int64 as uint64. Returns: in its top bit, whether some sum is negative. */
static uint64_t refuse_negative(uint64_t *to, const uint64_t *addend, size_t n)
{
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = addend[i], d = to[i], sum = x + d;
        any |= (x & d) | ((x ^ d) & sum);
        to[i] = sum;
    }
    return any;
}

static void clamp(uint64_t *to, const uint64_t *addend, const uint8_t *is_null, size_t n,
                  uint64_t is_unsigned)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t lost;
        const uint64_t sum = sum_of(&lost, addend[i], to[i], is_unsigned);
        /* a sum that does not fit has the sign of its integer */
        const uint64_t end = (uint64_t)INT64_MAX ^ all_if(addend[i] & ~is_unsigned);
        to[i] = ((sum & ~all_if(lost)) | (end & all_if(lost))) & not_null(is_null, i);
    }
}

/** Return x modulo `modulus`. If `negative` has all bits, x is in two's complement; if it has none, x is unsigned. */
static inline uint64_t remainder_of(uint64_t x, uint64_t negative, uint64_t modulus)
{
    const uint64_t remainder = (x ^ negative) % modulus; /* of -1 - x, if x is negative */
    return (remainder & ~negative) | ((modulus - 1 - remainder) & negative);
}

static void reduce(uint64_t *to, const uint64_t *addend, const uint8_t *is_null, size_t n,
                   uint64_t is_unsigned, uint64_t modulus)
{
    const uint64_t below = modulus - 1; /* 2^64 - 1 if modulus is 0, which means 2^64 */
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = addend[i] + to[i];
        if ((modulus & below) == 0) {
            sum &= below;
        } else {
            const uint64_t x = remainder_of(addend[i], all_if(addend[i] & ~is_unsigned), modulus);
            const uint64_t d = remainder_of(to[i], all_if(to[i]), modulus);
            sum = x + d - (x >= modulus - d ? modulus : 0);
        }
        to[i] = sum & not_null(is_null, i);
    }
}

/** Add integers, as words, to draws. Returns: in its top bit, whether a sum is refused. */
static uint64_t add_part(uint64_t *to, const uint64_t *addend, size_t first, size_t n,
                         const dg_sums *sums)
{
    const dg_addend *by = &sums->addend;
    const uint8_t *is_null = by->is_null == NULL ? NULL : by->is_null + first;
    const uint64_t is_unsigned = by->dtype > DG_INT64 ? UINT64_MAX : 0;
    switch (by->overflow) {
    case DG_CLAMP:
        clamp(to, addend, is_null, n, is_unsigned);
        return 0;
    case DG_REDUCE:
        reduce(to, addend, is_null, n, is_unsigned, by->modulus);
        return 0;
    default:
        return sums->dtype == DG_UINT64 ? refuse_negative(to, addend, n)
                                        : refuse(to, addend, is_null, n, is_unsigned);
    }
}

dg_status dg_add(void *out, size_t first, size_t end, const dg_sums *sums)
{
    const dg_addend *by = &sums->addend;
    const size_t item_bytes = dg_dtype_size(sums->dtype);
    uint64_t lost = 0;
    dg_status status = DG_OK;
    if (by->dtype == DG_INT64 && by->overflow == DG_REFUSE && sums->dtype == DG_INT64 &&
        sums->stride == 1) {
        const uint8_t *is_null = by->is_null == NULL ? NULL : by->is_null + first;
        lost = add_words((int64_t *)out + first, (const int64_t *)by->values + first, is_null,
                         end - first);
        DG_PUBLIC(lost);
        return lost >> 63 != 0 ? DG_ERR_RANGE : DG_OK;
    }
    uint64_t addend[PART], draws[PART];
    for (size_t stop; first < end; first = stop) {
        const size_t n = end - first < PART ? end - first : PART;
        uint64_t *to = item_bytes == 8 ? (uint64_t *)out + first : draws;
        stop = first + n;
        read_addend(addend, n, first, sums);
        if (to == draws) {
            widen(draws, n, out, first, dg_draws_of_sums(sums));
        }
        lost |= add_part(to, addend, first, n, sums);
        if (to == draws) {
            const dg_status stored = dg_dtype_store_all((uint8_t *)out + first * item_bytes, n,
                                                        sums->dtype, (const int64_t *)draws);
            status = stored != DG_OK ? stored : status;
        }
    }
    dg_wipe(addend, sizeof addend);
    dg_wipe(draws, sizeof draws);
    DG_PUBLIC(lost);
    return lost >> 63 != 0 ? DG_ERR_RANGE : status;
}

/* --- ends ---------------------------------------------------------------------------------------- */

/* Keys are integers in the order of unsigned words. Those of signed integers have the sign bit flipped. */

typedef struct ends {
    uint64_t least, greatest, bits;
} ends;

static void find_ends(ends *of, const uint64_t *values, const uint8_t *is_null, size_t n,
                      uint64_t sign)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = values[i] ^ sign, here = not_null(is_null, i);
        of->least = (key | ~here) < of->least ? key : of->least;
        of->greatest = (key & here) > of->greatest ? key : of->greatest;
    }
}

/** Collect in `bits` the bits that differ from the ones below them, or all bits if the integers are unsigned. */
static void find_bits(ends *of, const uint64_t *values, const uint8_t *is_null, size_t n,
                      uint64_t sign)
{
    const unsigned shift = sign != 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        bits |= (values[i] ^ (values[i] << 1 & (0 - (uint64_t)shift))) & not_null(is_null, i);
    }
    of->bits |= bits;
}

dg_status dg_addend_ends(uint64_t out[2], size_t n, const dg_addend *addend, int exactly,
                         const dg_run *run)
{
    if (!dg_is_dtype(addend->dtype)) {
        return DG_ERR_ADDEND_DTYPE;
    }
    const uint64_t sign = addend->dtype > DG_INT64 ? 0 : UINT64_C(1) << 63;
    ends found = {.least = UINT64_MAX, .greatest = 0};
    uint64_t words[PART];
    for (size_t first = 0, m; first < n; first += m) {
        m = n - first < PART ? n - first : PART;
        const uint64_t *values = words;
        if (dg_dtype_size(addend->dtype) < 8) {
            widen(words, m, addend->values, first, addend->dtype);
        } else {
            values = (const uint64_t *)addend->values + first;
        }
        const uint8_t *is_null = addend->is_null == NULL ? NULL : addend->is_null + first;
        if (exactly) {
            find_ends(&found, values, is_null, m, sign);
        } else {
            find_bits(&found, values, is_null, m, sign);
        }
        DG_TRY(dg_pause_at(first + m - 1, run));
    }
    if (!exactly) { /* from -2^k, or 0, to 2^k - 1 */
        unsigned n_bits = found.bits == 0 ? 0 : 64 - (unsigned)__builtin_clzll(found.bits);
        n_bits -= sign != 0 && n_bits > 0;
        out[1] = n_bits == 0 ? 0 : UINT64_MAX >> (64 - n_bits);
        out[0] = sign != 0 && found.bits != 0 ? ~out[1] : 0;
        return DG_OK;
    }
    const uint64_t none = found.least > found.greatest ? UINT64_MAX : 0;
    out[0] = (found.least ^ sign) & ~none;
    out[1] = (found.greatest ^ sign) & ~none;
    return DG_OK;
}
