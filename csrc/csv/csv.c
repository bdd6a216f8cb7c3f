/* Rows of delimited text, in two passes over a chunk that the cache holds: read, then write anew. What
 * is not plain is undecided: the caller has another way, which says what is wrong with it, if anything.
 *
 * The text is UTF-8 without NUL bytes and ends with a line end, which is what ends every loop here. */
#include "base/contract.h"
#include "discretegauss.h"

#include <stdbool.h>
#include <string.h>

/** Digits that an int64 always has room for. */
enum { MAX_DIGITS = 18 };

/** The bytes of a cell without its quotes and the blanks at its ends; quotes in it are still doubled. */
typedef struct cell {
    const uint8_t *begin;
    const uint8_t *end;
    bool is_quoted;
    bool has_quotes;
} cell;

static inline bool is_blank(uint8_t byte)
{
    return byte <= ' ' || byte == 0x7f;
}

/** Whether a character beyond ASCII may be a blank: of its first two bytes, U+0085 and U+00A0 have C2 and
 *  85 or A0, those from U+1000 on one of the pairs below. */
static inline bool may_be_blank(const uint8_t *character)
{
    uint8_t second = character[1];
    switch (character[0]) {
    case 0xc2:
        return second == 0x85 || second == 0xa0;
    case 0xe1: /* U+115F, U+1160, U+1680, U+180E */
        return second == 0x85 || second == 0x9a || second == 0xa0;
    case 0xe2: /* U+2000 .. U+207F, U+2800 */
        return second == 0x80 || second == 0x81 || second == 0xa0;
    case 0xe3: /* U+3000, U+3164 */
        return second == 0x80 || second == 0x85;
    case 0xef: /* U+FEFF, U+FFA0 */
        return second == 0xbb || second == 0xbe;
    default:
        return false;
    }
}

/** Strip blanks. Returns: false if the cell may begin or end with one beyond ASCII. */
static inline bool strip(cell *c)
{
    const uint8_t *begin = c->begin;
    const uint8_t *end = c->end;
    while (begin < end && is_blank(*begin)) {
        begin++;
    }
    while (begin < end && is_blank(end[-1])) {
        end--;
    }
    c->begin = begin;
    c->end = end;
    if (begin == end || ((*begin | end[-1]) & 0x80) == 0) {
        return true;
    }
    const uint8_t *last = end - 1;
    while (last > begin && (*last & 0xc0) == 0x80) {
        last--;
    }
    return !may_be_blank(begin) && !may_be_blank(last);
}

/** Cut a quoted cell, of which p points to the first quote. Returns: where the cell ends; NULL: undecided. */
static const uint8_t *cut_quoted(cell *c, const uint8_t *p, const bool *stops)
{
    c->is_quoted = true;
    c->begin = ++p;
    for (;; p++) {
        if (*p == '\n' || *p == '\r') {
            return NULL;
        }
        if (*p == '"') {
            if (p[1] != '"') {
                break;
            }
            c->has_quotes = true;
            p++;
        }
    }
    c->end = p++;
    while (*p == ' ') {
        p++;
    }
    return stops[*p] && *p != '"' ? p : NULL;
}

/** Cut the cell that begins at p. Returns: where it ends, at a delimiter or line end; NULL: undecided. */
static inline const uint8_t *cut(cell *c, const uint8_t *p, const bool *stops)
{
    c->is_quoted = c->has_quotes = false;
    c->begin = p;
    while (!stops[*p]) {
        p++;
    }
    c->end = p;
    if (*p == '"') {
        const uint8_t *quote = c->begin;
        while (*quote == ' ') {
            quote++;
        }
        if (quote != p || (p = cut_quoted(c, p, stops)) == NULL) {
            return NULL;
        }
    }
    return strip(c) ? p : NULL;
}

