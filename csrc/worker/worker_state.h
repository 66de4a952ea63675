/* SPDX-License-Identifier: MIT
 *
 * The inside of a worker, shared by worker.c (its life), worker_receive.c (what it receives),
 * worker_job.c (one job), worker_failure.c, worker_return.c, worker_report.c and
 * worker_checkpoint.c (parts of that), handover.c (hand-overs between workers), meeting.c (where
 * all wait for each other), posting.c (where they need not), worker_road.c (how they reach each
 * other) and exchange.c (arrays that all have). */
#ifndef MS_WORKER_WORKER_STATE_H
#define MS_WORKER_WORKER_STATE_H

#include "job/block_checkpoint.h"
#include "job/setup.h"
#include "job/spin.h"
#include "job/status_page.h"
#include "job/transfer.h"
#include "job/undo.h"
#include "net/link.h"
#include "net/zap.h"
#include "sync/gate.h"
#include "worker/exchange.h"
#include "worker/mapped_memory.h"
#include "worker/worker.h"
#include "worker/worker_road.h"

/* Another worker, or this one (then without sockets). */
typedef struct ms_neighbour {
  ms_peer peer;
  void *socket; /* to its inbox; NULL until the first token */
  ms_link out, in;
} ms_neighbour;

/* So many brief blocks are timed together: looking at the clock takes 20 ns. */
#define MS_TIMED_AT_ONCE 8

/* One job. All but the schedule lives in the arena. */
typedef struct ms_worker_job {
  uint64_t number; /* 0: none */
  ms_arena *arena;
  ms_task task;
  void **place;                   /* of each operand */
  uint32_t *told;                 /* by worker: how many of its blocks are known to be finished */
  uint32_t share, position;       /* own blocks, and how many of them are over */
  uint32_t block, last;           /* the one at `position` and the one before; MS_NO_BLOCK: none */
  bool running;                   /* `block` is being run */
  bool defers;                    /* its report comes with that of a later block */
  bool open;                      /* not yet DONE */
  bool taken;                     /* ms_worker_next has told of it */
  bool failed;                    /* FAILED was sent */
  bool stopped;                   /* no further block is run */
  uint32_t failures;              /* blocks whose failure was sent */
  uint32_t last_turn;             /* of the blocks to be run, as far as is known here */
  uint64_t started, busy, waited; /* ns; `started`: of the job, or the first untimed block */
  uint32_t untimed;               /* last finished blocks whose time is not yet in `busy`, */
  uint32_t range[MS_TIMED_AT_ONCE]; /* and their ranges of the space axis */
  bool brief;                       /* blocks take hardly longer than looking at the clock */
  uint64_t *spent;                  /* ns in own blocks of each range of the space axis */
  uint64_t moved;                   /* bytes sent */
  uint32_t handed;              /* own blocks that were handed over; the others are held back, */
  uint32_t held;                /* from this one on, */
  bool holds;                   /* and somebody waits for one of them */
  uint64_t handed_busy;         /* `busy` then */
  uint32_t *heard;              /* by worker: `position` when it was last told */
  ms_text report;               /* what was not sent yet */
  const ms_block_local *memory; /* that blocks have to themselves; NULL: none */
  ms_versions *versions;        /* of arrays that blocks make in rounds; NULL: no rounds */
  ms_gate *gate;                /* says how blocks of rounds wait for each other */
  double usual;          /* ns that a wait takes usually, if it may go on without the latest */
  bool printed;          /* it has printed text */
  uint32_t met;          /* meetings that this process has come to */
  uint32_t posted;       /* posts that it has made */
  ms_exchange *exchange; /* NULL when no operand needs one */
  ms_undo undo;          /* where memory is shared; empty when nothing is logged */
  ms_block_checkpoint checkpoint; /* with it; without slots when nobody could be replaced alone */
  bool resumed;                   /* a replacement's, whose first block ended its predecessor */
  double keeping;                 /* ns that images of blocks should have taken, of `busy` */
  size_t noted;                   /* bytes of the report that are in the journal */
} ms_worker_job;

struct ms_worker {
  ms_setup setup;
  int channel, lane;    /* lane 0: frames come over ZeroMQ */
  char *lane_room;      /* for a frame from it */
  bool gone;            /* the driver is, or has done with us */
  bool ended;           /* it said so */
  ms_status_page *page; /* of this host: a slot for each worker */
  const ms_road *road;  /* to the other workers */
  bool may_spin;        /* while others are in the same job */
  bool may_spin_idle;   /* while the driver works */
  ms_spin token_spin, idle_spin, meeting_spin;
  ms_spin moves; /* to other cores */
  void *context, *dealer, *inbox;
  ms_zap *zap;
  ms_link control;
  ms_neighbour *neighbours; /* one for each worker, by number */
  uint32_t neighbour_count;
  ms_mapped_memory mapped;
  ms_schedule *schedule; /* of the present or last job */
  ms_text incoming;      /* pieces of a task */
  uint64_t incoming_job, data_due;
  uint64_t incoming_from; /* of a job that is resumed: 1 + the first block to run; else 0 */
  uint32_t fed;       /* while data are due: how many own blocks, from the first on, have theirs */
  bool forgets;       /* drops all kernels before the next job */
  uint64_t cancelled; /* job that a CANCEL frame named */
  double pace;        /* ns a byte that the last image took; 0: none yet */
  double batch_cost;  /* ns that sending a batch takes; 0: none was sent yet */
  ms_worker_job job;
};

/* ms between looks at the driver's page while nothing arrives from other workers. */
#define MS_HANDOVER_WAIT 1000

/* Tells the others how this worker is, and what the driver wants of it (net/road.h). */
static inline void ms_worker_show(ms_worker *worker, ms_status which, uint64_t value) {
  worker->road->publish(worker, worker->setup.worker, which, value);
}

static inline uint64_t ms_worker_status(const ms_worker *worker, ms_status which) {
  return worker->road->status(worker, worker->setup.worker, which);
}

/* Waits up to `timeout` ms for frames or notices and handles those that are there; with `tokens`
 * also for hand-overs. */
int ms_worker_wait(ms_worker *worker, bool tokens, int timeout, ms_error *err);

/* Address of byte `place` of a segment of `size` bytes, waiting for the segment if need be. */
void *ms_worker_segment(ms_worker *worker, uint64_t id, uint64_t size, uint64_t place,
                        ms_error *err);

#endif
