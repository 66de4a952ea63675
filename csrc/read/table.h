/* SPDX-License-Identifier: MIT
 *
 * Table: reads numbers in rows and columns (CSV and its kin) into a dense matrix.
 *
 * A header is a first line without numbers; lines equal to it are left out, so that files with the
 * same header follow each other. Quotes around fields are dropped; a field ends in its line. */
#ifndef MS_READ_TABLE_H
#define MS_READ_TABLE_H

#include "array/array.h"
#include "base/api.h"
#include "read/scan.h"

typedef enum ms_header { MS_HEADER_FIND_OUT, MS_HEADER_NONE, MS_HEADER_PRESENT } ms_header;

/* A column that is wanted: by its name in the header, or, with `name` NULL, by its number. */
typedef struct ms_column {
  const char *name;
  int64_t number; /* 1-based */
} ms_column;

typedef struct MS_API_TYPE ms_table_options {
  const char *separator;    /* NULL: as the first line suggests */
  int32_t type;             /* of the elements */
  int32_t header;           /* ms_header */
  int32_t replace;          /* whether `missing` stands for missing values: empty, NA, ?, nan... */
  double missing;           /* what they become; otherwise they are refused */
  const ms_column *columns; /* the columns to read, in this order; NULL: all */
  int64_t column_count;
} ms_table_options;

/* Names of columns: name k is bytes[offsets[k] .. offsets[k+1]). */
typedef struct MS_API_TYPE ms_column_names {
  int64_t count; /* 0 without a header */
  uint64_t *offsets;
  char *bytes;
} ms_column_names;

/* Reads files, whose rows follow each other. Returns rows x columns with one reference, and the
 * names in *names, whose vectors (from malloc) become the caller's. NULL and nothing half read:
 * MS_FIL with file and line, MS_OPT for a column that is not there, MS_ARR for memory. */
ms_array *ms_table_read(const ms_files *files, const ms_table_options *options,
                        ms_column_names *names, ms_error *err);

#endif
