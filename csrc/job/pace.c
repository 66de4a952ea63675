/* SPDX-License-Identifier: MIT
 *
 * Pace: see pace.h. */
#include "job/pace.h"

#include <math.h>
#include <string.h>

/* How much longer blocks may have taken on workers, who have other things to do for each and may
 * have lost their cores meanwhile, for the loop to be tried here at once, and after a while. */
#define TOLERANCE       8
#define GREAT_TOLERANCE 100

/* How much slower than workers one execution has to be for a trial here to be over at once: one
 * that lost its core to others says nothing about the loop. */
#define HOPELESS 2

/* Executions on workers that are as much slower than here, all of them, until a trial there is
 * over: the first one may have to wake them. */
#define HOPELESS_AWAY 2

/* Executions until the other place is tried again: the first time, and in the end. */
#define FIRST   8
#define LONGEST 1024

static void forget(double *list) {
  for (uint32_t k = 0; k < MS_PACE_SOME; k++) list[k] = INFINITY;
}

static double best_of(const double *list) {
  double best = INFINITY;
  for (uint32_t k = 0; k < MS_PACE_SOME; k++) best = fmin(best, list[k]);
  return best;
}

void ms_pace_begin(ms_pace *pace) {
  *pace = (ms_pace){.turns = FIRST, .wait = FIRST};
  forget(pace->here);
  forget(pace->away);
}

/* ---- numbers ---- */

static uint32_t count_of(const ms_pace_work *work) {
  return work->count < MS_PACE_NUMBERS ? work->count : MS_PACE_NUMBERS;
}

/* How many times as long an iteration is expected to take as one with the numbers `with`, or with
 * any that were met. */
static double growth_of(const ms_pace *pace, const ms_pace_work *work, const double *with) {
  double growth = 1;
  if (pace->count != count_of(work)) return growth; /* no others were met */
  for (uint32_t k = 0; k < pace->count && pace->least[k] <= pace->most[k]; k++) {
    double beyond = fmax(pace->least[k] - work->numbers[k], work->numbers[k] - pace->most[k]);
    if (!(beyond > 0)) continue;
    double length = with == NULL ? 1 : fmin(fabs(with[k]), pace->most[k] - pace->least[k]);
    growth *= 1 + beyond / fmax(length, 1);
  }
  return growth;
}

/* Seconds that the execution is expected to take in the driver's process; INFINITY: not known. */
static double expect_here(const ms_pace *pace, const ms_pace_work *work) {
  double best = INFINITY;
  for (uint32_t s = 0; s < MS_PACE_SOME; s++) {
    if (isinf(pace->here[s])) continue;
    best = fmin(best, pace->here[s] * growth_of(pace, work, pace->with[s]));
  }
  return best * work->volume;
}

static void begin_numbers(ms_pace *pace, uint32_t count) {
  if (pace->count == count) return;
  pace->count = count;
  memset(pace->with, 0, sizeof pace->with);
  for (uint32_t k = 0; k < count; k++) {
    pace->least[k] = INFINITY;
    pace->most[k] = -INFINITY;
  }
}

/* Takes note of the numbers of an execution, if Ctrl-C can wait for such. */
static void meet(ms_pace *pace, double seconds, const ms_pace_work *work, double most) {
  begin_numbers(pace, count_of(work));
  if (seconds > MS_PACE_LONGER * most) return;
  for (uint32_t k = 0; k < pace->count; k++) {
    pace->least[k] = fmin(pace->least[k], work->numbers[k]);
    pace->most[k] = fmax(pace->most[k], work->numbers[k]);
  }
}

/* ---- trials ---- */

static void begin_trial(ms_pace *pace) {
  pace->trial = MS_PACE_SOME;
  forget(pace->is_here ? pace->away : pace->here);
}

static uint32_t twice(uint32_t count) {
  return count < LONGEST ? 2 * count : LONGEST;
}

/* The trial has shown where the loop runs from now on: the longer the more often that has been
 * found out. */
static void end_trial(ms_pace *pace, bool is_here) {
  pace->wait = is_here == pace->is_here ? twice(pace->wait) : FIRST;
  pace->is_here = is_here;
  pace->turns = isinf(best_of(pace->away)) ? 1 : pace->wait;
  pace->trial = 0;
}

static bool is_faster_here(const ms_pace *pace) {
  return best_of(pace->here) <= best_of(pace->away);
}

/* Whether a loop on workers is to be tried in the driver's process. */
static bool is_tried_here(ms_pace *pace, double volume, double most, double busy) {
  if (!(busy * volume <= GREAT_TOLERANCE * most)) return false;
  if (busy > TOLERANCE * best_of(pace->away)) return false; /* many workers share it well */
  if (pace->trial > 0) return true;
  bool soon = pace->heres == 0 && busy * volume <= TOLERANCE * most;
  if (!soon && --pace->turns > 0) return false;
  begin_trial(pace);
  return true;
}

bool ms_pace_is_here(ms_pace *pace, const ms_pace_work *work, double most, double busy) {
  double here = expect_here(pace, work);
  if (here <= most) return true;
  if (!pace->is_here) {
    return is_tried_here(pace, work->volume * growth_of(pace, work, NULL), most, busy);
  }
  if (here > MS_PACE_LONGER * most || pace->trial > 0) return false;
  if (--pace->turns > 0) return true;
  begin_trial(pace);
  return false;
}

void ms_pace_ran_here(ms_pace *pace, double seconds, const ms_pace_work *work, double most) {
  double took = seconds / work->volume;
  meet(pace, seconds, work, most);
  uint32_t place = pace->heres++ % MS_PACE_SOME;
  pace->here[place] = took;
  if (pace->count > 0) memcpy(pace->with[place], work->numbers, pace->count * sizeof(double));
  if (pace->is_here || pace->trial == 0) return;
  if (took > HOPELESS * best_of(pace->away) || seconds > MS_PACE_LONGER * most)
    end_trial(pace, false);
  else if (--pace->trial == 0)
    end_trial(pace, is_faster_here(pace));
}

void ms_pace_ran_away(ms_pace *pace, double seconds, const ms_pace_work *work, double most) {
  meet(pace, seconds, work, most);
  pace->away[pace->aways++ % MS_PACE_SOME] = seconds / work->volume;
  if (!pace->is_here || pace->trial == 0) return;
  bool hopeless = --pace->trial <= MS_PACE_SOME - HOPELESS_AWAY &&
                  best_of(pace->away) > HOPELESS * best_of(pace->here);
  if (hopeless || pace->trial == 0) end_trial(pace, is_faster_here(pace));
}
