/* SPDX-License-Identifier: MIT
 *
 * Worker: the process that runs blocks, as its own main loop sees it.
 *
 *   connect; while next gives a job: { while next_block gives a block: run it, block_done }
 *
 * A job ends by itself when next_block has no more blocks: what the worker changed and reported
 * goes to the driver before that call returns. Cancelled and failed jobs end the same way. All
 * calls come from one thread; every wait ends when the driver does. */
#ifndef MS_WORKER_WORKER_H
#define MS_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "job/block_local.h"
#include "job/task.h"
#include "job/version.h"

typedef struct ms_worker ms_worker;

/* Takes the configuration from `channel`, sets up sockets and signals, and says hello. MS_WRK when
 * the driver is gone or is another build. */
ms_worker *ms_worker_connect(int channel, ms_error *err);

/* Closes everything and nulls the caller's pointer. */
void ms_worker_destroy(ms_worker **worker);

/* Number of this worker (0-based). */
uint32_t ms_worker_number(const ms_worker *worker);

/* Waits for a job for `patience` ms. 1: the driver has said nothing, so that there is time for
 * other things; 0: ms_worker_next is to be asked; -1 with *err filled. */
int ms_worker_rest(ms_worker *worker, int patience, ms_error *err);

/* Waits for a job. 1: there is one; 0: the driver has ended; -1 with *err filled. */
int ms_worker_next(ms_worker *worker, ms_error *err);

/* The present job, and where each of its operands is in this process. Valid until ms_worker_next.
 */
const ms_task *ms_worker_task(const ms_worker *worker);
void *ms_worker_operand(const ms_worker *worker, uint32_t operand, bool *dense);

/* Whether kernels of earlier jobs are not needed any more: the driver sends them again. Told once.
 */
bool ms_worker_forgets(ms_worker *worker);

/* The present job's blocks have this private memory, which the caller keeps until the job is over;
 * before the first block. */
void ms_worker_equip(ms_worker *worker, const ms_block_local *memory);

/* The present job's blocks work on versions, which the caller keeps until the job is over; before
 * the first block. */
void ms_worker_version(ms_worker *worker, ms_versions *versions);

/* Waits until this worker's next block may run. 1: *block; 0: the job is over for this worker;
 * -1: the worker cannot go on. */
int ms_worker_next_block(ms_worker *worker, uint32_t *block, ms_error *err);

/* The present block is finished, with a result of any bytes (none when size is 0) and the elements
 * that it has put into buffers. */
int ms_worker_block_done(ms_worker *worker, const void *result, size_t size, ms_error *err);

/* Whether some of what the present block leaves may be told with a later block of this worker:
 * there is one, and nothing is written, so that running it again, where this process ends before,
 * does no harm. */
bool ms_worker_may_defer(const ms_worker *worker);

/* It will be. */
void ms_worker_defer(ms_worker *worker);

/* An error of a body: any bytes, and bytes that tell where in the loop's order it was raised: of
 * two blocks of one turn the error with the lesser ones (as memcmp has it) is told. */
typedef struct ms_body_error {
  const char *bytes, *order;
  size_t size, order_size;
} ms_body_error;

/* The present block has failed; blocks that come before it in the loop's order are still run.
 * Without a present block the job ends. */
int ms_worker_fail(ms_worker *worker, const ms_body_error *error, ms_error *err);

/* Comes to the job's meeting number `count`, from 1 on, in the midst of a block, and waits there,
 * if it `stays`, for all other workers of the job. What they had written to shared memory before is
 * seen. 1: all are there; 0: one has left, or the job has ended; 2: they cannot meet, because
 * memory is not shared, or not each has just one block; -1: the worker cannot go on. */
int ms_worker_meet(ms_worker *worker, uint32_t count, bool stays, ms_error *err);

/* Says that this worker comes to no more meetings of the job, nor is at those that others wait in.
 */
void ms_worker_leave(ms_worker *worker);

/* In the midst of a block tells all other workers of the job that it has left something in shared
 * memory; or, if it no longer `stays`, that all are to leave. */
void ms_worker_post(ms_worker *worker, bool stays);

/* How many posts all have made. False: somebody has left, or the job ends, or nobody can wait for
 * posts, for the reasons of ms_worker_meet. */
bool ms_worker_posts(ms_worker *worker, uint64_t *posts);

/* Waits for a while until there are others than those of which `seen` was the number. What was
 * posted is seen. 1: there may be; 0: none come any more, because somebody has left, the job ends,
 * or all others are at the next meeting or wait, too (then the worker is to post that it leaves);
 * -1: it cannot go on. */
int ms_worker_await_posts(ms_worker *worker, uint64_t seen, ms_error *err);

/* Text that the present block prints, for when the job commits. */
int ms_worker_print(ms_worker *worker, const void *bytes, size_t size, ms_error *err);

#endif
