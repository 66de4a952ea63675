/* SPDX-License-Identifier: MIT
 *
 * Distances: cells collected over pairs of accesses, and the canonical patterns made of them.
 *
 * A set keeps one cell for each lexicographically positive sign vector (later minus earlier
 * iteration); the most telling pair that filled a
 * cell is remembered for the report. Lives in an
 * arena. */
#ifndef MS_DEPEND_DISTANCE_H
#define MS_DEPEND_DISTANCE_H

#include "base/arena.h"
#include "depend/relation.h"

typedef struct ms_meeting {
  bool present;
  bool proven; /* by two proven accesses */
  ms_cell cell;
  int64_t most[MS_MAX_DIMS]; /* how far the cell's distances lead, whichever way; INT64_MAX: not
                                known */
  const ms_access *earlier, *later;
} ms_meeting;

typedef struct ms_distances {
  uint32_t dim_count;
  uint32_t slots; /* 3 ^ dim_count */
  uint32_t count; /* cells present */
  ms_meeting *slot;
} ms_distances;

typedef struct ms_patterns {
  ms_distance *item;
  uint32_t count;
} ms_patterns;

/* An empty set; NULL when memory is out. */
ms_distances *ms_distances_new(ms_arena *arena, uint32_t dim_count);

/* Adds a cell of "b minus a". Zero is left out; a cell that is negative is turned round. */
void ms_distances_add(ms_distances *set, const ms_cell *cell, const ms_access *a,
                      const ms_access *b, bool proven);

/* How telling a meeting is for a report; less is more telling. */
uint32_t ms_meeting_rank(const ms_meeting *meeting);

/* The canonical patterns in their printed order: each cell is a pattern with an integer where all
 * its distances share one, else '+' or '-'; where three patterns differ only in one component,
 * '+', '-' and 0 there, one with '*' replaces them. -1 when memory is out. */
int ms_distances_patterns(const ms_distances *set, ms_arena *arena, ms_patterns *patterns);

/* How far the distances of a set lead. */
ms_furthest ms_distances_furthest(const ms_distances *set);

/* Always zero, never negative, never zero: what all distances of a pattern's component are. */
bool ms_distance_is_zero(const ms_component *component);
bool ms_distance_is_never_negative(const ms_component *component);
bool ms_distance_is_never_zero(const ms_component *component);

#endif
