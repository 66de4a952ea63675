/* SPDX-License-Identifier: MIT
 *
 * Link: see link.h. */
#include "net/link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/trace.h"
#include "net/channel.h"
#include "net/socket.h"

#define LANE_WAIT 1000 /* ms for room; there is room but for frames of unusual length */

/* Tells of a frame that is sent or was received. */
__attribute__((cold)) static void trace_frame(const char *event, const ms_link *link,
                                              const ms_frame *frame) {
  char other[24] = "driver";
  if (link->peer != MS_DRIVER) snprintf(other, sizeof other, "worker-%u", link->peer + 1);
  ms_trace(MS_TRACE_MESSAGES, "%s %s=%s frame=%s job=%llu bytes=%llu a=%llu,%llu,%llu,%llu", event,
           event[0] == 's' ? "to" : "from", other, ms_frame_kind_name((ms_frame_kind)frame->kind),
           (unsigned long long)frame->job, (unsigned long long)frame->size,
           (unsigned long long)frame->a[0], (unsigned long long)frame->a[1],
           (unsigned long long)frame->a[2], (unsigned long long)frame->a[3]);
}

bool ms_link_open(const ms_link *link) {
  return link->sent - link->acknowledged < MS_LINK_WINDOW;
}

size_t ms_link_piece(const ms_link *link) {
  return link->lane > 0 ? MS_LANE_PIECE : MS_FRAME_PAYLOAD;
}

size_t ms_link_limit(const ms_link *link) {
  return link->lane > 0 ? MS_CHANNEL_LIMIT - sizeof(ms_frame) : MS_FRAME_PAYLOAD;
}

void *ms_link_begin(const ms_link *link, ms_frame frame, size_t size, ms_message *message,
                    ms_error *err) {
  if (size > ms_link_limit(link)) {
    ms_error_set(err, MS_BUG, "a frame of %zu bytes", size);
    return NULL;
  }
  if (ms_message_make(message, sizeof frame + size, err) != 0) return NULL;
  frame.magic = MS_FRAME_MAGIC;
  frame.version = MS_PROTOCOL;
  frame.sender = link->sender;
  frame.incarnation = link->incarnation;
  frame.sequence = link->sent;
  frame.size = size;
  if (ms_trace_wants(MS_TRACE_MESSAGES)) trace_frame("send", link, &frame);
  memcpy(ms_message_data(message), &frame, sizeof frame);
  return (char *)ms_message_data(message) + sizeof frame;
}

int ms_link_commit(ms_link *link, ms_message *message, ms_error *err) {
  int failed;
  if (link->carry != NULL) {
    failed = link->carry(link, message, err);
  } else if (link->lane > 0) {
    failed = ms_channel_send(link->lane, ms_message_data(message), ms_message_size(message), -1,
                             LANE_WAIT, err);
    ms_message_close(message);
  } else {
    failed = ms_socket_send(link->socket, link->to, message, err);
  }
  link->sent += failed == 0;
  return failed;
}

int ms_link_send(ms_link *link, ms_frame frame, const void *payload, size_t size, ms_error *err) {
  ms_message message;
  void *room = ms_link_begin(link, frame, size, &message, err);
  if (room == NULL) return -1;
  if (size > 0) memcpy(room, payload, size);
  return ms_link_commit(link, &message, err);
}

size_t ms_link_receive_lane(int lane, char *room) {
  int passed;
  long got = ms_channel_receive(lane, room, MS_CHANNEL_LIMIT, &passed, 0, NULL);
  if (passed >= 0) close(passed);
  return got > 0 ? (size_t)got : 0;
}

int ms_link_receive(ms_link *link, const ms_frame *frame, bool acknowledge, ms_error *err) {
  if (ms_trace_wants(MS_TRACE_MESSAGES)) trace_frame("receive", link, frame);
  if (frame->kind == MS_SAY_ACK) {
    if (frame->a[0] > link->acknowledged && frame->a[0] <= link->sent) {
      link->acknowledged = frame->a[0];
    }
    return 0;
  }
  if (frame->sequence != link->received) {
    return ms_error_set(err, MS_NET, "message %llu arrived where %llu was due: messages were lost",
                        (unsigned long long)frame->sequence, (unsigned long long)link->received);
  }
  link->received++;
  if (!acknowledge || link->received % MS_LINK_PERIOD != 0) return 1;
  ms_frame answer = {.kind = MS_SAY_ACK, .a = {link->received}};
  uint64_t sent = link->sent; /* acknowledgements are not numbered */
  int failed = ms_link_send(link, answer, NULL, 0, err);
  link->sent = sent;
  return failed == 0 ? 1 : -1;
}
