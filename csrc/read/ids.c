/* SPDX-License-Identifier: MIT
 *
 * Ids: see ids.h. */
#include "read/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/numbered.h"
#include "read/number.h"

#define FIRST_SLOTS 1024u
#define FIRST_IDS   1024

/* Numbers below these are looked up by themselves, not by their hash: always, and if there are so
 * many for each id. */
#define DIRECT       ((int64_t)1 << 18)
#define DIRECT_AN_ID 16

/* How many ids ahead of their use their slots are fetched. */
#define AHEAD       12
#define NUMBER_SIZE 24 /* room for an int64 */

static int out_of_memory(ms_error *err) {
  return ms_error_memory(err, MS_ARR, "the file's ids");
}

static uint32_t hash_number(int64_t number) {
  return (uint32_t)(((uint64_t)number * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

static bool is_string(const ms_ids *ids, uint32_t position, const char *text, size_t length) {
  uint64_t begin = ids->offsets[position], end = ids->offsets[position + 1];
  return end - begin == length && memcmp(ids->bytes + begin, text, length) == 0;
}

/* What stands in the table for the id at a position, and its parts. */
static uint64_t entry_of(uint32_t hash, int64_t position) {
  return (uint64_t)hash << 32 | (uint32_t)(position + 1);
}

static uint32_t hash_in(uint64_t entry) {
  return (uint32_t)(entry >> 32);
}

static uint32_t position_in(uint64_t entry) {
  return (uint32_t)entry - 1;
}

/* Where an id is in the table, or belongs. */
static uint64_t *slot_of_number(const ms_ids *ids, int64_t number, uint32_t hash) {
  uint32_t slot = hash & ids->mask;
  for (; ids->table[slot] != 0; slot = (slot + 1) & ids->mask) {
    uint64_t entry = ids->table[slot];
    if (hash_in(entry) == hash && ids->numbers[position_in(entry)] == number) break;
  }
  return &ids->table[slot];
}

static uint64_t *slot_of_string(const ms_ids *ids, const char *text, size_t length, uint32_t hash) {
  uint32_t slot = hash & ids->mask;
  for (; ids->table[slot] != 0; slot = (slot + 1) & ids->mask) {
    uint64_t entry = ids->table[slot];
    if (hash_in(entry) == hash && is_string(ids, position_in(entry), text, length)) break;
  }
  return &ids->table[slot];
}

static bool is_direct(const ms_ids *ids, int64_t number) {
  return (uint64_t)number < (uint64_t)ids->direct_size;
}

/* Makes the table of numbers cover this one, if that is worth its memory. */
static bool extend_direct(ms_ids *ids, int64_t number) {
  if (number < 0 || number >= DIRECT + DIRECT_AN_ID * ids->count) return false;
  int64_t size = ids->direct_size > 0 ? ids->direct_size : 4096;
  while (size <= number) size *= 2;
  uint32_t *direct = calloc((size_t)size, sizeof *direct);
  if (direct == NULL) return false;
  if (ids->direct != NULL) {
    memcpy(direct, ids->direct, (size_t)ids->direct_size * sizeof *direct);
  }
  free(ids->direct);
  ids->direct = direct;
  ids->direct_size = size;
  for (int64_t p = 0; ids->hashed > 0 && p < ids->count; p++) {
    if (is_direct(ids, ids->numbers[p])) direct[ids->numbers[p]] = (uint32_t)p + 1;
  }
  return true;
}

/* A table of `slots` with all that the present one has. */
static int rebuild_table(ms_ids *ids, uint32_t slots, ms_error *err) {
  uint64_t *table = calloc(slots, sizeof *table);
  if (table == NULL) return out_of_memory(err);
  for (uint32_t s = 0; ids->table != NULL && s <= ids->mask; s++) {
    if (ids->table[s] == 0) continue;
    uint32_t slot = hash_in(ids->table[s]) & (slots - 1);
    while (table[slot] != 0) slot = (slot + 1) & (slots - 1);
    table[slot] = ids->table[s];
  }
  free(ids->table);
  ids->table = table;
  ids->mask = slots - 1;
  return 0;
}

/* Makes room for one more id in the table: at most half of its slots are taken. */
static int make_slot(ms_ids *ids, ms_error *err) {
  if (ids->table == NULL) return rebuild_table(ids, 2 * FIRST_SLOTS, err);
  if (ids->hashed * 2 < (int64_t)ids->mask + 1) return 0;
  return rebuild_table(ids, (ids->mask + 1) * 2, err);
}

/* Makes room for one more id in the list. */
static int make_room(ms_ids *ids, ms_error *err) {
  if (ids->count >= MS_IDS_MOST) {
    return ms_error_set(err, MS_ARR, "more than %" PRId64 " different ids", MS_IDS_MOST);
  }
  if (ids->count < ids->capacity) return 0;
  int64_t capacity = ids->capacity == 0 ? FIRST_IDS : ids->capacity * 2;
  void *grown = ids->strings ? realloc(ids->offsets, ((size_t)capacity + 1) * sizeof *ids->offsets)
                             : realloc(ids->numbers, (size_t)capacity * sizeof *ids->numbers);
  if (grown == NULL) return out_of_memory(err);
  if (ids->strings) {
    ids->offsets = grown;
    if (ids->count == 0) ids->offsets[0] = 0;
  } else {
    ids->numbers = grown;
  }
  ids->capacity = capacity;
  return 0;
}

static int append_string(ms_ids *ids, const char *text, size_t length, ms_error *err) {
  uint64_t end = ids->offsets[ids->count] + length;
  if (end > ids->byte_capacity) {
    uint64_t capacity = end * 2 + 4096;
    char *grown = realloc(ids->bytes, (size_t)capacity);
    if (grown == NULL) return out_of_memory(err);
    ids->bytes = grown;
    ids->byte_capacity = capacity;
  }
  memcpy(ids->bytes + ids->offsets[ids->count], text, length);
  ids->offsets[++ids->count] = end;
  return 0;
}

static size_t print_number(int64_t number, char *text) {
  return (size_t)snprintf(text, NUMBER_SIZE, "%" PRId64, number);
}

static int64_t string_position(ms_ids *ids, const char *text, size_t length, uint32_t hash,
                               ms_error *err) {
  if (make_slot(ids, err) != 0) return -1;
  uint64_t *slot = slot_of_string(ids, text, length, hash);
  if (*slot == 0) {
    if (make_room(ids, err) != 0 || append_string(ids, text, length, err) != 0) return -1;
    *slot = entry_of(hash, ids->count - 1);
    ids->hashed++;
  }
  return position_in(*slot);
}

/* Numbers become strings; their plain form gives the text back. */
static int turn_into_strings(ms_ids *ids, ms_error *err) {
  int64_t count = ids->count, *numbers = ids->numbers;
  ids->strings = true;
  ids->numbers = NULL;
  ids->count = ids->capacity = ids->hashed = ids->direct_size = 0;
  free(ids->table);
  free(ids->direct);
  ids->table = NULL;
  ids->direct = NULL;
  int failed = 0;
  for (int64_t p = 0; failed == 0 && p < count; p++) {
    char text[NUMBER_SIZE];
    size_t length = print_number(numbers[p], text);
    uint32_t hash = ms_labels_hash(text, length);
    failed = string_position(ids, text, length, hash, err) < 0 ? -1 : 0;
  }
  free(numbers);
  return failed;
}

static int64_t fixed_position(const ms_ids *ids, const char *text, size_t length) {
  int64_t number, position;
  bool integer = ms_number_integer(text, length, &number);
  if (ids->fixed == NULL) {
    return integer && number >= 1 && number <= ids->fixed_extent ? number - 1 : -2;
  }
  if (ids->fixed->numbers == NULL) {
    position = ms_labels_find_string(ids->fixed, text, length);
  } else {
    position = integer ? ms_labels_find_number(ids->fixed, number) : -1;
  }
  return position >= 0 ? position : -2;
}

/* Adds a number and returns its position. */
static int64_t add_number(ms_ids *ids, int64_t number, ms_error *err) {
  if (make_room(ids, err) != 0) return -1;
  ids->numbers[ids->count] = number;
  return ids->count++;
}

static int64_t number_position(ms_ids *ids, int64_t number, ms_error *err) {
  int64_t position;
  if (is_direct(ids, number) || extend_direct(ids, number)) {
    uint32_t *place = &ids->direct[number];
    if (*place != 0) return (int64_t)*place - 1;
    position = add_number(ids, number, err);
    if (position >= 0) *place = (uint32_t)position + 1;
    return position;
  }
  if (make_slot(ids, err) != 0) return -1;
  uint32_t hash = hash_number(number);
  uint64_t *slot = slot_of_number(ids, number, hash);
  if (*slot != 0) return position_in(*slot);
  position = add_number(ids, number, err);
  if (position < 0) return -1;
  *slot = entry_of(hash, position);
  ids->hashed++;
  return position;
}

/* Has the slot of a number fetched. */
static void fetch(const ms_ids *ids, int64_t number) {
  if (is_direct(ids, number)) {
    __builtin_prefetch(&ids->direct[number]);
  } else if (ids->table != NULL) {
    __builtin_prefetch(&ids->table[hash_number(number) & ids->mask]);
  }
}

static bool is_fixed(const ms_ids *ids) {
  return ids->fixed != NULL || ids->fixed_extent > 0;
}

void ms_ids_approach(const ms_ids *ids, const char *text, size_t length, ms_id *id) {
  *id = (ms_id){.text = text, .length = length};
  if (is_fixed(ids)) return;
  id->integer = !ids->strings && ms_number_integer(text, length, &id->number);
  if (id->integer) {
    fetch(ids, id->number);
    return;
  }
  id->hash = ms_labels_hash(text, length);
  if (ids->strings) __builtin_prefetch(&ids->table[id->hash & ids->mask]);
}

void ms_ids_near(const ms_ids *ids, const ms_id *id) {
  if (!ids->strings || id->integer || is_fixed(ids)) return;
  uint64_t entry = ids->table[id->hash & ids->mask];
  if (entry == 0 || hash_in(entry) != id->hash) return;
  __builtin_prefetch(ids->bytes + ids->offsets[position_in(entry)]);
}

int64_t ms_ids_place(ms_ids *ids, const ms_id *id, ms_error *err) {
  if (is_fixed(ids)) return fixed_position(ids, id->text, id->length);
  if (id->integer && !ids->strings) return number_position(ids, id->number, err);
  if (!ids->strings && turn_into_strings(ids, err) != 0) return -1;
  uint32_t hash = id->integer ? ms_labels_hash(id->text, id->length) : id->hash;
  return string_position(ids, id->text, id->length, hash, err);
}

/* Joins strings `first` to `end` - 1, a group at most. */
static int join_strings(ms_ids *ids, const ms_ids *other, int64_t first, int64_t end,
                        uint32_t *place, ms_error *err) {
  ms_id id[MS_IDS_GROUP];
  for (int64_t p = first; p < end; p++) {
    uint64_t begin = other->offsets[p], length = other->offsets[p + 1] - begin;
    ms_ids_approach(ids, other->bytes + begin, (size_t)length, &id[p - first]);
  }
  for (int64_t p = first; p < end; p++) ms_ids_near(ids, &id[p - first]);
  for (int64_t p = first; p < end; p++) {
    int64_t position = ms_ids_place(ids, &id[p - first], err);
    if (position < 0) return -1;
    place[p] = (uint32_t)position;
  }
  return 0;
}

static int join_number(ms_ids *ids, int64_t number, uint32_t *place, ms_error *err) {
  int64_t position;
  if (ids->strings) {
    char text[NUMBER_SIZE];
    size_t length = print_number(number, text);
    position = string_position(ids, text, length, ms_labels_hash(text, length), err);
  } else {
    position = number_position(ids, number, err);
  }
  if (position < 0) return -1;
  *place = (uint32_t)position;
  return 0;
}

int ms_ids_join(ms_ids *ids, const ms_ids *other, uint32_t *place, ms_error *err) {
  int64_t count = other->count;
  for (int64_t p = 0; other->strings && p < count; p += MS_IDS_GROUP) {
    int64_t end = count - p < MS_IDS_GROUP ? count : p + MS_IDS_GROUP;
    if (join_strings(ids, other, p, end, place, err) != 0) return -1;
  }
  for (int64_t p = 0; !other->strings && p < count; p++) {
    if (!ids->strings && p + AHEAD < count) fetch(ids, other->numbers[p + AHEAD]);
    if (join_number(ids, other->numbers[p], &place[p], err) != 0) return -1;
  }
  return 0;
}

int64_t ms_ids_count(const ms_ids *ids) {
  if (ids->fixed != NULL) return ids->fixed->count;
  return ids->fixed_extent > 0 ? ids->fixed_extent : ids->count;
}

/* Whether all numbers are looked up by themselves. */
static bool all_direct(const ms_ids *ids) {
  for (int64_t p = 0; p < ids->count; p++) {
    if (!is_direct(ids, ids->numbers[p])) return false;
  }
  return true;
}

/* Sorts all the numbers as the table of them has them. */
static void sort_direct(ms_ids *ids, uint32_t *place) {
  int64_t at = 0;
  for (int64_t number = 0; number < ids->direct_size; number++) {
    if (ids->direct[number] == 0) continue;
    ids->numbers[at] = number;
    place[ids->direct[number] - 1] = (uint32_t)at++;
  }
}

/* Puts the numbers in order; place[old position] is the new one. */
static uint32_t *sort_numbers(ms_ids *ids, ms_error *err) {
  size_t count = (size_t)ids->count;
  uint32_t *place = malloc((count + 1) * sizeof *place);
  if (place != NULL && all_direct(ids)) {
    sort_direct(ids, place);
    return place;
  }
  ms_numbered *list = ms_numbered_sorted(ids->numbers, count);
  if (list == NULL || place == NULL) {
    free(list);
    free(place);
    out_of_memory(err);
    return NULL;
  }
  for (size_t p = 0; p < count; p++) {
    ids->numbers[p] = list[p].number;
    place[list[p].position] = (uint32_t)p;
  }
  free(list);
  return place;
}

ms_labels *ms_ids_labels(ms_ids *ids, uint32_t **place, ms_error *err) {
  *place = NULL;
  if (!ids->strings) {
    *place = sort_numbers(ids, err);
    if (*place == NULL) return NULL;
  }
  ms_labels *labels = ids->strings ? ms_labels_strings(ids->bytes, ids->offsets, ids->count, err)
                                   : ms_labels_numbers(ids->numbers, ids->count, err);
  ids->bytes = NULL;
  ids->offsets = NULL;
  ids->numbers = NULL;
  ms_ids_free(ids);
  return labels;
}

void ms_ids_free(ms_ids *ids) {
  free(ids->table);
  free(ids->direct);
  free(ids->numbers);
  free(ids->offsets);
  free(ids->bytes);
  *ids = (ms_ids){0};
}
