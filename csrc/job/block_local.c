/* SPDX-License-Identifier: MIT
 *
 * Block-local memory: see block_local.h. */
#include "job/block_local.h"

#include <string.h>

#include "job/report.h"
#include "plan/needs.h"
#include "sync/pending.h"

static void fill(const ms_scratch_space *space) {
  if (space->size == (int32_t)sizeof(uint32_t)) {
    uint32_t *elements = space->elements, content;
    memcpy(&content, &space->content, sizeof content);
    for (int64_t k = 0; k < space->count; k++) elements[k] = content;
  } else {
    uint64_t *elements = space->elements;
    for (int64_t k = 0; k < space->count; k++) elements[k] = space->content;
  }
}

void ms_block_local_begin(const ms_block_local *memory, uint32_t block) {
  for (uint32_t s = 0; s < memory->scratch_count; s++) fill(&memory->scratch[s]);
  for (uint32_t r = 0; r < memory->replica_count; r++) {
    const ms_replica_space *space = &memory->replicas[r];
    if (block >= space->count) continue;
    memcpy(space->elements, space->rows + (size_t)block * (size_t)space->size, (size_t)space->size);
  }
}

static void clear(const ms_pending_space *space) {
  if (space->touched != NULL) {
    ms_pending_clear_touched(space->elements, space->count, space->touched);
  } else {
    memset(space->elements, 0, (size_t)space->count * sizeof *space->elements);
  }
}

static size_t take(const ms_pending_space *space, char *room) {
  if (space->marks && space->touched != NULL)
    return ms_needs_take_touched(space->elements, space->count, space->touched, room);
  if (space->marks) return ms_needs_take(space->elements, space->count, room);
  if (space->touched == NULL) return ms_pending_take(space->elements, space->count, room);
  return ms_pending_take_touched(space->elements, space->count, space->touched, room);
}

/* What the replicas of a block hold at its end. */
static void take_replicas(const ms_block_local *memory, uint32_t block, ms_text *report) {
  for (uint32_t r = 0; r < memory->replica_count; r++) {
    const ms_replica_space *space = &memory->replicas[r];
    ms_report_add(report, block, MS_REPORT_PENDING + space->number, space->elements,
                  (size_t)space->size);
  }
}

void ms_block_local_take(const ms_block_local *memory, uint32_t block, ms_text *report) {
  for (uint32_t b = 0; b < memory->pending_count; b++) {
    const ms_pending_space *space = &memory->pending[b];
    char *room = ms_report_open(report, MS_PENDING_ROOM(space->count));
    if (room == NULL) {
      clear(space);
      continue;
    }
    size_t size = take(space, room);
    if (size > 0) ms_report_close(report, block, MS_REPORT_PENDING + b, size);
  }
  take_replicas(memory, block, report);
}

void ms_block_local_discard(const ms_block_local *memory) {
  for (uint32_t b = 0; b < memory->pending_count; b++) clear(&memory->pending[b]);
}
