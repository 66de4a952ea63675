/* SPDX-License-Identifier: MIT
 *
 * Cutting: into how many ranges the axes of a loop's grid are cut when nothing else is asked for.
 *
 * A function of the loop's iterations and buffers alone, never of workers, cores or time: that is
 * what makes results the same for any number of workers. All in whole numbers, so that no machine's
 * roots can round otherwise. Pure. */
#ifndef MS_PLAN_CUTTING_H
#define MS_PLAN_CUTTING_H

#include <stdint.h>

/* What the number of ranges depends on. */
typedef struct ms_cutting {
  double entries; /* iterations at most, or entries of the sparse array */
  double phases;  /* steps of a sweep; 1: none */
  double delay;   /* of buffers, the most iterations of a stage, may be infinite; 0: no buffers */
  double merged;  /* elements of the arrays behind buffers */
  int64_t axes;   /* that are cut alike: 1 .. 8; the steps of a sweep are none of them */
} ms_cutting;

/* Ranges of each axis, 1 or more; the caller takes no more than the axis has values. One axis gets
 * entries / 2^14, 64 to 4,096, so that a few heavy iterations spread too; k axes the k-th root of
 * that, 16 to 1,024, and above 10^8 entries at least entries / 10^6, so that a thousand workers
 * have work; never more than 2^24 blocks. A sweep's parallel axis gets 8 to 64, the fewer the
 * shorter and the more its phases are. What a block puts into buffers is merged on its own, so an
 * axis of a loop with buffers gets at most 64, and a single one fewer, 16 at least, where blocks
 * would have less than 128 iterations. A single one gets fewer still, 4 at least, where so many
 * blocks would each leave a good part of all that is merged: 4 entries / merged; but not where
 * there is so much of it, 16 elements an iteration, that few blocks would leave as much in all.
 * Where stages are bounded, as many more as let each have some 16 blocks, or fewer by the same
 * rule. */
int64_t ms_cutting_ranges(const ms_cutting *cutting);

/* Ranges of a round of so many iterations: one for each 4,096, 8 to 64. How many rounds there are
 * does not matter. */
int64_t ms_cutting_round_ranges(double iterations);

#endif
