/* The costs. Two ways take a time a + b n, where a is what is built first; they cross at n = a/(b - b').
 *
 * A table's other way is Algorithms 1-3, or lanes. Its building grows with the number of its blocks, and so with
 * the law's width while a block is one integer, and not beyond; a draw without it costs about the same for all
 * laws that machine words hold, and more with the length of the numbers where they do not.
 *
 * Measured crossings with Algorithms 1-3, with bits of getrandom, and crossing_of() beside them; again by `python
 * benchmarks/throughput.py --developer --bulk --only crossing`:
 *
 *   Gaussian, sigma = 1                270     290
 *   10                                 750    1100
 *   30                                3300    2900
 *   100                              11900    9200
 *   1000, 10^6               11300 - 11700   11500
 *   10^9 (GMP)                        2500    2053
 *   10^50 (GMP)                       1700    1380
 *   Laplace, scale = 1                 930     900
 *   10                                3100    3600
 *   100                              20400   18000
 *   10^6                             17300   18000
 *   generalised Gaussian, by lanes with AVX-512
 *   scale = 1                         1600    1640
 *   10                                5200    5600
 *   100                              45500   45200
 *   1000, 10^6               47700 - 53100   45600
 *   10^30 (one by one)                 715    1140
 *
 * Rent or buy: until a table is built its law has paid no more than the table's price, so all calls together
 * take at most twice the time of the best choice in hindsight (Karlin, Manasse, Rudolph, Sleator,
 * Competitive snoopy caching, 1988).
 */
#include "sampler/choose.h"

#include "isochronous/narrow.h"

enum {
    REFERENCE_UNITS = 24,
    ONE_BY_ONE_UNITS = 240, /* a generalised Gaussian that lanes do not hold */
    LEAST_CELLS_FROM = 16,  /* no law's table is repaid by fewer draws */
    LANES_FROM = 128,       /* so many draws by Algorithms 1-3 repay lanes: 10 microseconds */
    /* laws of one call, measured by `python benchmarks/crowd.py` (AVX-512; getrandom, chacha20): */
    CROWD_LANES_FROM = 32,  /* lanes cross Algorithms 1-3 at 18, 19; without AVX-512 later */
    CROWD_ALONE_FROM = 128, /* a caller's bits: as it was published */
    CROWD_ALONE_FROM_FEW =
        32, /* a table at hand crosses them at 25, 43; lanes of a law's own, 59, 66 */
    CROWD_FEW_LAWS = 64,
    CROWD_KEPT_LAWS =
        200, /* Python keeps the samplers of so many; to make one takes it as long as */
    CROWD_ALONE_FROM_KEPT = 256,  /* so many draws in lanes of many laws */
    CROWD_ALONE_FROM_MANY = 1024, /* with more laws samplers are made for the call: 1201, 814 */
    CROWD_ISOCHRONOUS_ALONE_FROM = 1024, /* the same */
    CROWD_FEW_GROUPS = 1024,             /* are looked for in any case: ten microseconds */
    CROWD_MOST_GROUPS =
        1 << 16, /* to make a law anew costs less than what more take from the cache */
    MOST_WHOLE = 1000000,
    MOST_CHARGED_BITS = 40 /* 2^40 draws repay every table: no sum of rents leaves 64 bits */
};

/** What a draw in lanes costs beyond one of a table, by the kernel (any, a fast one) and by the dg_source_kind:
 *  of wide laws, of which that for AVX-512 is fast, and of narrow ones, where vectors are. To prepare these takes
 *  2 to 5 microseconds more, beside 4, and of a generalised Gaussian 0.8 for each outcome. */
static const uint64_t LANE_UNITS[2][2][2] = {{{12, 6}, {6, 1}}, {{5, 2}, {3, 1}}};

/** Where a table crosses Algorithms 1-3 in machine words: the least of `most` and of at_0 + slope times the
 *  parameter's whole part (Gaussian: its root). */
static const struct crossing {
    uint64_t at_0, slope, most;
} LAPLACE = {600, 300, 18000}, GAUSSIAN = {200, 90, 11500}, GENERALIZED = {300, 110, 11400};

static size_t bits_of(const mpz_t number)
{
    return mpz_sizeinbase(number, 2);
}

/** Whether Algorithm 2 or 3 needs GMP for the law (exact/words.h), about. */
static bool outgrows_words(const dg_law *law)
{
    const size_t a = bits_of(law->a), b = bits_of(law->b), d = bits_of(law->d);
    if (law->kind == DG_DISCRETE_LAPLACE) {
        return a > 55 || b > 62 || d > 62;
    }
    const size_t t = (a > b ? a - b : 0) / 2 + 1;          /* of sigma */
    return (d == 1 ? a + b + 2 * t : a + 2 * d + t) > 110; /* d has one bit: it is 1 */
}

