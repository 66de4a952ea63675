/* SPDX-License-Identifier: MIT
 *
 * The native prelude: see prelude.h.
 *
 * Its parts, a header each, are told from each other by form feeds, which C takes for spaces. A
 * name belongs to the part in which it stands first; who has it in another part or in a kernel
 * needs that part, and what that needs. Comments do not count. Only our own names are looked at:
 * all else that parts have in common comes with the first ones, which are in every kernel. */
#include "kernel/native/prelude.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define PARTS 20
#define NAMES 4096      /* a power of 2, more than twice the names that there are */
#define LAST  "ms_give" /* in the last of the parts that all kernels have: convention and values */

static const char strict[] = {
#include "prelude_strict.inc"
    0};

static const char quick[] = {
#include "prelude_fast.inc"
    0};

typedef struct name {
  const char *bytes; /* in the prelude; NULL: no name */
  size_t length;
  uint32_t part;
} name;

typedef struct part {
  const char *bytes;
  size_t length;
  uint32_t needs; /* parts, a bit each, itself among them */
} part;

typedef struct prelude {
  const char *text;
  part parts[PARTS];
  uint32_t count, last; /* parts; the last of those that all kernels have */
  name names[NAMES];    /* open addressing */
} prelude;

static prelude preludes[2] = {{.text = strict}, {.text = quick}};
static pthread_once_t once = PTHREAD_ONCE_INIT;

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
  uint32_t hash = 2166136261u;
  for (size_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)bytes[k]) * 16777619u;
  for (;; hash++) {
    name *at = &all->names[hash % NAMES];
    if (at->bytes == NULL || (at->length == length && memcmp(at->bytes, bytes, length) == 0))
      return at;
  }
}

static void study_part(prelude *all, uint32_t number) {
  part *own = &all->parts[number];
  own->needs = 1u << number;
  const char *end = own->bytes + own->length;
  size_t length;
  for (const char *at = next_name(own->bytes, end, &length); at != NULL;
       at = next_name(at + length, end, &length)) {
    name *known = place_of(all, at, length);
    if (known->bytes == NULL) *known = (name){at, length, number};
    own->needs |= all->parts[known->part].needs;
  }
}

static void study(prelude *all) {
  for (const char *at = all->text; *at != '\0' && all->count < PARTS;) {
    size_t length = strcspn(at, "\f");
    all->parts[all->count] = (part){.bytes = at, .length = length};
    study_part(all, all->count++);
    at += length + (at[length] == '\f');
  }
  all->last = place_of(all, LAST, sizeof LAST - 1)->part;
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
  uint32_t needs = 0;
  size_t length;
  const char *end = kernel + size;
  for (uint32_t p = 0; p <= all->last; p++) needs |= all->parts[p].needs;
  for (const char *at = next_name(kernel, end, &length); at != NULL;
       at = next_name(at + length, end, &length)) {
    const name *known = place_of(all, at, length);
    if (known->bytes != NULL) needs |= all->parts[known->part].needs;
  }
  for (uint32_t p = 0; p < all->count; p++) {
    if ((needs >> p & 1) == 0) continue;
    ms_text_append(out, all->parts[p].bytes, all->parts[p].length);
    ms_text_add(out, "\f");
  }
}
