/* SPDX-License-Identifier: MIT
 *
 * Encoded: see encoded.h. The format is that of LuaJIT's lj_serialize.c: a tag, then what it needs.
 * Tags, lengths and counts are unsigned numbers of one, two or five bytes. */
#include "base/encoded.h"

#include <stdint.h>
#include <string.h>

enum tag {
  TAG_NIL = 0x00,
  TAG_TRUE = 0x02,    /* false lies below */
  TAG_LIGHT64 = 0x05, /* NULL and pointers of 32 bits lie below */
  TAG_INT = 0x06,
  TAG_NUMBER = 0x07,
  TAG_TABLE = 0x08, /* +1: with a hash part; +2 or +4: with an array part from 0 or from 1 */
  TAG_TABLE_LAST = 0x0d,
  TAG_INT64 = 0x10,
  TAG_UINT64 = 0x11,
  TAG_STRING = 0x20 /* + length */
};

/* Doubles with larger bits are not numbers to LuaJIT but its other values. */
#define NAN_BITS      0xfff8000000000000u
#define INFINITE_BITS 0x7ff0000000000000u

/* The stream, or a table: how many values are still to come, keys included, and how many of them
 * are keys and what they have, which come last. */
typedef struct level {
  uint64_t left, paired;
} level;

typedef struct scan {
  const unsigned char *at, *end;
  level levels[MS_ENCODED_DEPTH + 1];
  int depth;
} scan;

static size_t bytes_left(const scan *s) {
  return (size_t)(s->end - s->at);
}

/* Reads a tag, length or count; false at the end of the stream. */
static bool take_count(scan *s, uint32_t *count) {
  if (bytes_left(s) < 1) return false;
  uint32_t first = *s->at++;
  *count = first;
  if (first < 0xe0) return true;
  size_t more = first == 0xff ? 4 : 1;
  if (bytes_left(s) < more) return false;
  if (more == 1) {
    *count = ((first & 0x1f) << 8) + *s->at + 0xe0;
  } else {
    *count =
        s->at[0] | (uint32_t)s->at[1] << 8 | (uint32_t)s->at[2] << 16 | (uint32_t)s->at[3] << 24;
  }
  s->at += more;
  return true;
}

static const char *skip(scan *s, size_t size) {
  if (size > bytes_left(s)) return "is cut short";
  s->at += size;
  return NULL;
}

static const char *skip_number(scan *s, bool key) {
  if (bytes_left(s) < 8) return "is cut short";
  uint64_t bits = 0;
  for (int k = 0; k < 8; k++) bits |= (uint64_t)s->at[k] << 8 * k;
  s->at += 8;
  if (bits > NAN_BITS) return "has a number with the bits of another value";
  return key && (bits & INT64_MAX) > INFINITE_BITS ? "has a key that is NaN" : NULL;
}

/* A table's parts; its values follow, each of one byte or more. */
static const char *open_table(scan *s, uint32_t tag) {
  uint32_t array = 0, hash = 0;
  uint32_t parts = tag - TAG_TABLE;
  if (parts >= 2 && !take_count(s, &array)) return "is cut short";
  if ((parts & 1) != 0 && !take_count(s, &hash)) return "is cut short";
  if (parts >= 4 && array > 0) array--; /* the array part counts element 0, which is not encoded */
  level table = {.left = array + 2 * (uint64_t)hash, .paired = 2 * (uint64_t)hash};
  if (table.left > bytes_left(s)) return "announces a table that is larger than itself";
  if (s->depth == MS_ENCODED_DEPTH) return "has tables nested too deep";
  s->levels[++s->depth] = table;
  return NULL;
}

/* Goes over one value, of a table only over the beginning. */
static const char *step(scan *s, bool key, bool integers) {
  uint32_t tag;
  if (!take_count(s, &tag)) return "is cut short";
  if (tag >= TAG_STRING) return skip(s, tag - TAG_STRING);
  if (tag == TAG_NIL && key) return "has a key that is nil";
  if (tag <= TAG_TRUE) return NULL;
  if (tag <= TAG_LIGHT64) return "has a pointer";
  if (tag == TAG_INT) return skip(s, 4);
  if (tag == TAG_NUMBER) return skip_number(s, key);
  if (tag >= TAG_TABLE && tag <= TAG_TABLE_LAST) return open_table(s, tag);
  if (tag == TAG_INT64 || tag == TAG_UINT64) {
    return integers ? skip(s, 8) : "has a 64-bit integer (cdata)";
  }
  return "has a value of an unknown kind";
}

