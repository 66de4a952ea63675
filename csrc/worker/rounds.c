/* SPDX-License-Identifier: MIT
 *
 * Rounds from a worker's side: what its blocks wait for, by the gate (sync/gate.h), and which
 * versions they see (job/version.h).
 *
 * Where every read is of the round before, blocks read the versions where they are. Else a worker
 * has an image of each array, into which it copies, when a block begins, for each range that the
 * block may read the newest finished version within the window: a block sees each range as one
 * round has made it, whole. Where nothing keeps a writer from going round the versions meanwhile,
 * what was copied is looked at again, and taken anew if it may have been overwritten. */
#include "worker/rounds.h"

#include <string.h>

#include "base/clock.h"
#include "worker/handover.h"
#include "worker/worker_job.h"

int ms_rounds_prepare(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_schedule *schedule = worker->schedule;
  const ms_task_rounds *rounds = &job->task.rounds;
  if (rounds->setting.name == NULL) return 0;
  uint32_t ranges = schedule->phase_blocks;
  uint32_t *owner = ms_arena_take(job->arena, ranges, sizeof *owner);
  if (owner == NULL) return ms_error_memory(err, MS_WRK, "the rounds of a loop");
  for (uint32_t r = 0; r < ranges; r++) owner[r] = schedule->range_owner[r].worker;
  ms_gate_sets sets = {.workers = schedule->workers,
                       .blocks = ranges,
                       .ranges = ranges,
                       .owner = owner,
                       .read_first = rounds->read_first,
                       .reads = rounds->reads};
  job->gate = ms_gate_new(&rounds->setting, &sets, err);
  return job->gate == NULL ? -1 : 0;
}

void ms_rounds_close(ms_worker *worker) {
  ms_gate_destroy(&worker->job.gate);
}

/* A block's round in the job, from 1, and its range. */
static int64_t round_of(const ms_worker *worker, uint32_t block) {
  return ms_schedule_position(worker->schedule, block) / worker->schedule->phase_blocks + 1;
}

static uint32_t range_of(const ms_worker *worker, uint32_t block) {
  return block % worker->schedule->phase_blocks;
}

uint32_t ms_rounds_listeners(const ms_worker *worker, uint32_t block) {
  size_t count;
  ms_gate_listeners(worker->job.gate, MS_GATE_READ, range_of(worker, block), &count);
  return (uint32_t)count;
}

uint32_t ms_rounds_listener(const ms_worker *worker, uint32_t block, uint32_t number) {
  size_t count;
  return ms_gate_listeners(worker->job.gate, MS_GATE_READ, range_of(worker, block), &count)[number];
}

bool ms_rounds_before(const ms_worker *worker, uint32_t block, uint32_t number, ms_awaited *end) {
  if (worker->job.gate == NULL) return false;
  size_t count;
  const ms_gate_term *terms =
      ms_gate_terms(worker->job.gate, MS_GATE_READ, range_of(worker, block), &count);
  if (number >= count) return false;
  int64_t wanted = ms_gate_count(&terms[number], round_of(worker, block));
  *end = (ms_awaited){
      .worker = terms[number].worker, .count = wanted > 0 ? (uint32_t)wanted : 0, .block = block};
  return true;
}

bool ms_rounds_reads(const ms_worker *worker, uint32_t to, uint32_t range) {
  const ms_gate *gate = worker->job.gate;
  const ms_task_rounds *rounds = &worker->job.task.rounds;
  if (gate == NULL || rounds->reads == NULL) return true;
  for (uint32_t r = 0; r < gate->blocks; r++) {
    if (gate->owner[r] != to) continue;
    for (uint64_t k = rounds->read_first[r]; k < rounds->read_first[r + 1]; k++) {
      if (rounds->reads[k] == range) return true;
    }
  }
  return false;
}

/* ---- which versions a block sees ---- */

/* The last round of a range that is known to be finished. */
static int64_t latest(const ms_worker *worker, uint32_t range) {
  const ms_gate *gate = worker->job.gate;
  return ms_gate_round(gate, range, ms_handover_progress(worker, gate->owner[range]));
}

/* ---- where who is late may be left out ---- */

#define LOOK     MS_MILLISECOND /* between looks at who has come */
#define LEARN    0.25           /* the newest wait's weight */
#define HUNDREDS 100

bool ms_rounds_excuse(const ms_worker *worker) {
  const ms_gate *gate = worker->job.gate;
  return gate != NULL && (gate->setting.backup > 0 || gate->setting.timeout > 0);
}

/* How many of those whose versions a block reads have not made one that is new enough; one of them.
 */
