/* SPDX-License-Identifier: MIT
 *
 * A driver that tests play themselves, frame by frame, against a real worker in a forked process.
 * For *_test.c files, after base/test.h. */
#ifndef MS_WORKER_FAKE_DRIVER_H
#define MS_WORKER_FAKE_DRIVER_H

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/test.h"
#include "job/setup.h"
#include "job/status_page.h"
#include "net/channel.h"
#include "net/context.h"
#include "net/link.h"
#include "worker/worker.h"

/* A driver without a session, its worker 0, and what they have said. */
typedef struct bench {
  void *context, *router;
  ms_directory directory;
  char address[MS_ADDRESS_SIZE];
  ms_setup setup;
  ms_hello hello;
  ms_link link;
  int channel;
  int lane; /* of a session with lanes, else 0 */
  pid_t worker;
} bench;

/* Waits up to `wait` ms for the worker's next frame; 0 when none comes. Payloads that do not fit
 * `room` are left out. */
static inline int receive_from_lane(bench *b, ms_frame *frame, char *payload, size_t room,
                                    int wait) {
  static char bytes[MS_CHANNEL_LIMIT];
  struct pollfd operand = {.fd = b->lane, .events = POLLIN};
  while (poll(&operand, 1, wait) > 0) {
    size_t size = ms_link_receive_lane(b->lane, bytes);
    if (size == 0) return 0;
    int good = ms_frame_read(frame, bytes, size, MS_TO_DRIVER) == NULL;
    if (good && frame->size <= room) memcpy(payload, bytes + sizeof *frame, (size_t)frame->size);
    ms_error err = {0};
    if (good && ms_link_receive(&b->link, frame, true, &err) == 1) return 1;
  }
  return 0;
}

static inline int receive(bench *b, ms_frame *frame, char *payload, size_t room, int wait) {
  if (b->link.lane > 0) return receive_from_lane(b, frame, payload, room, wait);
  ms_poll_item operand = {.socket = b->router};
  ms_message message;
  char from[MS_IDENTITY_SIZE];
  while (ms_socket_poll(&operand, 1, wait, NULL) > 0) {
    if (ms_socket_receive(b->router, from, &message) <= 0) continue;
    const char *bytes = ms_message_data(&message);
    int good = ms_frame_read(frame, bytes, ms_message_size(&message), MS_TO_DRIVER) == NULL;
    if (good && frame->size <= room) memcpy(payload, bytes + sizeof *frame, (size_t)frame->size);
    ms_message_close(&message);
    ms_error err = {0};
    if (good && ms_link_receive(&b->link, frame, true, &err) == 1) return 1;
  }
  return 0;
}

/* The other end of a lane follows the setup. */
static inline void give_lane(bench *b) {
  int ends[2];
  ms_error err = {0};
  ms_notice notice = {.kind = MS_NOTICE_LANE};
  CHECK(ms_channel_pair(ends, &err) == 0);
  CHECK(ms_channel_send(b->channel, &notice, sizeof notice, ends[1], 1000, &err) == 0);
  close(ends[1]);
  b->lane = ends[0];
}

/* What a worker process does, without Lua: `run` ends each block by ms_worker_block_done, or not:
 * -1. The process's exit status. */
static inline int serve_blocks(int channel,
                               int (*run)(ms_worker *worker, uint32_t block, ms_error *err)) {
  ms_error err = {0};
  ms_worker *worker = ms_worker_connect(channel, &err);
  if (worker == NULL) return 2;
  int got;
  while ((got = ms_worker_next(worker, &err)) > 0) {
    uint32_t block;
    while ((got = ms_worker_next_block(worker, &block, &err)) > 0) {
      if (run(worker, block, &err) != 0) return 3;
    }
    if (got < 0) return 4;
  }
  ms_worker_destroy(&worker);
  if (got < 0) fprintf(stderr, "worker: %s\n", err.message);
  return got == 0 ? 0 : 5;
}

static inline void bind_router(bench *b) {
  ms_error err = {0};
  char address[MS_ADDRESS_SIZE + 16];
  snprintf(address, sizeof address, "ipc://%s/driver", b->directory.path);
  ms_socket_options options = {.receive_limit = 0};
  b->context = ms_context_new(0, false, &err);
  b->router = ms_socket_bind(b->context, &options, address, b->address, &err);
  CHECK(b->router != NULL);
}

/* Forks a process in which `serve` is a worker of a session of `workers`, and waits for its hello.
 * With `lanes` the session is one on one host.
 * To be called before this process has a ZeroMQ context. */
static inline int set_up(bench *b, uint32_t workers, int lanes, int (*serve)(int channel)) {
  int ends[2];
  ms_error err = {0};
  memset(b, 0, sizeof *b);
  CHECK(ms_channel_pair(ends, &err) == 0 && ms_directory_make(&b->directory, &err) == 0);
  pid_t driver = getpid();
  b->worker = fork(); /* before this process has a context */
  if (b->worker == 0) {
    ms_test_limit(100);
    close(ends[0]);
    _exit(serve(ends[1]));
  }
  close(ends[1]);
  b->channel = ends[0];
  if (!lanes) bind_router(b);
  ms_setup *setup = &b->setup;
  *setup = (ms_setup){.build = {.magic = MS_FRAME_MAGIC, .protocol = MS_PROTOCOL},
                      .workers = workers,
                      .incarnation = 1,
                      .shared = lanes != 0,
                      .parent = (uint32_t)driver,
                      .identity = "0123456789abcdef"};
  snprintf(setup->build.abi, sizeof setup->build.abi, "%s", ms_frame_abi());
  snprintf(setup->address, sizeof setup->address, "%s", b->address);
  snprintf(setup->directory, sizeof setup->directory, "%s", b->directory.path);
  FILE *page = tmpfile();
  CHECK(page != NULL && ftruncate(fileno(page), (off_t)ms_status_page_size(workers)) == 0);
  CHECK(ms_channel_send(b->channel, setup, sizeof *setup, fileno(page), 1000, &err) == 0);
  fclose(page);
  if (lanes) give_lane(b);
  b->link = (ms_link){.socket = b->router,
                      .lane = b->lane,
                      .to = setup->identity,
                      .sender = MS_DRIVER,
                      .incarnation = 1};
  ms_frame frame;
  int hello =
      receive(b, &frame, (char *)&b->hello, sizeof b->hello, 10000) && frame.kind == MS_SAY_HELLO;
  CHECK(hello);
  return hello;
}

/* Tells the worker that the session ends, and waits for its good end. */
static inline void tear_down(bench *b) {
  ms_error err = {0};
  ms_notice end = {.kind = MS_NOTICE_END};
  CHECK(ms_channel_send(b->channel, &end, sizeof end, -1, 1000, &err) == 0);
  int status = -1;
  CHECK(waitpid(b->worker, &status, 0) == b->worker);
  close(b->channel);
  if (b->lane > 0) close(b->lane);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ms_socket_close(&b->router);
  ms_context_end(&b->context);
  ms_directory_remove(&b->directory);
}

#endif
