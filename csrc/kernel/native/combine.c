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

/* What a block left of one scalar. */
typedef struct left {
  ms_native_slot value, tag;
} left;

static left left_of(const char *block, int64_t n) {
  left found;
  memcpy(&found, block + sizeof(ms_native_slot) + (size_t)n * sizeof found, sizeof found);
  return found;
}

static void set(ms_native_slot *scalar, const left *of) {
  scalar[0] = of->value;
  scalar[1] = of->tag;
}

static bool is_logic(const ms_combine_rule *rule) {
  return rule->op == MS_REDUCE_AND || rule->op == MS_REDUCE_OR;
}

/* Whether a scalar that `and` and `or` reduce is true. */
static bool is_true(const ms_native_slot *scalar) {
  int64_t tag = scalar[1].whole;
  if (tag == MS_NATIVE_NONE) return scalar[0].whole != 0;
  return tag == MS_NATIVE_NUMBER || tag == MS_NATIVE_TRUE;
}

static bool takes_truth(const ms_combine_rule *rule, const ms_native_slot *scalar, int64_t tag) {
  if (rule->wins == MS_WINS_EQUAL) return tag == MS_NATIVE_NUMBER || tag == MS_NATIVE_TRUE;
  return is_true(scalar) == (rule->op == MS_REDUCE_AND);
}

/* Whether what a block left of an extreme takes the place of the one before. */
static bool takes_extreme(const ms_combine_rule *rule, double old, double new) {
  ms_reduce_wins wins = (ms_reduce_wins)rule->wins;
  return rule->op == MS_REDUCE_MAX ? takes_max(wins, old, new) : takes_min(wins, old, new);
}

/* Combines a scalar's value of one block with that of the blocks before it. If others are assigned
 * with the scalar, only blocks count that have assigned these. 1: the block's value takes the place
 * of the one before; -1: it is no number. */
static int32_t take(const ms_combine_rule *rule, const char *block, const left *of,
                    ms_native_slot *scalar) {
  if (rule->with >= 0 && left_of(block, rule->with).tag.whole == MS_NATIVE_NONE) return 0;
  left new = *of;
  bool taken = true;
  if (rule->op == MS_COMBINE_LAST || is_logic(rule)) {
    if (of->tag.whole == MS_NATIVE_NONE) return 0;
    if (is_logic(rule)) taken = takes_truth(rule, scalar, of->tag.whole);
  } else if (of->tag.whole != MS_NATIVE_NUMBER) {
    return -1;
  } else if (rule->op == MS_REDUCE_SUM) {
    new.value.number = scalar[0].number + of->value.number;
  } else if (rule->op == MS_REDUCE_PRODUCT) {
    new.value.number = scalar[0].number * of->value.number;
  } else {
    taken = takes_extreme(rule, scalar[0].number, of->value.number);
  }
  if (taken) set(scalar, &new);
  return taken;
}

/* Combines all scalars of one block with those of the blocks before it. -1: as above. */
static int32_t take_all(const ms_combine_rule *rules, uint32_t count, const char *block,
                        ms_native_slot *scalars) {
  uint64_t taken = 0;
  for (uint32_t n = 0; n < count; n++) {
    left of = left_of(block, n);
    ms_native_slot *scalar = &scalars[2 * (size_t)n];
    if (rules[n].op == MS_REDUCE_WITH) continue;
    int32_t found = take(&rules[n], block, &of, scalar);
    if (found < 0) return -1;
    if (rules[n].with >= 0 && found > 0) taken |= (uint64_t)1 << n;
  }
  for (uint32_t n = 0; n < count && taken != 0; n++) {
    left of = left_of(block, n);
    bool follows = rules[n].op == MS_REDUCE_WITH && (taken >> rules[n].with & 1) != 0;
    if (follows) set(&scalars[2 * (size_t)n], &of);
  }
  return 0;
}

int32_t ms_results_combine(const ms_combine_rule *rules, uint32_t count, const char *blocks,
                           uint64_t block_count, ms_native_slot *scalars) {
  size_t size = sizeof(ms_native_slot) + count * sizeof(left); /* a mark, then the scalars */
  for (uint64_t b = 0; b < block_count; b++) {
    const char *block = blocks + b * size;
    if (memcmp(block, blocks, sizeof(ms_native_slot)) != 0) return -1; /* not marked as slots */
    if (take_all(rules, count, block, scalars) != 0) return -1;
  }
  return 0;
}

void ms_combine_free_streak(void *slots) {
  free(slots);
}
