/* SPDX-License-Identifier: MIT
 *
 * One job on a worker: from the task's arrival to DONE. See worker.h. */
#include "worker/worker_job.h"

#include <string.h>

#include "base/trace.h"
#include "job/report.h"
#include "worker/block_history.h"
#include "worker/exit_guard.h"
#include "worker/handover.h"
#include "worker/rounds.h"
#include "worker/worker_checkpoint.h"
#include "worker/worker_failure.h"
#include "worker/worker_report.h"
#include "worker/worker_return.h"

#define BRIEF 2000 /* ns: blocks that are timed together */

const ms_task *ms_worker_task(const ms_worker *worker) {
  return &worker->job.task;
}

bool ms_worker_forgets(ms_worker *worker) {
  bool forgets = worker->forgets;
  worker->forgets = false;
  return forgets;
}

void *ms_worker_operand(const ms_worker *worker, uint32_t operand, bool *dense) {
  *dense = !worker->setup.shared;
  return worker->job.place[operand];
}

void ms_worker_equip(ms_worker *worker, const ms_block_local *memory) {
  worker->job.memory = memory;
}

void ms_worker_version(ms_worker *worker, ms_versions *versions) {
  worker->job.versions = versions;
}

bool ms_worker_job_cancelled(const ms_worker *worker) {
  uint64_t number = worker->job.number;
  return worker->cancelled == number || ms_worker_status(worker, MS_STATUS_CANCEL) == number;
}

static bool same_schedule(const ms_schedule *schedule, const ms_task *task) {
  return schedule != NULL && schedule->workers == task->workers &&
         memcmp(&schedule->grid, &task->grid, sizeof task->grid) == 0 &&
         memcmp(schedule->range_owner, task->range_owner,
                task->grid.ranges[ms_grid_space(&task->grid)] * sizeof *task->range_owner) == 0;
}

static uint32_t space_ranges(const ms_schedule *schedule) {
  return schedule->grid.ranges[ms_grid_space(&schedule->grid)];
}

static int place_operands(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  for (uint32_t i = 0; i < job->task.operand_count; i++) {
    const ms_operand *operand = &job->task.operands[i];
    if (worker->setup.shared) {
      job->place[i] =
          ms_worker_segment(worker, operand->segment, operand->segment_size, operand->place, err);
    } else {
      bool keep = operand->movement == MS_MOVE_CACHED || operand->movement == MS_MOVE_SERVED;
      ms_mapped_memory_piece *copy = ms_mapped_memory_copy(
          &worker->mapped, operand->id, ms_operand_bytes(operand), job->number, keep, err);
      job->place[i] = copy == NULL ? NULL : copy->base;
    }
    if (job->place[i] == NULL) return -1;
  }
  return 0;
}

/* Finds the lists of what blocks write, where memory is shared. */
static int open_lists(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_task *task = &job->task;
  ms_operand *operands = (ms_operand *)(size_t)task->operands; /* in the job's arena */
  for (uint32_t i = 0; i < task->operand_count; i++) {
    if (operands[i].listed == 0) continue;
    ms_element_lists *lists = ms_arena_take(job->arena, 1, sizeof *lists);
    if (lists == NULL) return ms_error_memory(err, MS_WRK, "lists of elements");
    if (ms_operand_open_lists(operands, task->operand_count, i, operands[i].listed, job->place,
                              &task->grid, lists, err) != 0) {
      return -1;
    }
    operands[i].lists = lists;
  }
  return 0;
}

/* Gets ready to log what the blocks write, if the driver has given room for that. */
static int open_log(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_task *task = &job->task;
  const ms_task_log *log = &task->log;
  if (log->segment == 0 || !worker->setup.shared) return 0;
  if (open_lists(worker, err) != 0) return -1;
  void *memory = ms_worker_segment(worker, log->segment, log->segment_size, log->place, err);
  if (memory == NULL || ms_undo_divide(&job->undo, &task->grid, &task->bounds, task->operands,
                                       task->operand_count, err) != 0) {
    return -1;
  }
  job->undo.process = worker->setup.worker;
  if (log->slots > 0 &&
      ms_block_checkpoint_divide(&job->checkpoint, &job->undo, task->workers, err) != 0)
    return -1;
  if (job->undo.size != log->size - log->slots || job->checkpoint.size != log->slots) {
    return ms_error_set(err, MS_NET, "an undo log of another size");
  }
  ms_undo_attach(&job->undo, memory, job->place);
  ms_block_checkpoint_attach(&job->checkpoint, (unsigned char *)memory + job->undo.size);
  return 0;
}

