/* Rows of delimited text, in two passes over a chunk that the cache holds: one reads, one writes. Text that is not
 * simple is undecided: the caller's Python code then decides whether anything is wrong with it, and what.
 *
 * The text is UTF-8 without NUL bytes. Its last byte is a line end, which ends every loop here. */
#include "base/contract.h"
#include "discretegauss_parts.h"

#include <stdbool.h>
#include <string.h>

/** An int64 holds every number of this many digits. */
enum { MAX_DIGITS = 18 };

/** The bytes of a cell without its quotes and the blanks at its ends. Quotes in it are still doubled. */
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

/** Return how many bytes the blank at the beginning of the text has, or 0 if there is none. The blanks beyond ASCII
 *  are those of `BLANKS` in _csv_rows.py: white space, fillers and characters without width. */
static size_t blank_bytes(const uint8_t *text)
{
    if (text[0] < 0x80) {
        return is_blank(text[0]);
    }
    if (text[0] == 0xc2) {
        return text[1] == 0x85 || text[1] == 0xa0 ? 2 : 0;
    }
    if (text[0] < 0xe1 || text[0] > 0xef || (text[1] & 0xc0) != 0x80 || (text[2] & 0xc0) != 0x80) {
        return 0; /* not three bytes, or below U+1000 */
    }
    unsigned code = (text[0] & 0xfu) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
    if (code >= 0x2000 && code <= 0x200b) {
        return 3;
    }
    switch (code) {
    case 0x115f:
    case 0x1160:
    case 0x1680:
    case 0x180e:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x2060:
    case 0x2800:
    case 0x3000:
    case 0x3164:
    case 0xfeff:
    case 0xffa0:
        return 3;
    default:
        return 0;
    }
}

/** Return the last character of a text that is not empty. */
static const uint8_t *last_character(const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *last = end - 1;
    while (last > begin && (*last & 0xc0) == 0x80) {
        last--;
    }
    return last;
}

/** Strip blanks: those of ASCII, and all kinds if the cell then begins or ends with another byte. */
static inline void strip(cell *c)
{
    const uint8_t *begin = c->begin;
    const uint8_t *end = c->end;
    while (begin < end && is_blank(*begin)) {
        begin++;
    }
    while (begin < end && is_blank(end[-1])) {
        end--;
    }
    if (begin < end && ((*begin | end[-1]) & 0x80) != 0) {
        while (begin < end && blank_bytes(begin) > 0) {
            begin += blank_bytes(begin);
        }
        while (begin < end && blank_bytes(last_character(begin, end)) > 0) {
            end = last_character(begin, end);
        }
    }
    c->begin = begin;
    c->end = end;
}

/** Cut a quoted cell whose first quote is at p. Returns: where the cell ends; NULL: undecided. */
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
    strip(c);
    return p;
}

/** Read an integer below 2^63 in magnitude, of at most MAX_DIGITS + 1 digits. Returns: whether the cell is one. */
static inline bool read_count(int64_t *count, const cell *c)
{
    const uint8_t *p = c->begin;
    bool negative = p < c->end && *p == '-';
    if (p < c->end && (*p == '-' || *p == '+')) {
        p++;
    }
    if (p == c->end || c->end - p > MAX_DIGITS + 1) {
        return false;
    }
    uint64_t value = 0; /* of 19 digits, below 10^19 < 2^64 */
    for (; p < c->end; p++) {
        unsigned digit = (unsigned)*p - '0';
        if (digit > 9) {
            return false;
        }
        value = 10 * value + digit;
    }
    if (value > INT64_MAX) {
        return false;
    }
    *count = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/** Write an integer. Returns: where it ends. */
static inline uint8_t *write_count(uint8_t *out, int64_t count)
{
    uint8_t digits[20];
    uint8_t *first = digits + sizeof digits;
    uint64_t remainder = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    do {
        *--first = (uint8_t)('0' + remainder % 10);
        remainder /= 10;
    } while (remainder != 0);
    if (count < 0) {
        *out++ = '-';
    }
    size_t n = (size_t)(digits + sizeof digits - first);
    memcpy(out, first, n);
    return out + n;
}

/** Write a cell, in quotes if it needs them. Returns: where it ends. */
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

/** Mark the bytes at which a cell may end. The quote is one of them, because `cut` decides what it means. */
static void mark_stops(bool *stops, uint8_t delimiter)
{
    memset(stops, 0, 256 * sizeof *stops);
    stops[delimiter] = stops['\n'] = stops['\r'] = stops['"'] = true;
}

/** Read the counts of the row that begins at p. Returns: where it ends, after its line end; NULL: undecided. */
static inline const uint8_t *read_row(int64_t *counts, const uint8_t *p, const bool *stops,
                                      uint8_t delimiter, size_t width, const size_t *columns,
                                      size_t n_columns)
{
    size_t next = 0; /* the next of columns */
    for (size_t i = 0; i < width; i++) {
        cell c;
        if (i > 0 && *p++ != delimiter) {
            return NULL;
        }
        p = cut(&c, p, stops);
        if (p == NULL) {
            return NULL;
        }
        if (next < n_columns && columns[next] == i) {
            if (!read_count(counts + next, &c)) {
                return NULL;
            }
            next++;
        }
    }
    p += *p == '\r' && p[1] == '\n';
    return *p == '\n' ? p + 1 : NULL;
}

size_t dg_csv_counts(int64_t *counts, size_t *n_rows, const uint8_t *text, size_t n_bytes,
                     uint8_t delimiter, size_t width, const size_t *columns, size_t n_columns)
{
    DG_REQUIRES(n_bytes == 0 || text[n_bytes - 1] == '\n');
    bool stops[256];
    mark_stops(stops, delimiter);
    const uint8_t *p = text;
    *n_rows = 0;
    while (p < text + n_bytes) {
        const uint8_t *row_end = read_row(counts, p, stops, delimiter, width, columns, n_columns);
        if (row_end == NULL) {
            break;
        }
        p = row_end;
        counts += n_columns;
        ++*n_rows;
    }
    return (size_t)(p - text);
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
