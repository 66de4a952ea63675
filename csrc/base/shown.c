/* SPDX-License-Identifier: MIT
 *
 * Shown: see shown.h. */
#include "base/shown.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 40 /* bytes of the text that are shown */
#define DOTS    "..."

/* The length of the well-formed UTF-8 sequence at `text`, 0 when there is none (RFC 3629). */
static size_t sequence_length(const unsigned char *text, size_t length) {
  unsigned char first = text[0];
  size_t size = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (size == 0 || size > length || first > 0xF4) return 0;
  for (size_t i = 1; i < size; i++) {
    if ((text[i] & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && text[1] < 0xA0) return 0;
  if (first == 0xED && text[1] > 0x9F) return 0;
  if (first == 0xF0 && text[1] < 0x90) return 0;
  if (first == 0xF4 && text[1] > 0x8F) return 0;
  return size;
}

/* Whether a well-formed sequence is a control character: C0, delete, C1. */
static bool is_control(const unsigned char *text, size_t size) {
  if (size == 1) return text[0] < 0x20 || text[0] == 0x7F;
  return size == 2 && text[0] == 0xC2 && text[1] < 0xA0;
}

const char *ms_shown(const char *text, size_t length, char *buffer, size_t size) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t at = 0, out = 0;
  while (at < length && at < LONGEST) {
    size_t taken = sequence_length(bytes + at, length - at);
    bool plain = taken > 0 && !is_control(bytes + at, taken) && bytes[at] != '\\';
    if (!plain) taken = 1;
    size_t needed = plain ? taken : bytes[at] == '\\' ? 2 : 4;
    if (out + needed + sizeof DOTS > size) break;
    if (plain) {
      memcpy(buffer + out, text + at, taken);
    } else if (bytes[at] == '\\') {
      memcpy(buffer + out, "\\\\", 2);
    } else {
      snprintf(buffer + out, 5, "\\x%02X", bytes[at]);
    }
    out += needed;
    at += taken;
  }
  memcpy(buffer + out, at < length ? DOTS : "", at < length ? sizeof DOTS : 1);
  return buffer;
}
