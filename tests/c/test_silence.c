/* No branch and no address in an isochronous fill depends on a random bit, except for what DG_PUBLIC names: whether an
 * attempt was accepted, or left undecided. This test covers all kernels but those of AVX-512, which valgrind does not
 * know: it is emulated here, and test_silence_by_steps.c covers it.
 *
 * The source marks the bytes that it gives as undefined. valgrind (memcheck) then reports every conditional jump and
 * every address that depends on them. Without valgrind this program says that it was skipped:
 *
 *     valgrind -q build/tests/c/test_silence
 *
 * The positive control is the reference path, which must be reported. DG_PUBLIC needs a test build
 * (-DDG_CHECKS=ON). */
#include "api/add.h"
#include "support.h"

#include "base/contract.h"
#include "base/int128.h"
#include "sampler/prepare.h"

#include <stdio.h>

enum { SKIPPED = 77, DRAWS = 100, FILL = 3000, WIDE = 16 };

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

#if DG_HAVE_WORDS && defined(VALGRIND_COUNT_ERRORS) && defined(DG_CHECKS) && DG_CHECKS

static uint64_t state = 20261121;

/** A source of test data. It marks them as bytes that a draw's time must not depend on. */
static int undefined_bytes(void *context, uint8_t *out, size_t n)
{
    (void)context;
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(next_word(&state) >> 56);
    }
    (void)VALGRIND_MAKE_MEM_UNDEFINED(out, n);
    return 0;
}

static const dg_source SOURCE = {DG_SOURCE_CALLER, undefined_bytes, NULL};

/** Fill arrays. Returns: how many reports valgrind made. */
static unsigned reports_of_fills(const dg_sampler *sampler)
{
    static const dg_dtype dtypes[] = {DG_INT64, DG_INT8, DG_UINT32};
    const unsigned before = VALGRIND_COUNT_ERRORS;
    int64_t out[FILL];
    uint8_t wide[8 * WIDE];
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const dg_status status = dg_sampler_fill(out, FILL, dtypes[i], sampler, NULL, &SOURCE);
        CHECK(status == DG_OK || status == DG_ERR_RANGE, "a fill failed: %d", (int)status);
    }
    for (size_t i = 0; i < DRAWS; i++) { /* single draws */
        const dg_status status = dg_sampler_fill(out, 1, DG_INT64, sampler, NULL, &SOURCE);
        CHECK(status == DG_OK, "a draw failed: %d", (int)status);
    }
    int64_t counts[FILL] = {0};
    const dg_addend rules[] = {{counts, DG_INT64, NULL, DG_REFUSE, 0},
                               {counts, DG_UINT8, NULL, DG_REFUSE, 0},
                               {counts, DG_INT64, NULL, DG_CLAMP, 0},
                               {counts, DG_UINT64, NULL, DG_REDUCE, 1 << 20}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) { /* as add_noise does */
        const dg_sums added = {.addend = rules[i], .stride = 1, .dtype = DG_INT64};
        (void)dg_sampler_fill(out, FILL, DG_INT64, sampler, NULL, &SOURCE);
        (void)dg_add(out, 0, FILL, &added);
    }
    const dg_status status = dg_sampler_fill_wide(wide, 8, WIDE, sampler, NULL, &SOURCE);
    CHECK(status == DG_OK, "a wide fill failed: %d", (int)status);
    return VALGRIND_COUNT_ERRORS - before;
}

/** Fill an array of laws whose lane constants are computed for each, with centre 0. Returns: how many reports valgrind
 *  made. */
static unsigned reports_of_laws(dg_law_kind kind, uint64_t factor)
{
    static const uint64_t centre = 0;
    const unsigned before = VALGRIND_COUNT_ERRORS;
    int64_t out[FILL];
    uint64_t parameters[FILL];
    for (size_t i = 0; i < FILL; i++) {
        parameters[i] = 1 + i * factor;
    }
    const dg_laws laws = {.kind = kind,
                          .parameter = {parameters, 1, DG_INTEGERS},
                          .centre = {&centre, 0, DG_INTEGERS}};
    dg_status status = dg_laws_fill(out, FILL, DG_INT64, &laws, NULL, NULL, &SOURCE);
    CHECK(status == DG_OK, "a fill of laws failed: %d", (int)status);
    return VALGRIND_COUNT_ERRORS - before;
}

