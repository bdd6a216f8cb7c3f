/* DG_AUTO: by which method n draws are drawn is a function of the law and of n. */
#include "support.h"

#include <limits.h>
#include <string.h>

typedef struct auto_case {
    dg_law_kind kind;
    const char *parameter, *mu, *beta;
    int bits; /* 2^bits draws and more are by cells */
    dg_method first;
} auto_case;

static const auto_case cases[] = {
    /* sigma = 13.4 and 13.5, 53.9 and 54: on each side 127 blocks of 1, 2, 4, 8 integers hold what is above 2^-64 */
    {DG_DISCRETE_GAUSSIAN, "179.56", NULL, NULL, 16, DG_ISOCHRONOUS},
    {DG_DISCRETE_GAUSSIAN, "179.56", "1/2", NULL, 16, DG_ISOCHRONOUS},
    {DG_DISCRETE_GAUSSIAN, "182.25", NULL, NULL, 18, DG_ISOCHRONOUS},
    {DG_DISCRETE_GAUSSIAN, "2905.21", NULL, NULL, 18, DG_ISOCHRONOUS},
    {DG_DISCRETE_GAUSSIAN, "2916", NULL, NULL, 19, DG_ISOCHRONOUS},
    {DG_DISCRETE_LAPLACE, "2.8", NULL, NULL, 16, DG_ISOCHRONOUS},
    {DG_DISCRETE_LAPLACE, "2.9", NULL, NULL, 18, DG_ISOCHRONOUS},
    {DG_DISCRETE_LAPLACE, "1000000", NULL, NULL, 18, DG_ISOCHRONOUS},
    {DG_GENERALIZED_GAUSSIAN, "10", NULL, "3/2", 16, DG_ISOCHRONOUS},
    {DG_GENERALIZED_GAUSSIAN, "1000", NULL, "3/2", 19, DG_ISOCHRONOUS},
    /* beyond isochronous draws */
    {DG_DISCRETE_GAUSSIAN, "100", "0x4000000000000000", NULL, 12, DG_REFERENCE},
    {DG_DISCRETE_LAPLACE, "0x1000000000000000000", NULL, NULL, 12, DG_REFERENCE},
    /* one method alone */
    {DG_GENERALIZED_GAUSSIAN, "10", NULL, "100", 0, DG_CELLS},
    {DG_UNIFORM_BELOW, "6", NULL, NULL, 64, DG_REFERENCE},
    {DG_GEOMETRIC_EXP, "1/3", NULL, NULL, 64, DG_REFERENCE},
};

enum { N_CASES = sizeof cases / sizeof *cases };

/** Return the first method of a law, or the next one without words of 128 bits. */
static dg_method first_of(const auto_case *of)
{
    if (DG_HAVE_WORDS || of->first != DG_ISOCHRONOUS) {
        return of->first;
    }
    return of->kind == DG_GENERALIZED_GAUSSIAN ? DG_CELLS : DG_REFERENCE;
}

/** Return the least number of draws by cells; SIZE_MAX: there is none. */
static size_t bulk_of(const auto_case *of)
{
    const int bits = !DG_HAVE_WORDS && of->bits < 64 ? 12 : of->bits;
    return first_of(of) == DG_CELLS ? 0 : bits == 64 ? SIZE_MAX : (size_t)1 << bits;
}

static dg_sampler *made(const auto_case *of, dg_method method)
{
    return sampler_of(of->kind, of->parameter, of->mu, of->beta, method, DG_ARITHMETIC_AUTO,
                      DG_ISA_AUTO);
}

