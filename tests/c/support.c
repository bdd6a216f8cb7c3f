#include "support.h"

#include "sampler/make_law.h"
#include "sampler/prepare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long n_checks, n_failures;

void check_(bool holds, const char *condition, const char *file, int line, const char *format, ...)
{
    n_checks++;
    if (holds) {
        return;
    }
    n_failures++;
    if (n_failures <= 20) {
        va_list arguments;
        va_start(arguments, format);
        (void)fprintf(stderr, "%s:%d: %s does not hold: ", file, line, condition);
        (void)vfprintf(stderr, format, arguments);
        (void)fputc('\n', stderr);
        va_end(arguments);
    }
}

int report(const char *name)
{
    printf("%s: %lu checks, %lu failures\n", name, n_checks, n_failures);
    return n_failures > 0 || n_checks == 0;
}

char *write_number(char *to, int64_t value, size_t shift)
{
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const unsigned part = shift % 4;
    to +=
        sprintf(to, "%s0x%llx%llx", value < 0 ? "-" : "", (unsigned long long)(size >> (4 - part)),
                (unsigned long long)(size << part & 15));
    memset(to, '0', shift / 4);
    to[shift / 4] = 0;
    return to + shift / 4;
}

char *write_ones(char *to, size_t n)
{
    to += sprintf(to, "0x%x", (1u << n % 4) - 1);
    memset(to, 'f', n / 4);
    to[n / 4] = 0;
    return to + n / 4;
}

const char *power_text(size_t n)
{
    static char text[LONGEST_RATIO];
    (void)write_number(text, 1, n);
    return text;
}

const char *write_ratio(char to[LONGEST_RATIO], int64_t a, size_t shift_a, int64_t b,
                        size_t shift_b)
{
    char *end = write_number(to, a, shift_a);
    *end++ = '/';
    (void)write_number(end, b, shift_b);
    return to;
}

dg_law *law_by_text(dg_law_kind kind, dg_arithmetic arithmetic, const char *parameter,
                    const char *mu, const char *beta)
{
    dg_law *law = NULL;
    const dg_status status = dg_law_new(&law, kind, parameter, mu, beta, arithmetic);
    if (status != DG_OK) {
        (void)fprintf(stderr, "no law of kind %d, %.60s: %s\n", (int)kind, parameter,
                      dg_status_text(status));
        exit(2);
    }
    return law;
}

dg_law *long_law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, size_t shift_a,
                    int64_t b, size_t shift_b, int64_t c, int64_t d)
{
    char text[2][LONGEST_RATIO];
    return law_by_text(kind, arithmetic, write_ratio(text[0], a, shift_a, b, shift_b),
                       write_ratio(text[1], c, 0, d, 0), NULL);
}

dg_law *power_law_of(int64_t a, size_t shift_a, int64_t b, int64_t c, int64_t d, int64_t beta_num,
                     int64_t beta_den)
{
    char text[3][LONGEST_RATIO];
    return law_by_text(DG_GENERALIZED_GAUSSIAN, DG_ARITHMETIC_AUTO,
                       write_ratio(text[0], a, shift_a, b, 0), write_ratio(text[1], c, 0, d, 0),
                       write_ratio(text[2], beta_num, 0, beta_den, 0));
}

dg_law *law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, int64_t b, int64_t c,
               int64_t d)
{
    return long_law_of(kind, arithmetic, a, 0, b, 0, c, d);
}

dg_sampler *sampler_of(dg_law_kind kind, const char *parameter, const char *mu, const char *beta,
                       dg_method method, dg_arithmetic arithmetic, dg_isa isa)
{
    const dg_options options = {arithmetic, isa, 16, -1};
    dg_sampler *sampler = NULL;
    const dg_status status =
        dg_sampler_new_with(&sampler, kind, parameter, mu, beta, method, &options);
    if (status != DG_OK && status != DG_ERR_METHOD && status != DG_ERR_STEEP_BETA) {
        (void)fprintf(stderr, "no sampler of kind %d, %.60s: %s\n", (int)kind, parameter,
                      dg_status_text(status));
        exit(2);
    }
    return sampler;
}

static int read_tape(void *context, uint8_t *out, size_t n)
{
    tape *from = context;
    if (n > from->n - from->used) {
        return 1;
    }
    memcpy(out, from->bytes + from->used, n);
    from->used += n;
    return 0;
}

dg_source tape_source(tape *from)
{
    return (dg_source){DG_SOURCE_CALLER, read_tape, from};
}

size_t write_tail(uint8_t *bytes, size_t n, const dg_sampler *sampler, uint64_t *state)
{
#if DG_HAVE_WORDS
    const dg_silent *silent = sampler->silent;
    const size_t most = DG_SILENT_PIECE, m = dg_silent_attempts(n < most ? n : most, silent);
    const size_t n_bytes = dg_silent_bytes(m, silent);
    for (size_t i = 0; i < n_bytes; i++) {
        bytes[i] = (uint8_t)next_word(state);
    }
    bytes[0] = DG_SILENT_TAIL; /* position 0 of that row is a tail */
    bytes[m] = bytes[2 * m] = 0;
    memset(bytes + n_bytes - 8 * DG_SILENT_WORDS, 0, 8);
    return n_bytes;
#else
    (void)bytes, (void)n, (void)sampler, (void)state;
    return 0;
#endif
}

uint64_t next_word(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}
