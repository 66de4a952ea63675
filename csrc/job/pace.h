/* SPDX-License-Identifier: MIT
 *
 * Pace: where a loop runs that may run in the driver's process (small_run.h), by what its
 * executions took, there and on workers.
 *
 * Loops that take less time than workers need to get going run in the driver's process. Those up to
 * MS_PACE_LONGER times as long, for which Ctrl-C can wait, run where they were faster, by the best
 * of the last MS_PACE_SOME executions at either place: the best of many would win against that of a
 * few on any machine that others use, too. The other place is tried after a while, as machines
 * change, each time after twice as many executions, and left soon if it is much slower. This
 * decides who runs blocks and nothing else. One of each loop, of one thread.
 *
 * What an iteration took holds for numbers like those that it was measured with: inner loops may go
 * up to captured ones, or to the loop's own index. With numbers beyond all that were met, an
 * iteration is expected to take longer, as if inner loops had had as many iterations as the number
 * said, or as the range of those that were met is long, whichever is less. */
#ifndef MS_JOB_PACE_H
#define MS_JOB_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"

#define MS_PACE_LONGER 50

/* Executions of which the best counts: the first ones at a place find its caches cold. */
#define MS_PACE_SOME 5

/* Numbers that are looked at: those that plans depend on, and that captured functions have; of more
 * the first ones. */
#define MS_PACE_NUMBERS 16

typedef struct MS_API_TYPE ms_pace {
  double here[MS_PACE_SOME], away[MS_PACE_SOME]; /* seconds of an iteration in the driver's process,
                                                    on workers; INFINITY: not known */
  uint32_t heres, aways;                         /* executions there */
  bool is_here;                                  /* where longer loops run */
  uint32_t trial; /* executions at the other place until the two are compared; 0: no trial */
  uint32_t turns; /* executions until the next trial, */
  uint32_t wait;  /* and how many there were to be */
  uint32_t count; /* numbers of an execution, */
  double with[MS_PACE_SOME][MS_PACE_NUMBERS]; /* of those in `here`, and of all that Ctrl-C could */
  double least[MS_PACE_NUMBERS], most[MS_PACE_NUMBERS]; /* wait for */
} ms_pace;

/* What an execution has to do. */
typedef struct MS_API_TYPE ms_pace_work {
  double volume; /* iterations */
  const double *numbers;
  uint32_t count;
} ms_pace_work;

/* Of a loop that has not run yet. */
MS_API void ms_pace_begin(ms_pace *pace);

/* Whether an execution is for the driver's process. `most`: the seconds up to which that is so in
 * any case; 0: it never is. `busy`: seconds of an iteration in which workers computed; INFINITY:
 * not known. */
MS_API bool ms_pace_is_here(ms_pace *pace, const ms_pace_work *work, double most, double busy);

/* What an execution in the driver's process took, and one on workers with its launch. */
MS_API void ms_pace_ran_here(ms_pace *pace, double seconds, const ms_pace_work *work, double most);
MS_API void ms_pace_ran_away(ms_pace *pace, double seconds, const ms_pace_work *work, double most);

#endif
