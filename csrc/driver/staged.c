/* SPDX-License-Identifier: MIT
 *
 * Staged runs: see staged.h. */
#include "driver/staged.h"

#include <stdlib.h>
#include <string.h>

#include "driver/outcome.h"
#include "driver/recover.h"
#include "driver/session_state.h"

/* The loop's stages, NULL: it is one. */
static const ms_stages *stages_of(const ms_staged *run) {
  const ms_plan *plan = run->loop->plan;
  return run->merge_count > 0 && plan != NULL && plan->stages.count > 0 ? &plan->stages : NULL;
}

static uint32_t stage_count(const ms_staged *run) {
  const ms_stages *stages = stages_of(run);
  return stages == NULL ? 1 : stages->count;
}

/* Takes a log of what the loop will change. */
static int make_log(ms_staged *run, ms_session *session, ms_error *err) {
  const ms_job *loop = run->loop;
  uint32_t most = 0, count = 0;
  for (uint32_t m = 0; m < run->merge_count; m++) most += run->merges[m].merge.array_count;
  ms_operand *operands = calloc((size_t)loop->operand_count + 1, sizeof *operands);
  void **data = calloc((size_t)loop->operand_count + 1, sizeof *data);
  ms_array **arrays = calloc((size_t)most + 1, sizeof *arrays);
  int failed = -1;
  if (operands == NULL || data == NULL || arrays == NULL) {
    ms_error_memory(err, MS_WRK, "the log of a loop's stores");
  } else {
    for (uint32_t i = 0; i < loop->operand_count; i++) {
      operands[i] = ms_job_operand_of(loop, i);
      data[i] = loop->operands[i].data;
    }
    for (uint32_t m = 0; m < run->merge_count; m++) {
      const ms_merge *merge = &run->merges[m].merge;
      for (uint32_t a = 0; a < merge->array_count; a++) arrays[count++] = merge->arrays[a];
    }
    failed = ms_loop_undo_divide(&run->undo, &loop->grid, &loop->bounds, operands, data,
                                 loop->operand_count, arrays, count, err);
  }
  free(operands);
  free(data);
  free(arrays);
  if (failed != 0 || run->undo.undo.size == 0) return failed;
  run->logs = true;
  run->room = session->loop_undo;
  session->loop_undo = (ms_segment_block){0};
  if (ms_recover_room(&run->room, &session->loop_undo_idle, run->undo.undo.size, err) != 0) {
    return -1;
  }
  ms_loop_undo_attach(&run->undo, ms_segment_block_at(&run->room));
  return 0;
}

int ms_staged_begin(ms_staged *run, ms_session *session, const ms_job *loop,
                    ms_staged_merge *merges, uint32_t merge_count, ms_error *err) {
  *run = (ms_staged){.loop = loop,
                     .merges = merges,
                     .merge_count = merge_count,
                     .job = *loop,
                     .outcome = {.worker = UINT32_MAX, .block = UINT32_MAX}};
  if (stages_of(run) != NULL && loop->loads == loop->plan->loads) {
    run->loads = calloc(loop->grid.ranges[ms_grid_space(&loop->grid)], sizeof *run->loads);
    if (run->loads == NULL) return ms_error_memory(err, MS_WRK, "the stages of a loop");
  }
  if (!loop->transaction || merge_count == 0) return 0;
  if (make_log(run, session, err) != 0) return -1;
  run->job.fold = run->logs ? &run->undo.undo : NULL;
  return 0;
}

void ms_staged_undo(ms_staged *run) {
  if (run->logs) ms_undo_restore(&run->undo.undo);
  bool half_done = run->stage > 0 || run->outcome.shares != NULL;
  if (!run->loop->transaction && half_done) run->outcome.lost = true;
}

static int fail(ms_staged *run) {
  ms_staged_undo(run);
  return -1;
}

int ms_staged_run(ms_staged *run, ms_session *session, ms_error *err) {
  const ms_stages *stages = stages_of(run);
  if (stages != NULL) {
    run->job.grid.first = ms_stages_first(stages, run->stage);
    run->job.grid.last = stages->ends[run->stage];
  }
  if (run->loads != NULL) { /* the blocks of each stage are shared out by their own loads */
    const ms_plan *plan = run->loop->plan;
    ms_stages_loads(stages, run->stage, &plan->grid, &plan->layout, run->loads);
    run->job.loads = run->loads;
  }
  ms_outcome_recycle(session, &run->outcome);
  ms_outcome_free(&run->outcome);
  return ms_session_run(session, &run->job, &run->outcome, err) == 0 ? 0 : fail(run);
}

/* ---------------------------------------------------------------------------------- merging */

/* Lists what the blocks have left for a buffer, in the order of the plan; -1 when memory is out. */
static int list_parts(ms_outcome *outcome, uint32_t buffer, ms_merge *merge) {
  ms_pending_part *parts = NULL;
  size_t count = 0, room = 0;
  ms_record record;
  ms_outcome_rewind(outcome, MS_REPORT_PENDING + buffer, MS_REPORT_PENDING + buffer);
  while (ms_outcome_next(outcome, &record)) {
    if (record.size == 0) continue;
    if (count == room) {
      room = room == 0 ? 64 : 2 * room;
      ms_pending_part *grown = realloc(parts, room * sizeof *parts);
      if (grown == NULL) {
        free(parts);
        return -1;
      }
      parts = grown;
    }
    parts[count++] = (ms_pending_part){record.bytes, (size_t)record.size};
  }
  merge->parts = parts;
  merge->part_count = count;
  return 0;
}

