/* SPDX-License-Identifier: MIT
 *
 * Table: see table.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "read/number.h"
#include "read/table_format.h"

#define FIRST_CAPACITY 1024

typedef struct reader {
  ms_table_format format;
  const ms_type_ops *ops;
} reader;

/* Rows that follow each other. */
typedef struct part {
  ms_scan_part head;
  ms_line_field *fields; /* of the present line: room for one more than the table is wide */
  double *values;
  int64_t rows, count, capacity;
} part;

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the table");
}

static int look(void *owner, const ms_lines *lines, const char *line, size_t length,
                ms_error *err) {
  reader *r = owner;
  return ms_table_format_learn(&r->format, lines, line, length, err) == 0 ? 1 : -1;
}

/* Makes room for the present line's fields and values. */
static int make_room(part *p, const ms_table_format *format, ms_error *err) {
  if (p->fields == NULL) p->fields = malloc((format->width + 1) * sizeof *p->fields);
  if (p->fields == NULL) return out_of_memory(err);
  if (p->capacity - p->count >= format->columns) return 0;
  int64_t capacity = p->capacity == 0 ? FIRST_CAPACITY : p->capacity * 2;
  if (capacity - p->count < format->columns) capacity = p->count + format->columns;
  double *grown = realloc(p->values, (size_t)capacity * sizeof *grown);
  if (grown == NULL) return out_of_memory(err);
  p->values = grown;
  p->capacity = capacity;
  return 0;
}

/* `number`: it is one, but not of the type. */
static int refuse_value(const reader *r, const part *p, const ms_lines *lines, int64_t column,
                        bool number, ms_error *err) {
  bool typed = number || r->ops->integer;
  const ms_line_field *field = &p->fields[column];
  char shown[MS_SHOWN_SIZE];
  const char *help = "";
  if (ms_table_format_is_missing(field)) {
    help = "; missing = \"nan\", or a number, says what stands for missing values";
  } else if (lines->number == 1 && r->format.header == NULL) {
    help = "; if this is a header line, use header = true";
  }
  return ms_lines_error(lines, err,
                        "expected a finite number%s%s in field %" PRId64 ", found '%s'%s",
                        typed ? " of type " : "", typed ? r->ops->name : "", column + 1,
                        ms_shown(field->text, field->length, shown, sizeof shown), help);
}

static int read_value(const reader *r, part *p, const ms_lines *lines, int64_t column,
                      ms_error *err) {
  const ms_table_options *options = r->format.options;
  const ms_line_field *field = &p->fields[column];
  double *value = &p->values[p->count];
  if (!ms_number_parse(field->text, field->length, value)) {
    if (!options->replace || !ms_table_format_is_missing(field)) {
      return refuse_value(r, p, lines, column, false, err);
    }
    *value = options->missing;
  } else if (!ms_type_holds(r->ops, *value)) {
    return refuse_value(r, p, lines, column, true, err);
  }
  p->count++;
  return 0;
}

static int take_line(const void *owner, ms_scan_part *head, const ms_lines *lines, const char *line,
                     size_t length, ms_error *err) {
  const reader *r = owner;
  const ms_table_format *f = &r->format;
  part *p = (part *)head;
  if (f->header != NULL && length == f->header_length && memcmp(line, f->header, length) == 0) {
    return 0;
  }
  if (make_room(p, f, err) != 0) return -1;
  size_t found = ms_fields_cut(&f->separator, line, length, p->fields, f->width);
  if (found != f->width) {
    char name[64];
    return ms_lines_error(lines, err, "expected %zu fields separated by %s, found %zu%s", f->width,
                          ms_separator_name(&f->separator, name, sizeof name), found,
                          found > f->width ? " or more" : "");
  }
  for (int64_t c = 0; c < f->columns; c++) {
    if (read_value(r, p, lines, f->wanted[c], err) != 0) return -1;
  }
  p->rows++;
  return 0;
}

static void clear(ms_scan_part *head) {
  part *p = (part *)head;
  free(p->fields);
  free(p->values);
}

static ms_array *make_array(const reader *r, ms_scan_part **parts, const char *path,
                            ms_error *err) {
  int64_t dims[2] = {0, r->format.columns};
  for (const ms_scan_part *each = *parts; each != NULL; each = each->next) {
    dims[0] += ((const part *)each)->rows;
  }
  if (dims[0] == 0) {
    ms_error_set(err, MS_FIL, "expected rows of numbers, found none");
    ms_error_place(err, path, 0);
    return NULL;
  }
  ms_array *array = ms_array_dense(r->format.options->type, 2, dims, err);
  char *at = array == NULL ? NULL : array->data;
  for (; array != NULL && *parts != NULL; *parts = ms_scan_part_free(*parts)) {
    const part *p = (const part *)*parts;
    r->ops->narrow(p->values, at, (size_t)p->count);
    at += (size_t)p->count * r->ops->size;
  }
  return array;
}

ms_array *ms_table_read(const ms_files *files, const ms_table_options *options,
                        ms_column_names *names, ms_error *err) {
  static const ms_scanner scanner = {
      .part_size = sizeof(part), .look = look, .take = take_line, .clear = clear};
  reader r = {.format.options = options, .ops = ms_type_of(options->type)};
  ms_scan_part *parts;
  ms_array *array = NULL;
  *names = (ms_column_names){0};
  if (ms_scan(files, &scanner, &r, &parts, err) == 0) {
    array = make_array(&r, &parts, files->paths[0], err);
  }
  if (array != NULL) {
    *names = r.format.names;
    r.format.names = (ms_column_names){0};
  }
  ms_scan_parts_free(&parts);
  ms_table_format_free(&r.format);
  return array;
}
