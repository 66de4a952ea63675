/* SPDX-License-Identifier: MIT
 *
 * Worker: see worker.h. Its life, and how it waits. */
#include "worker/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/history.h"
#include "base/trace.h"
#include "net/channel.h"
#include "net/context.h"
#include "worker/exit_guard.h"
#include "worker/handover.h"
#include "worker/worker_job.h"
#include "worker/worker_receive.h"

#define SETUP_WAIT   10000   /* ms for the driver's first message */
#define SEGMENT_WAIT 5000    /* ms for a segment that a task names */
#define QUEUE_LIMIT  256     /* more than a link's window */
#define IDLE_SPIN    500000u /* ns of looking for the next job before sleeping */

/* Descriptors of a worker: its arrays' memory on its way, and objects that are loaded; and those of
 * each worker that it hands over to by messages: a socket, its connection, and the other way's. */
#define A_WORKER    4
#define A_NEIGHBOUR 3

uint32_t ms_worker_number(const ms_worker *worker) {
  return worker->setup.worker;
}

/* Checks the setup of `got` bytes, or tells the driver that we are another build. `page` is the
 * page's descriptor, -1: none came. */
static int check_setup(ms_worker *worker, long got, int page, ms_error *err) {
  ms_setup *setup = &worker->setup;
  setup->build.abi[MS_ABI_SIZE - 1] = '\0';
  if (got < (long)sizeof setup->build || setup->build.magic != MS_FRAME_MAGIC) {
    return ms_error_set(err, MS_WRK, "descriptor %d does not lead to a driver", worker->channel);
  }
  if (setup->build.protocol != MS_PROTOCOL || strcmp(setup->build.abi, ms_frame_abi()) != 0 ||
      got != (long)sizeof *setup) {
    ms_refusal ours = {.magic = MS_FRAME_MAGIC, .protocol = MS_PROTOCOL};
    snprintf(ours.abi, sizeof ours.abi, "%s", ms_frame_abi());
    ms_channel_send(worker->channel, &ours, sizeof ours, -1, SETUP_WAIT, NULL);
    if (ms_frame_abi_check(setup->build.protocol, setup->build.abi, setup->worker, err) != 0)
      return -1;
    return ms_error_set(err, MS_WRK, "worker %u runs another build of Meissa than the driver",
                        setup->worker + 1);
  }
  bool usable = setup->workers > 0 && setup->workers <= MS_MOST_WORKERS &&
                setup->worker < setup->workers && page >= 0;
  if (usable) worker->page = ms_status_page_map(setup->workers, page);
  if (worker->page == NULL) return ms_error_set(err, MS_WRK, "the driver sent no usable setup");
  ms_trace_join(&setup->trace, setup->worker);
  ms_history_join(&setup->history, setup->worker);
  worker->road = setup->shared && !setup->tcp ? &ms_worker_road_page : &ms_worker_road_frames;
  worker->may_spin = ms_spin_room(setup->workers);
  /* One core is the driver's, which launches small loops from the first workers on. */
  worker->may_spin_idle = !worker->road->by_frames && ms_spin_room(setup->worker + 2);
  return 0;
}

/* The lane comes right after the setup. */
static int take_lane(ms_worker *worker, ms_error *err) {
  ms_notice notice = {0};
  int lane = -1;
  worker->lane_room = malloc(MS_CHANNEL_LIMIT);
  if (worker->lane_room == NULL) return ms_error_memory(err, MS_WRK, "a worker");
  long got = ms_channel_receive(worker->channel, &notice, sizeof notice, &lane, SETUP_WAIT, err);
  if (got < 0) return -1;
  if (lane > 0) worker->lane = lane;
  if (got == (long)sizeof notice && notice.kind == MS_NOTICE_LANE && lane > 0) return 0;
  return ms_error_set(err, MS_WRK, "the driver sent no lane");
}

static int take_setup(ms_worker *worker, ms_error *err) {
  int page = -1;
  ms_setup *setup = &worker->setup;
  long got = ms_channel_receive(worker->channel, setup, sizeof *setup, &page, SETUP_WAIT, err);
  if (got < 0) return -1;
  if (got == 0) return ms_error_set(err, MS_WRK, "the driver is gone");
  int failed = check_setup(worker, got, page, err);
  if (page >= 0) close(page);
  return failed != 0 || worker->road->by_frames ? failed : take_lane(worker, err);
}

/* Where frames travel: binds the inbox, connects to the driver. The gatekeeper comes before the
 * first bind. */
