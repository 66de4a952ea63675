/* SPDX-License-Identifier: MIT
 *
 * docword: see docword.h. */
#include "read/docword.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "read/entries.h"
#include "read/fields.h"
#include "read/number.h"

static const char *const head_names[] = {"the number of documents", "the number of words",
                                         "the number of entries"};

typedef struct reader {
  const ms_type_ops *ops;
  ms_separator blanks;
  int heads;         /* of the three numbers, how many were read */
  int64_t head[3];   /* documents, words, entries */
  int64_t last_head; /* the line of the third */
} reader;

typedef struct part {
  ms_scan_part head;
  ms_entries entries;
  int64_t first_line; /* of the first entry */
} part;

static int look(void *owner, const ms_lines *lines, const char *line, size_t length,
                ms_error *err) {
  reader *r = owner;
  ms_line_field field;
  char shown[MS_SHOWN_SIZE];
  const int64_t most = r->heads < 2 ? MS_ARRAY_EXTENT : MS_ARRAY_ENTRIES / 2;
  int64_t *number = &r->head[r->heads];
  if (ms_fields_cut(&r->blanks, line, length, &field, 1) != 1 ||
      !ms_number_integer(field.text, field.length, number) || *number < 0 || *number > most) {
    return ms_lines_error(lines, err, "expected %s, a whole number up to %" PRId64 ", found '%s'",
                          head_names[r->heads], most, ms_shown(line, length, shown, sizeof shown));
  }
  r->last_head = lines->number;
  return ++r->heads == 3;
}

/* An id in 1..extent, 0-based, or -1 with an error. */
static int64_t read_id(const ms_lines *lines, const char *what, const ms_line_field *field,
                       int64_t extent, ms_error *err) {
  int64_t id;
  char shown[MS_SHOWN_SIZE];
  if (ms_number_integer(field->text, field->length, &id) && id >= 1 && id <= extent) return id - 1;
  return ms_lines_error(lines, err, "expected a %s from 1 to %" PRId64 ", found '%s'", what, extent,
                        ms_shown(field->text, field->length, shown, sizeof shown));
}

static int read_count(const reader *r, const ms_lines *lines, const ms_line_field *field,
                      double *value, ms_error *err) {
  int64_t count;
  char shown[MS_SHOWN_SIZE];
  bool good = ms_number_integer(field->text, field->length, &count) && count >= 1;
  *value = good ? (double)count : 0;
  if (good && ms_type_holds(r->ops, *value)) return 0;
  return ms_lines_error(lines, err, "expected a count of 1 or more, found '%s'",
                        ms_shown(field->text, field->length, shown, sizeof shown));
}

static int take_line(const void *owner, ms_scan_part *head, const ms_lines *lines, const char *line,
                     size_t length, ms_error *err) {
  const reader *r = owner;
  part *p = (part *)head;
  ms_line_field fields[3];
  char shown[MS_SHOWN_SIZE];
  double value;
  if (lines->number <= r->last_head) return 0;
  if (ms_fields_cut(&r->blanks, line, length, fields, 3) != 3) {
    return ms_lines_error(lines, err, "expected 'document word count', found '%s'",
                          ms_shown(line, length, shown, sizeof shown));
  }
  int64_t document = read_id(lines, "document", &fields[0], r->head[0], err);
  int64_t word = document < 0 ? -1 : read_id(lines, "word", &fields[1], r->head[1], err);
  if (word < 0 || read_count(r, lines, &fields[2], &value, err) != 0) return -1;
  if (p->entries.count == 0) p->first_line = lines->number;
  return ms_entries_add(&p->entries, (int32_t)document, (int32_t)word, value, err);
}

static void clear(ms_scan_part *head) {
  ms_entries_free(&((part *)head)->entries);
}

/* What is only known at the end of the file. */
static int check_whole(const reader *r, const ms_scan_part *parts, const char *path,
                       ms_error *err) {
  if (r->heads < 3) {
    ms_error_set(err, MS_FIL, "expected %s, found the end of the file", head_names[r->heads]);
    return ms_error_place(err, path, 0);
  }
  const int64_t expected = r->head[2];
  int64_t count = 0, line = 0;
  for (; parts != NULL; parts = parts->next) {
    const part *p = (const part *)parts;
    /* Blank lines among the entries would move the first one too many. */
    if (line == 0 && count + p->entries.count > expected) line = p->first_line + expected - count;
    count += p->entries.count;
  }
  if (count == expected) return 0;
  ms_error_set(err, MS_FIL, "expected %" PRId64 " entries as line 3 says, found %" PRId64 "%s",
               expected, count, count < expected ? ": the file is truncated" : "");
  return ms_error_place(err, path, line < INT_MAX ? (int)line : INT_MAX);
}

