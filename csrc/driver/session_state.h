/* SPDX-License-Identifier: MIT
 *
 * The inside of a session, shared by session.c (its life), session_road.c (where the driver
 * sleeps), wait.c (what comes meanwhile), worker_handle.c (one worker process), load.c (what a
 * worker is sent before a job), residency.c (what it keeps of that), gather.c (what comes back),
 * run.c (one job), collect.c (from its tasks to its end), failure.c (when a block fails), replace.c
 * (when a worker dies) and recover.c (after failures). */
#ifndef MS_DRIVER_SESSION_STATE_H
#define MS_DRIVER_SESSION_STATE_H

#include <sys/types.h>

#include "base/directory.h"
#include "driver/session.h"
#include "driver/spawn.h"
#include "job/block_checkpoint.h"
#include "job/setup.h"
#include "job/spin.h"
#include "job/status_page.h"
#include "job/task.h"
#include "job/transfer.h"
#include "job/undo.h"
#include "net/link.h"
#include "net/road.h"
#include "net/zap.h"

/* What a worker has of a cached or served operand. */
typedef struct ms_residency {
  uint64_t id, version, size;
  uint64_t segment; /* of the driver, that it lies in; 0: none */
  uint64_t used;    /* by this job last */
  int64_t lo, hi;   /* these rows, */
  uint64_t list;    /* or the elements of the list with this copy's number; 0: rows */
} ms_residency;

/* What the driver expects of a worker in the present job. Each goes from NONE to TOLD when the job
 * begins, and back with DONE, or for good when it dies; or else to AWAITED, where it is another
 * process that goes on, and to TOLD again when that is up. */
typedef enum ms_part {
  MS_PART_NONE,    /* nothing: it takes no part, is through, or is dead */
  MS_PART_TOLD,    /* DONE: the task is on its way, as its window allows, or it is running it */
  MS_PART_AWAITED, /* a hello: it replaces one that died, and has not been told of the job yet */
} ms_part;

typedef struct ms_worker_handle {
  uint32_t number, incarnation;
  ms_child child;
  long pid;      /* kept after its end, for messages */
  int channel;   /* -1: dead */
  int lane;      /* 0: frames go over ZeroMQ */
  bool up;       /* has said hello */
  bool informed; /* of the present peers */
  ms_peer peer;
  ms_link link;
  uint64_t *segments; /* ids that it has */
  uint32_t segment_count;
  char **kernels; /* keys that it knows, with a length in front */
  uint32_t kernel_count;
  size_t kernel_bytes;
  ms_residency *cached;
  uint32_t cached_count;
  ms_index_list **index_lists; /* for served operands */
  uint32_t index_list_count;
  /* The present job: */
  ms_part part;
  uint64_t from;     /* of a replacement: 1 + own blocks that are finished; else 0 */
  uint64_t due;      /* ns: when one that is awaited has to be up */
  uint32_t failures; /* that it has told of */
  size_t reported;   /* bytes of the report that are its predecessors' */
  const ms_text *task;
  size_t task_sent;
  uint64_t data_frames;
  ms_transfer *transfers;
  uint32_t transfer_count, transfer_next;
} ms_worker_handle;

/* Processes in a row that may be killed before they are ready. */
#define MS_MOST_STILLBORN 10

/* Most times that one job is run again. */
#define MS_MOST_REDOS 100

/* A worker's end while it was running a block. */
typedef struct ms_death {
  uint32_t worker, block;
  long pid;
  int signal;
  char how[100]; /* "was killed by signal 9 (Killed)" */
} ms_death;

/* What a job remembers of the deaths that it has caused or survived. */
typedef struct ms_deaths {
  uint32_t redos;
  uint32_t stillborn;               /* replacements that ended before they were told of the job */
  uint32_t suspects[MS_MOST_REDOS]; /* blocks that ended a worker and were not finished since */
  uint32_t suspect_count;
  uint32_t fresh_count;
  ms_death fresh[MS_MOST_REDOS]; /* of the present attempt; not cleared */
} ms_deaths;

/* The failure that counts, of those that blocks of a job have had so far; see failure.h. */
typedef struct ms_failure {
  bool any;
  uint32_t worker, block, turn;
  uint64_t code; /* MS_OK: of the body; else the core's, and `text` is a message */
  ms_text order, text;
  size_t order_size;
} ms_failure;

/* How a job is going. It is open; then settling, once one of its blocks has failed (first.any),
 * until nothing is left that may fail before; then ending, once it has failed; and over when
 * nothing is expected of anyone. */