#if DG_ISA_X86_64
dg_silent_kernel emulated_silent_kernel_avx512_vbmi2;
#endif

/** Make a sampler by an instruction set. That for AVX-512 is emulated. Returns: NULL if the machine lacks it. */
static dg_sampler *sampler_by(dg_isa isa, dg_law_kind kind, const char *parameter, const char *mu,
                              const char *beta)
{
#if DG_ISA_X86_64
    if (isa == DG_ISA_AVX512_VBMI2) {
        dg_sampler *sampler = sampler_by(DG_ISA_PORTABLE, kind, parameter, mu, beta);
        sampler->silent->kernel = emulated_silent_kernel_avx512_vbmi2;
        return sampler;
    }
#endif
    return sampler_of(kind, parameter, mu, beta, DG_ISOCHRONOUS, DG_ARITHMETIC_AUTO, isa);
}

/** Check that no fill of a law is reported, for each kernel. Its parameter is 7 2^shift / 3. */
static void check_law(dg_law_kind kind, size_t shift, const char *mu, const char *beta)
{
    static const dg_isa isas[] = {DG_ISA_PORTABLE, DG_ISA_SSE41, DG_ISA_AVX2, DG_ISA_NEON,
                                  DG_ISA_AVX512_VBMI2};
    char parameter[LONGEST_RATIO];
    (void)write_ratio(parameter, 7, shift, 3, 0);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        dg_sampler *sampler = sampler_by(isas[i], kind, parameter, mu, beta);
        CHECK(sampler != NULL || isas[i] != DG_ISA_PORTABLE, "kind %d, 2^%zu: not held", (int)kind,
              shift);
        if (sampler != NULL) {
            const unsigned reports = reports_of_fills(sampler);
            CHECK(reports == 0, "by %d, kind %d, 2^%zu, mu %s: %u reports", (int)isas[i], (int)kind,
                  shift, mu, reports);
        }
        dg_sampler_free(sampler);
    }
}

static unsigned reports_of_reference(const dg_sampler *reference)
{
    const unsigned before = VALGRIND_COUNT_ERRORS;
    int64_t x;
    (void)dg_sampler_fill(&x, 1, DG_INT64, reference, NULL, &SOURCE);
    return VALGRIND_COUNT_ERRORS - before;
}

int main(void)
{
    if (RUNNING_ON_VALGRIND == 0) {
        puts("skipped: not under valgrind");
        return SKIPPED;
    }
    for (size_t shift = 0; shift <= 98; shift += 14) { /* 0 to 7 bytes of a tick */
        check_law(DG_DISCRETE_GAUSSIAN, shift, shift % 4 == 0 ? "-5/3" : "1/3", NULL);
        check_law(DG_DISCRETE_LAPLACE, shift / 2, shift % 4 == 0 ? "0" : "-1/3", NULL);
    }
    static const char *const betas[] = {"1", "11/10", "3/2", "3", "8", "127/2"};
    for (size_t i = 0; i < sizeof betas / sizeof *betas; i++) {
        check_law(DG_GENERALIZED_GAUSSIAN, i % 2 == 0 ? 0 : 30, "1/3", betas[i]);
    }
    for (uint64_t factor = 1; factor >> 30 == 0; factor <<= 13) {
        CHECK(reports_of_laws(DG_DISCRETE_LAPLACE, factor) == 0, "Laplace laws");
        CHECK(reports_of_laws(DG_DISCRETE_GAUSSIAN, factor) == 0, "Gaussian laws");
    }
    dg_sampler *reference = sampler_of(DG_DISCRETE_GAUSSIAN, "100", NULL, NULL, DG_REFERENCE,
                                       DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    CHECK(reports_of_reference(reference) > 0, "the reference path was not reported");
    dg_sampler_free(reference);
    return report("silence of isochronous fills");
}

#else
int main(void)
{
    return SKIPPED; /* no valgrind headers, no contracts, or no 128-bit integers */
}
#endif
