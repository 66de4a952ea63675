/* SPDX-License-Identifier: MIT
 *
 * Entries: see entries.h. */
#include "array/entries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096

static int grow(void **vector, size_t element, int64_t capacity, ms_error *err) {
  void *grown = realloc(*vector, (size_t)capacity * element);
  if (grown == NULL) return ms_error_set(err, MS_ARR, "out of memory for the file's entries");
  *vector = grown;
  return 0;
}

int ms_entries_grow(ms_entries *entries, ms_error *err) {
  if (entries->count >= MS_ARRAY_ENTRIES / 2) {
    return ms_error_set(err, MS_ARR, "more than %" PRId64 " entries", entries->count);
  }
  int64_t capacity = entries->capacity == 0 ? FIRST_CAPACITY : entries->capacity * 2;
  if (grow((void **)&entries->at[0], sizeof *entries->at[0], capacity, err) != 0 ||
      grow((void **)&entries->at[1], sizeof *entries->at[1], capacity, err) != 0 ||
      grow((void **)&entries->values, sizeof *entries->values, capacity, err) != 0) {
    return -1;
  }
  entries->capacity = capacity;
  return 0;
}

ms_array *ms_entries_array(ms_entries *entries, int type, const int64_t dims[2], ms_error *err) {
  ms_array *array = ms_array_sparse(type, 2, dims, entries->count, err);
  if (array == NULL) return NULL;
  size_t count = (size_t)entries->count;
  for (int d = 0; d < 2; d++) {
    if (count > 0) memcpy(array->coords[d], entries->at[d], count * sizeof(int32_t));
    free(entries->at[d]);
    entries->at[d] = NULL;
  }
  ms_type_of(type)->narrow(entries->values, array->data, count);
  ms_entries_free(entries);
  return array;
}

void ms_entries_free(ms_entries *entries) {
  free(entries->at[0]);
  free(entries->at[1]);
  free(entries->values);
  *entries = (ms_entries){0};
}
