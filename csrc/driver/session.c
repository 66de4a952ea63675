/* SPDX-License-Identifier: MIT
 *
 * Session: see session.h. Its life; wait.c is where it waits. */
#include "driver/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/session_state.h"
#include "net/channel.h"
#include "net/context.h"

#define END_WAIT    700 /* ms for a worker to end by itself */
#define QUEUE_LIMIT 256 /* more than a link's window */

/* Descriptors of a session: its page, directory and arrays; and of each worker's process, channel,
 * lane and connection. */
#define A_SESSION 8
#define A_WORKER  4

/* All sessions of the process, for its exit and for segments that go away. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ms_session *sessions;

bool ms_session_has_lanes(const ms_session *session) {
  return session->config.shared && !session->config.tcp;
}

uint32_t ms_session_workers(const ms_session *session) {
  return session->config.workers;
}

bool ms_session_is_shared(const ms_session *session) {
  return session->config.shared;
}

long ms_session_pid(const ms_session *session, uint32_t worker) {
  return worker < session->config.workers ? session->members[worker].child.pid : 0;
}

const char *ms_session_directory(const ms_session *session) {
  return session->directory.path;
}

const char *ms_session_address(const ms_session *session) {
  return session->address;
}

uint64_t ms_session_jobs(const ms_session *session) {
  return session->jobs;
}

/* Ends all workers; with `now` they are not asked. Their channels stay open meanwhile: one that
 * closes says that the driver is dying. */
static void end_workers(ms_session *session, bool now) {
  uint32_t count = session->members == NULL ? 0 : session->config.workers;
  for (uint32_t i = 0; i < count; i++) {
    ms_worker_handle *member = &session->members[i];
    const ms_notice end = {.kind = MS_NOTICE_END};
    if (now) ms_child_signal(&member->child, SIGKILL);
    if (member->channel >= 0) ms_channel_send(member->channel, &end, sizeof end, -1, 0, NULL);
  }
  uint64_t deadline = ms_clock_now() + (uint64_t)END_WAIT * MS_MILLISECOND;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t clock = ms_clock_now();
    int left = clock < deadline ? (int)((deadline - clock) / MS_MILLISECOND) : 0;
    ms_child_wait(&session->members[i].child, left);
  }
}

