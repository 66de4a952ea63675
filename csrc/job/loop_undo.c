/* SPDX-License-Identifier: MIT
 *
 * Loop undo: see loop_undo.h. */
#include "job/loop_undo.h"

#include <stdlib.h>
#include <string.h>

static ms_operand operand_of(const ms_array *array) {
  ms_operand operand = {.id = array->id,
                        .movement = MS_MOVE_BROADCAST,
                        .written = 1,
                        .element = (uint32_t)ms_type_of(array->type)->size,
                        .dim_count = (uint32_t)array->dim_count};
  for (int d = 0; d < array->dim_count; d++) {
    operand.dims[d] = operand.writes.high[d] = array->dims[d];
    operand.strides[d] = array->strides[d];
  }
  return operand;
}

static uint32_t find(const ms_loop_undo *log, const ms_array *array) {
  uint32_t a = 0;
  while (a < log->array_count && log->arrays[a] != array) a++;
  return a;
}

static void add_array(ms_loop_undo *log, const ms_array *array) {
  if (find(log, array) < log->array_count) return;
  uint32_t number = log->operand_count + log->array_count;
  log->arrays[log->array_count++] = array;
  log->operands[number] = operand_of(array);
  log->data[number] = array->data;
}

int ms_loop_undo_divide(ms_loop_undo *log, const ms_grid *grid, const ms_range_starts *bounds,
                        const ms_operand *operands, void *const *data, uint32_t operand_count,
                        ms_array *const *arrays, uint32_t array_count, ms_error *err) {
  *log = (ms_loop_undo){.grid = *grid, .operand_count = operand_count};
  size_t most = (size_t)operand_count + array_count + 1;
  log->operands = calloc(most, sizeof *log->operands);
  log->data = calloc(most, sizeof *log->data);
  log->arrays = calloc(most, sizeof *log->arrays);
  if (log->operands == NULL || log->data == NULL || log->arrays == NULL) {
    return ms_error_memory(err, MS_WRK, "the log of a loop's stores");
  }
  for (uint32_t i = 0; i < operand_count; i++) {
    log->operands[i] = operands[i];
    log->data[i] = data[i];
    if (ms_operand_check(&log->operands[i], i, grid, false, err) != 0) return -1;
  }
  for (uint32_t a = 0; a < array_count; a++) add_array(log, arrays[a]);
  return ms_undo_divide(&log->undo, &log->grid, bounds, log->operands,
                        operand_count + log->array_count, err);
}

void ms_loop_undo_attach(ms_loop_undo *log, void *memory) {
  ms_undo_attach(&log->undo, memory, log->data);
  ms_undo_clear(&log->undo);
}

static void note(void *context, const ms_array *array, int64_t first, int64_t count) {
  ms_loop_undo *log = context;
  ms_undo_log_elements(&log->undo, log->operand_count + find(log, array), first, count);
}

const ms_merge_log *ms_loop_undo_merging(const ms_loop_undo *log, ms_merge_log *merging) {
  if (log == NULL) return NULL;
  *merging = (ms_merge_log){.note = note, .context = (void *)(size_t)log};
  return merging;
}

void ms_loop_undo_free(ms_loop_undo *log) {
  ms_undo_free(&log->undo);
  free(log->operands);
  free(log->data);
  free(log->arrays);
  *log = (ms_loop_undo){0};
}
