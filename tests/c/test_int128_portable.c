/* Integers of two words, against the compiler's 128-bit integers if it has them, otherwise against identities.
 * Products are also computed in halves. */
#include "support.h"

#include "base/int128.h"
#include "base/int128_portable.h"

static bool same(dg_int128 a, dg_int128 b)
{
    return a.high == b.high && a.low == b.low;
}

/** Return a word with long runs of equal bits, which cause carries. */
static uint64_t ragged(uint64_t *state)
{
    const uint64_t kind = next_word(state);
    uint64_t word = next_word(state) >> (kind >> 8 & 63);
    word = (kind & 1) != 0 ? ~word : word;
    return (kind & 2) != 0 ? word << (kind >> 16 & 63) : word;
}

static void test_products(int64_t a, uint64_t b)
{
    dg_int128 product = dg_int128_product(a, b);
    CHECK(same(product, dg_int128_product_by_halves(a, b)), "%lld", (long long)a);
#if DG_HAVE_WORDS
    dg_i128 expected = (dg_i128)a * (dg_i128)b;
    CHECK(product.high == (int64_t)(expected >> 64), "%lld", (long long)a);
    CHECK(product.low == (uint64_t)expected, "%lld", (long long)a);
#endif
    /* (a + 1) b = a b + b */
    if (a < INT64_MAX) {
        dg_int128 next = dg_int128_add(product, dg_int128_of_unsigned(b));
        CHECK(same(dg_int128_product(a + 1, b), next), "%lld", (long long)a);
    }
}

static void test_steps(dg_int128 a, dg_int128 b)
{
    CHECK(same(dg_int128_add(a, b), dg_int128_add(b, a)), "a + b");
    CHECK(!(dg_int128_less(a, b) && dg_int128_less(b, a)), "a < b < a");
    CHECK(dg_int128_less(a, b) || dg_int128_less(b, a) || same(a, b), "a and b are not ordered");
    for (unsigned n = 0; n < 64; n++) {
        dg_int128 down = dg_int128_down(a, n);
        dg_int128 low = {0, a.low & ((UINT64_C(1) << n) - 1)};
        CHECK(same(dg_int128_add(dg_int128_up(down, n), low), a), "shift by %u", n);
#if DG_HAVE_WORDS
        dg_i128 expected = (((dg_i128)a.high * ((dg_i128)1 << 64)) | a.low) >> n;
        CHECK(down.high == (int64_t)(expected >> 64), "shift by %u", n);
        CHECK(down.low == (uint64_t)expected, "shift by %u", n);
#endif
    }
}

int main(void)
{
    static const uint64_t corners[] = {0,
                                       1,
                                       2,
                                       UINT32_MAX,
                                       UINT64_C(1) << 32,
                                       INT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    enum { N_CORNERS = sizeof corners / sizeof *corners };
    for (size_t i = 0; i < N_CORNERS; i++) {
        for (size_t j = 0; j < N_CORNERS; j++) {
            test_products((int64_t)corners[i], corners[j]);
        }
    }
    uint64_t state = 20261121;
    for (int i = 0; i < 20000; i++) {
        uint64_t word[4];
        for (size_t k = 0; k < 4; k++) {
            word[k] = ragged(&state);
        }
        test_products((int64_t)word[0], word[1]);
        /* a quarter of the range, so that sums stay in it */
        test_steps((dg_int128){(int64_t)word[0] >> 2, word[1]},
                   (dg_int128){(int64_t)word[2] >> 2, word[3]});
    }
    /* high words beyond int64_t, whose carry brings the sum back */
    CHECK(same(dg_int128_add((dg_int128){INT64_MIN, UINT64_MAX}, (dg_int128){-1, 1}),
               (dg_int128){INT64_MIN, 0}),
          "-2^127");
    CHECK(same(dg_int128_of(-1), (dg_int128){-1, UINT64_MAX}), "-1");
    CHECK(same(dg_int128_of(INT64_MIN), (dg_int128){-1, UINT64_C(1) << 63}), "-2^63");
    CHECK(dg_int128_less(dg_int128_of(-1), dg_int128_of(0)), "-1 < 0");
    CHECK(dg_int128_less(dg_int128_of(-2), dg_int128_of(-1)), "-2 < -1");
    CHECK(dg_int128_less(dg_int128_of_unsigned(UINT64_MAX), (dg_int128){1, 0}), "2^64 - 1 < 2^64");
    return report("integers of two words");
}
