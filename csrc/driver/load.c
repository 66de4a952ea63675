/* SPDX-License-Identifier: MIT
 *
 * Loading: what workers are sent before and while a job starts.
 *
 * Everything is decided first, without sending; then frames go out as windows allow, the task
 * before the data. Where memory is shared only descriptors of new segments are passed. */
#include "driver/load.h"

#include <stdlib.h>
#include <string.h>

#include "driver/recover.h"
#include "driver/replace.h"
#include "driver/residency.h"
#include "driver/session_state.h"
#include "job/task.h"

#define DEATH_WAIT 50 /* ms in which a worker that cannot be reached turns out to be dead */

ms_operand ms_job_operand_of(const ms_job *job, uint32_t number) {
  const ms_job_operand *from = &job->operands[number];
  ms_operand operand = from->operand;
  const ms_travel *travel = from->binding > 0 ? ms_plan_travel(job->plan, from->binding - 1) : NULL;
  if (travel != NULL) ms_operand_follow(&operand, travel);
  if (from->seen != 0) operand.writes.blind = MS_WRITES_SEEN;
  return operand;
}

/* Where blocks have lists of what no other block touches, nothing of an array moves between them.
 */
static void follow_lists(ms_operand *operand) {
  if (operand->listed != 0 && operand->handed == 0) operand->movement = MS_MOVE_SCATTERED;
}

/* Whether lists are of the job's blocks and an operand's elements. */
static bool fits(const ms_element_lists *lists, const ms_job *job, const ms_operand *operand) {
  return lists == NULL || (lists->blocks == ms_grid_blocks(&job->grid) &&
                           lists->elements == ms_operand_elements(operand));
}

/* Completes the operands with their places in segments, and checks them. */
static int complete_operands(const ms_session *session, ms_run *run) {
  const ms_job *job = run->job;
  run->operands = calloc((size_t)job->operand_count + 1, sizeof *run->operands);
  run->elements = calloc((size_t)job->operand_count + 1, sizeof *run->elements);
  if (run->operands == NULL || run->elements == NULL) {
    return ms_error_memory(run->err, MS_WRK, "a loop's arrays");
  }
  for (uint32_t i = 0; i < job->operand_count; i++) {
    const ms_job_operand *from = &job->operands[i];
    ms_operand *operand = &run->operands[i];
    *operand = ms_job_operand_of(job, i);
    if (job->unlogged && operand->writes.blind != 0) operand->writes.blind = MS_WRITES_UNLOGGED;
    if (session->config.shared) {
      const ms_segment *segment = from->segment;
      if (segment == NULL || from->data < segment->base ||
          from->data > segment->base + segment->size) {
        return ms_error_set(run->err, MS_ARR, "array %u of the loop is not in shared memory",
                            i + 1);
      }
      operand->segment = segment->id;
      operand->segment_size = segment->size;
      operand->place = (uint64_t)(from->data - segment->base);
    } else {
      follow_lists(operand);
    }
    if (ms_operand_check(operand, i, &job->grid, session->config.shared, run->err) != 0) return -1;
    const ms_needs *needs = from->needs;
    bool filled = needs == NULL ||
                  (needs->filled == needs->lists.blocks && fits(&needs->lists, job, operand));
    if (!filled || !fits(operand->lists, job, operand)) {
      return ms_error_set(run->err, MS_BUG, "what blocks need of array %u is of another loop",
                          i + 1);
    }
    bool moves = ms_operand_moves(operand);
    if (moves && !session->config.shared && job->bounds.start[operand->cut] == NULL) {
      return ms_error_set(run->err, MS_BUG, "array %u of the loop moves along unknown bounds",
                          i + 1);
    }
    run->elements[i] = ms_elements_of(operand, from->data, false);
  }
  return 0;
}

/* Whether the last schedule is one for so many workers and this grid. */
static bool is_scheduled(const ms_session *session, const ms_grid *grid, uint32_t workers) {
  const ms_schedule *last = session->schedule;
  return last != NULL && last->workers == workers && memcmp(&last->grid, grid, sizeof *grid) == 0;
}

