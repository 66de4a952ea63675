/* SPDX-License-Identifier: MIT
 *
 * Labels: see labels.h. */
#include "array/labels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static ms_labels *new_labels(int64_t count, ms_error *err) {
  ms_labels *labels = calloc(1, sizeof *labels);
  if (labels == NULL) {
    ms_error_set(err, MS_ARR, "out of memory");
    return NULL;
  }
  labels->references = 1;
  labels->count = count;
  return labels;
}

ms_labels *ms_labels_numbers(int64_t *numbers, int64_t count, ms_error *err) {
  for (int64_t i = 1; i < count; i++) {
    if (numbers[i - 1] < numbers[i]) continue;
    ms_error_set(err, MS_FIL, "ids do not ascend at position %" PRId64, i + 1);
    free(numbers);
    return NULL;
  }
  ms_labels *labels = new_labels(count, err);
  if (labels == NULL) {
    free(numbers);
    return NULL;
  }
  labels->numbers = numbers;
  return labels;
}

uint32_t ms_labels_hash(const char *text, uint64_t length) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (uint64_t i = 0; i < length; i++) {
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
  }
  return (uint32_t)(hash ^ hash >> 32);
}

static bool same(const ms_labels *labels, int64_t position, const char *text, uint64_t length) {
  uint64_t begin = labels->offsets[position], end = labels->offsets[position + 1];
  return end - begin == length && memcmp(labels->bytes + begin, text, (size_t)length) == 0;
}

/* The slot of a string: where it is, or the empty one where it belongs. */
static uint32_t slot_of(const ms_labels *labels, const char *text, uint64_t length) {
  uint32_t slot = ms_labels_hash(text, length) & labels->mask;
  while (labels->table[slot] != 0 &&
         !same(labels, (int64_t)labels->table[slot] - 1, text, length)) {
    slot = (slot + 1) & labels->mask;
  }
  return slot;
}

/* Fills the table; at most half of its slots are taken. */
static int build_table(ms_labels *labels, ms_error *err) {
  uint32_t slots = 4;
  while (slots < UINT32_MAX / 2 && (int64_t)slots < labels->count * 2) slots *= 2;
  labels->table = calloc(slots, sizeof *labels->table);
  if (labels->table == NULL) return ms_error_set(err, MS_ARR, "out of memory");
  labels->mask = slots - 1;
  for (int64_t i = 0; i < labels->count; i++) {
    const char *text = labels->bytes + labels->offsets[i];
    uint64_t length = labels->offsets[i + 1] - labels->offsets[i];
    uint32_t slot = slot_of(labels, text, length);
    if (labels->table[slot] != 0) {
      return ms_error_set(err, MS_FIL, "the id '%.*s' occurs twice", length < 80 ? (int)length : 80,
                          text);
    }
    labels->table[slot] = (uint32_t)i + 1;
  }
  return 0;
}

ms_labels *ms_labels_strings(char *bytes, uint64_t *offsets, int64_t count, ms_error *err) {
  ms_labels *labels = new_labels(count, err);
  if (labels == NULL) {
    free(bytes);
    free(offsets);
    return NULL;
  }
  labels->bytes = bytes;
  labels->offsets = offsets;
  if (build_table(labels, err) != 0) ms_labels_release(&labels);
  return labels;
}

void ms_labels_retain(ms_labels *labels) {
  if (labels != NULL) labels->references++;
}

void ms_labels_release(ms_labels **labels) {
  ms_labels *old = *labels;
  *labels = NULL;
  if (old == NULL || --old->references > 0) return;
  free(old->numbers);
  free(old->offsets);
  free(old->bytes);
  free(old->table);
  free(old);
}

int64_t ms_labels_find_number(const ms_labels *labels, int64_t number) {
  if (labels->numbers == NULL) return -1;
  int64_t low = 0, high = labels->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (labels->numbers[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < labels->count && labels->numbers[low] == number ? low : -1;
}

int64_t ms_labels_find_string(const ms_labels *labels, const char *text, uint64_t length) {
  if (labels->table == NULL) return -1;
  return (int64_t)labels->table[slot_of(labels, text, length)] - 1;
}
