/* SPDX-License-Identifier: MIT
 *
 * Names: see name.h. A chained hash table that doubles when it is full. */
#include "syntax/name.h"

#include <string.h>

#include "base/hash.h"

#define FIRST_BUCKETS 256

/* Doubles the buckets. The old ones stay in the arena: their sum is below the new one's size. */
static bool grow(ms_name_table *names) {
  size_t buckets = names->buckets == 0 ? FIRST_BUCKETS : names->buckets * 2;
  ms_name **fresh = ms_arena_take(names->arena, buckets, sizeof(ms_name *));
  if (fresh == NULL) return false;
  for (size_t i = 0; i < names->buckets; i++) {
    for (ms_name *each = names->bucket[i]; each != NULL;) {
      ms_name *next = each->next;
      ms_name **home = &fresh[each->hash & (buckets - 1)];
      each->next = *home;
      *home = each;
      each = next;
    }
  }
  names->bucket = fresh;
  names->buckets = buckets;
  return true;
}

ms_name *ms_name_intern(ms_name_table *names, const char *text, size_t length) {
  if (names->count >= names->buckets && !grow(names)) return NULL;
  uint32_t hash = ms_hash_fold(ms_hash_text(MS_HASH_EMPTY, text, length));
  ms_name **home = &names->bucket[hash & (names->buckets - 1)];
  for (ms_name *each = *home; each != NULL; each = each->next) {
    if (each->hash == hash && each->length == length && memcmp(each->text, text, length) == 0)
      return each;
  }
  ms_name *fresh = ms_arena_take(names->arena, 1, sizeof *fresh);
  const char *copy = ms_arena_copy(names->arena, text, length);
  if (fresh == NULL || copy == NULL) return NULL;
  *fresh = (ms_name){.next = *home, .text = copy, .length = length, .hash = hash};
  *home = fresh;
  names->count++;
  return fresh;
}
