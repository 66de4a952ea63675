/* SPDX-License-Identifier: MIT
 *
 * Schedule: see schedule.h. What waits for what is in schedule_edge.c. */
#include "plan/schedule.h"

#include <stdlib.h>
#include <string.h>

static uint32_t space_ranges(const ms_grid *grid) {
  return grid->ranges[ms_grid_space(grid)];
}

/* How many of the first axes have ranges that are handed on. */
static uint32_t chains_of(const ms_grid *grid) {
  const ms_strategy_traits *traits = ms_strategy_traits_of(grid->strategy);
  uint32_t chains = traits->alone ? 0 : (uint32_t)traits->chains;
  return chains < grid->count ? chains : grid->count;
}

/* Who has a range: without parallelism the first worker has all. */
static ms_owner owner_of(const ms_schedule *schedule, uint32_t range) {
  if (!ms_strategy_traits_of(schedule->grid.strategy)->alone) return schedule->range_owner[range];
  return (ms_owner){.worker = 0, .blocks = MS_WHOLE};
}

/* Lists the workers that have blocks in a phase; non-zero when memory is out. */
static int list_phase_workers(ms_schedule *schedule) {
  uint32_t ranges = schedule->phase_blocks = schedule->grid.ranges[schedule->grid.sequential];
  bool *has = calloc(schedule->workers, sizeof *has);
  schedule->phase_workers = calloc(schedule->workers, sizeof *schedule->phase_workers);
  int failed = has == NULL || schedule->phase_workers == NULL;
  for (uint32_t range = 0; !failed && range < ranges; range++) {
    has[schedule->range_owner[range].worker] = true;
  }
  for (uint32_t worker = 0; !failed && worker < schedule->workers; worker++) {
    if (has[worker]) schedule->phase_workers[schedule->phase_worker_count++] = worker;
  }
  free(has);
  return failed;
}

/* ------------------------------------------------------------------------------- portions */

/* Gives a worker blocks number from .. to - 1 of a range; whole ranges that lie side by side are
 * one portion. As long as there is no memory for portions they are counted. */
static void give(ms_schedule *schedule, uint32_t worker, uint32_t range, uint32_t from,
                 uint32_t to) {
  const ms_order *order = &schedule->order;
  uint32_t space = ms_grid_space(&schedule->grid);
  ms_workload *load = &schedule->load[worker];
  bool joins = load->count > 0 && to == MS_WHOLE && load->end == range;
  load->end = to == MS_WHOLE ? range + 1 : 0;
  if (!joins) load->count++;
  if (schedule->portions == NULL) return;
  ms_portion *part = &schedule->portions[load->first + load->count - 1];
  if (joins) {
    part->box.hi[space]++;
    return;
  }
  part->box = ms_order_within(ms_order_whole(order), space, range, range + 1);
  part->from = from;
  part->to = to;
  if (to == MS_WHOLE) return;
  part->first = ms_order_key(order, ms_order_select(order, &part->box, from));
  part->last = ms_order_key(order, ms_order_select(order, &part->box, to - 1));
}

/* Gives away all ranges: the owner of one begins, the next worker goes on. */
static void give_all(ms_schedule *schedule) {
  uint32_t ranges = space_ranges(&schedule->grid), blocks = schedule->block_count / ranges;
  for (uint32_t range = 0; range < ranges; range++) {
    ms_owner owner = owner_of(schedule, range);
    bool whole = owner.blocks == 0 || owner.blocks >= blocks;
    if (owner.blocks > 0) {
      give(schedule, owner.worker, range, 0, whole ? MS_WHOLE : owner.blocks);
    }
    if (owner.blocks < blocks) {
      give(schedule, owner.worker + 1, range, owner.blocks, whole ? MS_WHOLE : blocks);
    }
  }
}

/* Makes the portions, sorted by worker; non-zero when memory is out. */
static int divide(ms_schedule *schedule) {
  uint32_t first = 0;
  give_all(schedule);
  for (uint32_t w = 0; w < schedule->workers; w++) {
    uint32_t count = schedule->load[w].count;
    schedule->load[w] = (ms_workload){.first = first};
    first += count;
  }
  schedule->portions = calloc(first, sizeof *schedule->portions);
  if (schedule->portions == NULL) return -1;
  give_all(schedule);
  return 0;
}

/* How many blocks of a portion come before a key. */
static uint32_t portion_before(const ms_schedule *schedule, const ms_portion *part,
                               const ms_block_key *key) {
  uint32_t before = ms_order_before(&schedule->order, &part->box, key);
  if (part->to == MS_WHOLE) return before;
  return (before < part->from ? part->from : before > part->to ? part->to : before) - part->from;
}

/* A schedule and a worker, for questions about the worker's blocks. */
typedef struct own {
  const ms_schedule *schedule;
  uint32_t worker;
} own;

/* How many of a worker's blocks, of the whole plan, come before a key. */
static uint32_t own_before(const void *set, const ms_block_key *key) {
  const own *of = set;
  const ms_workload *load = &of->schedule->load[of->worker];
  uint32_t before = 0;
  for (uint32_t p = 0; p < load->count; p++) {
    before += portion_before(of->schedule, &of->schedule->portions[load->first + p], key);
  }
  return before;
}

