/* MPFR's names as the analysis sees them. */
#ifndef DG_ANALYSED_MPFR_H
#define DG_ANALYSED_MPFR_H
#include "gmp.h"
typedef struct { long precision; int sign; long exponent; unsigned long *limbs; } __mpfr_struct;
typedef __mpfr_struct mpfr_t[1];
typedef __mpfr_struct *mpfr_ptr;
typedef const __mpfr_struct *mpfr_srcptr;
typedef long mpfr_prec_t;
typedef long mpfr_exp_t;
typedef unsigned mpfr_flags_t;
typedef int mpfr_rnd_t;
#endif
