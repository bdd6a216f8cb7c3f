/* Every wrong argument of every public function has a status whose text names the argument and its rule. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

static bool seen[DG_ERR_DOUBLINGS + 1];

/** Check that a call was refused with a text that has the argument's name first, and its rule. */
static void refused_(dg_status status, dg_status wanted, const char *name, const char *rule,
                     int line)
{
    const char *text = dg_status_text(status);
    CHECK(status == wanted && strncmp(text, name, strlen(name)) == 0 && strstr(text, rule) != NULL,
          "line %d: status %d, %s", line, (int)status, text);
    seen[wanted] = true;
}
#define REFUSED(call, status, name, rule) refused_((call), (status), (name), (rule), __LINE__)

static dg_status new_sampler(dg_law_kind kind, const char *parameter, const char *mu,
                             const char *beta, int method)
{
    dg_sampler *sampler = (dg_sampler *)&parameter; /* must be overwritten */
    const dg_status status = dg_sampler_new(&sampler, kind, parameter, mu, beta, (dg_method)method);
    CHECK((sampler != NULL) == (status == DG_OK), "status %d", (int)status);
    dg_sampler_free(sampler);
    return status;
}

/** Write a number of more bits than DG_MAX_PARAMETER_BITS. */
static char *too_long(void)
{
    const size_t n = DG_MAX_PARAMETER_BITS / 4 + 1;
    char *text = malloc(n + 3);
    memset(text, 'f', n + 2);
    memcpy(text, "0x", 2);
    text[n + 2] = 0;
    return text;
}

static void test_laws(const char *longer)
{
    static const struct {
        dg_law_kind kind;
        dg_status status;
        const char *wrong, *rule;
    } rules[] = {
        {DG_BERNOULLI, DG_ERR_PROBABILITY, "3/2", "from 0 to 1"},
        {DG_UNIFORM_BELOW, DG_ERR_N_VALUES, "3/2", "an integer >= 1"},
        {DG_BERNOULLI_EXP, DG_ERR_NEGATIVE, "-1/9", ">= 0"},
        {DG_GEOMETRIC_EXP, DG_ERR_NOT_POSITIVE, "0", "> 0"},
        {DG_DISCRETE_LAPLACE, DG_ERR_NOT_POSITIVE, "0", "> 0"},
        {DG_DISCRETE_GAUSSIAN, DG_ERR_NOT_POSITIVE, "0", "> 0"},
        {DG_GENERALIZED_GAUSSIAN, DG_ERR_NOT_POSITIVE, "0", "> 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const dg_law_kind kind = rules[i].kind;
        const char *const wrong[] = {rules[i].wrong, "-1", "1e3", "1/0", "", NULL};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            const dg_status status = new_sampler(kind, wrong[k], NULL, NULL, DG_AUTO);
            REFUSED(status, rules[i].status, "parameter must", rules[i].rule);
            REFUSED(status, rules[i].status, "parameter must", "number, such as");
        }
        REFUSED(new_sampler(kind, longer, NULL, NULL, DG_AUTO), DG_ERR_LONG_PARAMETER,
                "parameter must", "65536 bits");
        REFUSED(new_sampler(kind, "1", "1/0", NULL, DG_AUTO), DG_ERR_MU, "mu must", "number");
        REFUSED(new_sampler(kind, "1", " 1", NULL, DG_AUTO), DG_ERR_MU, "mu must", "number");
        REFUSED(new_sampler(kind, "1", longer, NULL, DG_AUTO), DG_ERR_LONG_MU, "mu must",
                "65536 bits");
        REFUSED(new_sampler(kind, "1", NULL, NULL, 4), DG_ERR_METHOD, "method must", "dg_method");
        const bool has_centre = kind >= DG_DISCRETE_LAPLACE;
        if (!has_centre) {
            REFUSED(new_sampler(kind, "1", "1/3", NULL, DG_AUTO), DG_ERR_NO_CENTRE, "mu must",
                    "0 for laws that have no centre");
            REFUSED(new_sampler(kind, "1", NULL, NULL, DG_CELLS), DG_ERR_METHOD, "method must",
                    "draws the law");
        }
        CHECK(new_sampler(kind, "1", has_centre ? "1/3" : "0", "x", DG_AUTO) ==
                  (kind == DG_GENERALIZED_GAUSSIAN ? DG_ERR_BETA : DG_OK),
              "kind %d: only the generalised Gaussian reads beta", (int)kind);
    }
    const dg_law_kind kind = DG_GENERALIZED_GAUSSIAN;
    REFUSED(new_sampler(kind, "1", NULL, "99/100", DG_AUTO), DG_ERR_BETA, "beta must", ">= 1");
    REFUSED(new_sampler(kind, "1", NULL, "1e1", DG_AUTO), DG_ERR_BETA, "beta must", "number");
    REFUSED(new_sampler(kind, "1", NULL, longer, DG_AUTO), DG_ERR_LONG_BETA, "beta must", "65536");
    REFUSED(new_sampler(kind, "1/3", "1/3", "0x400000000000000000000000000000000", DG_AUTO),
            DG_ERR_STEEP_BETA, "beta must", "smaller");
    REFUSED(new_sampler(kind, "1", NULL, NULL, DG_REFERENCE), DG_ERR_METHOD, "method must", "law");
    REFUSED(new_sampler((dg_law_kind)7, "1", NULL, NULL, DG_AUTO), DG_ERR_KIND, "kind must",
            "dg_law_kind");
}

