/* SPDX-License-Identifier: MIT
 *
 * Table: see table.h. */
#include "array/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array/fields.h"
#include "array/number.h"

#define FIRST_CAPACITY 4096

typedef struct reader {
  const ms_table *options;
  const ms_type_ops *ops;
  ms_separator separator;
  const char *path; /* of the file that the last line was in */
  char *header;     /* the first file's header line, or NULL */
  size_t header_length;
  ms_field *fields; /* of the present line: room for one more than `width` */
  size_t width;     /* fields of a line; 0 before the first one */
  int64_t *wanted;  /* positions of the columns to read, from 0 */
  int64_t columns;  /* how many */
  ms_names names;
  double *values;
  int64_t rows, count, capacity;
} reader;

static int out_of_memory(ms_error *err) {
  return ms_error_set(err, MS_ARR, "out of memory for the table");
}

static bool is_missing(const ms_field *field) {
  static const char *const marks[] = {"", "NA", "N/A", "nan", "null", "?"};
  for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
    if (field->length == strlen(marks[k]) &&
        strncasecmp(field->text, marks[k], field->length) == 0) {
      return true;
    }
  }
  return false;
}

static int make_room(reader *r, ms_error *err) {
  if (r->capacity - r->count >= r->columns) return 0;
  int64_t capacity = r->capacity == 0 ? FIRST_CAPACITY : r->capacity * 2;
  if (capacity - r->count < r->columns) capacity = r->count + r->columns;
  double *grown = realloc(r->values, (size_t)capacity * sizeof *grown);
  if (grown == NULL) return out_of_memory(err);
  r->values = grown;
  r->capacity = capacity;
  return 0;
}

/* Whether the first line is a header: whether it has numbers or not. */
static int find_header(const reader *r, const ms_lines *lines, bool *header, ms_error *err) {
  size_t numbers = 0, words = 0, word = 0;
  double number;
  for (size_t k = 0; k < r->width; k++) {
    if (ms_number_parse(r->fields[k].text, r->fields[k].length, &number)) {
      numbers++;
    } else if (!is_missing(&r->fields[k])) {
      words++;
      word = k;
    }
  }
  *header = words > 0;
  if (words == 0 || numbers == 0) return 0;
  return ms_lines_error(lines, err,
                        "expected numbers or a header, found both: field %zu is '%.*s'; say which "
                        "with header = true or header = false",
                        word + 1, ms_line_shown(r->fields[word].length), r->fields[word].text);
}

/* Copies the names of the wanted columns out of the header's fields; two quotes stand for one. */
static int take_names(reader *r, ms_error *err) {
  size_t room = 1;
  for (int64_t c = 0; c < r->columns; c++) room += r->fields[r->wanted[c]].length;
  r->names.offsets = calloc((size_t)r->columns + 1, sizeof *r->names.offsets);
  r->names.bytes = malloc(room);
  if (r->names.offsets == NULL || r->names.bytes == NULL) return out_of_memory(err);
  uint64_t end = 0;
  for (int64_t c = 0; c < r->columns; c++) {
    const ms_field *field = &r->fields[r->wanted[c]];
    for (size_t k = 0; k < field->length; k++) {
      r->names.bytes[end++] = field->text[k];
      if (field->text[k] == '"' && k + 1 < field->length && field->text[k + 1] == '"') k++;
    }
    r->names.offsets[c + 1] = end;
  }
  r->names.count = r->columns;
  return 0;
}

/* The position of a wanted column, or -1 with an error. */
static int64_t find_column(const reader *r, const ms_column *column, bool header, ms_error *err) {
  if (column->name == NULL) {
    if (column->number <= (int64_t)r->width) return column->number - 1;
    return ms_error_set(err, MS_OPT, "csv: there is no column %" PRId64 ": the table has %zu",
                        column->number, r->width);
  }
  for (size_t k = 0; header && k < r->width; k++) {
    if (strlen(column->name) == r->fields[k].length &&
        memcmp(column->name, r->fields[k].text, r->fields[k].length) == 0) {
      return (int64_t)k;
    }
  }
  return ms_error_set(err, MS_OPT, "csv: there is no column '%s'%s", column->name,
                      header ? " in the header" : ": the table has no header");
}

static int choose_columns(reader *r, bool header, ms_error *err) {
  const ms_table *options = r->options;
  r->columns = options->columns != NULL ? options->column_count : (int64_t)r->width;
  r->wanted = malloc((size_t)(r->columns + 1) * sizeof *r->wanted);
  if (r->wanted == NULL) return out_of_memory(err);
  for (int64_t c = 0; c < r->columns; c++) {
    r->wanted[c] = options->columns == NULL ? c : find_column(r, &options->columns[c], header, err);
    if (r->wanted[c] < 0) return -1;
  }
  return 0;
}

