/* SPDX-License-Identifier: MIT
 *
 * Directory: a private place for the files of one process: a session's local sockets, kernels that
 * are not kept.
 *
 * It is made with mode 0700 in XDG_RUNTIME_DIR, else TMPDIR, else /tmp: the first where it can be
 * made and where socket paths stay within MS_DIRECTORY_PATH bytes. A file `lock`, locked for as
 * long as the driver lives, tells directories in use from stale ones, which the next start sweeps
 * away. The driver owns it; a session's workers remove it when they outlive the driver. */
#ifndef MS_BASE_DIRECTORY_H
#define MS_BASE_DIRECTORY_H

#include "base/error.h"

/* Longest socket path; sun_path ends at 107 and some tools cut earlier. */
#define MS_DIRECTORY_PATH 80
#define MS_DIRECTORY_SIZE 96

typedef struct ms_directory {
  char path[MS_DIRECTORY_SIZE]; /* "" when there is none */
  int lock;                     /* descriptor that holds the lock */
} ms_directory;

/* Makes and locks a directory and removes stale ones. MS_NET when no place will do. */
int ms_directory_make(ms_directory *directory, ms_error *err);

/* Removes the directory with all in it and empties the record. */
void ms_directory_remove(ms_directory *directory);

/* Removes every file of the directory and the directory itself. Async-signal-safe. */
void ms_directory_clear(const char *path);

#endif
