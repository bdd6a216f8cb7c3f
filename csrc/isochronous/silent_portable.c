/* The silent engine in plain C. Planes are looked up by bit slices: 64 attempts at a time, a word for each bit. No branch,
 * address or count depends on a byte of the batch before the answers of the whole batch are known, except the number of
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

enum { GROUP = 64, WORD = 8, MOST = 65535 };

/* Planes in the order of dg_silent_planes. */
enum { END = 0, ALIAS = 2, BASE = 3, ERR = 5, SLOPE = 6, BULGE = 8, C = 10, LIFT = 13, KEPT = 14 };

_Static_assert(offsetof(dg_silent_planes, k) == (size_t)DG_SILENT_ALL_PLANES * DG_SILENT_CODES,
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

/** Random bytes that a batch leaves behind, besides the scratch. */
typedef struct work {
    uint64_t functions[256]; /* of the lower three bits of 64 indices */
    uint8_t of_row[3][GROUP], of_code[7][GROUP];
    uint16_t rel[GROUP], length[GROUP];
    dg_silent_round waiting;
} work;

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
                    const uint8_t index[GROUP], uint64_t of[256])
{
    uint64_t x[8];
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

/** A batch, and the parts of the scratch: a byte an attempt, all ones or 0, or a code. */
typedef struct columns {
    const uint8_t *of[3 + DG_SILENT_PLANES]; /* row, position, tick */
    const uint8_t *words;
    uint8_t *code, *accepted, *open, *ranks, *is_next;
    size_t n, n_planes;
} columns;

/** Decide attempts i to i + 63 by 16 bits, or leave them open. */
static inline void decide_group(const columns *at, size_t i, dg_silent_shape shape,
                                const dg_silent *silent, work *w)
{
    const uint16_t of_tick = dg_silent_of_tick(silent->block_bits);
    const uint8_t *const row = at->of[0] + i, *const upper = at->of[1] + i,
                         *const lower = at->of[2] + i;
    const uint8_t *const high = at->of[2 + at->n_planes] + i;
    const uint8_t *const low =
        at->of[at->n_planes > 1 ? 1 + at->n_planes : 2] + i; /* or of_tick cuts it off */
    look_up(w->of_row, silent->leaves + END, 3, row, w->functions);
    for (size_t j = 0; j < GROUP; j++) {
        const uint16_t position = (uint16_t)(upper[j] << 8 | lower[j]);
        const uint16_t end = (uint16_t)(w->of_row[1][j] << 8 | w->of_row[0][j]);
        const uint16_t second = (uint16_t)~dg_silent_sign(position - end);
        w->rel[j] = (uint16_t)(position - (end & second));
        w->length[j] = (uint16_t)((end ^ second) - second);
        at->code[i + j] = (uint8_t)(row[j] ^ (second & (row[j] ^ w->of_row[2][j])));
    }
    look_up(w->of_code, silent->leaves + BASE, shape == DG_SILENT_PARABOLA ? 7 : 3, at->code + i,
            w->functions);
    for (size_t j = 0; j < GROUP; j++) {
        const uint32_t q =
            shape == DG_SILENT_FLAT ? 0 : (uint32_t)(high[j] << 8 | low[j]) & of_tick;
        const int32_t base = (w->of_code[1][j] << 8 | w->of_code[0][j]) ^ 1 << 15,
                      err = w->of_code[2][j];
        int32_t slope = 0, bulge = 0;
        if (shape == DG_SILENT_PARABOLA) {
            slope = w->of_code[4][j] << 8 | w->of_code[3][j];
            bulge = (int16_t)(w->of_code[6][j] << 8 | w->of_code[5][j]);
        }
        const int32_t v = dg_silent_arc(base, slope, bulge, q, shape, silent->planes.k);
        const int32_t less = v - err, more = v + err;
        const uint32_t from = (uint32_t)less & ~dg_silent_sign(less);
        const uint32_t to = ((uint32_t)more | dg_silent_sign(MOST - more)) & MOST;
        const int32_t last = (int32_t)(w->length[j] * from >> 16),
                      end = (int32_t)(w->length[j] * to >> 16);
        const uint32_t accepted = dg_silent_sign(w->rel[j] - last),
                       rejected = dg_silent_sign(end - w->rel[j]);
        at->accepted[i + j] = (uint8_t)accepted;
        at->open[i + j] = (uint8_t)~(accepted | rejected);
    }
}

/* --- open attempts -------------------------------------------------------------------------------- */

/** Set the rank of each open attempt: from 1 on, behind `before` open ones; 0 of these and of attempts that are not open.
 *  Returns: how many are open. */
static uint64_t rank(uint64_t before, const columns *at)
{
    uint64_t count = 0;
    for (size_t i = 0; i < at->n; i++) {
        count += at->open[i] & 1;
        const uint64_t from_0 = count - before - 1,
                       is_out = dg_mask(filled(from_0 | (GROUP - 1 - from_0)));
        at->ranks[i] = (uint8_t)((from_0 + 1) & ~is_out & at->open[i]);
    }
    return count;
}

static inline uint64_t load_native(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/** Return 0xFF in each byte in which a and b are equal, 0 in the others. */
static inline uint64_t equal_bytes(uint64_t a, uint64_t b)
{
    const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F), other = a ^ b;
    const uint64_t high = ~(((other & low) + low) | other | low);
    return (high << 1) - (high >> 7);
}

/** Copy the bytes of ranks 1 to n_places. No address depends on ranks. */
static void gather(uint8_t got[][GROUP], size_t n_places, const columns *at)
{
    for (size_t k = 0; k < n_places; k++) {
        const uint64_t next = (k + 1) * UINT64_C(0x0101010101010101);
        for (size_t i = 0; i < at->n; i += WORD) {
            const uint64_t is_next = equal_bytes(load_native(at->ranks + i), next);
            memcpy(at->is_next + i, &is_next, WORD);
        }
        for (size_t p = 0; p < 4 + at->n_planes; p++) {
            const uint8_t *const column = p == 0 ? at->code : at->of[p - 1];
            uint64_t all = 0; /* at most one byte of the column, in any place */
            for (size_t i = 0; i < at->n; i += WORD) {
                all |= load_native(column + i) & load_native(at->is_next + i);
            }
            all |= all >> 32;
            all |= all >> 16;
            got[p][k] = (uint8_t)(all | all >> 8);
        }
    }
}

/** Decide all open attempts. Returns: whether all are decided. */
static bool decide_open(const columns *at, const dg_silent *silent, work *w)
{
    const size_t n_places = dg_silent_places(at->n, silent);
    dg_silent_words words = {.of_batch = at->words};
    uint64_t goes_on = 1;
    for (uint64_t before = 0; goes_on != 0; before += n_places) {
        const uint64_t n_open = rank(before, at);
        goes_on = less(before + n_places, n_open);
        DG_PUBLIC(goes_on);
        dg_silent_round *const of = &w->waiting;
        gather(of->of_attempt, n_places, at);
        look_up(of->of_row, silent->leaves + END, 2, of->of_attempt[1], w->functions);
        look_up(of->of_code, silent->leaves + C, dg_silent_of_code(silent), of->of_attempt[0],
                w->functions);
        const uint64_t answers =
            dg_silent_decide_all(of, n_places, n_open - least(before, n_open), &words, silent);
        for (size_t i = 0; i < at->n; i++) { /* rank 0 has no answer */
            const unsigned rank_of = at->ranks[i];
            const uint64_t its = answers >> ((rank_of - 1) & 63) & (rank_of + 255) >> 8;
            at->accepted[i] |= (uint8_t)dg_mask(0 - (its & 1));
        }
    }
    bool is_decided = words.undecided == 0;
    DG_PUBLIC(is_decided);
    return is_decided;
}

/** Write the accepted draws. Returns: how many. */
static size_t store(int64_t *out, const columns *at, const dg_silent *silent)
{
    const int64_t centre = silent->centre - silent->flip;
    const size_t n_planes = at->n_planes;
    size_t count = 0;
    for (size_t i = 0; i < at->n; i++) {
        const uint64_t code = at->code[i], side = (0 - (code >> 7)) ^ (uint64_t)silent->flip;
        uint8_t accepted = at->accepted[i];
        uint64_t tick = 0;
        DG_PUBLIC(accepted);
        for (size_t k = n_planes; k-- > 0;) {
            tick = tick << 8 | at->of[3 + k][i];
        }
        const uint64_t z =
            (code & 127) << silent->block_bits | tick >> (8 * n_planes - silent->block_bits);
        out[count] = centre + (int64_t)(z ^ side);
        count += accepted & 1;
    }
    return count;
}

bool dg_silent_kernel_portable(int64_t *out, size_t *n_accepted, uint8_t *scratch,
                               const uint8_t *batch, size_t n_attempts, const dg_silent *silent)
{
    const size_t n = n_attempts, n_planes = silent->n_planes;
    columns at = {.words = batch + n * (3 + n_planes),
                  .code = scratch,
                  .accepted = scratch + n,
                  .open = scratch + 2 * n,
                  .ranks = scratch + 3 * n,
                  .is_next = scratch + 4 * n,
                  .n = n,
                  .n_planes = n_planes};
    for (size_t k = 0; k < 3 + n_planes; k++) {
        at.of[k] = batch + k * n;
    }
    work w;
    memset(&w.waiting, 0, sizeof w.waiting); /* places that a round does not have */
    for (size_t i = 0; i < n; i += GROUP) {  /* a constant shape: no question for each attempt */
        if (silent->shape == DG_SILENT_PARABOLA) {
            decide_group(&at, i, DG_SILENT_PARABOLA, silent, &w);
        } else if (silent->shape == DG_SILENT_EXPONENTIAL) {
            decide_group(&at, i, DG_SILENT_EXPONENTIAL, silent, &w);
        } else {
            decide_group(&at, i, DG_SILENT_FLAT, silent, &w);
        }
    }
    const bool is_decided = decide_open(&at, silent, &w);
    dg_wipe(&w, sizeof w);
    if (is_decided) {
        *n_accepted = store(out, &at, silent);
    }
    return is_decided;
}

#endif
