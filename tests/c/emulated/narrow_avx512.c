/* csrc/isochronous/narrow_avx512.c with the immintrin.h of this folder, under another name. */
#define dg_narrow_kernel_avx512 emulated_narrow_kernel_avx512
#include "isochronous/narrow_avx512.c"
