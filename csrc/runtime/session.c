/* SPDX-License-Identifier: MIT
 *
 * Session: see session.h. Its life, and the one place where the driver waits. */
#include "runtime/session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "net/channel.h"
#include "runtime/interrupt.h"
#include "runtime/session_state.h"

#define HELLO_WAIT  10000 /* ms for all workers to come up */
#define END_WAIT    700   /* ms for a worker to end by itself */
#define DEATH_WAIT  500   /* ms between a channel's end and its process's */
#define QUEUE_LIMIT 256   /* more than a link's window */

/* All sessions of the process, for its exit and for segments that go away. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ms_session *sessions;

uint64_t ms_session_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t ms_session_workers(const ms_session *session) {
  return session->config.workers;
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

/* Stops accepting anything and ends all workers. With `now` they are not asked. */
static void end_workers(ms_session *session, bool now) {
  uint32_t count = session->members == NULL ? 0 : session->config.workers;
  for (uint32_t i = 0; i < count; i++) {
    ms_member *member = &session->members[i];
    const ms_notice end = {.kind = MS_NOTICE_END};
    if (now) ms_child_signal(&member->child, SIGKILL);
    if (member->channel >= 0) {
      ms_channel_send(member->channel, &end, sizeof end, -1, 0, NULL);
      close(member->channel);
    }
    member->channel = -1;
  }
  uint64_t deadline = ms_session_clock() + (uint64_t)END_WAIT * 1000000u;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t clock = ms_session_clock();
    int left = clock < deadline ? (int)((deadline - clock) / 1000000u) : 0;
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
    ms_member_free(&gone->members[i]);
  }
  if (gone->context != NULL) zmq_ctx_shutdown(gone->context);
  ms_zap_join(&gone->zap);
  if (gone->router != NULL) zmq_close(gone->router);
  ms_context_end(&gone->context);
  ms_directory_remove(&gone->directory);
  ms_schedule_destroy(&gone->schedule);
  ms_text_free(&gone->notices);
  for (char **each = gone->command; each != NULL && *each != NULL; each++) free(*each);
  free(gone->command);
  free(gone->members);
  free(gone->polled);
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

static void segment_gone(uint64_t id, void *context) {
  (void)context;
  pthread_mutex_lock(&lock);
  for (ms_session *session = sessions; session != NULL; session = session->next) {
    if (session->process != getpid() || session->thread != gettid()) continue;
    for (uint32_t i = 0; i < session->config.workers; i++) {
      if (session->members[i].channel >= 0) ms_member_unshare(&session->members[i], id);
    }
  }
  pthread_mutex_unlock(&lock);
}

static void start_once(void) {
  atexit(stop_all);
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
  session->context = zmq_ctx_new();
  if (session->context == NULL) return ms_error_set(err, MS_NET, "no ZeroMQ context");
  char address[MS_DIRECTORY_SIZE + 32];
  if (tcp) {
    if (ms_keys_make(&session->keys, err) != 0) return -1;
    session->zap = ms_zap_start(session->context, &session->keys, err);
    if (session->zap == NULL) return -1;
    snprintf(address, sizeof address, "tcp://127.0.0.1:*");
  } else {
    if (ms_directory_make(&session->directory, err) != 0) return -1;
    snprintf(address, sizeof address, "ipc://%s/driver", session->directory.path);
  }
  ms_socket_options options = {
      .keys = tcp ? &session->keys : NULL, .receive_limit = QUEUE_LIMIT, .mandatory = true};
  session->router =
      ms_socket_bind(session->context, ZMQ_ROUTER, &options, address, session->address, err);
  return session->router == NULL ? -1 : 0;
}

