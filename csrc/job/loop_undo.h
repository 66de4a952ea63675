/* SPDX-License-Identifier: MIT
 *
 * Loop undo: the one log of a loop whose arrays change in steps: by the blocks of a stage, then by
 * merging what these have put into buffers (sync/merge.h), stage after stage.
 *
 * It has the oldest image of whatever a step has changed. A stage's own log (undo.h), by which a
 * stage is run again when a worker dies, is folded into it when the stage has ended; merging notes
 * here what it is about to change. So nothing is copied that nobody touches. The log belongs to
 * the process that merges. */
#ifndef MS_JOB_LOOP_UNDO_H
#define MS_JOB_LOOP_UNDO_H

#include "job/undo.h"
#include "sync/merge.h"

typedef struct ms_loop_undo {
  ms_undo undo;
  ms_grid grid;
  ms_operand *operands; /* of the job, then the arrays that merging changes */
  void **data;
  const ms_array **arrays; /* of these; not owned */
  uint32_t operand_count, array_count;
} ms_loop_undo;

/* Divides what the `operand_count` operands of a job on `grid` say that it writes (`data`: where
 * their elements [1]...[1] are), and all of the arrays that merging changes, once each. Afterwards
 * log->undo.size bytes of memory, aligned to 64, are to be attached. MS_WRK when memory is out,
 * MS_ARR for operands that are no operands. */
int ms_loop_undo_divide(ms_loop_undo *log, const ms_grid *grid, const ms_range_starts *bounds,
                        const ms_operand *operands, void *const *data, uint32_t operand_count,
                        ms_array *const *arrays, uint32_t array_count, ms_error *err);

/* Makes `memory` the log's, without any image. */
void ms_loop_undo_attach(ms_loop_undo *log, void *memory);

/* What merging tells of the arrays that it changes; NULL where nothing is logged (log NULL). */
const ms_merge_log *ms_loop_undo_merging(const ms_loop_undo *log, ms_merge_log *merging);

/* Frees what the log points to, but for its memory. */
void ms_loop_undo_free(ms_loop_undo *log);

#endif
