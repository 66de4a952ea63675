/* SPDX-License-Identifier: MIT
 *
 * Session: see session.h. Its life; session_wait.c is where it waits. */
#include "driver/session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/session_state.h"
#include "driver/session_wait.h"

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
  ms_session_wait_dismiss(gone, gone->run != NULL);
  for (uint32_t i = 0; gone->members != NULL && i < gone->config.workers; i++) {
    ms_worker_handle_free(gone, &gone->members[i]);
  }
  ms_session_road_close(gone);
  ms_schedule_destroy(&gone->schedule);
  ms_segment_block_release(&gone->undo);
  ms_segment_block_release(&gone->loop_undo);
  ms_text_free(&gone->notices);
  for (char **each = gone->command; each != NULL && *each != NULL; each++) free(*each);
  free(gone->command);
  free(gone->members);
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
    ms_session_wait_dismiss(session, true);
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
      if (member->channel >= 0) ms_worker_handle_unshare(session, member, id);
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

static int open_session(ms_session *session, const ms_session_config *config, ms_error *err) {
  session->process = getpid();
  session->thread = gettid();
  session->config = *config;
  session->directory.lock = -1;
  session->page_fd = -1;
  session->road = &ms_session_road;
  session->processes = &ms_worker_processes;
  session->command = copy_command(config->command);
  session->members = calloc(config->workers, sizeof *session->members);
  if (session->command == NULL || session->members == NULL)
    return ms_error_memory(err, MS_WRK, "%u workers", config->workers);
  for (uint32_t i = 0; i < config->workers; i++) session->members[i] = ms_worker_handle_new(i);
  if (ms_session_road_open(session, err) != 0) return -1;
  return ms_session_wait_complete(session, err);
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
    ms_error_memory(err, MS_WRK, "a session");
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
