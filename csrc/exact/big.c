/* The reference path: the paper's algorithms, as simple as GMP allows. reference.py uses the same names and
 * reads in the same order.
 *
 * Laplace with a rational centre, |f| in (0, 1/2]: the integers fall into two half-lines. The near one begins at c
 * and leads away from f (distances |f| + k, k >= 0). The far one begins at c + sign(f) (distances 1 - |f| + k). On
 * each, k is geometric, Pr[k] ~ exp(-k s/t). The far one weighs exp(-(1 - 2|f|) s/t) <= 1 times as much. So a fair
 * bit selects a side; the far side is kept with Bernoulli(exp(-side)), otherwise the attempt starts again. Then k
 * is drawn. At least half of all attempts succeed.
 */
#include "exact/big.h"

#include "base/memory.h"
#include "base/wipe.h"

dg_status dg_big_open(dg_big *big, const dg_law *law)
{
    if (big->open) {
        return DG_OK;
    }
    DG_TRY(dg_memory_available(law->room_bytes));
    mpz_init2(big->remainder, law->limb_bits);
    mpz_init2(big->below, law->limb_bits);
    mpz_init2(big->num, law->limb_bits);
    mpz_init2(big->den, law->limb_bits);
    mpz_init2(big->scaled, law->limb_bits);
    mpz_init_set_ui(big->one, 1);
    mpz_init2(big->word, law->limb_bits);
    mpz_init2(big->u, law->limb_bits);
    mpz_init2(big->v, law->limb_bits);
    mpz_init2(big->y, law->limb_bits);
    mpz_init2(big->side, 64);
    big->open = true;
    return DG_OK;
}

void dg_big_close(dg_big *big)
{
    if (!big->open) {
        return;
    }
    mpz_ptr all[] = {big->remainder, big->below, big->num, big->den, big->scaled, big->one,
                     big->word,      big->u,     big->v,   big->y,   big->side};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        dg_wipe_mpz(all[i]);
        mpz_clear(all[i]);
    }
    dg_wipe(big, sizeof *big); /* draws swap limbs, so the pointers tell something, too */
    big->open = false;
}

dg_status dg_big_bernoulli(bool *out, const mpz_t a, const mpz_t b, dg_big *big, dg_bits *bits)
{
    mpz_set(big->remainder, a);
    while (mpz_sgn(big->remainder) > 0 && mpz_cmp(big->remainder, b) < 0) {
        uint32_t byte;
        DG_TRY(dg_bits_byte(&byte, bits));
        mpz_mul_2exp(big->remainder, big->remainder, 8);
        mpz_submul_ui(big->remainder, b, byte);
    }
    *out = mpz_sgn(big->remainder) > 0;
    return DG_OK;
}

/** out = the integer of the next n bytes, least significant first. */
static dg_status read_integer(mpz_t out, size_t n, dg_bits *bits)
{
    uint8_t chunk[256];
    dg_status status = DG_OK;
    mpz_set_ui(out, 0);
    mpz_t part;
    mpz_init2(part, 8 * (n + sizeof chunk)); /* room, so that GMP moves no limbs */
    for (size_t done = 0; done < n;) {
        size_t some = n - done < sizeof chunk ? n - done : sizeof chunk;
        status = dg_bits_take(chunk, some, bits);
        if (status != DG_OK) {
            goto done;
        }
        mpz_import(part, some, -1, 1, 0, 0, chunk);
        mpz_mul_2exp(part, part, 8 * done);
        mpz_add(out, out, part);
        done += some;
    }
done:
    dg_wipe(chunk, sizeof chunk);
    dg_wipe_mpz(part);
    mpz_clear(part);
    return status;
}

dg_status dg_big_uniform_below(mpz_t out, const mpz_t n, dg_big *big, dg_bits *bits)
{
    DG_REQUIRES(mpz_sgn(n) > 0);
    size_t n_bytes = dg_uniform_bytes(n);
    DG_TRY(read_integer(big->word, n_bytes, bits));
    mpz_mul(big->word, big->word, n);
    mpz_fdiv_q_2exp(out, big->word, 8 * n_bytes);
    mpz_fdiv_r_2exp(big->word, big->word, 8 * n_bytes);
    mpz_set_ui(big->below, 0);
    mpz_setbit(big->below, 8 * n_bytes);
    mpz_sub(big->below, big->below, big->word);
    bool stays;
    DG_TRY(dg_big_bernoulli(&stays, big->below, n, big, bits));
    if (!stays) {
        mpz_add_ui(out, out, 1);
    }
    return DG_OK;
}

dg_status dg_big_bernoulli_exp_from(bool *out, const mpz_t num, const mpz_t den, unsigned long k,
                                    dg_big *big, dg_bits *bits)
{
    for (;; k++) {
        bool more;
        mpz_mul_ui(big->scaled, den, k);
        DG_TRY(dg_big_bernoulli(&more, num, big->scaled, big, bits));
        if (!more) {
            *out = k % 2 == 1;
            return DG_OK;
        }
    }
}

