/* What the C tests share: a check that counts, laws and samplers, and a tape as a source. */
#ifndef DG_TESTS_SUPPORT_H
#define DG_TESTS_SUPPORT_H

#include "law/law.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Count and print a fact that does not hold. */
#define CHECK(condition, ...) check_((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)
void check_(bool holds, const char *condition, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Print the count of checks and of failures. Returns: the exit code of the test. */
int report(const char *name);

/** Write value 2^shift in hexadecimal. Returns: the end of the text. */
char *write_number(char *to, int64_t value, size_t shift);

/** Write 2^n - 1 in hexadecimal. Returns: the end of the text. */
char *write_ones(char *to, size_t n);

/** Write a 2^shift_a / (b 2^shift_b). Returns: to. */
enum { LONGEST_RATIO = 1 << 13 };
const char *write_ratio(char to[LONGEST_RATIO], int64_t a, size_t shift_a, int64_t b,
                        size_t shift_b);

/** The text of 2^n, which holds until the next call. n is below 2^14. */
const char *power_text(size_t n);

/** A law of parameters as text. Ends the program if the core refuses it. */
dg_law *law_by_text(dg_law_kind kind, dg_arithmetic arithmetic, const char *parameter,
                    const char *mu, const char *beta);

/** A law with parameter a/b and centre c/d, likewise. */
dg_law *law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, int64_t b, int64_t c,
               int64_t d);

/** As law_of, a/b = a 2^shift_a / (b 2^shift_b). */
dg_law *long_law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, size_t shift_a,
                    int64_t b, size_t shift_b, int64_t c, int64_t d);

/** The generalised Gaussian of scale a 2^shift_a / b, centre c/d and this beta. */
dg_law *power_law_of(int64_t a, size_t shift_a, int64_t b, int64_t c, int64_t d, int64_t beta_num,
                     int64_t beta_den);

/** A sampler by a method, an arithmetic and an instruction set; mu and beta may be NULL. NULL: there is none
 *  for the law, or the machine has not such instructions. Ends the program if anything else goes wrong. */
dg_sampler *sampler_of(dg_law_kind kind, const char *parameter, const char *mu, const char *beta,
                       dg_method method, dg_arithmetic arithmetic, dg_isa isa);

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
