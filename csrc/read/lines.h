/* SPDX-License-Identifier: MIT
 *
 * Lines of a text file, plain or gzip, or of a range of one, one after the other, without copying
 * them.
 *
 * The caller owns the reader; a line is valid until the next call. Used by one thread. */
#ifndef MS_READ_LINES_H
#define MS_READ_LINES_H

#include "read/byte_range.h"

typedef struct ms_lines {
  const char *path;
  int64_t number;       /* of the line handed out last, from 1 */
  const char *at, *end; /* what of the range is not handed out yet */
  const char *nul;      /* the first NUL byte in it, or its end */
  const ms_byte_range *range;
  ms_byte_ranges ranges; /* of a whole file: where the next range comes from */
  ms_byte_range own;     /* and the one that is being read */
} ms_lines;

/* Opens a file; `path` must outlive the reader. MS_FIL: missing, a directory, not readable. */
int ms_lines_open(ms_lines *lines, const char *path, ms_error *err);

/* The lines of one range, which must outlive the reader; nothing needs closing. */
void ms_lines_of(ms_lines *lines, const ms_byte_range *range);

/* The next line without its end (LF or CRLF): 1, or 0 at the end of the file or range, or -1 with
 * MS_FIL placed at the line (truncated or damaged gzip data, a NUL byte, an over-long line). */
int ms_lines_next(ms_lines *lines, const char **line, size_t *length, ms_error *err);

/* The next line of data: neither blank, nor among the first `skip` of the file, nor beginning with
 * `comment` (unless that is NULL). Returns what ms_lines_next does. */
int ms_lines_next_data(ms_lines *lines, const char *comment, int64_t skip, const char **line,
                       size_t *length, ms_error *err);

/* Fills an MS_FIL error placed at the line handed out last, and returns -1. */
int ms_lines_error(const ms_lines *lines, ms_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Closes the file; harmless when it is closed already. */
void ms_lines_close(ms_lines *lines);

#endif
