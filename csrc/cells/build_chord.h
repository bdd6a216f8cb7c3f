/* Chords of g between two distances, and parabolas through their ends, from which arcs are made.
 * Distances |y - f| are in units of w 2^-48 here. Fine heights are in units of 2^-56 of a cell's
 * height, so much finer than those of arcs that their roundings hardly count. Lemmas 17 to 21 of
 * PROOF.md bound the error of every number here. */
#ifndef DG_CELLS_BUILD_CHORD_H
#define DG_CELLS_BUILD_CHORD_H

#include "cells/build.h"

enum { DG_DISTANCE_BITS = 48, DG_FINE_BITS = 56 };

/** One end of a chord: a distance, and phi and H g there. */
typedef struct dg_end {
    mpfr_t at, phi, v;
} dg_end;

/** A chord of g, and the parabola through its ends that is close to g between them. */
typedef struct dg_chord {
    dg_end near, far;
    mpfr_t width;         /* far.at - near.at */
    mpfr_t bulge, spread; /* the parabola's height over the chord's middle; the most g is off it */
    mpfr_t first[2], second[2]; /* phi' width and phi'' width^2: the least, the greatest */
    mpfr_t unit;                /* of distances: 2^48/(w d) */
    mpfr_t log_height;
    mpfr_t beta, beta_less_one; /* phi's exponent, 1 for Laplace, 2 for Gaussian */
    bool falls;                 /* 1 < beta < 2: phi'' falls as r grows */
} dg_chord;

void dg_chord_open(dg_chord *c, dg_builder *build);
void dg_chord_close(dg_chord *c);

/** Begin the next chord where this one ends. */
void dg_chord_step(dg_chord *c);

/** Set an end to the integer in e.y_d, except for v. Requires: e.upper is the upper bound of its
 *  exponent. */
void dg_end_place(dg_end *to, const dg_chord *c, dg_builder *build);

/** Set an end to the integer in e.y_d. */
void dg_end_set(dg_end *to, const dg_chord *c, dg_builder *build);

/** Set an end to the distance where H g = m. */
void dg_end_at_level(dg_end *to, uint32_t m, const dg_chord *c, dg_builder *build);

/** Set width, and, in cells, bulge and spread of G = 2^tail_level H g. Its second derivative
 *  G (phi'^2 - phi'') lies between two bounds, and the parabola's is their mean (PROOF.md, lemma 13).
 *  phi' grows with r; phi'' is 0 for beta = 1, grows with r for beta >= 2, and falls in between.
 *
 *  Returns:   false if there are no bounds, or none that helps. */
bool dg_chord_measure(dg_chord *c, unsigned tail_level, const dg_builder *build);

/** Return spread as a fine height, rounded up. */
int64_t dg_chord_spread(const dg_chord *c);

/** Return the size of bulge as a fine height, rounded up. */
int64_t dg_chord_bulge_size(const dg_chord *c, dg_builder *build);

/** Return bulge in units of 2^-16 of a cell's height, to the nearest. */
int64_t dg_chord_bulge(const dg_chord *c, dg_builder *build);

#endif
