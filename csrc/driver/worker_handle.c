/* SPDX-License-Identifier: MIT
 *
 * Worker handle: see worker_handle.h. Spawn, hello, what a worker has been given, its end. */
#include "driver/worker_handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace.h"
#include "driver/session_state.h"

#define KERNELS_KEPT ((size_t)8 << 20) /* bytes, by a worker */

ms_worker_handle ms_worker_handle_new(uint32_t number) {
  return (ms_worker_handle){.number = number, .channel = -1, .child = {.pidfd = -1, .status = -1}};
}

int ms_worker_handle_stillborn(const ms_session *session, const ms_worker_handle *member,
                               ms_error *err) {
  char how[128] = "";
  ms_child_describe(&member->child, how, sizeof how);
  return ms_error_set(err, MS_WRK,
                      "worker %u (pid %ld) %s before it was ready; its command was: %s",
                      member->number + 1, member->pid, how, session->command[0]);
}

int ms_worker_handle_spawn(ms_session *session, ms_worker_handle *member, ms_error *err) {
  member->incarnation++;
  member->up = member->informed = false;
  member->part = MS_PART_NONE;
  memset(&member->peer, 0, sizeof member->peer);
  member->peer.incarnation = member->incarnation;
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
  if (ms_frame_abi_check(frame->a[0], hello.abi, member->number, err) != 0) return -1;
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
  ms_text_free(&member->room);
}

int ms_worker_handle_share(const ms_session *session, ms_worker_handle *member,
                           const ms_segment *segment, ms_error *err) {
  for (uint32_t i = 0; i < member->segment_count; i++) {
    if (member->segments[i] == segment->id) return 0;
  }
  size_t count = (size_t)member->segment_count + 1;
  uint64_t *grown = realloc(member->segments, count * sizeof *grown);
  if (grown == NULL) return ms_error_memory(err, MS_WRK, "what a worker knows");
  member->segments = grown;
  if (session->processes->share(member, segment, err) != 0) return -1;
  grown[member->segment_count++] = segment->id;
  return 0;
}

void ms_worker_handle_unshare(const ms_session *session, ms_worker_handle *member, uint64_t id) {
  for (uint32_t i = 0; i < member->segment_count; i++) {
    if (member->segments[i] != id) continue;
    session->processes->unshare(member, id);
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
  if (entry == NULL) return ms_error_memory(err, MS_WRK, "what a worker knows");
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
  if (grown == NULL) return ms_error_memory(err, MS_WRK, "what a worker is sent");
  member->transfers = grown;
  grown[member->transfer_count++] = transfer;
  member->data_frames += ms_transfer_frames(&transfer);
  return 0;
}
