/* Reading tests/vectors/vectors.json: one vector a line, its fields in a fixed order, so no more of
 * JSON than that. What is missing or malformed ends the program. */
#ifndef DG_TESTS_VECTOR_FILE_H
#define DG_TESTS_VECTOR_FILE_H

#include "discretegauss_parts.h"

#include <gmp.h>
#include <stdbool.h>

/** The value of a field: behind `"name": `. NULL if the line has none. */
const char *field(const char *line, const char *name);

bool text_is(const char *line, const char *name, const char *expected);

/** A small integer of the vector. */
long number(const char *line, const char *name);

/** z = the decimal digits from *at on, which moves behind them. */
void read_integer(mpz_t z, const char **at);

/** A sampler of the vector's law. NULL: the core refuses it. */
dg_sampler *sampler_in(const char *line, dg_method method, const dg_options *options);

/** The bytes that the vector is drawn from. */
typedef struct stream {
    bool keyed;
    uint8_t key[32];
    uint8_t *bytes; /* a tape's, or the blocks of the stream so far; to be freed */
    size_t n, used;
} stream;

stream stream_in(const char *line);

/** A source that reads the stream from its start. */
dg_source stream_source(stream *from);

#endif
