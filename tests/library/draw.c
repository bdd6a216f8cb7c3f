/* Draws what run.py asks for on stdin, a law a line, from the bytes that stand there. */
#include "draw.h"
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static uint8_t bytes[1 << 17];
    static int64_t out[10000];
    int64_t number[N_NUMBERS];
    size_t n, n_bytes;
    while (scanf("%" SCNd64, &number[0]) == 1) {
        for (int i = 1; i < N_NUMBERS; i++) {
            if (scanf("%" SCNd64, &number[i]) != 1) {
                return 1;
            }
        }
        if (scanf("%zu %zu ", &n, &n_bytes) != 2 || n > 10000 || n_bytes > sizeof bytes) {
            return 1;
        }
        for (size_t i = 0; i < n_bytes; i++) {
            if (scanf("%2" SCNx8, &bytes[i]) != 1) {
                return 1;
            }
        }
        if (draw(out, n, number, (tape){bytes, n_bytes}) != DG_OK) {
            return 1;
        }
        for (size_t i = 0; i < n; i++) {
            printf("%" PRId64 "\n", out[i]);
        }
    }
    return 0;
}
