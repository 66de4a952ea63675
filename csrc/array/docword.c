/* SPDX-License-Identifier: MIT
 *
 * docword: see docword.h. */
#include "array/docword.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/entries.h"
#include "array/fields.h"
#include "array/number.h"

static const char *const head_names[] = {"the number of documents", "the number of words",
                                         "the number of entries"};

typedef struct reader {
  const ms_type_ops *ops;
  int heads;       /* of the three numbers, how many were read */
  int64_t head[3]; /* documents, words, entries */
  ms_separator blanks;
  ms_entries entries;
} reader;

static int read_head(reader *r, const ms_lines *lines, const char *line, size_t length,
                     ms_error *err) {
  ms_field field;
  const int64_t most = r->heads < 2 ? MS_ARRAY_EXTENT : MS_ARRAY_ENTRIES;
  int64_t *number = &r->head[r->heads];
  if (ms_fields_cut(&r->blanks, line, length, &field, 1) != 1 ||
      !ms_number_integer(field.text, field.length, number) || *number < 0 || *number > most) {
    return ms_lines_error(lines, err, "expected %s, a whole number up to %" PRId64 ", found '%.*s'",
                          head_names[r->heads], most, ms_line_shown(length), line);
  }
  r->heads++;
  return 0;
}

/* An id in 1..extent, 0-based, or -1 with an error. */
static int64_t read_id(const ms_lines *lines, const char *what, const ms_field *field,
                       int64_t extent, ms_error *err) {
  int64_t id;
  if (ms_number_integer(field->text, field->length, &id) && id >= 1 && id <= extent) return id - 1;
  return ms_lines_error(lines, err, "expected a %s from 1 to %" PRId64 ", found '%.*s'", what,
                        extent, ms_line_shown(field->length), field->text);
}

static int read_entry(reader *r, const ms_lines *lines, const char *line, size_t length,
                      ms_error *err) {
  ms_field fields[3];
  size_t found = ms_fields_cut(&r->blanks, line, length, fields, 3);
  if (found != 3) {
    return ms_lines_error(lines, err, "expected 'document word count', found '%.*s'",
                          ms_line_shown(length), line);
  }
  if (r->entries.count == r->head[2]) {
    return ms_lines_error(lines, err, "expected %" PRId64 " entries as line 3 says, found more",
                          r->head[2]);
  }
  int64_t document = read_id(lines, "document", &fields[0], r->head[0], err);
  int64_t word = document < 0 ? -1 : read_id(lines, "word", &fields[1], r->head[1], err);
  if (word < 0) return -1;
  int64_t count;
  double value, packed;
  bool good = ms_number_integer(fields[2].text, fields[2].length, &count) && count >= 1;
  value = good ? (double)count : 0;
  if (!good || (r->ops->integer && r->ops->narrow(&value, &packed, 1) != 1)) {
    return ms_lines_error(lines, err, "expected a count of 1 or more, found '%.*s'",
                          ms_line_shown(fields[2].length), fields[2].text);
  }
  return ms_entries_add(&r->entries, (int32_t)document, (int32_t)word, value, err);
}

static int take_line(void *context, const ms_lines *lines, const char *line, size_t length,
                     ms_error *err) {
  reader *r = context;
  if (r->heads < 3) return read_head(r, lines, line, length, err);
  return read_entry(r, lines, line, length, err);
}

/* What is only known at the end of the file. */
static int check_whole(const reader *r, const char *path, ms_error *err) {
  if (r->heads < 3) {
    ms_error_set(err, MS_FIL, "expected %s, found the end of the file", head_names[r->heads]);
  } else if (r->entries.count < r->head[2]) {
    ms_error_set(err, MS_FIL,
                 "expected %" PRId64 " entries as line 3 says, found %" PRId64
                 ": the file is truncated",
                 r->head[2], r->entries.count);
  } else {
    return 0;
  }
  return ms_error_place(err, path, 0);
}

/* Words while the vocabulary is read. */
typedef struct words {
  char *bytes;
  uint64_t *offsets;
  int64_t count, expected;
  uint64_t capacity;
} words;

static int take_word(void *context, const ms_lines *lines, const char *line, size_t length,
                     ms_error *err) {
  words *w = context;
  while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) length--;
  if (w->count == w->expected) {
    return ms_lines_error(lines, err, "expected %" PRId64 " words, one a line, found more",
                          w->expected);
  }
  uint64_t end = w->offsets[w->count] + length;
  if (end > w->capacity) {
    char *grown = realloc(w->bytes, (size_t)end * 2);
    if (grown == NULL) return ms_error_set(err, MS_ARR, "out of memory for the vocabulary");
    w->bytes = grown;
    w->capacity = end * 2;
  }
  memcpy(w->bytes + w->offsets[w->count], line, length);
  w->offsets[++w->count] = end;
  return 0;
}

static ms_labels *read_vocabulary(const char *path, int64_t expected, ms_error *err) {
  words w = {.expected = expected};
  const ms_sources sources = {.paths = &path, .count = 1};
  w.offsets = calloc((size_t)expected + 1, sizeof *w.offsets);
  int failed = w.offsets == NULL ? ms_error_set(err, MS_ARR, "out of memory for the vocabulary")
                                 : ms_scan(&sources, take_word, &w, err);
  if (failed == 0 && w.count < expected) {
    ms_error_set(err, MS_FIL, "expected %" PRId64 " words, one a line, found %" PRId64, expected,
                 w.count);
    failed = ms_error_place(err, path, 0);
  }
  if (failed != 0) {
    free(w.bytes);
    free(w.offsets);
    return NULL;
  }
  ms_labels *labels = ms_labels_strings(w.bytes, w.offsets, w.count, err);
  if (labels == NULL) ms_error_place(err, path, 0);
  return labels;
}

ms_array *ms_docword_read(const char *path, const char *vocabulary, int type, ms_error *err) {
  reader r = {.ops = ms_type_of(type), .blanks = ms_separator_named(" ")};
  const ms_sources sources = {.paths = &path, .count = 1};
  ms_array *counts = NULL;
  ms_labels *labels = NULL;
  if (ms_scan(&sources, take_line, &r, err) == 0 && check_whole(&r, path, err) == 0) {
    if (vocabulary != NULL) labels = read_vocabulary(vocabulary, r.head[1], err);
    if (vocabulary == NULL || labels != NULL) {
      counts = ms_entries_array(&r.entries, type, r.head, err);
    }
  }
  if (counts != NULL) {
    counts->labels[1] = labels;
  } else {
    ms_labels_release(&labels);
  }
  ms_entries_free(&r.entries);
  return counts;
}
