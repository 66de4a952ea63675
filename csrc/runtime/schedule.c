/* SPDX-License-Identifier: MIT
 *
 * Schedule: see schedule.h.
 *
 * Rotation is Orion's (Wei et al., EuroSys 2019): n = max(ranges) steps; at step s space range a
 * meets time range (a + s) mod n, so that blocks of one step share no range. A time range is
 * handed on from the block that used it to the next one that does; a space range stays. */
#include "runtime/schedule.h"

#include <stdlib.h>
#include <string.h>

#define NO_BLOCK UINT32_MAX

uint32_t ms_grid_blocks(const ms_grid *grid) {
  if (grid->count == 0 || grid->count > MS_CUTS) return 0;
  uint64_t blocks = 1;
  for (uint32_t dim = 0; dim < grid->count; dim++) {
    blocks *= grid->ranges[dim];
    if (blocks > MS_MOST_BLOCKS) return 0;
  }
  return (uint32_t)blocks;
}

uint32_t ms_grid_range(const ms_grid *grid, uint32_t block, uint32_t dim) {
  for (uint32_t last = grid->count - 1; last > dim; last--) block /= grid->ranges[last];
  return block % grid->ranges[dim];
}

/* Adds without wrapping round. */
static uint64_t add(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Fills workers up to `most` each; the number needed. `owner` may be NULL. */
static uint64_t fill(const uint64_t *load, uint32_t ranges, uint64_t most, uint32_t *owner) {
  uint32_t worker = 0;
  uint64_t held = 0;
  for (uint32_t range = 0; range < ranges; range++) {
    if (add(held, load[range]) > most && held > 0) {
      worker++;
      held = 0;
    }
    held = add(held, load[range]);
    if (owner != NULL) owner[range] = worker;
  }
  return (uint64_t)worker + 1;
}

int ms_grid_assign(const ms_grid *grid, const uint64_t *weights, uint32_t workers, uint32_t *owner,
                   ms_error *err) {
  uint32_t blocks = ms_grid_blocks(grid);
  if (blocks == 0 || workers == 0) {
    return ms_error_set(err, MS_OPT, "a grid of %u blocks cannot be given to %u workers", blocks,
                        workers);
  }
  uint32_t ranges = grid->ranges[0], row = blocks / ranges;
  uint64_t *load = calloc(ranges, sizeof *load);
  if (load == NULL) return ms_error_set(err, MS_WRK, "out of memory for a schedule");
  uint64_t low = 0, high = 0;
  for (uint32_t range = 0; range < ranges; range++) {
    for (uint32_t i = 0; i < row; i++) {
      /* One more than the weight: empty ranges spread, too. */
      load[range] = add(load[range], weights == NULL ? 1 : add(weights[range * row + i], 1));
    }
    if (load[range] > low) low = load[range];
    high = add(high, load[range]);
  }
  while (low < high) { /* the least bound that `workers` workers can keep */
    uint64_t middle = low + (high - low) / 2;
    if (fill(load, ranges, middle, NULL) <= workers) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  fill(load, ranges, low, owner);
  free(load);
  return 0;
}

static void order_row_major(ms_schedule *schedule) {
  for (uint32_t block = 0; block < schedule->block_count; block++) schedule->order[block] = block;
}

static void order_rotation(ms_schedule *schedule) {
  uint32_t space = schedule->grid.ranges[0], time = schedule->grid.ranges[1];
  uint32_t steps = space > time ? space : time, position = 0;
  for (uint32_t step = 0; step < steps; step++) {
    for (uint32_t a = 0; a < space; a++) {
      uint32_t b = (a + step) % steps;
      if (b < time) schedule->order[position++] = a * time + b;
    }
  }
}

/* Which cut dimensions order two blocks that have the same range there. */
typedef struct conflict_rule {
  bool all;          /* any two blocks */
  bool dim[MS_CUTS]; /* blocks with the same range of this dimension */
} conflict_rule;

/* Calls for every edge of the schedule: each block waits for the previous one, in plan order, in
 * each class of blocks that conflict. Writes edges when `ends` is given, else only counts. */
static uint32_t each_edge(const ms_schedule *schedule, const conflict_rule *rule, uint32_t *last,
                          uint32_t (*ends)[2]) {
  uint32_t count = 0;
  for (uint32_t dim = 0; dim < schedule->grid.count; dim++) {
    if (!rule->all && !rule->dim[dim]) continue;
    uint32_t ranges = rule->all ? 1 : schedule->grid.ranges[dim];
    for (uint32_t range = 0; range < ranges; range++) last[range] = NO_BLOCK;
    for (uint32_t position = 0; position < schedule->block_count; position++) {
      uint32_t block = schedule->order[position];
      uint32_t range = rule->all ? 0 : ms_grid_range(&schedule->grid, block, dim);
      if (last[range] != NO_BLOCK) {
        if (ends != NULL) {
          ends[count][0] = last[range];
          ends[count][1] = block;
        }
        count++;
      }
      last[range] = block;
    }
    if (rule->all) break;
  }
  return count;
}

/* Groups `count` edges by their end `key` (0 from, 1 to) into start and list. */
static void group(uint32_t (*ends)[2], uint32_t count, int key, uint32_t blocks, uint32_t *start,
                  uint32_t *list) {
  for (uint32_t i = 0; i < count; i++) start[ends[i][key] + 1]++;
  for (uint32_t block = 0; block < blocks; block++) start[block + 1] += start[block];
  for (uint32_t i = count; i-- > 0;) { /* backwards: start[key + 1] ends where it should */
    uint32_t *slot = &start[ends[i][key] + 1];
    list[--*slot] = ends[i][1 - key];
  }
  for (uint32_t block = 0; block < blocks; block++) start[block] = start[block + 1];
  start[blocks] = count;
}

static int link_blocks(ms_schedule *schedule, const conflict_rule *rule) {
  uint32_t blocks = schedule->block_count, most = 1;
  for (uint32_t dim = 0; dim < schedule->grid.count; dim++) {
    if (schedule->grid.ranges[dim] > most) most = schedule->grid.ranges[dim];
  }
  uint32_t *last = calloc(most, sizeof *last);
  uint32_t count = last == NULL ? 0 : each_edge(schedule, rule, last, NULL);
  uint32_t(*ends)[2] = calloc((size_t)count + 1, sizeof *ends);
  schedule->before = calloc((size_t)count + 1, sizeof *schedule->before);
  schedule->after = calloc((size_t)count + 1, sizeof *schedule->after);
  int failed = last == NULL || ends == NULL || schedule->before == NULL || schedule->after == NULL;
  if (!failed) {
    each_edge(schedule, rule, last, ends);
    group(ends, count, 1, blocks, schedule->before_start, schedule->before);
    group(ends, count, 0, blocks, schedule->after_start, schedule->after);
  }
  free(last);
  free(ends);
  return failed;
}

/* Fills order and edges as the strategy wants them; false when memory is out. */
static int arrange(ms_schedule *schedule) {
  conflict_rule rule = {0};
  switch (schedule->grid.strategy) {
    case MS_ROTATE:
      order_rotation(schedule);
      rule.dim[0] = rule.dim[1] = true;
      break;
    case MS_PARTITION:
      order_row_major(schedule);
      rule.dim[0] = true;
      break;
    case MS_SERIALLY:
      order_row_major(schedule);
      rule.all = true;
      break;
    default:
      order_row_major(schedule);
      break;
  }
  return link_blocks(schedule, &rule);
}

/* What keeps a grid from being scheduled, NULL when nothing does. */
static const char *refusal(const ms_grid *grid) {
  if (ms_grid_blocks(grid) == 0) return "its grid has no blocks or too many";
  switch (grid->strategy) {
    case MS_INDEPENDENT:
    case MS_PARTITION:
    case MS_SERIALLY:
      return NULL;
    case MS_ROTATE:
      return grid->count == 2 ? NULL : "only two dimensions can be rotated";
    default:
      return "this strategy cannot be run";
  }
}

ms_schedule *ms_schedule_new(const ms_grid *grid, const uint32_t *range_owner, uint32_t workers,
                             ms_error *err) {
  const char *why = refusal(grid);
  if (why != NULL) {
    ms_error_set(err, MS_OPT, "the loop cannot be scheduled: %s", why);
    return NULL;
  }
  uint32_t blocks = ms_grid_blocks(grid), ranges = grid->ranges[0];
  for (uint32_t range = 0; range < ranges; range++) {
    if (range_owner[range] < workers) continue;
    ms_error_set(err, MS_OPT, "range %u belongs to worker %u of %u", range, range_owner[range],
                 workers);
    return NULL;
  }
  ms_schedule *schedule = calloc(1, sizeof *schedule);
  if (schedule == NULL) goto out_of_memory;
  schedule->grid = *grid;
  schedule->block_count = blocks;
  schedule->workers = workers;
  schedule->range_owner = calloc(ranges, sizeof *range_owner);
  schedule->order = calloc(blocks, sizeof *schedule->order);
  schedule->owner = calloc(blocks, sizeof *schedule->owner);
  schedule->before_start = calloc((size_t)blocks + 1, sizeof *schedule->before_start);
  schedule->after_start = calloc((size_t)blocks + 1, sizeof *schedule->after_start);
  if (schedule->range_owner == NULL || schedule->order == NULL || schedule->owner == NULL ||
      schedule->before_start == NULL || schedule->after_start == NULL) {
    goto out_of_memory;
  }
  memcpy(schedule->range_owner, range_owner, ranges * sizeof *range_owner);
  for (uint32_t block = 0; block < blocks; block++) {
    bool alone = grid->strategy == MS_SERIALLY;
    schedule->owner[block] = alone ? 0 : range_owner[ms_grid_range(grid, block, 0)];
  }
  if (arrange(schedule) == 0) return schedule;
out_of_memory:
  ms_schedule_destroy(&schedule);
  ms_error_set(err, MS_WRK, "out of memory for a schedule of %u blocks", blocks);
  return NULL;
}

/* The owner of the first block in plan order, from one end, that uses a range. */
static uint32_t user(const ms_schedule *schedule, uint32_t dim, uint32_t range, bool last) {
  uint32_t blocks = schedule->block_count;
  for (uint32_t i = 0; i < blocks; i++) {
    uint32_t block = schedule->order[last ? blocks - 1 - i : i];
    if (ms_grid_range(&schedule->grid, block, dim) == range) return schedule->owner[block];
  }
  return UINT32_MAX;
}

uint32_t ms_schedule_first_user(const ms_schedule *schedule, uint32_t dim, uint32_t range) {
  return user(schedule, dim, range, false);
}

uint32_t ms_schedule_last_user(const ms_schedule *schedule, uint32_t dim, uint32_t range) {
  return user(schedule, dim, range, true);
}

void ms_schedule_destroy(ms_schedule **schedule) {
  ms_schedule *gone = *schedule;
  if (gone == NULL) return;
  free(gone->range_owner);
  free(gone->order);
  free(gone->owner);
  free(gone->before_start);
  free(gone->before);
  free(gone->after_start);
  free(gone->after);
  free(gone);
  *schedule = NULL;
}
