/* SPDX-License-Identifier: MIT
 *
 * Child: see child.h. */
#include "base/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

void ms_child_watch(ms_child *child, pid_t pid) {
  *child = (ms_child){.pid = pid, .status = -1};
  child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
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
  return (long)(ms_clock_now() / MS_MILLISECOND);
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
