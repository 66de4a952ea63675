/* SPDX-License-Identifier: MIT
 *
 * Spawn: see spawn.h. */
#include "driver/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#include "base/trace.h"
#include "job/setup.h"

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
  int trace = ms_trace_file(), last = trace >= 0 ? MS_TRACE_FD : MS_CHANNEL_FD;
  if (failed == 0 && trace >= 0) {
    failed = posix_spawn_file_actions_adddup2(files, trace, MS_TRACE_FD);
  }
  if (failed == 0) failed = posix_spawn_file_actions_addclosefrom_np(files, last + 1);
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
  pid_t pid = 0;
  int failed = describe_start(&files, &attributes, channel);
  extern char **environ;
  if (failed == 0) {
    failed = posix_spawnp(&pid, command[0], &files, &attributes, (char *const *)(size_t)command,
                          environ);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return ms_error_set(err, MS_WRK,
                        "no worker can be started with '%s': %s; set MEISSA_LUAJIT to a LuaJIT",
                        command[0], strerror(failed));
  }
  ms_child_watch(child, pid);
  return 0;
}
