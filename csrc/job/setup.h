/* SPDX-License-Identifier: MIT
 *
 * Setup: what driver and worker say over their channel, beside and before ZeroMQ.
 *
 * First the driver sends one ms_setup; a worker of another build answers with an ms_refusal, one
 * that agrees says HELLO over ZeroMQ. Later the driver sends ms_notices about segments. Fixed
 * layouts: both ends are the same build once the first fields have been compared. */
#ifndef MS_JOB_SETUP_H
#define MS_JOB_SETUP_H

#include <stdint.h>

#include "base/directory.h"
#include "base/history.h"
#include "base/trace.h"
#include "net/frame.h"
#include "net/socket.h"

typedef struct ms_refusal {
  uint32_t magic, protocol;
  char abi[MS_ABI_SIZE];
} ms_refusal;

typedef struct ms_setup {
  ms_refusal build; /* the driver's: must come first */
  uint32_t worker, workers, incarnation;
  uint32_t shared; /* arrays are in shared memory */
  uint32_t tcp;
  uint32_t parent; /* the driver's process id */
  ms_trace_setup trace;
  ms_history_setup history;
  char identity[MS_IDENTITY_SIZE];
  char address[MS_ADDRESS_SIZE]; /* the driver's */
  char directory[MS_DIRECTORY_SIZE];
  ms_curve_keys keys;
} ms_setup;

typedef enum ms_notice_kind {
  MS_NOTICE_SEGMENT = 1,
  MS_NOTICE_GONE,
  MS_NOTICE_END,
  MS_NOTICE_LANE
} ms_notice_kind;

/* A segment to map (its descriptor comes along) or to unmap; the session ends in good order; or,
 * right after the setup of a session on one host, the lane that frames go over from HELLO on.
 * A channel that closes without the last one means that the driver is dead or dying. */
typedef struct ms_notice {
  uint64_t kind, id, size;
} ms_notice;

/* Payload of HELLO. */
typedef struct ms_hello {
  char abi[MS_ABI_SIZE];
  char address[MS_ADDRESS_SIZE]; /* where the worker takes tokens */
} ms_hello;

/* Payload of PEERS, an entry for each worker. */
typedef struct ms_peer {
  char identity[MS_IDENTITY_SIZE], address[MS_ADDRESS_SIZE];
  uint32_t incarnation, unused;
} ms_peer;

/* The descriptor that a worker finds its end of the channel at. */
#define MS_CHANNEL_FD 3

_Static_assert(MS_TRACE_FD == MS_CHANNEL_FD + 1 && MS_HISTORY_FD == MS_TRACE_FD + 1,
               "a worker has no descriptor between or after them");

#define MS_MOST_WORKERS 1024u

#endif
