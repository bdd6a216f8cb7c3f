#include "cell_model.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHUNK = 8192, MOST_BATCH = 1024, FIRST_PRECISION = 256, LAST_PRECISION = 1 << 20 };

void cell_model_open(cell_model *model, const numbers *of, const dg_sampler *table)
{
    mpq_t half;
    model->of = of;
    model->table = table;
    dg_sampler_describe(&model->info, table);
    model->chunk = dg_sampler_chunk(table);
    mpz_init(model->c);
    mpq_inits(model->f, half, NULL);
    mpq_set_ui(half, 1, 2);
    mpq_add(half, half, of->mu);
    mpz_fdiv_q(model->c, mpq_numref(half), mpq_denref(half));
    mpq_set_z(half, model->c);
    mpq_sub(model->f, of->mu, half);
    mpq_clear(half);
}

void cell_model_close(cell_model *model)
{
    mpz_clear(model->c);
    mpq_clear(model->f);
}

/** One attempt: its row and tick; if its row is mixed, the position; and if its cell is special, the
 *  height. */
typedef struct attempt {
    uint8_t row, position;
    uint64_t tick, height;
    uint8_t *rest;
    mpz_t y;
    bool accepted;
} attempt;

static bool read_bytes(uint8_t *out, size_t n, tape *from)
{
    if (n > from->n - from->used) {
        return false;
    }
    memcpy(out, from->bytes + from->used, n);
    from->used += n;
    return true;
}

static uint64_t little_endian(const uint8_t *bytes, size_t n)
{
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++) {
        word |= (uint64_t)bytes[i] << (8 * i);
    }
    return word;
}

/** out = phi(r), rounded down or up; r >= 0. */
static void phi(mpfr_t out, const mpq_t r, bool up, const numbers *of)
{
    mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
    mpq_t x;
    mpfr_t beta;
    mpq_init(x);
    mpq_div(x, r, of->first);
    if (of->kind == DG_DISCRETE_GAUSSIAN) {
        mpq_mul(x, x, r);
        mpq_div_2exp(x, x, 1);
    }
    mpfr_set_q(out, x, round);
    if (of->kind == DG_GENERALIZED_GAUSSIAN && mpq_sgn(x) > 0) { /* exp(beta ln x) */
        mpfr_init2(beta, mpfr_get_prec(out));
        mpfr_log(out, out, round);
        bool beta_up = up == (mpfr_sgn(out) >= 0); /* below 1 the smaller beta gives more */
        mpfr_set_q(beta, of->beta, beta_up ? MPFR_RNDU : MPFR_RNDD);
        mpfr_mul(out, out, beta, round);
        mpfr_exp(out, out, round);
        mpfr_clear(beta);
    }
    mpq_clear(x);
}

/** For a generalised Gaussian: out <= phi(r) - phi(r0), r > r0 > 0, computed as phi(r0) ((r/r0)^beta - 1), for
 *  numbers beyond MPFR's range. */
static void exponent_by_ratio(mpfr_t out, const mpq_t r, const mpq_t r0, const numbers *of)
{
    mpq_t ratio;
    mpfr_t factor;
    mpq_init(ratio);
    mpfr_init2(factor, mpfr_get_prec(out));
    mpq_div(ratio, r, r0);
    mpfr_set_q(out, ratio, MPFR_RNDD);
    mpfr_log(out, out, MPFR_RNDD);
    mpfr_set_q(factor, of->beta, MPFR_RNDD);
    mpfr_mul(out, out, factor, MPFR_RNDD);
    mpfr_expm1(out, out, MPFR_RNDD);
    phi(factor, r0, false, of);
    mpfr_mul(out, out, factor, MPFR_RNDD);
    mpfr_clear(factor);
    mpq_clear(ratio);
}

