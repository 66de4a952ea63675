/* SPDX-License-Identifier: MIT
 *
 * Sums by key: against adding one by one, for many keys; and streams that are no tables of numbers.
 * (What LuaJIT encodes is compared with its own sums in spec/kernel/gathered_spec.lua.) */
#include "sync/key_sums.h"

#include <string.h>

#include "base/encoded.h"
#include "base/test.h"
#include "base/text.h"

#define KEYS   3000u
#define BLOCKS 8u

/* A block's value for a key; sums of these depend on their order. */
static double value_of(uint32_t block, uint32_t key) {
  return (block % 2 == 0 ? 1e16 : 1.0) / (double)(key + block + 1);
}

static bool has(uint32_t block, uint32_t key) {
  return (key * 2654435761u >> 7) % 3 != block % 4;
}

static void add_number(ms_text *out, double number) {
  char item[MS_ENCODED_NUMBER];
  ms_encoded_number(number, item);
  ms_text_append(out, item, sizeof item);
}

/* Strings of any length, and numbers. */
static void add_name(ms_text *out, uint32_t key) {
  if (key % 2 == 0) {
    add_number(out, key / 2.0);
    return;
  }
  uint32_t size = key % 40;
  ms_text_format(out, "%c%0*u", (char)(0x20 + 4 + size), (int)(4 + size), key);
}

/* {[name] = value, ...} of a block. */
static void encode_block(ms_text *out, uint32_t block) {
  uint32_t count = 0;
  ms_text pairs = {0};
  for (uint32_t key = 0; key < KEYS; key++) {
    if (!has(block, key)) continue;
    add_name(&pairs, key);
    add_number(&pairs, value_of(block, key));
    count++;
  }
  char head[6] = {0x09, (char)0xff};
  memcpy(head + 2, &count, sizeof count);
  ms_text_append(out, head, sizeof head);
  ms_text_append(out, pairs.bytes, pairs.length);
  ms_text_free(&pairs);
}

/* The sum of a key, and whether any block has it. */
static bool sum_of(uint32_t key, double before, double *sum) {
  bool any = false;
  *sum = before;
  for (uint32_t block = 0; block < BLOCKS; block++) {
    if (!has(block, key)) continue;
    *sum += value_of(block, key);
    any = true;
  }
  return any;
}

static void test_sums(void) {
  ms_key_sums *sums = ms_key_sums_new();
  CHECK(sums != NULL);
  for (uint32_t block = 0; block < BLOCKS; block++) {
    ms_text bytes = {0};
    encode_block(&bytes, block);
    CHECK(ms_encoded_is_plain(bytes.bytes, bytes.length, true));
    CHECK(ms_key_sums_note(sums, bytes.bytes, bytes.length, true) == 0);
    ms_text_free(&bytes);
  }
  size_t size;
  const char *list = ms_key_sums_keys(sums, &size);
  double *values = ms_key_sums_values(sums);
  values[0] = 0.5;
  ms_key_sums_add(sums);
  ms_key_sums_add(sums); /* nothing is left to add */
  ms_encoded_walk walk;
  ms_encoded_item number, name;
  CHECK(ms_encoded_walk_begin(&walk, list, size));
  uint32_t at = 0;
  for (uint32_t order = 0; order < BLOCKS; order++) { /* in the order of their first block */
    for (uint32_t key = 0; key < KEYS; key++) {
      bool first = has(order, key);
      for (uint32_t block = 0; block < order; block++) first = first && !has(block, key);
      if (!first) continue;
      double sum;
      ms_text expected = {0};
      add_name(&expected, key);
      CHECK(sum_of(key, at == 0 ? 0.5 : -0.0, &sum));
      CHECK(ms_encoded_walk_next(&walk, &number, &name) == 1);
      CHECK(number.number == at + 1);
      CHECK(name.size == expected.length && memcmp(name.bytes, expected.bytes, name.size) == 0);
      CHECK(memcmp(&values[at++], &sum, sizeof sum) == 0);
      ms_text_free(&expected);
    }
  }
  CHECK(ms_encoded_walk_next(&walk, &number, &name) == 0);
  ms_key_sums_free(sums);
}

