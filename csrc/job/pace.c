/* SPDX-License-Identifier: MIT
 *
 * Pace: see pace.h. */
#include "job/pace.h"

#include <math.h>

/* How much longer blocks may have taken on workers, who have other things to do for each and may
 * have lost their cores meanwhile, for the loop to be tried here at once, and after a while. */
#define TOLERANCE       8
#define GREAT_TOLERANCE 100

/* The most that a pace rises from one execution to the next: a loop that lost its core to others
 * says nothing about itself. */
#define RISE 2

/* Executions on workers of which the best counts. */
#define SOME 3

/* Executions until the other place is tried again: the first time, and in the end. */
#define FIRST   8
#define LONGEST 1024

void ms_pace_begin(ms_pace *pace) {
  *pace = (ms_pace){
      .here = INFINITY, .away = INFINITY, .missing = SOME, .agreed = FIRST, .wait = FIRST};
}

static uint32_t twice(uint32_t count) {
  return count < LONGEST ? 2 * count : LONGEST;
}

static bool is_faster(const ms_pace *pace, double volume, double most) {
  return pace->here * volume <= MS_PACE_LONGER * most && pace->here <= pace->away;
}

/* Whether workers are to be tried; they run the loop until they have been. */
static bool ask_workers(ms_pace *pace) {
  if (pace->missing > 0) return true;
  if (pace->turns > 0) {
    pace->turns--;
    return false;
  }
  pace->missing = SOME;
  pace->away = INFINITY;
  return true;
}

bool ms_pace_is_here(ms_pace *pace, double volume, double most, double busy) {
  if (pace->here * volume <= most) return true;
  if (is_faster(pace, volume, most)) return !ask_workers(pace);
  if (!(busy * volume <= GREAT_TOLERANCE * most)) return false;
  if (busy > TOLERANCE * pace->away) return false; /* many workers share it well */
  if (isinf(pace->here) && busy * volume <= TOLERANCE * most) return true;
  pace->passed++;
  return pace->passed >= pace->wait;
}

void ms_pace_ran_here(ms_pace *pace, double seconds, double volume, double most) {
  pace->here = fmin(seconds / volume, RISE * pace->here);
  if (pace->passed >= pace->wait) { /* it was tried again */
    bool well = pace->here * volume <= most || is_faster(pace, volume, most);
    pace->wait = well ? FIRST : twice(pace->wait);
  }
  pace->passed = 0;
}

void ms_pace_ran_away(ms_pace *pace, double seconds, double volume) {
  double away = seconds / volume;
  if (pace->missing == 0) {
    pace->away = fmin(away, RISE * pace->away);
    return;
  }
  pace->away = fmin(away, pace->away);
  if (--pace->missing > 0) return;
  pace->agreed = pace->here <= pace->away ? twice(pace->agreed) : FIRST;
  pace->turns = pace->agreed;
}
