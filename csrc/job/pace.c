/* SPDX-License-Identifier: MIT
 *
 * Pace: see pace.h. */
#include "job/pace.h"

#include <math.h>

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

bool ms_pace_is_here(ms_pace *pace, double volume, double most, double busy) {
  double here = best_of(pace->here);
  if (here * volume <= most) return true;
  if (!pace->is_here) return is_tried_here(pace, volume, most, busy);
  if (here * volume > MS_PACE_LONGER * most || pace->trial > 0) return false;
  if (--pace->turns > 0) return true;
  begin_trial(pace);
  return false;
}

void ms_pace_ran_here(ms_pace *pace, double seconds, double volume, double most) {
  double took = seconds / volume;
  pace->here[pace->heres++ % MS_PACE_SOME] = took;
  if (pace->is_here || pace->trial == 0) return;
  if (took > HOPELESS * best_of(pace->away) || seconds > MS_PACE_LONGER * most)
    end_trial(pace, false);
  else if (--pace->trial == 0)
    end_trial(pace, is_faster_here(pace));
}

void ms_pace_ran_away(ms_pace *pace, double seconds, double volume) {
  pace->away[pace->aways++ % MS_PACE_SOME] = seconds / volume;
  if (!pace->is_here || pace->trial == 0) return;
  bool hopeless = --pace->trial <= MS_PACE_SOME - HOPELESS_AWAY &&
                  best_of(pace->away) > HOPELESS * best_of(pace->here);
  if (hopeless || pace->trial == 0) end_trial(pace, is_faster_here(pace));
}
