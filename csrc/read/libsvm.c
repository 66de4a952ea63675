/* SPDX-License-Identifier: MIT
 *
 * libsvm: see libsvm.h. */
#include "read/libsvm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digit.h"
#include "base/shown.h"
#include "read/entries.h"
#include "read/number.h"

#define FIRST_CAPACITY 1024

typedef struct reader {
  const ms_libsvm *options;
  const ms_type_ops *ops;
} reader;

/* Examples that follow each other. */
typedef struct part {
  ms_scan_part head;
  ms_entries entries;
  double *labels;
  int64_t rows, capacity;
  int64_t features; /* the largest id so far */
} part;

/* What of a line is not read yet, and where it stands. */
typedef struct cursor {
  const ms_lines *lines;
  const char *at, *end;
} cursor;

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static void skip_blanks(cursor *c) {
  while (c->at < c->end && is_blank(*c->at)) c->at++;
}

static const char *word_end(const cursor *c) {
  const char *at = c->at;
  while (at < c->end && !is_blank(*at)) at++;
  return at;
}

static int refuse(const cursor *c, const char *expected, ms_error *err) {
  char shown[MS_SHOWN_SIZE];
  return ms_lines_error(c->lines, err, "expected %s, found '%s'", expected,
                        ms_shown(c->at, (size_t)(word_end(c) - c->at), shown, sizeof shown));
}

static int add_label(part *p, double label, ms_error *err) {
  if (p->rows == p->capacity) {
    int64_t capacity = p->capacity == 0 ? FIRST_CAPACITY : p->capacity * 2;
    double *grown = realloc(p->labels, (size_t)capacity * sizeof *grown);
    if (grown == NULL) return ms_error_memory(err, MS_ARR, "the file's labels");
    p->labels = grown;
    p->capacity = capacity;
  }
  p->labels[p->rows++] = label;
  return 0;
}

static int read_label(part *p, cursor *c, ms_error *err) {
  double label;
  const char *end = word_end(c);
  if (!ms_number_parse(c->at, (size_t)(end - c->at), &label)) {
    return refuse(c, "a number as the label", err);
  }
  c->at = end;
  skip_blanks(c);
  if (c->end - c->at > 4 && memcmp(c->at, "qid:", 4) == 0) {
    c->at = word_end(c);
    skip_blanks(c);
  }
  return add_label(p, label, err);
}

/* Reads "id:" and returns the id, or -1 with an error. */
static int64_t read_id(const reader *r, cursor *c, ms_error *err) {
  const char *at = c->at;
  int64_t id = 0;
  while (at < c->end && ms_is_digit(*at) && id <= MS_ARRAY_EXTENT) {
    id = id * 10 + (*at++ - '0');
  }
  if (at == c->at || at == c->end || *at != ':') return refuse(c, "id:value", err);
  if (id < 1 || id > MS_ARRAY_EXTENT) {
    return refuse(c, "a feature id from 1 to 2147483647", err);
  }
  if (r->options->features > 0 && id > r->options->features) {
    return ms_lines_error(c->lines, err,
                          "expected a feature id of at most %" PRId64 ", found %" PRId64
                          "; features = or like = says how many there are",
                          r->options->features, id);
  }
  c->at = at + 1;
  return id;
}

static int read_value(const reader *r, cursor *c, int64_t id, double *value, ms_error *err) {
  const char *end = word_end(c);
  char shown[MS_SHOWN_SIZE];
  bool number = ms_number_parse(c->at, (size_t)(end - c->at), value);
  if (!number || !ms_type_holds(r->ops, *value)) {
    bool typed = number || r->ops->integer;
    return ms_lines_error(c->lines, err,
                          "expected a finite number%s%s as the value of feature %" PRId64
                          ", found '%s'",
                          typed ? " of type " : "", typed ? r->ops->name : "", id,
                          ms_shown(c->at, (size_t)(end - c->at), shown, sizeof shown));
  }
  c->at = end;
  return 0;
}