static int prepare(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_text *text = &worker->incoming;
  if (text->failed || job->arena == NULL) return ms_error_memory(err, MS_WRK, "a job");
  ms_task *task = &job->task;
  if (ms_task_read(task, text->bytes, text->length, worker->setup.shared, job->arena, err) != 0) {
    return -1;
  }
  if (task->workers > worker->setup.workers) {
    return ms_error_set(err, MS_NET, "a task for %u workers of %u", task->workers,
                        worker->setup.workers);
  }
  if (!same_schedule(worker->schedule, task)) {
    ms_schedule_destroy(&worker->schedule);
    worker->schedule = ms_schedule_new(&task->grid, task->range_owner, task->workers, err);
    if (worker->schedule == NULL) return -1;
  }
  const ms_schedule *schedule = worker->schedule;
  job->place = ms_arena_take(job->arena, (size_t)task->operand_count + 1, sizeof *job->place);
  job->told = ms_arena_take(job->arena, schedule->workers, sizeof *job->told);
  job->heard = ms_arena_take(job->arena, schedule->workers, sizeof *job->heard);
  job->spent = ms_arena_take(job->arena, space_ranges(schedule), sizeof *job->spent);
  if (job->place == NULL || job->told == NULL || job->heard == NULL || job->spent == NULL) {
    return ms_error_memory(err, MS_WRK, "a job");
  }
  if (worker->setup.worker < schedule->workers) {
    job->share = ms_schedule_share(schedule, worker->setup.worker);
    job->block = ms_schedule_next(schedule, worker->setup.worker, MS_NO_BLOCK);
    job->held = job->block;
  }
  if (place_operands(worker, err) != 0 || open_log(worker, err) != 0 ||
      ms_worker_checkpoint_resume(worker, err) != 0) {
    return -1;
  }
  if (ms_rounds_prepare(worker, err) != 0) return -1;
  return ms_exchange_begin(worker, err);
}

void ms_worker_job_advance(ms_worker *worker) {
  ms_worker_job *job = &worker->job;
  job->position++;
  job->last = job->block;
  job->block = ms_schedule_next(worker->schedule, worker->setup.worker, job->block);
}

int ms_worker_job_begin(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  ms_text report = job->report;
  ms_exchange_close(worker);
  ms_rounds_close(worker);
  ms_block_checkpoint_free(&job->checkpoint);
  ms_undo_free(&job->undo);
  ms_arena_destroy(&job->arena);
  report.length = 0;
  *job = (ms_worker_job){.number = worker->incoming_job,
                         .open = true,
                         .last_turn = UINT32_MAX,
                         .block = MS_NO_BLOCK,
                         .last = MS_NO_BLOCK,
                         .held = MS_NO_BLOCK,
                         .report = report,
                         .arena = ms_arena_new(0),
                         .started = worker->road->now()};
  worker->incoming_job = 0;
  ms_error trouble;
  ms_error_clear(&trouble);
  int failed = prepare(worker, &trouble);
  if (!worker->setup.shared) ms_mapped_memory_sweep(&worker->mapped, job->number);
  if (failed == 0) return 0;
  worker->data_due = 0;
  if (ms_worker_failure_stop(worker, (ms_code)trouble.code, trouble.message, err) != 0) return -1;
  return ms_worker_job_end(worker, err);
}

/* For traces. */
static unsigned long long number_of(const ms_worker *worker) {
  return worker->job.number;
}

bool ms_worker_job_room(ms_worker *worker, ms_error *err) {
  bool open = ms_link_open(&worker->control);
  if (!open) ms_trace(MS_TRACE_WAITS, "begin for=room job=%llu", number_of(worker));
  while (!ms_link_open(&worker->control)) {
    if (worker->road->wait(worker, NULL, err) != 0) return false;
    if (worker->gone || ms_worker_job_cancelled(worker)) return false;
  }
  if (!open) ms_trace(MS_TRACE_WAITS, "end for=room job=%llu", number_of(worker));
  return true;
}

