/* The silent engine in plain C. Planes are looked up by bit slices: 64 attempts at a time, a word for each bit. No branch,
 * address or count depends on a byte of the batch before the answers of the whole batch are known, but for the number of
 * rounds.
 *
 * Bit t of a plane is a tree. A leaf is a function of the lower three bits of the index, one of 256; which one is the law's
 * (`leaves`), so it is public. The upper five bits choose among 32 leaves. */
#include "isochronous/silent.h"

#if DG_HAVE_WORDS
#include "base/contract.h"
#include "base/wipe.h"
#include "isochronous/silent_decide.h"

#include <stddef.h>

enum { GROUP = 64, SMALL = 512, WORD = 8, MOST = 65535 };

/* Planes in the order of dg_silent_planes. */
enum { END = 0, ALIAS = 2, BASE = 3, ERR = 5, SLOPE = 6, BULGE = 8, C = 10, LIFT = 13, KEPT = 14 };

_Static_assert(offsetof(dg_silent_planes, k) == DG_SILENT_ALL_PLANES * DG_SILENT_CODES,
               "planes stand one behind the other");

void dg_silent_set_leaves(dg_silent *silent)
{
    const uint8_t *plane = (const uint8_t *)&silent->planes;
    for (size_t k = 0; k < DG_SILENT_ALL_PLANES; k++, plane += DG_SILENT_CODES) {
        for (size_t t = 0; t < 8; t++) {
            for (size_t i = 0; i < DG_SILENT_LEAVES; i++) {
                unsigned of = 0;
                for (size_t j = 0; j < 8; j++) {
                    of |= (plane[8 * i + j] >> t & 1u) << j;
                }
                silent->leaves[k][t][i] = (uint8_t)of;
            }
        }
    }
}

/* --- looking up ----------------------------------------------------------------------------------- */

/** Transpose 8 x 8 bits eight times: bit j of byte m of word k and bit k of byte m of word j change places. */
static inline void transpose(uint64_t word[8])
{
    static const uint64_t mask[3] = {UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
                                     UINT64_C(0x0F0F0F0F0F0F0F0F)};
    for (unsigned s = 0; s < 3; s++) {
        const unsigned by = 1u << s;
        for (unsigned j = 0; j < 8; j++) {
            if ((j & by) == 0) {
                const uint64_t swap = ((word[j] >> by) ^ word[j + by]) & mask[s];
                word[j + by] ^= swap;
                word[j] ^= swap << by;
            }
        }
    }
}

/** Look up n planes at 64 indices. */
static void look_up(uint8_t out[][GROUP], const uint8_t leaves[][8][DG_SILENT_LEAVES], size_t n,
                    const uint8_t index[GROUP])
{
    uint64_t x[8], of[256];
    memcpy(x, index, sizeof x);
    transpose(x);
    of[0] = 0; /* all functions of three bits: sums of those that are 1 at one place */
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t at =
            ((x[0] ^ (0 - (uint64_t)(~i & 1))) & (x[1] ^ (0 - (uint64_t)(~i >> 1 & 1))) &
             (x[2] ^ (0 - (uint64_t)(~i >> 2 & 1))));
        for (unsigned j = 0; j < 1u << i; j++) {
            of[(1u << i) + j] = of[j] | at;
        }
    }
    for (size_t k = 0; k < n; k++) {
        uint64_t y[8];
        for (size_t t = 0; t < 8; t++) {
            const uint8_t *const leaf = leaves[k][t];
            uint64_t v[DG_SILENT_LEAVES / 2];
            for (size_t i = 0; i < 16; i++) {
                v[i] = chosen(x[3], of[leaf[2 * i + 1]], of[leaf[2 * i]]);
            }
            for (size_t i = 0; i < 8; i++) {
                v[i] = chosen(x[4], v[2 * i + 1], v[2 * i]);
            }
            for (size_t i = 0; i < 4; i++) {
                v[i] = chosen(x[5], v[2 * i + 1], v[2 * i]);
            }
            v[0] = chosen(x[6], v[1], v[0]);
            v[1] = chosen(x[6], v[3], v[2]);
            y[t] = chosen(x[7], v[1], v[0]);
        }
        transpose(y);
        memcpy(out[k], y, sizeof y);
    }
}

/* --- most attempts -------------------------------------------------------------------------------- */

/** A batch, and the parts of the scratch: a byte an attempt, all ones or 0 but for codes. */
typedef struct columns {
    const uint8_t *of[3 + DG_SILENT_PLANES]; /* row, position, tick */
    const uint8_t *words;
    uint8_t *code, *accepted, *open, *is_next; /* is_next: scratch of `gather` */
    size_t n, n_planes;
} columns;

