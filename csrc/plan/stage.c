/* SPDX-License-Identifier: MIT
 *
 * Stages: see stage.h. */
#include "plan/stage.h"

#include <stdlib.h>

#include "plan/order.h"

#define FIRST_ROOM 16 /* stages */

/* Adds a stage without blocks; -1 when memory is out. */
static int add_stage(ms_stages *stages, uint32_t *room) {
  if (stages->count == *room) {
    uint32_t wanted = *room == 0 ? FIRST_ROOM : 2 * *room;
    uint32_t *grown = realloc(stages->ends, wanted * sizeof *grown);
    if (grown == NULL) return -1;
    stages->ends = grown;
    *room = wanted;
  }
  stages->count++;
  return 0;
}

static int refuse(uint64_t most, uint64_t size, ms_error *err) {
  return ms_error_set(err, MS_OPT,
                      "max_delay = %llu: the smallest block that the loop can be cut into has "
                      "%llu iterations. Make it %llu, or raise the option 'grid'",
                      (unsigned long long)most, (unsigned long long)size, (unsigned long long)size);
}

int ms_stages_cut(const ms_grid *grid, const ms_layout *layout, uint64_t most, ms_stages *stages,
                  ms_error *err) {
  ms_order order = ms_order_of(grid);
  ms_block_box all = ms_order_whole(&order);
  uint32_t block = MS_NO_BLOCK, room = 0;
  uint64_t held = 0;
  *stages = (ms_stages){0};
  for (uint32_t position = 0; position < order.blocks; position++) {
    block = ms_order_next(&order, &all, block);
    uint64_t size = ms_layout_size(layout, block);
    int failed = size > most ? refuse(most, size, err) : 0;
    if (!failed && (stages->count == 0 || size > most - held)) {
      failed = add_stage(stages, &room);
      if (failed) ms_error_memory(err, MS_ARR, "the stages of a loop");
      held = 0;
    }
    if (failed) {
      ms_stages_free(stages);
      return -1;
    }
    held += size;
    stages->ends[stages->count - 1] = position + 1;
  }
  return 0;
}

void ms_stages_loads(const ms_stages *stages, uint32_t stage, const ms_grid *grid,
                     const ms_layout *layout, uint64_t *load) {
  ms_order order = ms_order_of(grid);
  ms_block_box all = ms_order_whole(&order);
  uint32_t first = ms_stages_first(stages, stage), space = ms_grid_space(grid);
  uint32_t block = ms_order_select(&order, &all, first);
  ms_grid_loads(grid, load);
  for (uint32_t position = first; position < stages->ends[stage]; position++) {
    load[ms_grid_range(grid, block, space)] += ms_layout_size(layout, block);
    block = ms_order_next(&order, &all, block);
  }
}

void ms_stages_free(ms_stages *stages) {
  free(stages->ends);
  *stages = (ms_stages){0};
}
