/* Numbers, laws and tapes made from a fuzz target's bytes. No input is too short: behind its end it continues with
 * zeros. */
#ifndef DG_FUZZ_INPUT_H
#define DG_FUZZ_INPUT_H

#include "discretegauss_parts.h"

#include "sampler/make_law.h"

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** End the program if a fact does not hold. libFuzzer then keeps the input. */
#define REQUIRE(condition) require_((condition), #condition, __FILE__, __LINE__)
void require_(bool holds, const char *condition, const char *file, int line);

typedef struct input {
    const uint8_t *bytes;
    size_t n;
} input;

uint8_t take_byte(input *from);
uint64_t take_word(size_t n_bytes, input *from);

/** z = plus or minus (mantissa 2^shift + a byte), mantissa of at most 8 bytes, shift below `most_shift`. Bounds lie
 *  around powers of 2, where one byte of the input moves the integer from one side to the other. */
void take_integer(mpz_t z, unsigned most_shift, input *from);

/** The parameters of a law as rationals, in lowest terms. */
typedef struct numbers {
    dg_law_kind kind;
    mpq_t first, mu, beta;
} numbers;

/** Take parameters that obey the rules of the kind. The caller clears them with numbers_clear. */
void take_numbers(numbers *out, dg_law_kind kind, unsigned most_shift, input *from);
void numbers_clear(numbers *of);

/** Return the options of dg_sampler_new. */
dg_options default_options(void);

/** Make the sampler of some numbers with a method. Returns: NULL if the law has no such method.
 *
 *  Requires:  the numbers obey the rules. */
dg_sampler *sampler_of(const numbers *of, dg_method method, const dg_options *options);

/** Make the law of some numbers. Requires: they obey the rules. The caller frees it with dg_law_free. */
dg_law *law_of(const numbers *of);

/** Return a rational as text. The caller frees it. */
char *text_of(const mpq_t number);

/** A source that reads a tape and fails at its end. */
typedef struct tape {
    uint8_t *bytes;
    size_t n, used;
} tape;

/** Make a tape of the input's remaining bytes, continued by a fixed stream to `at_least` bytes. */
tape take_tape(size_t at_least, input *from);
void tape_free(tape *of);
dg_source tape_source(tape *from);

/** Allocate n bytes, or end the program. There is no room behind them, so that a step beyond is reported. */
void *exactly(size_t n);
bool all_zero(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
