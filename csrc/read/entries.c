/* SPDX-License-Identifier: MIT
 *
 * Entries: see entries.h. */
#include "read/entries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096

static int grow(void **vector, size_t element, int64_t capacity, ms_error *err) {
  void *grown = realloc(*vector, (size_t)capacity * element);
  if (grown == NULL) return ms_error_memory(err, MS_ARR, "the file's entries");
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

void ms_entries_copy(const ms_entries *entries, ms_array *array, int64_t place, int64_t row) {
  const ms_type_ops *ops = ms_type_of(array->type);
  int32_t *rows = array->coords[0] + place;
  for (int64_t e = 0; e < entries->count; e++) rows[e] = entries->at[0][e] + (int32_t)row;
  if (entries->count > 0) {
    memcpy(array->coords[1] + place, entries->at[1], (size_t)entries->count * sizeof(int32_t));
  }
  ops->narrow(entries->values, (char *)array->data + (size_t)place * ops->size,
              (size_t)entries->count);
}

void ms_entries_free(ms_entries *entries) {
  free(entries->at[0]);
  free(entries->at[1]);
  free(entries->values);
  *entries = (ms_entries){0};
}
