/* SPDX-License-Identifier: MIT
 *
 * Format of a table: see table_format.h. */
#include "read/table_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/shown.h"
#include "read/number.h"

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the table");
}

bool ms_table_format_is_missing(const ms_line_field *field) {
  static const char *const marks[] = {"", "NA", "N/A", "nan", "null", "?"};
  for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
    if (field->length == strlen(marks[k]) &&
        strncasecmp(field->text, marks[k], field->length) == 0) {
      return true;
    }
  }
  return false;
}

/* Whether the first line is a header: whether it has numbers or not. */
static int find_header(const ms_table_format *f, const ms_line_field *fields, const ms_lines *lines,
                       bool *header, ms_error *err) {
  size_t numbers = 0, words = 0, word = 0;
  char shown[MS_SHOWN_SIZE];
  double number;
  for (size_t k = 0; k < f->width; k++) {
    if (ms_number_parse(fields[k].text, fields[k].length, &number)) {
      numbers++;
    } else if (!ms_table_format_is_missing(&fields[k])) {
      words++;
      word = k;
    }
  }
  *header = words > 0;
  if (words == 0 || numbers == 0) return 0;
  return ms_lines_error(lines, err,
                        "expected numbers or a header, found both: field %zu is '%s'; say which "
                        "with header = true or header = false",
                        word + 1,
                        ms_shown(fields[word].text, fields[word].length, shown, sizeof shown));
}

/* Copies the names of the wanted columns out of the header's fields; two quotes stand for one. */
static int take_names(ms_table_format *f, const ms_line_field *fields, ms_error *err) {
  size_t room = 1;
  for (int64_t c = 0; c < f->columns; c++) room += fields[f->wanted[c]].length;
  f->names.offsets = calloc((size_t)f->columns + 1, sizeof *f->names.offsets);
  f->names.bytes = malloc(room);
  if (f->names.offsets == NULL || f->names.bytes == NULL) return out_of_memory(err);
  uint64_t end = 0;
  for (int64_t c = 0; c < f->columns; c++) {
    const ms_line_field *field = &fields[f->wanted[c]];
    for (size_t k = 0; k < field->length; k++) {
      f->names.bytes[end++] = field->text[k];
      if (field->text[k] == '"' && k + 1 < field->length && field->text[k + 1] == '"') k++;
    }
    f->names.offsets[c + 1] = end;
  }
  f->names.count = f->columns;
  return 0;
}

/* The position of a wanted column, or -1 with an error. */
static int64_t find_column(const ms_table_format *f, const ms_line_field *fields,
                           const ms_column *column, bool header, ms_error *err) {
  if (column->name == NULL) {
    if (column->number <= (int64_t)f->width) return column->number - 1;
    return ms_error_set(err, MS_OPT, "csv: there is no column %" PRId64 ": the table has %zu",
                        column->number, f->width);
  }
  for (size_t k = 0; header && k < f->width; k++) {
    if (strlen(column->name) == fields[k].length &&
        memcmp(column->name, fields[k].text, fields[k].length) == 0) {
      return (int64_t)k;
    }
  }
  return ms_error_set(err, MS_OPT, "csv: there is no column '%s'%s", column->name,
                      header ? " in the header" : ": the table has no header");
}

static int choose_columns(ms_table_format *f, const ms_line_field *fields, bool header,
                          ms_error *err) {
  const ms_table_options *options = f->options;
  f->columns = options->columns != NULL ? options->column_count : (int64_t)f->width;
  f->wanted = malloc((size_t)(f->columns + 1) * sizeof *f->wanted);
  if (f->wanted == NULL) return out_of_memory(err);
  for (int64_t c = 0; c < f->columns; c++) {
    const ms_column *column = options->columns != NULL ? &options->columns[c] : NULL;
    f->wanted[c] = column == NULL ? c : find_column(f, fields, column, header, err);
    if (f->wanted[c] < 0) return -1;
  }
  return 0;
}

static int learn(ms_table_format *f, const ms_line_field *fields, const ms_lines *lines,
                 const char *line, size_t length, ms_error *err) {
  bool header = f->options->header == MS_HEADER_PRESENT;
  if (f->options->header == MS_HEADER_FIND_OUT &&
      find_header(f, fields, lines, &header, err) != 0) {
    return -1;
  }
  if (choose_columns(f, fields, header, err) != 0) return -1;
  if (!header) return 0;
  f->header = malloc(length + 1);
  if (f->header == NULL) return out_of_memory(err);
  memcpy(f->header, line, length);
  f->header_length = length;
  return take_names(f, fields, err);
}

int ms_table_format_learn(ms_table_format *format, const ms_lines *lines, const char *line,
                          size_t length, ms_error *err) {
  const char *separator = format->options->separator;
  format->separator =
      separator != NULL ? ms_separator_named(separator) : ms_separator_guess(line, length);
  ms_line_field *fields = malloc((length + 2) * sizeof *fields);
  if (fields == NULL) return out_of_memory(err);
  format->width = ms_fields_cut(&format->separator, line, length, fields, length + 1);
  int failed = learn(format, fields, lines, line, length, err);
  free(fields);
  return failed;
}

void ms_table_format_free(ms_table_format *format) {
  free(format->wanted);
  free(format->header);
  free(format->names.offsets);
  free(format->names.bytes);
  *format = (ms_table_format){.options = format->options};
}
