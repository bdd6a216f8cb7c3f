/* Samplers: parameters as text, methods, draws that do not depend on how a fill is cut into chunks, on threads and on
 * types, and a law for each element. */
#include "bounds/refine.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static uint8_t bytes[1 << 21];

static void check_text(const char *text, const char *same, dg_status expected)
{
    dg_sampler *one = NULL, *other = NULL;
    const dg_status status =
        dg_sampler_new(&one, DG_DISCRETE_GAUSSIAN, "7", text, NULL, DG_REFERENCE);
    CHECK(status == expected, "%s: %s", text, dg_status_text(status));
    CHECK((status == DG_OK) == (one != NULL), "%s", text);
    if (status == DG_OK) {
        CHECK(dg_sampler_new(&other, DG_DISCRETE_GAUSSIAN, "0x7/1", same, "1", DG_REFERENCE) ==
                  DG_OK,
              "%s", same);
        int64_t both[2][100];
        for (int k = 0; k < 2; k++) {
            tape from = {bytes, sizeof bytes, 0};
            const dg_source source = tape_source(&from);
            CHECK(dg_sampler_fill(both[k], 100, DG_INT64, k == 0 ? one : other, NULL, &source) ==
                      DG_OK,
                  "%s", text);
        }
        CHECK(memcmp(both[0], both[1], sizeof both[0]) == 0, "%s is not %s", text, same);
    }
    dg_sampler_free(one);
    dg_sampler_free(other);
}