/** The whole part of the law's parameter, or MOST_WHOLE, and its root if that is to be taken. */
static uint64_t whole_part(const dg_law *law, bool root)
{
    mpz_t whole;
    mpz_init(whole);
    mpz_fdiv_q(whole, law->a, law->b);
    if (mpz_cmp_ui(whole, MOST_WHOLE) > 0) {
        mpz_set_ui(whole, MOST_WHOLE);
    }
    if (root) {
        mpz_sqrt(whole, whole);
    }
    const uint64_t result = mpz_get_ui(whole);
    mpz_clear(whole);
    return result;
}

static uint64_t crossing_of(const dg_law *law)
{
    const struct crossing *by = law->kind == DG_DISCRETE_LAPLACE    ? &LAPLACE
                                : law->kind == DG_DISCRETE_GAUSSIAN ? &GAUSSIAN
                                                                    : &GENERALIZED;
    const uint64_t at = by->at_0 + by->slope * whole_part(law, by == &GAUSSIAN);
    const uint64_t crossing = at < by->most ? at : by->most;
    if (by != &GENERALIZED && outgrows_words(law)) {
        return crossing * 100 / (500 + bits_of(law->a));
    }
    return crossing;
}

/** The sign of a number's size less 2^bits: num/den + c. */
static int compare_sum(const mpz_t num, const mpz_t den, const mpz_t c, mp_bitcnt_t bits)
{
    mpz_t sum, limit;
    mpz_inits(sum, limit, NULL);
    mpz_mul(sum, c, den);
    mpz_add(sum, sum, num);
    mpz_mul_2exp(limit, den, bits);
    const int sign = mpz_cmpabs(sum, limit);
    mpz_clears(sum, limit, NULL);
    return sign;
}

/** Whether lanes surely hold the law (isochronous/build_lanes.c): a parameter from 1/16, or 1, to 2^50, a centre up
 *  to 2^60 in size, beta up to 32. */
static bool lanes_hold(const dg_law *law)
{
    enum { LEAST_BITS = 4, MOST_BITS = 50, CENTRE_BITS = 60, BETA = 32, DENOMINATOR_BITS = 2048 };
    if (bits_of(law->b) + bits_of(law->d) > DENOMINATOR_BITS) {
        return false;
    }
    const bool is_power = law->kind == DG_GENERALIZED_GAUSSIAN;
    mpz_t low, zero;
    mpz_inits(low, zero, NULL);
    mpz_mul_2exp(low, law->a, is_power ? 0 : LEAST_BITS);
    bool hold = mpz_cmp(low, law->b) >= 0 && compare_sum(law->a, law->b, zero, MOST_BITS) <= 0 &&
                compare_sum(law->n, law->d, law->c, CENTRE_BITS) <= 0;
    if (is_power) {
        mpz_mul_ui(low, law->beta_den, BETA);
        hold = hold && mpz_cmp(law->beta_num, low) <= 0;
    }
    mpz_clears(low, zero, NULL);
    return hold;
}

/** Whether lanes are those of a fast kernel; of wide laws AVX2's is not much faster than the portable one. */
static bool lanes_are_fast(bool narrow)
{
#if DG_HAVE_WORDS
    dg_narrow any;
    dg_lanes lanes = {.narrow = narrow ? &any : NULL};
    dg_lanes_dispatch(&lanes, DG_ISA_AUTO);
    return lanes.isa >= (narrow ? DG_ISA_AVX2 : DG_ISA_AVX512);
#else
    (void)narrow;
    return false;
#endif
}

/** Whether the law is a narrow one (isochronous/narrow.h), about: generalised Gaussians count as wide. */
static bool is_narrow(const dg_law *law)
{
    enum { SIGMA = 14, SCALE = 3 }; /* the least that are not, around an integer */
    if (law->kind == DG_GENERALIZED_GAUSSIAN) {
        return false;
    }
    const bool squared = law->kind == DG_DISCRETE_GAUSSIAN;
    return whole_part(law, squared) < (squared ? SIGMA : SCALE) / (law->centred ? 1u : 2u);
}

dg_prices dg_prices_of(const dg_law *law)
{
    dg_prices prices = {
        .has_reference = law->kind != DG_GENERALIZED_GAUSSIAN,
        .has_cells = law->kind >= DG_DISCRETE_LAPLACE,
        .cells_from = UINT64_MAX,
        .table = UINT64_MAX,
        .draw = {REFERENCE_UNITS, REFERENCE_UNITS},
    };
    if (!prices.has_cells) {
        return prices;
    }
    const bool hold = lanes_hold(law);
    /* not by lanes' costs: the same on all machines */
    const uint64_t units = hold || prices.has_reference ? REFERENCE_UNITS : ONE_BY_ONE_UNITS;
    const uint64_t crossing = (crossing_of(law) * REFERENCE_UNITS + units - 1) / units;
    prices.cells_from = crossing > LEAST_CELLS_FROM ? crossing : LEAST_CELLS_FROM;
    prices.table = prices.cells_from * REFERENCE_UNITS;
    prices.has_lanes = hold && DG_HAVE_WORDS;
    const bool narrow = is_narrow(law), fast = lanes_are_fast(narrow);
    for (size_t kind = 0; kind < 2; kind++) {
        prices.draw[kind] = prices.has_lanes ? LANE_UNITS[narrow][fast][kind] : units;
    }
    return prices;
}

