/* SPDX-License-Identifier: MIT
 *
 * Worker processes of this host: see worker_process.h. */
#include "driver/worker_process.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/history.h"
#include "base/trace.h"
#include "driver/session_state.h"
#include "driver/spawn.h"
#include "net/channel.h"

#define CHANNEL_WAIT 5000 /* ms for an idle worker to take a message */
#define KILL_WAIT    1000 /* ms for a killed process to end */

static void fill_setup(const ms_session *session, const ms_worker_handle *member, ms_setup *setup) {
  *setup = (ms_setup){.build = {.magic = MS_FRAME_MAGIC, .protocol = MS_PROTOCOL},
                      .worker = member->number,
                      .workers = session->config.workers,
                      .incarnation = member->incarnation,
                      .shared = session->config.shared,
                      .tcp = session->config.tcp,
                      .parent = (uint32_t)getpid(),
                      .trace = ms_trace_share(),
                      .history = ms_history_share(),
                      .keys = session->keys};
  snprintf(setup->build.abi, sizeof setup->build.abi, "%s", ms_frame_abi());
  snprintf(setup->identity, sizeof setup->identity, "%s", member->peer.identity);
  snprintf(setup->address, sizeof setup->address, "%s", session->address);
  snprintf(setup->directory, sizeof setup->directory, "%s", session->directory.path);
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
  member->recorded = setup.history.incarnation;
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
  if (ms_socket_identity(member->peer.identity, err) != 0 || ms_channel_pair(ends, err) != 0)
    return -1;
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

static void unshare(ms_worker_handle *member, uint64_t id) {
  ms_notice notice = {.kind = MS_NOTICE_GONE, .id = id};
  ms_channel_send(member->channel, &notice, sizeof notice, -1, CHANNEL_WAIT, NULL);
}

static bool is_gone(const ms_worker_handle *member) {
  return ms_channel_ended(member->channel);
}

static void stop(ms_worker_handle *member, bool now) {
  const ms_notice notice = {.kind = MS_NOTICE_END};
  if (now) ms_child_signal(&member->child, SIGKILL);
  if (member->channel >= 0) ms_channel_send(member->channel, &notice, sizeof notice, -1, 0, NULL);
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
  if (member->recorded > 0) {
    ms_history("fence worker=worker-%u incarnation=%u", member->number + 1, member->recorded);
  }
  member->recorded = 0;
  if (strncmp(member->peer.address, "ipc://", 6) == 0) unlink(member->peer.address + 6);
}

const ms_processes ms_worker_processes = {.start = start,
                                          .share = share,
                                          .unshare = unshare,
                                          .gone = is_gone,
                                          .stop = stop,
                                          .ended = has_ended,
                                          .end = end};
