/* What the C tests share: a check that counts, laws from small numbers, and a tape as a source. */
#ifndef DG_TESTS_SUPPORT_H
#define DG_TESTS_SUPPORT_H

#include "discretegauss_parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Count and print a fact that does not hold. */
#define CHECK(condition, ...) check_((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)
void check_(bool holds, const char *condition, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Print the count of checks and of failures. Returns: the exit code of the test. */
int report(const char *name);

/** An integer in two's complement, least significant byte first. */
typedef struct dg_integer {
    const uint8_t *bytes;
    size_t n_bytes;
} dg_integer;

/** The parameters of a law: a/b, mu = c/d, beta. */
typedef struct dg_parameters {
    dg_integer a, b, c, d;
    dg_integer beta_num, beta_den;
} dg_parameters;

/** dg_law_new of such parameters. */
dg_status law_of_bytes(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic,
                       const dg_parameters *parameters);

/** Text of a/b, to be freed. */
char *text_of_bytes(const dg_integer *a, const dg_integer *b);

/** A law with parameter a/b and centre c/d. Ends the program if the core refuses it. */
dg_law *law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, int64_t b, int64_t c,
               int64_t d);

/** As law_of, a/b = a 2^shift_a / (b 2^shift_b), which must be in lowest terms. */
dg_law *long_law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, size_t shift_a,
                    int64_t b, size_t shift_b, int64_t c, int64_t d);

/** The generalised Gaussian of scale a 2^shift_a / b, centre c/d and this beta. */
dg_law *power_law_of(int64_t a, size_t shift_a, int64_t b, int64_t c, int64_t d, int64_t beta_num,
                     int64_t beta_den);

/** A source that reads a tape and fails at its end. */
typedef struct tape {
    const uint8_t *bytes;
    size_t n;
    size_t used;
} tape;
dg_source tape_source(tape *from);

/** Next of a sequence of words for making tapes (splitmix64): test data, not randomness. */
uint64_t next_word(uint64_t *state);

#endif
