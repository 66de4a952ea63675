/* SPDX-License-Identifier: MIT
 *
 * Schedule: see schedule.h.
 *
 * Rotation is Orion's (Wei et al., EuroSys 2019), for any number of axes: with n = max(ranges), at
 * step (s2, .., sk) space range a meets range (a + s_j) mod n of axis j, so that blocks of one step
 * share no range. A range is handed on from the block that used it to the next one that does; a
 * space range stays. In a wavefront, block (a, b) follows (a - 1, b) and (a, b - 1). */
#include "plan/schedule.h"

#include <stdlib.h>
#include <string.h>

static void order_row_major(ms_schedule *schedule) {
  for (uint32_t block = 0; block < schedule->block_count; block++) schedule->order[block] = block;
}

/* By range of the second axis, then of the first: the pipeline fills quickly. */
static void order_wavefront(ms_schedule *schedule) {
  uint32_t space = schedule->grid.ranges[0], other = schedule->grid.ranges[1], position = 0;
  for (uint32_t b = 0; b < other; b++) {
    for (uint32_t a = 0; a < space; a++) schedule->order[position++] = a * other + b;
  }
}

/* How far the range of `block` along `axis` is ahead of its space range, modulo n. */
static uint32_t step_of(const ms_grid *grid, uint32_t block, uint32_t axis, uint32_t n) {
  return (ms_grid_range(grid, block, axis) + n - ms_grid_range(grid, block, 0)) % n;
}

/* Sorts by step (s2, .., sk), then by space range: row-major order has the latter already, so
 * stable counting sorts from the last axis to the second do the rest. */
static int order_rotation(ms_schedule *schedule) {
  const ms_grid *grid = &schedule->grid;
  uint32_t blocks = schedule->block_count, n = 1;
  for (uint32_t axis = 0; axis < grid->count; axis++) {
    if (grid->ranges[axis] > n) n = grid->ranges[axis];
  }
  uint32_t *sorted = calloc(blocks, sizeof *sorted), *start = calloc((size_t)n + 1, sizeof *start);
  int failed = sorted == NULL || start == NULL;
  if (!failed) order_row_major(schedule);
  for (uint32_t axis = grid->count - 1; !failed && axis > 0; axis--) {
    memset(start, 0, ((size_t)n + 1) * sizeof *start);
    for (uint32_t i = 0; i < blocks; i++) start[step_of(grid, i, axis, n) + 1]++;
    for (uint32_t step = 0; step < n; step++) start[step + 1] += start[step];
    for (uint32_t i = 0; i < blocks; i++) {
      uint32_t block = schedule->order[i];
      sorted[start[step_of(grid, block, axis, n)]++] = block;
    }
    memcpy(schedule->order, sorted, blocks * sizeof *sorted);
  }
  free(sorted);
  free(start);
  return failed;
}

/* Which blocks conflict: any two, or those with the same range along certain axes. */
typedef struct conflict_rule {
  bool all;
  bool axis[MS_CUTS];
} conflict_rule;

typedef struct edge {
  uint32_t ends[2]; /* from, to */
  uint32_t axis;
} edge;

/* Calls for every edge of the schedule: each block waits for the previous one, in plan order, in
 * each class of blocks that conflict. Writes edges when `edges` is given, else only counts. */
static uint32_t each_edge(const ms_schedule *schedule, const conflict_rule *rule, uint32_t *last,
                          edge *edges) {
  uint32_t count = 0;
  for (uint32_t axis = 0; axis < schedule->grid.count; axis++) {
    if (!rule->all && !rule->axis[axis]) continue;
    uint32_t ranges = rule->all ? 1 : schedule->grid.ranges[axis];
    for (uint32_t range = 0; range < ranges; range++) last[range] = MS_NO_BLOCK;
    for (uint32_t position = 0; position < schedule->count; position++) {
      uint32_t block = schedule->order[position];
      uint32_t range = rule->all ? 0 : ms_grid_range(&schedule->grid, block, axis);
      if (last[range] != MS_NO_BLOCK) {
        if (edges != NULL) edges[count] = (edge){.ends = {last[range], block}, .axis = axis};
        count++;
      }
      last[range] = block;
    }
    if (rule->all) break;
  }
  return count;
}

