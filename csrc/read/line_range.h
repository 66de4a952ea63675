/* SPDX-License-Identifier: MIT
 *
 * Line ranges: parts of text files, for processes that read the lines of one file at the same time.
 *
 * A plain file is cut between lines at places that depend on the file alone; a gzip file is one
 * range. The caller owns both records. Used by one thread. */
#ifndef MS_READ_LINE_RANGE_H
#define MS_READ_LINE_RANGE_H

#include "read/lines.h"

/* Where a file is cut: range k is the bytes [offset[k], offset[k + 1]), and its first line has
 * the number line[k]. An end of -1 is that of the file. */
typedef struct ms_cuts {
  int64_t count;
  int64_t *offset, *line;
} ms_cuts;

/* Cuts a file into ranges of about `size` bytes. NULL with MS_FIL or MS_ARR. */
MS_API ms_cuts *ms_cuts_make(const char *path, int64_t size, ms_error *err);
MS_API void ms_cuts_free(ms_cuts *cuts);

typedef struct ms_line_range ms_line_range;

/* Opens the bytes [first, end) of a file, which begin with line `line`; end -1: all of the file.
 * NULL with MS_FIL or MS_ARR. */
MS_API ms_line_range *ms_line_range_open(const char *path, int64_t first, int64_t end, int64_t line,
                                         ms_error *err);

/* The next line, without its end, and its number: 1, 0 at the end, or -1 with MS_FIL. */
MS_API int ms_line_range_next(ms_line_range *range, const char **line, size_t *length,
                              int64_t *number, ms_error *err);

/* Closes it (NULL: nothing). */
MS_API void ms_line_range_close(ms_line_range *range);

#endif
