/* SPDX-License-Identifier: MIT
 *
 * Lines: see lines.h. A file's lines are those of its ranges. */
#include "read/lines.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int ms_lines_open(ms_lines *lines, const char *path, ms_error *err) {
  *lines = (ms_lines){.path = path};
  return ms_byte_ranges_open(&lines->ranges, path, 0, err);
}

static void begin(ms_lines *lines, const ms_byte_range *range) {
  lines->range = range;
  lines->at = range->text;
  lines->end = range->text + range->length;
  const char *nul = range->length > 0 ? memchr(range->text, '\0', range->length) : NULL;
  lines->nul = nul != NULL ? nul : lines->end;
}

void ms_lines_of(ms_lines *lines, const ms_byte_range *range) {
  *lines = (ms_lines){.path = range->path, .number = range->line - 1, .ranges = {.at_end = true}};
  begin(lines, range);
}

/* Goes on to the next range that has a line: 1, 0 at the end, or -1. */
static int advance(ms_lines *lines, ms_error *err) {
  while (lines->at == lines->end) {
    if (lines->range != NULL && lines->range->trouble.code != MS_OK) {
      const ms_error *trouble = &lines->range->trouble;
      ms_error_set(err, (ms_code)trouble->code, "%s", trouble->message);
      int64_t line = lines->number < INT_MAX ? lines->number + 1 : INT_MAX;
      return ms_error_place(err, lines->path, (int)line);
    }
    if (!ms_byte_ranges_next(&lines->ranges, &lines->own)) return 0;
    begin(lines, &lines->own);
  }
  return 1;
}

int ms_lines_next(ms_lines *lines, const char **line, size_t *length, ms_error *err) {
  int got = advance(lines, err);
  if (got <= 0) return got;
  const char *start = lines->at;
  const char *newline = memchr(start, '\n', (size_t)(lines->end - start));
  const char *stop = newline != NULL ? newline : lines->end;
  lines->number++;
  if ((size_t)(stop - start) > MS_LINE_LIMIT) {
    return ms_lines_error(lines, err, "the line is longer than %zu bytes; is this a text file?",
                          MS_LINE_LIMIT);
  }
  if (lines->nul < stop) {
    return ms_lines_error(lines, err, "byte %zu of the line is NUL; is this a text file?",
                          (size_t)(lines->nul - start) + 1);
  }
  lines->at = newline != NULL ? newline + 1 : lines->end;
  if (stop > start && stop[-1] == '\r') stop--;
  *line = start;
  *length = (size_t)(stop - start);
  return 1;
}

static bool is_data(const char *comment, const char *line, size_t length) {
  size_t prefix = comment != NULL ? strlen(comment) : 0;
  if (prefix > 0 && length >= prefix && memcmp(line, comment, prefix) == 0) return false;
  for (size_t k = 0; k < length; k++) {
    if (line[k] != ' ' && line[k] != '\t' && line[k] != '\r') return true;
  }
  return false;
}

int ms_lines_next_data(ms_lines *lines, const char *comment, int64_t skip, const char **line,
                       size_t *length, ms_error *err) {
  int got;
  do {
    got = ms_lines_next(lines, line, length, err);
  } while (got == 1 && (lines->number <= skip || !is_data(comment, *line, *length)));
  return got;
}

void ms_lines_close(ms_lines *lines) {
  ms_byte_ranges_close(&lines->ranges);
  ms_byte_range_free(&lines->own);
  lines->at = lines->end = NULL;
  lines->range = NULL;
}
