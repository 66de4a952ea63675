/* SPDX-License-Identifier: MIT
 *
 * Spawn: starting a worker process.
 *
 * It is started with its end of a channel at descriptor MS_CHANNEL_FD, the trace's file, if there
 * is one, at MS_TRACE_FD, the history's at MS_HISTORY_FD, no other descriptor than the standard
 * ones, no signal blocked but those that a worker handles later, and its standard input empty. It
 * leads a process group of its own: a SIGKILL for the driver's whole group, as `timeout` and shells
 * send it, must leave somebody who tidies up. Libraries that it loads compute with one thread
 * (OMP_NUM_THREADS and the like are 1), unless this process has them set. */
#ifndef MS_DRIVER_SPAWN_H
#define MS_DRIVER_SPAWN_H

#include "base/child.h"
#include "base/error.h"

/* Starts `command` (found in PATH) with `channel` as its end. MS_WRK names the command. */
int ms_child_spawn(ms_child *child, const char *const *command, int channel, ms_error *err);

#endif
