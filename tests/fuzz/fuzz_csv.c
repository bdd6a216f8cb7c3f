/* Counts in delimited text, for any bytes, in memory of exactly the size that they need:
 *
 *   - reads stay within the text, and writes within the room that the header states;
 *   - written text is decided, and holds the counts that were written;
 *   - writing it again changes nothing. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 4 };

static size_t line_feeds(const uint8_t *text, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        found += text[i] == '\n';
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t delimiters[] = {'\t', ',', ';', '|'};
    input from = {data, size};
    const uint8_t delimiter = delimiters[take_byte(&from) % sizeof delimiters];
    const uint8_t other = delimiters[take_byte(&from) % sizeof delimiters];
    const size_t width = 1 + take_byte(&from) % MOST_COLUMNS;
    const uint8_t choice = take_byte(&from);
    const uint8_t carriage[] = {'\r', '\n'};
    const uint8_t *line_end = carriage + choice / 128;
    const size_t line_end_bytes = 2u - choice / 128;
    size_t columns[MOST_COLUMNS], n_columns = 0;
    for (size_t i = 0; i < width; i++) {
        if (choice >> i & 1) {
            columns[n_columns++] = i;
        }
    }

    size_t n = from.n + 1;
    uint8_t *text = exactly(n);
    if (from.n > 0) {
        memcpy(text, from.bytes, from.n);
    }
    text[n - 1] = '\n';
    size_t rows;
    int64_t *counts = exactly(line_feeds(text, n) * n_columns * sizeof *counts);
    const size_t n_read =
        dg_csv_counts(counts, &rows, text, n, delimiter, width, columns, n_columns);
    REQUIRE(n_read <= n && (n_read == 0 ? rows == 0 : text[n_read - 1] == '\n'));
    if (rows > 0) { /* all of the text, or the rows before an undecided one */
        REQUIRE(rows <= line_feeds(text, n_read));
        size_t room = n_read + rows * (2 * width + 20 * n_columns + line_end_bytes);
        uint8_t *out = exactly(room), *again = exactly(room + rows * (2 * width + 22));
        size_t written = dg_csv_rewrite(out, counts, text, n_read, delimiter, other, line_end,
                                        line_end_bytes, width, columns, n_columns);
        REQUIRE(written <= room);
        int64_t *reread = exactly(line_feeds(out, written) * n_columns * sizeof *reread);
        size_t reread_rows;
        REQUIRE(dg_csv_counts(reread, &reread_rows, out, written, other, width, columns,
                              n_columns) == written);
        REQUIRE(reread_rows == rows);
        REQUIRE(memcmp(reread, counts, rows * n_columns * sizeof *counts) == 0);
        size_t rewritten = dg_csv_rewrite(again, reread, out, written, other, other, line_end,
                                          line_end_bytes, width, columns, n_columns);
        REQUIRE(rewritten == written && memcmp(out, again, written) == 0);
        free(reread);
        free(again);
        free(out);
    }
    free(counts);
    free(text);
    return 0;
}
