/* SPDX-License-Identifier: MIT
 *
 * Task: what a worker is told about a job, and its form on the wire.
 *
 * The driver writes it as a byte string, which travels in pieces; the worker reads it back with
 * every length checked. The two are inverse to each other. */
#ifndef MS_JOB_TASK_H
#define MS_JOB_TASK_H

#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "job/operand.h"
#include "sync/gate_setting.h"

/* Most bytes of a task: kernel text and captured values. */
#define MS_TASK_LIMIT ((size_t)1 << 30)

/* Where the undo log lies in shared memory; segment 0: nothing is logged. */
typedef struct ms_task_log {
  uint64_t segment, segment_size, place, size;
  uint64_t slots; /* bytes at its end that are slots for workers (block_checkpoint.h) */
} ms_task_log;

/* How the blocks of rounds wait for each other; a setting without a name: there are no rounds. */
typedef struct ms_task_rounds {
  ms_gate_setting setting;
  const uint64_t
      *read_first;       /* what range r may read: reads[read_first[r] .. read_first[r + 1]); */
  const uint32_t *reads; /* NULL: all may read all */
  size_t read_count;
} ms_task_rounds;

typedef struct ms_task {
  ms_grid grid;
  uint32_t workers;
  const ms_owner *range_owner;
  uint32_t operand_count;
  const ms_operand *operands;
  ms_range_starts bounds;
  ms_task_log log;
  ms_task_rounds rounds;
  const char *key; /* names the kernel */
  size_t key_size;
  const char *run; /* per-run bytes */
  size_t run_size;
  const char *kernel; /* NULL when the worker knows it by its key */
  size_t kernel_size;
} ms_task;

/* Appends the task to `text` (check text->failed once). */
void ms_task_write(const ms_task *task, ms_text *text);

/* Reads a task whose strings stay in `bytes`; arrays are taken from `arena`. MS_NET for bytes that
 * are no valid task. */
int ms_task_read(ms_task *task, const char *bytes, size_t size, bool shared, ms_arena *arena,
                 ms_error *err);

#endif
