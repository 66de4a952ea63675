/* SPDX-License-Identifier: MIT
 *
 * Byte ranges: cuts a text file, plain or gzip, into ranges of whole lines that can be read apart.
 *
 * The ranges are those of the file in order, whoever takes them; a range knows its place, so what
 * is said about a line is the same as if the file had been read in one go. The caller owns both
 * records; taking ranges is for one thread at a time, a taken range belongs to who took it. */
#ifndef MS_READ_BYTE_RANGE_H
#define MS_READ_BYTE_RANGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "read/source.h"

/* Longer lines are refused: such a file is no table. */
#define MS_LINE_LIMIT ((size_t)1 << 20)

/* How far a reading of one or more files is: shared by those who read and who watches. */
typedef struct ms_read_progress {
  atomic_llong read; /* bytes, as they are stored */
  atomic_bool stop;  /* no more ranges are wanted */
} ms_read_progress;

typedef struct ms_byte_range {
  char *buffer;
  size_t capacity;
  const char *text; /* into the buffer */
  size_t length;
  const char *path;
  int64_t number;   /* of the range, from 0 */
  int64_t line;     /* number of its first line, from 1 */
  int64_t lines;    /* how many it has, counting one without an end */
  ms_error trouble; /* why the file ends after these lines, if that is a fault or it is to be left
                       (MS_INT); no place */
} ms_byte_range;

typedef struct ms_byte_ranges {
  ms_source source;
  const char *path;
  size_t size;
  char *carried; /* the start of a line that the last range did not hold all of */
  size_t carried_length, carried_capacity;
  int64_t number, line; /* of the next range */
  bool at_end;
  ms_read_progress *progress; /* the caller's, or NULL; to be set when it is open */
  size_t told;                /* bytes that the progress knows of */
} ms_byte_ranges;

/* Opens a file; `path` must outlive the records. Pieces have about `size` bytes (0: as fits), more
 * where a line is longer. MS_FIL, placed: missing, a directory, not readable. */
int ms_byte_ranges_open(ms_byte_ranges *ranges, const char *path, size_t size, ms_error *err);

/* Fills the range (all zeros, or one used before) with the next lines: 1, or 0 at the end of the
 * file. A fault in the file shows in the range's `trouble`, after the lines before it. A UTF-8 mark
 * at the start of the file is left out. */
int ms_byte_ranges_next(ms_byte_ranges *ranges, ms_byte_range *range);

/* Frees the range's buffer. */
void ms_byte_range_free(ms_byte_range *range);

/* Closes the file; harmless when it is closed already. */
void ms_byte_ranges_close(ms_byte_ranges *ranges);

#endif
