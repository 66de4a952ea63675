/* SPDX-License-Identifier: MIT
 *
 * Lines: see lines.h. zlib reads plain files as they are. */
#include "array/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define READ_SIZE   ((size_t)1 << 18)
#define BUFFER_SIZE (MS_LINE_LIMIT + READ_SIZE)

int ms_lines_error(const ms_lines *lines, ms_error *err, const char *format, ...) {
  char message[MS_ERROR_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  ms_error_set(err, MS_FIL, "%s", message);
  int64_t line = lines->number < INT_MAX ? lines->number : INT_MAX;
  return ms_error_place(err, lines->path, (int)line);
}

static int file_error(const ms_lines *lines, ms_error *err, const char *what) {
  ms_error_set(err, MS_FIL, "%s", what);
  return ms_error_place(err, lines->path, 0);
}

int ms_lines_open(ms_lines *lines, const char *path, ms_error *err) {
  *lines = (ms_lines){.path = path};
  struct stat state;
  if (stat(path, &state) != 0) return file_error(lines, err, strerror(errno));
  if (S_ISDIR(state.st_mode)) return file_error(lines, err, "is a directory, not a file");
  lines->buffer = malloc(BUFFER_SIZE);
  if (lines->buffer == NULL) return file_error(lines, err, "out of memory");
  errno = 0;
  lines->file = gzopen(path, "rbe");
  if (lines->file == NULL) {
    file_error(lines, err, errno != 0 ? strerror(errno) : "out of memory");
    ms_lines_close(lines);
    return -1;
  }
  gzbuffer(lines->file, (unsigned)READ_SIZE);
  return 0;
}

/* Reads more behind what is in the buffer, which is moved to its start. */
static int refill(ms_lines *lines, ms_error *err) {
  memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
  lines->end -= lines->begin;
  lines->begin = 0;
  int got = gzread(lines->file, lines->buffer + lines->end, (unsigned)READ_SIZE);
  int state = Z_OK;
  const char *text = gzerror(lines->file, &state);
  if (got < 0 || (state != Z_OK && state != Z_STREAM_END)) {
    if (state == Z_BUF_ERROR) return file_error(lines, err, "the gzip file is truncated");
    if (state == Z_ERRNO) return file_error(lines, err, strerror(errno));
    char message[256];
    snprintf(message, sizeof message, "the gzip file is damaged: %s", text);
    return file_error(lines, err, message);
  }
  lines->end += (size_t)got;
  lines->at_end = got == 0;
  return 0;
}

static void skip_mark(ms_lines *lines) {
  if (lines->end - lines->begin >= 3 &&
      memcmp(lines->buffer + lines->begin, "\xEF\xBB\xBF", 3) == 0) {
    lines->begin += 3;
  }
}

/* The end of the line that starts at `begin`, reading more as needed; NULL at the end of the file
 * or on an error. */
static char *find_end(ms_lines *lines, ms_error *err) {
  size_t seen = 0;
  for (;;) {
    char *start = lines->buffer + lines->begin;
    char *newline = memchr(start + seen, '\n', lines->end - lines->begin - seen);
    if (newline != NULL || lines->at_end) return newline;
    seen = lines->end - lines->begin;
    if (seen > MS_LINE_LIMIT) {
      lines->number++;
      ms_lines_error(lines, err, "the line is longer than %zu bytes; is this a text file?",
                     MS_LINE_LIMIT);
      return NULL;
    }
    if (refill(lines, err) != 0) return NULL;
  }
}

int ms_lines_next(ms_lines *lines, const char **line, size_t *length, ms_error *err) {
  if (lines->number == 0 && lines->end == 0) {
    if (refill(lines, err) != 0) return -1;
    skip_mark(lines);
  }
  char *newline = find_end(lines, err);
  if (newline == NULL && !lines->at_end) return -1;
  if (newline == NULL && lines->begin == lines->end) return 0;
  char *start = lines->buffer + lines->begin;
  char *stop = newline != NULL ? newline : lines->buffer + lines->end;
  lines->begin = (size_t)(stop - lines->buffer) + (newline != NULL ? 1 : 0);
  if (stop > start && stop[-1] == '\r') stop--;
  lines->number++;
  *line = start;
  *length = (size_t)(stop - start);
  return 1;
}

void ms_lines_close(ms_lines *lines) {
  if (lines->file != NULL) gzclose(lines->file);
  free(lines->buffer);
  lines->file = NULL;
  lines->buffer = NULL;
}
