/* The law in the layout that the kernel of noise.cu reads: this struct, then the arrays of a cell table (cells/table.h).
 * C and CUDA both include it, so it includes no header. */
#ifndef DG_CUDA_NOISE_LAW_H
#define DG_CUDA_NOISE_LAW_H

/* The three pieces into which rows.h divides the positions of a row. */
typedef struct dg_noise_row {
    unsigned char end[2], code[3], unused;
    unsigned short special;
} dg_noise_row;

/* The arcs and partial cells of table.h. */
typedef struct dg_noise_arc {
    int base;
    unsigned slope;
    unsigned short error;
    short bulge;
} dg_noise_arc;
typedef struct dg_noise_partial {
    short block;
    unsigned short level;
    dg_noise_arc arc;
} dg_noise_partial;

enum {
    DG_NOISE_ROWS = 256,
    DG_NOISE_ARC_LEVELS = 16, /* DG_TAIL_LEVELS */
    DG_NOISE_MOST_LEVELS = 44 /* the device decides at most this many levels */
};

/* The kinds of g's exponent. */
enum { DG_NOISE_LAPLACE = 0, DG_NOISE_SQUARED = 1, DG_NOISE_POWER = 2 };

typedef struct dg_noise_law {
    dg_noise_row row[DG_NOISE_ROWS];
    long long c;
    int coded_first, first_block, last_block;
    unsigned n_coded, n_full, n_partial, n_tail_side, height;
    unsigned tick_bits, tail_bits, tail_arc_bits;
    unsigned block_of_at, partial_at, tail_arcs_at; /* in bytes from the beginning of the struct */
    /* the constants of exponents have the names of isochronous/lanes.h */
    unsigned kind;   /* DG_NOISE_LAPLACE ... */
    unsigned levels; /* exponents decide the tail levels below this one */
    unsigned units_up, units_down, rate_shift, below;
    unsigned long long above, above_a_step, farthest, rate;
    unsigned long long twice_f;                          /* squared only */
    unsigned long long f, nearest, log_scale, at_centre; /* power only */
    long long offset[2];
} dg_noise_law;

#endif