const char *ms_encoded_fault(const char *bytes, size_t size, bool integers) {
  const unsigned char *first = (const unsigned char *)bytes;
  scan s = {.at = first, .end = first + size, .depth = 0};
  s.levels[0] = (level){.left = 1};
  while (s.depth >= 0) {
    level *top = &s.levels[s.depth];
    if (top->left == 0) {
      s.depth--;
      continue;
    }
    bool key = top->left <= top->paired && top->left % 2 == 0;
    top->left--;
    const char *fault = step(&s, key, integers);
    if (fault != NULL) return fault;
  }
  return bytes_left(&s) == 0 ? NULL : "goes on after its end";
}

bool ms_encoded_walk_begin(ms_encoded_walk *walk, const char *bytes, size_t size) {
  const unsigned char *first = (const unsigned char *)bytes;
  scan s = {.at = first, .end = first + size};
  uint32_t tag;
  if (!take_count(&s, &tag) || tag < TAG_TABLE || tag > TAG_TABLE_LAST) return false;
  if (open_table(&s, tag) != NULL) return false;
  uint64_t paired = s.levels[1].paired;
  *walk = (ms_encoded_walk){.at = s.at,
                            .end = s.end,
                            .key = tag - TAG_TABLE >= 4 ? 1 : 0,
                            .array = s.levels[1].left - paired,
                            .paired = paired / 2};
  return true;
}

/* Bytes of a plain value behind its tag; SIZE_MAX: it is none. */
static size_t plain_size(uint32_t tag) {
  if (tag >= TAG_STRING) return tag - TAG_STRING;
  if (tag == TAG_NUMBER) return sizeof(double);
  if (tag == TAG_INT) return sizeof(int32_t);
  return tag <= TAG_TRUE ? 0 : SIZE_MAX;
}

static double number_at(const unsigned char *bytes, uint32_t tag) {
  double number;
  int32_t whole;
  if (tag == TAG_NUMBER) {
    memcpy(&number, bytes, sizeof number);
    return number;
  }
  memcpy(&whole, bytes, sizeof whole);
  return whole;
}

/* Reads a plain value; false: there is none. */
static bool take_item(ms_encoded_walk *walk, ms_encoded_item *item, uint32_t *tag) {
  scan s = {.at = walk->at, .end = walk->end};
  if (!take_count(&s, tag)) return false;
  size_t size = plain_size(*tag);
  if (size > bytes_left(&s)) return false;
  item->bytes = (const char *)walk->at;
  item->is_number = *tag == TAG_NUMBER || *tag == TAG_INT;
  if (item->is_number) item->number = number_at(s.at, *tag);
  walk->at = s.at + size;
  item->size = (size_t)(walk->at - (const unsigned char *)item->bytes);
  return true;
}

int ms_encoded_walk_next(ms_encoded_walk *walk, ms_encoded_item *key, ms_encoded_item *value) {
  uint32_t tag;
  while (walk->array > 0) {
    *key = (ms_encoded_item){.number = (double)walk->key++, .is_number = true};
    walk->array--;
    if (!take_item(walk, value, &tag)) return -1;
    if (tag != TAG_NIL) return 1;
  }
  while (walk->paired > 0) {
    walk->paired--;
    if (!take_item(walk, key, &tag) || tag == TAG_NIL) return -1;
    if (!take_item(walk, value, &tag)) return -1;
    if (tag != TAG_NIL) return 1;
  }
  return walk->at == walk->end ? 0 : -1;
}

bool ms_encoded_is_plain(const char *bytes, size_t size, bool numbers) {
  ms_encoded_walk walk;
  ms_encoded_item key, value;
  if (!ms_encoded_walk_begin(&walk, bytes, size)) return false;
  int got;
  while ((got = ms_encoded_walk_next(&walk, &key, &value)) > 0) {
    if (numbers && !value.is_number) return false;
  }
  return got == 0;
}

bool ms_encoded_is_same(const char *one, const char *other, size_t size) {
  return memcmp(one, other, size) == 0;
}

static void add_count(ms_text *out, uint32_t count) {
  char bytes[5];
  size_t size = 1;
  bytes[0] = (char)count;
  if (count >= 0x1fe0) {
    bytes[0] = (char)0xff;
    memcpy(bytes + 1, &count, sizeof count);
    size = 5;
  } else if (count >= 0xe0) {
    bytes[0] = (char)(0xe0 | (count - 0xe0) >> 8);
    bytes[1] = (char)(count - 0xe0);
    size = 2;
  }
  ms_text_append(out, bytes, size);
}

void ms_encoded_add_list(ms_text *out, uint32_t count, const ms_text *items) {
  add_count(out, TAG_TABLE + 4);
  add_count(out, count + 1); /* with what would be at 0 */
  ms_text_append(out, items->bytes, items->length);
}

void ms_encoded_number(double number, char item[MS_ENCODED_NUMBER]) {
  item[0] = TAG_NUMBER;
  memcpy(item + 1, &number, sizeof number);
}
