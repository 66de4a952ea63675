/* SPDX-License-Identifier: MIT
 *
 * Known plans: see known_plans.h. A chained hash table. */
#include "job/known_plans.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_ROOM 16
#define MOST       1024

static uint32_t bucket_of(const ms_known_plans *known, const double *numbers) {
  uint64_t hash = MS_HASH_EMPTY;
  for (uint32_t k = 0; k < known->width; k++) {
    uint64_t word;
    memcpy(&word, &numbers[k], sizeof word);
    hash = ms_hash_word(hash, word);
  }
  return (uint32_t)(hash ^ hash >> 32) % known->room;
}

static bool has(const ms_known_plans *known, uint32_t place, const double *numbers) {
  const double *own = known->numbers + (size_t)(place - 1) * known->width;
  return memcmp(own, numbers, known->width * sizeof *own) == 0;
}

const ms_known_plan *ms_known_plans_find(ms_known_plans *known, const double *numbers) {
  if (known->count == 0) return NULL;
  uint32_t place = known->latest;
  if (place == 0 || !has(known, place, numbers)) {
    place = known->buckets[bucket_of(known, numbers)];
    while (place != 0 && !has(known, place, numbers)) place = known->plans[place - 1].next;
  }
  known->latest = place;
  return place != 0 ? &known->plans[place - 1] : NULL;
}

static void link(ms_known_plans *known, uint32_t place) {
  uint32_t *bucket =
      &known->buckets[bucket_of(known, known->numbers + (size_t)(place - 1) * known->width)];
  known->plans[place - 1].next = *bucket;
  *bucket = place;
}

static bool grow(ms_known_plans *known) {
  uint32_t room = known->room == 0 ? FIRST_ROOM : 2 * known->room;
  size_t width = known->width > 0 ? known->width : 1;
  ms_known_plan *plans = realloc(known->plans, room * sizeof *plans);
  if (plans != NULL) known->plans = plans;
  double *numbers = realloc(known->numbers, room * width * sizeof *numbers);
  if (numbers != NULL) known->numbers = numbers;
  uint32_t *buckets = calloc(room, sizeof *buckets);
  if (plans == NULL || numbers == NULL || buckets == NULL) {
    free(buckets);
    return false;
  }
  free(known->buckets);
  known->buckets = buckets;
  known->room = room;
  for (uint32_t place = 1; place <= known->count; place++) link(known, place);
  return true;
}

bool ms_known_plans_add(ms_known_plans *known, const double *numbers, ms_plan *plan,
                        uint64_t number) {
  if (known->count == MOST) ms_known_plans_clear(known);
  if (known->count == known->room && !grow(known)) return false;
  uint32_t place = ++known->count;
  ms_plan_keep(plan);
  known->plans[place - 1] = (ms_known_plan){.plan = plan, .number = number};
  if (known->width > 0) {
    memcpy(known->numbers + (size_t)(place - 1) * known->width, numbers,
           known->width * sizeof *numbers);
  }
  link(known, place);
  known->latest = place;
  return true;
}

void ms_known_plans_clear(ms_known_plans *known) {
  for (uint32_t k = 0; k < known->count; k++) ms_plan_release(known->plans[k].plan);
  free(known->plans);
  free(known->numbers);
  free(known->buckets);
  *known = (ms_known_plans){.width = known->width};
}