static void check_methods(const auto_case *of)
{
    dg_sampler *sampler = made(of, DG_AUTO);
    const size_t bulk = bulk_of(of);
    CHECK(dg_sampler_method(sampler, bulk) == (bulk == SIZE_MAX ? first_of(of) : DG_CELLS),
          "%s, many", of->parameter);
    if (bulk > 0) {
        CHECK(dg_sampler_method(sampler, bulk - 1) == first_of(of), "%s, few", of->parameter);
        CHECK(dg_sampler_method(sampler, 0) == first_of(of), "%s, none", of->parameter);
    }
    dg_sampler_free(sampler);
    sampler = made(of, first_of(of)); /* a method that is asked for draws any number */
    CHECK(dg_sampler_method(sampler, SIZE_MAX) == first_of(of), "%s, asked for", of->parameter);
    dg_sampler_free(sampler);
}

/* --- draws -------------------------------------------------------------------------------------- */

enum { MOST = 1 << 16 };

/** Bytes that a seed determines. */
typedef struct stream {
    uint64_t state, word;
    size_t used;
} stream;

static int read_stream(void *context, uint8_t *out, size_t n)
{
    stream *from = context;
    for (size_t i = 0; i < n; i++) {
        from->word = from->used++ % 8 == 0 ? next_word(&from->state) : from->word >> 8;
        out[i] = (uint8_t)from->word;
    }
    return 0;
}

/** Fill from the first bytes of the stream. Returns: how many bytes the draws took. */
static size_t draw(int64_t *out, size_t n, const dg_sampler *by)
{
    stream from = {.state = 62};
    const dg_source source = {DG_SOURCE_CALLER, read_stream, &from};
    CHECK(dg_sampler_fill(out, n, DG_INT64, by, NULL, &source) == DG_OK, "%zu draws", n);
    return from.used;
}

/** Few draws are by the first method and many by cells, also when the table is there. */
static void check_draws(const auto_case *of)
{
    static int64_t wanted[2][MOST], drawn[MOST];
    const size_t bulk = bulk_of(of);
    size_t n_bytes[2];
    dg_sampler *few = made(of, first_of(of)), *many = made(of, DG_CELLS);
    dg_sampler *sampler = made(of, DG_AUTO);
    n_bytes[0] = draw(wanted[0], bulk - 1, few);
    n_bytes[1] = draw(wanted[1], bulk, many);
    CHECK(memcmp(wanted[0], wanted[1], (bulk - 1) * sizeof *drawn) != 0, "%s: blind",
          of->parameter);
    for (size_t i = 0; i < 4; i++) {
        const size_t is_many = i % 2, n = bulk - 1 + is_many;
        CHECK(draw(drawn, n, sampler) == n_bytes[is_many], "%s, %zu: bytes", of->parameter, i);
        CHECK(memcmp(drawn, wanted[is_many], n * sizeof *drawn) == 0, "%s, %zu", of->parameter, i);
    }
    dg_sampler_free(few);
    dg_sampler_free(many);
    dg_sampler_free(sampler);
}

/** Parts of an array are drawn as the whole. */
static void check_parts(const auto_case *of)
{
    const dg_sampler *by, *again;
    dg_sampler *sampler = made(of, DG_AUTO);
    const size_t bulk = bulk_of(of);
    CHECK(dg_sampler_for(&by, bulk - 1, sampler) == DG_OK && by == sampler, "%s", of->parameter);
    CHECK(dg_sampler_for(&by, bulk, sampler) == DG_OK && dg_sampler_method(by, 1) == DG_CELLS, "%s",
          of->parameter);
    CHECK(dg_sampler_for(&again, SIZE_MAX, sampler) == DG_OK && again == by, "%s: a second table",
          of->parameter);
    dg_sampler_free(sampler);
}

int main(void)
{
    for (size_t i = 0; i < N_CASES; i++) {
        check_methods(&cases[i]);
        if (bulk_of(&cases[i]) > 0 && bulk_of(&cases[i]) <= MOST) {
            check_parts(&cases[i]);
        }
    }
    check_draws(&cases[0]);  /* narrow */
    check_draws(&cases[10]); /* by Algorithms 1-3 */
    return report("auto");
}
