/* SPDX-License-Identifier: MIT
 *
 * Errors: a caller-owned record that the failing function fills.
 *
 * Convention of the whole core: a function that can fail takes `ms_error *err` as its last
 * parameter and returns 0 (or a pointer) on success, -1 (or NULL) on failure with *err filled.
 * The core never prints, exits or aborts on what a user did. The first error wins: filling a
 * record that already holds an error keeps the first one. */
#ifndef MS_BASE_ERROR_H
#define MS_BASE_ERROR_H

#include "base/api.h"

/* Every stable error code that a user can meet, with what it is about. */
#define MS_ERROR_CODES(X)                                  \
  X(SRC, "the loop's source text cannot be had or parsed") \
  X(DEP, "a dependence forbids running the loop")          \
  X(ARR, "arrays: shapes, types, subscripts, memory")      \
  X(FIL, "files: missing, malformed, not writable")        \
  X(OPT, "an option or argument")                          \
  X(BDY, "an error raised by a loop body")                 \
  X(WRK, "a worker process")                               \
  X(INT, "interrupted by the user")                        \
  X(NET, "sockets and messages")                           \
  X(BUG, "an internal fault")

typedef enum ms_code {
  MS_OK = 0,
#define MS_CODE_NAME(name, about) MS_##name,
  MS_ERROR_CODES(MS_CODE_NAME)
#undef MS_CODE_NAME
} ms_code;

/* Room for a message with two places and a fix; longer ones are cut at a character boundary. */
#define MS_ERROR_MESSAGE_SIZE 1024
#define MS_ERROR_FILE_SIZE    512

typedef struct ms_error {
  int code; /* an ms_code; MS_OK when the record is empty */
  int line; /* line in `file`, 1-based; 0 when there is none */
  char file[MS_ERROR_FILE_SIZE];
  char message[MS_ERROR_MESSAGE_SIZE];
} ms_error;

/* Empties the record, or makes one: where every block needs one, cheaper than `= {0}`, which
 * clears all of its room. */
void ms_error_clear(ms_error *err);

/* Fills an empty record (printf format) and returns -1, so that `return ms_error_set(...)` works.
 * `err` may be NULL when the caller only wants the return value. */
int ms_error_set(ms_error *err, ms_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for memory that cannot be had: the format says what it was to be for. */
int ms_error_memory(ms_error *err, ms_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the place in a user's file to a filled record; a place already there is kept. */
int ms_error_place(ms_error *err, const char *file, int line);

/* The three letters of a code ("ARR"); "" for MS_OK. Static storage. */
MS_API const char *ms_code_name(int code);

#endif