/** lower, upper: bounds of g(y). */
static void weight(mpfr_t lower, mpfr_t upper, const mpz_t y, const cell_model *model)
{
    mpq_t r, r0;
    mpfr_t at_zero;
    mpq_inits(r, r0, NULL);
    mpq_set_z(r, y);
    mpq_sub(r, r, model->f);
    mpq_abs(r, r);
    mpq_abs(r0, model->f);
    if (mpq_equal(r, r0)) { /* as far from the centre as y = 0, whose weight is 1 */
        mpfr_set_ui(lower, 1, MPFR_RNDN);
        mpfr_set_ui(upper, 1, MPFR_RNDN);
        mpq_clears(r, r0, NULL);
        return;
    }
    mpfr_init2(at_zero, mpfr_get_prec(lower));
    for (int up = 0; up < 2; up++) {
        mpfr_ptr out = up ? upper : lower;
        phi(out, r, !up, model->of);
        phi(at_zero, r0, up, model->of);
        mpfr_sub(out, at_zero, out, up ? MPFR_RNDU : MPFR_RNDD);
        if (up && mpfr_inf_p(at_zero)) {
            exponent_by_ratio(out, r, r0, model->of);
            mpfr_neg(out, out, MPFR_RNDN);
        } else if (mpfr_nan_p(out)) { /* inf - inf */
            mpfr_set_inf(out, up ? 1 : -1);
        }
        mpfr_exp(out, out, up ? MPFR_RNDU : MPFR_RNDD);
    }
    if (mpfr_cmp_ui(upper, 1) > 0) {
        mpfr_set_ui(upper, 1, MPFR_RNDN);
    }
    mpfr_clear(at_zero);
    mpq_clears(r, r0, NULL);
}

/** Return 1 if T = 2^n_bits (2^i H g(y) - m) is at least F + 1, -1 if it is at most F, and 0 if it is between them. */
static int compare(const mpz_t F, size_t n_bits, uint64_t i, uint32_t m, const mpz_t y,
                   const cell_model *model)
{
    int answer = 2;
    mpz_t next;
    mpz_init(next);
    mpz_add_ui(next, F, 1);
    for (mpfr_prec_t precision = FIRST_PRECISION; answer == 2; precision *= 2) {
        mpfr_t bounds[2];
        REQUIRE(precision <= LAST_PRECISION);
        mpfr_inits2(precision, bounds[0], bounds[1], (mpfr_ptr)0);
        weight(bounds[0], bounds[1], y, model);
        for (int up = 0; up < 2; up++) {
            mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
            mpfr_mul_ui(bounds[up], bounds[up], model->info.height, round);
            mpfr_mul_2ui(bounds[up], bounds[up], i, round);
            mpfr_sub_ui(bounds[up], bounds[up], m, round);
            mpfr_mul_2ui(bounds[up], bounds[up], n_bits, round);
        }
        if (mpfr_cmp_z(bounds[0], next) >= 0) {
            answer = 1;
        } else if (mpfr_cmp_z(bounds[1], F) <= 0) {
            answer = -1;
        } else if (mpfr_cmp_z(bounds[0], F) >= 0 && mpfr_cmp_z(bounds[1], next) <= 0) {
            answer = 0;
        }
        mpfr_clears(bounds[0], bounds[1], (mpfr_ptr)0);
    }
    mpz_clear(next);
    return answer;
}

/** Decide m + f' < 2^i H g(y). f' begins with the height and continues with the tape. */
static bool decide(attempt *of, uint64_t i, uint32_t m, const cell_model *model, tape *from)
{
    uint8_t bytes[8];
    size_t n_bits = 16;
    mpz_t F, more;
    mpz_inits(F, more, NULL);
    mpz_import(F, 1, -1, sizeof of->height, 0, 0, &of->height);
    int answer = compare(F, n_bits, i, m, of->y, model);
    while (answer == 0 && read_bytes(bytes, sizeof bytes, from)) {
        uint64_t word = little_endian(bytes, sizeof bytes);
        mpz_import(more, 1, -1, sizeof word, 0, 0, &word);
        mpz_mul_2exp(F, F, 64);
        mpz_add(F, F, more);
        n_bits += 64;
        answer = compare(F, n_bits, i, m, of->y, model);
    }
    mpz_clears(F, more, NULL);
    of->accepted = answer > 0;
    return answer != 0;
}

/** y = (block 2^tick_bits + tick) 2^(8 rest_bytes) + rest. */
static void set_place(attempt *of, int64_t block, const cell_model *model)
{
    const dg_sampler_info *info = &model->info;
    mpz_t part;
    mpz_init(part);
    mpz_set_si(of->y, block);
    mpz_mul_2exp(of->y, of->y, info->tick_bits);
    mpz_import(part, 1, -1, sizeof of->tick, 0, 0, &of->tick);
    mpz_add(of->y, of->y, part);
    mpz_mul_2exp(of->y, of->y, 8 * info->rest_bytes);
    mpz_import(part, info->rest_bytes, -1, 1, 0, 0, of->rest);
    mpz_add(of->y, of->y, part);
    mpz_clear(part);
}

