/* SPDX-License-Identifier: MIT
 *
 * History of blocks: what a worker tells the history (base/history.h) of its blocks: when they
 * begin, which versions of which ranges they read, when they begin to write theirs, and when they
 * end, or are left. */
#include "worker/block_history.h"

#include "base/history.h"

static unsigned long long number_of(const ms_worker *worker) {
  return worker->job.number;
}

/* Tells which version of a range a block of a round reads: where it has images of the arrays, the
 * one that it has copied, else that of the round before, where that is. */
static void tell_read(const ms_worker *worker, uint32_t own, long long round, uint32_t range) {
  const int64_t *wanted = worker->job.versions == NULL ? NULL : worker->job.versions->wanted;
  long long version = wanted == NULL ? round - 1 : (long long)wanted[range];
  ms_history("%s job=%llu block=%u round=%lld range=%u version=%lld",
             wanted == NULL ? "pin" : "read", number_of(worker), own, round, range, version);
}

static void begin_round(const ms_worker *worker, uint32_t block) {
  const ms_task_rounds *rounds = &worker->job.task.rounds;
  uint32_t ranges = worker->schedule->phase_blocks, own = block % ranges;
  long long round = ms_schedule_position(worker->schedule, block) / ranges + 1;
  ms_history("begin job=%llu block=%u round=%lld", number_of(worker), own, round);
  for (uint32_t r = 0; rounds->reads == NULL && r < ranges; r++) tell_read(worker, own, round, r);
  uint64_t first = rounds->reads == NULL ? 0 : rounds->read_first[own];
  uint64_t end = rounds->reads == NULL ? 0 : rounds->read_first[own + 1];
  for (uint64_t k = first; k < end; k++) tell_read(worker, own, round, rounds->reads[k]);
  ms_history("fill job=%llu block=%u round=%lld range=%u", number_of(worker), own, round, own);
}

void ms_block_history_begin(ms_worker *worker, uint32_t block) {
  if (worker->job.gate != NULL) {
    begin_round(worker, block);
  } else {
    ms_history("begin job=%llu block=%u", number_of(worker), block);
  }
}

/* A block's number among those of its round, and its round. */
static uint32_t round_of(const ms_worker *worker, uint32_t block, uint32_t *round) {
  uint32_t ranges = worker->schedule->phase_blocks;
  *round = ms_schedule_position(worker->schedule, block) / ranges + 1;
  return block % ranges;
}

void ms_block_history_end(ms_worker *worker, uint32_t block) {
  if (worker->job.gate == NULL) {
    ms_history("commit job=%llu block=%u%s", number_of(worker), block,
               worker->job.defers ? " deferred=1" : "");
    return;
  }
  uint32_t round, own = round_of(worker, block, &round);
  ms_history("write job=%llu block=%u round=%u range=%u", number_of(worker), own, round, own);
  ms_history("commit job=%llu block=%u", number_of(worker), own);
}

void ms_block_history_leave(ms_worker *worker, uint32_t block) {
  if (worker->job.gate == NULL) {
    ms_history("leave job=%llu block=%u", number_of(worker), block);
    return;
  }
  uint32_t round, own = round_of(worker, block, &round);
  ms_history("leave job=%llu block=%u round=%u", number_of(worker), own, round);
}
