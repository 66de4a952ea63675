/* SPDX-License-Identifier: MIT
 *
 * Labels: see labels.h. */
#include "array/labels.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array/numbered.h"
#include "base/hash.h"
#include "base/shown.h"

static ms_labels *new_labels(int64_t count, ms_error *err) {
  ms_labels *labels = calloc(1, sizeof *labels);
  if (labels == NULL) {
    ms_error_memory(err, MS_ARR, "the ids of a dimension");
    return NULL;
  }
  labels->references = 1;
  labels->count = count;
  return labels;
}

static bool ascend(const int64_t *numbers, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    if (numbers[i - 1] >= numbers[i]) return false;
  }
  return true;
}

/* Finds the order of numbers that do not ascend. */
static int sort_numbers(ms_labels *labels, ms_error *err) {
  size_t count = (size_t)labels->count;
  ms_numbered *list = ms_numbered_sorted(labels->numbers, count);
  labels->order = malloc(count * sizeof *labels->order);
  int failed = list == NULL || labels->order == NULL
                   ? ms_error_memory(err, MS_ARR, "the ids of a dimension")
                   : 0;
  for (size_t i = 0; failed == 0 && i < count; i++) {
    labels->order[i] = list[i].position;
    if (i > 0 && list[i - 1].number == list[i].number) {
      failed = ms_error_set(err, MS_FIL, "the id %" PRId64 " occurs twice", list[i].number);
    }
  }
  free(list);
  return failed;
}

ms_labels *ms_labels_numbers(int64_t *numbers, int64_t count, ms_error *err) {
  ms_labels *labels = new_labels(count, err);
  if (labels == NULL) {
    free(numbers);
    return NULL;
  }
  labels->numbers = numbers;
  if (!ascend(numbers, count) && sort_numbers(labels, err) != 0) ms_labels_release(&labels);
  return labels;
}

uint32_t ms_labels_hash(const char *text, uint64_t length) {
  return ms_hash_fold(ms_hash_text(MS_HASH_EMPTY, text, (size_t)length));
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
  if (labels->table == NULL) return ms_error_memory(err, MS_ARR, "the ids of a dimension");
  labels->mask = slots - 1;
  for (int64_t i = 0; i < labels->count; i++) {
    const char *text = labels->bytes + labels->offsets[i];
    uint64_t length = labels->offsets[i + 1] - labels->offsets[i];
    uint32_t slot = slot_of(labels, text, length);
    if (labels->table[slot] != 0) {
      char shown[MS_SHOWN_SIZE];
      return ms_error_set(err, MS_FIL, "the id '%s' occurs twice",
                          ms_shown(text, length, shown, sizeof shown));
    }
    labels->table[slot] = (uint32_t)i + 1;
  }
  return 0;
}

ms_labels *ms_labels_distinct(char *bytes, uint64_t *offsets, int64_t count, ms_error *err) {
  ms_labels *labels = new_labels(count, err);
  if (labels == NULL) {
    free(bytes);
    free(offsets);
    return NULL;
  }
  labels->bytes = bytes;
  labels->offsets = offsets;
  return labels;
}

ms_labels *ms_labels_strings(char *bytes, uint64_t *offsets, int64_t count, ms_error *err) {
  ms_labels *labels = ms_labels_distinct(bytes, offsets, count, err);
  if (labels != NULL && build_table(labels, err) != 0) ms_labels_release(&labels);
  return labels;
}

/* The labels at these positions, in their order; `labels` NULL means the numbers from 1 on. */
static ms_labels *pick(const ms_labels *labels, const int64_t *positions, int64_t count,
                       ms_error *err) {
  if (labels == NULL || labels->numbers != NULL) {
    int64_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
    for (int64_t i = 0; numbers != NULL && i < count; i++) {
      numbers[i] = labels != NULL ? labels->numbers[positions[i]] : positions[i] + 1;
    }
    if (numbers != NULL) return ms_labels_numbers(numbers, count, err);
    ms_error_memory(err, MS_ARR, "the ids of a dimension");
    return NULL;
  }
  uint64_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
  for (int64_t i = 0; offsets != NULL && i < count; i++) {
    offsets[i + 1] = offsets[i] + labels->offsets[positions[i] + 1] - labels->offsets[positions[i]];
  }
  char *bytes = offsets != NULL ? malloc((size_t)offsets[count] + 1) : NULL;
  if (bytes == NULL) {
    free(offsets);
    ms_error_memory(err, MS_ARR, "the ids of a dimension");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) {
    memcpy(bytes + offsets[i], labels->bytes + labels->offsets[positions[i]],
           (size_t)(offsets[i + 1] - offsets[i]));
  }
  return ms_labels_distinct(bytes, offsets, count, err);
}

ms_labels *ms_labels_slice(const ms_labels *labels, int64_t first, int64_t count, ms_error *err) {
  int64_t *positions = malloc(((size_t)count + 1) * sizeof *positions);
  if (positions == NULL) {
    ms_error_memory(err, MS_ARR, "the ids of a dimension");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) positions[i] = first + i;
  ms_labels *made = pick(labels, positions, count, err);
  free(positions);
  return made;
}

ms_labels *ms_labels_moved(const ms_labels *labels, const int32_t *place, int64_t count,
                           ms_error *err) {
  int64_t *positions = malloc(((size_t)count + 1) * sizeof *positions);
  if (positions == NULL) {
    ms_error_memory(err, MS_ARR, "the ids of a dimension");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) positions[place[i]] = i;
  ms_labels *made = pick(labels, positions, count, err);
  free(positions);
  return made;
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
  free(old->order);
  free(old);
}

/* The position of the number that is at this place of the ascending order. */
static int64_t position_at(const ms_labels *labels, int64_t place) {
  return labels->order != NULL ? labels->order[place] : place;
}

int64_t ms_labels_find_number(const ms_labels *labels, int64_t number) {
  if (labels->numbers == NULL) return -1;
  int64_t low = 0, high = labels->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (labels->numbers[position_at(labels, middle)] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == labels->count) return -1;
  int64_t position = position_at(labels, low);
  return labels->numbers[position] == number ? position : -1;
}

int ms_labels_prepare(ms_labels *labels, ms_error *err) {
  if (labels->offsets == NULL || labels->table != NULL) return 0;
  return build_table(labels, err);
}

/* Without memory for a table: looks at each. */
static int64_t find_slowly(const ms_labels *labels, const char *text, uint64_t length) {
  for (int64_t i = 0; i < labels->count; i++) {
    if (same(labels, i, text, length)) return i;
  }
  return -1;
}

int64_t ms_labels_find_string(ms_labels *labels, const char *text, uint64_t length) {
  if (labels->offsets == NULL) return -1;
  ms_error none = {0};
  if (ms_labels_prepare(labels, &none) != 0) return find_slowly(labels, text, length);
  return (int64_t)labels->table[slot_of(labels, text, length)] - 1;
}
