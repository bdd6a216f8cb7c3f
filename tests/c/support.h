/* Shared by the C tests: a check that counts, laws and samplers, and a tape as a source. */
#ifndef DG_TESTS_SUPPORT_H
#define DG_TESTS_SUPPORT_H

#include "law/law.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Count a fact, and print it if it does not hold. */
#define CHECK(condition, ...) check_((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)
void check_(bool holds, const char *condition, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Print the number of checks and of failures. Returns: the exit code of the test. */
int report(const char *name);

/** Write value 2^shift in hexadecimal. Returns: the end of the text. */
char *write_number(char *to, int64_t value, size_t shift);

/** Write 2^n - 1 in hexadecimal. Returns: the end of the text. */
char *write_ones(char *to, size_t n);

/** Write a 2^shift_a / (b 2^shift_b). Returns: to. */
enum { LONGEST_RATIO = 1 << 13 };
const char *write_ratio(char to[LONGEST_RATIO], int64_t a, size_t shift_a, int64_t b,
                        size_t shift_b);

/** Return the text of 2^n, which the next call overwrites. Requires: n < 2^14. */
const char *power_text(size_t n);

/** Make a law of parameters that are text. Ends the program if the core refuses it. */
dg_law *law_by_text(dg_law_kind kind, dg_arithmetic arithmetic, const char *parameter,
                    const char *mu, const char *beta);

/** Make a law with parameter a/b and centre c/d. Ends the program if the core refuses it. */
dg_law *law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, int64_t b, int64_t c,
               int64_t d);

/** Do what law_of does, with a/b = a 2^shift_a / (b 2^shift_b). */
dg_law *long_law_of(dg_law_kind kind, dg_arithmetic arithmetic, int64_t a, size_t shift_a,
                    int64_t b, size_t shift_b, int64_t c, int64_t d);

/** Make the generalised Gaussian of scale a 2^shift_a / b, centre c/d and this beta. */
dg_law *power_law_of(int64_t a, size_t shift_a, int64_t b, int64_t c, int64_t d, int64_t beta_num,
                     int64_t beta_den);

/** Make a sampler with a method, an arithmetic and an instruction set. mu and beta may be NULL. Returns: NULL if the
 *  law has no such method, or the machine lacks the instructions. Any other failure ends the program. */
dg_sampler *sampler_of(dg_law_kind kind, const char *parameter, const char *mu, const char *beta,
                       dg_method method, dg_arithmetic arithmetic, dg_isa isa);

/** A source that reads a tape and fails at its end. */
typedef struct tape {
    const uint8_t *bytes;
    size_t n;
    size_t used;
} tape;
dg_source tape_source(tape *from);

/** Write the batch of n isochronous draws whose first attempt is in a tail, and has f' = 0, so that it is settled; the
 *  others are random. Returns: how many bytes. Requires: the sampler's method is DG_ISOCHRONOUS. */
size_t write_tail(uint8_t *bytes, size_t n, const dg_sampler *sampler, uint64_t *state);

/** More than there are instruction sets. The core refuses the unknown ones. */
enum { PAST_ISA = 8 };

/** Return the next of a sequence of words for making tapes (splitmix64). They are test data, not randomness. */
uint64_t next_word(uint64_t *state);

#endif