static int open_session(ms_session *session, const ms_session_config *config, ms_error *err) {
  session->process = getpid();
  session->thread = gettid();
  session->config = *config;
  session->directory.lock = -1;
  session->command = copy_command(config->command);
  session->members = calloc(config->workers, sizeof *session->members);
  session->polled = calloc((size_t)config->workers + 2, sizeof *session->polled);
  if (session->command == NULL || session->members == NULL || session->polled == NULL) {
    return ms_error_set(err, MS_WRK, "out of memory for %u workers", config->workers);
  }
  for (uint32_t i = 0; i < config->workers; i++) {
    session->members[i] =
        (ms_member){.number = i, .channel = -1, .child = {.pidfd = -1, .status = -1}};
  }
  if (open_router(session, err) != 0) return -1;
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

/* Takes notice of a death outside of any job. */
static void note_death(ms_session *session, const ms_member *member) {
  char how[128] = "";
  ms_child_describe(&member->child, how, sizeof how);
  ms_text_format(&session->notices, "worker %u (pid %ld) %s between loops and is replaced\n",
                 member->number + 1, member->pid, how);
}

void ms_session_lose(ms_session *session, ms_member *member, const ms_error *trouble) {
  ms_run *run = session->run;
  bool working = member->working;
  uint64_t running = member->status == NULL ? 0 : atomic_load(&member->status->running);
  bool ended = ms_child_wait(&member->child, DEATH_WAIT);
  ms_member_bury(member);
  if (run == NULL || !working) {
    note_death(session, member);
    return;
  }
  uint32_t block = running == 0 ? UINT32_MAX : (uint32_t)(running - 1);
  if (!run->failed) {
    char text[256] = "";
    run->outcome->pid = member->pid;
    if (trouble != NULL && !ended) {
      ms_error_set(run->err, MS_NET, "worker %u (pid %ld) cannot be understood any more: %s",
                   member->number + 1, member->pid, trouble->message);
    } else {
      ms_child_describe(&member->child, text, sizeof text);
      run->outcome->signal = ms_child_cause(&member->child);
      const char *where = running == 0 ? " while it waited" : "";
      ms_error_set(run->err, MS_WRK, "worker %u (pid %ld) %s%s", member->number + 1, member->pid,
                   text, where);
    }
  }
  ms_run_fail(session, member->number, block, 800);
}

static ms_member *find(ms_session *session, const char *identity) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_member *member = &session->members[i];
    if (member->channel >= 0 && strcmp(member->peer.identity, identity) == 0) return member;
  }
  return NULL;
}

/* Handles one frame of a worker. Only a refused hello is the session's error. */
static int take_frame(ms_session *session, ms_member *member, const char *bytes, size_t size,
                      ms_error *err) {
  ms_frame frame;
  const char *wrong = ms_frame_read(&frame, bytes, size, MS_TO_DRIVER);
  if (wrong != NULL) {
    bool other = size >= sizeof frame && frame.magic == MS_FRAME_MAGIC && !member->up &&
                 frame.version != MS_PROTOCOL;
    return other ? ms_abi_check(frame.version, ms_abi(), member->number, err) : 0;
  }
  if (frame.sender != member->number || frame.incarnation != member->incarnation) return 0;
  ms_error trouble = {0};
  int accepted = ms_link_receive(&member->link, &frame, true, &trouble);
  if (accepted < 0) {
    ms_session_lose(session, member, &trouble);
    return 0;
  }
  if (accepted == 0) return 0;
  const char *payload = bytes + sizeof frame;
  if (frame.kind == MS_SAY_HELLO) {
    return member->up ? 0 : ms_member_hello(session, member, &frame, payload, err);
  }
  if (session->run != NULL && member->working && frame.job == session->jobs) {
    ms_run_frame(session, member, &frame, payload);
  }
  return 0;
}

/* Most frames handled before deaths and interrupts are looked at again. */
#define FRAMES_A_TURN 64

static int take_frames(ms_session *session, ms_error *err) {
  for (int i = 0; i < FRAMES_A_TURN; i++) {
    zmq_msg_t message;
    char identity[MS_IDENTITY_SIZE];
    int got = ms_socket_receive(session->router, identity, &message);
    if (got == 0) return 0;
    if (got < 0) continue;
    ms_member *member = find(session, identity);
    int failed = 0;
    if (member != NULL) {
      failed = take_frame(session, member, zmq_msg_data(&message), zmq_msg_size(&message), err);
    }
    zmq_msg_close(&message);
    if (failed != 0) return -1;
  }
  return 0;
}