typedef struct ms_run {
  const ms_job *job;
  ms_outcome *outcome;
  ms_error *err;
  ms_operand *operands;  /* of the job, completed */
  ms_elements *elements; /* of the operands, in the driver */
  ms_text task, task_with_kernel;
  ms_undo undo;                   /* of a transaction */
  ms_block_checkpoint checkpoint; /* where workers can be replaced one by one; else without slots */
  ms_failure first;
  bool failed;       /* err is filled; only waiting for the rest */
  bool lost;         /* a worker died while the job was prepared: prepare again */
  uint64_t deadline; /* ns: workers still running then are killed; 0: none */
  uint64_t finished, progressed, warned; /* blocks; ns when last changed; ns when last told */
  uint32_t stuck;                        /* looks in a row at which everyone waited */
  bool may_spin;                         /* the next wait may begin with looking */
  ms_deaths deaths;                      /* the last: most of it is seldom needed */
} ms_run;

/* What stands behind a road's ends: the workers' processes. */
typedef struct ms_processes {
  /* Starts one for a member, with its link; it will say hello. */
  int (*start)(ms_session *session, ms_worker_handle *member, ms_error *err);
  /* Gives it the descriptor of a segment. */
  int (*share)(ms_worker_handle *member, const ms_segment *segment, ms_error *err);
  /* Whether it is seen to have gone, without waiting; its last frames may not have been taken. */
  bool (*gone)(const ms_worker_handle *member);
  /* Whether it ends within so many ms; then member->child says how. */
  bool (*ended)(ms_worker_handle *member, int patience);
  /* Kills what is left of it, and closes what leads to it. */
  void (*end)(ms_worker_handle *member);
} ms_processes;

/* What the last wait has looked at, and where it is being taken from; see session_road.c. */
typedef struct ms_polled {
  ms_poll_item *items; /* router, a channel and a lane for each member, interrupt */
  uint32_t *member;    /* that an item is of */
  int count, at;
  uint32_t turn;   /* frames taken of the present item */
  uint32_t ending; /* incarnation of the member whose last frames are being taken; 0: none */
  int interrupt;   /* that wakes, too; -1: none */
} ms_polled;

struct ms_session {
  ms_session *next; /* in the list of all */
  pid_t process;    /* whose it is */
  pid_t thread;
  ms_session_config config;
  char **command; /* own copy */
  ms_directory directory;
  ms_curve_keys keys;
  void *context, *router;
  ms_zap *zap;
  char address[MS_ADDRESS_SIZE];
  ms_status_page *page; /* of this host: a slot for each member */
  int page_fd;
  ms_worker_handle *members;
  const ms_road *road;
  const ms_processes *processes;
  ms_polled polled;
  char *lane_room; /* for a frame from a lane; NULL: there are no lanes */
  uint64_t jobs;
  uint32_t stillborn;    /* workers that were killed before they were ready, since all were up */
  ms_schedule *schedule; /* of the present or last job */
  uint64_t scheduled; /* id of the plan that it follows from; 0: from weights that were learned */
  ms_run *run;        /* NULL between jobs */
  ms_segment_block undo;      /* memory of undo logs, kept between jobs */
  uint32_t undo_idle;         /* jobs in a row that needed much less */
  ms_segment_block loop_undo; /* memory of the logs of loops with buffers, kept between loops */
  uint32_t loop_undo_idle;
  ms_spin spin;    /* for the ends of jobs */
  ms_text notices; /* until the next outcome takes them */
};

/* session_road.c: sockets, lanes and channels; in shared memory workers' progress. */
extern const ms_road ms_session_road;

/* wait.c: waits for what comes of workers, and handles it. */
int ms_session_wait(ms_session *session, const ms_awaited *what, ms_error *err);

/* Makes a letter of bytes of member letter->from: 1; 0: they are not to be handled; -1: it is of
 * another build. For roads. */
int ms_session_accept(ms_session *session, ms_letter *letter, const char *bytes, size_t size,
                      ms_error *err);

/* Starts workers that are missing and waits until all have said hello. */
int ms_session_complete(ms_session *session, ms_error *err);

/* worker_handle.c */
extern const ms_processes ms_worker_processes;
int ms_worker_handle_spawn(ms_session *session, ms_worker_handle *member, ms_error *err);
/* MS_WRK: how a worker ended that never became one. */
int ms_worker_handle_stillborn(const ms_session *session, const ms_worker_handle *member,
                               ms_error *err);
