/* How far arcs of generalised Gaussians are off (arcs_silent.c): bounds of |A - Q| / a_0 on each block. A is g times a
 * constant, a_0 its value at x = 0, Q the parabola through A(0), A(1/2), A(1); units are 2^-16 of a_0. */
#include "base/contract.h"
#include "isochronous/lane_attempt.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS

enum {
    PLACES = 30,     /* binary places of beta, p and t */
    REMAINDER = 526, /* more than 2^16 sqrt(3)/216 */
    FIRST = 2,       /* blocks next to the centre */
    PIECES = 32,     /* of each of them */
    NODES = FIRST * PIECES + 2
};

static const uint64_t ONE = UINT64_C(1) << PLACES;

/** No arc is farther off than 9/8 a_0. */
static const uint64_t MOST = UINT64_C(73728) << DG_SILENT_BOW_BITS;

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t apart(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)(a - b) : (uint64_t)(b - a);
}

/** Return |t^2 - 3 (beta - 1) t + (beta - 1) (beta - 2)|. All in units of 2^-30; beta < 2^6, t < 2^13. */
static uint64_t cubic_at(uint64_t t, uint64_t beta)
{
    const dg_i128 over_1 = (dg_i128)beta - (dg_i128)ONE, over_2 = over_1 - (dg_i128)ONE;
    const dg_i128 sum = (dg_i128)t * t - 3 * over_1 * t + over_1 * over_2;
    return (uint64_t)((sum < 0 ? -sum : sum) >> PLACES);
}

/** Bound a block h >= FIRST by E, in units of exponents, at both its ends. PROOF.md, lemma 9: by the third
 *  derivative. t = beta (r/scale)^beta is from t_0 to t_1 on the block, less than 2^-22 off, and cubic_at less than 2^-8. */
static uint64_t bow_of(size_t h, uint64_t first, uint64_t last, uint64_t beta,
                       const dg_silent *silent)
{
    enum { SHIFT = 2 * DG_LANE_BITS - PLACES, SLACK = 1 << 20 };
    if (last >= DG_SILENT_FARTHEST) {
        return MOST;
    }
    const uint64_t centre = silent->lanes.at_centre;
    const uint64_t from = (uint64_t)((dg_u128)(first + centre) * DG_LANE_LN2 >> SHIFT);
    const uint64_t to =
        (uint64_t)((dg_u128)(last + centre + SLACK) * (DG_LANE_LN2 + 1) >> SHIFT) + 1;
    const uint64_t t_0 = (uint64_t)((dg_u128)from * beta >> PLACES);
    const uint64_t t_1 = (uint64_t)((dg_u128)to * (beta + 1) >> PLACES) + 1;
    const uint64_t at_0 = cubic_at(t_0, beta) + (ONE >> 8), at_1 = cubic_at(t_1, beta) + (ONE >> 8);
    const uint64_t n = h * h, next = (h + 1) * (h + 1), least = 3 * (beta - ONE) / 2;
    uint64_t most = larger(at_0, at_1);
    if (beta < 2 * ONE) {
        most = larger(at_0 / n, at_1 / next) + 1;
    } else {
        most = larger(most, t_0 <= least && least <= t_1 ? cubic_at(least, beta) + (ONE >> 8) : 0);
        most = most / n + 1;
    }
    const dg_u128 bow =
        (dg_u128)t_1 * most * REMAINDER / (h + 1) >> (2 * PLACES - DG_SILENT_BOW_BITS);
    return bow < MOST ? (uint64_t)bow + 1 : MOST;
}

/** Bound the blocks next to the centre on a side, where A''' may be without bound. PROOF.md, lemma 9: between
 *  nodes, of which a block has 32 or one for each integer, by the convexity of E. Before the first piece E counts as
 *  constant, as E does not fall. */
static void set_first(uint64_t bow[FIRST], unsigned left, const dg_silent *silent)
{
    const unsigned b = silent->block_bits, piece_bits = b > 5 ? b - 5 : 0;
    const size_t n = (size_t)1 << (b - piece_bits); /* pieces of a block */
    int64_t exponent[1 + NODES] = {0}, height[NODES] = {0};
    for (size_t j = 0; j < FIRST * n + 2; j++) {
        const uint64_t at = dg_silent_exponent((uint64_t)j << piece_bits, left, silent);
        exponent[1 + j] = (int64_t)at;
        height[j] = (int64_t)height_of(at);
    }
    exponent[0] = exponent[1];
    for (size_t h = 0; h < FIRST; h++) {
        const int64_t *const at = height + h * n;
        const int64_t first = at[0], middle = at[n / 2], last = at[n];
        const int64_t bulge = 4 * middle - 2 * (first + last);
        DG_REQUIRES(first > 0); /* of all laws that lanes hold */
        uint64_t of_nodes = 0, of_pieces = 0;
        for (size_t j = 0; j < n; j++) {
            const int64_t *const e = exponent + 1 + h * n + j; /* e[-1] is a node before */
            const int64_t m = (int64_t)n, k = (int64_t)j;
            const int64_t on_q = first - (first - last) / m * k + bulge / (m * m) * k * (m - k);
            const uint64_t growth = apart(e[1], e[0]);
            const int64_t behind = (e[2] - e[1]) - (e[1] - e[0]);
            const int64_t both = (e[2] - e[1]) - (e[0] - e[-1]);
            const int64_t below = behind < both / 4 ? behind : both / 4;
            const uint64_t square = (uint64_t)((dg_u128)growth * growth >> DG_LANE_BITS);
            of_nodes = larger(of_nodes, apart(at[j], on_q));
            of_pieces = larger(of_pieces, larger(below > 0 ? (uint64_t)below : 0, square / 16));
        }
        if (piece_bits == 0) {
            of_pieces = 0; /* there is nothing between nodes */
        } else {
            of_nodes += apart(bulge, 0) / ((uint64_t)4 * PIECES * PIECES);
        }
        /* 2^-36 for what heights and exponents are off, as a_0 > 1/4, and for roundings */
        const dg_u128 all = ((dg_u128)of_nodes << DG_LANE_BITS) / (uint64_t)first + of_pieces;
        const dg_u128 units =
            (all + (UINT64_C(1) << 16)) >> (DG_LANE_BITS - 16 - DG_SILENT_BOW_BITS);
        bow[h] = units < MOST ? (uint64_t)units + 1 : MOST;
    }
}

void dg_silent_power_bows(uint64_t bow[DG_SILENT_CODES], const dg_silent_steps *steps,
                          const dg_silent *silent)
{
    const dg_law *law = &silent->law;
    uint64_t beta = 0;
    mpz_t whole;
    mpz_init(whole);
    mpz_mul_2exp(whole, law->beta_num, PLACES);
    mpz_fdiv_q(whole, whole, law->beta_den);
    mpz_export(&beta, NULL, -1, sizeof beta, 0, 0, whole);
    mpz_clear(whole);
    for (unsigned left = 0; left < 2; left++) {
        uint64_t *const side = bow + (size_t)128 * left;
        set_first(side, left, silent);
        for (size_t h = FIRST; h < DG_SILENT_TAIL; h++) {
            const uint64_t *const at = &steps->exponent[left][2 * h];
            side[h] = bow_of(h, at[0], at[2], beta, silent);
        }
    }
}

#endif
