#include "vector_file.h"

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *field(const char *line, const char *name)
{
    char key[64];
    (void)snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(line, key);
    return at == NULL ? NULL : at + strlen(key);
}

bool text_is(const char *line, const char *name, const char *expected)
{
    const char *at = field(line, name);
    size_t n = strlen(expected);
    return at != NULL && at[0] == '"' && strncmp(at + 1, expected, n) == 0 && at[1 + n] == '"';
}

long number(const char *line, const char *name)
{
    const char *at = field(line, name);
    if (at == NULL) {
        (void)fprintf(stderr, "no field %s\n", name);
        exit(2);
    }
    return strtol(at, NULL, 10);
}

void read_integer(mpz_t z, const char **at)
{
    size_t n = strspn(*at, "-0123456789");
    char *digits = malloc(n + 1);
    if (digits == NULL || n == 0) {
        exit(2);
    }
    memcpy(digits, *at, n);
    digits[n] = '\0';
    if (mpz_set_str(z, digits, 10) != 0) {
        exit(2);
    }
    free(digits);
    *at += n;
}

/* --- laws ------------------------------------------------------------------------------------ */

enum { MOST_BYTES = 4096, N_KINDS = DG_GENERALIZED_GAUSSIAN + 1 };

typedef struct law_name {
    const char *law, *parameter; /* the first; then mu and beta */
} law_name;

static const law_name LAWS[N_KINDS] = {
    [DG_BERNOULLI] = {"bernoulli", "p"},
    [DG_UNIFORM_BELOW] = {"uniform_below", "n_values"},
    [DG_BERNOULLI_EXP] = {"bernoulli_exp", "gamma"},
    [DG_GEOMETRIC_EXP] = {"geometric_exp", "gamma"},
    [DG_DISCRETE_LAPLACE] = {"discrete_laplace", "scale"},
    [DG_DISCRETE_GAUSSIAN] = {"discrete_gaussian", "sigma2"},
    [DG_GENERALIZED_GAUSSIAN] = {"generalized_gaussian", "scale"},
};

/** Read the text of a rational, with or without quotes. Returns: text; NULL if the line has no such field. */
static const char *read_text(char text[MOST_BYTES], const char *line, const char *name)
{
    const char *at = field(line, name);
    if (at == NULL) {
        return NULL;
    }
    at += *at == '"';
    const size_t n = strspn(at, "-/0123456789");
    if (n >= MOST_BYTES) {
        exit(2);
    }
    memcpy(text, at, n);
    text[n] = 0;
    return text;
}

dg_sampler *sampler_in(const char *line, dg_method method, const dg_options *options)
{
    char text[3][MOST_BYTES];
    for (int kind = 0; kind < N_KINDS; kind++) {
        if (text_is(line, "law", LAWS[kind].law)) {
            dg_sampler *sampler;
            (void)dg_sampler_new_with(
                &sampler, (dg_law_kind)kind, read_text(text[0], line, LAWS[kind].parameter),
                read_text(text[1], line, "mu"), read_text(text[2], line, "beta"), method, options);
            return sampler;
        }
    }
    CHECK(false, "which law is that: %.60s", line);
    return NULL;
}

/* --- tapes ----------------------------------------------------------------------------------- */

static int read_stream(void *context, uint8_t *out, size_t n)
{
    stream *from = context;
    while (from->keyed && from->n < from->used + n) {
        from->bytes = realloc(from->bytes, from->n + 64);
        if (from->bytes == NULL) {
            return 1;
        }
        dg_keystream(from->bytes + from->n, 1, from->key, from->n / 64);
        from->n += 64;
    }
    if (n > from->n - from->used) {
        return 1;
    }
    memcpy(out, from->bytes + from->used, n);
    from->used += n;
    return 0;
}

static size_t read_hex(uint8_t *out, const char *at)
{
    size_t n = 0;
    unsigned byte;
    while (sscanf(at + 2 * n, "%2x", &byte) == 1) { /* up to the closing quote */
        out[n++] = (uint8_t)byte;
    }
    return n;
}

stream stream_in(const char *line)
{
    stream from = {field(line, "tape") == NULL, {0}, NULL, 0, 0};
    if (from.keyed) {
        uint8_t key[MOST_BYTES];
        CHECK(read_hex(key, field(line, "chacha20_key") + 1) == sizeof from.key, "key");
        memcpy(from.key, key, sizeof from.key);
    } else {
        from.bytes = malloc(strlen(line));
        if (from.bytes == NULL) {
            exit(2);
        }
        from.n = read_hex(from.bytes, field(line, "tape") + 1);
    }
    return from;
}

dg_source stream_source(stream *from)
{
    from->used = 0;
    return (dg_source){DG_SOURCE_CALLER, read_stream, from};
}
