/* SPDX-License-Identifier: MIT
 *
 * Errors: see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ms_error_clear(ms_error *err) {
  err->code = MS_OK;
  err->line = 0;
  err->file[0] = '\0';
  err->message[0] = '\0';
}

/* Cuts an over-long message before a UTF-8 sequence that did not fit as a whole. */
static void cut_at_character(char *text, size_t size) {
  size_t length = strlen(text);
  if (length + 1 < size) return;
  while (length > 0 && ((unsigned char)text[length - 1] & 0xC0) == 0x80) length--;
  if (length > 0 && ((unsigned char)text[length - 1] & 0x80) != 0) length--;
  text[length] = '\0';
}

/* Fills an empty record with a message that begins so. */
static int fill(ms_error *err, ms_code code, const char *begin, const char *format, va_list all) {
  if (err == NULL || err->code != MS_OK) return -1;
  ms_error_clear(err);
  err->code = (int)code;
  size_t length = strlen(begin);
  memcpy(err->message, begin, length);
  vsnprintf(err->message + length, sizeof err->message - length, format, all);
  cut_at_character(err->message, sizeof err->message);
  return -1;
}

int ms_error_set(ms_error *err, ms_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(err, code, "", format, arguments);
  va_end(arguments);
  return -1;
}

int ms_error_memory(ms_error *err, ms_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fill(err, code, "out of memory for ", format, arguments);
  va_end(arguments);
  return -1;
}

int ms_error_place(ms_error *err, const char *file, int line) {
  if (err == NULL || err->code == MS_OK || err->file[0] != '\0') return -1;
  snprintf(err->file, sizeof err->file, "%s", file);
  err->line = line;
  return -1;
}

const char *ms_code_name(int code) {
  static const char *const names[] = {"",
#define MS_CODE_TEXT(name, about) #name,
                                      MS_ERROR_CODES(MS_CODE_TEXT)
#undef MS_CODE_TEXT
  };
  return code >= 0 && code < (int)(sizeof names / sizeof names[0]) ? names[code] : "BUG";
}
