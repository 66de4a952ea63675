/* SPDX-License-Identifier: MIT
 *
 * One worker process as its session holds it: spawn, hello, what it has been given, its end. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trace.h"
#include "driver/session_state.h"
#include "net/channel.h"

#define KERNELS_KEPT ((size_t)8 << 20) /* bytes, by a worker */
#define CHANNEL_WAIT 5000              /* ms for an idle worker to take a message */
#define KILL_WAIT    1000              /* ms for a killed process to end */

static void fill_setup(const ms_session *session, const ms_worker_handle *member, ms_setup *setup) {
  *setup = (ms_setup){.build = {.magic = MS_FRAME_MAGIC, .protocol = MS_PROTOCOL},
                      .worker = member->number,
                      .workers = session->config.workers,
                      .incarnation = member->incarnation,
                      .shared = session->config.shared,
                      .tcp = session->config.tcp,
                      .parent = (uint32_t)getpid(),
                      .trace = ms_trace_share(),
                      .keys = session->keys};
  snprintf(setup->build.abi, sizeof setup->build.abi, "%s", ms_abi());
  snprintf(setup->identity, sizeof setup->identity, "%s", member->peer.identity);
  snprintf(setup->address, sizeof setup->address, "%s", session->address);
  snprintf(setup->directory, sizeof setup->directory, "%s", session->directory.path);
}

int ms_worker_handle_stillborn(const ms_session *session, const ms_worker_handle *member,
                               ms_error *err) {
  char how[128] = "";
  ms_child_describe(&member->child, how, sizeof how);
  return ms_error_set(err, MS_WRK,
                      "worker %u (pid %ld) %s before it was ready; its command was: %s",
                      member->number + 1, member->pid, how, session->command[0]);
}

/* Makes the lane; its other end follows the setup. */
static int give_lane(ms_worker_handle *member, ms_error *err) {
  int ends[2];
  ms_notice notice = {.kind = MS_NOTICE_LANE};
  if (ms_channel_pair(ends, err) != 0) return -1;
  member->lane = ends[0];
  int failed = ms_channel_send(member->channel, &notice, sizeof notice, ends[1], 0, err);
  close(ends[1]);
  return failed;
}

/* Starts the process with its setup waiting in the channel: however soon driver or worker die,
 * neither has missed it. */
static int launch(const ms_session *session, ms_worker_handle *member, int theirs, ms_error *err) {
  ms_setup setup;
  fill_setup(session, member, &setup);
  int failed = ms_channel_send(member->channel, &setup, sizeof setup, session->page_fd, 0, err);
  explicit_bzero(&setup, sizeof setup);
  if (failed != 0 || (ms_session_has_lanes(session) && give_lane(member, err) != 0)) return -1;
  const char *const *command = (const char *const *)session->command;
  if (ms_child_spawn(&member->child, command, theirs, err) != 0) return -1;
  ms_trace(MS_TRACE_WORKERS, "start worker=%u pid=%ld", member->number + 1,
           (long)member->child.pid);
  return 0;
}

static int start(ms_session *session, ms_worker_handle *member, ms_error *err) {
  int ends[2];
  if (ms_channel_pair(ends, err) != 0) return -1;
  ms_status_page_clear(&session->page[member->number]);
  member->channel = ends[0];
  int failed = launch(session, member, ends[1], err);
  member->pid = member->child.pid;
  close(ends[1]);
  member->link = (ms_link){.socket = session->router,
                           .lane = member->lane,
                           .to = member->peer.identity,
                           .peer = member->number,
                           .sender = MS_DRIVER,
                           .incarnation = member->incarnation};
  return failed;
}

static int share(ms_worker_handle *member, const ms_segment *segment, ms_error *err) {
  ms_notice notice = {.kind = MS_NOTICE_SEGMENT, .id = segment->id, .size = segment->size};
  return ms_channel_send(member->channel, &notice, sizeof notice, segment->fd, CHANNEL_WAIT, err);
}

static bool is_gone(const ms_worker_handle *member) {
  return ms_channel_ended(member->channel);
}

static bool has_ended(ms_worker_handle *member, int patience) {
  return ms_child_wait(&member->child, patience);
}

static void end(ms_worker_handle *member) {
  ms_child_signal(&member->child, SIGKILL);
  if (member->channel >= 0) close(member->channel);
  if (member->lane > 0) close(member->lane);
  member->channel = -1;
  member->lane = 0;
  ms_child_wait(&member->child, KILL_WAIT);
  ms_trace(MS_TRACE_WORKERS, "bury worker=%u pid=%ld", member->number + 1, member->pid);
  if (strncmp(member->peer.address, "ipc://", 6) == 0) unlink(member->peer.address + 6);
}

const ms_processes ms_worker_processes = {
    .start = start, .share = share, .gone = is_gone, .ended = has_ended, .end = end};

int ms_worker_handle_spawn(ms_session *session, ms_worker_handle *member, ms_error *err) {
  member->incarnation++;
  member->up = member->informed = false;
  member->part = MS_PART_NONE;
  memset(&member->peer, 0, sizeof member->peer);
  member->peer.incarnation = member->incarnation;
  if (ms_identity_make(member->peer.identity, err) != 0) return -1;
  int failed = session->processes->start(session, member, err);
  if (failed != 0) ms_worker_handle_bury(session, member);
  return failed;
}

