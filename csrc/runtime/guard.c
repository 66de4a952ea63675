/* SPDX-License-Identifier: MIT
 *
 * Guard: see guard.h. */
#include "runtime/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "net/channel.h"

/* Written before the handler can run, only read by it. */
static char directory[MS_DIRECTORY_SIZE];
static char socket_path[MS_ADDRESS_SIZE];
static pid_t parent;
static int watched = -1;

bool ms_guard_orphan(void) {
  return parent != 0 && getppid() != parent;
}

void ms_guard_clean(bool orphan) {
  if (socket_path[0] != '\0') unlink(socket_path);
  if (orphan && directory[0] != '\0') ms_directory_clear(directory);
}

/* A signal of the driver's own death comes when its spawning thread ends: while others of its
 * threads are still being taken down it remains our parent, but it is the sender. */
static void on_end(int signal, siginfo_t *about, void *context) {
  (void)context;
  ms_guard_clean(ms_guard_orphan() || about->si_pid == parent);
  _exit(128 + signal);
}

/* Something happened on the channel: end if the driver did. */
static void on_channel(int signal) {
  int saved = errno;
  if (ms_channel_ended(watched)) {
    ms_guard_clean(true);
    _exit(128 + signal);
  }
  errno = saved;
}

static int handle_end(void) {
  struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO};
  sigfillset(&action.sa_mask);
  return sigaction(SIGTERM, &action, NULL);
}

static int handle(int signal, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  return sigaction(signal, &action, NULL);
}

/* The death of the driver's spawning thread would fire too early: watch the channel instead. */
static int watch_channel(int channel) {
  watched = channel;
  if (handle(SIGIO, on_channel) != 0 || fcntl(channel, F_SETOWN, getpid()) != 0) return -1;
  int flags = fcntl(channel, F_GETFL);
  return flags < 0 ? -1 : fcntl(channel, F_SETFL, flags | O_ASYNC);
}

int ms_guard_install(const ms_setup *setup, int channel, ms_error *err) {
  snprintf(directory, sizeof directory, "%.*s", (int)sizeof directory - 1, setup->directory);
  parent = (pid_t)setup->parent;
  int failed = handle_end() != 0 || handle(SIGINT, SIG_IGN) != 0 || handle(SIGHUP, SIG_IGN) != 0 ||
               handle(SIGQUIT, SIG_IGN) != 0 || handle(SIGPIPE, SIG_IGN) != 0;
  failed = failed || (setup->watch ? prctl(PR_SET_PDEATHSIG, SIGTERM) : watch_channel(channel));
  if (failed) {
    return ms_error_set(err, MS_WRK, "signals cannot be handled: %s", strerror(errno));
  }
  sigset_t none; /* the driver blocked them until now */
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (!ms_guard_orphan()) return 0;
  ms_guard_clean(true);
  return ms_error_set(err, MS_WRK, "the driver is gone");
}

void ms_guard_socket(const char *path) {
  snprintf(socket_path, sizeof socket_path, "%s", path);
}
