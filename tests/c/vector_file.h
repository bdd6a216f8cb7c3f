/* Reading tests/vectors/vectors.json. It has one vector per line, with fields in a fixed order, so this reads no other
 * JSON. A missing or malformed field ends the program. */
#ifndef DG_TESTS_VECTOR_FILE_H
#define DG_TESTS_VECTOR_FILE_H

#include "discretegauss_parts.h"

#include <gmp.h>
#include <stdbool.h>

/** Return the value of a field, behind `"name": `, or NULL if the line has none. */
const char *field(const char *line, const char *name);

bool text_is(const char *line, const char *name, const char *expected);

/** Return a small integer of the vector. */
long number(const char *line, const char *name);

/** z = the decimal digits at *at. Moves *at behind them. */
void read_integer(mpz_t z, const char **at);

/** Make a sampler of the vector's law. Returns: NULL if the core refuses it. */
dg_sampler *sampler_in(const char *line, dg_method method, const dg_options *options);

/** The bytes from which the vector is drawn. */
typedef struct stream {
    bool keyed;
    uint8_t key[32];
    uint8_t *bytes; /* a tape's, or the blocks of the stream so far; allocated */
    size_t n, used;
} stream;

stream stream_in(const char *line);

/** Return a source that reads the stream from its start. */
dg_source stream_source(stream *from);

#endif
