/* SPDX-License-Identifier: MIT
 *
 * The arrays of simulated jobs (simulated_session_test.c): a number for each block, and one that
 * all blocks of a row add to; and a number for each column. What a block makes of them shows which
 * blocks ran before it, and whether it ran twice. */
#ifndef MS_WORKER_SIMULATED_CELLS_H
#define MS_WORKER_SIMULATED_CELLS_H

#include "job/operand.h"
#include "plan/schedule.h"

static ms_grid ms_cells_grid; /* the scene's */
static bool ms_cells_shared;  /* and whether its memory is shared */

static uint64_t ms_cells_mix(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
}

static uint32_t ms_cells_columns(void) {
  return ms_cells_grid.count > 1 ? ms_cells_grid.ranges[1] : 1;
}

static ms_operand ms_cells_operand(void) {
  int64_t rows = ms_cells_grid.ranges[0], width = (int64_t)ms_cells_columns() + 1;
  return (ms_operand){.id = 1,
                      .movement = MS_MOVE_LOCAL,
                      .written = 1,
                      .element = 8,
                      .dim_count = 2,
                      .scale = 1,
                      .dims = {rows, width},
                      .strides = {width, 1},
                      .writes = {.high = {rows, width}, .follows = 1, .follow = {{.scale = 1}}}};
}

static ms_operand ms_cells_of_columns(void) {
  int64_t width = ms_cells_columns();
  return (ms_operand){
      .id = 2,
      .movement = MS_MOVE_ROTATED,
      .written = 1,
      .element = 8,
      .dim_count = 1,
      .cut = 1,
      .scale = 1,
      .dims = {width},
      .strides = {1},
      .writes = {.high = {width}, .follows = 1, .follow = {{.axis = 1, .scale = 1}}}};
}

static uint64_t *ms_cells_second(uint64_t *first) {
  return first + ms_cells_grid.ranges[0] * (ms_cells_columns() + 1);
}

static uint32_t ms_cells_column(uint32_t block) {
  return ms_cells_grid.count > 1 ? ms_grid_range(&ms_cells_grid, block, 1) : 0;
}

/* The number of `block`, and the one of its row. */
static uint64_t *ms_cells_cell(uint64_t *cells, uint32_t block) {
  return &cells[ms_grid_range(&ms_cells_grid, block, 0) * (ms_cells_columns() + 1) +
                ms_cells_column(block)];
}

static uint64_t *ms_cells_sum(uint64_t *cells, uint32_t block) {
  uint32_t row = ms_grid_range(&ms_cells_grid, block, 0);
  return &cells[row * (ms_cells_columns() + 1) + ms_cells_columns()];
}

/* What `block` sets its number to: where memory is shared, of those that it follows. */
static uint64_t ms_cells_made(const ms_schedule *schedule, uint64_t *cells, uint32_t block) {
  uint64_t made = ms_cells_mix(*ms_cells_cell(cells, block), block);
  for (uint32_t e = 0; ms_cells_shared && e < ms_schedule_edges(schedule); e++) {
    uint32_t before = ms_schedule_before(schedule, block, e);
    if (before != MS_NO_BLOCK) made = ms_cells_mix(made, *ms_cells_cell(cells, before));
  }
  return made;
}

static void ms_cells_run(const ms_schedule *schedule, uint64_t *cells, uint64_t *sums,
                         uint32_t block) {
  *ms_cells_cell(cells, block) = ms_cells_made(schedule, cells, block);
  *ms_cells_sum(cells, block) = ms_cells_mix(*ms_cells_sum(cells, block), block);
  if (sums != NULL)
    sums[ms_cells_column(block)] = ms_cells_mix(sums[ms_cells_column(block)], block);
}

#endif
