/* SPDX-License-Identifier: MIT
 *
 * Source: the bytes of a file, plain or gzip, one after the other.
 *
 * Whether it is gzip shows in its first two bytes. All of a gzip file must be gzip: several members
 * may follow each other, but nothing else. The caller owns the record; used by one thread at a
 * time. Errors are MS_FIL without a place: the caller knows the line. */
#ifndef MS_READ_SOURCE_H
#define MS_READ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct ms_source {
  int fd;
  bool open;      /* fd is */
  void *inflater; /* a z_stream; NULL for a plain file */
  unsigned char *input;
  size_t begin, end; /* what of the input is not used yet */
  bool at_end;       /* of the file */
  bool between;      /* a gzip member ended, the next one has not begun */
  size_t taken;      /* bytes that were read from the file, as they are stored */
} ms_source;

/* Opens a file: missing, a directory, not readable, memory. */
int ms_source_open(ms_source *source, const char *path, ms_error *err);

/* Reads up to `size` bytes, fewer only at the end or on a failure: a truncated or damaged gzip
 * file, bytes after its end, the system's. *got says how many were read in either case. */
int ms_source_read(ms_source *source, char *buffer, size_t size, size_t *got, ms_error *err);

/* Looks whether a gzip file is damaged, at so much of it as unpacks in about a second: 0, or -1
 * with MS_FIL. */
MS_API int ms_source_check(const char *path, ms_error *err);

/* For an error that is placed at a line: if the file is a damaged gzip file, that is told instead,
 * because what its lines seem to hold comes from the damage. Looks as far as ms_source_check. */
void ms_source_blame(const char *path, ms_error *err);

/* Closes the file; harmless when it is closed already or was never opened (all zeros). */
void ms_source_close(ms_source *source);

#endif
