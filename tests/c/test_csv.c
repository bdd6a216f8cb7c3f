/* Delimited text is cut at the right places, and text that is not simple is left undecided. Every text has memory of
 * exactly its size, so that a sanitizer reports a byte beyond it. */
#include "support.h"

#include "discretegauss_parts.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *exactly(const char *text)
{
    uint8_t *copy = malloc(strlen(text) + (text[0] == 0));
    CHECK(copy != NULL, "no memory");
    memcpy(copy, text, strlen(text));
    return copy;
}

/** Rows have two cells, the second a count. Adding 1 to it gives `expected`. NULL: undecided from the first row on. */
static void check_added(const char *text, const char *expected)
{
    const size_t columns[] = {1};
    int64_t counts[8] = {0};
    uint8_t out[256];
    size_t rows = 0;
    size_t n = strlen(text);
    uint8_t *data = exactly(text);
    size_t plain = dg_csv_counts(counts, &rows, data, n, ',', 2, columns, 1);
    CHECK(plain == (expected != NULL ? n : 0), "%s", text);
    if (plain == n) {
        for (size_t i = 0; i < rows; i++) {
            counts[i]++;
        }
        const uint8_t line_end[] = {'\n'};
        size_t written = dg_csv_rewrite(out, counts, data, n, ',', ',', line_end, 1, 2, columns, 1);
        CHECK(written == strlen(expected) && memcmp(out, expected, written) == 0, "%s", text);
    }
    free(data);
}

/** The rows before an undecided one are read. */
static void check_prefix(void)
{
    const size_t columns[] = {1};
    const char *text = "a,1\nb,-2\r\nc,x\nd,4\n";
    int64_t counts[4] = {0};
    size_t rows = 0;
    uint8_t *data = exactly(text);
    size_t plain = dg_csv_counts(counts, &rows, data, strlen(text), ',', 2, columns, 1);
    CHECK(plain == 10 && rows == 2 && counts[0] == 1 && counts[1] == -2, "%zu bytes", plain);
    plain = dg_csv_counts(counts, &rows, (const uint8_t *)"a,1\n\n", 5, ',', 2, columns, 1);
    CHECK(plain == 4 && rows == 1, "%zu bytes before a blank line", plain);
    free(data);
}

int main(void)
{
    check_prefix();
    check_added("a,1\nb,-1\n", "a,2\nb,0\n");
    check_added("a , +7 \r\n\"b\",\" 099\"\n", "a,8\nb,100\n");
    check_added(" \"x, \"\"y\"\" \" ,5\n\"\",6\n", "\"x, \"\"y\"\"\",6\n,7\n");
    check_added("a,999999999999999999\n", "a,1000000000000000000\n");
    check_added("a,-999999999999999999\n", "a,-999999999999999998\n");
    check_added("Jos\xc3\xa9,1\n", "Jos\xc3\xa9,2\n");
    check_added("", "");
    check_added("\xc2\xa0x\xe3\x80\x80,1\n", "x,2\n");
    check_added("\xe2\x80\x9cx\xe2\x80\xa6,\xe2\x80\x8b 1\xef\xbb\xbf\n",
                "\xe2\x80\x9cx\xe2\x80\xa6,2\n");
    check_added("\xe3\x80\x80 \xe3\x80\x80,1\n", ",2\n");
    check_added("a,1000000000000000000\n", "a,1000000000000000001\n");
    check_added("a,-9223372036854775807\n", "a,-9223372036854775806\n");
    const char *undecided[] = {
        "a,-9223372036854775808\n",
        "a,99999999999999999999\n",
        "a\n",
        "a,1,2\n",
        "\n",
        "a,\n",
        "a,1.5\n",
        "a,9223372036854775808\n",
        "a,-\n",
        "a\r,1\n",
        "a,1\r\r\n",
        "\"a,1\n",
        "a\",1\n",
        "\"a\"b,1\n",
        "\"\n",
        "\"\"\n",
        "a,\xc2\xa0\n",
        "a,10000000000000000000\n",
        "\t\"a\",1\n",
        "a,\"1\n",
        "a,1\"\n",
    };
    for (size_t i = 0; i < sizeof undecided / sizeof undecided[0]; i++) {
        check_added(undecided[i], NULL);
    }
    return report("counts in delimited text");
}