static void test_fills(void)
{
    int64_t out[4] = {0}, values[4] = {0};
    dg_sampler *cells, *exact;
    CHECK(dg_sampler_new(&cells, DG_DISCRETE_GAUSSIAN, "100", NULL, NULL, DG_CELLS) == DG_OK, "1");
    CHECK(dg_sampler_new(&exact, DG_DISCRETE_GAUSSIAN, "100", NULL, NULL, DG_REFERENCE) == DG_OK,
          "2");
    const dg_dtype no_dtype = (dg_dtype)8;
    REFUSED(dg_sampler_fill(out, 4, no_dtype, cells, NULL, NULL), DG_ERR_DTYPE, "dtype must",
            "dg_dtype");
    REFUSED(dg_sampler_fill_wide((uint8_t *)out, 1, dg_sampler_wide_bytes(cells) - 1, cells, NULL,
                                 NULL),
            DG_ERR_N_BYTES, "n_bytes must", "dg_sampler_wide_bytes");
    dg_addend addend = {.values = values, .dtype = no_dtype};
    uint64_t ends[2];
    REFUSED(dg_sampler_add(out, 4, &addend, cells, NULL, NULL), DG_ERR_ADDEND_DTYPE,
            "addend->dtype must", "dg_dtype");
    REFUSED(dg_addend_ends(ends, 4, &addend, 1, NULL), DG_ERR_ADDEND_DTYPE, "addend->dtype must",
            "dg_dtype");
    addend = (dg_addend){.values = values, .dtype = DG_INT64, .overflow = (dg_overflow)3};
    REFUSED(dg_sampler_add(out, 4, &addend, cells, NULL, NULL), DG_ERR_OVERFLOW,
            "addend->overflow must", "dg_overflow");
    static const uint8_t key[32] = {1};
    REFUSED(dg_noise_at(out, 4, no_dtype, cells, 0, key), DG_ERR_DTYPE, "dtype must", "dg_dtype");
    REFUSED(dg_noise_at(out, 4, DG_INT64, exact, 0, key), DG_ERR_NOISE_SAMPLER, "sampler must",
            "DG_CELLS");
    REFUSED(dg_noise_at(out, 4, DG_INT64, cells, UINT64_MAX - 3, key), DG_ERR_LAST_ITEM,
            "first_item + n must", "2^64");
    REFUSED(dg_words_fill(out, 4, no_dtype, NULL, NULL), DG_ERR_DTYPE, "dtype must", "dg_dtype");
    REFUSED(dg_words_fill(out, 4, DG_INT64, NULL, NULL), DG_ERR_SIGNED, "dtype must", "unsigned");
    for (size_t i = 0; i < 4; i++) {
        CHECK(out[i] == 0, "item %zu was drawn", i);
    }
    dg_sampler_free(cells);
    dg_sampler_free(exact);
}

/** Fill from two laws of a kind, the first one right, and check which is refused. */
static dg_status fill_laws(dg_law_kind kind, dg_column parameter, dg_column centre, int method)
{
    const dg_laws laws = {kind, parameter, centre, (dg_method)method};
    int64_t out[2] = {0};
    size_t bad = 7;
    const dg_status status = dg_laws_fill(out, 2, DG_INT64, &laws, &bad, NULL, NULL);
    CHECK(bad == (parameter.stride + centre.stride > 0 ? 1 : 0) || status == DG_ERR_METHOD,
          "law %zu", bad);
    CHECK(out[0] == 0 && out[1] == 0, "a law was drawn");
    return status;
}

