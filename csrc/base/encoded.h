/* SPDX-License-Identifier: MIT
 *
 * Encoded: a look over a stream of LuaJIT's string.buffer before it is decoded.
 *
 * The decoder makes a table as large as the stream announces before it has seen an element, makes
 * pointers (light userdata) of any bits, and raises errors about keys in a way that LuaJITs before
 * August 2023 do not survive in machine code (err_msgv took L->base as it was before the trace). A
 * stream in which nothing was found takes memory in proportion to its own length, and can fail for
 * a key that comes twice only. Pure functions; any thread. */
#ifndef MS_BASE_ENCODED_H
#define MS_BASE_ENCODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "base/text.h"

/* Tables in tables: as deep as string.buffer encodes. */
#define MS_ENCODED_DEPTH 100

/* What is wrong with a stream that is to be one value of nil, booleans, numbers, strings and tables
 * of these, with `integers` also of int64 and uint64 numbers: words that may follow "the encoding",
 * in static storage; NULL if nothing is. */
MS_API const char *ms_encoded_fault(const char *bytes, size_t size, bool integers);

/* Whether a stream that string.buffer has made is one table, of booleans, numbers and strings by
 * such keys; with `numbers` of numbers only. */
MS_API bool ms_encoded_is_plain(const char *bytes, size_t size, bool numbers);

/* Whether two streams of as many bytes are the same. */
MS_API bool ms_encoded_is_same(const char *one, const char *other, size_t size);

/* A value of such a table, or a key, as it stands there; a key that stands nowhere, in the table's
 * array part, has no bytes but a number. */
typedef struct ms_encoded_item {
  const char *bytes;
  size_t size;
  double number; /* with `is_number` */
  bool is_number;
} ms_encoded_item;

/* A walk over the entries of such a table. */
typedef struct ms_encoded_walk {
  const unsigned char *at, *end;
  uint64_t key;           /* of the next element of the array part, which has `array` more; */
  uint64_t array, paired; /* then so many keys with their values */
} ms_encoded_walk;

/* Whether a stream may be such a table: it begins like one. */
bool ms_encoded_walk_begin(ms_encoded_walk *walk, const char *bytes, size_t size);

/* The next entry: 1 there is one, 0 the stream is over, -1 it is no such table. */
int ms_encoded_walk_next(ms_encoded_walk *walk, ms_encoded_item *key, ms_encoded_item *value);

/* Appends a list of `count` items, which stand one after the other in `items`, as string.buffer
 * has a table of them. */
void ms_encoded_add_list(ms_text *out, uint32_t count, const ms_text *items);

/* A number as an item. */
#define MS_ENCODED_NUMBER 9
void ms_encoded_number(double number, char item[MS_ENCODED_NUMBER]);

#endif
