/* SPDX-License-Identifier: MIT
 *
 * Channel: see channel.h. */
#include "net/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

int ms_channel_pair(int ends[2], ms_error *err) {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) return 0;
  return ms_error_set(err, MS_WRK, "no socketpair for a worker: %s", strerror(errno));
}

static long now_ms(void) {
  return (long)(ms_clock_now() / MS_MILLISECOND);
}

/* Waits until `end`, which was not ready for `events`, is so or over; 0 when time is out. Signals
 * do not lengthen it. */
static int wait_ready(int end, short events, int timeout) {
  if (timeout == 0) return 0;
  long deadline = now_ms() + timeout;
  for (;;) {
    struct pollfd operand = {.fd = end, .events = events};
    long left = deadline - now_ms();
    int ready = poll(&operand, 1, left > 0 ? (int)left : 0);
    if (ready > 0) return 1;
    if (ready == 0 || errno != EINTR) return 0;
  }
}

typedef union control_room {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
} control_room;

int ms_channel_send(int end, const void *bytes, size_t size, int passed, int timeout,
                    ms_error *err) {
  if (size == 0 || size > MS_CHANNEL_LIMIT) {
    return ms_error_set(err, MS_BUG, "a channel message of %zu bytes", size);
  }
  struct iovec part = {.iov_base = (void *)(size_t)bytes, .iov_len = size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  control_room room;
  memset(&room, 0, sizeof room);
  if (passed >= 0) {
    message.msg_control = room.bytes;
    message.msg_controllen = sizeof room.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &passed, sizeof passed);
  }
  for (;;) {
    ssize_t sent = sendmsg(end, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == (ssize_t)size) return 0;
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN && wait_ready(end, POLLOUT, timeout)) continue;
    return ms_error_set(err, MS_WRK, "a message to another process could not be delivered: %s",
                        sent < 0 ? strerror(errno) : "cut short");
  }
}

/* Takes the one descriptor that we expect out of a message; closes any further ones. */
static int take_descriptor(struct msghdr *message) {
  int taken = -1;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int each;
      memcpy(&each, CMSG_DATA(head) + i * sizeof each, sizeof each);
      if (taken < 0) {
        taken = each;
      } else {
        close(each);
      }
    }
  }
  return taken;
}

long ms_channel_receive(int end, void *bytes, size_t size, int *passed, int timeout,
                        ms_error *err) {
  *passed = -1;
  for (;;) {
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    control_room room;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof room.bytes};
    ssize_t got = recvmsg(end, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got >= 0) {
      *passed = take_descriptor(&message);
      return (long)got;
    }
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) return 0;
    if (errno == EAGAIN && wait_ready(end, POLLIN, timeout)) continue;
    return ms_error_set(err, MS_WRK, "no message from another process in %d ms", timeout);
  }
}

int ms_channel_ended(int end) {
  char byte;
  ssize_t got = recv(end, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}
