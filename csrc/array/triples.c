/* SPDX-License-Identifier: MIT
 *
 * Triples: see triples.h. One pass over the file collects positions (in order of first appearance)
 * and values in growing vectors; then the array is made, positions are put in the order of the
 * ids, and duplicates are dealt with. */
#include "array/triples.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "array/fields.h"
#include "array/ids.h"
#include "array/lines.h"
#include "array/number.h"

#define FIRST_CAPACITY 4096
#define SHOWN          40 /* bytes of a field in a message */

typedef struct reader {
  const ms_triples *options;
  ms_lines lines;
  ms_separator separator;
  size_t columns; /* 2 or 3, once the first line was seen; 0 before */
  ms_ids ids[2];
  int64_t count, capacity;
  uint32_t *at[2];
  double *values;
  uint32_t *line_of; /* only when duplicates are an error */
  int64_t first_line;
  bool maybe_header; /* two columns, and only the first line's ids are no integers */
} reader;

static int out_of_memory(ms_error *err) {
  return ms_error_set(err, MS_ARR, "out of memory for the entries of the file");
}

static int grow(void **vector, size_t element, int64_t capacity, ms_error *err) {
  void *grown = realloc(*vector, (size_t)capacity * element);
  if (grown == NULL) return out_of_memory(err);
  *vector = grown;
  return 0;
}

static int make_room(reader *r, ms_error *err) {
  if (r->count < r->capacity) return 0;
  if (r->count >= MS_ARRAY_ENTRIES / 2) {
    return ms_error_set(err, MS_ARR, "more than %" PRId64 " entries", r->count);
  }
  int64_t capacity = r->capacity == 0 ? FIRST_CAPACITY : r->capacity * 2;
  if (grow((void **)&r->at[0], sizeof *r->at[0], capacity, err) != 0 ||
      grow((void **)&r->at[1], sizeof *r->at[1], capacity, err) != 0 ||
      grow((void **)&r->values, sizeof *r->values, capacity, err) != 0) {
    return -1;
  }
  if (r->options->duplicates == MS_DUPLICATES_ERROR &&
      grow((void **)&r->line_of, sizeof *r->line_of, capacity, err) != 0) {
    return -1;
  }
  r->capacity = capacity;
  return 0;
}

static int shown(const ms_field *field) {
  return field->length < SHOWN ? (int)field->length : SHOWN;
}

/* Finds out separator and columns from the first line of data. */
static int look_at_first(reader *r, const char *line, size_t length, ms_error *err) {
  ms_field fields[3];
  char name[64];
  r->separator = r->options->separator != NULL ? ms_separator_named(r->options->separator)
                                               : ms_separator_guess(line, length);
  size_t found = ms_fields_cut(&r->separator, line, length, fields, 3);
  if (found < 2) {
    return ms_lines_error(&r->lines, err, "expected 2 or 3 fields separated by %s, found %zu",
                          ms_separator_name(&r->separator, name, sizeof name), found);
  }
  r->columns = found == 2 ? 2 : 3;
  r->first_line = r->lines.number;
  int64_t number;
  r->maybe_header = r->columns == 2 && r->options->like == NULL &&
                    !ms_number_integer(fields[0].text, fields[0].length, &number) &&
                    !ms_number_integer(fields[1].text, fields[1].length, &number);
  return 0;
}

static int read_value(reader *r, const ms_field *field, double *value, ms_error *err) {
  if (!ms_number_parse(field->text, field->length, value)) {
    return ms_lines_error(
        &r->lines, err, "expected a finite number in field 3, found '%.*s'%s", shown(field),
        field->text,
        r->count == 0 && r->options->skip == 0 ? "; if this is a header line, use skip = 1" : "");
  }
  const ms_type_ops *ops = ms_type_of(r->options->type);
  double packed;
  if (ops->integer && ops->narrow(value, &packed, 1) != 1) {
    return ms_lines_error(&r->lines, err, "expected a value of type %s in field 3, found '%.*s'",
                          ops->name, shown(field), field->text);
  }
  return 0;
}

/* Looks up or adds the id in one of the first two fields. */
static int read_id(reader *r, int column, const ms_field *field, uint32_t *at, ms_error *err) {
  if (field->length == 0) {
    return ms_lines_error(&r->lines, err, "expected an id in field %d, found nothing", column + 1);
  }
  ms_ids *ids = &r->ids[r->options->square && r->options->like == NULL ? 0 : column];
  int64_t position = ms_ids_position(ids, field->text, field->length, err);
  if (position == -2) {
    return ms_lines_error(&r->lines, err,
                          "the id '%.*s' in field %d is not in the array given as "
                          "like",
                          shown(field), field->text, column + 1);
  }
  *at = (uint32_t)position;
  return position < 0 ? -1 : 0;
}

static int read_line(reader *r, const char *line, size_t length, ms_error *err) {
  ms_field fields[3];
  char name[64];
  if (r->columns == 0 && look_at_first(r, line, length, err) != 0) return -1;
  size_t found = ms_fields_cut(&r->separator, line, length, fields, r->columns);
  if (found < r->columns || (r->columns == 2 && found > 2)) {
    return ms_lines_error(&r->lines, err, "expected %zu fields separated by %s, found %zu%s",
                          r->columns, ms_separator_name(&r->separator, name, sizeof name), found,
                          found > r->columns ? " or more" : "");
  }
  double value = 1;
  uint32_t at[2];
  if (r->columns == 3 && read_value(r, &fields[2], &value, err) != 0) return -1;
  if (r->maybe_header && r->count > 0) {
    int64_t number;
    r->maybe_header = ms_number_integer(fields[0].text, fields[0].length, &number) &&
                      ms_number_integer(fields[1].text, fields[1].length, &number);
  }
  if (read_id(r, 0, &fields[0], &at[0], err) != 0 || read_id(r, 1, &fields[1], &at[1], err) != 0 ||
      make_room(r, err) != 0) {
    return -1;
  }
  r->at[0][r->count] = at[0];
  r->at[1][r->count] = at[1];
  r->values[r->count] = value;
  if (r->line_of != NULL) r->line_of[r->count] = (uint32_t)r->lines.number;
  r->count++;
  return 0;
}

