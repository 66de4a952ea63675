/* SPDX-License-Identifier: MIT
 *
 * Roads between workers: see worker_road.h. */
#include "worker/worker_road.h"

#include <string.h>

#include "base/clock.h"
#include "worker/core_affinity.h"
#include "worker/posting.h"
#include "worker/worker_job.h"

#define SLEEP 100 /* ms between looks at the lane while the bell is silent */

/* How long to wait for what the driver says: its page is looked at now and then. */
static int driver_wait(const ms_worker *worker) {
  return worker->job.open ? MS_HANDOVER_WAIT : -1;
}

/* ---- the page, which all workers of this host have ---- */

static void page_publish(void *end, uint32_t number, ms_status which, uint64_t value) {
  ms_worker *worker = end;
  ms_status_page_publish(&worker->page[number], which, value);
}

static uint64_t page_status(const void *end, uint32_t number, ms_status which) {
  const ms_worker *worker = end;
  return ms_status_page_status(&worker->page[number], which);
}

static char *page_shelf(const void *end, uint32_t number) {
  const ms_worker *worker = end;
  return ms_status_page_shelf(worker->page, worker->setup.workers, number);
}

static void page_settle(void *end) {
  ms_worker *worker = end;
  ms_core_affinity_spread(worker->page, worker->schedule->workers, worker->setup.worker,
                          worker->job.number, &worker->moves);
}

/* ---- shared memory ---- */

static ms_link *no_link(void *end, uint32_t number, ms_error *err) {
  (void)end;
  ms_error_set(err, MS_BUG, "worker %u sees what is in memory", number + 1);
  return NULL;
}

static int take_nothing(void *end, ms_letter *letter, ms_error *err) {
  (void)end, (void)letter, (void)err;
  return 0;
}

/* Whether what is waited for has come. */
static bool has_come(const ms_worker *worker, const ms_awaited *what) {
  if (what->posts) return ms_posting_changed(worker, what->count);
  ms_status which = what->meeting ? MS_STATUS_MEETING : MS_STATUS_PROGRESS;
  uint64_t status = ms_status_page_status(&worker->page[what->worker], which);
  return what->count <= ms_status_value(status, worker->job.number, 0);
}

/* ms until `what` need not be waited for any more, at most `most`. */
static int wait_of(const ms_awaited *what, int most) {
  if (what->until == 0) return most;
  uint64_t now = ms_clock_now();
  uint64_t left = what->until > now ? (what->until - now) / MS_MILLISECOND + 1 : 0;
  return left < (uint64_t)most ? (int)left : most;
}

/* Sleeps until the bell rings or the driver is to be looked at. */
static int page_wait(void *end, const ms_awaited *what, ms_error *err) {
  ms_worker *worker = end;
  if (what == NULL) return ms_worker_wait(worker, false, driver_wait(worker), err);
  ms_status_page *own = &worker->page[worker->setup.worker];
  uint32_t heard = ms_status_page_listen(own);
  bool come = has_come(worker, what);
  if (!come && !ms_worker_job_cancelled(worker)) {
    ms_status_page_sleep(own, heard, wait_of(what, SLEEP));
    come = has_come(worker, what);
  }
  ms_status_page_wake(own);
  return come ? 0 : ms_worker_wait(worker, false, 0, err);
}

static void page_wake(void *end, uint32_t number) {
  ms_worker *worker = end;
  ms_status_page_ring(&worker->page[number]);
}

const ms_road ms_worker_road_page = {.send = no_link,
                                     .take = take_nothing,
                                     .publish = page_publish,
                                     .status = page_status,
                                     .shelf = page_shelf,
                                     .wait = page_wait,
                                     .wake = page_wake,
                                     .now = ms_clock_now,
                                     .settle = page_settle};

/* ---- frames ---- */

