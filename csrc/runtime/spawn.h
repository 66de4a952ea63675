/* SPDX-License-Identifier: MIT
 *
 * Child: a worker process as its parent holds it.
 *
 * It is started with its end of a channel at descriptor MS_CHANNEL_FD, no other descriptor than
 * the standard ones, no signal blocked but those that a worker handles later, and its standard
 * input empty. It leads a process group of its own: a SIGKILL for the driver's whole group, as
 * `timeout` and shells send it, must leave somebody who tidies up. A pidfd keeps a signal from ever
 * reaching another process that got its number.
 * Hosts that ignore or reap SIGCHLD are fine: then only the cause of death stays unknown. */
#ifndef MS_RUNTIME_SPAWN_H
#define MS_RUNTIME_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct ms_child {
  pid_t pid;  /* 0: none */
  int pidfd;  /* -1 where the kernel has none */
  int status; /* waitpid's, once it ended; -1: unknown */
} ms_child;

/* Starts `command` (found in PATH) with `channel` as its end. MS_WRK names the command. */
int ms_child_spawn(ms_child *child, const char *const *command, int channel, ms_error *err);

/* Sends a signal; nothing happens when the child is gone. */
void ms_child_signal(const ms_child *child, int signal);

/* Waits up to `timeout` ms for the child's end and reaps it; true when it has ended. */
bool ms_child_wait(ms_child *child, int timeout);

/* Appends how it ended ("was killed by signal 9 (Killed)") to `text` of `size` bytes. */
void ms_child_describe(const ms_child *child, char *text, size_t size);

/* The signal that ended the child, 0 for none or unknown. */
int ms_child_cause(const ms_child *child);

#endif
