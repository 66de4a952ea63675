/* SPDX-License-Identifier: MIT
 *
 * The choices of a simulated run: who goes on next, what arrives next. A run is replayed by its
 * choices; all runs are tried by counting them up. */
#ifndef MS_WORKER_SIMULATED_CHOICES_H
#define MS_WORKER_SIMULATED_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

#define MS_MOST_CHOICES 4000 /* of a run */

/* Which of `options` was taken each time; those that no script has are drawn. */
typedef struct ms_choices {
  uint32_t taken[MS_MOST_CHOICES], options[MS_MOST_CHOICES], length, made;
  uint64_t drawn; /* state of the generator; 0: the first option */
} ms_choices;

/* The next choice of a run. */
static inline uint32_t ms_choices_take(ms_choices *c, uint32_t options) {
  uint32_t at = c->made++;
  if (at >= c->length) {
    c->drawn = c->drawn * 6364136223846793005u + (c->drawn > 0 ? 1442695040888963407u : 0);
    c->taken[c->length++] = (uint32_t)(c->drawn >> 33) % options;
  }
  c->options[at] = options;
  return c->taken[at];
}

/* The next run's choices; false when all have been tried. */
static inline bool ms_choices_advance(ms_choices *c) {
  while (c->length > 0 && c->taken[c->length - 1] + 1 >= c->options[c->length - 1]) c->length--;
  if (c->length == 0) return false;
  c->taken[c->length - 1]++;
  return true;
}

#endif