int ms_worker_handle_hello(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                           const char *payload, ms_error *err);
/* Kills what is left of a worker, reaps it, and frees what was known of it. */
void ms_worker_handle_bury(const ms_session *session, ms_worker_handle *member);
void ms_worker_handle_free(const ms_session *session, ms_worker_handle *member);
/* Gives it the descriptor of a segment unless it has it. */
int ms_worker_handle_share(const ms_session *session, ms_worker_handle *member,
                           const ms_segment *segment, ms_error *err);
void ms_worker_handle_unshare(ms_worker_handle *member, uint64_t segment);
/* Lets the worker free its copy of a cached operand; the last one takes the place in the list. */
void ms_worker_handle_forget(ms_worker_handle *member, uint32_t cached);
/* The same for a list. */
void ms_worker_handle_unlist(ms_worker_handle *member, uint32_t number);
bool ms_worker_handle_knows(const ms_worker_handle *member, const char *key, size_t size);
/* The worker will have job's kernel; it forgets all others when they are too many. */
int ms_worker_handle_learn(ms_worker_handle *member, const ms_job *job, ms_error *err);
void ms_worker_handle_unlearn(ms_worker_handle *member);

/* Has a transfer sent before the job begins. */
int ms_worker_handle_post(ms_worker_handle *member, ms_transfer transfer, ms_error *err);

/* residency.c: posts what a worker does not have yet of operand number `number`: of a cached one
 * the rows that its blocks need, of a served one the elements on its list, or all if that is less.
 */
int ms_residency_load(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                      ms_error *err);
int ms_residency_serve(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                       ms_error *err);
/* Posts the further parts of what is served, after all else and in the order of need. */
int ms_residency_serve_rest(ms_worker_handle *member, const ms_run *run, ms_error *err);
/* The job may do anything to the worker's copy of an operand: it counts as not there. */
void ms_residency_disown(ms_worker_handle *member, uint64_t id);
/* Lets go of operands and lists that jobs before number `now` have not used for long: their owner
 * may be gone. What had a segment to itself went with it; small pieces share one. */
void ms_residency_trim(ms_worker_handle *member, uint64_t now);

/* load.c: prepares one that is awaited; it is told of the job with the next ms_load_send. */
int ms_load_resume(ms_session *session, ms_worker_handle *member, ms_run *run, ms_error *err);

/* load.c: prepares what takes part in the job; sends as much as windows allow. */
int ms_load_prepare(ms_session *session, ms_run *run);
int ms_load_send(ms_session *session, ms_run *run);
void ms_load_free(ms_session *session, ms_run *run);

/* replace.c: a worker has ended, or cannot be talked to (`trouble` says why): buries it. */
void ms_session_lose(ms_session *session, ms_worker_handle *member, const ms_error *trouble);

/* collect.c: waits until nothing is expected of anyone in the job that is prepared. */
void ms_run_collect(ms_session *session);
/* collect.c: one frame while a job is running. */
void ms_run_frame(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                  const char *payload);
/* collect.c: the job fails: the others are cancelled and get `grace` ms. The first failure counts.
 */
void ms_run_fail(ms_session *session, uint32_t worker, uint32_t block, uint32_t grace);

/* Tells replacements that are up of the job; fails it when one does not come up. */
void ms_replace_resume(ms_session *session);

/* recover.c: makes a log that is kept from job to job at least `size` bytes large; gives back one
 * that is much larger than what was needed for a while: so often, in a row, says `idle`. */
int ms_recover_room(ms_segment_block *log, uint32_t *idle, size_t size, ms_error *err);
/* Takes care that the job can be undone; before any of it is sent. */
int ms_recover_prepare(ms_session *session, ms_run *run);
/* A working member has ended while it was running `block` (MS_NO_BLOCK: none); to be called before
 * it is buried. */
void ms_recover_note(ms_session *session, const ms_worker_handle *member, uint32_t block);
/* Whether `block` has ended a worker before. */
bool ms_recover_suspects(ms_session *session, uint32_t block);
/* Notes that it has. */
void ms_recover_suspect(ms_session *session, uint32_t block);
/* How many blocks of the present job a worker has finished. */
uint32_t ms_recover_finished(const ms_session *session, uint32_t worker);
/* The attempt has failed and nobody works any more: puts the arrays back. */
void ms_recover_undo(ms_run *run);
/* Whether to try again; then the run is as before the first attempt, but for what it remembers of
 * deaths. */
bool ms_recover_again(ms_session *session, ms_run *run);

/* gather.c: puts results and printed text in order; of a failed job what arrived, whole or not. */
int ms_gather_begin(ms_session *session, ms_outcome *outcome, ms_error *err);
int ms_gather_finish(ms_session *session, ms_outcome *outcome, ms_error *err);

#endif