/* Finds out about the table from its first line; *header says whether that is a header. */
static int begin(reader *r, const ms_lines *lines, const char *line, size_t length, bool *header,
                 ms_error *err) {
  r->separator = r->options->separator != NULL ? ms_separator_named(r->options->separator)
                                               : ms_separator_guess(line, length);
  r->fields = malloc((length + 2) * sizeof *r->fields);
  if (r->fields == NULL) return out_of_memory(err);
  r->width = ms_fields_cut(&r->separator, line, length, r->fields, length + 1);
  *header = r->options->header == MS_HEADER_PRESENT;
  if (r->options->header == MS_HEADER_FIND_OUT && find_header(r, lines, header, err) != 0)
    return -1;
  if (choose_columns(r, *header, err) != 0) return -1;
  if (!*header) return 0;
  r->header = strndup(line, length);
  if (r->header == NULL) return out_of_memory(err);
  r->header_length = length;
  return take_names(r, err);
}

static int refuse_value(const reader *r, const ms_lines *lines, int64_t column, ms_error *err) {
  const ms_field *field = &r->fields[column];
  const char *help = "";
  if (is_missing(field)) {
    help = "; missing = \"nan\", or a number, says what stands for missing values";
  } else if (r->rows == 0 && r->header == NULL) {
    help = "; if this is a header line, use header = true";
  }
  return ms_lines_error(lines, err,
                        "expected a finite number%s%s in field %" PRId64 ", found '%.*s'%s",
                        r->ops->integer ? " of type " : "", r->ops->integer ? r->ops->name : "",
                        column + 1, ms_line_shown(field->length), field->text, help);
}

static int read_value(reader *r, const ms_lines *lines, int64_t column, ms_error *err) {
  const ms_field *field = &r->fields[column];
  double *value = &r->values[r->count];
  double packed;
  if (!ms_number_parse(field->text, field->length, value)) {
    if (!r->options->replace || !is_missing(field)) return refuse_value(r, lines, column, err);
    *value = r->options->missing;
  } else if (r->ops->integer && r->ops->narrow(value, &packed, 1) != 1) {
    return refuse_value(r, lines, column, err);
  }
  r->count++;
  return 0;
}

static int read_row(reader *r, const ms_lines *lines, const char *line, size_t length,
                    ms_error *err) {
  char name[64];
  size_t found = ms_fields_cut(&r->separator, line, length, r->fields, r->width);
  if (found != r->width) {
    return ms_lines_error(lines, err, "expected %zu fields separated by %s, found %zu%s", r->width,
                          ms_separator_name(&r->separator, name, sizeof name), found,
                          found > r->width ? " or more" : "");
  }
  if (r->rows == MS_ARRAY_EXTENT) {
    return ms_error_set(err, MS_ARR, "more than %" PRId64 " rows", r->rows);
  }
  if (make_room(r, err) != 0) return -1;
  for (int64_t c = 0; c < r->columns; c++) {
    if (read_value(r, lines, r->wanted[c], err) != 0) return -1;
  }
  r->rows++;
  return 0;
}

static int take_line(void *context, const ms_lines *lines, const char *line, size_t length,
                     ms_error *err) {
  reader *r = context;
  bool first = r->path != lines->path;
  r->path = lines->path;
  if (r->width == 0) {
    bool header = false;
    if (begin(r, lines, line, length, &header, err) != 0) return -1;
    if (header) return 0;
  } else if (first && r->header != NULL) {
    if (length == r->header_length && memcmp(line, r->header, length) == 0) return 0;
    return ms_lines_error(lines, err, "expected the header of the first file, found '%.*s'",
                          ms_line_shown(length), line);
  }
  return read_row(r, lines, line, length, err);
}

static ms_array *make_array(reader *r, ms_error *err) {
  const int64_t dims[2] = {r->rows, r->columns};
  ms_array *array = ms_array_dense(r->options->type, 2, dims, err);
  if (array != NULL) r->ops->narrow(r->values, array->data, (size_t)r->count);
  return array;
}

ms_array *ms_table_read(const ms_sources *sources, const ms_table *options, ms_names *names,
                        ms_error *err) {
  reader r = {.options = options, .ops = ms_type_of(options->type)};
  ms_array *array = NULL;
  *names = (ms_names){0};
  if (ms_scan(sources, take_line, &r, err) == 0) {
    if (r.rows == 0) {
      ms_error_set(err, MS_FIL, "expected rows of numbers, found none");
      if (sources->count > 0) ms_error_place(err, sources->paths[0], 0);
    } else {
      array = make_array(&r, err);
    }
  }
  if (array != NULL) {
    *names = r.names;
  } else {
    free(r.names.offsets);
    free(r.names.bytes);
  }
  free(r.header);
  free(r.fields);
  free(r.wanted);
  free(r.values);
  return array;
}
