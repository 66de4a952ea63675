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

#include "base/api.h"

/* Tables in tables: as deep as string.buffer encodes. */
#define MS_ENCODED_DEPTH 100

/* What is wrong with a stream that is to be one value of nil, booleans, numbers, strings and tables
 * of these, with `integers` also of int64 and uint64 numbers: words that may follow "the encoding",
 * in static storage; NULL if nothing is. */
MS_API const char *ms_encoded_fault(const char *bytes, size_t size, bool integers);

/* Whether a stream that string.buffer has made is one table, of booleans, numbers and strings by
 * such keys. */
MS_API bool ms_encoded_is_plain(const char *bytes, size_t size);

#endif
