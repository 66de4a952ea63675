/* SPDX-License-Identifier: MIT
 *
 * Writing C in strict mode: sums of several iterations of an outer loop in vectors.
 *
 * Copies of an outer loop's block (c_jam.h) have a sum each. Where all of their terms lie side by
 * side, four terms of a copy are computed at once, as vectors, and those of four copies are
 * exchanged between registers (four_sums.h): then one addition takes four sums a term further, each
 * in its own order. This goes through the inner loop in strips; the iterations
 * themselves then run one after the other, the inner loop of each from where the strips end, with
 * the sum that it had there. Eight copies hide how long an addition takes; where fewer iterations
 * are left, copies stand for the last one again, which nobody looks at. */
#ifndef MS_KERNEL_NATIVE_C_FOURS_H
#define MS_KERNEL_NATIVE_C_FOURS_H

#include "kernel/native/writer.h"

/* Most copies, and most sums of each: the registers end. */
#define MS_C_FOURS_COPIES 8
#define MS_C_FOURS_SUMS   3

/* Iterations of a strip: where elements take half of a double, so that vectors hold as many of
 * them, and in all other cases. */
#define MS_C_NARROW_STRIP 8
#define MS_C_STRIP        4

typedef struct ms_c_four_sum {
  const ms_symbol *symbol;
  const ms_node *term;
  bool minus;           /* terms are subtracted */
  const char *kept;     /* C: what the sum of each copy is behind the strips */
  const char *terms[4]; /* of four copies in one strip */
  const char *fours[MS_C_FOURS_COPIES / 4];
} ms_c_four_sum;

typedef struct ms_c_fours {
  const ms_node *inner;
  const char *length; /* C: how many iterations the inner loop has, */
  const char *rest;   /* where those behind the strips begin, */
  const char *copy;   /* and which copy's iteration runs, from 0 */
  uint32_t strip;     /* iterations of the inner loop in one */
  ms_c_four_sum sum[MS_C_FOURS_SUMS];
  uint32_t sums;
} ms_c_fours;

/* Whether an inner loop, which copies can be made of, adds up what lies side by side. */
bool ms_c_fours_find(ms_writer *w, const ms_node *inner, ms_c_fours *fours);

/* Takes the sums of the copy that is written as they begin, after each fourth copy into a vector.
 * False: they are no doubles. */
bool ms_c_fours_begin(ms_writer *w, ms_c_fours *fours);

/* Appends the terms of the copy that is written, in the strip from `strip` on; after each fourth
 * copy their addition. */
void ms_c_fours_strip(ms_writer *w, ms_c_fours *fours, const char *strip);

/* Keeps the sums of so many copies behind the strips. */
void ms_c_fours_keep(ms_writer *w, const ms_c_fours *fours, uint32_t copies);

/* If `loop` is the inner loop of an iteration that was begun in strips: its sums go on, and it
 * begins at *first. */
bool ms_c_fours_resume(ms_writer *w, const ms_node *loop, const char **first);

#endif
