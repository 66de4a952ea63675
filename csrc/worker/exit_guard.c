/* SPDX-License-Identifier: MIT
 *
 * Exit guard: see exit_guard.h. */
#include "worker/exit_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "net/channel.h"

/* Written before the handlers can run, only read by them. */
static char directory[MS_DIRECTORY_SIZE];
static char socket_path[MS_ADDRESS_SIZE];
static pid_t parent;
static int watched = -1;

bool ms_exit_guard_orphan(void) {
  return parent != 0 && getppid() != parent;
}

void ms_exit_guard_clean(bool orphan) {
  if (socket_path[0] != '\0') unlink(socket_path);
  if (orphan && directory[0] != '\0') ms_directory_clear(directory);
}

static bool driver_ended(void) {
  return ms_exit_guard_orphan() || ms_channel_ended(watched);
}

/* Somebody asks this worker to end. */
static void on_end(int signal) {
  ms_exit_guard_clean(driver_ended());
  _exit(128 + signal);
}

/* Something happened on the channel, or a thread of the driver ended: end if the driver did. */
static void on_change(int signal) {
  int saved = errno;
  if (driver_ended()) {
    ms_exit_guard_clean(true);
    _exit(128 + signal);
  }
  errno = saved;
}

static int handle(int signal, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  return sigaction(signal, &action, NULL);
}

/* Two roads, as neither is sure: the channel stays open in a child that the driver forked, and a
 * stopped process would not look at it; SIGCONT wakes one, and comes whenever this worker gets
 * another parent, last with the driver's last thread. */
static int watch_driver(int channel) {
  watched = channel;
  if (handle(SIGIO, on_change) != 0 || handle(SIGCONT, on_change) != 0) return -1;
  int flags = fcntl(channel, F_GETFL);
  if (flags < 0 || fcntl(channel, F_SETOWN, getpid()) != 0) return -1;
  if (fcntl(channel, F_SETFL, flags | O_ASYNC) != 0) return -1;
  return prctl(PR_SET_PDEATHSIG, SIGCONT);
}

int ms_exit_guard_install(const ms_setup *setup, int channel, ms_error *err) {
  snprintf(directory, sizeof directory, "%.*s", (int)sizeof directory - 1, setup->directory);
  parent = (pid_t)setup->parent;
  static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTTOU};
  int failed = handle(SIGTERM, on_end) != 0;
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
    failed = failed || handle(ignored[i], SIG_IGN) != 0;
  }
  if (failed || watch_driver(channel) != 0) {
    return ms_error_set(err, MS_WRK, "signals cannot be handled: %s", strerror(errno));
  }
  sigset_t none; /* the driver blocked them until now */
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (!driver_ended()) return 0; /* before it was watched */
  ms_exit_guard_clean(true);
  return ms_error_set(err, MS_WRK, "the driver is gone");
}

void ms_exit_guard_socket(const char *path) {
  snprintf(socket_path, sizeof socket_path, "%s", path);
}
