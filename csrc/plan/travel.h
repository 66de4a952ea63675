/* SPDX-License-Identifier: MIT
 *
 * Travel: how an array that a loop writes moves where memory is not shared.
 *
 * It stays with the owner of a range, goes along with ranges, is returned after the job, or
 * exchanged while it runs. That follows from the verdict and the axes alone. Pure. */
#ifndef MS_PLAN_TRAVEL_H
#define MS_PLAN_TRAVEL_H

#include <stdbool.h>

#include "array/array.h"
#include "base/api.h"
#include "plan/grid.h"

typedef enum ms_movement {
  MS_MOVE_CACHED,    /* read only; sent once for each (id, version) */
  MS_MOVE_SERVED,    /* read only; sent as far as the worker's blocks need it */
  MS_MOVE_BROADCAST, /* read only; sent whole before the job */
  MS_MOVE_LOCAL,     /* rows that follow the space axis stay with their owner */
  MS_MOVE_ROTATED,   /* rows that follow another axis go along with its ranges */
  MS_MOVE_SCATTERED, /* written at places that follow no cut, each by one worker only */
  MS_MOVE_EXCHANGED, /* everyone has a copy; what a block changed goes to all (exchange.h) */
  MS_MOVE_VERSIONED, /* the memory of one version of an array that is made in rounds */
  MS_MOVEMENTS
} ms_movement;

struct ms_array_plan; /* depend/verdict.h */

/* With the ranges of an axis go only the rows of a dimension at the 1-based scale * index + offset.
 */
typedef struct ms_follow {
  uint32_t dim, axis;
  int64_t scale, offset;
} ms_follow;

#define MS_FOLLOWS 2 /* as many as a wavefront cuts */

/* Whether a job may read the contents that elements had before it writes them. */
typedef enum ms_writes_blind {
  MS_WRITES_SEEN,    /* the job may read it; */
  MS_WRITES_BLIND,   /* it does not: a block can be run again after parts of it were; */
  MS_WRITES_UNLOGGED /* nor is it logged: a job that fails loses it */
} ms_writes_blind;

/* As `high`: up to the last row of the array. */
#define MS_WRITES_ALL INT64_MAX

/* What a job may write of an operand. */
typedef struct ms_writes {
  int64_t low[MS_ARRAY_DIMS],
      high[MS_ARRAY_DIMS]; /* rows of each dimension, 0-based, end excluded */
  uint32_t blind;          /* ms_writes_blind */
  uint32_t follows;        /* 0 .. MS_FOLLOWS: how many axes the writes follow; their ranges ... */
  ms_follow follow[MS_FOLLOWS]; /* ... are of different axes and dimensions */
} ms_writes;

typedef struct ms_travel {
  bool written; /* false: the loop writes none of it, and there is no more to say */
  ms_movement movement;
  uint32_t array_dim;    /* local, rotated: the dimension whose rows follow ... */
  uint32_t cut;          /* ... this axis, */
  int64_t scale, offset; /* at the 1-based row scale * index + offset */
  ms_writes writes;
} ms_travel;

/* How a written array of a verdict travels along the axes of a grid, of which `dims` are those of
 * the space, -1 for what is swept or no dimension. */
ms_travel ms_travel_of(const struct ms_array_plan *array, const ms_grid *grid, const int32_t *dims);

/* The movement of a name, "rotated"; MS_MOVEMENTS if there is none. */
MS_API ms_movement ms_movement_find(const char *name);

#endif
