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
  uint32_t sequential; /* sweeps: of the axes, how many are swept one value after the other */
  bool has_row;
  int64_t row[MS_MAX_DIMS]; /* over ordinals */
} ms_choice;

/* What the classes of strategies are tried on. */
typedef struct ms_strategy_terms {
  bool ordered;     /* the order as written has to be kept */
  bool proven;      /* only pairs of proven accesses count where exact distances are looked at (then
                       the patterns must be the proven ones as well) */
  bool levels;      /* the first dimension has the levels of iterations */
  bool executable;  /* only what this version runs */
  bool rounds;      /* the first index counts rounds; nothing but rounds will do */
  uint32_t entries; /* dimensions of a sparse array whose entries are the space, else 0: they are
                       cut along these dimensions only */
} ms_strategy_terms;

/* The first legal class for these patterns under these terms. */
ms_choice ms_strategy_choose(const ms_conflicts *conflicts, const ms_patterns *patterns,
                             const ms_strategy_terms *terms);

/* Dimension k is zero in every distance. */
bool ms_strategy_may_cut(const ms_patterns *patterns, uint32_t dim);

#endif
