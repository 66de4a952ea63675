/* SPDX-License-Identifier: MIT
 *
 * Child: see spawn.h. */
#include "runtime/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/setup.h"

/* What the new process starts with; 0 or an errno. */
static int describe_start(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes,
                          int channel) {
  sigset_t all, later;
  sigfillset(&all);
  sigemptyset(&later); /* blocked until the worker has said what it does with them */
  sigaddset(&later, SIGINT);
  sigaddset(&later, SIGHUP);
  sigaddset(&later, SIGQUIT);
  int failed = posix_spawnattr_setflags(
      attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (failed == 0) failed = posix_spawnattr_setpgroup(attributes, 0);
  if (failed == 0) failed = posix_spawnattr_setsigdefault(attributes, &all);
  if (failed == 0) failed = posix_spawnattr_setsigmask(attributes, &later);
  if (failed == 0) {
    failed = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  if (failed == 0) failed = posix_spawn_file_actions_adddup2(files, channel, MS_CHANNEL_FD);
  if (failed == 0) failed = posix_spawn_file_actions_addclosefrom_np(files, MS_CHANNEL_FD + 1);
  return failed;
}

int ms_child_spawn(ms_child *child, const char *const *command, int channel, ms_error *err) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  *child = (ms_child){.pidfd = -1, .status = -1};
  if (posix_spawn_file_actions_init(&files) != 0) {
    return ms_error_set(err, MS_WRK, "out of memory for a worker");
  }
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return ms_error_set(err, MS_WRK, "out of memory for a worker");
  }
  int failed = describe_start(&files, &attributes, channel);
  extern char **environ;
  if (failed == 0) {
    failed = posix_spawnp(&child->pid, command[0], &files, &attributes,
                          (char *const *)(size_t)command, environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    child->pid = 0;
    return ms_error_set(err, MS_WRK,
                        "no worker can be started with '%s': %s; set MEISSA_LUAJIT to a LuaJIT",
                        command[0], strerror(failed));
  }
  child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
  return 0;
}

void ms_child_signal(const ms_child *child, int signal) {
  if (child->pid == 0) return;
  if (child->pidfd >= 0) {
    syscall(SYS_pidfd_send_signal, child->pidfd, signal, NULL, 0);
  } else {
    kill(child->pid, signal);
  }
}

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void forget(ms_child *child, int status) {
  if (child->pidfd >= 0) close(child->pidfd);
  *child = (ms_child){.pidfd = -1, .status = status};
}

bool ms_child_wait(ms_child *child, int timeout) {
  long deadline = now_ms() + timeout;
  while (child->pid != 0) {
    int status = -1;
    pid_t got = waitpid(child->pid, &status, WNOHANG);
    if (got == child->pid) {
      forget(child, status);
      return true;
    }
    bool reaped = got < 0 && errno == ECHILD; /* by the host, or by the kernel for it */
    if (reaped && (child->pidfd < 0 || syscall(SYS_pidfd_send_signal, child->pidfd, 0, NULL, 0))) {
      forget(child, -1);
      return true;
    }
    long left = deadline - now_ms();
    if (left <= 0) return false;
    struct pollfd item = {.fd = child->pidfd, .events = POLLIN};
    bool watch = child->pidfd >= 0;
    poll(&item, watch ? 1 : 0, watch ? (int)left : 2);
  }
  return true;
}

void ms_child_describe(const ms_child *child, char *text, size_t size) {
  size_t used = strlen(text);
  if (child->status == -1) {
    snprintf(text + used, size - used, "ended (this process ignores SIGCHLD: cause unknown)");
  } else if (WIFSIGNALED(child->status)) {
    int signal = WTERMSIG(child->status);
    snprintf(text + used, size - used, "was killed by signal %d (%s)", signal, strsignal(signal));
  } else {
    snprintf(text + used, size - used, "ended with status %d", WEXITSTATUS(child->status));
  }
}

int ms_child_cause(const ms_child *child) {
  return child->status != -1 && WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;
}
