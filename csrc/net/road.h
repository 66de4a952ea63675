/* SPDX-License-Identifier: MIT
 *
 * Road: how the processes of a session reach each other.
 *
 * What they do together is done by state machines over this interface, which touch no socket, no
 * bell, no status page and no clock: the driver hands out tasks, collects what comes back and
 * replaces workers that die (driver/collect.c, driver/replace.c); workers run jobs
 * (worker/worker_job.c), hand over between blocks (worker/handover.c) and exchange arrays
 * (worker/exchange.c). A road belongs to one process, its `end`: the driver's session, or a worker.
 * A test has roads of its own, where order and time are the test's. */
#ifndef MS_NET_ROAD_H
#define MS_NET_ROAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "net/frame.h"
#include "net/link.h"
#include "net/message.h"

/* What is waited for: a worker's first so many blocks of the job, of which `block` is the last. A
 * worker runs its blocks in the plan's order, so one number says which of them are finished. Or, in
 * the midst of a block, that it has come to so many meetings; or that all have made more, or less,
 * posts than so many. */
typedef struct ms_awaited {
  uint32_t worker, count, block;
  bool meeting, posts;
  uint64_t until; /* on the road's clock, ns: no longer than this; 0: as long as it takes */
} ms_awaited;

/* What has come from a process: a frame, or word of its end. */
typedef struct ms_letter {
  uint32_t from;
  bool ended;          /* nothing more comes: it is dead, or */
  ms_error trouble;    /* with a code: cannot be understood any more. Only where it has ended */
  ms_frame frame;      /* else this, */
  const char *payload; /* and what follows it, until the letter is closed or the next one taken */
  bool held;           /* the message holds them, */
  ms_message message;  /* which is then to be closed */
} ms_letter;

static inline void ms_letter_close(ms_letter *letter) {
  if (letter->held) ms_message_close(&letter->message);
  letter->held = false;
}

/* The status of a worker: registers of one writer each that the others read when they like, without
 * a message. The driver writes the first two of each worker, the worker itself the others. Who
 * reads what was published sees what its writer had written to shared memory before. */
typedef enum ms_status {
  MS_STATUS_CANCEL,   /* job to stop at the next block end; 0: none */
  MS_STATUS_LIMIT,    /* job, and the last turn of it that is needed */
  MS_STATUS_RUNNING,  /* 1 + the block being run; 0: none */
  MS_STATUS_AWAITING, /* 1 + the block whose end is waited for; 0: none */
  MS_STATUS_BEGAN,    /* on the clock, ns, when the job's first block began */
  MS_STATUS_FAILURES, /* job, and how many of its blocks the worker has said to have failed */
  MS_STATUS_PROGRESS, /* job, and how many of its blocks the worker has finished */
  MS_STATUS_MEETING,  /* job, and to how many meetings the worker has come in it */
  MS_STATUS_POSTS,    /* job, and how many posts the worker has made in it */
  MS_STATUS_SEEN, /* job, and of how many posts it knows who now waits for more; 0: it does not */
  MS_STATUS_COUNT
} ms_status;

/* A status that is of one job: a register that was last written for another one says nothing. */
static inline uint64_t ms_status_of(uint64_t job, uint32_t value) {
  return (uint64_t)(uint32_t)job << 32 | value;
}

/* What a register says of `job`; `otherwise` where that is nothing. */
static inline uint32_t ms_status_value(uint64_t status, uint64_t job, uint32_t otherwise) {
  return status != 0 && status >> 32 == (uint32_t)job ? (uint32_t)status : otherwise;
}

/* Bytes of a worker's shelf. */
#define MS_SHELF_SIZE ((size_t)1 << 25)

typedef struct ms_road {
  /* Blocks' ends are told of by frames; else they are seen by the workers' progress. */
  bool by_frames;

  /* The link over which frames go to worker `number`. NULL: it cannot be reached. */
  ms_link *(*send)(void *end, uint32_t number, ms_error *err);

  /* The next letter that has come, of a worker that may send it, as the link to it numbers frames:
   * 1 (the caller closes it), 0 none, -1 failed. */
  int (*take)(void *end, ms_letter *letter, ms_error *err);

  /* Writes a register of worker `number`, which must be this end's to write. */
  void (*publish)(void *end, uint32_t number, ms_status which, uint64_t value);

  /* Reads one. */
  uint64_t (*status)(const void *end, uint32_t number, ms_status which);

  /* The shelf of worker `number`, MS_SHELF_SIZE bytes, which outlives it: the worker lays there
   * what its blocks leave for the driver. Once a frame has told of that it is the driver's, until
   * the worker gets its next job. */
  char *(*shelf)(const void *end, uint32_t number);

  /* The driver's, who has read the `used` bytes that were on a shelf: their memory may go. */
  void (*clear_shelf)(void *end, uint32_t number, size_t used);

  /* Sleeps until what is waited for may have come, or there is something to take, or, for a worker,
   * the driver has something to say; `what` NULL: only that. */
  int (*wait)(void *end, const ms_awaited *what, ms_error *err);

  /* Wakes worker `number`, if it waits: what it waits for may be seen. */
  void (*wake)(void *end, uint32_t number);

  /* ns. */
  uint64_t (*now)(void);

  /* A worker's first block of a job begins: it looks for a core to itself. NULL: nothing is known
   * of cores. */
  void (*settle)(void *end);
} ms_road;

#endif