static void test_many_laws(void)
{
    static const uint64_t right[2] = {1, 0}, zero[1] = {0};
    static const uint64_t wrong[2] = {1, 2}, none[2] = {1, 0}, negative[2] = {1, UINT64_MAX};
    static const uint64_t halves[4] = {1, 1, 1, 2}, by_zero[4] = {1, 1, 1, 0};
    static const uint64_t infinite[2] = {UINT64_C(0x3FF0000000000000),
                                         UINT64_C(0x7FF0000000000000)},
                          minus_one[2] = {UINT64_C(0x3FF0000000000000),
                                          UINT64_C(0xBFF0000000000000)};
    const dg_column one = {right, 0, DG_INTEGERS}, centred = {zero, 0, DG_INTEGERS};
    const dg_column infinite_ones = {infinite, 1, DG_FLOATS}, no_ratios = {by_zero, 2, DG_RATIOS};
    const dg_law_kind kind = DG_DISCRETE_GAUSSIAN;
    const struct {
        dg_law_kind kind;
        dg_column parameter;
        dg_status status;
        const char *rule;
    } rules[] = {
        {DG_BERNOULLI, {wrong, 1, DG_INTEGERS}, DG_ERR_PROBABILITY, "from 0 to 1"},
        {DG_UNIFORM_BELOW, {halves, 2, DG_RATIOS}, DG_ERR_N_VALUES, "integer >= 1"},
        {DG_BERNOULLI_EXP, {negative, 1, DG_INTEGERS}, DG_ERR_NEGATIVE, ">= 0"},
        {DG_GEOMETRIC_EXP, {none, 1, DG_INTEGERS}, DG_ERR_NOT_POSITIVE, "> 0"},
        {DG_DISCRETE_LAPLACE, {none, 1, DG_INTEGERS}, DG_ERR_NOT_POSITIVE, "> 0"},
        {DG_DISCRETE_GAUSSIAN, {none, 1, DG_INTEGERS}, DG_ERR_NOT_POSITIVE, "> 0"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        REFUSED(fill_laws(rules[i].kind, rules[i].parameter, centred, DG_AUTO), rules[i].status,
                "parameter must", rules[i].rule);
    }
    REFUSED(fill_laws(kind, infinite_ones, centred, DG_AUTO), DG_ERR_LAWS_PARAMETER,
            "laws->parameter must", "finite");
    REFUSED(fill_laws(kind, no_ratios, centred, DG_AUTO), DG_ERR_LAWS_PARAMETER,
            "laws->parameter must", "denominators >= 1");
    REFUSED(fill_laws(kind, (dg_column){infinite, 1, DG_ROOTS}, centred, DG_AUTO),
            DG_ERR_LAWS_PARAMETER, "laws->parameter must", "finite");
    REFUSED(fill_laws(kind, (dg_column){minus_one, 1, DG_ROOTS}, centred, DG_AUTO),
            DG_ERR_NOT_POSITIVE, "parameter must", "> 0");
    REFUSED(fill_laws(kind, (dg_column){right, 0, (dg_number_format)4}, centred, DG_AUTO),
            DG_ERR_LAWS_PARAMETER, "laws->parameter must", "dg_number_format");
    REFUSED(fill_laws(kind, one, infinite_ones, DG_AUTO), DG_ERR_LAWS_CENTRE, "laws->centre must",
            "finite");
    REFUSED(fill_laws(kind, one, no_ratios, DG_AUTO), DG_ERR_LAWS_CENTRE, "laws->centre must",
            "denominators >= 1");
    REFUSED(fill_laws(kind, one, (dg_column){right, 0, (dg_number_format)4}, DG_AUTO),
            DG_ERR_LAWS_CENTRE, "laws->centre must", "dg_number_format");
    REFUSED(fill_laws(kind, one, (dg_column){zero, 0, DG_ROOTS}, DG_AUTO), DG_ERR_LAWS_CENTRE,
            "laws->centre must", "dg_number_format");
    REFUSED(fill_laws(DG_GEOMETRIC_EXP, one, (dg_column){(const uint64_t[]){0, 1}, 1, DG_INTEGERS},
                      DG_AUTO),
            DG_ERR_NO_CENTRE, "mu must", "no centre");
    REFUSED(fill_laws(DG_GENERALIZED_GAUSSIAN, one, centred, DG_AUTO), DG_ERR_LAWS_KIND,
            "laws->kind must", "not DG_GENERALIZED_GAUSSIAN");
    REFUSED(fill_laws((dg_law_kind)7, one, centred, DG_AUTO), DG_ERR_LAWS_KIND, "laws->kind must",
            "dg_law_kind");
    REFUSED(fill_laws(kind, one, centred, DG_CELLS), DG_ERR_METHOD, "method must", "draws the law");
    const dg_laws laws = {kind, one, centred, DG_AUTO};
    int64_t out[1];
    REFUSED(dg_laws_fill(out, 1, (dg_dtype)8, &laws, NULL, NULL, NULL), DG_ERR_DTYPE, "dtype must",
            "dg_dtype");
}

static void test_mechanisms(const char *longer)
{
    static const uint8_t gaps[2] = {0, 9};
    dg_selection *selection;
    dg_snapping *snapping;
    const dg_selection_kind kind = DG_EXPONENTIAL;
#define NEW_SELECTION(kind, rate, gaps, gap_bytes, k)                                              \
    dg_selection_new(&selection, (dg_selection_kind)(kind), rate, gaps, gap_bytes, 1, k, NULL)
    REFUSED(NEW_SELECTION(2, "1", gaps, 1, 2), DG_ERR_SELECTION_KIND, "kind must",
            "dg_selection_kind");
    REFUSED(NEW_SELECTION(kind, "1 ", gaps, 1, 2), DG_ERR_RATE, "rate must", "number");
    REFUSED(NEW_SELECTION(kind, "-1/3", gaps, 1, 2), DG_ERR_RATE, "rate must", ">= 0");
    REFUSED(NEW_SELECTION(kind, longer, gaps, 1, 2), DG_ERR_LONG_RATE, "rate must", "65536 bits");
    REFUSED(NEW_SELECTION(kind, "1", gaps, 0, 2), DG_ERR_GAP_BYTES, "gap_bytes must", "1 to 16384");
    REFUSED(NEW_SELECTION(kind, "1", gaps, 16385, 2), DG_ERR_GAP_BYTES, "gap_bytes must", "16384");
    REFUSED(NEW_SELECTION(kind, "1", gaps, 1, 0), DG_ERR_K, "k must", "1 to 2^55 - 1");
#if SIZE_MAX > UINT32_MAX
    REFUSED(NEW_SELECTION(kind, "1", gaps, 1, (size_t)1 << 55), DG_ERR_K, "k must", "2^55");
#else
    seen[DG_ERR_K] = true;
#endif
    REFUSED(NEW_SELECTION(kind, "1", gaps + 1, 1, 1), DG_ERR_GAPS, "gaps must", "0 in each row");
    CHECK(selection == NULL, "a selection was left");
    int64_t out[1];
    CHECK(dg_selection_new(&selection, kind, "1", gaps, 1, 0, 2, NULL) == DG_OK, "no rows");
    REFUSED(dg_selection_fill(out, 1, DG_INT64, selection, NULL, NULL), DG_ERR_N_ROWS,
            "n_rows must", "at least 1");
    REFUSED(dg_selection_fill(out, 1, (dg_dtype)8, selection, NULL, NULL), DG_ERR_DTYPE,
            "dtype must", "dg_dtype");
    dg_selection_free(selection);

    REFUSED(dg_snapping_new(&snapping, "2", 0, NULL, NULL), DG_ERR_STEP, "step must", "0 to 1");
    REFUSED(dg_snapping_new(&snapping, "-1", 0, NULL, NULL), DG_ERR_STEP, "step must", "0 to 1");
    REFUSED(dg_snapping_new(&snapping, "", 0, NULL, NULL), DG_ERR_STEP, "step must", "number");
    REFUSED(dg_snapping_new(&snapping, longer, 0, NULL, NULL), DG_ERR_LONG_STEP, "step must",
            "65536 bits");
    REFUSED(dg_snapping_new(&snapping, "1/2", 1, NULL, NULL), DG_ERR_SHORT_STEP, "step must",
            "above 1/2 unless doublings is 0");
    REFUSED(dg_snapping_new(&snapping, "1", 64, NULL, NULL), DG_ERR_DOUBLINGS, "doublings must",
            "below 64");
    CHECK(snapping == NULL, "a snapping was left");
    CHECK(dg_snapping_new(&snapping, "1", 0, NULL, NULL) == DG_OK, "a step");
    REFUSED(dg_snapping_fill(out, 1, (dg_dtype)8, snapping, NULL, NULL), DG_ERR_DTYPE, "dtype must",
            "dg_dtype");
    dg_snapping_free(snapping);
}

int main(void)
{
    char *longer = too_long();
    test_laws(longer);
    test_fills();
    test_many_laws();
    test_mechanisms(longer);
    free(longer);
    for (int status = DG_OK; status <= DG_ERR_DOUBLINGS; status++) {
        const char *text = dg_status_text((dg_status)status);
        CHECK(status < DG_ERR_KIND || seen[status], "no argument has status %d", status);
        for (int other = DG_OK; other < status; other++) {
            CHECK(strcmp(text, dg_status_text((dg_status)other)) != 0, "%d: %s", status, text);
        }
    }
    CHECK(strcmp(dg_status_text((dg_status)(DG_ERR_DOUBLINGS + 1)), "no such status") == 0, "next");
    CHECK(strcmp(dg_status_text((dg_status)-1), "no such status") == 0, "-1");
    return report("statuses");
}
