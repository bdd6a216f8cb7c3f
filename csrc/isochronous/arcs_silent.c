/* Arcs: a = H g / c on each block by 16 bits and a bound of their error, and the planes that kernels read. Arcs are no
 * part of the format, and only cost time if they are wide; that no error exceeds its bound is what must be proven.
 *
 * Let x = tick/w, from 0 to 1, and A(x) = 2^16 a there. All errors are in units of 2^-16, which is 1 of A. A kernel
 * computes v by dg_silent_arc at q = floor(2^16 x). That no error is above its bound: PROOF.md, lemmas 7 to 9. */
#include "base/contract.h"
#include "isochronous/silent.h"
#include "isochronous/silent_decide.h"

#if DG_HAVE_WORDS

enum {
    PART_BITS = 16, /* errors are added up in parts of 2^-16 units */
    MOST_V = 65535,
    PLACES = 20,       /* binary places of rho and u */
    LAPLACE_ERROR = 13 /* PROOF.md, lemma 8 */
};

static const uint64_t PART = UINT64_C(1) << PART_BITS;

/** The numbers of a block that kernels look up. */
typedef struct arc {
    int64_t base, slope, bulge;
    uint64_t error; /* at most, in parts */
} arc;

/** Return value / 2^16, rounded to the nearest. */
static int64_t rounded(int64_t value)
{
    return (value + (1 << 15)) >> 16;
}

static uint64_t size_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/** Return 2^32 a by a height 2^52 g, and c's inverse floor((2^64 - 1)/c): at most 2 too low. */
static int64_t share_of(uint64_t height, uint64_t inverse, const dg_silent *silent)
{
    const uint64_t whole = (uint64_t)((dg_u128)height * silent->height >> 16); /* 2^36 H g < 2^60 */
    return (int64_t)((dg_u128)whole * inverse >> 68);
}

/** Return the arc through 2^32 a at x = 0, 1/2 and 1, and the sum of its errors: PROOF.md, lemma 7.
 *
 *  bow: |A - Q| is at most this on the block, Q the parabola through A(0), A(1/2), A(1). over: H/c, rounded up. */
static arc parabola(const int64_t share[3], uint64_t bow, uint64_t over, const dg_silent *silent)
{
    const int64_t first = share[0], last = share[2] < first ? share[2] : first;
    const int64_t middle = share[1] < last ? last : share[1] > first ? first : share[1];
    const int64_t base = rounded(first), slope = rounded(first - last),
                  bulge = rounded(4 * middle - 2 * (first + last));
    arc of = {.base = base, .slope = slope, .bulge = bulge};
    of.base = of.base > MOST_V ? MOST_V : of.base;
    of.slope = of.slope > of.base ? of.base : of.slope;
    of.bulge = of.bulge > INT16_MAX ? INT16_MAX : of.bulge < INT16_MIN ? INT16_MIN : of.bulge;
    const uint64_t lost = 4 * (uint64_t)(base - of.base) + 4 * (uint64_t)(slope - of.slope) +
                          size_of(bulge - of.bulge);
    const uint64_t of_heights = (5 * over >> 10) + 4;
    const uint64_t of_cut = silent->block_bits > 16 ? (uint64_t)of.slope + size_of(of.bulge) : 0;
    of.error =
        of_heights + 2 * PART + PART / 8 + lost * (PART / 4) + 2 * size_of(of.bulge) + of_cut + bow;
    return of;
}

/* --- Gaussians -------------------------------------------------------------------------------------- */

/** Return floor(2^bits w^power b/a), a/b the law's parameter. Requires: it is below 2^64. */
static uint64_t over_parameter(unsigned power, unsigned bits, const dg_silent *silent)
{
    const dg_law *law = &silent->law;
    uint64_t over = 0;
    mpz_t ratio;
    mpz_init(ratio);
    mpz_mul_2exp(ratio, law->b, power * silent->block_bits + bits);
    mpz_fdiv_q(ratio, ratio, law->a);
    mpz_export(&over, NULL, -1, sizeof over, 0, 0, ratio);
    mpz_clear(ratio);
    return over;
}

/** Return floor(sqrt(x)). Requires: x < 2^62. */
static uint64_t root_of(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 30; bit > 0; bit >>= 1) {
        root |= (root | bit) * (root | bit) <= x ? bit : 0;
    }
    return root;
}

/** Return |3 u - u^3|, at most 21 units of 2^-20 too low. Requires: u < 20, in units of 2^-20. */
static uint64_t third_at(uint64_t u)
{
    const uint64_t cube = (u * u >> PLACES) * u >> PLACES;
    return 3 * u > cube ? 3 * u - cube : cube - 3 * u;
}

/** Bound |A - Q| / a_0 on block h, in parts of 2^-32 units, a_0 = a at x = 0: PROOF.md, lemma 7. root: floor(2^20 rho),
 *  rho = w/sigma. u = |y - f| / sigma is from h rho to (h + 1) rho + rho/w on the block, and below 20. 3 u - u^3 rises up
 *  to u = 1, where it is 2, and falls from there on. */
static uint64_t gaussian_bow(size_t h, uint64_t root, unsigned block_bits)
{
    const uint64_t rho = root + 1, one = UINT64_C(1) << PLACES;
    const uint64_t from = h * root, to = (h + 1) * rho + (rho >> block_bits) + 1;
    uint64_t most = third_at(from);
    most = third_at(to) > most ? third_at(to) : most;
    most = from <= one && to >= one && most < 2 * one ? 2 * one : most;
    /* 2^16/124.7 < 526; (most + 21) rho^3 < 2^88 */
    return (uint64_t)((dg_u128)(most + 21) * (dg_u128)(rho * rho * rho) * 526 >>
                      (4 * PLACES - DG_SILENT_BOW_BITS)) +
           1;
}