/** Decide attempts i to i + 63 by 16 bits, or leave them open. */
static inline void decide_group(const columns *at, size_t i, dg_silent_shape shape,
                                const dg_silent *silent)
{
    const uint16_t of_tick = dg_silent_of_tick(silent->block_bits);
    const uint8_t *const row = at->of[0] + i, *const upper = at->of[1] + i,
                         *const lower = at->of[2] + i;
    const uint8_t *const high = at->of[2 + at->n_planes] + i;
    const uint8_t *const low =
        at->of[at->n_planes > 1 ? 1 + at->n_planes : 2] + i; /* or of_tick cuts it off */
    uint8_t of_row[3][GROUP], of_code[7][GROUP];
    uint16_t rel[GROUP], length[GROUP];
    look_up(of_row, silent->leaves + END, 3, row);
    for (size_t j = 0; j < GROUP; j++) {
        const uint16_t position = (uint16_t)(upper[j] << 8 | lower[j]);
        const uint16_t end = (uint16_t)(of_row[1][j] << 8 | of_row[0][j]);
        const uint16_t second = (uint16_t)(0 - (position >= end));
        rel[j] = (uint16_t)(position - (end & second));
        length[j] = (uint16_t)((end ^ second) - second);
        at->code[i + j] = (uint8_t)(row[j] ^ (second & (row[j] ^ of_row[2][j])));
    }
    look_up(of_code, silent->leaves + BASE, shape == DG_SILENT_PARABOLA ? 7 : 3, at->code + i);
    for (size_t j = 0; j < GROUP; j++) {
        const uint32_t q =
            shape == DG_SILENT_FLAT ? 0 : (uint32_t)(high[j] << 8 | low[j]) & of_tick;
        const int32_t base = (of_code[1][j] << 8 | of_code[0][j]) ^ 1 << 15, err = of_code[2][j];
        int32_t slope = 0, bulge = 0;
        if (shape == DG_SILENT_PARABOLA) {
            slope = of_code[4][j] << 8 | of_code[3][j];
            bulge = (int16_t)(of_code[6][j] << 8 | of_code[5][j]);
        }
        const int32_t v = dg_silent_arc(base, slope, bulge, q, shape, silent->planes.k);
        const int32_t less = v - err, more = v + err;
        const uint32_t from = (uint32_t)(less & ~(less >> 31));
        const uint32_t to = (uint32_t)(more | (MOST - more) >> 31) & MOST;
        const uint32_t accepted = 0 - (uint32_t)(rel[j] < (length[j] * from >> 16));
        const uint32_t may = 0 - (uint32_t)(rel[j] <= (length[j] * to >> 16));
        at->accepted[i + j] = (uint8_t)accepted;
        at->open[i + j] = (uint8_t)(may & ~accepted);
    }
}

/* --- open attempts -------------------------------------------------------------------------------- */

/** Return how many attempts are open, and set the rank of each. Ranks count from 1; `before` open attempts are skipped. */
static size_t rank(uint8_t *ranks, size_t before, const columns *at)
{
    uint64_t count = 0;
    for (size_t i = 0; i < at->n; i++) {
        count += at->open[i] & 1;
        const uint64_t of = count - before;
        ranks[i] = (uint8_t)(of & less(of, GROUP + 1) & at->open[i]);
    }
    return count;
}

/** Copy the bytes of ranks 1 to n_places. No address depends on ranks. */
static void gather(uint8_t got[][GROUP], size_t n_places, const uint8_t *ranks, const columns *at)
{
    for (size_t k = 0; k < n_places; k++) {
        for (size_t i = 0; i < at->n; i++) {
            at->is_next[i] = (uint8_t)(0 - (ranks[i] == k + 1));
        }
        for (size_t p = 0; p < 4 + at->n_planes; p++) {
            const uint8_t *const column = p == 0 ? at->code : at->of[p - 1];
            uint64_t all = 0; /* at most one byte of the column, in any place */
            for (size_t i = 0; i < at->n; i += WORD) {
                uint64_t bytes, is_next;
                memcpy(&bytes, column + i, WORD);
                memcpy(&is_next, at->is_next + i, WORD);
                all |= bytes & is_next;
            }
            all |= all >> 32;
            all |= all >> 16;
            got[p][k] = (uint8_t)(all | all >> 8);
        }
    }
}

/** Return the number whose bytes are n planes, the lowest first, at a place. */
static uint64_t number_at(uint8_t planes[][GROUP], size_t n, size_t place)
{
    uint64_t number = 0;
    for (size_t k = n; k-- > 0;) {
        number = number << 8 | planes[k][place];
    }
    return number;
}

