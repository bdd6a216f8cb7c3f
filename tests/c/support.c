#include "support.h"

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

enum { LONGEST = 1024 };

/** bytes = value 2^shift in two's complement. */
static dg_integer shifted(uint8_t bytes[LONGEST], int64_t value, size_t shift)
{
    size_t whole = shift / 8, n = whole + 10;
    if (n > LONGEST) {
        abort();
    }
    uint64_t low = (uint64_t)value << (shift % 8);
    int64_t high = shift % 8 == 0 ? (value < 0 ? -1 : 0) : value >> (64 - shift % 8);
    memset(bytes, 0, whole);
    for (size_t i = 0; i < 10; i++) {
        bytes[whole + i] = (uint8_t)(i < 8 ? low >> (8 * i) : (uint64_t)high >> (8 * (i - 8)));
    }
    return (dg_integer){bytes, n};
}

/** Write an integer in hexadecimal. Returns: the end. */
static char *write_integer(char *to, const dg_integer *integer)
{
    const bool negative = integer->n_bytes > 0 && integer->bytes[integer->n_bytes - 1] >= 128;
    to += sprintf(to, negative ? "-0x0" : "0x0");
    unsigned carry = 1;
    char *end = to + 2 * integer->n_bytes;
    for (size_t i = 0; i < integer->n_bytes; i++) {
        unsigned byte = integer->bytes[i];
        if (negative) {
            byte = (uint8_t)~byte + carry;
            carry = byte >> 8;
            byte &= 255;
        }
        end[-2 * (ptrdiff_t)i - 2] = "0123456789abcdef"[byte >> 4];
        end[-2 * (ptrdiff_t)i - 1] = "0123456789abcdef"[byte & 15];
    }
    *end = 0;
    return end;
}

char *text_of_bytes(const dg_integer *a, const dg_integer *b)
{
    char *text = malloc(2 * (a->n_bytes + b->n_bytes) + 16);
    if (text == NULL) {
        abort();
    }
    char *end = write_integer(text, a);
    *end++ = '/';
    (void)write_integer(end, b);
    return text;
}

dg_status law_of_bytes(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic,
                       const dg_parameters *p)
{
    char *parameter = text_of_bytes(&p->a, &p->b), *mu = text_of_bytes(&p->c, &p->d);
    char *beta = text_of_bytes(&p->beta_num, &p->beta_den);
    const dg_status status = dg_law_new(law, kind, parameter, mu, beta, arithmetic);
    free(parameter);
    free(mu);
    free(beta);
    return status;
}

static dg_law *law_by(dg_law_kind kind, dg_arithmetic arithmetic, const dg_parameters *parameters)
{
    dg_law *law = NULL;
    dg_status status = law_of_bytes(&law, kind, arithmetic, parameters);
    if (status != DG_OK) {
        (void)fprintf(stderr, "no law of kind %d: status %d\n", (int)kind, (int)status);
        exit(2);
    }
    return law;
}

dg_law *long_law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, size_t shift_a,
                    int64_t b, size_t shift_b, int64_t c, int64_t d)
{
    uint8_t bytes[4][LONGEST];
    uint8_t one[] = {1};
    const dg_parameters parameters = {shifted(bytes[0], a, shift_a),
                                      shifted(bytes[1], b, shift_b),
                                      shifted(bytes[2], c, 0),
                                      shifted(bytes[3], d, 0),
                                      {one, 1},
                                      {one, 1}};
    return law_by(kind, arithmetic, &parameters);
}

dg_law *power_law_of(int64_t a, size_t shift_a, int64_t b, int64_t c, int64_t d, int64_t beta_num,
                     int64_t beta_den)
{
    uint8_t bytes[6][LONGEST];
    const dg_parameters parameters = {
        shifted(bytes[0], a, shift_a),  shifted(bytes[1], b, 0),
        shifted(bytes[2], c, 0),        shifted(bytes[3], d, 0),
        shifted(bytes[4], beta_num, 0), shifted(bytes[5], beta_den, 0)};
    return law_by(DG_GENERALIZED_GAUSSIAN, DG_ARITHMETIC_AUTO, &parameters);
}

dg_law *law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, int64_t b, int64_t c,
               int64_t d)
{
    return long_law_of(kind, arithmetic, a, 0, b, 0, c, d);
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

uint64_t next_word(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}
