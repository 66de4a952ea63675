/* SPDX-License-Identifier: MIT
 *
 * Entries: coordinates and values of a matrix while a file is read, in growing vectors.
 *
 * The caller owns the record, which is zero before its first use. Used by one thread. */
#ifndef MS_READ_ENTRIES_H
#define MS_READ_ENTRIES_H

#include "array/array.h"

typedef struct ms_entries {
  int64_t count, capacity;
  int32_t *at[2]; /* rows and columns, 0-based */
  double *values;
} ms_entries;

/* Makes room for one more entry; MS_ARR: memory, more entries than an array can have. */
int ms_entries_grow(ms_entries *entries, ms_error *err);

/* Appends an entry. */
static inline int ms_entries_add(ms_entries *entries, int32_t row, int32_t column, double value,
                                 ms_error *err) {
  if (entries->count == entries->capacity && ms_entries_grow(entries, err) != 0) return -1;
  entries->at[0][entries->count] = row;
  entries->at[1][entries->count] = column;
  entries->values[entries->count++] = value;
  return 0;
}

/* Copies the entries into a sparse matrix, from its entry `place` on, with `row` added to their
 * rows. The values must be known to fit the array's type. */
void ms_entries_copy(const ms_entries *entries, ms_array *array, int64_t place, int64_t row);

/* Frees what the record holds. */
void ms_entries_free(ms_entries *entries);

#endif
