/* SPDX-License-Identifier: MIT
 *
 * Pipeline: reads a text file's ranges in several threads and puts the results together in the
 * file's order, so that result and errors are those of reading it line by line.
 *
 * A reader is three functions over `owner`, whatever the caller keeps. Returns when all threads
 * have ended. While one thread takes (and unpacks) the next range, the others parse theirs. */
#ifndef MS_READ_PIPELINE_H
#define MS_READ_PIPELINE_H

#include "read/lines.h"

typedef struct ms_pipeline {
  size_t range_bytes;         /* 0: as fits */
  int threads;                /* 0: as many as there are processors */
  ms_read_progress *progress; /* the caller's, or NULL */
  /* Is shown ranges from the start of the file until it has learned the format from one: 1; 0 when
   * it wants to see the next (this one holds no data and is not read); -1 with an error. */
  int (*look)(void *owner, const ms_byte_range *range, ms_error *err);
  /* Reads one range, in any thread, several at a time: owner is not to be changed. NULL with an
   * error at the first line that has one. */
  void *(*read)(const void *owner, const ms_byte_range *range, ms_error *err);
  /* Takes over the result of a range: in the order of the file, one at a time, in any thread. The
   * result is the owner's, also when this fails. */
  int (*join)(void *owner, void *result, ms_error *err);
  /* Frees a result that is not joined, because an earlier range has an error. */
  void (*drop)(void *result);
} ms_pipeline;

/* Reads the file. -1 with the error of the first line that has one; what was joined until then is
 * the owner's. */
int ms_pipeline_run(const ms_pipeline *pipeline, const char *path, void *owner, ms_error *err);

#endif