static uint32_t own_all(const ms_schedule *schedule, uint32_t worker) {
  const ms_workload *load = &schedule->load[worker];
  uint32_t all = 0;
  for (uint32_t p = 0; p < load->count; p++) {
    const ms_portion *part = &schedule->portions[load->first + p];
    all +=
        part->to == MS_WHOLE ? ms_order_count(&schedule->order, &part->box) : part->to - part->from;
  }
  return all;
}

/* Counts what the workers have of the part that is run. */
static void count_shares(ms_schedule *schedule) {
  const ms_order *order = &schedule->order;
  ms_block_box all = ms_order_whole(order);
  ms_block_key first = {0}, end = {0};
  uint32_t stop = schedule->first + schedule->count;
  schedule->before_first = schedule->after_last = MS_NO_BLOCK;
  if (schedule->first > 0) {
    first = ms_order_key(order, ms_order_select(order, &all, schedule->first));
    schedule->before_first = ms_order_select(order, &all, schedule->first - 1);
  }
  if (stop < schedule->block_count) {
    schedule->after_last = ms_order_select(order, &all, stop);
    end = ms_order_key(order, schedule->after_last);
  }
  for (uint32_t w = 0; w < schedule->workers; w++) {
    own of = {.schedule = schedule, .worker = w};
    ms_workload *load = &schedule->load[w];
    load->done = schedule->first > 0 ? own_before(&of, &first) : 0;
    load->blocks =
        schedule->after_last == MS_NO_BLOCK ? own_all(schedule, w) : own_before(&of, &end);
    load->blocks -= load->done;
    schedule->alone = schedule->alone || load->blocks == schedule->count;
  }
}

/* ------------------------------------------------------------------------------- its life */

static int check_owners(const ms_grid *grid, const ms_owner *range_owner, uint32_t workers,
                        ms_error *err) {
  uint32_t ranges = space_ranges(grid), blocks = ms_grid_blocks(grid) / ranges;
  for (uint32_t range = 0; range < ranges; range++) {
    const ms_owner *owner = &range_owner[range];
    bool whole = owner->blocks >= blocks;
    if (owner->worker >= workers || (!whole && workers - owner->worker < 2)) {
      return ms_error_set(err, MS_OPT, "range %u belongs to worker %u of %u", range,
                          owner->worker + (whole ? 0 : 1), workers);
    }
    if (whole || !ms_strategy_traits_of(grid->strategy)->sweeps) continue;
    return ms_error_set(err, MS_OPT, "range %u of a sweep belongs to two workers", range);
  }
  return 0;
}

/* Fills the tables; non-zero when memory is out. */
static int fill(ms_schedule *schedule, const ms_owner *range_owner) {
  const ms_grid *grid = &schedule->grid;
  uint32_t ranges = space_ranges(grid);
  schedule->range_owner = calloc(ranges, sizeof *range_owner);
  schedule->load = calloc(schedule->workers, sizeof *schedule->load);
  if (schedule->range_owner == NULL || schedule->load == NULL) return -1;
  memcpy(schedule->range_owner, range_owner, ranges * sizeof *range_owner);
  if (ms_strategy_traits_of(grid->strategy)->sweeps && list_phase_workers(schedule) != 0) return -1;
  if (divide(schedule) != 0) return -1;
  count_shares(schedule);
  return 0;
}

ms_schedule *ms_schedule_new(const ms_grid *grid, const ms_owner *range_owner, uint32_t workers,
                             ms_error *err) {
  const char *why = ms_grid_refusal(grid);
  if (why != NULL) {
    ms_error_set(err, MS_OPT, "the loop cannot be scheduled: %s", why);
    return NULL;
  }
  if (check_owners(grid, range_owner, workers, err) != 0) return NULL;
  ms_schedule *schedule = calloc(1, sizeof *schedule);
  uint32_t blocks = ms_grid_blocks(grid);
  if (schedule != NULL) {
    *schedule = (ms_schedule){.grid = *grid,
                              .order = ms_order_of(grid),
                              .block_count = blocks,
                              .workers = workers,
                              .first = grid->first,
                              .count = grid->last == 0 ? blocks : grid->last - grid->first,
                              .chains = chains_of(grid)};
    if (fill(schedule, range_owner) == 0) return schedule;
  }
  ms_schedule_destroy(&schedule);
  ms_error_memory(err, MS_WRK, "a schedule of %u blocks", blocks);
  return NULL;
}

void ms_schedule_destroy(ms_schedule **schedule) {
  ms_schedule *gone = *schedule;
  if (gone == NULL) return;
  free(gone->range_owner);
  free(gone->portions);
  free(gone->load);
  free(gone->phase_workers);
  free(gone);
  *schedule = NULL;
}

/* ------------------------------------------------------------------------------- one block */

uint32_t ms_schedule_position(const ms_schedule *schedule, uint32_t block) {
  return ms_order_position(&schedule->order, block) - schedule->first;
}

