/* SPDX-License-Identifier: MIT
 *
 * Byte ranges: see byte_range.h. Lines are counted while the file is cut, which costs a tenth of
 * parsing them and lets every range know its line numbers from the start. */
#include "read/byte_range.h"

#include <stdlib.h>
#include <string.h>

/* Large enough to make up for threads, small enough that a file of some MB feeds several. */
#define USUAL_SIZE ((size_t)1 << 20)
#define MARK       "\xEF\xBB\xBF" /* UTF-8's byte order mark */

int ms_byte_ranges_open(ms_byte_ranges *ranges, const char *path, size_t size, ms_error *err) {
  *ranges = (ms_byte_ranges){.path = path, .size = size > 0 ? size : USUAL_SIZE, .line = 1};
  if (ms_source_open(&ranges->source, path, err) == 0) return 0;
  return ms_error_place(err, path, 0);
}

/* Makes room for `capacity` bytes. */
static int reserve(char **buffer, size_t *capacity, size_t wanted, ms_error *err) {
  if (wanted <= *capacity) return 0;
  char *grown = realloc(*buffer, wanted);
  if (grown == NULL) return ms_error_memory(err, MS_ARR, "the lines of the file");
  *buffer = grown;
  *capacity = wanted;
  return 0;
}

static int64_t count_lines(const char *text, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += text[i] == '\n';
  return (int64_t)count + (length > 0 && text[length - 1] != '\n');
}

/* Reads until the buffer holds a line's end and about `size` bytes, or the file ends, or there is
 * a line that is too long. *length is how much was read in all. */
static int read_lines(ms_byte_ranges *ranges, ms_byte_range *range, size_t *length) {
  size_t searched = 0;
  for (;;) {
    size_t got = 0, wanted = *length + ranges->size;
    if (reserve(&range->buffer, &range->capacity, wanted, &range->trouble) != 0) return -1;
    int status = ms_source_read(&ranges->source, range->buffer + *length, wanted - *length, &got,
                                &range->trouble);
    *length += got;
    if (status != 0) return -1;
    if (*length < wanted) return 1;
    if (memrchr(range->buffer + searched, '\n', *length - searched) != NULL) return 0;
    if (*length > MS_LINE_LIMIT) return 0;
    searched = *length;
  }
}

/* Keeps what follows the last line's end for the next range. A line too long to be kept is handed
 * out as it is: whoever reads it refuses it. */
static int carry(ms_byte_ranges *ranges, ms_byte_range *range, size_t *length) {
  const char *last = memrchr(range->buffer, '\n', *length);
  size_t whole = last != NULL ? (size_t)(last - range->buffer) + 1 : 0;
  if (whole == 0 && *length > MS_LINE_LIMIT) return 0;
  size_t left = *length - whole;
  if (reserve(&ranges->carried, &ranges->carried_capacity, left, &range->trouble) != 0) return -1;
  if (left > 0) memcpy(ranges->carried, range->buffer + whole, left);
  ranges->carried_length = left;
  *length = whole;
  return 0;
}

/* -1 when the file is to be left. */
static int look_up(const ms_byte_ranges *ranges, ms_error *err) {
  if (ranges->progress == NULL || !atomic_load(&ranges->progress->stop)) return 0;
  return ms_error_set(err, MS_INT, "interrupted while the file was read");
}

/* Tells how far the file is read. */
static void tell(ms_byte_ranges *ranges) {
  if (ranges->progress == NULL) return;
  atomic_fetch_add(&ranges->progress->read, (long long)(ranges->source.taken - ranges->told));
  ranges->told = ranges->source.taken;
}

int ms_byte_ranges_next(ms_byte_ranges *ranges, ms_byte_range *range) {
  if (ranges->at_end) return 0;
  size_t length = ranges->carried_length;
  ms_error_clear(&range->trouble);
  int status = reserve(&range->buffer, &range->capacity, length, &range->trouble);
  if (status == 0) status = look_up(ranges, &range->trouble);
  if (status == 0) {
    if (length > 0) memcpy(range->buffer, ranges->carried, length);
    ranges->carried_length = 0;
    status = read_lines(ranges, range, &length);
  } else {
    length = 0;
  }
  /* After a fault the line that it cut off is not a line of the file. */
  if (status <= 0 && carry(ranges, range, &length) != 0) status = -1;
  ranges->at_end = status != 0;
  tell(ranges);
  bool marked = ranges->number == 0 && length >= 3 && memcmp(range->buffer, MARK, 3) == 0;
  range->text = marked ? range->buffer + 3 : range->buffer;
  range->length = marked ? length - 3 : length;
  range->path = ranges->path;
  range->number = ranges->number;
  range->line = ranges->line;
  range->lines = count_lines(range->text, range->length);
  if (range->length == 0 && range->trouble.code == MS_OK) return 0;
  ranges->number++;
  ranges->line += range->lines;
  return 1;
}

void ms_byte_range_free(ms_byte_range *range) {
  free(range->buffer);
  *range = (ms_byte_range){0};
}

void ms_byte_ranges_close(ms_byte_ranges *ranges) {
  ms_source_close(&ranges->source);
  free(ranges->carried);
  *ranges = (ms_byte_ranges){.at_end = true};
}
