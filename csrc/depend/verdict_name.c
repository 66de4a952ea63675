/* SPDX-License-Identifier: MIT
 *
 * What a verdict says, in the words that users see: see verdict.h. */
#include "depend/verdict.h"

const char *ms_decision_name(ms_decision decision) {
  static const char *const names[] = {"parallel", "serial", "unknown"};
  return names[decision];
}

const char *ms_placement_name(ms_placement placement) {
  static const char *const names[] = {"local", "rotated", "broadcast", "halo", "served", "reduced"};
  return names[placement];
}

const char *ms_reduce_op_name(ms_reduce_op op) {
  static const char *const names[] = {"+",  "*",       "min",      "max",      "and",
                                      "or", "bit.bor", "bit.band", "bit.bxor", "with"};
  return names[op];
}

const char *ms_reduce_wins_name(ms_reduce_wins wins) {
  static const char *const names[] = {"beyond", "equal", "unless"};
  return names[wins];
}
