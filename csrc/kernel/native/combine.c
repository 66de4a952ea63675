/* SPDX-License-Identifier: MIT
 *
 * Combine: see combine.h. */
#include "kernel/native/combine.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "depend/verdict.h"

/* Whether b, from a later block, takes the place of a as the greater one. */
static bool takes_max(ms_reduce_wins wins, double a, double b) {
  if (wins == MS_WINS_BEYOND) return b > a;
  if (wins == MS_WINS_EQUAL) return b >= a;
  return !(a > b) && b != -INFINITY;
}

static bool takes_min(ms_reduce_wins wins, double a, double b) {
  if (wins == MS_WINS_BEYOND) return b < a;
  if (wins == MS_WINS_EQUAL) return b <= a;
  return !(a < b) && b != INFINITY;
}

static double combine(const ms_combine_rule *rule, double a, double b) {
  ms_reduce_wins wins = (ms_reduce_wins)rule->wins;
  switch (rule->op) {
    case MS_REDUCE_SUM:
      return a + b;
    case MS_REDUCE_PRODUCT:
      return a * b;
    case MS_REDUCE_MAX:
      return takes_max(wins, a, b) ? b : a;
    default:
      return takes_min(wins, a, b) ? b : a;
  }
}

/* Takes what one block left of one scalar. */
static int32_t take(const ms_combine_rule *rule, const char *given, ms_native_slot *scalar) {
  ms_native_slot value, tag;
  memcpy(&value, given, sizeof value);
  memcpy(&tag, given + sizeof value, sizeof tag);
  if (rule->op != MS_COMBINE_LAST) {
    if (tag.whole != MS_NATIVE_NUMBER) return -1;
    scalar[0].number = combine(rule, scalar[0].number, value.number);
    scalar[1] = tag;
  } else if (tag.whole != MS_NATIVE_NONE) {
    scalar[0] = value;
    scalar[1] = tag;
  }
  return 0;
}

int32_t ms_results_combine(const ms_combine_rule *rules, uint32_t count, const char *blocks,
                           uint64_t block_count, ms_native_slot *scalars) {
  const char *given = blocks;
  for (uint64_t b = 0; b < block_count; b++) {
    given += sizeof(ms_native_slot); /* the mark */
    for (uint32_t n = 0; n < count; n++, given += 2 * sizeof(ms_native_slot)) {
      if (take(&rules[n], given, &scalars[2 * (size_t)n]) != 0) return -1;
    }
  }
  return 0;
}

void ms_streak_free(void *slots) {
  free(slots);
}
