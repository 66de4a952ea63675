/* SPDX-License-Identifier: MIT
 *
 * Worker handle: one worker as its session holds it, whichever process that is at present: how to
 * reach it, what it has been given, and what is expected of it. A handle is a session's, and used
 * by the session's thread alone. */
#ifndef MS_DRIVER_WORKER_HANDLE_H
#define MS_DRIVER_WORKER_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"
#include "driver/residency.h"
#include "job/index_list.h"
#include "job/listed.h"
#include "job/setup.h"
#include "job/transfer.h"
#include "net/link.h"

/* Processes in a row that may be killed before they are ready. */
#define MS_MOST_STILLBORN 10

/* What the driver expects of a worker in the present job. Each goes from NONE to TOLD when the job
 * begins, and back with DONE, or for good when it dies; or else to AWAITED, where it is another
 * process that goes on, and to TOLD again when that is up. */
typedef enum ms_worker_part {
  MS_PART_NONE,    /* nothing: it takes no part, is through, or is dead */
  MS_PART_TOLD,    /* DONE: the task is on its way, as its window allows, or it is running it */
  MS_PART_AWAITED, /* a hello: it replaces one that died, and has not been told of the job yet */
} ms_worker_part;

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
  ms_text room;      /* memory for its next report, empty */
  uint32_t recorded; /* the number of its process in the history; 0: there is none */
  /* The present job: */
  ms_worker_part part;
  uint64_t from;     /* of a replacement: 1 + own blocks that are finished; else 0 */
  uint64_t due;      /* ns: when an awaited worker has to be up */
  uint32_t failures; /* that it has told of */
  size_t reported;   /* bytes of the report that are its predecessors' */
  const ms_text *task;
  size_t task_sent;
  uint64_t data_frames;
  ms_transfer *transfers;
  uint32_t transfer_count, transfer_next;
  ms_listed_share returned; /* what has come back of an operand by lists, */
  uint32_t returning;       /* 1 + its number; 0: of none yet */
} ms_worker_handle;

/* One that no process stands behind yet. */
ms_worker_handle ms_worker_handle_new(uint32_t number);

/* Starts a process for it, which will say hello. MS_WRK, MS_NET: then it is dead. */
int ms_worker_handle_spawn(ms_session *session, ms_worker_handle *member, ms_error *err);

/* MS_WRK: how a process ended that never became a worker. */
int ms_worker_handle_stillborn(const ms_session *session, const ms_worker_handle *member,
                               ms_error *err);

/* It says hello. MS_WRK when it is of another build. */
int ms_worker_handle_hello(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                           const char *payload, ms_error *err);

/* Kills what is left of its process, reaps it, and frees what was known of it. */
void ms_worker_handle_bury(const ms_session *session, ms_worker_handle *member);

/* Buries it and frees the handle's memory. */
void ms_worker_handle_free(const ms_session *session, ms_worker_handle *member);

/* Gives it the descriptor of a segment unless it has it. MS_WRK. */
int ms_worker_handle_share(const ms_session *session, ms_worker_handle *member,
                           const ms_segment *segment, ms_error *err);

/* The segment `id` is gone: a worker that has mapped it is told to unmap it. */
void ms_worker_handle_unshare(const ms_session *session, ms_worker_handle *member, uint64_t id);

/* Lets it free its copy of a cached operand; the last one takes the place in the list. */
void ms_worker_handle_forget(ms_worker_handle *member, uint32_t cached);

/* Lets it free its copy of a list of indices; the last list takes the place of that one. */
void ms_worker_handle_unlist(ms_worker_handle *member, uint32_t number);

/* Whether it has the kernel with this key. */
bool ms_worker_handle_knows(const ms_worker_handle *member, const char *key, size_t size);

/* Notes that the worker will have the job's kernel; has it forget all others when they are too
 * many. MS_WRK, MS_NET. */
int ms_worker_handle_learn(ms_worker_handle *member, const ms_job *job, ms_error *err);

/* Notes that the worker has no kernels any more. */
void ms_worker_handle_unlearn(ms_worker_handle *member);

/* Has a transfer sent before the job begins. MS_WRK: out of memory. */
int ms_worker_handle_post(ms_worker_handle *member, ms_transfer transfer, ms_error *err);

#endif