bool ms_schedule_runs(const ms_schedule *schedule, uint32_t block) {
  if (schedule->count == schedule->block_count) return true;
  return ms_schedule_position(schedule, block) < schedule->count; /* earlier ones wrap round */
}

uint32_t ms_schedule_owner(const ms_schedule *schedule, uint32_t block) {
  uint32_t space = ms_grid_space(&schedule->grid);
  uint32_t range = ms_grid_range(&schedule->grid, block, space);
  ms_owner owner = owner_of(schedule, range);
  if (owner.blocks >= schedule->block_count / schedule->grid.ranges[space]) return owner.worker;
  const ms_order *order = &schedule->order;
  ms_block_box box = ms_order_within(ms_order_whole(order), space, range, range + 1);
  ms_block_key key = ms_order_key(order, block);
  return owner.worker + (ms_order_before(order, &box, &key) >= owner.blocks ? 1 : 0);
}

bool ms_schedule_owns(const ms_schedule *schedule, uint32_t worker, uint64_t block) {
  return block < schedule->block_count && ms_schedule_runs(schedule, (uint32_t)block) &&
         ms_schedule_owner(schedule, (uint32_t)block) == worker;
}

uint32_t ms_schedule_rank(const ms_schedule *schedule, uint32_t block) {
  own of = {.schedule = schedule, .worker = ms_schedule_owner(schedule, block)};
  ms_block_key key = ms_order_key(&schedule->order, block);
  return own_before(&of, &key) - schedule->load[of.worker].done;
}

uint32_t ms_schedule_share(const ms_schedule *schedule, uint32_t worker) {
  return schedule->load[worker].blocks;
}

uint32_t ms_schedule_own(const ms_schedule *schedule, uint32_t worker, uint32_t rank) {
  own of = {.schedule = schedule, .worker = worker};
  if (rank >= schedule->load[worker].blocks) return MS_NO_BLOCK;
  return ms_order_find(&schedule->order, rank + schedule->load[worker].done, own_before, &of);
}

/* The first block of a portion after `block` in the whole plan. */
static uint32_t next_of(const ms_schedule *schedule, const ms_portion *part, uint32_t block) {
  const ms_order *order = &schedule->order;
  if (part->to == MS_WHOLE) return ms_order_next(order, &part->box, block);
  ms_block_key key;
  if (block != MS_NO_BLOCK) key = ms_order_key(order, block);
  if (block == MS_NO_BLOCK || ms_order_less(order, &key, &part->first)) {
    return ms_order_block(order, &part->first);
  }
  if (!ms_order_less(order, &key, &part->last)) return MS_NO_BLOCK;
  return ms_order_next(order, &part->box, block);
}

uint32_t ms_schedule_next(const ms_schedule *schedule, uint32_t worker, uint32_t block) {
  const ms_workload *load = &schedule->load[worker];
  const ms_portion *parts = &schedule->portions[load->first];
  uint32_t next = MS_NO_BLOCK;
  ms_block_key key, least = {0};
  if (block == MS_NO_BLOCK) block = schedule->before_first;
  if (load->count == 1 && schedule->after_last == MS_NO_BLOCK) {
    return next_of(schedule, parts, block);
  }
  for (uint32_t p = 0; p < load->count; p++) {
    uint32_t other = next_of(schedule, &parts[p], block);
    if (other == MS_NO_BLOCK) continue;
    key = ms_order_key(&schedule->order, other);
    if (next != MS_NO_BLOCK && !ms_order_less(&schedule->order, &key, &least)) continue;
    next = other;
    least = key;
  }
  return next != MS_NO_BLOCK && ms_schedule_runs(schedule, next) ? next : MS_NO_BLOCK;
}

uint32_t ms_schedule_turn(const ms_schedule *schedule, uint32_t block) {
  uint32_t together = schedule->grid.together;
  return together == 0 ? ms_schedule_position(schedule, block) : block / together;
}

/* ------------------------------------------------------------------------------- users */

uint32_t ms_schedule_first_user(const ms_schedule *schedule, uint32_t axis, uint32_t range) {
  if (range >= schedule->grid.ranges[axis]) return UINT32_MAX;
  ms_block_box chain = ms_order_within(ms_order_whole(&schedule->order), axis, range, range + 1);
  uint32_t block = ms_order_next(&schedule->order, &chain, schedule->before_first);
  if (block == MS_NO_BLOCK || !ms_schedule_runs(schedule, block)) return UINT32_MAX;
  return ms_schedule_owner(schedule, block);
}

uint32_t ms_schedule_last_user(const ms_schedule *schedule, uint32_t axis, uint32_t range) {
  if (range >= schedule->grid.ranges[axis]) return UINT32_MAX;
  ms_block_box chain = ms_order_within(ms_order_whole(&schedule->order), axis, range, range + 1);
  uint32_t block = ms_order_previous(&schedule->order, &chain, schedule->after_last);
  if (block == MS_NO_BLOCK || !ms_schedule_runs(schedule, block)) return UINT32_MAX;
  return ms_schedule_owner(schedule, block);
}