static int open_sockets(ms_worker *worker, ms_hello *hello, ms_error *err) {
  const ms_setup *setup = &worker->setup;
  const ms_curve_keys *keys = setup->tcp ? &setup->keys : NULL;
  uint32_t descriptors = A_WORKER + A_NEIGHBOUR * (setup->workers - 1);
  worker->context = ms_context_new(descriptors, keys != NULL, err);
  if (worker->context == NULL) return -1;
  if (keys != NULL) {
    worker->zap = ms_zap_start(worker->context, keys, err);
    if (worker->zap == NULL) return -1;
  }
  char address[MS_ADDRESS_SIZE + 32];
  if (setup->tcp) {
    snprintf(address, sizeof address, "tcp://127.0.0.1:*");
  } else {
    snprintf(address, sizeof address, "ipc://%s/w%u.%u", setup->directory, setup->worker,
             setup->incarnation);
    ms_exit_guard_socket(address + strlen("ipc://"));
  }
  ms_socket_options inbox = {.keys = keys, .receive_limit = QUEUE_LIMIT};
  ms_socket_options dealer = {
      .keys = keys, .identity = setup->identity, .receive_limit = QUEUE_LIMIT};
  worker->inbox = ms_socket_bind(worker->context, &inbox, address, hello->address, err);
  if (worker->inbox == NULL) return -1;
  worker->dealer = ms_socket_connect(worker->context, &dealer, setup->address, err);
  return worker->dealer == NULL ? -1 : 0;
}

/* Opens what leads to the driver and to the other workers: where memory is shared, the lane alone,
 * without ZeroMQ. */
static int open_link(ms_worker *worker, ms_hello *hello, ms_error *err) {
  int failed = worker->road->by_frames ? open_sockets(worker, hello, err)
                                       : ms_context_descriptors(A_WORKER, err);
  worker->control = (ms_link){.socket = worker->dealer,
                              .lane = worker->lane,
                              .sender = worker->setup.worker,
                              .incarnation = worker->setup.incarnation,
                              .peer = MS_DRIVER};
  return failed;
}

ms_worker *ms_worker_connect(int channel, ms_error *err) {
  ms_worker *worker = calloc(1, sizeof *worker);
  if (worker == NULL) {
    ms_error_memory(err, MS_WRK, "a worker");
    return NULL;
  }
  worker->channel = channel;
  ms_hello hello = {0};
  snprintf(hello.abi, sizeof hello.abi, "%s", ms_frame_abi());
  if (fcntl(channel, F_SETFD, FD_CLOEXEC) != 0) {
    ms_error_set(err, MS_WRK, "descriptor %d does not lead to a driver", channel);
  } else if (take_setup(worker, err) == 0 &&
             ms_exit_guard_install(&worker->setup, channel, err) == 0 &&
             open_link(worker, &hello, err) == 0) {
    worker->neighbours = calloc(worker->setup.workers, sizeof *worker->neighbours);
    worker->neighbour_count = worker->setup.workers;
    ms_frame frame = {.kind = MS_SAY_HELLO, .a = {MS_PROTOCOL}};
    if (worker->neighbours == NULL) {
      ms_error_memory(err, MS_WRK, "a worker");
    } else if (ms_link_send(&worker->control, frame, &hello, sizeof hello, err) == 0) {
      ms_trace(MS_TRACE_WORKERS, "connected pid=%ld", (long)getpid());
      return worker;
    }
  }
  ms_worker_destroy(&worker);
  return NULL;
}

void ms_worker_destroy(ms_worker **worker) {
  ms_worker *gone = *worker;
  if (gone == NULL) return;
  ms_trace(MS_TRACE_WORKERS, "end pid=%ld", (long)getpid());
  ms_worker_road_close(gone);
  ms_exchange_close(gone);
  ms_context_shut(gone->context);
  ms_zap_join(&gone->zap);
  ms_socket_close(&gone->dealer);
  ms_socket_close(&gone->inbox);
  ms_context_end(&gone->context);
  ms_exit_guard_clean(ms_exit_guard_orphan() || (gone->gone && !gone->ended));
  ms_mapped_memory_release(&gone->mapped);
  ms_schedule_destroy(&gone->schedule);
  ms_block_checkpoint_free(&gone->job.checkpoint);
  ms_undo_free(&gone->job.undo);
  ms_arena_destroy(&gone->job.arena);
  ms_text_free(&gone->job.report);
  ms_text_free(&gone->incoming);
  ms_status_page_unmap(gone->page, gone->setup.workers);
  close(gone->channel);
  if (gone->lane > 0) close(gone->lane);
  free(gone->lane_room);
  free(gone->neighbours);
  free(gone);
  *worker = NULL;
}

/* Handles one message of the channel, waiting up to `timeout` ms for it. */
static int take_notice(ms_worker *worker, int timeout, ms_error *err) {
  ms_notice notice;
  int fd;
  long got = ms_channel_receive(worker->channel, &notice, sizeof notice, &fd, timeout, err);
  if (got < 0) return -1;
  if (got == 0) {
    worker->gone = true;
    return 0;
  }
  if (got == (long)sizeof notice && notice.kind == MS_NOTICE_SEGMENT) {
    return ms_mapped_memory_map(&worker->mapped, notice.id, notice.size, fd, err);
  }
  if (fd >= 0) close(fd);
  if (got == (long)sizeof notice && notice.kind == MS_NOTICE_GONE) {
    ms_mapped_memory_unmap(&worker->mapped, notice.id);
  }
  if (got == (long)sizeof notice && notice.kind == MS_NOTICE_END) {
    worker->gone = worker->ended = true;
  }
  return 0;
}