/* Something on a channel: a worker of another build, or a worker's end. */
static int take_channel(ms_session *session, ms_member *member, ms_error *err) {
  ms_refusal refusal;
  int fd;
  long got = ms_channel_receive(member->channel, &refusal, sizeof refusal, &fd, 0, NULL);
  if (fd >= 0) close(fd);
  if (got < 0) return 0;
  if (got == (long)sizeof refusal && !member->up && refusal.magic == MS_FRAME_MAGIC) {
    refusal.abi[sizeof refusal.abi - 1] = '\0';
    return ms_abi_check(refusal.protocol, refusal.abi, member->number, err);
  }
  if (got > 0) return 0;
  bool came_up = member->up;
  ms_session_lose(session, member, NULL);
  if (came_up) return 0;
  char how[128] = "";
  ms_child_describe(&member->child, how, sizeof how);
  return ms_error_set(err, MS_WRK,
                      "worker %u (pid %ld) %s before it was ready; its command was: %s",
                      member->number + 1, member->pid, how, session->command[0]);
}

int ms_session_wait(ms_session *session, int timeout, int interrupt, ms_error *err) {
  zmq_pollitem_t *items = session->polled;
  uint32_t workers = session->config.workers;
  items[0] = (zmq_pollitem_t){.socket = session->router, .events = ZMQ_POLLIN};
  int count = 1;
  for (uint32_t i = 0; i < workers; i++) {
    if (session->members[i].channel < 0) continue;
    items[count++] = (zmq_pollitem_t){.fd = session->members[i].channel, .events = ZMQ_POLLIN};
  }
  if (interrupt >= 0) items[count++] = (zmq_pollitem_t){.fd = interrupt, .events = ZMQ_POLLIN};
  int ready = zmq_poll(items, count, timeout);
  if (ready < 0 && errno != EINTR) {
    return ms_error_set(err, MS_NET, "waiting for workers failed: %s", zmq_strerror(errno));
  }
  if (ready <= 0) return 0;
  if (items[0].revents != 0 && take_frames(session, err) != 0) return -1;
  for (int k = 1; k < count; k++) {
    for (uint32_t i = 0; items[k].revents != 0 && i < workers; i++) {
      ms_member *member = &session->members[i];
      if (member->channel < 0 || member->channel != items[k].fd) continue;
      if (take_channel(session, member, err) != 0) return -1;
    }
  }
  return 0;
}

static uint32_t count_up(const ms_session *session) {
  uint32_t up = 0;
  for (uint32_t i = 0; i < session->config.workers; i++) up += session->members[i].up;
  return up;
}

static int wait_for_hellos(ms_session *session, int interrupt, ms_error *err) {
  uint64_t deadline = ms_session_clock() + (uint64_t)HELLO_WAIT * 1000000u;
  while (count_up(session) < session->config.workers) {
    uint64_t now = ms_session_clock();
    if (now >= deadline) {
      return ms_error_set(err, MS_WRK, "only %u of %u workers came up in %d s; command: %s",
                          count_up(session), session->config.workers, HELLO_WAIT / 1000,
                          session->command[0]);
    }
    int left = (int)((deadline - now) / 1000000u) + 1;
    if (ms_session_wait(session, left, interrupt, err) != 0) return -1;
    if (ms_interrupt_seen()) return ms_error_set(err, MS_INT, "interrupted");
  }
  return 0;
}

int ms_session_complete(ms_session *session, ms_error *err) {
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_member *member = &session->members[i];
    if (member->channel >= 0 && member->up && ms_channel_ended(member->channel)) {
      ms_session_lose(session, member, NULL);
    }
  }
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_member *member = &session->members[i];
    if (member->channel < 0 && ms_member_spawn(session, member, err) != 0) return -1;
  }
  if (count_up(session) == session->config.workers) return 0;
  int interrupt = ms_interrupt_begin();
  int failed = wait_for_hellos(session, interrupt, err);
  ms_interrupt_end();
  for (uint32_t i = 0; failed != 0 && i < session->config.workers; i++) {
    if (!session->members[i].up) ms_member_bury(&session->members[i]);
  }
  return failed;
}

void ms_session_forget(ms_session *session, uint64_t id) {
  if (session->process != getpid() || session->config.shared) return;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    ms_member *member = &session->members[i];
    for (uint32_t k = 0; k < member->cached_count; k++) {
      if (member->cached[k].id != id) continue;
      member->cached[k] = member->cached[--member->cached_count];
      ms_frame frame = {.kind = MS_SAY_FORGET, .a = {id}};
      if (member->up) ms_link_send(&member->link, frame, NULL, 0, NULL);
      break;
    }
  }
}
