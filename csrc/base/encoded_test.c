/* SPDX-License-Identifier: MIT
 *
 * Encoded: streams as LuaJIT writes them are taken, and no other. (That these are what LuaJIT
 * writes is tested in spec/base/encoded_spec.lua.) */
#include "base/encoded.h"

#include <stdint.h>
#include <string.h>

#include "base/test.h"

#define BYTES(text) text, sizeof text - 1

static const struct {
  const char *bytes;
  size_t size;
  const char *fault; /* part of it; NULL: none */
  const char *wide;  /* the same where 64-bit integers are known */
} streams[] = {
    {BYTES("\x00"), NULL, NULL}, /* nil */
    {BYTES("\x02"), NULL, NULL}, /* true */
    {BYTES("\x06\x01\x02\x03\x04"), NULL, NULL},
    {BYTES("\x07\x00\x00\x00\x00\x00\x00\xf0\x3f"), NULL, NULL}, /* 1 */
    {BYTES("\x07\x00\x00\x00\x00\x00\x00\xf8\xff"), NULL, NULL}, /* NaN */
    {BYTES("\x07\x01\x00\x00\x00\x00\x00\xf8\xff"), "bits of another", "bits of another"},
    {BYTES("\x07\x00\x00\x00\x00\x00\x00\xf0"), "cut short", "cut short"},
    {BYTES("\x23"
           "abc"),
     NULL, NULL},
    {BYTES("\x23"
           "ab"),
     "cut short", "cut short"},
    {BYTES("\x23"
           "abcd"),
     "after its end", "after its end"},
    {BYTES("\xe0"), "cut short", "cut short"},
    {BYTES("\xff\x21\x00\x00"), "cut short", "cut short"},
    {BYTES("\xff\x21\x00\x00\x00"
           "a"),
     NULL, NULL},
    {BYTES("\xff\xff\xff\xff\xff"), "cut short", "cut short"},
    {BYTES("\x08"), NULL, NULL},                      /* {} */
    {BYTES("\x09\x01\x21k\x02"), NULL, NULL},         /* {k = true} */
    {BYTES("\x0a\x02\x01\x02"), NULL, NULL},          /* {[0] = false, true} */
    {BYTES("\x0c\x03\x01\x02"), NULL, NULL},          /* {false, true} */
    {BYTES("\x0d\x02\x01\x01\x21k\x02"), NULL, NULL}, /* {false, k = true} */
    {BYTES("\x0c\x00"), NULL, NULL},
    {BYTES("\x0c\x03\x01"), "larger than itself", "larger than itself"},
    {BYTES("\x09\x01\x21k"), "cut short", "cut short"},
    {BYTES("\x0c\xff\xff\xff\xff\x03\x01\x01"), "larger than itself", "larger than itself"},
    {BYTES("\x09\xff\xff\xff\xff\xff\x01\x01"), "larger than itself", "larger than itself"},
    {BYTES("\x09\x01\x00\x02"), "key that is nil", "key that is nil"},
    {BYTES("\x09\x01\xff\x00\x00\x00\x00\x02"), "key that is nil", "key that is nil"},
    {BYTES("\x09\x01\x07\x00\x00\x00\x00\x00\x00\xf8\xff\x02"), "NaN", "NaN"},
    {BYTES("\x09\x01\x07\x00\x00\x00\x00\x00\x00\xf0\x7f\x02"), NULL, NULL}, /* infinity */
    {BYTES("\x0d\x03\x02\x00\x00\x21k\x00\x21j\x00"), NULL, NULL}, /* nil where it may be */
    {BYTES("\x0d\x03\x02\x00\x00\x21k\x00\x00\x21j"), "key that is nil", "key that is nil"},
    {BYTES("\x0b"), "cut short", "cut short"},
    {BYTES("\x0b\x01"), "cut short", "cut short"},
    {BYTES("\x03"), "pointer", "pointer"},
    {BYTES("\x04\x10\x00\x00\x00"), "pointer", "pointer"},
    {BYTES("\x05\x10\x00\x00\x00\x00\x00\x00\x00"), "pointer", "pointer"},
    {BYTES("\x0c\x02\x05\x10\x00\x00\x00\x00\x00\x00\x00"), "pointer", "pointer"},
    {BYTES("\x10\x01\x00\x00\x00\x00\x00\x00\x00"), "64-bit", NULL},
    {BYTES("\x11\x01\x00\x00\x00\x00\x00\x00\x00"), "64-bit", NULL},
    {BYTES("\x11\x01\x00\x00"), "64-bit", "cut short"},
    {BYTES("\x12\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "unknown",
     "unknown"},
    {BYTES("\x0e\x00\x08"), "unknown", "unknown"}, /* dictionaries */
    {BYTES("\x0f\x00"), "unknown", "unknown"},
    {BYTES("\x1f"), "unknown", "unknown"},
    {"", 0, "cut short", "cut short"},
};

static void check(const char *fault, const char *expected) {
  CHECK(expected == NULL ? fault == NULL : fault != NULL && strstr(fault, expected) != NULL);
}

/* Tables in tables, `depth` of them, the innermost empty. */
static const char *nested(int depth) {
  char bytes[512];
  for (int k = 0; k < depth - 1; k++) memcpy(bytes + 2 * k, "\x0c\x02", 2);
  bytes[2 * (depth - 1)] = 0x08;
  return ms_encoded_fault(bytes, (size_t)(2 * depth - 1), false);
}

/* Any bytes: what is outside the stream is not read (under ASan: copies of just their size). */
static void test_any(void) {
  uint32_t state = 1;
  for (int round = 0; round < 100000; round++) {
    size_t size = (size_t)(round % 24);
    char *bytes = malloc(size + 1);
    for (size_t k = 0; k < size; k++) {
      state = state * 1664525 + 1013904223;
      bytes[k] = (char)((state >> 24) % 3 == 0 ? state >> 16 : (state >> 16) % 36);
    }
    char *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    ms_encoded_fault(copy, size, round % 2 == 0);
    ms_encoded_is_plain(copy, size, round % 2 == 0);
    free(copy);
    free(bytes);
  }
}

/* Streams that are one table of plain values, and others. */
static void test_plain(void) {
  static const struct stream {
    const char *bytes;
    size_t size;
    bool plain;
  } each[] = {{"\x08", 1, true},
              {"\x01", 1, false},
              {"\x0c\x03\x02\x21z", 5, true},
              {"\x0c\x03\x02\x22z", 5, false},
              {"\x0c\x03\x02\x08", 4, false},
              {"\x0c\x03\x02\x10\1\2\3\4\5\6\7\x08", 12, false},
              {"\x09\x01\x21z\x07\0\0\0\0\0\0\0\0", 13, true},
              {"\x09\x01\x21z\x07\0\0\0\0\0\0\0", 12, false},
              {"\x0c\x03\x02\x06\1\2\3\4\x02", 9, false},
              {"\x0c\x03\x02\x06\1\2\3\4", 8, true}};
  for (size_t k = 0; k < sizeof each / sizeof each[0]; k++)
    CHECK(ms_encoded_is_plain(each[k].bytes, each[k].size, false) == each[k].plain);
}

int main(void) {
  test_plain();
  for (size_t k = 0; k < sizeof streams / sizeof streams[0]; k++) {
    check(ms_encoded_fault(streams[k].bytes, streams[k].size, false), streams[k].fault);
    check(ms_encoded_fault(streams[k].bytes, streams[k].size, true), streams[k].wide);
  }
  check(nested(1), NULL);
  check(nested(MS_ENCODED_DEPTH), NULL);
  check(nested(MS_ENCODED_DEPTH + 1), "too deep");
  test_any();
  return ms_test_end();
}
