/* SPDX-License-Identifier: MIT
 *
 * Line ranges: see line_range.h. */
#include "read/line_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/source.h"

#define BLOCK ((size_t)1 << 20)

struct ms_line_range {
  char *path;
  ms_lines lines;
  ms_byte_range bytes; /* of a part of a file */
};

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the lines of a file");
}

static int add_cut(ms_cuts *cuts, int64_t offset, int64_t line, ms_error *err) {
  size_t room = (size_t)cuts->count + 2;
  int64_t *offsets = realloc(cuts->offset, room * sizeof *offsets);
  if (offsets == NULL) return out_of_memory(err);
  cuts->offset = offsets;
  int64_t *lines = realloc(cuts->line, room * sizeof *lines);
  if (lines == NULL) return out_of_memory(err);
  cuts->line = lines;
  cuts->offset[cuts->count] = offset;
  cuts->line[cuts->count++] = line;
  return 0;
}

/* Finds the places in one block of the file, which begins at byte `at` and in line *line: behind
 * the first line end of each `size` bytes. */
static int cut_block(ms_cuts *cuts, const char *block, size_t length, int64_t at, int64_t *line,
                     int64_t size, ms_error *err) {
  const char *from = block, *end = block + length, *newline;
  while ((newline = memchr(from, '\n', (size_t)(end - from))) != NULL) {
    from = newline + 1;
    (*line)++;
    int64_t here = at + (from - block);
    if (here - cuts->offset[cuts->count - 1] < size) continue;
    if (add_cut(cuts, here, *line, err) != 0) return -1;
  }
  return 0;
}

static int cut_plain(ms_cuts *cuts, ms_source *source, int64_t size, ms_error *err) {
  char *block = malloc(BLOCK);
  if (block == NULL) return out_of_memory(err);
  int64_t at = 0, line = 1;
  size_t got = BLOCK;
  int failed = 0;
  while (failed == 0 && got == BLOCK) {
    failed = ms_source_read(source, block, BLOCK, &got, err);
    if (failed == 0) failed = cut_block(cuts, block, got, at, &line, size, err);
    at += (int64_t)got;
  }
  free(block);
  if (failed != 0) return -1;
  if (cuts->count > 1 && cuts->offset[cuts->count - 1] == at) cuts->count--;
  cuts->offset[cuts->count] = at;
  return 0;
}

ms_cuts *ms_cuts_make(const char *path, int64_t size, ms_error *err) {
  ms_source source = {0};
  ms_cuts *cuts = calloc(1, sizeof *cuts);
  int failed = cuts == NULL ? out_of_memory(err) : ms_source_open(&source, path, err);
  if (failed == 0) failed = add_cut(cuts, 0, 1, err);
  if (failed == 0 && source.inflater != NULL) {
    cuts->offset[1] = -1;
  } else if (failed == 0) {
    failed = cut_plain(cuts, &source, size, err);
  }
  ms_source_close(&source);
  if (failed == 0) return cuts;
  ms_error_place(err, path, 0);
  ms_cuts_free(cuts);
  return NULL;
}

void ms_cuts_free(ms_cuts *cuts) {
  if (cuts == NULL) return;
  free(cuts->offset);
  free(cuts->line);
  free(cuts);
}

/* Reads the bytes [first, end) of a plain file. */
static int load(ms_line_range *range, int64_t first, int64_t end, ms_error *err) {
  FILE *file = fopen(range->path, "rbe");
  ms_byte_range *bytes = &range->bytes;
  size_t size = (size_t)(end - first), got = 0;
  bytes->buffer = malloc(size + 1);
  if (bytes->buffer != NULL && file != NULL && fseeko(file, first, SEEK_SET) == 0) {
    got = fread(bytes->buffer, 1, size, file);
  }
  if (file != NULL) fclose(file);
  if (bytes->buffer == NULL) return out_of_memory(err);
  if (got < size) {
    ms_error_set(err, MS_FIL, "the file became shorter while it was read");
    return ms_error_place(err, range->path, 0);
  }
  bool marked = first == 0 && size >= 3 && memcmp(bytes->buffer, "\xEF\xBB\xBF", 3) == 0;
  bytes->text = bytes->buffer + (marked ? 3 : 0);
  bytes->length = size - (marked ? 3 : 0);
  bytes->path = range->path;
  return 0;
}

ms_line_range *ms_line_range_open(const char *path, int64_t first, int64_t end, int64_t line,
                                  ms_error *err) {
  ms_line_range *range = calloc(1, sizeof *range);
  if (range != NULL) range->path = strdup(path);
  int failed = range == NULL || range->path == NULL ? out_of_memory(err) : 0;
  if (failed == 0 && end < 0) {
    failed = ms_lines_open(&range->lines, range->path, err);
  } else if (failed == 0) {
    range->bytes.line = line;
    failed = load(range, first, end, err);
    if (failed == 0) ms_lines_of(&range->lines, &range->bytes);
  }
  if (failed == 0) return range;
  ms_line_range_close(range);
  return NULL;
}

int ms_line_range_next(ms_line_range *range, const char **line, size_t *length, int64_t *number,
                       ms_error *err) {
  int got = ms_lines_next(&range->lines, line, length, err);
  *number = range->lines.number;
  if (got < 0) ms_source_blame(range->path, err);
  return got;
}

void ms_line_range_close(ms_line_range *range) {
  if (range == NULL) return;
  ms_lines_close(&range->lines);
  ms_byte_range_free(&range->bytes);
  free(range->path);
  free(range);
}
