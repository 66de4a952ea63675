/* SPDX-License-Identifier: MIT
 *
 * Sums by key: what many blocks have counted, each in a table of its own, added up in the order of
 * the blocks.
 *
 * The tables come as string.buffer has encoded them. They are noted first: each key is given a
 * number when it comes for the first time, and what a block has for it is kept. Once the caller has
 * set what keys had before, all is added, so that each sum has the bits that adding block by block
 * would give. Takes some 60 bytes a key and its own, and 16 for each block that it is in. One
 * thread; the caller owns it. */
#ifndef MS_SYNC_KEY_SUMS_H
#define MS_SYNC_KEY_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"

typedef struct ms_key_sums ms_key_sums;

/* What a block has for a key. */
typedef struct ms_key_noted {
  double value;
  uint64_t key; /* its number, from 0 */
} ms_key_noted;

/* Nothing was noted. NULL: memory is out. */
MS_API ms_key_sums *ms_key_sums_new(void);
MS_API void ms_key_sums_free(ms_key_sums *sums);

/* Notes a block's table, of which only the keys count if it is not `valued`; 0, -1 when memory is
 * out or the bytes are no table of numbers (of anything plain) by keys that are booleans, numbers
 * and strings: then the sums are good for nothing. */
MS_API int32_t ms_key_sums_note(ms_key_sums *sums, const char *bytes, size_t size, bool valued);

/* The keys by number, from 1, as string.buffer has a list. NULL: memory is out. */
MS_API const char *ms_key_sums_keys(ms_key_sums *sums, size_t *size);

/* The sums by the keys' numbers, from 0: what keys had before, -0 where that was nothing; until
 * another block is noted. */
MS_API double *ms_key_sums_values(ms_key_sums *sums);

/* What was noted and is not added yet, in its order. */
MS_API const ms_key_noted *ms_key_sums_noted(const ms_key_sums *sums, size_t *count);

/* Adds what was noted to the values, once. */
MS_API void ms_key_sums_add(ms_key_sums *sums);

/* Numbers the keys, and what was added up, in an order that is theirs alone, whichever blocks they
 * came in. Nothing can be noted after that. -1: memory is out. */
MS_API int32_t ms_key_sums_arrange(ms_key_sums *sums);

#endif
