/* SPDX-License-Identifier: MIT
 *
 * Grid: see grid.h. */
#include "plan/grid.h"

#include <string.h>

/* A range is split where it has so many blocks, and where the worst worker has so much more to do
 * than the mean: another hand-over costs little, but it costs something. */
#define SPLIT_BLOCKS 4
#define SPLIT_GAIN   1.02

uint32_t ms_grid_blocks(const ms_grid *grid) {
  if (grid->count == 0 || grid->count > MS_CUTS) return 0;
  uint64_t blocks = 1;
  for (uint32_t axis = 0; axis < grid->count; axis++) {
    blocks *= grid->ranges[axis];
    if (blocks > MS_MOST_BLOCKS) return 0;
  }
  return (uint32_t)blocks;
}

uint32_t ms_grid_range(const ms_grid *grid, uint32_t block, uint32_t axis) {
  for (uint32_t last = grid->count - 1; last > axis; last--) block /= grid->ranges[last];
  return block % grid->ranges[axis];
}

uint32_t ms_grid_space(const ms_grid *grid) {
  return ms_strategy_traits_of(grid->strategy)->sweeps ? grid->sequential : 0;
}

bool ms_grid_chains(const ms_grid *grid, uint32_t axis) {
  if (ms_strategy_traits_of(grid->strategy)->chains > 1) return true;
  return axis == ms_grid_space(grid); /* with edges, or a range of it has one owner */
}

const char *ms_grid_refusal(const ms_grid *grid) {
  if (ms_grid_blocks(grid) == 0) return "its grid has no blocks or too many";
  if (grid->last > ms_grid_blocks(grid) || grid->first > grid->last ||
      (grid->first == grid->last && grid->last != 0)) {
    return "it runs blocks that the grid does not have";
  }
  const ms_strategy_traits *traits = ms_strategy_traits_of(grid->strategy);
  if (traits == NULL) return "this strategy cannot be run";
  if (!traits->sweeps && grid->sequential != 0) {
    return "only the axes of a hyperplane sweep are sequential";
  }
  if (!traits->sweeps && (grid->reach[0] != 0 || grid->reach[1] != 0)) {
    return "only ranges of a hyperplane sweep have a reach";
  }
  int64_t axes = (int64_t)grid->count - grid->sequential;
  bool swept = !traits->sweeps || grid->sequential > 0;
  bool fits = swept && axes >= traits->least_axes && axes <= traits->most_axes;
  return fits ? NULL : traits->axes_words;
}

/* Adds without wrapping round. */
static uint64_t add(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void ms_grid_loads(const ms_grid *grid, uint64_t *load) {
  uint32_t ranges = grid->ranges[ms_grid_space(grid)], each = ms_grid_blocks(grid) / ranges;
  for (uint32_t range = 0; range < ranges; range++) load[range] = each;
}

/* Fills workers up to `most` each; the number needed. `owner` may be NULL. */
static uint64_t fill(const uint64_t *load, uint32_t ranges, uint64_t most, ms_owner *owner) {
  uint32_t worker = 0;
  uint64_t held = 0;
  for (uint32_t range = 0; range < ranges; range++) {
    if (add(held, load[range]) > most && held > 0) {
      worker++;
      held = 0;
    }
    held = add(held, load[range]);
    if (owner != NULL) owner[range] = (ms_owner){.worker = worker, .blocks = MS_WHOLE};
  }
  return (uint64_t)worker + 1;
}

/* The least bound that `workers` workers can keep when ranges are not split. */
static uint64_t least_bound(const uint64_t *load, uint32_t ranges, uint32_t workers) {
  uint64_t low = 0, high = 0;
  for (uint32_t range = 0; range < ranges; range++) {
    if (load[range] > low) low = load[range];
    high = add(high, load[range]);
  }
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (fill(load, ranges, middle, NULL) <= workers) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* Gives every worker `share`: who reaches it within a range leaves the range's other blocks, of
 * `blocks`, to the next. */
static void fill_evenly(const uint64_t *load, uint32_t ranges, double share, uint32_t blocks,
                        uint32_t workers, ms_owner *owner) {
  uint32_t worker = 0;
  double before = 0; /* load of the ranges before this one */
  for (uint32_t range = 0; range < ranges; range++) {
    double end = share * (worker + 1.0), here = (double)load[range];
    uint32_t kept = MS_WHOLE;
    if (before + here > end && worker + 1 < workers) {
      kept = (uint32_t)((end - before) / here * blocks + 0.5);
    }
    if (kept == 0) worker++;
    bool whole = kept == 0 || kept >= blocks;
    owner[range] = (ms_owner){.worker = worker, .blocks = whole ? MS_WHOLE : kept};
    before += here;
    while (worker + 1 < workers && before >= share * (worker + 1.0)) worker++;
  }
}

int ms_grid_assign(const ms_grid *grid, const uint64_t *load, uint32_t workers, bool split,
                   ms_owner *owner, ms_error *err) {
  const char *why = ms_grid_refusal(grid);
  if (why != NULL) return ms_error_set(err, MS_OPT, "the loop cannot be scheduled: %s", why);
  if (workers == 0) return ms_error_set(err, MS_OPT, "a grid cannot be given to no workers");
  uint32_t ranges = grid->ranges[ms_grid_space(grid)], blocks = ms_grid_blocks(grid) / ranges;
  uint64_t most = least_bound(load, ranges, workers);
  double share = 0;
  for (uint32_t range = 0; range < ranges; range++) share += (double)load[range] / workers;
  const ms_strategy_traits *traits = ms_strategy_traits_of(grid->strategy);
  bool whole = traits->sweeps || traits->alone;
  if (split && !whole && blocks >= SPLIT_BLOCKS && (double)most > SPLIT_GAIN * share) {
    fill_evenly(load, ranges, share, blocks, workers, owner);
  } else {
    fill(load, ranges, most, owner);
  }
  return 0;
}