/* Merges what the blocks of the present stage have left. All of it is listed first: rules may run
 * loops of their own, and an outcome's order is good until the session's next job. */
static int merge_stage(ms_staged *run, ms_error *err) {
  ms_merge *merges = calloc(run->merge_count + (size_t)1, sizeof *merges);
  ms_merge_log log;
  int failed = merges == NULL ? -1 : 0;
  for (uint32_t m = 0; failed == 0 && m < run->merge_count; m++) {
    merges[m] = run->merges[m].merge;
    failed = list_parts(&run->outcome, run->merges[m].buffer, &merges[m]);
  }
  if (failed != 0) ms_error_memory(err, MS_WRK, "what a loop has put into buffers");
  if (failed == 0) {
    failed = ms_merge_all(merges, run->merge_count,
                          ms_loop_undo_merging(run->logs ? &run->undo : NULL, &log), err);
  }
  for (uint32_t m = 0; merges != NULL && m < run->merge_count; m++) {
    free((void *)(size_t)merges[m].parts);
  }
  free(merges);
  return failed;
}

/* ---------------------------------------------------------------------------------- outcomes */

/* Puts the results of a stage into the first report of all stages. */
static int keep_results(ms_outcome *total, ms_outcome *outcome) {
  ms_record record;
  ms_outcome_rewind(outcome, MS_REPORT_RESULT, MS_REPORT_RESULT);
  while (ms_outcome_next(outcome, &record)) {
    ms_report_add(&total->reports[0], record.block, record.kind, record.bytes, (size_t)record.size);
  }
  if (outcome->results > 0) {
    bool alike = total->results == 0 || total->each == outcome->each;
    total->each = alike ? outcome->each : UINT64_MAX;
  }
  total->results += outcome->results;
  total->complete = total->complete && outcome->complete;
  return total->reports[0].failed ? -1 : 0;
}

/* Adds what a further stage took. */
static void add_costs(ms_outcome *total, const ms_outcome *outcome) {
  total->moved += outcome->moved;
  total->deaths += outcome->deaths;
  total->redone += outcome->redone;
  total->repeats += outcome->repeats;
  for (uint32_t w = 0; w < total->worker_count; w++) {
    ms_share *sum = &total->shares[w];
    const ms_share *share = &outcome->shares[w];
    sum->busy += share->busy;
    sum->waited += share->waited;
    sum->moved += share->moved;
    sum->blocks += share->blocks;
    if (sum->began == 0) sum->began = share->began;
  }
}

/* Room for what all stages leave. */
static int make_total(ms_outcome *total, const ms_outcome *outcome) {
  total->complete = true;
  total->worker_count = outcome->worker_count;
  total->shares = calloc(outcome->worker_count, sizeof *total->shares);
  total->reports = calloc(outcome->worker_count, sizeof *total->reports);
  total->places = calloc(outcome->worker_count, sizeof *total->places);
  total->heap = calloc(outcome->worker_count, sizeof *total->heap);
  bool made = total->shares != NULL && total->reports != NULL && total->places != NULL &&
              total->heap != NULL;
  return made ? 0 : -1;
}

/* Puts the outcome of the present stage to those of earlier ones; what is heavy in one need not be
 * in another, so `spent` is told of a single one alone. */
static int add_outcome(ms_staged *run) {
  ms_outcome *total = &run->total, *outcome = &run->outcome;
  if (run->merge_count == 0 && stage_count(run) == 1) {
    *total = *outcome;
    *outcome = (ms_outcome){0};
    return 0;
  }
  if (run->stage == 0 && make_total(total, outcome) != 0) return -1;
  if (stage_count(run) == 1) {
    total->spent = outcome->spent;
    total->range_count = outcome->range_count;
    outcome->spent = NULL;
  }
  add_costs(total, outcome);
  return keep_results(total, outcome);
}

int ms_staged_advance(ms_staged *run, ms_error *err) {
  if (add_outcome(run) != 0) {
    ms_error_memory(err, MS_WRK, "a loop's results");
    return fail(run);
  }
  if (run->merge_count > 0 && merge_stage(run, err) != 0) return fail(run);
  run->stage++;
  return 0;
}

bool ms_staged_ended(const ms_staged *run) {
  return run->stage == stage_count(run);
}

void ms_staged_end(ms_staged *run, ms_session *session) {
  ms_loop_undo_free(&run->undo);
  if (session != NULL && session->loop_undo.segment == NULL) {
    session->loop_undo = run->room;
  } else if (run->room.segment != NULL) {
    ms_segment_block_release(&run->room);
  }
  run->room = (ms_segment_block){0};
  if (session != NULL) {
    ms_outcome_recycle(session, &run->total);
    ms_outcome_recycle(session, &run->outcome);
  }
  ms_outcome_free(&run->outcome);
  ms_outcome_free(&run->total);
  free(run->loads);
  run->loads = NULL;
}