static bool is_skipped(const reader *r, const char *line, size_t length) {
  const char *comment = r->options->comment;
  size_t prefix = comment != NULL ? strlen(comment) : 0;
  if (prefix > 0 && length >= prefix && memcmp(line, comment, prefix) == 0) return true;
  while (length > 0 && (*line == ' ' || *line == '\t' || *line == '\r')) {
    line++;
    length--;
  }
  return length == 0;
}

static int read_lines(reader *r, ms_error *err) {
  const char *line;
  size_t length;
  int got;
  while ((got = ms_lines_next(&r->lines, &line, &length, err)) == 1) {
    if (r->lines.number <= r->options->skip || is_skipped(r, line, length)) continue;
    if (read_line(r, line, length, err) != 0) return -1;
  }
  if (got != 0) return -1;
  if (r->count == 0) {
    ms_error_set(err, MS_FIL, "the file has no entries%s",
                 r->lines.number == 0 ? ": it is empty" : "");
    return ms_error_place(err, r->lines.path, 0);
  }
  if (r->maybe_header && r->count > 1) {
    ms_error_set(err, MS_FIL,
                 "the only line whose ids are no integers is the first: a header "
                 "line? then use skip = %" PRId64,
                 r->first_line);
    return ms_error_place(err, r->lines.path, (int)r->first_line);
  }
  return 0;
}

/* Uses the id maps and extents of the array given as `like`. */
static int prepare_like(reader *r, ms_error *err) {
  const ms_array *like = r->options->like;
  if (like == NULL) return 0;
  if (ms_array_check(like, err) != 0) return -1;
  if (like->dim_count != 2) {
    return ms_error_set(err, MS_ARR, "like: the array must have 2 dimensions, not %d",
                        like->dim_count);
  }
  for (int d = 0; d < 2; d++) {
    r->ids[d].fixed = like->labels[d];
    r->ids[d].fixed_extent = like->dims[d];
  }
  return 0;
}

/* The labels of dimension d, made or shared; and the new positions of its ids. */
static int take_labels(reader *r, int d, ms_labels **labels, uint32_t **place, ms_error *err) {
  if (r->options->like != NULL) {
    labels[d] = r->options->like->labels[d];
    ms_labels_retain(labels[d]);
  } else if (d == 1 && r->options->square) {
    labels[1] = labels[0];
    ms_labels_retain(labels[1]);
  } else {
    labels[d] = ms_ids_labels(&r->ids[d], &place[d], err);
    if (labels[d] == NULL) return -1;
  }
  return 0;
}

/* Copies the vectors into the array and gives the memory of each back at once. */
static void fill(reader *r, ms_array *array, uint32_t **place) {
  for (int d = 0; d < 2; d++) {
    const uint32_t *moved = d == 1 && r->options->square ? place[0] : place[d];
    for (int64_t e = 0; e < r->count; e++) {
      uint32_t at = r->at[d][e];
      array->coords[d][e] = (int32_t)(moved != NULL ? moved[at] : at);
    }
    free(r->at[d]);
    r->at[d] = NULL;
  }
  ms_type_of(array->type)->narrow(r->values, array->data, (size_t)r->count);
}

static ms_array *make_array(reader *r, ms_error *err) {
  ms_labels *labels[2] = {NULL, NULL};
  uint32_t *place[2] = {NULL, NULL};
  int64_t dims[2];
  bool shared = r->options->square && r->options->like == NULL;
  for (int d = 0; d < 2; d++) dims[d] = ms_ids_count(&r->ids[shared ? 0 : d]);
  ms_array *array = NULL;
  if (take_labels(r, 0, labels, place, err) == 0 && take_labels(r, 1, labels, place, err) == 0) {
    array = ms_array_sparse(r->options->type, 2, dims, r->count, err);
  }
  if (array != NULL) {
    fill(r, array, place);
    array->labels[0] = labels[0];
    array->labels[1] = labels[1];
  } else {
    ms_labels_release(&labels[0]);
    ms_labels_release(&labels[1]);
  }
  free(place[0]);
  free(place[1]);
  return array;
}

static void free_reader(reader *r) {
  ms_lines_close(&r->lines);
  for (int d = 0; d < 2; d++) {
    ms_ids_free(&r->ids[d]);
    free(r->at[d]);
  }
  free(r->values);
  free(r->line_of);
}

ms_array *ms_triples_read(const char *path, const ms_triples *options, ms_error *err) {
  reader r = {.options = options};
  ms_array *array = NULL;
  if (prepare_like(&r, err) == 0 && ms_lines_open(&r.lines, path, err) == 0 &&
      read_lines(&r, err) == 0) {
    array = make_array(&r, err);
  }
  if (array != NULL && options->duplicates != MS_DUPLICATES_KEEP &&
      ms_triples_merge(array, options->duplicates, path, r.line_of, err) != 0) {
    ms_array_release(array);
    array = NULL;
  }
  free_reader(&r);
  return array;
}
