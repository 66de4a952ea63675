/* SPDX-License-Identifier: MIT
 *
 * Spawn: see spawn.h. */
#include "driver/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/history.h"
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
  int trace = ms_trace_file(), history = ms_history_file(), last = MS_CHANNEL_FD;
  if (failed == 0 && trace >= 0) {
    failed = posix_spawn_file_actions_adddup2(files, trace, last = MS_TRACE_FD);
  } else if (failed == 0 && history >= 0) {
    failed = posix_spawn_file_actions_addclose(files, MS_TRACE_FD);
  }
  if (failed == 0 && history >= 0) {
    failed = posix_spawn_file_actions_adddup2(files, history, last = MS_HISTORY_FD);
  }
  if (failed == 0) failed = posix_spawn_file_actions_addclosefrom_np(files, last + 1);
  return failed;
}

/* The numbers of threads that libraries use, OpenMP's, OpenBLAS' and MKL's: each worker is one of
 * several on this machine, and has one, unless the user said otherwise. */
static char *const single[] = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
#define SINGLE (sizeof single / sizeof *single)

static bool is_set(char *const *environment, const char *setting) {
  size_t length = (size_t)(strchr(setting, '=') - setting) + 1;
  for (size_t k = 0; environment[k] != NULL; k++) {
    if (strncmp(environment[k], setting, length) == 0) return true;
  }
  return false;
}

/* A worker's environment: this process's strings, in a list from malloc; NULL: no memory. */
static char **environment_of_worker(char *const *own) {
  size_t count = 0;
  while (own[count] != NULL) count++;
  char **environment = malloc((count + SINGLE + 1) * sizeof *environment);
  if (environment == NULL) return NULL;
  memcpy(environment, own, count * sizeof *environment);
  for (size_t k = 0; k < SINGLE; k++) {
    if (!is_set(own, single[k])) environment[count++] = single[k];
  }
  environment[count] = NULL;
  return environment;
}

int ms_child_spawn(ms_child *child, const char *const *command, int channel, ms_error *err) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  *child = (ms_child){.pidfd = -1, .status = -1};
  if (posix_spawn_file_actions_init(&files) != 0) {
    return ms_error_memory(err, MS_WRK, "a worker");
  }
  if (posix_spawnattr_init(&attributes) != 0) {
    posix_spawn_file_actions_destroy(&files);
    return ms_error_memory(err, MS_WRK, "a worker");
  }
  pid_t pid = 0;
  extern char **environ;
  char **environment = environment_of_worker(environ);
  int failed = environment != NULL ? describe_start(&files, &attributes, channel) : ENOMEM;
  if (failed == 0) {
    failed = posix_spawnp(&pid, command[0], &files, &attributes, (char *const *)(size_t)command,
                          environment);
  }
  free(environment);
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
