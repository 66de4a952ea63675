/* SPDX-License-Identifier: MIT
 *
 * Sums by key: see key_sums.h. A hash table (open addressing, linear probing) tells a key's number;
 * the keys stand one after the other as items of string.buffer. */
#include "sync/key_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/encoded.h"
#include "base/text.h"

typedef struct place {
  uint64_t hash; /* of the key; of a number it is its bits, which no other number has */
  uint32_t key;  /* 1 + its number; 0: free */
  bool is_number;
} place;

struct ms_key_sums {
  place *places; /* `mask` + 1 of them, at most half of them taken */
  uint64_t mask;
  uint32_t count; /* of keys */
  ms_text items;  /* the keys, */
  ms_text ends;   /* by key, a size_t: where its bytes end in `items`, */
  ms_text values; /* and its sum, a double */
  ms_text noted;  /* what was noted and is not added yet */
  ms_text list;   /* the keys as they were last asked for */
};

#define FEWEST 64 /* places */

ms_key_sums *ms_key_sums_new(void) {
  ms_key_sums *sums = calloc(1, sizeof *sums);
  if (sums == NULL) return NULL;
  sums->mask = FEWEST - 1;
  sums->places = calloc(FEWEST, sizeof *sums->places);
  if (sums->places != NULL) return sums;
  free(sums);
  return NULL;
}

void ms_key_sums_free(ms_key_sums *sums) {
  if (sums == NULL) return;
  ms_text_free(&sums->items);
  ms_text_free(&sums->ends);
  ms_text_free(&sums->values);
  ms_text_free(&sums->noted);
  ms_text_free(&sums->list);
  free(sums->places);
  free(sums);
}

static uint64_t word_at(const char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* The last bytes of an item, fewer than a word, which are looked at twice rather than one by one.
 */
static uint64_t rest_at(const char *bytes, size_t size) {
  uint32_t first, last;
  if (size < sizeof first) {
    uint64_t rest = 0;
    for (size_t k = 0; k < size; k++) rest = rest << 8 | (unsigned char)bytes[k];
    return rest;
  }
  memcpy(&first, bytes, sizeof first);
  memcpy(&last, bytes + size - sizeof last, sizeof last);
  return (uint64_t)first << 32 | last;
}

/* The hash before and a word, all bits of which reach the lowest ones: these tell the place. */
static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static uint64_t hash_of(const char *bytes, size_t size) {
  uint64_t hash = size;
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), bytes += sizeof(uint64_t))
    hash = mix(hash, word_at(bytes));
  return mix(mix(hash, rest_at(bytes, size)), 0);
}

/* Twice as many places. */
static bool grow(ms_key_sums *sums) {
  uint64_t mask = 2 * sums->mask + 1;
  place *places = calloc(mask + 1, sizeof *places);
  if (places == NULL) return false;
  for (uint64_t k = 0; k <= sums->mask; k++) {
    if (sums->places[k].key == 0) continue;
    uint64_t at = sums->places[k].hash & mask;
    while (places[at].key != 0) at = (at + 1) & mask;
    places[at] = sums->places[k];
  }
  free(sums->places);
  sums->places = places;
  sums->mask = mask;
  return true;
}

/* Key `number` as it stands among the items. */
static ms_encoded_item item_of(const ms_key_sums *sums, uint64_t number) {
  const size_t *ends = (const size_t *)(const void *)sums->ends.bytes;
  size_t begin = number == 0 ? 0 : ends[number - 1];
  return (ms_encoded_item){.bytes = sums->items.bytes + begin, .size = ends[number] - begin};
}

/* Whether key `number` is this string or boolean. */
static bool is_key(const ms_key_sums *sums, uint64_t number, const ms_encoded_item *key) {
  ms_encoded_item item = item_of(sums, number);
  return item.size == key->size && memcmp(item.bytes, key->bytes, key->size) == 0;
}

/* Gives a key the next number. */
static bool add_key(ms_key_sums *sums, const ms_encoded_item *key) {
  char number[MS_ENCODED_NUMBER];
  double before = -0.0; /* changes nothing that is added to it */
  if (key->is_number) {
    ms_encoded_number(key->number, number);
    ms_text_append(&sums->items, number, sizeof number);
  } else {
    ms_text_append(&sums->items, key->bytes, key->size);
  }
  ms_text_append(&sums->ends, (const char *)&sums->items.length, sizeof sums->items.length);
  ms_text_append(&sums->values, (const char *)&before, sizeof before);
  sums->count++;
  return !sums->items.failed && !sums->ends.failed && !sums->values.failed;
}