/* Whether anybody asks what took how long. */
static bool is_asked(const ms_worker *worker) {
  return worker->schedule->workers > 1;
}

static uint32_t range_of(const ms_worker *worker, uint32_t block) {
  const ms_grid *grid = &worker->schedule->grid;
  return ms_grid_range(grid, block, ms_grid_space(grid));
}

/* Adds the time of the untimed blocks, to each of their ranges as much. */
static void take_time(ms_worker *worker) {
  ms_worker_job *job = &worker->job;
  if (job->untimed == 0) return;
  uint64_t now = worker->road->now(), took = now - job->started, each = took / job->untimed;
  bool asked = is_asked(worker);
  for (uint32_t i = 0; asked && i < job->untimed; i++) job->spent[job->range[i]] += each;
  job->busy += took;
  job->started = now;
  job->untimed = 0;
  job->brief = !worker->road->by_frames && each < BRIEF;
}

int ms_worker_job_end(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->open) return 0;
  take_time(worker);
  ms_exchange_close(worker);
  job->running = false;
  if (job->failed || ms_worker_job_cancelled(worker)) {
    ms_report_keep_printed(&job->report);
    job->noted = 0; /* other bytes */
  } else if (job->busy >= MS_SPENT_WORTH && worker->schedule->workers > 1) {
    ms_report_add(&job->report, 0, MS_REPORT_SPENT, job->spent,
                  space_ranges(worker->schedule) * sizeof *job->spent);
  }
  ms_frame done = {
      .kind = MS_SAY_DONE, .job = job->number, .a = {job->busy, job->waited, job->moved}};
  int failed = ms_worker_report_done(worker, done, err);
  job->open = false;
  return failed;
}

/* The job is over for this worker: results first, then DONE. */
static int finish(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  bool good = !job->failed && !ms_worker_job_cancelled(worker) &&
              ms_worker_failure_last_turn(worker) == UINT32_MAX;
  if (good && job->report.failed) {
    ms_error trouble;
    ms_error_clear(&trouble);
    ms_error_memory(&trouble, MS_WRK, "a loop's results");
    if (ms_worker_failure_stop(worker, MS_WRK, trouble.message, err) != 0) return -1;
    good = false;
  }
  /* Others may have to run blocks whose changes they send here, too. */
  if (!good && !job->stopped && ms_exchange_await(worker, err) != 0) return -1;
  if (good && !worker->setup.shared && ms_worker_return_operands(worker, err) != 0) {
    if (!worker->gone && !ms_worker_job_cancelled(worker)) return -1;
  }
  return ms_worker_job_end(worker, err);
}

/* Whether to go on waiting for another worker's copy of what this one is about to write. */
static bool is_wanted(void *context) {
  const ms_worker *worker = context;
  return !ms_exit_guard_orphan() && !ms_worker_job_cancelled(worker);
}

/* Whether what the block at the present position reads has yet to come. */
static bool is_data_due(const ms_worker *worker) {
  return worker->data_due > 0 && worker->fed <= worker->job.position;
}

static int wait_for_data(ms_worker *worker, ms_error *err) {
  if (!is_data_due(worker)) return 0;
  ms_trace(MS_TRACE_WAITS, "begin for=data job=%llu frames=%llu", number_of(worker),
           (unsigned long long)worker->data_due);
  if (ms_handover_flush(worker, err) != 0) return -1;
  while (is_data_due(worker) && !worker->gone && !ms_worker_job_cancelled(worker)) {
    if (worker->road->wait(worker, NULL, err) != 0) return -1;
  }
  ms_trace(MS_TRACE_WAITS, "end for=data job=%llu", number_of(worker));
  return 0;
}

/* Waits until `block`, the next one, may begin: 1; 0: the job is over. */
static int await_block(ms_worker *worker, uint32_t block, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (job->position == 0) { /* else it started when the last block ended */
    if (worker->road->settle != NULL) worker->road->settle(worker);
    job->started = worker->road->now();
  }
  if (is_data_due(worker) || !ms_handover_ready(worker, block)) {
    take_time(worker);
    uint64_t before = job->started;
    if (wait_for_data(worker, err) != 0 || ms_handover_wait(worker, block, err) != 0) return -1;
    job->started = worker->road->now();
    job->waited += job->started - before;
  }
  return !worker->gone && !ms_worker_job_cancelled(worker);
}