/* The key that has this name. */
static uint32_t key_named(const ms_encoded_item *name) {
  for (uint32_t key = 0; key < KEYS; key++) {
    ms_text each = {0};
    add_name(&each, key);
    bool same = each.length == name->size && memcmp(each.bytes, name->bytes, each.length) == 0;
    ms_text_free(&each);
    if (same) return key;
  }
  return KEYS;
}

/* The sums of all blocks, which come from the first or from the last on, arranged. */
static ms_key_sums *arranged(bool backwards) {
  ms_key_sums *sums = ms_key_sums_new();
  CHECK(sums != NULL);
  for (uint32_t k = 0; k < BLOCKS; k++) {
    ms_text bytes = {0};
    encode_block(&bytes, backwards ? BLOCKS - 1 - k : k);
    CHECK(ms_key_sums_note(sums, bytes.bytes, bytes.length, true) == 0);
    ms_text_free(&bytes);
  }
  ms_key_sums_add(sums);
  CHECK(ms_key_sums_arrange(sums) == 0);
  return sums;
}

/* Arranged keys have an order in which it does not show how they came, and their own sums. */
static void test_order(void) {
  ms_key_sums *one = arranged(false), *other = arranged(true);
  size_t size, other_size;
  const char *list = ms_key_sums_keys(one, &size);
  const char *other_list = ms_key_sums_keys(other, &other_size);
  CHECK(size == other_size && memcmp(list, other_list, size) == 0);
  ms_encoded_walk walk;
  ms_encoded_item number, name;
  CHECK(ms_encoded_walk_begin(&walk, list, size));
  uint32_t count = 0;
  for (; ms_encoded_walk_next(&walk, &number, &name) == 1; count++) {
    double sum;
    CHECK(sum_of(key_named(&name), -0.0, &sum));
    CHECK(ms_key_sums_values(one)[count] == sum);
  }
  for (uint32_t key = 0; key < KEYS; key++) {
    double sum;
    count -= sum_of(key, 0, &sum);
  }
  CHECK(count == 0);
  ms_key_sums_free(one);
  ms_key_sums_free(other);
  one = ms_key_sums_new();
  CHECK(one != NULL && ms_key_sums_arrange(one) == 0);
  ms_key_sums_free(one);
}

#define NOTE(text, valued) ms_key_sums_note(sums, text, sizeof text - 1, valued)

static void test_others(void) {
  ms_key_sums *sums = ms_key_sums_new();
  CHECK(sums != NULL);
  CHECK(NOTE("", true) == -1 && NOTE("\x01", true) == -1 && NOTE("\x09\x01", true) == -1);
  CHECK(NOTE("\x09\x01\x21k\x02", true) == -1);                     /* {k = true}, */
  CHECK(NOTE("\x09\x01\x21k\x02", false) == 0);                     /* a set */
  CHECK(NOTE("\x09\x01\x21k\x06\x01\x00\x00\x00\x00", true) == -1); /* more than a table */
  CHECK(NOTE("\x08", true) == 0 && NOTE("\x0c\x00", true) == 0);    /* {} */
  ms_key_sums_free(sums);
  sums = ms_key_sums_new();
  size_t size;
  CHECK(ms_key_sums_keys(sums, &size) != NULL && size == 2);
  CHECK(NOTE("\x0d\x03\x01\x00\x06\x05\x00\x00\x00\x06\x02\x00\x00\x00\x06\x03\x00\x00\x00",
             true) == 0); /* {[2] = 5} in the array, and once more: 3 */
  ms_key_sums_add(sums);
  CHECK(ms_key_sums_values(sums)[0] == 8);
  ms_key_sums_free(sums);
  ms_key_sums_free(NULL);
}

int main(void) {
  test_sums();
  test_order();
  test_others();
  return ms_test_end();
}
