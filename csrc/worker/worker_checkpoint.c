/* SPDX-License-Identifier: MIT
 *
 * Checkpoints from a worker's side: images of the blocks that it begins, and going on where another
 * process has ended (block_checkpoint.h). */
#include "worker/worker_checkpoint.h"

/* Images of blocks take no more than this part of what blocks take, and some ns. What counts is
 * what they should take: this process may lose its core meanwhile. */
#define KEEP_SHARE 64
#define KEEP_LEAST 8000
/* ns that one takes: these, and so many a byte until one of KEEP_TELLING bytes was made. */
#define KEEP_ALWAYS  100
#define KEEP_PACE    0.125
#define KEEP_SLOWEST 1.0 /* more is not the copying */
#define KEEP_TELLING 4096

int ms_worker_checkpoint_resume(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  uint64_t from = worker->incoming_from;
  if (from == 0) return 0;
  if (from > job->share || job->checkpoint.size == 0) {
    return ms_error_set(err, MS_NET, "a job that cannot be gone on with");
  }
  const ms_block_checkpoint_slot *slot =
      ms_block_checkpoint_at(&job->checkpoint, worker->setup.worker);
  job->position = (uint32_t)(from - 1);
  job->block = ms_schedule_own(worker->schedule, worker->setup.worker, job->position);
  if (from > 1) {
    job->last = ms_schedule_own(worker->schedule, worker->setup.worker, job->position - 1);
  }
  job->resumed = true;
  job->busy = atomic_load(&slot->busy);
  job->waited = atomic_load(&slot->waited);
  return 0;
}

void ms_worker_checkpoint_keep(ms_worker *worker, uint32_t block) {
  ms_worker_job *job = &worker->job;
  if (job->checkpoint.size == 0 || !job->checkpoint.possible) return;
  size_t bytes = ms_block_checkpoint_bytes(&job->checkpoint);
  double cost = 0;
  if (bytes > 0) cost = KEEP_ALWAYS + (double)bytes * (worker->pace > 0 ? worker->pace : KEEP_PACE);
  bool cheap = job->keeping + cost <= (double)job->busy / KEEP_SHARE + KEEP_LEAST;
  if (!cheap && !job->resumed) return;
  bool measured = bytes >= KEEP_TELLING;
  uint64_t before = measured ? worker->road->now() : 0;
  ms_block_checkpoint_keep(&job->checkpoint, worker->setup.worker, block);
  if (measured) worker->pace = (double)(worker->road->now() - before) / (double)bytes;
  if (worker->pace > KEEP_SLOWEST) worker->pace = KEEP_SLOWEST;
  job->keeping += cost;
  job->resumed = false;
}