/* Groups `count` edges by their end `key` (0 from, 1 to) into start and list, and their axes into
 * `axes` (unless NULL). */
static void group(const edge *edges, uint32_t count, int key, uint32_t blocks, uint32_t *start,
                  uint32_t *list, uint8_t *axes) {
  for (uint32_t i = 0; i < count; i++) start[edges[i].ends[key] + 1]++;
  for (uint32_t block = 0; block < blocks; block++) start[block + 1] += start[block];
  for (uint32_t i = count; i-- > 0;) { /* backwards: start[key + 1] ends where it should */
    uint32_t slot = --start[edges[i].ends[key] + 1];
    list[slot] = edges[i].ends[1 - key];
    if (axes != NULL) axes[slot] = (uint8_t)edges[i].axis;
  }
  for (uint32_t block = 0; block < blocks; block++) start[block] = start[block + 1];
  start[blocks] = count;
}

static int link_blocks(ms_schedule *schedule, const conflict_rule *rule) {
  uint32_t blocks = schedule->block_count, most = 1;
  for (uint32_t axis = 0; axis < schedule->grid.count; axis++) {
    if (schedule->grid.ranges[axis] > most) most = schedule->grid.ranges[axis];
  }
  uint32_t *last = calloc(most, sizeof *last);
  uint32_t count = last == NULL ? 0 : each_edge(schedule, rule, last, NULL);
  edge *edges = calloc((size_t)count + 1, sizeof *edges);
  schedule->before = calloc((size_t)count + 1, sizeof *schedule->before);
  schedule->after = calloc((size_t)count + 1, sizeof *schedule->after);
  schedule->after_axis = calloc((size_t)count + 1, sizeof *schedule->after_axis);
  int failed = last == NULL || edges == NULL || schedule->before == NULL ||
               schedule->after == NULL || schedule->after_axis == NULL;
  if (!failed) {
    each_edge(schedule, rule, last, edges);
    group(edges, count, 1, blocks, schedule->before_start, schedule->before, NULL);
    group(edges, count, 0, blocks, schedule->after_start, schedule->after, schedule->after_axis);
  }
  free(last);
  free(edges);
  return failed;
}

/* Finds the blocks at which a phase is over for their owners. */
static int close_phases(ms_schedule *schedule) {
  uint32_t ranges = schedule->phase_blocks = schedule->grid.ranges[schedule->grid.sequential];
  uint32_t *end = calloc(schedule->workers, sizeof *end);
  schedule->closers = calloc(schedule->workers, sizeof *schedule->closers);
  int failed = end == NULL || schedule->closers == NULL;
  for (uint32_t range = 0; !failed && range < ranges; range++) {
    end[schedule->range_owner[range].worker] = range + 1;
  }
  for (uint32_t worker = 0; !failed && worker < schedule->workers; worker++) {
    if (end[worker] > 0) schedule->closers[schedule->closer_count++] = end[worker] - 1;
  }
  free(end);
  return failed;
}

/* Numbers each owner's blocks that are run, in plan order. */
static int rank_blocks(ms_schedule *schedule) {
  uint32_t *next = calloc(schedule->workers, sizeof *next);
  for (uint32_t i = 0; next != NULL && i < schedule->count; i++) {
    uint32_t block = schedule->order[i];
    schedule->rank[block] = next[schedule->owner[block]]++;
  }
  int failed = next == NULL;
  free(next);
  return failed;
}

