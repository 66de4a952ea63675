/* SPDX-License-Identifier: MIT
 *
 * Batch: see batch.h. */
#include "array/batch.h"

#include <stdlib.h>
#include <string.h>

#include "array/lines.h"
#include "array/number.h"
#include "base/shown.h"

/* What reading a piece needs. */
typedef struct reader {
  const ms_triple_format *format;
  ms_batch *batch;
  ms_lines lines;
} reader;

/* The next line of data: 1, 0 at the end of the piece, or -1. */
static int next_line(const ms_triples *options, ms_lines *lines, const char **line, size_t *length,
                     ms_error *err) {
  return ms_lines_next_data(lines, options->comment, options->skip, line, length, err);
}

static bool both_integers(const ms_field *fields) {
  int64_t number;
  return ms_number_integer(fields[0].text, fields[0].length, &number) &&
         ms_number_integer(fields[1].text, fields[1].length, &number);
}

static bool none_integers(const ms_field *fields) {
  int64_t number;
  return !ms_number_integer(fields[0].text, fields[0].length, &number) &&
         !ms_number_integer(fields[1].text, fields[1].length, &number);
}

int ms_triple_look(ms_triple_format *format, const ms_piece *piece, ms_error *err) {
  const ms_triples *options = format->options;
  const char *line;
  size_t length;
  ms_lines lines;
  ms_lines_of(&lines, piece);
  int got = next_line(options, &lines, &line, &length, err);
  if (got != 1) return got;
  ms_field fields[3];
  char name[64];
  format->separator = options->separator != NULL ? ms_separator_named(options->separator)
                                                 : ms_separator_guess(line, length);
  size_t found = ms_fields_cut(&format->separator, line, length, fields, 3);
  if (found < 2) {
    return ms_lines_error(&lines, err, "expected 2 or 3 fields separated by %s, found %zu",
                          ms_separator_name(&format->separator, name, sizeof name), found);
  }
  format->columns = found == 2 ? 2 : 3;
  format->first_line = lines.number;
  format->maybe_header = found == 2 && options->like == NULL && none_integers(fields);
  return 1;
}

static int read_value(const reader *r, const ms_field *field, double *value, ms_error *err) {
  const ms_triples *options = r->format->options;
  char shown[MS_SHOWN_SIZE];
  if (!ms_number_parse(field->text, field->length, value)) {
    bool header = r->lines.number == r->format->first_line && options->skip == 0;
    return ms_lines_error(&r->lines, err, "expected a finite number in field 3, found '%s'%s",
                          ms_shown(field->text, field->length, shown, sizeof shown),
                          header ? "; if this is a header line, use skip = 1" : "");
  }
  const ms_type_ops *ops = ms_type_of(options->type);
  if (!ms_type_holds(ops, *value)) {
    return ms_lines_error(&r->lines, err, "expected a value of type %s in field 3, found '%s'",
                          ops->name, ms_shown(field->text, field->length, shown, sizeof shown));
  }
  return 0;
}

/* Looks up or adds the id in one of the first two fields. */
static int read_id(const reader *r, int column, const ms_field *field, uint32_t *at,
                   ms_error *err) {
  const ms_triples *options = r->format->options;
  if (field->length == 0) {
    return ms_lines_error(&r->lines, err, "expected an id in field %d, found nothing", column + 1);
  }
  ms_ids *ids = &r->batch->ids[options->square && options->like == NULL ? 0 : column];
  int64_t position = ms_ids_position(ids, field->text, field->length, err);
  if (position == -2) {
    char shown[MS_SHOWN_SIZE];
    return ms_lines_error(&r->lines, err,
                          "the id '%s' in field %d is not in the array given as like",
                          ms_shown(field->text, field->length, shown, sizeof shown), column + 1);
  }
  *at = (uint32_t)position;
  return position < 0 ? -1 : 0;
}

static int read_line(const reader *r, const char *line, size_t length, ms_error *err) {
  const ms_triple_format *format = r->format;
  ms_batch *batch = r->batch;
  ms_field fields[3];
  char name[64];
  size_t found = ms_fields_cut(&format->separator, line, length, fields, format->columns);
  if (found < format->columns || (format->columns == 2 && found > 2)) {
    return ms_lines_error(&r->lines, err, "expected %zu fields separated by %s, found %zu%s",
                          format->columns, ms_separator_name(&format->separator, name, sizeof name),
                          found, found > format->columns ? " or more" : "");
  }
  int64_t e = batch->count;
  batch->values[e] = 1;
  if (format->columns == 3 && read_value(r, &fields[2], &batch->values[e], err) != 0) return -1;
  if (batch->integers && r->lines.number != format->first_line) {
    batch->integers = both_integers(fields);
  }
  if (read_id(r, 0, &fields[0], &batch->at[0][e], err) != 0 ||
      read_id(r, 1, &fields[1], &batch->at[1][e], err) != 0) {
    return -1;
  }
  if (batch->line_of != NULL) batch->line_of[e] = (uint32_t)r->lines.number;
  batch->count++;
  return 0;
}

/* An empty batch with room for an entry a line. */
static ms_batch *new_batch(const ms_triple_format *format, int64_t lines, ms_error *err) {
  ms_batch *batch = calloc(1, sizeof *batch);
  size_t room = (size_t)lines + 1;
  bool got = batch != NULL;
  if (got) {
    for (int d = 0; d < 2; d++) {
      batch->at[d] = malloc(room * sizeof *batch->at[d]);
      batch->ids[d] = format->fixed[d];
      got = got && batch->at[d] != NULL;
    }
    batch->values = malloc(room * sizeof *batch->values);
    got = got && batch->values != NULL;
    batch->integers = format->maybe_header;
  }
  if (got && format->options->duplicates == MS_DUPLICATES_ERROR) {
    batch->line_of = malloc(room * sizeof *batch->line_of);
    got = batch->line_of != NULL;
  }
  if (got) return batch;
  ms_batch_free(batch);
  ms_error_set(err, MS_ARR, "out of memory for the entries of the file");
  return NULL;
}

ms_batch *ms_batch_read(const ms_triple_format *format, const ms_piece *piece, ms_error *err) {
  reader r = {.format = format, .batch = new_batch(format, piece->lines, err)};
  if (r.batch == NULL) return NULL;
  ms_lines_of(&r.lines, piece);
  const char *line;
  size_t length;
  int got;
  while ((got = next_line(format->options, &r.lines, &line, &length, err)) == 1) {
    if (read_line(&r, line, length, err) != 0) {
      got = -1;
      break;
    }
  }
  if (got == 0) return r.batch;
  ms_batch_free(r.batch);
  return NULL;
}

void ms_batch_clear(ms_batch *batch) {
  free(batch->place[0]);
  if (batch->place[1] != batch->place[0]) free(batch->place[1]);
  for (int d = 0; d < 2; d++) {
    free(batch->at[d]);
    batch->at[d] = batch->place[d] = NULL;
  }
  free(batch->values);
  batch->values = NULL;
}

void ms_batch_free(ms_batch *batch) {
  if (batch == NULL) return;
  ms_batch_clear(batch);
  for (int d = 0; d < 2; d++) ms_ids_free(&batch->ids[d]);
  free(batch->line_of);
  free(batch);
}
