/* SPDX-License-Identifier: MIT
 *
 * Exchange: arrays of which every worker has a whole copy, kept equal where it matters.
 *
 * Where memory is not shared and a block may read or overwrite what another worker's block wrote,
 * what a block changed travels to all other workers. A worker sends at the end of a block that
 * somebody waits for, or of a later one (handover.c), and of its last one: the bitwise
 * differences since it last sent, then a token. Frames of one sender are applied in the order in
 * which they were sent, each as soon as all blocks that its blocks waited for are applied here. So
 * an element gets its values in the serial order (blocks that touch the same one are ordered), and
 * a block whose predecessors are applied sees all that any ancestor wrote.
 *
 * Where it is known which elements each block hands over (plan/block_flow.h), all workers have
 * those lists, and what travels is their values, in place of differences: what nobody needs does
 * not.
 *
 * Bounded: a sender waits while MS_EXCHANGE_WINDOW of its frames are not applied at the receiver.
 * No circle of such waits exists: of the blocks that were finished and not applied everywhere, the
 * first in plan order can always be applied. The job is over for a worker when all changes of all
 * others are applied; the owner of the plan's last block then returns what changed. What has lists
 * each worker returns as far as its blocks were the last to write it.
 *
 * Belongs to the worker's job; its vectors lie in the job's arena. One thread. */
#ifndef MS_WORKER_EXCHANGE_H
#define MS_WORKER_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "worker/mirror.h"
#include "worker/worker_road.h"

#define MS_EXCHANGE_WINDOW 32u

/* Another worker that takes part. */
typedef struct ms_partner {
  uint32_t number;
  uint32_t final;             /* its last block in the plan */
  uint32_t applied;           /* its last block whose changes are applied here; MS_NO_BLOCK: none */
  uint64_t taken, credited;   /* its frames applied, and how many of them it has been told of */
  uint64_t sent, released;    /* our frames to it, and how many of them it has applied */
  uint32_t first, held_count; /* frames that cannot be applied yet: a ring */
  ms_message held[MS_EXCHANGE_WINDOW];
} ms_partner;

typedef struct ms_exchange {
  ms_mirror *mirrors;
  uint32_t mirror_count;
  ms_partner *partners;
  uint32_t partner_count;
  bool started;  /* the mirrors are made */
  bool collects; /* returns the changes to the driver */
} ms_exchange;

/* Gives the job an exchange if any of its operands needs one. To be called when the schedule is
 * there; MS_WRK when memory is out. */
int ms_exchange_begin(ms_worker *worker, ms_error *err);

/* The operands have their contents: the first block may come. Does nothing the second time. */
int ms_exchange_start(ms_worker *worker, ms_error *err);

/* Takes a TOKEN, RUNS, VALUES or CREDIT frame of another worker; the message may be moved away.
 * MS_NET for frames that break the rules. */
int ms_exchange_take(ms_worker *worker, ms_letter *letter, ms_error *err);

/* Sends what our finished blocks from `from` on have changed, and the token of the last. */
int ms_exchange_send(ms_worker *worker, uint32_t from, ms_error *err);

/* Waits until all changes of the others are applied, or the job is cancelled. */
int ms_exchange_await(ms_worker *worker, ms_error *err);

/* The same; then one worker returns what the job changed to the driver. */
int ms_exchange_finish(ms_worker *worker, ms_error *err);

/* Lets go of the frames that are held. */
void ms_exchange_close(ms_worker *worker);

#endif
