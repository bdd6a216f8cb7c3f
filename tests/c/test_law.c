/* The constants of a law are what csrc/law/law.h says, in rational arithmetic, for scales, variances and centres that
 * are fractions, on either side of an integer. */
#include "support.h"

#include "law/law.h"

enum { TRIES = 3000, REACH = 80 };

/** out = num/den. */
static void set_ratio(mpq_t out, const mpz_t num, const mpz_t den)
{
    mpz_set(mpq_numref(out), num);
    mpz_set(mpq_denref(out), den);
    mpq_canonicalize(out);
}

/** Check f = mu - c, in [-1/2, 1/2), c an integer. */
static void check_centre(const dg_law *law, const mpq_t mu)
{
    mpq_t f, sum;
    mpq_inits(f, sum, NULL);
    set_ratio(f, law->n, law->d);
    mpq_set_z(sum, law->c);
    mpq_add(sum, sum, f);
    CHECK(mpq_equal(sum, mu), "c + f = mu");
    CHECK(mpq_cmp_si(f, -1, 2) >= 0 && mpq_cmp_si(f, 1, 2) < 0, "f");
    CHECK(law->centred == (mpq_sgn(f) == 0), "centred");
    mpq_clears(f, sum, NULL);
}

/** Check that the far half-line of a Laplace weighs exp(-(1 - 2 |f|)/scale). */
static void check_side(const dg_law *law, const mpq_t scale)
{
    mpq_t side, weight;
    mpq_inits(side, weight, NULL);
    set_ratio(weight, law->t, law->s);
    CHECK(mpq_equal(weight, scale), "t/s is the scale");
    set_ratio(side, law->side_num, law->side_den);
    set_ratio(weight, law->n, law->d);
    mpq_abs(weight, weight);
    mpq_add(weight, weight, weight);
    mpz_sub(mpq_numref(weight), mpq_denref(weight), mpq_numref(weight));
    mpq_div(weight, weight, scale);
    CHECK(mpq_equal(side, weight), "side = (1 - 2 |f|)/scale");
    mpq_clears(side, weight, NULL);
}

/** out = (y - f)^2 / (2 sigma2) - |y|/t. */
static void set_exponent(mpq_t out, long y, const dg_law *law, const mpq_t sigma2)
{
    mpq_t share;
    mpq_init(share);
    set_ratio(out, law->n, law->d);
    mpq_set_si(share, y, 1);
    mpq_sub(out, share, out);
    mpq_mul(out, out, out);
    mpq_div(out, out, sigma2);
    mpq_div_2exp(out, out, 1);
    mpq_abs(share, share);
    mpz_mul(mpq_denref(share), mpq_denref(share), law->t);
    mpq_canonicalize(share);
    mpq_sub(out, out, share);
    mpq_clear(share);
}

/** out = N(y)/D. Algorithm 3 accepts y with exp(-N(y)/D). */
static void set_acceptance(mpq_t out, long y, const dg_law *law)
{
    mpz_t n;
    mpz_init(n);
    mpz_mul_si(n, law->d, y);
    mpz_sub(n, n, law->n);
    mpz_mul(n, n, n);
    mpz_mul(n, n, law->A);
    mpz_submul_ui(n, law->B, (unsigned long)(y < 0 ? -y : y));
    mpz_sub(n, n, law->M);
    set_ratio(out, n, law->D);
    mpz_clear(n);
}

/** t is above sigma by at most 1. N(y)/D is the law's exponent minus the proposal's, plus a constant. It is negative
 *  nowhere, and with a centre off the integers it is 0 at the best y. */
static void check_gaussian(const dg_law *law, const mpq_t sigma2)
{
    mpq_t difference, exponent, first;
    mpz_t root;
    bool is_least = false;
    mpq_inits(difference, exponent, first, NULL);
    mpz_init(root);
    mpz_fdiv_q(root, mpq_numref(sigma2), mpq_denref(sigma2));
    mpz_sqrt(root, root);
    mpz_add_ui(root, root, 1);
    CHECK(mpz_cmp(law->t, root) == 0 && mpz_cmp_ui(law->s, 1) == 0, "t");
    for (long y = -REACH; y <= REACH; y++) {
        set_acceptance(difference, y, law);
        CHECK(mpq_sgn(difference) >= 0, "accepted more than certainly at %ld", y);
        is_least |= mpq_sgn(difference) == 0;
        set_exponent(exponent, y, law, sigma2);
        mpq_sub(difference, difference, exponent);
        if (y == -REACH) {
            mpq_set(first, difference);
        }
        CHECK(mpq_equal(difference, first), "another law at %ld", y);
    }
    CHECK(is_least || law->centred, "no y is accepted with certainty");
    mpz_clear(root);
    mpq_clears(difference, exponent, first, NULL);
}

static unsigned long below(unsigned long n, uint64_t *state)
{
    return (unsigned long)(next_word(state) % n);
}

int main(void)
{
    uint64_t state = 1;
    mpq_t value, mu;
    mpq_inits(value, mu, NULL);
    for (int i = 0; i < TRIES; i++) {
        const dg_law_kind kind = (dg_law_kind)(DG_DISCRETE_LAPLACE + i % 2);
        const unsigned long most = 2ul << below(11, &state); /* sigma2 up to 2^12 */
        mpq_set_ui(value, 1 + below(most, &state), 1 + below(most, &state));
        mpq_set_si(mu, (long)below(200, &state) - 100, 1 + below(20, &state));
        mpq_canonicalize(value);
        mpq_canonicalize(mu);
        dg_law *law = law_of(kind, DG_ARITHMETIC_AUTO, mpz_get_si(mpq_numref(value)),
                             mpz_get_si(mpq_denref(value)), mpz_get_si(mpq_numref(mu)),
                             mpz_get_si(mpq_denref(mu)));
        check_centre(law, mu);
        if (kind == DG_DISCRETE_LAPLACE) {
            check_side(law, value);
        } else {
            check_gaussian(law, value);
        }
        dg_law_free(law);
    }
    mpq_clears(value, mu, NULL);
    return report("constants of laws");
}
