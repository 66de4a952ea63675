/* SPDX-License-Identifier: MIT
 *
 * Frames: what Meissa's processes say to each other over ZeroMQ.
 *
 * A frame is one message part: a fixed header of 72 bytes (ZeroMQ's large payloads start 56 bytes
 * past a cache line, so what follows the header is aligned) and a payload. Nothing in a received
 * header is believed before ms_frame_read has checked it; no message is larger than
 * MS_FRAME_LIMIT, which every socket enforces with ZMQ_MAXMSGSIZE. Longer things travel in pieces.
 * Pure functions, any thread. */
#ifndef MS_NET_FRAME_H
#define MS_NET_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define MS_FRAME_MAGIC   0x4153534Du /* "MSSA" */
#define MS_PROTOCOL      1u
#define MS_FRAME_PAYLOAD ((size_t)1 << 20)
#define MS_FRAME_LIMIT   (sizeof(ms_frame) + MS_FRAME_PAYLOAD)

/* Who may say something: driver to worker, worker to driver, worker to worker. */
#define MS_TO_WORKER 1u
#define MS_TO_DRIVER 2u
#define MS_TO_PEER   4u

/* name, roads, smallest and largest payload. Arguments a[0..3] in the comments; those of VALUES to
 * the driver are the operand, and how many of its values have gone before; to another worker the
 * operand, the last and the first of the blocks that hand them over, and again how many. */
#define MS_FRAME_KINDS(X)                                                                 \
  X(HELLO, MS_TO_DRIVER, 1, 1024)              /* protocol; payload: ms_hello */          \
  X(PEERS, MS_TO_WORKER, 1, MS_FRAME_PAYLOAD)  /* workers; payload: an ms_peer each */    \
  X(TASK, MS_TO_WORKER, 1, MS_FRAME_PAYLOAD)   /* total bytes, offset, DATA, block */     \
  X(DATA, 7u, 1, MS_FRAME_PAYLOAD)             /* operand and array dim, lo, hi, first */ \
  X(LIST, MS_TO_WORKER, 1, MS_FRAME_PAYLOAD)   /* copy, runs, first, operand */           \
  X(VALUES, 7u, 1, MS_FRAME_PAYLOAD)           /* operand and block, copy, run, offset */ \
  X(RUNS, 6u, 17, MS_FRAME_PAYLOAD)            /* operand, block; runs of elements */     \
  X(TOKEN, MS_TO_PEER, 0, 0)                   /* block that is finished */               \
  X(CREDIT, MS_TO_PEER, 0, 0)                  /* frames of the job applied so far */     \
  X(CANCEL, MS_TO_WORKER, 0, 0)                /* */                                      \
  X(FORGET, MS_TO_WORKER, 0, 0)                /* operand id; 0: all kernels */           \
  X(REPORT, MS_TO_DRIVER, 1, MS_FRAME_PAYLOAD) /* a piece of the report */                \
  X(FAILED, MS_TO_DRIVER, 0, MS_FRAME_PAYLOAD) /* block, ms_code or 0, order bytes */     \
  X(DONE, MS_TO_DRIVER, 0, MS_FRAME_PAYLOAD)   /* busy, wait ns, bytes; MS_DONE_ */       \
  X(ACK, MS_TO_WORKER | MS_TO_DRIVER, 0, 0)    /* frames received so far */

typedef enum ms_frame_kind {
  MS_SAY_NONE,
#define FRAME_KIND_NAME(name, roads, least, most) MS_SAY_##name,
  MS_FRAME_KINDS(FRAME_KIND_NAME)
#undef FRAME_KIND_NAME
      MS_SAY_COUNT
} ms_frame_kind;

typedef struct ms_frame {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;        /* ms_frame_kind */
  uint32_t incarnation; /* of the worker that sends, or that is meant */
  uint32_t sender;      /* worker number, MS_DRIVER for the driver */
  uint64_t job;
  uint64_t sequence; /* frames sent before on this link; 0 in an ACK */
  uint64_t size;     /* payload bytes */
  uint64_t a[4];     /* by kind */
} ms_frame;

#define MS_DRIVER UINT32_MAX

/* The last argument of DONE: blocks run, and bytes of the report on the worker's shelf. */
#define MS_DONE_MAKE(blocks, shelved) ((uint64_t)(blocks) | (uint64_t)(shelved) << 32)
#define MS_DONE_BLOCKS(argument)      ((uint32_t)(argument))
#define MS_DONE_SHELVED(argument)     ((size_t)((argument) >> 32))

_Static_assert(sizeof(ms_frame) == 72, "the header keeps payloads aligned");

/* Checks a received message and copies its header out. `road` is the one that it came by. Returns
 * NULL when it is well formed, else what is wrong with it (static storage). Never reads outside
 * `bytes`; the arguments in a[] are for the receiver to check. */
const char *ms_frame_read(ms_frame *frame, const void *bytes, size_t size, unsigned road);

/* The name of a kind, as MS_FRAME_KINDS has it. Static storage. */
const char *ms_frame_kind_name(ms_frame_kind kind);

/* What both ends must share to understand each other's memory and messages. */
#define MS_ABI_SIZE 64

/* The core's own description of its version and data layout. Static storage. */
const char *ms_frame_abi(void);

/* MS_WRK naming both values unless `protocol` and `abi` (of worker number `worker`) are ours. */
int ms_frame_abi_check(uint64_t protocol, const char *abi, uint32_t worker, ms_error *err);

#endif
