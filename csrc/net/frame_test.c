/* SPDX-License-Identifier: MIT
 *
 * Frames and links: what is well formed, what is refused and why, and gaps that are noticed. */
#include "net/frame.h"

#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/test.h"
#include "net/context.h"
#include "net/link.h"

/* A header with the fields that all have. */
static ms_frame header(ms_frame_kind kind) {
  return (ms_frame){.magic = MS_FRAME_MAGIC, .version = MS_PROTOCOL, .kind = (uint16_t)kind};
}

static const char *read_changed(size_t size, size_t at, uint64_t value, size_t width) {
  unsigned char bytes[256] = {0};
  ms_frame frame = header(MS_SAY_DONE), got;
  frame.size = 8;
  memcpy(bytes, &frame, sizeof frame);
  memcpy(bytes + at, &value, width);
  return ms_frame_read(&got, bytes, size, MS_TO_DRIVER);
}

static void check_fields(void) {
  CHECK(read_changed(80, 0, MS_FRAME_MAGIC, 4) == NULL);
  CHECK(strcmp(read_changed(71, 0, MS_FRAME_MAGIC, 4), "shorter than a header") == 0);
  CHECK(strcmp(read_changed(0, 0, MS_FRAME_MAGIC, 4), "shorter than a header") == 0);
  CHECK(strcmp(read_changed(80, 0, 7, 4), "not one of Meissa's") == 0);
  CHECK(strcmp(read_changed(80, 4, 2, 2), "of another protocol version") == 0);
  CHECK(strcmp(read_changed(80, 6, 0, 2), "of an unknown kind") == 0);
  CHECK(strcmp(read_changed(80, 6, MS_SAY_COUNT, 2), "of an unknown kind") == 0);
  CHECK(strcmp(read_changed(80, 6, 0xFFFF, 2), "of an unknown kind") == 0);
  CHECK(strcmp(read_changed(80, 6, MS_SAY_TASK, 2), "of a kind that does not travel this way") ==
        0);
  size_t size_at = offsetof(ms_frame, size);
  CHECK(strcmp(read_changed(80, size_at, 9, 8), "of another length than it says") == 0);
  CHECK(strcmp(read_changed(80, size_at, UINT64_MAX, 8), "of another length than it says") == 0);
  CHECK(strcmp(read_changed(80, 6, MS_SAY_ACK, 2), "of an impossible length") == 0);
}

static void check_noise(void) {
  unsigned char bytes[200];
  int accepted = 0, kinds = 0;
  srand(11);
  for (int round = 0; round < 200000; round++) {
    size_t size = (size_t)(rand() % (int)sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)rand();
    if (round % 2 == 0) { /* near misses get further */
      ms_frame frame = header((ms_frame_kind)(rand() % 16));
      frame.size = size < sizeof frame ? 0 : size - sizeof frame;
      memcpy(bytes, &frame, sizeof frame);
    }
    ms_frame got;
    const char *wrong = ms_frame_read(&got, bytes, size, (unsigned)rand() % 8);
    accepted += wrong == NULL;
    kinds += wrong == NULL && got.kind > MS_SAY_NONE && got.kind < MS_SAY_COUNT;
  }
  CHECK(accepted > 0 && accepted == kinds);
}

static void check_abi(void) {
  ms_error err = {0};
  CHECK(ms_frame_abi_check(MS_PROTOCOL, ms_frame_abi(), 0, &err) == 0 && err.code == MS_OK);
  CHECK(ms_frame_abi_check(9, ms_frame_abi(), 2, &err) != 0 &&
        strstr(err.message, "protocol 9") != NULL);
  CHECK(strstr(err.message, "worker 3") != NULL && strstr(err.message, "driver 1") != NULL);
  ms_error_clear(&err);
  CHECK(ms_frame_abi_check(MS_PROTOCOL, "other", 2, &err) != 0 &&
        strstr(err.message, "'other'") != NULL);
  CHECK(strstr(err.message, ms_frame_abi()) != NULL);
}

static int receive(void *socket, ms_frame *frame) {
  unsigned char bytes[256];
  int size = zmq_recv(socket, bytes, sizeof bytes, 0);
  return size < 0 || ms_frame_read(frame, bytes, (size_t)size, 7) != NULL;
}

static void check_link(void) {
  ms_error err = {0};
  void *context = ms_context_new(0, false, &err), *a = zmq_socket(context, ZMQ_PAIR);
  void *b = zmq_socket(context, ZMQ_PAIR);
  CHECK(zmq_bind(a, "inproc://link") == 0 && zmq_connect(b, "inproc://link") == 0);
  ms_link there = {.socket = a, .sender = 1}, here = {.socket = b, .sender = 2};
  ms_frame token = {.kind = MS_SAY_TOKEN}, got;
  for (uint32_t i = 0; i < MS_LINK_WINDOW; i++) {
    CHECK(ms_link_open(&there));
    CHECK(ms_link_send(&there, token, NULL, 0, &err) == 0);
  }
  CHECK(!ms_link_open(&there)); /* the window is full */
  for (uint32_t i = 0; i < MS_LINK_WINDOW; i++) {
    CHECK(receive(b, &got) == 0 && got.sequence == i && got.sender == 1);
    CHECK(ms_link_receive(&here, &got, true, &err) == 1);
  }
  CHECK(here.sent == 0); /* acknowledgements are not numbered */
  for (uint32_t i = 0; i < MS_LINK_WINDOW / MS_LINK_PERIOD; i++) {
    CHECK(receive(a, &got) == 0 && ms_link_receive(&there, &got, true, &err) == 0);
  }
  CHECK(ms_link_open(&there) && there.acknowledged == MS_LINK_WINDOW);
  got = (ms_frame){.kind = MS_SAY_ACK, .a = {UINT64_MAX}};
  CHECK(ms_link_receive(&there, &got, true, &err) == 0 && there.acknowledged == MS_LINK_WINDOW);
  got = header(MS_SAY_TOKEN);
  got.sequence = MS_LINK_WINDOW + 1; /* one is missing */
  CHECK(ms_link_receive(&here, &got, true, &err) == -1 && err.code == MS_NET);
  ms_error_clear(&err);
  got.sequence = MS_LINK_WINDOW - 1; /* one came twice */
  CHECK(ms_link_receive(&here, &got, true, &err) == -1 && err.code == MS_NET);
  zmq_close(a);
  zmq_close(b);
  zmq_ctx_term(context);
}

int main(void) {
  check_fields();
  check_noise();
  check_abi();
  check_link();
  return ms_test_end();
}