/* Gives the blocks to their owners, in the plan's whole order. */
static int give_blocks(ms_schedule *schedule) {
  const ms_grid *grid = &schedule->grid;
  uint32_t space = ms_grid_space(grid);
  uint32_t *given = calloc(grid->ranges[space], sizeof *given);
  for (uint32_t i = 0; given != NULL && i < schedule->block_count; i++) {
    uint32_t block = schedule->order[i], range = ms_grid_range(grid, block, space);
    const ms_owner *owner = &schedule->range_owner[range];
    schedule->owner[block] = owner->worker + (given[range]++ >= owner->blocks ? 1 : 0);
    if (grid->strategy == MS_SERIALLY) schedule->owner[block] = 0;
  }
  int failed = given == NULL;
  free(given);
  return failed;
}

/* Fills order and edges as the strategy wants them; non-zero when memory is out. */
static int arrange(ms_schedule *schedule) {
  conflict_rule rule = {0};
  int failed = 0;
  order_row_major(schedule);
  switch (schedule->grid.strategy) {
    case MS_ROTATE:
      failed = order_rotation(schedule);
      for (uint32_t axis = 0; axis < schedule->grid.count; axis++) rule.axis[axis] = true;
      break;
    case MS_WAVEFRONT: /* in this order the chains of equal ranges are just the edges */
      order_wavefront(schedule);
      rule.axis[0] = rule.axis[1] = true;
      break;
    case MS_PARTITION:
      rule.axis[0] = true;
      break;
    case MS_HYPERPLANE:
      failed = close_phases(schedule);
      break;
    case MS_SERIALLY:
      rule.all = true;
      break;
    default:
      break;
  }
  if (failed || give_blocks(schedule)) return 1;
  memmove(schedule->order, schedule->order + schedule->first,
          schedule->count * sizeof *schedule->order);
  return rank_blocks(schedule) || link_blocks(schedule, &rule);
}

ms_schedule *ms_schedule_new(const ms_grid *grid, const ms_owner *range_owner, uint32_t workers,
                             ms_error *err) {
  const char *why = ms_grid_refusal(grid);
  if (why != NULL) {
    ms_error_set(err, MS_OPT, "the loop cannot be scheduled: %s", why);
    return NULL;
  }
  uint32_t blocks = ms_grid_blocks(grid), space = ms_grid_space(grid);
  uint32_t ranges = grid->ranges[space];
  for (uint32_t range = 0; range < ranges; range++) {
    const ms_owner *owner = &range_owner[range];
    bool whole = owner->blocks >= blocks / ranges;
    if (owner->worker >= workers || (!whole && workers - owner->worker < 2)) {
      ms_error_set(err, MS_OPT, "range %u belongs to worker %u of %u", range,
                   owner->worker + (whole ? 0 : 1), workers);
      return NULL;
    }
    if (whole || grid->strategy != MS_HYPERPLANE) continue;
    ms_error_set(err, MS_OPT, "range %u of a sweep belongs to two workers", range);
    return NULL;
  }
  ms_schedule *schedule = calloc(1, sizeof *schedule);
  if (schedule == NULL) goto out_of_memory;
  schedule->grid = *grid;
  schedule->block_count = blocks;
  schedule->workers = workers;
  schedule->first = grid->first;
  schedule->count = grid->last == 0 ? blocks : grid->last - grid->first;
  schedule->range_owner = calloc(ranges, sizeof *range_owner);
  schedule->order = calloc(blocks, sizeof *schedule->order);
  schedule->owner = calloc(blocks, sizeof *schedule->owner);
  schedule->rank = calloc(blocks, sizeof *schedule->rank);
  schedule->before_start = calloc((size_t)blocks + 1, sizeof *schedule->before_start);
  schedule->after_start = calloc((size_t)blocks + 1, sizeof *schedule->after_start);
  if (schedule->range_owner == NULL || schedule->order == NULL || schedule->owner == NULL ||
      schedule->rank == NULL || schedule->before_start == NULL || schedule->after_start == NULL) {
    goto out_of_memory;
  }
  memcpy(schedule->range_owner, range_owner, ranges * sizeof *range_owner);
  if (arrange(schedule) == 0) return schedule;
out_of_memory:
  ms_schedule_destroy(&schedule);
  ms_error_set(err, MS_WRK, "out of memory for a schedule of %u blocks", blocks);
  return NULL;
}

