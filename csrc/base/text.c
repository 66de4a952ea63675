/* SPDX-License-Identifier: MIT
 *
 * Text: see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a terminator. */
static bool reserve(ms_text *text, size_t more) {
  if (text->failed || more > SIZE_MAX / 2 - text->length - 1) {
    text->failed = true;
    return false;
  }
  size_t needed = text->length + more + 1;
  if (needed <= text->capacity) return true;
  size_t capacity = text->capacity == 0 ? 256 : text->capacity;
  while (capacity < needed) capacity *= 2;
  char *grown = realloc(text->bytes, capacity);
  if (grown == NULL) {
    text->failed = true;
    return false;
  }
  text->bytes = grown;
  text->capacity = capacity;
  return true;
}

void ms_text_append(ms_text *text, const char *bytes, size_t length) {
  if (!reserve(text, length)) return;
  if (length > 0) memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

char *ms_text_room(ms_text *text, size_t more) {
  return reserve(text, more) ? text->bytes + text->length : NULL;
}

void ms_text_add(ms_text *text, const char *string) {
  ms_text_append(text, string, strlen(string));
}

void ms_text_format(ms_text *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0) {
    text->failed = true;
  } else if (reserve(text, (size_t)length)) {
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

void ms_text_quote(ms_text *text, const char *bytes, size_t length) {
  ms_text_add(text, "\"");
  for (size_t b = 0; b < length; b++) {
    unsigned char letter = (unsigned char)bytes[b];
    bool plain = letter >= ' ' && letter < 127 && letter != '"' && letter != '\\';
    ms_text_format(text, plain ? "%c" : "\\%03d", letter);
  }
  ms_text_add(text, "\"");
}

void ms_text_free(ms_text *text) {
  free(text->bytes);
  *text = (ms_text){0};
}
