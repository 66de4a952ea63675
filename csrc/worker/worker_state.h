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
  bool defers;                    /* what it leaves comes with a later one */
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
  uint64_t incoming_from; /* of a job that it resumes: 1 + its first block; else 0 */
  uint32_t fed;           /* own blocks, in their order, that have their data; while some is due */
  bool forgets;           /* all kernels that it has, before the next job */
  uint64_t cancelled;     /* job that a CANCEL frame named */
  double pace;            /* ns a byte that the last image took; 0: none yet */
  double batch_cost;      /* ns that sending a batch takes; 0: none was sent yet */
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

/* worker_receive.c: handles one frame of the driver. */
int ms_worker_receive(ms_worker *worker, const char *bytes, size_t size, ms_error *err);

/* Address of byte `place` of a segment of `size` bytes, waiting for the segment if need be. */
void *ms_worker_segment(ms_worker *worker, uint64_t id, uint64_t size, uint64_t place,
                        ms_error *err);

/* worker_job.c: makes a job of the task that has come in; tells the driver if it cannot. */
int ms_worker_begin(ms_worker *worker, ms_error *err);

/* worker_job.c: sends DONE with what is left of the report; of a failed job only printed text. */
int ms_worker_end(ms_worker *worker, ms_error *err);

/* worker_failure.c: the job ends for this worker, because of an error of the core's. */
int ms_worker_stop(ms_worker *worker, ms_code code, const char *text, ms_error *err);

/* The same, because of `trouble`; and with it the job's last frames. */
int ms_worker_give_up(ms_worker *worker, ms_error *trouble, ms_error *err);

/* worker_job.c: the block at the present position is over: the next one's turn. */
void ms_worker_advance(ms_worker *worker);

/* worker_failure.c: the last turn whose blocks are to be run; UINT32_MAX: all are. */
uint32_t ms_worker_last_turn(const ms_worker *worker);

/* Whether a block has to be run although another one has failed, if one has. */
bool ms_worker_needs(ms_worker *worker, uint32_t block);

/* worker_failure.c: the block before the present position is over: tells everybody. */
int ms_worker_publish(ms_worker *worker, ms_error *err);

/* worker_return.c: keeps what scattered and exchanged operands look like before the first block. */
int ms_worker_remember_operands(ms_worker *worker, ms_error *err);

/* worker_return.c: sends the elements of operands that are this worker's to give back. */
int ms_worker_return_operands(ms_worker *worker, ms_error *err);

/* worker_report.c: makes sure that the report of the last finished block outlives this process;
 * text that the block has printed is sent. */
int ms_worker_keep_report(ms_worker *worker, ms_error *err);

/* worker_report.c: sends the rest of the report with DONE. The shelf is the driver's from then on,
 * and so is the slot. */
int ms_worker_send_done(ms_worker *worker, ms_frame done, ms_error *err);

/* worker_checkpoint.c: goes on where the process that this one replaces has ended, if it replaces
 * one. */
int ms_worker_resume(ms_worker *worker, ms_error *err);

/* worker_checkpoint.c: keeps what is needed to undo the block that begins now, unless that takes
 * too long for blocks like this: then the whole loop is undone if the worker dies in it. */
void ms_worker_keep_image(ms_worker *worker, uint32_t block);

/* worker_job.c: waits until the driver's window has room; false when the job is cancelled or the
 * driver gone. */
bool ms_worker_room(ms_worker *worker, ms_error *err);

/* True when the job is to stop at the next block end. */
bool ms_worker_cancelled(const ms_worker *worker);

/* handover.c: waits until `before` is finished, or come to; 0 also when the job ends otherwise: the
 * caller sees why. */
int ms_handover_await(ms_worker *worker, const ms_awaited *before, ms_error *err);

/* meeting.c: to how many meetings of the job a worker has come. */
uint32_t ms_meeting_count(const ms_worker *worker, uint32_t number);

/* Whether all workers of the job can be in their blocks at once, and see where the others are. */
bool ms_meeting_possible(const ms_worker *worker);

/* posting.c: whether it need not be waited for more posts than those of which `seen` was the
 * number, modulo 2^32. */
bool ms_posting_changed(const ms_worker *worker, uint32_t seen);

/* handover.c: takes one frame from another worker, if one is there: 1 taken, 0 none, -1 failed. */
int ms_handover_take(ms_worker *worker, ms_error *err);

/* True when `block` is known to be finished, and what it wrote has arrived. */
bool ms_handover_finished(const ms_worker *worker, uint32_t block);

/* Somebody told of `block` of another worker: it is finished, and so are those before it. */
void ms_handover_told(ms_worker *worker, uint32_t block);

/* Whether `block`'s predecessors are finished and what they hand over has arrived. */
bool ms_handover_ready(const ms_worker *worker, uint32_t block);

/* Waits until that is so; 0 also when the job ends otherwise. */
int ms_handover_wait(ms_worker *worker, uint32_t block, ms_error *err);

/* Tells the owners of `block`'s successors that it is finished, and hands over what travels. */
int ms_handover_send(ms_worker *worker, uint32_t block, ms_error *err);

/* rounds.c: makes the gate of a job of rounds; MS_NET for sets that are none. */
int ms_rounds_prepare(ms_worker *worker, ms_error *err);

/* Who waits for a block of a job with a gate, in place of the schedule's edges: how many, and each
 * by number from 0. */
uint32_t ms_rounds_listeners(const ms_worker *worker, uint32_t block);
uint32_t ms_rounds_listener(const ms_worker *worker, uint32_t block, uint32_t number);

/* The end of blocks that `block` waits for, by number from 0; false: there are no more. One whose
 * count is 0 need not be waited for. */
bool ms_rounds_before(const ms_worker *worker, uint32_t block, uint32_t number, ms_awaited *end);

/* Where who is late may be left out: whether a block of a round need not wait any more, for nobody
 * or for few enough; and waits until that is so, or takes too long. 0 also when the job ends. */
bool ms_rounds_excuse(const ms_worker *worker);
bool ms_rounds_are_open(const ms_worker *worker, uint32_t block);
int ms_rounds_await(ms_worker *worker, uint32_t block, ms_error *err);

/* Whether worker `to` may read what range `range` makes. */
bool ms_rounds_reads(const ms_worker *worker, uint32_t to, uint32_t range);

/* Makes ready for `block`, which begins now: the versions that it sees. */
int ms_rounds_begin(ms_worker *worker, uint32_t block, ms_error *err);

/* block_history.c: tells the history that a block begins, with what it reads, that it has ended,
 * and that it has failed or is passed over. */
void ms_block_history_begin(ms_worker *worker, uint32_t block);
void ms_block_history_end(ms_worker *worker, uint32_t block);
void ms_block_history_leave(ms_worker *worker, uint32_t block);

/* Ends the job's gate. */
void ms_rounds_close(ms_worker *worker);

/* How many of worker `number`'s blocks are known here to be finished. */
uint32_t ms_handover_progress(const ms_worker *worker, uint32_t number);

/* round_send.c: sends the versions that our finished blocks from `from` on have made to those who
 * read them. */
int ms_round_send(ms_worker *worker, uint32_t from, ms_error *err);

/* Sends what is held back of that. */
int ms_handover_flush(ms_worker *worker, ms_error *err);

#endif