static void check_texts(void)
{
    static const char *const good[][2] = {
        {"0", "0"},        {"-0", "0"},        {"5", "5"},      {"+5", "5"},
        {"010", "10"},     {"0x10", "16"},     {"0XfF", "255"}, {"-0x1f/0x20", "-31/32"},
        {"6/4", "3/2"},    {"-6/0x4", "-3/2"}, {"0.1", "1/10"}, {"-12.50", "-25/2"},
        {"00.05", "1/20"}, {"0/7", "0"},
    };
    static const char *const bad[] = {"",    "-",    "x",     "1 ",    " 1",  "1/0",   "1/",
                                      "/2",  "1/-2", "0x",    ".5",    "5.",  "1.5/2", "0x1.8",
                                      "1e3", "--1",  "1/2/3", "0.0x1", "nan", "inf",   "1_0"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        check_text(good[i][0], good[i][1], DG_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        check_text(bad[i], "0", DG_ERR_MU);
    }
    /* the longest, and one bit more, decimal and hexadecimal */
    enum { DIGITS = DG_MAX_PARAMETER_BITS / 4 };
    char *text = malloc(4 * DIGITS);
    for (size_t more = 0; more < 2; more++) {
        memset(text, 'f', 4 * DIGITS);
        memcpy(text, "0x0001", 6);
        text[6 + DIGITS - 1 + more] = 0;
        dg_sampler *sampler;
        dg_status status =
            dg_sampler_new(&sampler, DG_DISCRETE_GAUSSIAN, text, NULL, NULL, DG_REFERENCE);
        CHECK(status == (more ? DG_ERR_LONG_PARAMETER : DG_OK), "%zu: %s", more,
              dg_status_text(status));
        dg_sampler_free(sampler);
    }
    memset(text, '9', 4 * DIGITS);
    text[4 * DIGITS - 1] = 0;
    check_text(text, "0", DG_ERR_LONG_MU);
    free(text);
}

static void check_method(dg_law_kind kind, const char *parameter, const char *mu, const char *beta,
                         dg_method method, int expected)
{
    dg_sampler *sampler;
    const dg_status status = dg_sampler_new(&sampler, kind, parameter, mu, beta, method);
    if (expected < 0) {
        CHECK(status == DG_ERR_METHOD && sampler == NULL, "%s by %d", parameter, (int)method);
        return;
    }
    CHECK(status == DG_OK && (int)dg_sampler_method(sampler, 1) == expected, "%s by %d: %d, %s",
          parameter, (int)method, sampler == NULL ? -1 : (int)dg_sampler_method(sampler, 1),
          dg_status_text(status));
    dg_sampler_free(sampler);
}

static void check_methods(void)
{
    const dg_law_kind gaussian = DG_DISCRETE_GAUSSIAN, power = DG_GENERALIZED_GAUSSIAN;
    const int lanes = DG_HAVE_WORDS ? DG_ISOCHRONOUS : DG_REFERENCE;
    check_method(gaussian, "100", NULL, NULL, DG_AUTO, lanes);
    check_method(gaussian, "1/3", "-5/2", NULL, DG_AUTO, lanes);
    check_method(gaussian, "1/0x10000000000000000000", NULL, NULL, DG_AUTO, DG_REFERENCE);
    check_method(gaussian, "0x1000000000000000000000000000000", NULL, NULL, DG_AUTO, DG_REFERENCE);
    check_method(gaussian, "100", "0x8000000000000000000", NULL, DG_AUTO, DG_REFERENCE);
    check_method(gaussian, "100", NULL, NULL, DG_REFERENCE, DG_REFERENCE);
    check_method(gaussian, "100", NULL, NULL, DG_CELLS, DG_CELLS);
    check_method(gaussian, "100", NULL, NULL, (dg_method)4, -1);
    check_method(DG_BERNOULLI, "1/3", NULL, NULL, DG_AUTO, DG_REFERENCE);
    check_method(DG_BERNOULLI, "1/3", NULL, NULL, DG_CELLS, -1);
    check_method(DG_BERNOULLI, "1/3", NULL, NULL, DG_ISOCHRONOUS, -1);
    check_method(power, "10", NULL, "3/2", DG_AUTO, DG_HAVE_WORDS ? DG_ISOCHRONOUS : DG_CELLS);
    check_method(power, "10", NULL, "100", DG_AUTO, DG_CELLS);
    check_method(power, "10", NULL, "3/2", DG_REFERENCE, -1);
    check_method(power, "10", NULL, "100", DG_ISOCHRONOUS, -1);
}

/* Two chunks of isochronous draws and a part; a chunk and a part if all are refined. */
enum { N = DG_ALWAYS_REFINE ? 70000 : 150000 };

static int64_t wanted[N], drawn[N];

/** A pause that goes on. */
static int go_on(void *context)
{
    ++*(int *)context;
    return 0;
}

/** Each instruction set gives the same draws from the same bytes, in one call, in chunks, with pauses, as sums and as
 *  wide integers. */
static void check_options(dg_method method, const char *sigma2, size_t n)
{
    static const int64_t zero[N];
    static uint8_t wide[8 * N];
    for (int isa = DG_ISA_AUTO; isa < PAST_ISA; isa++) {
        dg_sampler *sampler = sampler_of(DG_DISCRETE_GAUSSIAN, sigma2, "1/3", NULL, method,
                                         DG_ARITHMETIC_AUTO, (dg_isa)isa);
        tape from = {bytes, sizeof bytes, 0};
        const dg_source source = tape_source(&from);
        if (sampler == NULL) {
            continue; /* the machine lacks these instructions */
        }
        CHECK(dg_sampler_fill(drawn, n, DG_INT64, sampler, NULL, &source) == DG_OK, "%d", isa);
        if (isa == DG_ISA_AUTO) {
            memcpy(wanted, drawn, n * sizeof *wanted);
        }
        CHECK(memcmp(drawn, wanted, n * sizeof *wanted) == 0, "%s by %d", sigma2, isa);
        const size_t used = from.used, part = dg_sampler_chunk(sampler) * (n < N ? 7 : 1);
        from.used = 0;
        for (size_t first = 0; first < n; first += part) {
            const size_t here = n - first < part ? n - first : part;
            CHECK(dg_sampler_fill(drawn + first, here, DG_INT64, sampler, NULL, &source) == DG_OK,
                  "n");
        }
        CHECK(memcmp(drawn, wanted, n * sizeof *wanted) == 0 && from.used == used, "%s by %d",
              sigma2, isa);
        int n_pauses = 0;
        const dg_run run = {4, go_on, &n_pauses};
        const dg_addend addend = {zero, DG_INT64, NULL, DG_REFUSE, 0};
        for (int how = 0; how < 3; how++) {
            dg_status status;
            from.used = 0;
            memset(drawn, 0, sizeof drawn);
            if (how == 0) {
                status = dg_sampler_fill(drawn, n, DG_INT64, sampler, &run, &source);
            } else if (how == 1) {
                status = dg_sampler_add(drawn, n, &addend, sampler, &run, &source);
            } else if (dg_sampler_wide_bytes(sampler) > 8) {
                continue;
            } else {
                status = dg_sampler_fill_wide(wide, n, 8, sampler, &run, &source);
                for (size_t i = 0; i < n; i++) {
                    uint64_t word = 0;
                    for (size_t k = 0; k < 8; k++) {
                        word |= (uint64_t)wide[8 * i + k] << (8 * k);
                    }
                    drawn[i] = (int64_t)word;
                }
            }
            CHECK(status == DG_OK && memcmp(drawn, wanted, n * sizeof *wanted) == 0 &&
                      from.used == used,
                  "%s by %d, way %d: status %d", sigma2, isa, how, (int)status);
        }
        dg_sampler_free(sampler);
    }
}

enum { N_LAWS = 600 };

static int64_t parameters[2 * N_LAWS], centres[2 * N_LAWS];

/** Return laws whose parameters and centres are ratios. */
static dg_laws ratios(dg_law_kind kind, dg_method method)
{
    return (dg_laws){kind,
                     {(const uint64_t *)parameters, 2, DG_RATIOS},
                     {(const uint64_t *)centres, 2, DG_RATIOS},
                     method};
}

/** By Algorithms 1-3 the draws of an array are those of its laws' samplers, one after the other. */
static void check_laws_by_reference(void)
{
    static const dg_law_kind kinds[] = {DG_BERNOULLI_EXP, DG_DISCRETE_LAPLACE,
                                        DG_DISCRETE_GAUSSIAN};
    for (size_t k = 0; k < 3; k++) {
        const dg_laws laws = ratios(kinds[k], DG_REFERENCE);
        int64_t alone;
        size_t bad;
        for (int64_t i = 0; i < N_LAWS; i++) {
            parameters[2 * i] = 2 * i + 1;
            parameters[2 * i + 1] = 4;
            centres[2 * i] = k == 0 ? 0 : 7 * i - 1000;
            centres[2 * i + 1] = k == 0 || i % 3 == 0 ? 1 : 1 << i % 5;
            while (centres[2 * i] % 2 == 0 && centres[2 * i + 1] > 1) {
                centres[2 * i] /= 2;
                centres[2 * i + 1] /= 2;
            }
        }
        tape from = {bytes, sizeof bytes, 0}, other = from;
        const dg_source source = tape_source(&from), again = tape_source(&other);
        CHECK(dg_laws_fill(drawn, N_LAWS, DG_INT64, &laws, &bad, NULL, &source) == DG_OK &&
                  bad == N_LAWS,
              "kind %d: %zu", (int)kinds[k], bad);
        for (size_t i = 0; i < N_LAWS; i++) {
            char parameter[LONGEST_RATIO], mu[LONGEST_RATIO];
            (void)write_ratio(parameter, parameters[2 * i], 0, parameters[2 * i + 1], 0);
            (void)write_ratio(mu, centres[2 * i], 0, centres[2 * i + 1], 0);
            dg_sampler *sampler = sampler_of(kinds[k], parameter, mu, NULL, DG_REFERENCE,
                                             DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
            CHECK(dg_sampler_fill(&alone, 1, DG_INT64, sampler, NULL, &again) == DG_OK, "%zu", i);
            CHECK(alone == drawn[i], "kind %d, law %zu", (int)kinds[k], i);
            dg_sampler_free(sampler);
        }
        CHECK(from.used == other.used, "%zu %zu", from.used, other.used);
    }
}

/** If lanes hold all laws, isochronous arrays draw what automatic ones draw. Otherwise they are refused before anything
 *  is drawn. So are laws that break a rule, and methods that arrays do not have. */
static void check_laws_in_lanes(void)
{
    int64_t automatic[N_LAWS];
    dg_laws laws = ratios(DG_DISCRETE_GAUSSIAN, DG_AUTO);
    size_t bad;
    tape from = {bytes, sizeof bytes, 0};
    const dg_source source = tape_source(&from);
    CHECK(dg_laws_fill(automatic, N_LAWS, DG_INT64, &laws, NULL, NULL, &source) == DG_OK, "auto");
    laws.method = DG_ISOCHRONOUS;
    from.used = 0;
    const dg_status status = dg_laws_fill(drawn, N_LAWS, DG_INT64, &laws, &bad, NULL, &source);
#if DG_HAVE_WORDS
    CHECK(status == DG_OK && bad == N_LAWS, "isochronous: %d, %zu", (int)status, bad);
    CHECK(memcmp(drawn, automatic, sizeof automatic) == 0, "isochronous: other draws");
#else
    CHECK(status == DG_ERR_METHOD && bad == 0, "there are no lanes");
#endif
    parameters[2 * 555] = 1; /* sigma2 = 2^-20, centred at a half */
    parameters[2 * 555 + 1] = 1 << 20;
    centres[2 * 555] = 1;
    centres[2 * 555 + 1] = 2;
    static const struct {
        dg_law_kind kind;
        int method;
        dg_status status;
        size_t bad;
    } cases[] = {
        {DG_DISCRETE_GAUSSIAN, DG_AUTO, DG_OK, N_LAWS},
        {DG_DISCRETE_GAUSSIAN, DG_REFERENCE, DG_OK, N_LAWS},
        {DG_DISCRETE_GAUSSIAN, DG_ISOCHRONOUS, DG_ERR_METHOD, DG_HAVE_WORDS ? 555 : 0},
        {DG_DISCRETE_GAUSSIAN, DG_CELLS, DG_ERR_METHOD, N_LAWS},
        {DG_DISCRETE_GAUSSIAN, 4, DG_ERR_METHOD, N_LAWS},
        {DG_GENERALIZED_GAUSSIAN, DG_AUTO, DG_ERR_LAWS_KIND, 0},
        {DG_GEOMETRIC_EXP, DG_AUTO, DG_ERR_NO_CENTRE, 0}, /* it has no centre */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        laws = ratios(cases[i].kind, (dg_method)cases[i].method);
        from.used = 0;
        CHECK(dg_laws_fill(drawn, N_LAWS, DG_INT64, &laws, &bad, NULL, &source) ==
                      cases[i].status &&
                  bad == cases[i].bad,
              "case %zu: %zu", i, bad);
        CHECK((from.used > 0) == (cases[i].status == DG_OK), "case %zu: %zu bytes", i, from.used);
    }
    laws = ratios(DG_GEOMETRIC_EXP, DG_ISOCHRONOUS);
    laws.centre = (dg_column){(const uint64_t[]){0}, 0, DG_INTEGERS};
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, &bad, NULL, NULL) == DG_ERR_METHOD && bad == 0,
          "no lanes for this kind");
    laws.method = DG_AUTO;
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, &bad, NULL, NULL) == DG_OK && bad == 3,
          "geometric");
    parameters[2] = 0;
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, &bad, NULL, NULL) == DG_ERR_NOT_POSITIVE &&
              bad == 1,
          "a parameter of 0");
}

int main(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    check_texts();
    check_methods();
    check_options(DG_ISOCHRONOUS, "2", N);
    check_options(DG_ISOCHRONOUS, "1000000", N);
    check_options(DG_CELLS, "100", 5000);
    check_options(DG_CELLS, "0x100000000000000", 5000);
    check_options(DG_REFERENCE, "100", 5000);
    check_laws_by_reference();
    check_laws_in_lanes();
    return report("test_sampler");
}
