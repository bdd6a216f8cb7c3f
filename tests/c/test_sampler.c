/* Samplers: parameters as text, methods, draws that are those of the parts, and laws an element. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t bytes[1 << 18];

static void check_text(const char *text, const char *same, dg_status wanted)
{
    dg_sampler *one = NULL, *other = NULL;
    const dg_status status =
        dg_sampler_new(&one, DG_DISCRETE_GAUSSIAN, "7", text, NULL, DG_REFERENCE);
    CHECK(status == wanted, "%s: %s", text, dg_status_text(status));
    CHECK((status == DG_OK) == (one != NULL), "%s", text);
    if (status == DG_OK) {
        CHECK(dg_sampler_new(&other, DG_DISCRETE_GAUSSIAN, "0x7/1", same, "1", DG_REFERENCE) ==
                  DG_OK,
              "%s", same);
        int64_t drawn[2][100];
        for (int k = 0; k < 2; k++) {
            tape from = {bytes, sizeof bytes, 0};
            const dg_source source = tape_source(&from);
            CHECK(dg_sampler_fill(drawn[k], 100, DG_INT64, k == 0 ? one : other, NULL, &source) ==
                      DG_OK,
                  "%s", text);
        }
        CHECK(memcmp(drawn[0], drawn[1], sizeof drawn[0]) == 0, "%s is not %s", text, same);
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
        check_text(bad[i], "0", DG_ERR_PARAMETER);
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
        CHECK(status == (more ? DG_ERR_TOO_LONG : DG_OK), "%zu: %s", more, dg_status_text(status));
        dg_sampler_free(sampler);
    }
    memset(text, '9', 4 * DIGITS);
    text[4 * DIGITS - 1] = 0;
    check_text(text, "0", DG_ERR_TOO_LONG);
    free(text);
}

static void check_method(dg_law_kind kind, const char *parameter, const char *mu, const char *beta,
                         dg_method method, int wanted)
{
    dg_sampler *sampler;
    const dg_status status = dg_sampler_new(&sampler, kind, parameter, mu, beta, method);
    if (wanted < 0) {
        CHECK(status == DG_ERR_PARAMETER && sampler == NULL, "%s by %d", parameter, (int)method);
        return;
    }
    CHECK(status == DG_OK && (int)dg_sampler_method(sampler) == wanted, "%s by %d: %d, %s",
          parameter, (int)method, sampler == NULL ? -1 : (int)dg_sampler_method(sampler),
          dg_status_text(status));
    dg_sampler_free(sampler);
}

static void check_methods(void)
{
    const dg_law_kind gaussian = DG_DISCRETE_GAUSSIAN, power = DG_GENERALIZED_GAUSSIAN;
    check_method(gaussian, "100", NULL, NULL, DG_AUTO, DG_ISOCHRONOUS);
    check_method(gaussian, "1/3", "-5/2", NULL, DG_AUTO, DG_ISOCHRONOUS);
    check_method(gaussian, "1/0x10000000000000000000", NULL, NULL, DG_AUTO, DG_REFERENCE);
    check_method(gaussian, "0x1000000000000000000000000000000", NULL, NULL, DG_AUTO, DG_REFERENCE);
    check_method(gaussian, "100", "0x8000000000000000000", NULL, DG_AUTO, DG_REFERENCE);
    check_method(gaussian, "100", NULL, NULL, DG_REFERENCE, DG_REFERENCE);
    check_method(gaussian, "100", NULL, NULL, DG_CELLS, DG_CELLS);
    check_method(gaussian, "100", NULL, NULL, (dg_method)4, -1);
    check_method(DG_BERNOULLI, "1/3", NULL, NULL, DG_AUTO, DG_REFERENCE);
    check_method(DG_BERNOULLI, "4/3", NULL, NULL, DG_AUTO, -1);
    check_method(DG_BERNOULLI, "1/3", NULL, NULL, DG_CELLS, -1);
    check_method(DG_BERNOULLI, "1/3", NULL, NULL, DG_ISOCHRONOUS, -1);
    check_method(power, "10", NULL, "3/2", DG_AUTO, DG_ISOCHRONOUS);
    check_method(power, "10", NULL, "100", DG_AUTO, DG_CELLS);
    check_method(power, "10", NULL, "3/2", DG_REFERENCE, -1);
    check_method(power, "10", NULL, "100", DG_ISOCHRONOUS, -1);
}

/** A draw takes the same bytes, and is the same, by each instruction set, cut anywhere. */
static void check_options(dg_method method, const char *sigma2)
{
    enum { N = 5000 };
    static int64_t wanted[N], drawn[N];
    for (int isa = DG_ISA_AUTO; isa <= DG_ISA_NEON; isa++) {
        const dg_options options = {DG_ARITHMETIC_AUTO, (dg_isa)isa, 16, -1};
        dg_sampler *sampler;
        tape from = {bytes, sizeof bytes, 0};
        const dg_source source = tape_source(&from);
        if (dg_sampler_new_with(&sampler, DG_DISCRETE_GAUSSIAN, sigma2, "1/3", NULL, method,
                                &options) != DG_OK) {
            continue; /* this machine has no such instructions */
        }
        CHECK(dg_sampler_fill(drawn, N, DG_INT64, sampler, NULL, &source) == DG_OK, "%d", isa);
        if (isa == DG_ISA_AUTO) {
            memcpy(wanted, drawn, sizeof wanted);
        }
        CHECK(memcmp(drawn, wanted, sizeof wanted) == 0, "%s by %d", sigma2, isa);
        const size_t used = from.used, chunk = dg_sampler_chunk(sampler);
        from.used = 0;
        for (size_t first = 0; first < N; first += chunk * 7) {
            const size_t n = N - first < chunk * 7 ? N - first : chunk * 7;
            CHECK(dg_sampler_fill(drawn + first, n, DG_INT64, sampler, NULL, &source) == DG_OK,
                  "n");
        }
        CHECK(memcmp(drawn, wanted, sizeof wanted) == 0 && from.used == used, "%s by %d", sigma2,
              isa);
        dg_sampler_free(sampler);
    }
}