/* Decides who runs what; keeps the last schedule when nothing changed. */
static int choose_schedule(ms_session *session, ms_run *run) {
  const ms_job *job = run->job;
  uint32_t workers = session->config.workers;
  if (job->workers > 0 && job->workers < workers) workers = job->workers;
  bool planned = job->plan != NULL && job->loads == job->plan->loads; /* not as it was learned */
  bool alike = is_scheduled(session, &job->grid, workers);
  if (alike && planned && session->scheduled == job->plan->id) return 0;
  uint32_t ranges =
      ms_grid_refusal(&job->grid) != NULL ? 1 : job->grid.ranges[ms_grid_space(&job->grid)];
  ms_owner *owner = calloc(ranges, sizeof *owner);
  uint64_t *load = calloc(ranges, sizeof *load);
  if (owner == NULL || load == NULL) {
    free(owner);
    free(load);
    return ms_error_memory(run->err, MS_WRK, "a schedule");
  }
  if (job->loads == NULL && ms_grid_refusal(&job->grid) == NULL) ms_grid_loads(&job->grid, load);
  int failed = ms_grid_assign(&job->grid, job->loads == NULL ? load : job->loads, workers,
                              session->config.shared, owner, run->err);
  bool same = !failed && alike &&
              memcmp(session->schedule->range_owner, owner, ranges * sizeof *owner) == 0;
  if (!failed && !same) {
    ms_schedule_destroy(&session->schedule);
    session->schedule = ms_schedule_new(&job->grid, owner, workers, run->err);
    failed = session->schedule == NULL;
  }
  free(owner);
  free(load);
  session->scheduled = !failed && planned ? job->plan->id : 0;
  return failed ? -1 : 0;
}

/* Rows that this worker is the first to use, those of neighbouring ranges together. */
static int load_rows(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                     ms_error *err) {
  const ms_operand *operand = &run->operands[number];
  uint32_t ranges = run->job->grid.ranges[operand->cut], first = 0, count = 0;
  for (uint32_t range = 0; range <= ranges; range++) {
    bool ours = range < ranges &&
                ms_schedule_first_user(session->schedule, operand->cut, range) == member->number;
    if (count > 0 && !(ours && ms_operand_joins(operand))) {
      int64_t lo, hi;
      ms_operand_rows(operand, &run->job->bounds, first, first + count - 1, &lo, &hi);
      ms_transfer transfer =
          ms_transfer_make(&run->elements[number], number, operand->array_dim, lo, hi);
      if (ms_worker_handle_post(member, transfer, err) != 0) return -1;
      count = 0;
    }
    if (ours && count++ == 0) first = range;
  }
  return 0;
}

static int choose_transfers(ms_session *session, ms_worker_handle *member, ms_run *run,
                            ms_error *err) {
  ms_residency_trim(member, session->jobs);
  for (uint32_t i = 0; i < run->job->operand_count; i++) {
    const ms_operand *operand = &run->operands[i];
    int failed;
    if (operand->movement > MS_MOVE_SERVED) ms_residency_disown(member, operand->id);
    if (operand->movement == MS_MOVE_CACHED) {
      failed = ms_residency_load(session, member, run, i, err);
    } else if (operand->movement == MS_MOVE_SERVED) {
      failed = ms_residency_serve(session, member, run, i, err);
    } else if (ms_operand_goes_by_lists(operand) && run->job->operands[i].needs != NULL) {
      failed = ms_residency_lend(session, member, run, i, err);
    } else if (operand->movement == MS_MOVE_LOCAL || operand->movement == MS_MOVE_ROTATED) {
      failed = load_rows(session, member, run, i, err);
    } else if (operand->movement == MS_MOVE_VERSIONED && operand->slot > 0) {
      failed = 0; /* a version begins with the contents of the start, which the worker has */
    } else {
      ms_transfer whole = ms_transfer_make(&run->elements[i], i, 0, 0, operand->dims[0]);
      failed = ms_worker_handle_post(member, whole, err);
    }
    if (failed != 0) return -1;
  }
  return ms_residency_serve_rest(member, run, err);
}

