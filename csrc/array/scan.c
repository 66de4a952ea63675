/* SPDX-License-Identifier: MIT
 *
 * Scan: see scan.h. */
#include "array/scan.h"

#include <string.h>

#define SHOWN 40

bool ms_line_is_blank(const char *line, size_t length) {
  for (size_t k = 0; k < length; k++) {
    if (line[k] != ' ' && line[k] != '\t' && line[k] != '\r') return false;
  }
  return true;
}

int ms_line_shown(size_t length) {
  return length < SHOWN ? (int)length : SHOWN;
}

static int scan_file(const ms_sources *sources, const char *path, ms_take_line take, void *context,
                     ms_error *err) {
  ms_lines lines;
  const char *line;
  size_t length, prefix = sources->comment != NULL ? strlen(sources->comment) : 0;
  if (ms_lines_open(&lines, path, err) != 0) return -1;
  int got;
  while ((got = ms_lines_next(&lines, &line, &length, err)) == 1) {
    if (lines.number <= sources->skip || ms_line_is_blank(line, length)) continue;
    if (prefix > 0 && length >= prefix && memcmp(line, sources->comment, prefix) == 0) continue;
    if (take(context, &lines, line, length, err) != 0) {
      got = -1;
      break;
    }
  }
  ms_lines_close(&lines);
  return got;
}

int ms_scan(const ms_sources *sources, ms_take_line take, void *context, ms_error *err) {
  for (int64_t k = 0; k < sources->count; k++) {
    if (scan_file(sources, sources->paths[k], take, context, err) != 0) return -1;
  }
  return 0;
}
