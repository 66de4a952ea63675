/* SPDX-License-Identifier: MIT
 *
 * Format of a table, learned from its first line: separator, width, header, wanted columns. */
#ifndef MS_READ_TABLE_FORMAT_H
#define MS_READ_TABLE_FORMAT_H

#include "read/fields.h"
#include "read/table.h"

typedef struct ms_table_format {
  const ms_table_options *options;
  ms_separator separator;
  size_t width;    /* fields of a line; 0 while there was none */
  int64_t *wanted; /* positions of the columns to read, from 0; owned */
  int64_t columns; /* how many */
  char *header;    /* the header line, or NULL; owned */
  size_t header_length;
  ms_column_names names; /* owned until they are taken out */
} ms_table_format;

/* Learns the format from the first line of data (options set, the rest zero). */
int ms_table_format_learn(ms_table_format *format, const ms_lines *lines, const char *line,
                          size_t length, ms_error *err);

/* Whether a field stands for a missing value. */
bool ms_table_format_is_missing(const ms_line_field *field);

/* Frees what the record holds. */
void ms_table_format_free(ms_table_format *format);

#endif
