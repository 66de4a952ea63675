/* SPDX-License-Identifier: MIT
 *
 * Lines of a text file, plain or gzip, one after the other, without copying them.
 *
 * The caller owns the reader; a line is valid until the next call. Used by one thread. */
#ifndef MS_ARRAY_LINES_H
#define MS_ARRAY_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Longer lines are refused: such a file is no table. */
#define MS_LINE_LIMIT ((size_t)1 << 20)

typedef struct ms_lines {
  void *file; /* gzFile */
  const char *path;
  char *buffer;
  size_t begin, end; /* what of the buffer is not handed out yet */
  int64_t number;    /* of the line handed out last, from 1 */
  int at_end;
} ms_lines;

/* Opens a file; `path` must outlive the reader. MS_FIL: missing, a directory, not readable. */
int ms_lines_open(ms_lines *lines, const char *path, ms_error *err);

/* The next line without its end (LF or CRLF): 1, or 0 at the end of the file, or -1 with MS_FIL
 * (a truncated or damaged gzip file, an over-long line). A UTF-8 mark at the start is skipped. */
int ms_lines_next(ms_lines *lines, const char **line, size_t *length, ms_error *err);

/* Fills an MS_FIL error placed at the line handed out last, and returns -1. */
int ms_lines_error(const ms_lines *lines, ms_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Closes the file; harmless when it is closed already. */
void ms_lines_close(ms_lines *lines);

#endif