static ms_array *make_array(const reader *r, ms_scan_part **parts, int type, ms_error *err) {
  ms_array *counts = ms_array_sparse(type, 2, r->head, r->head[2], err);
  int64_t place = 0;
  for (; counts != NULL && *parts != NULL; *parts = ms_scan_part_free(*parts)) {
    const part *p = (const part *)*parts;
    ms_entries_copy(&p->entries, counts, place, 0);
    place += p->entries.count;
  }
  return counts;
}

static int refuse_words(const char *path, int64_t line, int64_t expected, int64_t found,
                        ms_error *err) {
  ms_error_set(err, MS_FIL, "expected %" PRId64 " words, one a line, found %" PRId64 "%s", expected,
               found, found > expected ? " or more" : "");
  return ms_error_place(err, path, line < INT_MAX ? (int)line : INT_MAX);
}

/* Words while the vocabulary is read. */
typedef struct words {
  char *bytes;
  uint64_t *offsets;
  int64_t count;
  uint64_t capacity;
} words;

static int add_word(words *w, const char *line, size_t length, ms_error *err) {
  while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) length--;
  uint64_t end = w->offsets[w->count] + length;
  if (end > w->capacity) {
    char *grown = realloc(w->bytes, (size_t)end * 2);
    if (grown == NULL) return ms_error_memory(err, MS_ARR, "the vocabulary");
    w->bytes = grown;
    w->capacity = end * 2;
  }
  memcpy(w->bytes + w->offsets[w->count], line, length);
  w->offsets[++w->count] = end;
  return 0;
}

static int read_words(words *w, const char *path, int64_t expected, ms_error *err) {
  ms_lines lines;
  const char *line;
  size_t length;
  w->offsets = calloc((size_t)expected + 1, sizeof *w->offsets);
  if (w->offsets == NULL) return ms_error_memory(err, MS_ARR, "the vocabulary");
  if (ms_lines_open(&lines, path, err) != 0) return -1;
  int got;
  while ((got = ms_lines_next_data(&lines, NULL, 0, &line, &length, err)) == 1) {
    if (w->count == expected) got = refuse_words(path, lines.number, expected, expected + 1, err);
    if (got < 0 || add_word(w, line, length, err) != 0) {
      got = -1;
      break;
    }
  }
  ms_lines_close(&lines);
  if (got == 0 && w->count < expected) return refuse_words(path, 0, expected, w->count, err);
  return got;
}

static ms_labels *read_vocabulary(const char *path, int64_t expected, ms_error *err) {
  words w = {0};
  if (read_words(&w, path, expected, err) != 0) {
    free(w.bytes);
    free(w.offsets);
    return NULL;
  }
  ms_labels *labels = ms_labels_strings(w.bytes, w.offsets, w.count, err);
  if (labels == NULL) ms_error_place(err, path, 0);
  return labels;
}

ms_array *ms_docword_read(const ms_files *file, const ms_docword *options, ms_error *err) {
  static const ms_scanner scanner = {
      .part_size = sizeof(part), .look = look, .take = take_line, .clear = clear};
  const char *path = file->paths[0], *vocabulary = options->vocabulary;
  reader r = {.ops = ms_type_of(options->type), .blanks = ms_separator_named(" ")};
  ms_labels *labels = NULL;
  ms_scan_part *parts;
  ms_array *counts = NULL;
  if (ms_scan(file, &scanner, &r, &parts, err) != 0) return NULL;
  if (check_whole(&r, parts, path, err) == 0) {
    if (vocabulary != NULL) labels = read_vocabulary(vocabulary, r.head[1], err);
    if (vocabulary == NULL || labels != NULL) counts = make_array(&r, &parts, options->type, err);
  }
  if (counts != NULL) {
    counts->labels[1] = labels;
  } else {
    ms_labels_release(&labels);
  }
  ms_scan_parts_free(&parts);
  return counts;
}