static uint32_t count_missing(const ms_worker *worker, uint32_t block, ms_awaited *missing) {
  const ms_gate *gate = worker->job.gate;
  const ms_task_rounds *rounds = &worker->job.task.rounds;
  uint32_t own = range_of(worker, block), count = 0;
  int64_t oldest = round_of(worker, block) - 1 - gate->setting.read_lag;
  uint64_t first = rounds->reads == NULL ? 0 : rounds->read_first[own];
  uint64_t end = rounds->reads == NULL ? gate->ranges : rounds->read_first[own + 1];
  for (uint64_t k = first; k < end; k++) {
    uint32_t range = rounds->reads == NULL ? (uint32_t)k : rounds->reads[k];
    if (range == own || latest(worker, range) >= oldest) continue;
    count++;
    if (missing == NULL) continue;
    uint32_t owner = gate->owner[range];
    *missing = (ms_awaited){.worker = owner,
                            .count = (uint32_t)ms_gate_before(gate, range, oldest) + 1,
                            .block = block};
  }
  return count;
}

bool ms_rounds_are_open(const ms_worker *worker, uint32_t block) {
  return count_missing(worker, block, NULL) <= worker->job.gate->setting.backup;
}

int ms_rounds_await(ms_worker *worker, uint32_t block, ms_error *err) {
  ms_worker_job *job = &worker->job;
  const ms_gate_setting *setting = &job->gate->setting;
  uint64_t began = worker->road->now(), limit = UINT64_MAX;
  ms_awaited missing = {0};
  double patience = job->usual * setting->timeout / HUNDREDS;
  if (setting->timeout > 0 && job->usual > 0) {
    limit = began + (patience > LOOK ? (uint64_t)patience : LOOK);
  }
  if (ms_handover_flush(worker, err) != 0) return -1; /* others may wait for what is held back */
  ms_worker_show(worker, MS_STATUS_AWAITING, (uint64_t)block + 1);
  while (count_missing(worker, block, &missing) > setting->backup && !worker->gone &&
         !ms_worker_job_cancelled(worker)) {
    uint64_t now = worker->road->now();
    if (now >= limit) break;
    missing.until = now + LOOK < limit ? now + LOOK : limit;
    if (worker->road->wait(worker, &missing, err) != 0) return -1;
  }
  ms_worker_show(worker, MS_STATUS_AWAITING, 0);
  double took = (double)(worker->road->now() - began);
  job->usual = job->usual > 0 ? job->usual + LEARN * (took - job->usual) : took;
  return 0;
}

/* ---- what is seen ---- */

/* Says which version of a range the block is to see. */
static void pin(ms_worker *worker, uint32_t block, uint32_t range) {
  const ms_gate *gate = worker->job.gate;
  int64_t round = round_of(worker, block);
  ms_gate_window window = ms_gate_versions(gate, range_of(worker, block), range, round);
  const ms_versions *versions = worker->job.versions;
  int64_t newest = latest(worker, range);
  if (versions->lags != NULL) {
    int64_t lag = versions->lags[(round - 1) * versions->ranges + range];
    newest = round - 1 > lag ? round - 1 - lag : 0;
  }
  if (range == range_of(worker, block)) newest = round - 1;
  worker->job.versions->wanted[range] = newest < window.hi ? newest : window.hi;
}

/* Whether a version that was copied may have been overwritten meanwhile. */
static bool is_torn(const ms_worker *worker, uint32_t range) {
  const ms_gate_setting *setting = &worker->job.gate->setting;
  if (setting->write_lag != MS_GATE_UNBOUNDED) return false;
  int64_t version = worker->job.versions->wanted[range];
  return version > 0 && latest(worker, range) + 1 >= version + setting->depth;
}

/* Calls visit for each range that a block may read; how many times it was true. */
static uint32_t each_read(ms_worker *worker, uint32_t block,
                          bool (*visit)(ms_worker *worker, uint32_t block, uint32_t range)) {
  const ms_task_rounds *rounds = &worker->job.task.rounds;
  uint32_t own = range_of(worker, block), ranges = worker->job.gate->ranges, count = 0;
  if (rounds->reads == NULL) {
    for (uint32_t r = 0; r < ranges; r++) count += visit(worker, block, r);
    return count;
  }
  for (uint64_t k = rounds->read_first[own]; k < rounds->read_first[own + 1]; k++)
    count += visit(worker, block, rounds->reads[k]);
  return count;
}

static bool visit_pin(ms_worker *worker, uint32_t block, uint32_t range) {
  pin(worker, block, range);
  atomic_thread_fence(memory_order_acquire);
  ms_versions_load(worker->job.versions, block, range);
  return true;
}

static bool visit_check(ms_worker *worker, uint32_t block, uint32_t range) {
  (void)block;
  if (!is_torn(worker, range)) return false;
  worker->job.versions->held[range] = -1;
  return true;
}

int ms_rounds_begin(ms_worker *worker, uint32_t block, ms_error *err) {
  ms_versions *versions = worker->job.versions;
  int taken = 1;
  ms_versions_begin(versions, block); /* before versions come from others */
  if (worker->job.gate == NULL || versions->wanted == NULL) return 0;
  while (worker->road->by_frames && taken > 0) taken = ms_handover_take(worker, err);
  if (taken < 0) return -1;
  do {
    each_read(worker, block, visit_pin);
    atomic_thread_fence(memory_order_acquire);
  } while (each_read(worker, block, visit_check) > 0);
  return 0;
}