uint32_t ms_schedule_before(const ms_schedule *schedule, uint32_t block, uint32_t i) {
  if (schedule->phase_blocks == 0) {
    uint32_t count = schedule->before_start[block + 1] - schedule->before_start[block];
    return i < count ? schedule->before[schedule->before_start[block] + i] : MS_NO_BLOCK;
  }
  uint32_t phase = block / schedule->phase_blocks;
  for (uint32_t e = 0; phase > 0 && e < schedule->closer_count; e++) {
    uint32_t before = (phase - 1) * schedule->phase_blocks + schedule->closers[e];
    if (before >= schedule->first && i-- == 0) return before; /* positions are blocks in a sweep */
  }
  return MS_NO_BLOCK;
}

/* The owner of the i-th of `count` blocks that is not `self`'s. */
static uint32_t other_owner(const ms_schedule *schedule, const uint32_t *list, uint32_t count,
                            uint32_t self, uint32_t i) {
  for (uint32_t e = 0; e < count; e++) {
    uint32_t owner = schedule->owner[list[e]];
    if (owner != self && i-- == 0) return owner;
  }
  return UINT32_MAX;
}

uint32_t ms_schedule_listener(const ms_schedule *schedule, uint32_t block, uint32_t i) {
  uint32_t self = schedule->owner[block], size = schedule->phase_blocks;
  if (size == 0) {
    uint32_t first = schedule->after_start[block];
    uint32_t count = schedule->after_start[block + 1] - first;
    return other_owner(schedule, schedule->after + first, count, self, i);
  }
  uint32_t next = block / size + 1; /* phase; after the last there is none */
  if (next >= (schedule->first + schedule->count + size - 1) / size) return UINT32_MAX;
  bool closes = false;
  for (uint32_t e = 0; e < schedule->closer_count; e++) {
    closes = closes || schedule->closers[e] == block % size;
  }
  if (!closes) return UINT32_MAX;
  return other_owner(schedule, schedule->closers, schedule->closer_count, self, i);
}

/* The owner of the first block in plan order, from one end, that uses a range. */
static uint32_t user(const ms_schedule *schedule, uint32_t axis, uint32_t range, bool last) {
  uint32_t count = schedule->count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t block = schedule->order[last ? count - 1 - i : i];
    if (ms_grid_range(&schedule->grid, block, axis) == range) return schedule->owner[block];
  }
  return UINT32_MAX;
}

uint32_t ms_schedule_first_user(const ms_schedule *schedule, uint32_t axis, uint32_t range) {
  return user(schedule, axis, range, false);
}

uint32_t ms_schedule_last_user(const ms_schedule *schedule, uint32_t axis, uint32_t range) {
  return user(schedule, axis, range, true);
}

void ms_schedule_turns(const ms_schedule *schedule, uint32_t *turn) {
  uint32_t together = schedule->grid.together;
  for (uint32_t i = 0; i < schedule->count; i++) {
    uint32_t block = schedule->order[i];
    turn[block] = together == 0 ? i : block / together;
  }
}

void ms_schedule_destroy(ms_schedule **schedule) {
  ms_schedule *gone = *schedule;
  if (gone == NULL) return;
  free(gone->range_owner);
  free(gone->order);
  free(gone->owner);
  free(gone->rank);
  free(gone->before_start);
  free(gone->before);
  free(gone->after_start);
  free(gone->after);
  free(gone->after_axis);
  free(gone->closers);
  free(gone);
  *schedule = NULL;
}