dg_method dg_choose(dg_method *without_table, size_t n, const dg_prices *prices,
                    dg_source_kind source, bool has_lanes, bool can_have_table,
                    _Atomic uint64_t *rent)
{
    const bool builds = can_have_table && prices->has_cells;
    *without_table = prices->has_reference ? DG_REFERENCE : DG_ISOCHRONOUS;
    if (source == DG_SOURCE_CALLER) {
        return builds && n >= prices->cells_from ? DG_CELLS : *without_table;
    }
    has_lanes = has_lanes && prices->has_lanes;      /* those of other laws are slow */
    if (!builds && has_lanes == prices->has_lanes) { /* nothing is to be had for rent */
        *without_table = has_lanes ? DG_ISOCHRONOUS : *without_table;
        return *without_table;
    }
    const uint64_t most = UINT64_C(1) << MOST_CHARGED_BITS, charged = n < most ? n : most;
    const uint64_t paid = atomic_load_explicit(rent, memory_order_relaxed);
    const uint64_t lanes_due = (uint64_t)LANES_FROM * REFERENCE_UNITS;
    const bool in_lanes =
        has_lanes || (prices->has_lanes && paid + charged * REFERENCE_UNITS >= lanes_due);
    const bool at_first = prices->has_lanes && !in_lanes;
    const uint64_t due =
        charged * (at_first ? REFERENCE_UNITS : prices->draw[source == DG_SOURCE_CHACHA20]);
    if (in_lanes) {
        *without_table = DG_ISOCHRONOUS;
    }
    /* The thread whose draws bring it to a whole number of prices buys, and the count begins anew. Should that
     * be lost, by a fork at this point, the next one buys after as much rent again. */
    const uint64_t before = atomic_fetch_add_explicit(rent, due, memory_order_relaxed);
    if (!builds || before / prices->table == (before + due) / prices->table) {
        return *without_table;
    }
    atomic_store_explicit(rent, 0, memory_order_relaxed);
    return DG_CELLS;
}

bool dg_crowd_in_lanes(size_t n, const dg_crowd *crowd)
{
    return crowd->method == DG_ISOCHRONOUS ||
           (crowd->method == DG_AUTO && n >= CROWD_LANES_FROM && crowd->source != DG_SOURCE_CALLER);
}

size_t dg_crowd_most_groups(const dg_crowd *crowd)
{
    if (crowd->must_group) {
        return crowd->n;
    }
    size_t most = crowd->n / 2;
    if (crowd->lanes_hold && dg_crowd_in_lanes(crowd->n, crowd)) {
        /* one that comes again costs there what another does, unless it is drawn by itself */
        const size_t alone =
            crowd->n /
            (crowd->method == DG_ISOCHRONOUS ? CROWD_ISOCHRONOUS_ALONE_FROM : CROWD_ALONE_FROM);
        const size_t repaid = alone > CROWD_FEW_GROUPS ? alone : CROWD_FEW_GROUPS;
        most = most < repaid ? most : repaid;
    }
    return most < CROWD_MOST_GROUPS ? most : CROWD_MOST_GROUPS;
}

size_t dg_crowd_alone_from(size_t n_laws, const dg_crowd *crowd)
{
    switch (crowd->method) {
    case DG_CELLS:
        return 0;
    case DG_ISOCHRONOUS:
        return CROWD_ISOCHRONOUS_ALONE_FROM;
    case DG_REFERENCE:
        return SIZE_MAX;
    default:
        break;
    }
    if (crowd->source == DG_SOURCE_CALLER) {
        return CROWD_ALONE_FROM;
    }
    return n_laws <= CROWD_FEW_LAWS    ? CROWD_ALONE_FROM_FEW
           : n_laws <= CROWD_KEPT_LAWS ? CROWD_ALONE_FROM_KEPT
                                       : CROWD_ALONE_FROM_MANY;
}

bool dg_crowd_in_blocks(size_t n_laws, size_t least, const dg_crowd *crowd)
{
    return crowd->method == DG_AUTO && crowd->source != DG_SOURCE_CALLER && crowd->lanes_hold &&
           n_laws <= CROWD_KEPT_LAWS && least >= LANES_FROM &&
           least >= dg_crowd_alone_from(n_laws, crowd);
}
