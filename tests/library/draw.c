/* Reads a law a line from stdin (kind, method, number of draws, parameter, mu, beta, bytes), and draws from it. */
#include <inttypes.h>
#include <stdio.h>

#include "tape.h"

int main(void)
{
    static uint8_t bytes[1 << 17];
    static int64_t out[10000];
    static char parameter[256], mu[256], beta[256];
    int kind, method;
    size_t n, n_bytes;
    while (scanf("%d %d %zu %255s %255s %255s %zu", &kind, &method, &n, parameter, mu, beta,
                 &n_bytes) == 7) {
        for (size_t i = 0; i < n_bytes; i++) {
            if (i >= sizeof bytes || n > 10000 || scanf("%2" SCNx8, &bytes[i]) != 1) {
                return 1;
            }
        }
        tape from = {bytes, n_bytes};
        const dg_source source = {DG_SOURCE_CALLER, read_tape, &from};
        dg_sampler *sampler;
        dg_status status =
            dg_sampler_new(&sampler, (dg_law_kind)kind, parameter, mu, beta, (dg_method)method);
        if (status == DG_OK) {
            status = dg_sampler_fill(out, n, DG_INT64, sampler, NULL, &source);
        }
        dg_sampler_free(sampler);
        if (status != DG_OK || from.n_left > 0) {
            fprintf(stderr, "%s; %zu bytes left\n", dg_status_text(status), from.n_left);
            return 1;
        }
        for (size_t i = 0; i < n; i++) {
            printf("%" PRId64 "\n", out[i]);
        }
    }
    return 0;
}