/** Decide a round: the n_waiting first ones of n_places gathered attempts. Returns: bit i: attempt i is accepted. */
static uint64_t decide_round(uint8_t got[4 + DG_SILENT_PLANES][GROUP], size_t n_places,
                             uint64_t n_waiting, dg_silent_words *words, const dg_silent *silent)
{
    const bool is_flat = silent->shape == DG_SILENT_FLAT;
    const size_t n_planes = silent->n_planes;
    uint8_t of_row[2][GROUP], of_code[4 + 7][GROUP];
    uint64_t answers = 0;
    look_up(of_row, silent->leaves + END, 2, got[1]);
    look_up(of_code, silent->leaves + C, is_flat ? 11 : 4, got[0]);
    for (size_t first = 0; first < n_places; first += DG_SILENT_TOGETHER) {
        dg_silent_waiting of;
        for (size_t i = 0; i < DG_SILENT_TOGETHER; i++) {
            const size_t k = first + i;
            const uint64_t position = (uint64_t)got[2][k] << 8 | got[3][k];
            const uint64_t end = number_at(of_row, 2, k), second = ~less(position, end);
            of.code[i] = got[0][k];
            of.rel[i] = position - (end & second);
            of.length[i] = chosen(second, (UINT64_C(1) << 16) - end, end);
            of.c[i] = number_at(of_code, 3, k);
            of.lift[i] = of_code[3][k];
            of.number[i] = is_flat ? number_at(of_code + 4, 7, k)
                                   : (of.code[i] & 127) << silent->block_bits |
                                         number_at(got + 4, n_planes, k) >>
                                             (8 * n_planes - silent->block_bits);
        }
        const uint64_t n_here = (n_waiting - first) & less(first, n_waiting);
        answers |= dg_silent_decide(&of, n_here, words, silent) << first;
        dg_wipe(&of, sizeof of);
    }
    return answers;
}

/** Decide all open attempts. Returns: whether all are decided. */
static bool decide_open(const columns *at, uint8_t *ranks, const dg_silent *silent)
{
    const size_t n_places = at->n > SMALL ? silent->places : silent->places / 2;
    uint8_t got[4 + DG_SILENT_PLANES][GROUP];
    dg_silent_words words = {.of_batch = at->words};
    size_t n_rounds = 1;
    memset(got, 0, sizeof got);
    for (size_t r = 0; r < n_rounds; r++) {
        const size_t before = r * n_places, n_open = rank(ranks, before, at);
        n_rounds = n_open > n_places ? (n_open + n_places - 1) / n_places : 1;
        DG_PUBLIC(n_rounds);
        gather(got, n_places, ranks, at);
        const uint64_t answers = decide_round(got, n_places, n_open - before, &words, silent);
        for (size_t i = 0; i < at->n; i++) {
            const uint64_t its = 0 - (answers >> ((ranks[i] - 1u) & 63) & 1);
            at->accepted[i] |= (uint8_t)(its & less(0, ranks[i]));
        }
    }
    bool is_decided = words.undecided == 0;
    DG_PUBLIC(is_decided);
    return is_decided;
}

bool dg_silent_kernel_portable(int64_t *out, size_t *n_accepted, uint8_t *scratch,
                               const uint8_t *batch, size_t n_attempts, const dg_silent *silent)
{
    const size_t n = n_attempts, n_planes = silent->n_planes;
    columns at = {.words = batch + n * (3 + n_planes),
                  .code = scratch,
                  .accepted = scratch + n,
                  .open = scratch + 2 * n,
                  .is_next = scratch + 3 * n,
                  .n = n,
                  .n_planes = n_planes};
    for (size_t k = 0; k < 3 + n_planes; k++) {
        at.of[k] = batch + k * n;
    }
    for (size_t i = 0; i < n; i += GROUP) { /* a constant shape: no question for each attempt */
        if (silent->shape == DG_SILENT_PARABOLA) {
            decide_group(&at, i, DG_SILENT_PARABOLA, silent);
        } else if (silent->shape == DG_SILENT_EXPONENTIAL) {
            decide_group(&at, i, DG_SILENT_EXPONENTIAL, silent);
        } else {
            decide_group(&at, i, DG_SILENT_FLAT, silent);
        }
    }
    if (!decide_open(&at, scratch + 4 * n, silent)) {
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t accepted = at.accepted[i];
        uint64_t tick = 0;
        for (size_t k = n_planes; k-- > 0;) {
            tick = tick << 8 | at.of[3 + k][i];
        }
        const uint64_t z = (uint64_t)(at.code[i] & 127) << silent->block_bits |
                           tick >> (8 * n_planes - silent->block_bits);
        const uint64_t side = (0 - (uint64_t)(at.code[i] >> 7)) ^ (uint64_t)silent->flip;
        DG_PUBLIC(accepted);
        out[count] = silent->centre - silent->flip + (int64_t)(z ^ side);
        count += accepted & 1;
    }
    *n_accepted = count;
    return true;
}

#endif
