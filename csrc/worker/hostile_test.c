/* SPDX-License-Identifier: MIT
 *
 * Hostile frames: a worker whose driver sends anything, a driver whose workers do, and strangers
 * at both doors. Nobody may crash, hang, or stop serving. MEISSA_TEST_SEED replays a run. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "base/test.h"
#include "driver/session.h"
#include "worker/fake_driver.h"
#include "worker/worker.h"

#define FRAMES 4000
#define ROUNDS 25

static uint64_t state;

static uint64_t pick(uint64_t most) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 20) % most;
}

/* A number that programs trip over. */
static uint64_t odd_number(void) {
  static const uint64_t odd[] = {
      0,         1, 2, 7, 8, 255, UINT32_MAX, (uint64_t)1 << 32, INT64_MAX, (uint64_t)INT64_MAX + 1,
      UINT64_MAX};
  return pick(3) == 0 ? pick(UINT32_MAX) : odd[pick(sizeof odd / sizeof odd[0])];
}

/* ---- the worker's side ---- */

static int end_block(ms_worker *worker, uint32_t block, ms_error *err) {
  return ms_worker_block_done(worker, &block, sizeof block, err);
}

static int serve(int channel) {
  const struct rlimit memory = {.rlim_cur = (rlim_t)1 << 30, .rlim_max = (rlim_t)1 << 30};
  /* A sanitizer reserves terabytes of addresses at its start. */
  if (!MS_UNDER_ASAN && !MS_UNDER_TSAN) setrlimit(RLIMIT_AS, &memory);
  return serve_blocks(channel, end_block);
}

/* With lanes the worker has no segments: then a task without memory. */
static void write_task(ms_text *text, int lanes) {
  static const ms_owner owner[] = {{0, MS_WHOLE}, {0, MS_WHOLE}};
  static const int64_t start[] = {1, 3, 5};
  ms_operand operands[2] = {
      {.id = 1,
       .movement = MS_MOVE_LOCAL,
       .written = 1,
       .element = 8,
       .dim_count = 2,
       .scale = 1,
       .dims = {4, 3},
       .strides = {3, 1}},
      {.id = 2,
       .movement = MS_MOVE_SCATTERED,
       .written = 1,
       .element = 4,
       .dim_count = 1,
       .dims = {5},
       .strides = {1}},
  };
  ms_task task = {.grid = {.strategy = MS_PARTITION, .count = 1, .ranges = {2}},
                  .workers = 1,
                  .range_owner = owner,
                  .operand_count = lanes ? 0 : 2,
                  .operands = operands,
                  .bounds = {.start = {start}},
                  .key = "k",
                  .key_size = 1,
                  .run = "run",
                  .run_size = 3,
                  .kernel = "kernel",
                  .kernel_size = 6};
  text->length = 0;
  ms_task_write(&task, text);
}

/* Bytes that are no ZMTP at all, to a local socket. */
static void knock(const char *address) {
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || strncmp(address, "ipc://", 6) != 0) return;
  snprintf(place.sun_path, sizeof place.sun_path, "%s", address + 6);
  if (connect(fd, (struct sockaddr *)&place, sizeof place) == 0) {
    unsigned char noise[512];
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (unsigned char)pick(256);
    if (pick(2) == 0) noise[0] = 0xFF; /* how a greeting begins */
    if (send(fd, noise, sizeof noise, MSG_NOSIGNAL) < 0) errno = 0;
  }
  close(fd);
}

/* Somebody who is not of the session: noise, and frames that look right. */
static void visit(void *context, const char *address) {
  ms_error err = {0};
  ms_socket_options options = {.receive_limit = 8};
  void *dealer = ms_socket_connect(context, &options, address, &err);
  if (dealer == NULL) return;
  for (int i = 0; i < 50; i++) {
    ms_frame frame = {.magic = MS_FRAME_MAGIC,
                      .version = MS_PROTOCOL,
                      .kind = (uint16_t)(1 + pick(MS_SAY_COUNT)),
                      .incarnation = 1,
                      .sender = (uint32_t)pick(3),
                      .job = pick(3),
                      .size = pick(2) == 0 ? 0 : odd_number()};
    zmq_send(dealer, &frame, sizeof frame - pick(2) * pick(72), (int)pick(2) * ZMQ_SNDMORE);
  }
  zmq_send(dealer, "", 0, 0);
  knock(address);
  usleep(20000);
  ms_socket_close(&dealer);
}