/** Make the attempt of a tail cell, the `cell`-th of its side. */
static bool attempt_tail(attempt *of, bool left, uint64_t cell, const cell_model *model, tape *from)
{
    const dg_sampler_info *info = &model->info;
    uint64_t level = 0;
    uint8_t byte = 0xFF;
    while (byte == 0xFF) { /* the leading one bits; the byte of the first zero is used up */
        if (!read_bytes(&byte, 1, from)) {
            return false;
        }
        for (int bit = 7; bit >= 0 && (byte >> bit & 1) == 1; bit--) {
            level++;
        }
    }
    int64_t out = (int64_t)((level << info->tail_bits) + cell % (UINT64_C(1) << info->tail_bits));
    set_place(of, left ? info->first_block - 1 - out : info->last_block + 1 + out, model);
    return decide(of, level, 0, model, from);
}

/** Find the cell of an attempt if it is special, otherwise its block. Returns: whether it is special. */
static bool find_cell(uint64_t *cell, int64_t *block, const attempt *of, const cell_model *model)
{
    uint32_t end[2], code[3], special;
    dg_table_row(end, code, &special, of->row, model->table);
    const size_t piece = (size_t)(of->position >= end[0]) + (size_t)(of->position >= end[1]);
    if (code[piece] != DG_SPECIAL_CODE) {
        *block = (int64_t)model->info.coded_first + code[piece];
        REQUIRE(*block <= model->info.coded_last);
        return false;
    }
    *cell = model->info.n_coded + (uint16_t)(of->position + special);
    return true;
}

/** Make an attempt. Returns: false if the tape ended. */
static bool make_attempt(attempt *of, const cell_model *model, tape *from)
{
    const dg_sampler_info *info = &model->info;
    uint64_t cell = 0;
    int64_t coded;
    of->accepted = false;
    if (!find_cell(&cell, &coded, of, model)) {
        set_place(of, coded, model);
        of->accepted = true;
        return true;
    }
    if (cell < info->n_full + info->n_partial) {
        int32_t block;
        uint32_t level;
        dg_table_cell(&block, &level, (uint32_t)cell, model->table);
        set_place(of, block, model);
        if (cell < info->n_full) {
            of->accepted = true;
            return true;
        }
        return decide(of, 0, level, model, from);
    }
    cell -= info->n_full + info->n_partial;
    if (cell < 2 * (uint64_t)info->n_tail_side) {
        bool left = cell < info->n_tail_side;
        return attempt_tail(of, left, left ? cell : cell - info->n_tail_side, model, from);
    }
    return true;
}

/** out = c + y in two's complement. */
static dg_status put(uint8_t *out, size_t n_bytes, const mpz_t y, const cell_model *model)
{
    mpz_t x, end;
    mpz_inits(x, end, NULL);
    mpz_add(x, model->c, y);
    mpz_setbit(end, 8 * n_bytes - 1);
    bool fits = mpz_cmp(x, end) < 0;
    mpz_neg(end, end);
    fits = fits && mpz_cmp(x, end) >= 0;
    memset(out, 0, n_bytes);
    if (fits) {
        mpz_fdiv_r_2exp(x, x, 8 * n_bytes);
        mpz_export(out, NULL, -1, 1, 0, 0, x);
    }
    mpz_clears(x, end, NULL);
    return fits ? DG_OK : DG_ERR_RANGE;
}

/** Read the ticks of n attempts: planes of a byte each, the low ones first, then planes of a bit. */
static bool read_ticks(attempt *attempts, size_t n, const cell_model *model, tape *from)
{
    static uint8_t plane[MOST_BATCH];
    const unsigned tick_bits = model->info.tick_bits;
    for (size_t i = 0; i < n; i++) {
        attempts[i].tick = 0;
    }
    for (unsigned bit = 0; bit < tick_bits;) {
        const bool whole = tick_bits - bit >= 8;
        if (!read_bytes(plane, whole ? n : (n + 7) / 8, from)) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            uint64_t part = whole ? plane[i] : plane[i / 8] >> (i % 8) & 1u;
            attempts[i].tick |= part << bit;
        }
        bit += whole ? 8 : 1;
    }
    return true;
}

