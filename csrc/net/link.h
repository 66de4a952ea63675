/* SPDX-License-Identifier: MIT
 *
 * Link: a numbered stream of frames between two processes, over a socket that others share, or
 * on one host over a lane: a channel of their own.
 *
 * ZeroMQ loses messages silently when a connection breaks, so each end counts: a gap is noticed
 * and reported, never skipped. On links with a window the receiver acknowledges, and no more than
 * MS_LINK_WINDOW frames are ever on their way, so that no queue fills and memory stays bounded.
 * Links of tokens have no window: what they carry is bounded by the arrays that rotate. */
#ifndef MS_NET_LINK_H
#define MS_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "net/frame.h"
#include "net/message.h"

#define MS_LINK_WINDOW 32u
/* Payload bytes of a lane's frame when there are many: a whole window of them, with what the kernel
 * needs beside, fits the buffer of a socketpair (208 KB), so that nobody waits for room. */
#define MS_LANE_PIECE  ((size_t)3584)
#define MS_LINK_PERIOD 8u /* frames between acknowledgements; less than the window */

typedef struct ms_link {
  void *socket;   /* not owned */
  int lane;       /* not owned; 0: frames go over the socket */
  const char *to; /* routing id that the socket needs to send; NULL: it has one peer */
  uint32_t sender, incarnation;
  uint32_t peer; /* whom it leads to, for traces: a worker's number or MS_DRIVER */
  uint64_t sent, acknowledged, received;
  /* Takes the message that is sent, in place of socket and lane; NULL: these do. */
  int (*carry)(struct ms_link *link, ms_message *message, ms_error *err);
} ms_link;

/* True when another frame may be sent now. */
bool ms_link_open(const ms_link *link);

/* How many payload bytes a frame of something long should have. */
size_t ms_link_piece(const ms_link *link);

/* How many payload bytes a frame may have. */
size_t ms_link_limit(const ms_link *link);

/* Sends header and payload; fills in sender, incarnation, sequence and size. */
int ms_link_send(ms_link *link, ms_frame frame, const void *payload, size_t size, ms_error *err);

/* The same in two steps, for a payload that is written straight into the message: returns where
 * `size` bytes are to be put, NULL when memory is out. */
void *ms_link_begin(const ms_link *link, ms_frame frame, size_t size, ms_message *message,
                    ms_error *err);

/* Sends what ms_link_begin made; the message is gone afterwards, whatever happens. */
int ms_link_commit(ms_link *link, ms_message *message, ms_error *err);

/* Takes the next frame's bytes out of a lane into `room` of MS_CHANNEL_LIMIT bytes: their number, 0
 * when none is there or ever will be. */
size_t ms_link_receive_lane(int lane, char *room);

/* Accounts for a frame that came from the other end, acknowledging (with `acknowledge`) now and
 * then. 1: handle it; 0: it was an acknowledgement; -1 with *err filled: frames are missing. */
int ms_link_receive(ms_link *link, const ms_frame *frame, bool acknowledge, ms_error *err);

#endif