static void unlist(ms_session *session) {
  pthread_mutex_lock(&lock);
  for (ms_session **at = &sessions; *at != NULL; at = &(*at)->next) {
    if (*at == session) {
      *at = session->next;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
}

void ms_session_stop(ms_session **session) {
  ms_session *gone = *session;
  *session = NULL;
  if (gone == NULL || gone->process != getpid()) return; /* a forked child's copy: leave it */
  unlist(gone);
  end_workers(gone, gone->run != NULL);
  for (uint32_t i = 0; gone->members != NULL && i < gone->config.workers; i++) {
    ms_worker_handle_free(gone, &gone->members[i]);
  }
  ms_context_shut(gone->context);
  ms_zap_join(&gone->zap);
  ms_socket_close(&gone->router);
  ms_context_end(&gone->context);
  ms_directory_remove(&gone->directory);
  ms_schedule_destroy(&gone->schedule);
  ms_segment_block_release(&gone->undo);
  ms_segment_block_release(&gone->loop_undo);
  ms_text_free(&gone->notices);
  ms_status_page_unmap(gone->page, gone->config.workers);
  if (gone->page_fd >= 0) close(gone->page_fd);
  for (char **each = gone->command; each != NULL && *each != NULL; each++) free(*each);
  free(gone->command);
  free(gone->members);
  free(gone->polled.items);
  free(gone->polled.member);
  free(gone->lane_room);
  explicit_bzero(&gone->keys, sizeof gone->keys);
  free(gone);
}

/* At exit: sessions of this thread are stopped; of others only what would be left behind goes. */
static void stop_all(void) {
  for (;;) {
    pthread_mutex_lock(&lock);
    ms_session *session = sessions;
    if (session != NULL) sessions = session->next;
    pthread_mutex_unlock(&lock);
    if (session == NULL) return;
    if (session->process != getpid()) continue;
    if (session->thread == gettid() && session->run == NULL) {
      ms_session_stop(&session);
      continue;
    }
    end_workers(session, true);
    ms_directory_clear(session->directory.path);
  }
}

/* Workers unmap a segment that is no more; where nothing is shared, they free their copies of what
 * lay in it. */
static void segment_gone(uint64_t id, void *context) {
  (void)context;
  pthread_mutex_lock(&lock);
  for (ms_session *session = sessions; session != NULL; session = session->next) {
    if (session->process != getpid() || session->thread != gettid()) continue;
    for (uint32_t i = 0; i < session->config.workers; i++) {
      ms_worker_handle *member = &session->members[i];
      if (member->channel >= 0) ms_worker_handle_unshare(member, id);
      for (uint32_t k = member->cached_count; k-- > 0;) {
        if (member->cached[k].segment == id) ms_worker_handle_forget(member, k);
      }
    }
  }
  pthread_mutex_unlock(&lock);
}

static bool keeps_logs(const ms_session *session) {
  return session->undo.segment != NULL || session->loop_undo.segment != NULL;
}

/* Memory is short: logs that wait for the next loop are not worth an array. */
static void give_back_logs(void *context) {
  (void)context;
  for (;;) {
    pthread_mutex_lock(&lock);
    ms_session *session = sessions;
    while (session != NULL && (session->process != getpid() || session->thread != gettid() ||
                               session->run != NULL || !keeps_logs(session))) {
      session = session->next;
    }
    pthread_mutex_unlock(&lock);
    if (session == NULL) return;
    ms_segment_block_release(&session->undo); /* tells segment_gone */
    ms_segment_block_release(&session->loop_undo);
  }
}

static void start_once(void) {
  atexit(stop_all);
  ms_segment_reclaim(give_back_logs, NULL);
  ms_segment_listen(segment_gone, NULL);
}

static char **copy_command(const char *const *command) {
  size_t count = 0;
  while (command[count] != NULL) count++;
  char **copy = calloc(count + 1, sizeof *copy);
  for (size_t i = 0; copy != NULL && i < count; i++) {
    copy[i] = strdup(command[i]);
    if (copy[i] != NULL) continue;
    while (i > 0) free(copy[--i]);
    free(copy);
    return NULL;
  }
  return copy;
}

/* Binds the router. The gatekeeper comes before the first bind. */
static int open_router(ms_session *session, ms_error *err) {
  bool tcp = session->config.tcp;
  session->context = ms_context_new(A_SESSION + A_WORKER * session->config.workers, tcp, err);
  if (session->context == NULL) return -1;
  char address[MS_DIRECTORY_SIZE + 32];
  if (tcp) {
    if (ms_curve_keys_make(&session->keys, err) != 0) return -1;
    session->zap = ms_zap_start(session->context, &session->keys, err);
    if (session->zap == NULL) return -1;
    snprintf(address, sizeof address, "tcp://127.0.0.1:*");
  } else {
    if (ms_directory_make(&session->directory, err) != 0) return -1;
    snprintf(address, sizeof address, "ipc://%s/driver", session->directory.path);
  }
  ms_socket_options options = {
      .keys = tcp ? &session->keys : NULL, .receive_limit = QUEUE_LIMIT, .mandatory = true};
  session->router = ms_socket_bind(session->context, &options, address, session->address, err);
  return session->router == NULL ? -1 : 0;
}

static int open_session(ms_session *session, const ms_session_config *config, ms_error *err) {
  session->process = getpid();
  session->thread = gettid();
  session->config = *config;
  session->directory.lock = -1;
  session->page_fd = -1;
  session->command = copy_command(config->command);
  session->members = calloc(config->workers, sizeof *session->members);
  size_t items = 2 * (size_t)config->workers + 2;
  session->road = &ms_session_road;
  session->processes = &ms_worker_processes;
  session->polled = (ms_polled){.items = calloc(items, sizeof *session->polled.items),
                                .member = calloc(items, sizeof *session->polled.member),
                                .interrupt = -1};
  bool lanes = ms_session_has_lanes(session);
  if (lanes) session->lane_room = malloc(MS_CHANNEL_LIMIT);
  if (session->command == NULL || session->members == NULL || session->polled.items == NULL ||
      session->polled.member == NULL || (lanes && session->lane_room == NULL)) {
    return ms_error_set(err, MS_WRK, "out of memory for %u workers", config->workers);
  }
  for (uint32_t i = 0; i < config->workers; i++) {
    session->members[i] =
        (ms_worker_handle){.number = i, .channel = -1, .child = {.pidfd = -1, .status = -1}};
  }
  if (open_router(session, err) != 0) return -1;
  session->page = ms_status_page_make(config->workers, &session->page_fd, err);
  if (session->page == NULL) return -1;
  return ms_session_complete(session, err);
}

ms_session *ms_session_start(const ms_session_config *config, ms_error *err) {
  if (config->workers == 0 || config->workers > MS_MOST_WORKERS) {
    ms_error_set(err, MS_OPT, "workers = %u: a session has 1 to %u", config->workers,
                 MS_MOST_WORKERS);
    return NULL;
  }
  if (config->command == NULL || config->command[0] == NULL) {
    ms_error_set(err, MS_OPT, "a session needs the command that starts a worker");
    return NULL;
  }
  pthread_once(&once, start_once);
  ms_session *session = calloc(1, sizeof *session);
  if (session == NULL) {
    ms_error_set(err, MS_WRK, "out of memory for a session");
    return NULL;
  }
  if (open_session(session, config, err) != 0) {
    session->process = getpid();
    ms_session_stop(&session);
    return NULL;
  }
  pthread_mutex_lock(&lock);
  session->next = sessions;
  sessions = session;
  pthread_mutex_unlock(&lock);
  return session;
}

void ms_session_forget(ms_session *session, uint64_t id) {
  if (session->process != getpid() || session->config.shared) return;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_worker_handle *member = &session->members[i];
    for (uint32_t k = member->cached_count; k-- > 0;) {
      if (member->cached[k].id == id) ms_worker_handle_forget(member, k);
    }
  }
}