static void set_gaussian_bows(uint64_t bow[DG_SILENT_CODES], const dg_silent *silent)
{
    const uint64_t root = root_of(over_parameter(2, 2 * PLACES, silent));
    for (size_t h = 0; h < DG_SILENT_TAIL; h++) {
        bow[h] = bow[128 + h] = gaussian_bow(h, root, silent->block_bits);
    }
}

/* --- Laplace ---------------------------------------------------------------------------------------- */

/** Set k, the terms of 1 - exp(-tau x / 2), tau = w/scale: PROOF.md, lemma 8. Each k_j is at least k_(j+1), so that no step of
 *  dg_silent_half_exponential wraps. */
static void set_exponential(dg_silent *silent)
{
    const uint64_t half = over_parameter(1, 31, silent); /* 2^32 tau/2 */
    uint64_t power = UINT64_C(1) << 32;
    for (unsigned j = 1; j <= 5; j++) {
        power = (power * half >> 32) / j;
        silent->planes.k[j - 1] = (uint16_t)((power + (1 << 15)) >> 16);
    }
}

/* --- planes ----------------------------------------------------------------------------------------- */

static void set_number(uint8_t (*plane)[DG_SILENT_CODES], size_t n, size_t i, uint64_t value)
{
    for (size_t k = 0; k < n; k++) {
        plane[k][i] = (uint8_t)(value >> (8 * k));
    }
}

/** Choose how many waiting attempts are decided in a round. open: that many of 2^40 random attempts wait. */
static unsigned places_for(uint64_t open)
{
    /* more than 16 of 1 on average wait with a probability of 2^-49, more than 32 of 7 with 2^-42 */
    const uint64_t mean = open >> (40 - 11); /* of a batch of 2^11 */
    return mean < 1 ? 16 : mean < 7 ? 32 : 64;
}

bool dg_silent_set_arcs(dg_silent *silent, const dg_silent_steps *steps)
{
    dg_silent_planes *planes = &silent->planes;
    const unsigned block_bits = silent->block_bits;
    uint64_t bow[DG_SILENT_CODES] = {0}, open = 0;
    bool fits = true;
    silent->shape = block_bits == 0                           ? DG_SILENT_FLAT
                    : silent->law.kind == DG_DISCRETE_LAPLACE ? DG_SILENT_EXPONENTIAL
                                                              : DG_SILENT_PARABOLA;
    if (silent->shape == DG_SILENT_EXPONENTIAL) {
        set_exponential(silent);
    }
    if (silent->shape == DG_SILENT_PARABOLA && block_bits > 1) { /* Q meets two integers */
        if (silent->law.kind == DG_DISCRETE_GAUSSIAN) {
            set_gaussian_bows(bow, silent);
        } else {
            dg_silent_power_bows(bow, steps, silent);
        }
    }
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        const size_t h = i & 127;
        const uint64_t *const height = &steps->height[i >> 7][2 * h];
        const uint64_t inverse = UINT64_MAX / silent->c[i];
        const uint64_t over = ((uint64_t)((dg_u128)inverse * silent->height >> 64)) + 1;
        arc of = {.error = PART};
        if (h == DG_SILENT_TAIL) {
            /* one position, which is never decided by 16 bits */
        } else if (silent->shape == DG_SILENT_PARABOLA) {
            const int64_t share[3] = {share_of(height[0], inverse, silent),
                                      share_of(height[1], inverse, silent),
                                      share_of(height[2], inverse, silent)};
            const uint64_t most = (uint64_t)share[0] + (over >> 8) + 3;
            const uint64_t parts = (uint64_t)((dg_u128)bow[i] * most >> (DG_SILENT_BOW_BITS + 16));
            of = parabola(share, parts + 1, over, silent);
        } else if (silent->shape == DG_SILENT_EXPONENTIAL) {
            of.base = rounded(share_of(height[0], inverse, silent));
            of.error = LAPLACE_ERROR * PART;
        } else { /* rounded, or 2^16 - 1 for 2^16 */
            of.base = rounded(share_of(silent->kept[i] >> silent->lift[i], inverse, silent));
            of.error = over >> 8 > PART / 2 - 3 ? 2 * PART : PART;
        }
        of.base = of.base > MOST_V ? MOST_V : of.base;
        const uint64_t err = (of.error + PART - 1) / PART;
        fits = fits && err <= UINT8_MAX;
        open += silent->c[i] * (2 * err + 1);
        set_number(planes->base, 2, i, (uint64_t)of.base ^ 1 << 15);
        set_number(&planes->err, 1, i, err);
        set_number(planes->slope, 2, i, (uint64_t)of.slope);
        set_number(planes->bulge, 2, i, (uint64_t)of.bulge);
        set_number(planes->end, 2, i, silent->end[i]);
        set_number(&planes->alias, 1, i, silent->alias[i]);
        set_number(planes->c, 3, i, silent->c[i]);
        set_number(&planes->lift, 1, i, silent->lift[i]);
        set_number(planes->kept, 7, i, silent->kept[i]);
    }
    silent->places = places_for(open);
    return fits;
}

#endif