static void send_mutant(bench *b, ms_text *task, uint64_t job) {
  ms_error err = {0};
  char payload[512];
  ms_frame frame = {.kind = (uint16_t)pick(MS_SAY_COUNT + 2), .job = pick(4) == 0 ? 0 : job};
  for (int i = 0; i < 4; i++) frame.a[i] = pick(2) == 0 ? pick(8) : odd_number();
  size_t size = pick(4) == 0 ? 0 : pick(sizeof payload);
  for (size_t i = 0; i < size; i++) payload[i] = (char)pick(256);
  switch (pick(6)) {
    case 0: /* a task with some bytes changed, or cut short */
      write_task(task, b->lane);
      for (uint64_t n = pick(4); n > 0; n--) {
        uint64_t odd = odd_number(), at = pick(task->length - sizeof odd);
        memcpy(task->bytes + at, &odd, 1 + pick(sizeof odd));
      }
      frame.kind = MS_SAY_TASK;
      frame.job = job;
      frame.a[0] = task->length - (pick(4) == 0 ? pick(task->length) : 0);
      frame.a[1] = 0;
      frame.a[2] = pick(3);
      ms_link_send(&b->link, frame, task->bytes, (size_t)frame.a[0], &err);
      return;
    case 1: /* too many parts */
      if (b->lane > 0 && send(b->lane, payload, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) errno = 0;
      if (b->lane > 0) return;
      zmq_send(b->router, b->setup.identity, strlen(b->setup.identity), ZMQ_SNDMORE);
      zmq_send(b->router, payload, size, ZMQ_SNDMORE);
      zmq_send(b->router, payload, size, 0);
      return;
    case 2: /* noise */
      if (b->lane > 0 && send(b->lane, payload, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) errno = 0;
      if (b->lane > 0) return;
      zmq_send(b->router, b->setup.identity, strlen(b->setup.identity), ZMQ_SNDMORE);
      zmq_send(b->router, payload, size, 0);
      return;
    default: /* accepted by its header: numbered as the next one where it counts */
      if (frame.kind == 0 || frame.kind >= MS_SAY_COUNT) frame.kind = MS_SAY_DATA;
      if (frame.kind == MS_SAY_TOKEN || frame.kind == MS_SAY_ACK) size = 0;
      if (frame.kind == MS_SAY_CANCEL || frame.kind == MS_SAY_FORGET) size = 0;
      if (frame.kind == MS_SAY_DATA || frame.kind == MS_SAY_PEERS || frame.kind == MS_SAY_TASK ||
          frame.kind == MS_SAY_LIST || frame.kind == MS_SAY_VALUES) {
        if (size == 0) size = 8;
      } else if (frame.kind != MS_SAY_CANCEL && frame.kind != MS_SAY_FORGET) {
        uint64_t sent = b->link.sent; /* refused before it is counted */
        ms_link_send(&b->link, frame, payload, size, &err);
        b->link.sent = sent;
        return;
      }
      ms_link_send(&b->link, frame, payload, size, &err);
  }
}

/* The worker still does a job as it should: DONE with two results. */
static int still_serves(bench *b, uint64_t job) {
  ms_text task = {0};
  ms_error err = {0};
  write_task(&task, b->lane);
  ms_frame frame = {.kind = MS_SAY_TASK, .job = job, .a = {task.length, 0, 0}};
  ms_link_send(&b->link, frame, task.bytes, task.length, &err);
  ms_text_free(&task);
  static char payload[MS_FRAME_PAYLOAD];
  ms_frame got;
  while (receive(b, &got, payload, sizeof payload, 5000)) {
    if (got.kind == MS_SAY_DONE && got.job == job) return got.a[3] == 2 && got.size == 40;
  }
  return 0;
}

static void attack_worker(int lanes) {
  bench b;
  ms_text task = {0};
  ms_error err = {0};
  if (!set_up(&b, 1, lanes, serve)) return;
  CHECK(still_serves(&b, 1));
  static char payload[MS_FRAME_PAYLOAD];
  ms_frame got;
  uint64_t frames = lanes ? FRAMES / 8 : FRAMES; /* a worker that waits for a block looks rarely */
  for (uint64_t i = 0; i < frames; i++) {
    send_mutant(&b, &task, 2 + i);
    if (i % 500 == 0 && !lanes) visit(b.context, b.hello.address);
    ms_frame cancel = {.kind = MS_SAY_CANCEL, .job = 2 + i};
    ms_link_send(&b.link, cancel, NULL, 0, &err);
    while (receive(&b, &got, payload, sizeof payload, i % 16 == 0 ? 1 : 0)) continue;
  }
  /* A driver sends no task before the last job's DONE; a worker waits 5 s for a segment. */
  while (receive(&b, &got, payload, sizeof payload, 7000)) continue;
  CHECK(still_serves(&b, FRAMES + 10));
  ms_notice garbage = {.kind = 99};
  ms_notice empty = {.kind = MS_NOTICE_GONE, .id = 5};
  CHECK(ms_channel_send(b.channel, &garbage, 3, -1, 1000, &err) == 0);
  CHECK(ms_channel_send(b.channel, &garbage, sizeof garbage, b.channel, 1000, &err) == 0);
  CHECK(ms_channel_send(b.channel, &empty, sizeof empty, -1, 1000, &err) == 0);
  CHECK(still_serves(&b, FRAMES + 11));
  tear_down(&b);
  ms_text_free(&task);
}

/* ---- the driver's side ---- */

/* A worker that says hello and then anything, until it ends. */
static int be_hostile(void) {
  ms_setup setup;
  ms_notice notice;
  ms_error err = {0};
  int page, lane = 0;
  if (ms_channel_receive(MS_CHANNEL_FD, &setup, sizeof setup, &page, 5000, &err) <= 0) return 1;
  if (setup.shared &&
      ms_channel_receive(MS_CHANNEL_FD, &notice, sizeof notice, &lane, 5000, &err) <= 0) {
    return 1;
  }
  state = (uint64_t)getpid() * 7919;
  ms_socket_options options = {.identity = setup.identity, .receive_limit = 0};
  void *dealer =
      lane > 0 ? NULL
               : ms_socket_connect(ms_context_new(0, false, &err), &options, setup.address, &err);
  ms_link link = {
      .socket = dealer, .lane = lane, .sender = setup.worker, .incarnation = setup.incarnation};
  ms_hello hello = {.address = "ipc:///nowhere"};
  snprintf(hello.abi, sizeof hello.abi, "%s", ms_frame_abi());
  ms_frame frame = {.kind = MS_SAY_HELLO, .a = {MS_PROTOCOL}};
  ms_link_send(&link, frame, &hello, sizeof hello, &err);
  char task[4096];
  uint64_t job = 0;
  while (job == 0) { /* PEERS, then TASK: its header tells the job */
    int size =
        lane > 0 ? (int)recv(lane, task, sizeof task, 0) : zmq_recv(dealer, task, sizeof task, 0);
    if (size < (int)sizeof frame) return 1;
    memcpy(&frame, task, sizeof frame);
    if (frame.kind == MS_SAY_TASK) job = frame.job;
  }
  for (uint64_t n = pick(60); n > 0; n--) {
    char payload[256];
    size_t size = pick(sizeof payload);
    for (size_t i = 0; i < size; i++) payload[i] = (char)(pick(3) == 0 ? pick(256) : 0);
    frame = (ms_frame){.kind = (uint16_t)(1 + pick(MS_SAY_COUNT)), .job = job - pick(20) / 19};
    for (int i = 0; i < 4; i++) frame.a[i] = pick(2) == 0 ? pick(8) : odd_number();
    if (frame.kind == MS_SAY_DONE && pick(4) != 0) frame.kind = MS_SAY_RUNS;
    if (frame.kind == MS_SAY_FAILED && pick(4) != 0) frame.kind = MS_SAY_DATA;
    if (pick(12) == 0 && lane > 0) {
      if (send(lane, payload, size, MSG_NOSIGNAL) < 0) return 1;
      continue;
    }
    if (pick(60) == 0 && lane > 0) { /* it lives on, but nobody hears of it */
      close(lane);
      usleep(2000000);
      return 1;
    }
    if (pick(12) == 0 && lane == 0) {
      zmq_send(dealer, payload, size, pick(2) == 0 ? ZMQ_SNDMORE : 0);
      continue;
    }
    if (frame.kind == MS_SAY_DATA && size == 0) size = 8;
    uint64_t sent = link.sent;
    ms_link_send(&link, frame, payload, size, &err);
    bool counted = frame.kind == MS_SAY_DATA || frame.kind == MS_SAY_DONE ||
                   frame.kind == MS_SAY_FAILED || (frame.kind == MS_SAY_REPORT && size > 0) ||
                   (frame.kind == MS_SAY_RUNS && size > 16);
    if (!counted) link.sent = sent;
  }
  usleep(3000); /* let what was said arrive */
  _exit((int)pick(2));
}

static void attack_driver(const char *program, bool lanes) {
  double before[14];
  int failures = 0, successes = 0;
  ms_segment_block memory;
  ms_error none = {0};
  CHECK(ms_segment_block_take(&memory, sizeof before, &none) == 0);
  double *values = ms_segment_block_at(&memory);
  for (int i = 0; i < 14; i++) before[i] = i;
  for (int round = 0; round < ROUNDS; round++) {
    const char *command[] = {program, "--hostile", NULL};
    ms_session_config config = {.workers = 2, .shared = lanes, .command = command};
    ms_error err = {0};
    ms_session *session = ms_session_start(&config, &err);
    CHECK(session != NULL);
    if (session == NULL) return;
    if (round % 8 == 0 && !lanes) {
      void *context = ms_context_new(0, false, &err);
      visit(context, ms_session_address(session));
      ms_context_end(&context);
    }
    memcpy(values, before, 12 * sizeof *values);
    static const int64_t start[] = {1, 3, 5};
    ms_job_operand operand = {.operand = {.id = 1,
                                          .movement = MS_MOVE_LOCAL,
                                          .written = 1,
                                          .element = 8,
                                          .dim_count = 2,
                                          .scale = 1,
                                          .dims = {4, 3},
                                          .strides = {3, 1}},
                              .data = (unsigned char *)values,
                              .segment = memory.segment};
    ms_job job = {.key = "k",
                  .key_size = 1,
                  .kernel = "x",
                  .kernel_size = 1,
                  .grid = {.strategy = MS_PARTITION, .count = 1, .ranges = {2}},
                  .bounds = {.start = {start}},
                  .operands = &operand,
                  .operand_count = 1};
    ms_outcome outcome;
    if (ms_session_run(session, &job, &outcome, &err) == 0) {
      successes++;
    } else {
      failures++;
      CHECK(err.code != MS_OK && err.message[0] != '\0');
    }
    ms_outcome_free(&outcome);
    ms_session_stop(&session);
    CHECK(session == NULL);
  }
  ms_segment_block_release(&memory);
  CHECK(failures > 0);
  printf("driver under attack: %d jobs failed, %d passed\n", failures, successes);
}

int main(int argc, char **argv) {
  ms_test_limit(100);
  if (argc > 1 && strcmp(argv[1], "--hostile") == 0) return be_hostile();
  const char *seed = getenv("MEISSA_TEST_SEED");
  state = seed != NULL ? strtoull(seed, NULL, 10) : 77;
  printf("MEISSA_TEST_SEED=%llu\n", (unsigned long long)state);
  for (int lanes = 0; lanes < 2; lanes++) {
    attack_worker(lanes);
    attack_driver("/proc/self/exe", lanes == 1);
  }
  return ms_test_end();
}