/** Read 2 bytes of height for each attempt whose cell is special, even if it will not use them. */
static bool read_heights(attempt *attempts, size_t n, const cell_model *model, tape *from)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[2];
        uint64_t cell;
        int64_t block;
        if (!find_cell(&cell, &block, &attempts[i], model)) {
            continue;
        }
        if (!read_bytes(bytes, sizeof bytes, from)) {
            return false;
        }
        attempts[i].height = little_endian(bytes, sizeof bytes);
    }
    return true;
}

/** Read the rows, ticks, positions, heights and low bytes of n attempts. */
static bool read_attempts(attempt *attempts, size_t n, const cell_model *model, tape *from)
{
    static uint8_t rows[MOST_BATCH];
    uint32_t end[2], code[3], special;
    if (!read_bytes(rows, n, from) || !read_ticks(attempts, n, model, from)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        attempts[i].row = rows[i] & (uint8_t)((1u << model->info.row_bits) - 1);
        attempts[i].position = 0;
        dg_table_row(end, code, &special, attempts[i].row, model->table);
        if (end[0] != 0) {
            if (!read_bytes(&attempts[i].position, 1, from)) {
                return false;
            }
            attempts[i].position &= (uint8_t)((1u << model->info.position_bits) - 1);
        }
    }
    if (!read_heights(attempts, n, model, from)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!read_bytes(attempts[i].rest, model->info.rest_bytes, from)) {
            return false;
        }
    }
    return true;
}

/** One batch: an attempt of each of n items. Ensures: those that fail are appended to `failed`,
 *  which may be the beginning of `items`. */
static dg_status make_batch(uint8_t *out, size_t n_bytes, const uint16_t *items, size_t n,
                            uint16_t *failed, size_t *n_failed, attempt *attempts,
                            const cell_model *model, tape *from)
{
    if (!read_attempts(attempts, n, model, from)) {
        return DG_ERR_SOURCE;
    }
    for (size_t i = 0; i < n; i++) {
        if (!make_attempt(&attempts[i], model, from)) {
            return DG_ERR_SOURCE;
        }
        if (!attempts[i].accepted) {
            failed[(*n_failed)++] = items[i];
        } else if (put(out + items[i] * n_bytes, n_bytes, attempts[i].y, model) != DG_OK) {
            return DG_ERR_RANGE;
        }
    }
    return DG_OK;
}

/** Return how many attempts are made together. */
static size_t batch_of(const cell_model *model)
{
    return model->info.rest_bytes > 0 ? model->chunk : MOST_BATCH;
}

/** Make one round: an attempt for each of n pending items. Ensures: *n are still pending. */
static dg_status make_round(uint8_t *out, size_t n_bytes, uint16_t *pending, size_t *n,
                            attempt *attempts, const cell_model *model, tape *from)
{
    const size_t batch = batch_of(model);
    size_t left = 0;
    for (size_t start = 0; start < *n; start += batch) {
        const size_t some = *n - start < batch ? *n - start : batch;
        dg_status status =
            make_batch(out, n_bytes, pending + start, some, pending, &left, attempts, model, from);
        if (status != DG_OK) {
            return status;
        }
    }
    *n = left;
    return DG_OK;
}

dg_status cell_model_fill(uint8_t *out, size_t n, size_t n_bytes, const cell_model *model,
                          tape *from)
{
    static attempt attempts[MOST_BATCH];
    static uint16_t pending[MOST_CHUNK];
    const size_t chunk = model->chunk, batch = batch_of(model), most = n < batch ? n : batch;
    dg_status status = DG_OK;
    REQUIRE(chunk <= MOST_CHUNK && batch <= MOST_BATCH);
    for (size_t i = 0; i < most; i++) {
        attempts[i].rest = exactly(model->info.rest_bytes);
        mpz_init(attempts[i].y);
    }
    for (size_t done = 0; done < n && status == DG_OK; done += chunk) {
        size_t left = n - done < chunk ? n - done : chunk;
        for (size_t i = 0; i < left; i++) {
            pending[i] = (uint16_t)i;
        }
        while (left > 0 && status == DG_OK) {
            status =
                make_round(out + done * n_bytes, n_bytes, pending, &left, attempts, model, from);
        }
    }
    for (size_t i = 0; i < most; i++) {
        free(attempts[i].rest);
        mpz_clear(attempts[i].y);
    }
    return status;
}