/* The neighbour with this routing id, NULL for a stranger. */
static ms_neighbour *find(ms_worker *worker, const char *identity) {
  for (uint32_t i = 0; i < worker->neighbour_count; i++) {
    const char *known = worker->neighbours[i].peer.identity;
    if (known[0] != '\0' && strcmp(known, identity) == 0) return &worker->neighbours[i];
  }
  return NULL;
}

static ms_link *frames_send(void *end, uint32_t number, ms_error *err) {
  ms_worker *worker = end;
  ms_neighbour *to = &worker->neighbours[number];
  if (to->socket != NULL) return &to->out;
  ms_socket_options options = {.keys = worker->setup.tcp ? &worker->setup.keys : NULL,
                               .identity = worker->setup.identity,
                               .receive_limit = 1};
  to->socket = ms_socket_connect(worker->context, &options, to->peer.address, err);
  if (to->socket == NULL) return NULL;
  to->out = (ms_link){.socket = to->socket,
                      .sender = worker->setup.worker,
                      .incarnation = worker->setup.incarnation,
                      .peer = number};
  return &to->out;
}

/* Whether a message is a frame that its sender may send; then its number counts. -1: some are
 * missing. */
static int accept(ms_worker *worker, ms_neighbour *from, ms_letter *letter, ms_error *err) {
  const char *bytes = ms_message_data(&letter->message);
  size_t size = ms_message_size(&letter->message);
  ms_frame *frame = &letter->frame;
  if (from == NULL || ms_frame_read(frame, bytes, size, MS_TO_PEER) != NULL) return 0;
  letter->from = (uint32_t)(from - worker->neighbours);
  letter->payload = bytes + sizeof *frame;
  if (frame->sender != letter->from || frame->incarnation != from->peer.incarnation) return 0;
  from->in.peer = letter->from;
  return ms_link_receive(&from->in, frame, false, err);
}

static int frames_take(void *end, ms_letter *letter, ms_error *err) {
  ms_worker *worker = end;
  char identity[MS_IDENTITY_SIZE];
  for (;;) {
    int got = ms_socket_receive(worker->inbox, identity, &letter->message);
    if (got == 0) return 0;
    if (got < 0) continue;
    letter->held = true;
    letter->ended = false;
    int accepted = accept(worker, find(worker, identity), letter, err);
    if (accepted > 0) return 1;
    ms_letter_close(letter);
    if (accepted < 0) return -1;
  }
}

static int frames_wait(void *end, const ms_awaited *what, ms_error *err) {
  if (what == NULL) return ms_worker_wait(end, false, driver_wait(end), err);
  return ms_worker_wait(end, true, wait_of(what, MS_HANDOVER_WAIT), err);
}

static void wake_nobody(void *end, uint32_t number) {
  (void)end, (void)number; /* a frame wakes */
}

const ms_road ms_worker_road_frames = {.by_frames = true,
                                       .send = frames_send,
                                       .take = frames_take,
                                       .publish = page_publish,
                                       .status = page_status,
                                       .shelf = page_shelf,
                                       .wait = frames_wait,
                                       .wake = wake_nobody,
                                       .now = ms_clock_now,
                                       .settle = page_settle};

void ms_worker_road_meet(ms_worker *worker, const char *peers, size_t size) {
  if (size != worker->neighbour_count * sizeof(ms_peer)) return;
  for (uint32_t i = 0; i < worker->neighbour_count; i++) {
    ms_neighbour *neighbour = &worker->neighbours[i];
    ms_peer peer;
    memcpy(&peer, peers + i * sizeof peer, sizeof peer);
    peer.identity[MS_IDENTITY_SIZE - 1] = peer.address[MS_ADDRESS_SIZE - 1] = '\0';
    if (strcmp(peer.identity, neighbour->peer.identity) == 0) continue;
    ms_socket_close(&neighbour->socket);
    *neighbour = (ms_neighbour){.peer = peer};
  }
}

void ms_worker_road_close(ms_worker *worker) {
  for (uint32_t i = 0; worker->neighbours != NULL && i < worker->neighbour_count; i++)
    ms_socket_close(&worker->neighbours[i].socket);
}
