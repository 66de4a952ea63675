/* SPDX-License-Identifier: MIT
 *
 * Text: a growing byte string. The owner frees it with ms_text_free. Running out of memory is
 * remembered in `failed`, so that a writer can append freely and check once at the end. */
#ifndef MS_BASE_TEXT_H
#define MS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ms_text {
  char *bytes; /* terminated once anything was appended; NULL before */
  size_t length, capacity;
  bool failed;
} ms_text;

/* Appends `length` bytes. */
void ms_text_append(ms_text *text, const char *bytes, size_t length);

/* Appends a terminated string. */
void ms_text_add(ms_text *text, const char *string);

/* Appends printf output. */
void ms_text_format(ms_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a string as a literal of Lua. */
void ms_text_quote(ms_text *text, const char *bytes, size_t length);

/* Room for `more` bytes behind what is there, for a writer that then adds to `length` what it has
 * written, at most so many; nothing need be terminated. NULL, and `failed`, when memory is out. */
char *ms_text_room(ms_text *text, size_t more);

/* Releases the bytes and empties the record. */
void ms_text_free(ms_text *text);

#endif