int ms_worker_handle_hello(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                           const char *payload, ms_error *err) {
  ms_hello hello;
  if (frame->size != sizeof hello) {
    return ms_error_set(err, MS_WRK, "worker %u says hello in another form", member->number + 1);
  }
  memcpy(&hello, payload, sizeof hello);
  hello.abi[sizeof hello.abi - 1] = hello.address[sizeof hello.address - 1] = '\0';
  if (ms_abi_check(frame->a[0], hello.abi, member->number, err) != 0) return -1;
  snprintf(member->peer.address, sizeof member->peer.address, "%s", hello.address);
  member->up = true;
  ms_trace(MS_TRACE_WORKERS, "ready worker=%u pid=%ld", member->number + 1, member->pid);
  for (uint32_t i = 0; i < session->config.workers; i++) session->members[i].informed = false;
  return 0;
}

void ms_worker_handle_bury(const ms_session *session, ms_worker_handle *member) {
  session->processes->end(member);
  member->up = false;
  member->part = MS_PART_NONE;
  member->segment_count = member->cached_count = 0;
  while (member->index_list_count > 0)
    ms_worker_handle_unlist(member, member->index_list_count - 1);
  ms_worker_handle_unlearn(member);
}

void ms_worker_handle_free(const ms_session *session, ms_worker_handle *member) {
  ms_worker_handle_bury(session, member);
  free(member->segments);
  free(member->kernels);
  free(member->cached);
  free(member->index_lists);
  free(member->transfers);
}

int ms_worker_handle_share(const ms_session *session, ms_worker_handle *member,
                           const ms_segment *segment, ms_error *err) {
  for (uint32_t i = 0; i < member->segment_count; i++) {
    if (member->segments[i] == segment->id) return 0;
  }
  size_t count = (size_t)member->segment_count + 1;
  uint64_t *grown = realloc(member->segments, count * sizeof *grown);
  if (grown == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  member->segments = grown;
  if (session->processes->share(member, segment, err) != 0) return -1;
  grown[member->segment_count++] = segment->id;
  return 0;
}

void ms_worker_handle_unshare(ms_worker_handle *member, uint64_t segment) {
  for (uint32_t i = 0; i < member->segment_count; i++) {
    if (member->segments[i] != segment) continue;
    ms_notice notice = {.kind = MS_NOTICE_GONE, .id = segment};
    ms_channel_send(member->channel, &notice, sizeof notice, -1, CHANNEL_WAIT, NULL);
    member->segments[i] = member->segments[--member->segment_count];
    return;
  }
}

void ms_worker_handle_forget(ms_worker_handle *member, uint32_t cached) {
  ms_frame frame = {.kind = MS_SAY_FORGET, .a = {member->cached[cached].id}};
  if (member->up) ms_link_send(&member->link, frame, NULL, 0, NULL);
  member->cached[cached] = member->cached[--member->cached_count];
}

void ms_worker_handle_unlist(ms_worker_handle *member, uint32_t number) {
  ms_frame frame = {.kind = MS_SAY_FORGET, .a = {member->index_lists[number]->copy}};
  if (member->up && member->index_lists[number]->sent) {
    ms_link_send(&member->link, frame, NULL, 0, NULL);
  }
  ms_index_list_free(member->index_lists[number]);
  member->index_lists[number] = member->index_lists[--member->index_list_count];
}

bool ms_worker_handle_knows(const ms_worker_handle *member, const char *key, size_t size) {
  for (uint32_t i = 0; i < member->kernel_count; i++) {
    size_t length;
    memcpy(&length, member->kernels[i], sizeof length);
    if (length == size && memcmp(member->kernels[i] + sizeof length, key, size) == 0) return true;
  }
  return false;
}

void ms_worker_handle_unlearn(ms_worker_handle *member) {
  while (member->kernel_count > 0) free(member->kernels[--member->kernel_count]);
  member->kernel_bytes = 0;
}

int ms_worker_handle_learn(ms_worker_handle *member, const ms_job *job, ms_error *err) {
  size_t size = job->key_size;
  if (member->kernel_bytes + job->kernel_size > KERNELS_KEPT && member->kernel_count > 0) {
    ms_frame frame = {.kind = MS_SAY_FORGET}; /* no memory has the id 0 */
    ms_worker_handle_unlearn(member);
    if (ms_link_send(&member->link, frame, NULL, 0, err) != 0) return -1;
  }
  char **grown = realloc(member->kernels, ((size_t)member->kernel_count + 1) * sizeof *grown);
  if (grown != NULL) member->kernels = grown;
  char *entry = grown == NULL ? NULL : malloc(sizeof size + size);
  if (entry == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  memcpy(entry, &size, sizeof size);
  memcpy(entry + sizeof size, job->key, size);
  member->kernel_bytes += size + job->kernel_size;
  grown[member->kernel_count++] = entry;
  return 0;
}

int ms_worker_handle_post(ms_worker_handle *member, ms_transfer transfer, ms_error *err) {
  if (transfer.count == 0) return 0;
  size_t count = (size_t)member->transfer_count + 1;
  ms_transfer *grown = realloc(member->transfers, count * sizeof *grown);
  if (grown == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  member->transfers = grown;
  grown[member->transfer_count++] = transfer;
  member->data_frames += ms_transfer_frames(&transfer);
  return 0;
}