/* A key's number; UINT64_MAX: memory is out. */
static uint64_t number_of(ms_key_sums *sums, const ms_encoded_item *key) {
  uint64_t hash = key->is_number ? mix(mix(0, word_at((const char *)&key->number)), 0)
                                 : hash_of(key->bytes, key->size);
  uint64_t at = hash & sums->mask;
  for (; sums->places[at].key != 0; at = (at + 1) & sums->mask) {
    const place *each = &sums->places[at];
    if (each->hash != hash || each->is_number != key->is_number) continue;
    if (key->is_number || is_key(sums, each->key - 1, key)) return each->key - 1;
  }
  if (sums->count == INT32_MAX || !add_key(sums, key)) return UINT64_MAX;
  uint32_t number = sums->count - 1;
  sums->places[at] = (place){.hash = hash, .key = number + 1, .is_number = key->is_number};
  return 2 * (uint64_t)number < sums->mask || grow(sums) ? number : UINT64_MAX;
}

int32_t ms_key_sums_note(ms_key_sums *sums, const char *bytes, size_t size, bool valued) {
  ms_encoded_walk walk;
  ms_encoded_item key, value;
  if (!ms_encoded_walk_begin(&walk, bytes, size)) return -1;
  size_t most = (size_t)(walk.array + walk.paired) * sizeof(ms_key_noted);
  ms_key_noted *next = (ms_key_noted *)(void *)ms_text_room(&sums->noted, most);
  if (next == NULL) return -1;
  const ms_key_noted *first = next;
  int got;
  while ((got = ms_encoded_walk_next(&walk, &key, &value)) > 0) {
    uint64_t number = number_of(sums, &key);
    if (number == UINT64_MAX || (valued && !value.is_number)) return -1;
    if (valued) *next++ = (ms_key_noted){.value = value.number, .key = number};
  }
  sums->noted.length += (size_t)(next - first) * sizeof *next;
  return got;
}

const char *ms_key_sums_keys(ms_key_sums *sums, size_t *size) {
  sums->list.length = 0;
  ms_encoded_add_list(&sums->list, sums->count, &sums->items);
  *size = sums->list.length;
  return sums->list.failed ? NULL : sums->list.bytes;
}

double *ms_key_sums_values(ms_key_sums *sums) {
  return (double *)(void *)sums->values.bytes;
}

const ms_key_noted *ms_key_sums_noted(const ms_key_sums *sums, size_t *count) {
  *count = sums->noted.length / sizeof(ms_key_noted);
  return (const ms_key_noted *)(const void *)sums->noted.bytes;
}

void ms_key_sums_add(ms_key_sums *sums) {
  size_t count;
  const ms_key_noted *noted = ms_key_sums_noted(sums, &count);
  double *values = ms_key_sums_values(sums);
  for (size_t k = 0; k < count; k++) values[noted[k].key] += noted[k].value;
  sums->noted.length = 0;
}

/* ------------------------------------------------------------------------------- arranging */

/* Whether a key goes before another one. */
static bool is_before(const ms_key_sums *sums, const place *one, const place *other) {
  if (one->hash != other->hash) return one->hash < other->hash;
  ms_encoded_item first = item_of(sums, one->key - 1), second = item_of(sums, other->key - 1);
  if (first.size != second.size) return first.size < second.size;
  return memcmp(first.bytes, second.bytes, first.size) < 0;
}

/* Puts the keys of taken places in a row, which ends at a free one, in order. What row a key is in
 * does not depend on when it came, and rows are short. */
static void sort_row(const ms_key_sums *sums, place *row, uint64_t count) {
  for (uint64_t k = 1; k < count; k++) {
    place each = row[k];
    uint64_t at = k;
    for (; at > 0 && is_before(sums, &each, &row[at - 1]); at--) row[at] = row[at - 1];
    row[at] = each;
  }
}

/* The taken places, row by row; NULL: memory is out. */
static place *rows_of(const ms_key_sums *sums) {
  place *all = malloc(((size_t)sums->count + 1) * sizeof *all);
  if (all == NULL) return NULL;
  uint64_t free_one = 0, count = 0, begin = 0;
  while (sums->places[free_one].key != 0) free_one++;
  for (uint64_t k = 1; k <= sums->mask + 1; k++) {
    const place *each = &sums->places[(free_one + k) & sums->mask];
    if (each->key != 0) {
      all[count++] = *each;
    } else {
      sort_row(sums, all + begin, count - begin);
      begin = count;
    }
  }
  return all;
}

int32_t ms_key_sums_arrange(ms_key_sums *sums) {
  place *all = rows_of(sums);
  ms_text items = {0}, ends = {0}, values = {0};
  for (uint32_t k = 0; all != NULL && k < sums->count; k++) {
    ms_encoded_item item = item_of(sums, all[k].key - 1);
    ms_text_append(&items, item.bytes, item.size);
    ms_text_append(&ends, (const char *)&items.length, sizeof items.length);
    double value = ms_key_sums_values(sums)[all[k].key - 1];
    ms_text_append(&values, (const char *)&value, sizeof value);
  }
  bool failed = all == NULL || items.failed || ends.failed || values.failed;
  free(all);
  ms_text_free(failed ? &items : &sums->items);
  ms_text_free(failed ? &ends : &sums->ends);
  ms_text_free(failed ? &values : &sums->values);
  if (failed) return -1;
  sums->items = items;
  sums->ends = ends;
  sums->values = values;
  return 0;
}
