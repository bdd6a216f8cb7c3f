/* csrc/isochronous/silent_avx512_vbmi2.c with the immintrin.h of this folder, under another name. */
#define dg_silent_kernel_avx512_vbmi2 emulated_silent_kernel_avx512_vbmi2
#include "isochronous/silent_avx512_vbmi2.c"
