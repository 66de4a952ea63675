/* SPDX-License-Identifier: MIT
 *
 * Child: a process that this one has started, until it was reaped.
 *
 * A pidfd keeps a signal from ever reaching another process that got its number. Hosts that ignore
 * or reap SIGCHLD are fine: then only the cause of death stays unknown. One thread a child. */
#ifndef MS_BASE_CHILD_H
#define MS_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct ms_child {
  pid_t pid;  /* 0: none */
  int pidfd;  /* -1 where the kernel has none */
  int status; /* waitpid's, once it ended; -1: unknown */
} ms_child;

/* Makes the record of a process that was just started. */
void ms_child_watch(ms_child *child, pid_t pid);

/* Sends a signal; nothing happens when the child is gone. */
void ms_child_signal(const ms_child *child, int signal);

/* Waits up to `timeout` ms for the child's end and reaps it; true when it has ended. */
bool ms_child_wait(ms_child *child, int timeout);

/* Appends how it ended ("was killed by signal 9 (Killed)") to `text` of `size` bytes. */
void ms_child_describe(const ms_child *child, char *text, size_t size);

/* The signal that ended the child, 0 for none or unknown. */
int ms_child_cause(const ms_child *child);

#endif