void *ms_worker_segment(ms_worker *worker, uint64_t id, uint64_t size, uint64_t place,
                        ms_error *err) {
  uint64_t deadline = worker->road->now() + (uint64_t)SEGMENT_WAIT * MS_MILLISECOND;
  for (;;) {
    unsigned char *base = ms_mapped_memory_segment(&worker->mapped, id, size);
    if (base != NULL) return base + place;
    if (worker->gone || worker->road->now() > deadline) {
      ms_error_set(err, MS_WRK, "shared memory that the loop uses did not arrive");
      return NULL;
    }
    if (take_notice(worker, SEGMENT_WAIT, err) != 0) return NULL;
  }
}

/* Handles the frames of the driver that are there. */
static int take_frames(ms_worker *worker, ms_error *err) {
  if (worker->lane > 0) {
    size_t size = ms_link_receive_lane(worker->lane, worker->lane_room);
    if (size == 0 && ms_channel_ended(worker->lane)) worker->gone = true;
    for (; size > 0; size = ms_link_receive_lane(worker->lane, worker->lane_room)) {
      if (ms_worker_receive(worker, worker->lane_room, size, err) != 0) return -1;
    }
    return 0;
  }
  for (;;) {
    ms_message message;
    int got = ms_socket_receive(worker->dealer, NULL, &message);
    if (got == 0) return 0;
    if (got < 0) continue;
    int failed =
        ms_worker_receive(worker, ms_message_data(&message), ms_message_size(&message), err);
    ms_message_close(&message);
    if (failed != 0) return -1;
  }
}

int ms_worker_wait(ms_worker *worker, bool tokens, int timeout, ms_error *err) {
  ms_poll_item operands[] = {
      {.socket = worker->dealer}, {.fd = worker->channel}, {.socket = worker->inbox}};
  if (worker->lane > 0) operands[0] = (ms_poll_item){.fd = worker->lane};
  if (ms_socket_poll(operands, tokens ? 3 : 2, timeout, err) < 0) return -1;
  if (operands[1].ready && take_notice(worker, 0, err) != 0) return -1;
  if (operands[0].ready && take_frames(worker, err) != 0) return -1;
  while (tokens && operands[2].ready) {
    int taken = ms_handover_take(worker, err);
    if (taken < 0) return -1;
    if (taken == 0) break;
  }
  return 0;
}

/* Looks for frames for a while: a driver loop's next job comes soon after the last one. */
static int look_for_task(ms_worker *worker, ms_error *err) {
  if (!worker->may_spin_idle || !ms_spin_worthwhile(&worker->idle_spin)) return 0;
  uint64_t end = worker->road->now() + IDLE_SPIN;
  while (!worker->job.open && !worker->gone && worker->road->now() < end) {
    if (ms_worker_wait(worker, false, 0, err) != 0) return -1;
  }
  ms_spin_learn(&worker->idle_spin, worker->job.open);
  return 0;
}

int ms_worker_rest(ms_worker *worker, int patience, ms_error *err) {
  const ms_worker_job *job = &worker->job;
  if (job->open || worker->gone) return 0;
  if (patience > 0 && look_for_task(worker, err) != 0) return -1;
  if (job->open || worker->gone) return 0;
  if (ms_worker_wait(worker, false, patience, err) != 0) return -1;
  return !job->open && !worker->gone;
}

/* Waits for frames: of a job, or what one that is open is to begin with. */
static int wait_for_task(ms_worker *worker, ms_error *err) {
  bool open = worker->job.open;
  if (!open && look_for_task(worker, err) != 0) return -1;
  if (worker->job.open != open || worker->gone) return 0;
  return worker->road->wait(worker, NULL, err);
}

/* Waits until a job is open and its data is there: 1; 0: the driver has ended. */
static int wait_for_job(ms_worker *worker, ms_error *err) {
  for (;;) {
    if (worker->gone) return 0;
    if (worker->job.open) {
      if (worker->data_due == 0 || worker->fed > 0) return 1;
      if (ms_worker_job_cancelled(worker) && ms_worker_job_end(worker, err) != 0) return -1;
    }
    if (wait_for_task(worker, err) != 0) return -1;
  }
}

int ms_worker_next(ms_worker *worker, ms_error *err) {
  ms_worker_job *job = &worker->job;
  if (job->open && job->taken) return ms_error_set(err, MS_BUG, "the last job is not over");
  ms_trace(MS_TRACE_WAITS, "begin for=job");
  int got = wait_for_job(worker, err);
  job->taken = got > 0;
  ms_trace(MS_TRACE_WAITS, "end for=job job=%llu",
           (unsigned long long)(got > 0 ? worker->job.number : 0));
  return got;
}
