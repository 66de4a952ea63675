/* SPDX-License-Identifier: MIT
 *
 * Pace: where a loop runs that may run in the driver's process (small_run.h), by what its
 * executions took, there and on workers.
 *
 * Loops that take less time than workers need to get going run in the driver's process. Those up to
 * MS_PACE_LONGER times as long, for which Ctrl-C can wait, run where they were faster: on workers
 * by the best of some executions, which are repeated after a while, as machines change. Loops that
 * were faster on workers are tried in the driver's process after a while, each time after twice as
 * many executions. This decides who runs blocks and nothing else. One of each loop, of one
 * thread. */
#ifndef MS_JOB_PACE_H
#define MS_JOB_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/api.h"

#define MS_PACE_LONGER 50

typedef struct MS_API_TYPE ms_pace {
  double here, away; /* seconds of an iteration in the driver's process, on workers; INFINITY: not
                        known */
  uint32_t missing;  /* executions on workers until that is known */
  uint32_t turns;    /* in the driver's process until it is found out anew, */
  uint32_t agreed;   /* and those that were allowed the last time */
  uint32_t passed;   /* on workers since the last in the driver's process, */
  uint32_t wait;     /* and those until the next one */
} ms_pace;

/* Of a loop that has not run yet. */
MS_API void ms_pace_begin(ms_pace *pace);

/* Whether an execution of so many iterations is for the driver's process. `most`: the seconds up to
 * which that is so in any case; 0: it never is. `busy`: seconds of an iteration in which workers
 * computed; INFINITY: not known. */
MS_API bool ms_pace_is_here(ms_pace *pace, double volume, double most, double busy);

/* What an execution in the driver's process took, and one on workers with its launch. */
MS_API void ms_pace_ran_here(ms_pace *pace, double seconds, double volume, double most);
MS_API void ms_pace_ran_away(ms_pace *pace, double seconds, double volume);

#endif
