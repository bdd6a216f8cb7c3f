/* Draws what run.py asks for on stdin, a law a line, from the bytes that stand there behind its parameters. */
#include <inttypes.h>
#include <stdio.h>

#include "tape.h"

int main(void)
{
    static uint8_t b[1 << 17];
    static int64_t out[10000];
    int kind, method;
    size_t n, n_bytes;
    while (scanf("%d %d %zu %zu", &kind, &method, &n, &n_bytes) == 4) {
        for (size_t i = 0; i < n_bytes; i++) {
            if (i >= sizeof b || n > 10000 || scanf("%2" SCNx8, &b[i]) != 1) {
                return 1;
            }
        }
        const dg_parameters law = {{b, 8},      {b + 8, 8},  {b + 16, 8},
                                   {b + 24, 8}, {b + 32, 8}, {b + 40, 8}};
        dg_integer tape = {b + 48, n_bytes - 48};
        const dg_source source = {DG_SOURCE_CALLER, read_tape, &tape};
        dg_sampler *sampler;
        dg_status status = dg_sampler_new(&sampler, (dg_law_kind)kind, &law);
        if (status == DG_OK && method != DG_AUTO) {
            status = dg_sampler_fill(out, n, DG_INT64, (dg_method)method, sampler, NULL, &source);
        }
        for (size_t i = 0; status == DG_OK && i < n; i++) {
            printf("%" PRId64 "\n",
                   method != DG_AUTO ? out[i] : dg_sampler_draw(DG_AUTO, sampler, &source));
        }
        dg_sampler_free(sampler);
        if (status != DG_OK || tape.n_bytes > 0) {
            return 1;
        }
    }
    return 0;
}
