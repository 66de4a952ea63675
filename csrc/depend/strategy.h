/* SPDX-License-Identifier: MIT
 *
 * Strategies: which ways of running a loop its distances allow.
 *
 * The classes stand in one table, tried in order; the first with a legal member wins. What this
 * version executes is a property of the class, kept apart from legality: a loop whose only legal
 * class is not executed here is refused as "unknown", never as "serial". */
#ifndef MS_DEPEND_STRATEGY_H
#define MS_DEPEND_STRATEGY_H

#include "depend/conflict.h"

typedef struct ms_choice {
  ms_strategy strategy;
  bool sure; /* false: a class could not be decided; SERIALLY then means "not known" */
  uint32_t dim_count;
  uint32_t dim[MS_MAX_DIMS];
  bool has_row;
  int64_t row[MS_MAX_DIMS];
} ms_choice;

/* The first legal class for these patterns. With `proven`, only pairs of proven accesses count
 * where exact distances are looked at (then `patterns` must be the proven ones as well). */
ms_choice ms_strategy_choose(const ms_conflicts *conflicts, const ms_patterns *patterns,
                             bool ordered, bool proven);

/* Dimension k is zero in every distance. */
bool ms_strategy_may_cut(const ms_patterns *patterns, uint32_t dim);

/* This version can run the choice. */
bool ms_strategy_executable(const ms_choice *choice);

#endif
