/* SPDX-License-Identifier: MIT
 *
 * Batch of triples: see triple_batch.h. */
#include "read/triple_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "read/lines.h"
#include "read/number.h"

/* What reading a range needs. The ids of some lines wait to be looked up together. */
typedef struct reader {
  const ms_triple_format *format;
  ms_triple_batch *batch;
  ms_lines lines;
  ms_id id[MS_IDS_GROUP / 2][2];
  int64_t line_of[MS_IDS_GROUP / 2];
  int waiting; /* lines whose ids do: the last ones of the batch */
} reader;

/* The next line of data: 1, 0 at the end of the range, or -1. */
static int next_line(const ms_triples *options, ms_lines *lines, const char **line, size_t *length,
                     ms_error *err) {
  return ms_lines_next_data(lines, options->comment, options->skip, line, length, err);
}

static bool is_integer(const ms_line_field *field) {
  int64_t number;
  return ms_number_integer(field->text, field->length, &number);
}

int ms_triple_format_learn(ms_triple_format *format, const ms_byte_range *range, ms_error *err) {
  const ms_triples *options = format->options;
  const char *line;
  size_t length;
  ms_lines lines;
  ms_lines_of(&lines, range);
  int got = next_line(options, &lines, &line, &length, err);
  if (got != 1) return got;
  ms_line_field fields[3];
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
  format->maybe_header = found == 2 && options->like == NULL && !options->no_header &&
                         !is_integer(&fields[0]) && !is_integer(&fields[1]);
  return 1;
}

static int read_value(const reader *r, const ms_line_field *field, double *value, ms_error *err) {
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

static ms_ids *ids_of(const reader *r, int column) {
  const ms_triples *options = r->format->options;
  return &r->batch->ids[options->square && options->like == NULL ? 0 : column];
}

/* What is wrong with an id of the waiting line w. */
static int refuse_id(const reader *r, int w, int column, ms_error *err) {
  const ms_id *id = &r->id[w][column];
  ms_lines lines = r->lines;
  char shown[MS_SHOWN_SIZE];
  lines.number = r->line_of[w];
  if (id->length == 0) {
    return ms_lines_error(&lines, err, "expected an id in field %d, found nothing", column + 1);
  }
  return ms_lines_error(&lines, err, "the id '%s' in field %d is not in the array given as like",
                        ms_shown(id->text, id->length, shown, sizeof shown), column + 1);
}

/* Looks up or adds an id of the waiting line w. */
static int place_id(const reader *r, int w, int column, uint32_t *at, ms_error *err) {
  const ms_id *id = &r->id[w][column];
  int64_t position = id->length > 0 ? ms_ids_place(ids_of(r, column), id, err) : -2;
  *at = (uint32_t)position;
  if (position == -2) return refuse_id(r, w, column, err);
  return position < 0 ? -1 : 0;
}

/* Looks up the ids that wait. */
static int place_waiting(reader *r, ms_error *err) {
  int64_t first = r->batch->count - r->waiting;
  for (int w = 0; w < r->waiting; w++) {
    for (int c = 0; c < 2; c++) ms_ids_near(ids_of(r, c), &r->id[w][c]);
  }
  for (int w = 0; w < r->waiting; w++) {
    for (int c = 0; c < 2; c++) {
      if (place_id(r, w, c, &r->batch->at[c][first + w], err) != 0) return -1;
    }
  }
  r->waiting = 0;
  return 0;
}

static int read_line(reader *r, const char *line, size_t length, ms_error *err) {
  const ms_triple_format *format = r->format;
  ms_triple_batch *batch = r->batch;
  ms_line_field fields[3];
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
  for (int c = 0; c < 2; c++) {
    if (batch->integers[c] && r->lines.number != format->first_line) {
      batch->integers[c] = is_integer(&fields[c]);
    }
    ms_ids_approach(ids_of(r, c), fields[c].text, fields[c].length, &r->id[r->waiting][c]);
  }
  r->line_of[r->waiting++] = r->lines.number;
  if (batch->line_of != NULL) batch->line_of[e] = (uint32_t)r->lines.number;
  batch->count++;
  return r->waiting < MS_IDS_GROUP / 2 ? 0 : place_waiting(r, err);
}

/* An empty batch with room for an entry a line. */
static ms_triple_batch *new_batch(const ms_triple_format *format, int64_t lines, ms_error *err) {
  ms_triple_batch *batch = calloc(1, sizeof *batch);
  size_t room = (size_t)lines + 1;
  bool got = batch != NULL;
  if (got) {
    for (int d = 0; d < 2; d++) {
      batch->at[d] = malloc(room * sizeof *batch->at[d]);
      batch->ids[d] = format->fixed[d];
      batch->integers[d] = format->maybe_header;
      got = got && batch->at[d] != NULL;
    }
    batch->values = malloc(room * sizeof *batch->values);
    got = got && batch->values != NULL;
  }
  if (got && format->options->duplicates == MS_DUPLICATES_ERROR) {
    batch->line_of = malloc(room * sizeof *batch->line_of);
    got = batch->line_of != NULL;
  }
  if (got) return batch;
  ms_triple_batch_free(batch);
  ms_error_memory(err, MS_ARR, "the entries of the file");
  return NULL;
}

/* Reads all lines; -1 with the first error among them, that of an id that waits before others. */
static int read_lines(reader *r, ms_error *err) {
  const char *line;
  size_t length;
  ms_error later = {0};
  int got;
  while ((got = next_line(r->format->options, &r->lines, &line, &length, &later)) == 1) {
    got = read_line(r, line, length, &later);
    if (got != 0) break;
  }
  if (place_waiting(r, err) != 0) return -1;
  if (got == 0) return 0;
  *err = later;
  return -1;
}

ms_triple_batch *ms_triple_batch_read(const ms_triple_format *format, const ms_byte_range *range,
                                      ms_error *err) {
  reader r = {.format = format, .batch = new_batch(format, range->lines, err)};
  if (r.batch == NULL) return NULL;
  ms_lines_of(&r.lines, range);
  if (read_lines(&r, err) == 0) return r.batch;
  ms_triple_batch_free(r.batch);
  return NULL;
}

void ms_triple_batch_clear(ms_triple_batch *batch) {
  free(batch->place[0]);
  if (batch->place[1] != batch->place[0]) free(batch->place[1]);
  for (int d = 0; d < 2; d++) {
    free(batch->at[d]);
    batch->at[d] = batch->place[d] = NULL;
  }
  free(batch->values);
  batch->values = NULL;
}

void ms_triple_batch_free(ms_triple_batch *batch) {
  if (batch == NULL) return;
  ms_triple_batch_clear(batch);
  for (int d = 0; d < 2; d++) ms_ids_free(&batch->ids[d]);
  free(batch->line_of);
  free(batch);
}