/* Finds the next block that is needed and may begin: 1; 0: the job is over. */
static int find_block(ms_worker *worker, uint32_t *block, ms_error *err) {
  ms_worker_job *job = &worker->job;
  while (!job->stopped && !ms_worker_job_cancelled(worker) && job->position < job->share) {
    *block = job->block;
    int ready = await_block(worker, *block, err);
    if (ready <= 0) return ready;
    if (ms_worker_failure_needs(worker, *block)) return 1;
    ms_trace(MS_TRACE_BLOCKS, "skip job=%llu block=%u", number_of(worker), *block);
    /* Whoever is needed may see it all the same, where rounds do not wait for each other. */
    if (job->versions != NULL) ms_versions_carry(job->versions, *block);
    if (ms_history_wanted) ms_block_history_leave(worker, *block);
    ms_worker_job_advance(worker);
    if (ms_worker_failure_publish(worker, err) != 0) return -1;
  }
  return 0;
}

static int next_block(ms_worker *worker, uint32_t *block, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (job->running) return ms_error_set(err, MS_BUG, "a block is not finished");
  if (job->position == 0 && !worker->setup.shared && ms_worker_return_remember(worker, err) != 0)
    return -1;
  int found = find_block(worker, block, err);
  if (found < 0) return -1;
  if (found == 0 || ms_undo_log(&job->undo, *block, is_wanted, worker) != 0) {
    return finish(worker, err) == 0 ? 0 : -1;
  }
  ms_worker_checkpoint_keep(worker, *block);
  if (job->memory != NULL) ms_block_local_begin(job->memory, *block);
  if (job->versions != NULL && ms_rounds_begin(worker, *block, err) != 0) return -1;
  if (job->position == 0) ms_worker_show(worker, MS_STATUS_BEGAN, job->started);
  job->running = true;
  job->defers = false;
  ms_worker_show(worker, MS_STATUS_RUNNING, (uint64_t)*block + 1);
  ms_trace(MS_TRACE_BLOCKS, "begin job=%llu block=%u", number_of(worker), *block);
  if (ms_history_wanted) ms_block_history_begin(worker, *block);
  return 1;
}

int ms_worker_next_block(ms_worker *worker, uint32_t *block, ms_error *err) {
  ms_error trouble;
  ms_error_clear(&trouble);
  if (!worker->job.open) return 0;
  int got = next_block(worker, block, &trouble);
  return got < 0 ? ms_worker_failure_give_up(worker, &trouble, err) : got;
}

int ms_worker_print(ms_worker *worker, const void *bytes, size_t size, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->running) return ms_error_set(err, MS_BUG, "nothing is running that could print");
  ms_report_add(&job->report, job->block, MS_REPORT_PRINTED, bytes, size);
  job->printed = true;
  return 0;
}

int ms_worker_block_done(ms_worker *worker, const void *result, size_t size, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (!job->running) return ms_error_set(err, MS_BUG, "no block is running");
  uint32_t block = job->block;
  ms_trace(MS_TRACE_BLOCKS, "end job=%llu block=%u", number_of(worker), block);
  if (ms_history_wanted) ms_block_history_end(worker, block); /* before its count is raised */
  if (size > 0) ms_report_add(&job->report, block, MS_REPORT_RESULT, result, size);
  if (job->memory != NULL) ms_block_local_take(job->memory, block, &job->report);
  job->running = false;
  ms_worker_job_advance(worker);
  job->range[job->untimed++] = is_asked(worker) ? range_of(worker, block) : 0;
  if (!job->brief || job->untimed == MS_TIMED_AT_ONCE) take_time(worker);
  ms_error trouble;
  ms_error_clear(&trouble);
  if (ms_worker_failure_publish(worker, &trouble) != 0)
    return ms_worker_failure_give_up(worker, &trouble, err);
  if (worker->road->by_frames) job->started = worker->road->now(); /* messages took their time */
  return ms_worker_report_keep(worker, err);                       /* nobody waits for that */
}