dg_status dg_big_bernoulli_exp(bool *out, const mpz_t num, const mpz_t den, dg_big *big,
                               dg_bits *bits)
{
    DG_REQUIRES(mpz_sgn(num) >= 0 && mpz_sgn(den) > 0);
    mpz_set(big->num, num);
    while (mpz_cmp(big->num, den) > 0) {
        DG_TRY(dg_big_bernoulli_exp_from(out, big->one, big->one, 1, big, bits));
        if (!*out) {
            return DG_OK;
        }
        mpz_sub(big->num, big->num, den);
    }
    return dg_big_bernoulli_exp_from(out, big->num, den, 1, big, bits);
}

/** Law: Pr[out = k] ~ exp(-k s/t), k >= 0. The first stage of Algorithm 2. */
static dg_status geometric_exp(mpz_t out, const dg_law *law, dg_big *big, dg_bits *bits)
{
    bool keep;
    do {
        DG_TRY(dg_big_uniform_below(big->u, law->t, big, bits));
        DG_TRY(dg_big_bernoulli_exp(&keep, big->u, law->t, big, bits));
    } while (!keep);
    mpz_set_ui(big->v, 0);
    for (;;) {
        DG_TRY(dg_big_bernoulli_exp_from(&keep, big->one, big->one, 1, big, bits));
        if (!keep) {
            break;
        }
        mpz_add_ui(big->v, big->v, 1);
    }
    mpz_addmul(big->u, law->t, big->v);
    mpz_fdiv_q(out, big->u, law->s);
    return DG_OK;
}

/** Law: Pr[*out] = 1/2. */
static dg_status fair(bool *out, dg_big *big, dg_bits *bits)
{
    mpz_set_ui(big->side, 2);
    return dg_big_bernoulli(out, big->one, big->side, big, bits);
}

/** Algorithm 2: Pr[y] ~ exp(-|y| s/t), into big->y. */
static dg_status laplace(const dg_law *law, dg_big *big, dg_bits *bits)
{
    bool negative;
    do {
        DG_TRY(geometric_exp(big->y, law, big, bits));
        DG_TRY(fair(&negative, big, bits));
    } while (negative && mpz_sgn(big->y) == 0);
    if (negative) {
        mpz_neg(big->y, big->y);
    }
    return DG_OK;
}

/** The discrete Laplace around f != 0 (see the top of this file), into big->y. */
static dg_status shifted_laplace(const dg_law *law, dg_big *big, dg_bits *bits)
{
    bool far, keep = true;
    do {
        DG_TRY(fair(&far, big, bits));
        if (far) {
            DG_TRY(dg_big_bernoulli_exp(&keep, law->side_num, law->side_den, big, bits));
        }
    } while (far && !keep);
    DG_TRY(geometric_exp(big->y, law, big, bits));
    if (far) {
        mpz_add_ui(big->y, big->y, 1);
    }
    if (far == (mpz_sgn(law->n) < 0)) {
        mpz_neg(big->y, big->y);
    }
    return DG_OK;
}

dg_status dg_big_accept_gaussian(bool *accept, const mpz_t y, const dg_law *law, dg_big *big,
                                 dg_bits *bits)
{
    mpz_mul(big->num, y, law->d);
    mpz_sub(big->num, big->num, law->n);
    mpz_mul(big->den, big->num, big->num);
    mpz_mul(big->den, big->den, law->A);
    mpz_abs(big->num, y);
    mpz_submul(big->den, law->B, big->num);
    mpz_sub(big->num, big->den, law->M);
    return dg_big_bernoulli_exp(accept, big->num, law->D, big, bits);
}

static dg_status gaussian(const dg_law *law, dg_big *big, dg_bits *bits)
{
    bool accept;
    do {
        DG_TRY(laplace(law, big, bits));
        DG_TRY(dg_big_accept_gaussian(&accept, big->y, law, big, bits));
    } while (!accept);
    return DG_OK;
}

dg_status dg_big_draw(const dg_law *law, dg_big *big, dg_bits *bits)
{
    bool one = false;
    switch (law->kind) {
    case DG_BERNOULLI:
        DG_TRY(dg_big_bernoulli(&one, law->a, law->b, big, bits));
        mpz_set_ui(big->y, one);
        return DG_OK;
    case DG_BERNOULLI_EXP:
        DG_TRY(dg_big_bernoulli_exp(&one, law->a, law->b, big, bits));
        mpz_set_ui(big->y, one);
        return DG_OK;
    case DG_UNIFORM_BELOW:
        return dg_big_uniform_below(big->y, law->a, big, bits);
    case DG_GEOMETRIC_EXP:
        return geometric_exp(big->y, law, big, bits);
    case DG_DISCRETE_LAPLACE:
        DG_TRY(law->centred ? laplace(law, big, bits) : shifted_laplace(law, big, bits));
        break;
    case DG_DISCRETE_GAUSSIAN:
        DG_TRY(gaussian(law, big, bits));
        break;
    case DG_GENERALIZED_GAUSSIAN:
        return DG_ERR_METHOD; /* has no algorithm here */
    }
    mpz_add(big->y, big->y, law->c);
    return DG_OK;
}