static int inform(ms_session *session, ms_worker_handle *member, ms_error *err) {
  uint32_t workers = session->config.workers;
  ms_peer *peers = calloc(workers, sizeof *peers);
  if (peers == NULL) return ms_error_memory(err, MS_WRK, "a loop's workers");
  for (uint32_t i = 0; i < workers; i++) peers[i] = session->members[i].peer;
  ms_frame frame = {.kind = MS_SAY_PEERS, .a = {workers}};
  ms_link *link = session->road->send(session, member->number, err);
  int failed = link == NULL ? -1 : ms_link_send(link, frame, peers, workers * sizeof *peers, err);
  free(peers);
  member->informed = failed == 0;
  return failed;
}

/* True when a worker owns any block. */
static bool takes_part(const ms_schedule *schedule, uint32_t number) {
  return ms_schedule_share(schedule, number) > 0;
}

/* Whether workers log what they write. */
static bool workers_log(const ms_session *session, const ms_run *run) {
  return session->config.shared && run->undo.size + run->checkpoint.size > 0;
}

static ms_task_log log_place(const ms_session *session, const ms_run *run) {
  const ms_segment_block *log = &session->undo;
  return (ms_task_log){.segment = log->segment->id,
                       .segment_size = log->segment->size,
                       .place = log->offset,
                       .size = run->undo.size + run->checkpoint.size,
                       .slots = run->checkpoint.size};
}

/* Writes the task, and with the kernel if that is needed: for a worker that does not know it, or
 * one that resumes. */
static int write_tasks(ms_session *session, ms_run *run, bool resumes, ms_error *err) {
  const ms_job *job = run->job;
  bool logs = workers_log(session, run);
  ms_task task = {.grid = job->grid,
                  .workers = session->schedule->workers,
                  .range_owner = session->schedule->range_owner,
                  .operand_count = job->operand_count,
                  .operands = run->operands,
                  .bounds = session->config.shared && !logs ? (ms_range_starts){{0}} : job->bounds,
                  .log = logs ? log_place(session, run) : (ms_task_log){0},
                  .rounds = job->rounds,
                  .key = job->key,
                  .key_size = job->key_size,
                  .run = job->run,
                  .run_size = job->run_size};
  if (!resumes) ms_task_write(&task, &run->task);
  bool known = !resumes;
  for (uint32_t i = 0; i < session->schedule->workers; i++) {
    known = known && ms_worker_handle_knows(&session->members[i], job->key, job->key_size);
  }
  task.kernel = job->kernel;
  task.kernel_size = job->kernel_size;
  if (task.kernel != NULL && !known) ms_task_write(&task, &run->task_with_kernel);
  if (run->task.failed || run->task_with_kernel.failed) {
    return ms_error_memory(err, MS_WRK, "a loop's captured values");
  }
  if (run->task.length > MS_TASK_LIMIT || run->task_with_kernel.length > MS_TASK_LIMIT) {
    return ms_error_set(err, MS_OPT,
                        "the loop's captured values take %zu bytes, more than the %zu that can be "
                        "sent: put large data into arrays",
                        run->task.length, MS_TASK_LIMIT);
  }
  return 0;
}

static int prepare_member(ms_session *session, ms_worker_handle *member, ms_run *run,
                          ms_error *err) {
  const ms_job *job = run->job;
  member->transfer_count = member->transfer_next = 0;
  member->task_sent = 0;
  member->data_frames = 0;
  member->task = &run->task;
  if (!ms_worker_handle_knows(member, job->key, job->key_size)) {
    member->task = &run->task_with_kernel;
    if (job->kernel == NULL) return ms_error_set(err, MS_BUG, "a kernel without its text");
    if (ms_worker_handle_learn(member, job, err) != 0) return -1;
  }
  bool peers = !member->informed && member->lane == 0; /* who hand over by messages */
  if (peers && inform(session, member, err) != 0) return -1;
  if (!session->config.shared) return choose_transfers(session, member, run, err);
  for (uint32_t i = 0; i < job->operand_count; i++) {
    if (ms_worker_handle_share(session, member, job->operands[i].segment, err) != 0) return -1;
  }
  if (workers_log(session, run))
    return ms_worker_handle_share(session, member, session->undo.segment, err);
  return 0;
}

/* A worker cannot be prepared: if it has died, nothing is lost yet. */
static int fail_preparing(ms_session *session, ms_worker_handle *member, ms_run *run,
                          const ms_error *trouble) {
  if (trouble->code != MS_BUG && session->processes->ended(member, DEATH_WAIT)) {
    ms_replace_dead(session, member, NULL);
    run->lost = true;
    return -1;
  }
  return ms_error_set(run->err, (ms_code)trouble->code, "%s", trouble->message);
}

