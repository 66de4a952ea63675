/* SPDX-License-Identifier: MIT
 *
 * Exit guard: a worker's signals, and its end when the driver is gone.
 *
 * A worker ignores SIGINT, SIGHUP and SIGQUIT (the driver decides), and SIGTTOU (its process group
 * is not the terminal's). When the driver dies, the kernel sends SIGIO and SIGCONT: their handler
 * removes the session's files and ends the process, even out of an endless loop or when it was
 * stopped. SIGTERM ends it, too. Handlers only call what is async-signal-safe. */
#ifndef MS_WORKER_EXIT_GUARD_H
#define MS_WORKER_EXIT_GUARD_H

#include <stdbool.h>

#include "base/error.h"
#include "job/setup.h"

/* Installs the handlers for this process. `setup` is copied. MS_WRK when the driver is gone. */
int ms_exit_guard_install(const ms_setup *setup, int channel, ms_error *err);

/* Names the socket file to remove at the end of this process. */
void ms_exit_guard_socket(const char *path);

/* Removes this worker's socket file, and all of the session's files when the driver is dead (it
 * may still be our parent while the kernel takes it apart). Async-signal-safe. */
void ms_exit_guard_clean(bool orphan);

/* True when the parent is another process than the driver. Async-signal-safe. */
bool ms_exit_guard_orphan(void);

#endif
