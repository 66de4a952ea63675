/* SPDX-License-Identifier: MIT
 *
 * Road: how workers that run blocks of one job reach each other.
 *
 * Hand-overs (handover.c) and exchanges (exchange.c) are state machines over this interface: they
 * touch no socket, no bell and no clock. On one host workers see in shared memory what the others
 * have finished, and ring for each other (ms_road_page); else they send each other frames
 * (ms_road_frames); a test has a road of its own, where order and time are the test's. */
#ifndef MS_WORKER_ROAD_H
#define MS_WORKER_ROAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "net/frame.h"
#include "net/link.h"
#include "net/message.h"

typedef struct ms_worker ms_worker;

/* What is waited for: a worker's first so many blocks of the job, of which `block` is the last. A
 * worker runs its blocks in the plan's order, so one number says which of them are finished. */
typedef struct ms_awaited {
  uint32_t worker, count, block;
} ms_awaited;

/* A frame of another worker. The message holds it with what follows it. */
typedef struct ms_letter {
  uint32_t from;
  ms_frame frame;
  ms_message message;
} ms_letter;

typedef struct ms_road {
  /* Blocks' ends are told of by frames; else they are seen in memory. */
  bool by_frames;

  /* The link over which frames go to worker `number`. NULL: it cannot be reached. */
  ms_link *(*send)(ms_worker *worker, uint32_t number, ms_error *err);

  /* The next frame that has come, of a worker that may send it, as the link to it numbers them: 1
   * (the caller closes the message), 0 none, -1 failed: frames are missing. */
  int (*take)(ms_worker *worker, ms_letter *letter, ms_error *err);

  /* How many of worker `number`'s blocks are seen to be finished; 0 where frames tell of them. */
  uint32_t (*seen)(const ms_worker *worker, uint32_t number);

  /* Sleeps until what is waited for may have come, or the driver has something to say; handles what
   * came. */
  int (*wait)(ms_worker *worker, const ms_awaited *what, ms_error *err);

  /* Wakes worker `number`, if it waits: what it waits for may be seen. */
  void (*wake)(ms_worker *worker, uint32_t number);

  /* ns. */
  uint64_t (*now)(void);
} ms_road;

extern const ms_road ms_road_page, ms_road_frames;

/* What leads to the other workers: closes it; and looks for those that have come or gone. */
void ms_road_close(ms_worker *worker);
void ms_road_meet(ms_worker *worker, const char *peers, size_t size);

#endif