static int compare_ids(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* Refuses an id that stands twice in the line whose entries begin at `first`. */
static int check_distinct(const part *p, const cursor *c, int64_t first, ms_error *err) {
  size_t count = (size_t)(p->entries.count - first);
  int32_t *ids = malloc(count * sizeof *ids);
  if (ids == NULL) return ms_error_memory(err, MS_ARR, "the ids of a line");
  memcpy(ids, p->entries.at[1] + first, count * sizeof *ids);
  qsort(ids, count, sizeof *ids, compare_ids);
  int32_t twice = -1;
  for (size_t k = 1; k < count && twice < 0; k++) {
    if (ids[k] == ids[k - 1]) twice = ids[k];
  }
  free(ids);
  if (twice < 0) return 0;
  return ms_lines_error(c->lines, err,
                        "expected every feature id once in a line, found %" PRId32 " twice",
                        twice + 1);
}

static int take_line(const void *owner, ms_scan_part *head, const ms_lines *lines, const char *line,
                     size_t length, ms_error *err) {
  const reader *r = owner;
  part *p = (part *)head;
  const char *comment = memchr(line, '#', length);
  cursor c = {lines, line, comment != NULL ? comment : line + length};
  skip_blanks(&c);
  if (c.at == c.end) return 0;
  if (read_label(p, &c, err) != 0) return -1;
  int64_t first = p->entries.count, last_id = 0;
  bool ascending = true;
  for (skip_blanks(&c); c.at < c.end; skip_blanks(&c)) {
    double value;
    int64_t id = read_id(r, &c, err);
    if (id < 0 || read_value(r, &c, id, &value, err) != 0) return -1;
    if (ms_entries_add(&p->entries, (int32_t)(p->rows - 1), (int32_t)(id - 1), value, err) != 0) {
      return -1;
    }
    ascending = ascending && id > last_id;
    last_id = id;
    if (id > p->features) p->features = id;
  }
  return ascending ? 0 : check_distinct(p, &c, first, err);
}

static void clear(ms_scan_part *head) {
  part *p = (part *)head;
  ms_entries_free(&p->entries);
  free(p->labels);
}

/* Extents and number of entries of all parts together. */
static int measure(const ms_files *files, const ms_scan_part *parts, int64_t dims[2],
                   int64_t *count, ms_error *err) {
  dims[0] = dims[1] = *count = 0;
  for (; parts != NULL; parts = parts->next) {
    const part *p = (const part *)parts;
    dims[0] += p->rows;
    *count += p->entries.count;
    if (p->features > dims[1]) dims[1] = p->features;
  }
  if (dims[0] > 0) return 0;
  ms_error_set(err, MS_FIL, "expected lines 'label id:value ...', found none");
  return ms_error_place(err, files->paths[0], 0);
}

/* Makes the arrays and moves the parts into them. */
static ms_array *make_arrays(ms_scan_part **parts, const ms_libsvm *options, const int64_t dims[2],
                             int64_t count, ms_array **labels, ms_error *err) {
  ms_array *examples = ms_array_sparse(options->type, 2, dims, count, err);
  if (examples == NULL) return NULL;
  *labels = ms_array_dense(MS_DOUBLE, 1, dims, err);
  if (*labels == NULL) {
    ms_array_release(examples);
    return NULL;
  }
  int64_t row = 0, place = 0;
  for (; *parts != NULL; *parts = ms_scan_part_free(*parts)) {
    const part *p = (const part *)*parts;
    ms_entries_copy(&p->entries, examples, place, row);
    if (p->rows > 0) {
      memcpy((double *)(*labels)->data + row, p->labels, (size_t)p->rows * sizeof *p->labels);
    }
    place += p->entries.count;
    row += p->rows;
  }
  return examples;
}

ms_array *ms_libsvm_read(const ms_files *files, const ms_libsvm *options, ms_array **labels,
                         ms_error *err) {
  static const ms_scanner scanner = {.part_size = sizeof(part), .take = take_line, .clear = clear};
  reader r = {.options = options, .ops = ms_type_of(options->type)};
  ms_scan_part *parts;
  ms_array *examples = NULL;
  int64_t dims[2], count;
  *labels = NULL;
  if (ms_scan(files, &scanner, &r, &parts, err) != 0) return NULL;
  if (measure(files, parts, dims, &count, err) == 0) {
    if (options->features > 0) dims[1] = options->features;
    examples = make_arrays(&parts, options, dims, count, labels, err);
  }
  ms_scan_parts_free(&parts);
  return examples;
}