/** Laws that no lanes hold are those of samplers by Algorithms 1-3; a bad law is found first. */
static void check_laws(void)
{
    int64_t ratios[] = {1, 3, 2, 7, 5, 11}, centres[] = {0, 100, -7}, drawn[3], alone[3];
    const char *texts[] = {"1/3", "2/7", "5/11"};
    dg_laws laws = {DG_BERNOULLI_EXP,
                    {(const uint64_t *)ratios, 2, DG_RATIOS},
                    {(const uint64_t *)centres, 0, DG_INTEGERS}};
    size_t bad;
    tape from = {bytes, sizeof bytes, 0}, other = from;
    const dg_source source = tape_source(&from), again = tape_source(&other);
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, &bad, NULL, &source) == DG_OK && bad == 3,
          "laws");
    for (size_t i = 0; i < 3; i++) {
        dg_sampler *sampler;
        CHECK(dg_sampler_new(&sampler, DG_BERNOULLI_EXP, texts[i], NULL, NULL, DG_AUTO) == DG_OK,
              "s");
        CHECK(dg_sampler_fill(alone + i, 1, DG_INT64, sampler, NULL, &again) == DG_OK, "f");
        CHECK(alone[i] == drawn[i], "law %zu", i);
        dg_sampler_free(sampler);
    }
    CHECK(from.used == other.used, "%zu %zu", from.used, other.used);
    laws.kind = DG_DISCRETE_LAPLACE;
    laws.centre.stride = 1;
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, NULL, NULL, NULL) == DG_OK, "laplace");
    CHECK(drawn[1] > 0 && drawn[2] < 40, "centres");
    ratios[2] = 0;
    from.used = 0;
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, &bad, NULL, &source) == DG_ERR_PARAMETER &&
              bad == 1 && from.used == 0,
          "bad %zu", bad);
    laws.kind = DG_GENERALIZED_GAUSSIAN;
    CHECK(dg_laws_fill(drawn, 3, DG_INT64, &laws, &bad, NULL, &source) == DG_ERR_PARAMETER &&
              bad == 0,
          "bad %zu", bad);
}

int main(void)
{
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)next_word(&state);
    }
    check_texts();
    check_methods();
    check_options(DG_ISOCHRONOUS, "2");
    check_options(DG_ISOCHRONOUS, "1000000");
    check_options(DG_CELLS, "100");
    check_options(DG_CELLS, "0x100000000000000");
    check_options(DG_REFERENCE, "100");
    check_laws();
    for (int status = DG_OK; status <= DG_ERR_STOPPED; status++) {
        CHECK(strlen(dg_status_text((dg_status)status)) > 5, "%d", status);
    }
    return report("test_sampler");
}
