/* SPDX-License-Identifier: MIT
 *
 * The native prelude: see prelude.h.
 *
 * It is cut into items, mostly a function with its comment each: an empty line outside of braces
 * and of #if ends one. A name belongs to the item in which it stands first, as in C, which has
 * declarations before uses; who has it in another item or in a kernel needs that item, and what
 * that needs. Comments do not count. Only our own names are looked at: what an item is without that
 * has none, an #include, is in every kernel. */
#include "kernel/native/prelude.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

#define ITEMS 384  /* more than there are */
#define NAMES 4096 /* a power of 2, more than twice the names that there are */
#define WORDS (ITEMS / 64)

static const char strict[] = {
#include "prelude_strict.inc"
    0};

static const char quick[] = {
#include "prelude_fast.inc"
    0};

typedef struct name {
  const char *bytes; /* in the prelude; NULL: no name */
  size_t length;
  uint32_t item;
} name;

typedef struct item_set {
  uint64_t word[WORDS];
} item_set;

typedef struct item {
  const char *bytes;
  size_t length;
  item_set needs; /* itself among them */
} item;

typedef struct prelude {
  const char *text;
  item items[ITEMS];
  uint32_t count;
  item_set always;   /* items that all kernels have */
  name names[NAMES]; /* open addressing */
} prelude;

static prelude preludes[2] = {{.text = strict}, {.text = quick}};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add(item_set *set, uint32_t number) {
  set->word[number / 64] |= (uint64_t)1 << number % 64;
}

static bool has(const item_set *set, uint32_t number) {
  return (set->word[number / 64] >> number % 64 & 1) != 0;
}

static void add_all(item_set *set, const item_set *others) {
  for (uint32_t w = 0; w < WORDS; w++) set->word[w] |= others->word[w];
}

static bool is_letter(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* What follows a comment, or a string (#line has one), that begins at a place; the place itself:
 * none does. */
static const char *skip(const char *at, const char *end) {
  if (*at == '"') {
    for (at++; at < end && *at != '"'; at++) at += *at == '\\';
    return at < end ? at + 1 : end;
  }
  if (end - at < 4 || at[0] != '/' || at[1] != '*') return at;
  const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
  return close == NULL ? end : close + 2;
}

/* The next name of ours at or after a place, and its length; NULL: none before the end. */
static const char *next_name(const char *at, const char *end, size_t *length) {
  while (at < end) {
    const char *after = skip(at, end);
    if (after != at) {
      at = after;
    } else if (!is_letter(*at)) {
      at++;
    } else {
      const char *start = at;
      while (at < end && is_letter(*at)) at++;
      *length = (size_t)(at - start);
      if (*length > 3 && (memcmp(start, "ms_", 3) == 0 || memcmp(start, "MS_", 3) == 0))
        return start;
    }
  }
  return NULL;
}

/* Where a name stands, or would stand. */
static name *place_of(prelude *all, const char *bytes, size_t length) {
  uint32_t hash = ms_hash_fold(ms_hash_text(MS_HASH_EMPTY, bytes, length));
  for (;; hash++) {
    name *at = &all->names[hash % NAMES];
    if (at->bytes == NULL || (at->length == length && memcmp(at->bytes, bytes, length) == 0))
      return at;
  }
}

static bool begins(const char *at, const char *end, const char *word) {
  return (size_t)(end - at) >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* The end of the item that begins at a place: the empty line behind it. */
static const char *item_end(const char *at, const char *end) {
  for (int open = 0; at < end;) {
    const char *after = skip(at, end);
    if (after != at) {
      at = after;
      continue;
    }
    open += *at == '{' || begins(at, end, "#if");
    open -= *at == '}' || begins(at, end, "#endif");
    if (open == 0 && begins(at, end, "\n\n")) return at + 1;
    at++;
  }
  return end;
}

static void study_item(prelude *all, uint32_t number) {
  item *own = &all->items[number];
  const char *end = own->bytes + own->length;
  size_t length;
  add(&own->needs, number);
  const char *first = next_name(own->bytes, end, &length);
  if (first == NULL) add(&all->always, number);
  for (const char *at = first; at != NULL; at = next_name(at + length, end, &length)) {
    name *known = place_of(all, at, length);
    if (known->bytes == NULL) *known = (name){at, length, number};
    add_all(&own->needs, &all->items[known->item].needs);
  }
}

/* What nothing but a comment is in no kernel. */
static bool is_comment(const item *one) {
  const char *at = one->bytes, *end = at + one->length;
  if (*at == '/') at = skip(at, end);
  while (at < end && isspace((unsigned char)*at)) at++;
  return at == end;
}

static void study(prelude *all) {
  const char *end = all->text + strlen(all->text);
  for (const char *at = all->text; at < end && all->count < ITEMS;) {
    const char *after = item_end(at, end);
    item *own = &all->items[all->count];
    *own = (item){.bytes = at, .length = (size_t)(after - at)};
    if (!is_comment(own)) study_item(all, all->count++);
    for (at = after; at < end && *at == '\n';) at++;
  }
}

static void study_both(void) {
  study(&preludes[0]);
  study(&preludes[1]);
}

const char *ms_native_prelude(bool fast) {
  return preludes[fast].text;
}

void ms_native_prelude_for(bool fast, const char *kernel, size_t size, ms_text *out) {
  pthread_once(&once, study_both);
  prelude *all = &preludes[fast];
  item_set needs = all->always;
  size_t length;
  const char *end = kernel + size;
  for (const char *at = next_name(kernel, end, &length); at != NULL;
       at = next_name(at + length, end, &length)) {
    const name *known = place_of(all, at, length);
    if (known->bytes != NULL) add_all(&needs, &all->items[known->item].needs);
  }
  for (uint32_t n = 0; n < all->count; n++) {
    if (!has(&needs, n)) continue;
    ms_text_append(out, all->items[n].bytes, all->items[n].length);
    ms_text_add(out, "\n");
  }
  ms_text_add(out, "\f");
}