int ms_load_prepare(ms_session *session, ms_run *run) {
  if (complete_operands(session, run) != 0 || choose_schedule(session, run) != 0 ||
      ms_recover_prepare(session, run) != 0 || write_tasks(session, run, false, run->err) != 0) {
    return -1;
  }
  for (uint32_t i = 0; i < session->schedule->workers; i++) {
    ms_worker_handle *member = &session->members[i];
    if (!takes_part(session->schedule, i)) continue;
    ms_error trouble;
    ms_error_clear(&trouble);
    if (prepare_member(session, member, run, &trouble) != 0) {
      return fail_preparing(session, member, run, &trouble);
    }
  }
  for (uint32_t i = 0; i < session->schedule->workers; i++) {
    ms_worker_handle *member = &session->members[i];
    member->part = takes_part(session->schedule, i) ? MS_PART_TOLD : MS_PART_NONE;
    member->from = 0;
    member->reported = 0;
    member->returning = 0;
    member->failures = 0;
  }
  return 0;
}

int ms_load_resume(ms_session *session, ms_worker_handle *member, ms_run *run, ms_error *err) {
  if (run->task_with_kernel.length == 0 && write_tasks(session, run, true, err) != 0) return -1;
  if (prepare_member(session, member, run, err) != 0) return -1;
  member->part = MS_PART_TOLD;
  return 0;
}

static int send_task(ms_session *session, ms_worker_handle *member, ms_link *link, ms_error *err) {
  size_t left = member->task->length - member->task_sent;
  size_t most = ms_link_piece(link), take = left < most ? left : most;
  ms_frame frame = {
      .kind = MS_SAY_TASK,
      .job = session->jobs,
      .a = {member->task->length, member->task_sent, member->data_frames, member->from}};
  const char *piece = member->task->bytes + member->task_sent;
  member->task_sent += take;
  return ms_link_send(link, frame, piece, take, err);
}

/* Sends what one worker's window has room for. */
static int send_some(ms_session *session, ms_worker_handle *member, ms_run *run, ms_error *err) {
  if (member->part != MS_PART_TOLD) return 0;
  ms_link *link = session->road->send(session, member->number, err);
  if (link == NULL) return -1;
  while (ms_link_open(link)) {
    if (member->task_sent < member->task->length) {
      if (send_task(session, member, link, err) != 0) return -1;
    } else if (member->transfer_next < member->transfer_count) {
      ms_transfer *transfer = &member->transfers[member->transfer_next];
      uint64_t before = transfer->moved;
      const ms_elements *all = &run->elements[transfer->operand];
      if (ms_transfer_send(transfer, all, link, session->jobs, err) != 0) return -1;
      run->outcome->moved += transfer->moved - before;
      if (transfer->next == transfer->count) member->transfer_next++;
    } else {
      break;
    }
  }
  return 0;
}

int ms_load_send(ms_session *session, ms_run *run) {
  for (uint32_t i = 0; i < session->config.workers && !run->failed; i++) {
    ms_worker_handle *member = &session->members[i];
    ms_error trouble;
    ms_error_clear(&trouble);
    if (send_some(session, member, run, &trouble) != 0) {
      ms_replace_dead(session, member, &trouble);
    }
  }
  return run->failed ? -1 : 0;
}

void ms_load_free(ms_session *session, ms_run *run) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    /* What was not sent to the end, or not waited for, is not there. */
    bool doubtful = run->failed && member->transfer_count > 0;
    if (doubtful || member->transfer_next < member->transfer_count)
      ms_residency_trim(member, UINT64_MAX);
    if (run->failed && member->task == &run->task_with_kernel) {
      ms_worker_handle_unlearn(member);
    }
    member->transfer_count = member->transfer_next = 0;
    member->task = NULL;
  }
  ms_block_checkpoint_free(&run->checkpoint);
  ms_undo_free(&run->undo);
  free(run->operands);
  free(run->elements);
  run->operands = NULL;
  run->elements = NULL;
  ms_text_free(&run->task);
  ms_text_free(&run->task_with_kernel);
}
