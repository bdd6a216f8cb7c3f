/* GMP's functions as the analysis sees them: they may do anything to what they are given. */
#ifndef DG_ANALYSED_GMP_H
#define DG_ANALYSED_GMP_H
#include <stddef.h>
typedef struct { int alloc, size; unsigned long *limbs; } __mpz_struct;
typedef __mpz_struct mpz_t[1];
typedef __mpz_struct *mpz_ptr;
typedef const __mpz_struct *mpz_srcptr;
size_t mpz_sizeinbase(mpz_srcptr x, int base);
void *mpz_export(void *out, size_t *count, int order, size_t size, int endian, size_t nails, mpz_srcptr x);
void mpz_import(mpz_ptr x, size_t count, int order, size_t size, int endian, size_t nails, const void *in);
void mpz_neg(mpz_ptr out, mpz_srcptr x);
void mpz_init(mpz_ptr x);
void mpz_clear(mpz_ptr x);
void mpz_set_ui(mpz_ptr out, unsigned long x);
void mpz_mul(mpz_ptr out, mpz_srcptr x, mpz_srcptr y);
#define mpz_sgn(x) ((x)->size < 0 ? -1 : (x)->size > 0)
#endif