/** Read an integer of at most MAX_DIGITS digits. Returns: whether the cell is one. */
static inline bool read_count(int64_t *count, const cell *c)
{
    const uint8_t *p = c->begin;
    bool negative = p < c->end && *p == '-';
    if (p < c->end && (*p == '-' || *p == '+')) {
        p++;
    }
    if (p == c->end || c->end - p > MAX_DIGITS) {
        return false;
    }
    int64_t value = 0;
    for (; p < c->end; p++) {
        unsigned digit = (unsigned)*p - '0';
        if (digit > 9) {
            return false;
        }
        value = 10 * value + (int64_t)digit;
    }
    *count = negative ? -value : value;
    return true;
}

/** Write an integer. Returns: where it ends. */
static inline uint8_t *write_count(uint8_t *out, int64_t count)
{
    uint8_t digits[20];
    uint8_t *first = digits + sizeof digits;
    uint64_t rest = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    do {
        *--first = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (count < 0) {
        *out++ = '-';
    }
    size_t n = (size_t)(digits + sizeof digits - first);
    memcpy(out, first, n);
    return out + n;
}

/** Write a cell, in quotes where need be. Returns: where it ends. */
static inline uint8_t *write_cell(uint8_t *out, const cell *c, uint8_t delimiter, bool is_another)
{
    size_t n = (size_t)(c->end - c->begin);
    bool quote = c->has_quotes;
    if (c->is_quoted || is_another) {
        quote = quote || memchr(c->begin, delimiter, n) != NULL;
    }
    if (quote) {
        *out++ = '"';
    }
    memcpy(out, c->begin, n);
    out += n;
    if (quote) {
        *out++ = '"';
    }
    return out;
}

/** Where a cell ends: the quote as well, at which `cut` decides what it is. */
static void mark_stops(bool *stops, uint8_t delimiter)
{
    memset(stops, 0, 256 * sizeof *stops);
    stops[delimiter] = stops['\n'] = stops['\r'] = stops['"'] = true;
}

int dg_csv_counts(int64_t *counts, size_t *n_rows, const uint8_t *text, size_t n_bytes,
                  uint8_t delimiter, size_t width, const size_t *columns, size_t n_columns)
{
    DG_REQUIRES(n_bytes == 0 || text[n_bytes - 1] == '\n');
    bool stops[256];
    mark_stops(stops, delimiter);
    const uint8_t *end = text + n_bytes;
    size_t rows = 0;
    for (const uint8_t *p = text; p < end; rows++) {
        size_t next = 0; /* of columns */
        for (size_t i = 0; i < width; i++) {
            cell c;
            if (i > 0 && *p++ != delimiter) {
                return 0;
            }
            p = cut(&c, p, stops);
            if (p == NULL) {
                return 0;
            }
            if (next < n_columns && columns[next] == i) {
                if (!read_count(counts + rows * n_columns + next, &c)) {
                    return 0;
                }
                next++;
            }
        }
        p += *p == '\r' && p[1] == '\n';
        if (*p++ != '\n') {
            return 0;
        }
    }
    *n_rows = rows;
    return 1;
}

size_t dg_csv_rewrite(uint8_t *out, const int64_t *counts, const uint8_t *text, size_t n_bytes,
                      uint8_t delimiter, uint8_t out_delimiter, const uint8_t *line_end,
                      size_t line_end_bytes, size_t width, const size_t *columns, size_t n_columns)
{
    bool stops[256];
    mark_stops(stops, delimiter);
    const uint8_t *start = out;
    const uint8_t *end = text + n_bytes;
    for (const uint8_t *p = text; p < end;) {
        size_t next = 0;
        for (size_t i = 0; i < width; i++) {
            cell c;
            p = cut(&c, p + (i > 0), stops);
            DG_REQUIRES(p != NULL);
            if (i > 0) {
                *out++ = out_delimiter;
            }
            if (next < n_columns && columns[next] == i) {
                out = write_count(out, *counts++);
                next++;
            } else {
                out = write_cell(out, &c, out_delimiter, out_delimiter != delimiter);
            }
        }
        p += *p == '\r';
        p++;
        memcpy(out, line_end, line_end_bytes);
        out += line_end_bytes;
    }
    return (size_t)(out - start);
}
