/* SPDX-License-Identifier: MIT
 *
 * Fields: see fields.h. */
#include "read/fields.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

ms_separator ms_separator_named(const char *text) {
  return (ms_separator){text, strlen(text), strcmp(text, " ") == 0};
}

ms_separator ms_separator_guess(const char *line, size_t length) {
  static const char *const known[] = {"::", ",", ";", "\t"};
  ms_separator found = ms_separator_named(" ");
  size_t best = 1;
  for (size_t k = 0; best < 3 && k < sizeof known / sizeof known[0]; k++) {
    ms_line_field fields[3];
    ms_separator each = ms_separator_named(known[k]);
    size_t count = ms_fields_cut(&each, line, length, fields, 3);
    if (count <= best) continue;
    best = count;
    found = each;
  }
  return found;
}

const char *ms_separator_name(const ms_separator *separator, char *buffer, size_t size) {
  if (separator->blanks) return "blanks";
  if (strcmp(separator->text, "\t") == 0) return "a tab";
  snprintf(buffer, size, "'%s'", separator->text);
  return buffer;
}

/* Behind the quoted text that starts at `at`, in which two quotes stand for one; `at` itself when
 * there is none. */
static const char *skip_quoted(const char *at, const char *end) {
  if (at == end || *at != '"') return at;
  for (const char *from = at + 1; from < end;) {
    const char *quote = memchr(from, '"', (size_t)(end - from));
    if (quote == NULL) break;
    if (quote + 1 == end || quote[1] != '"') return quote + 1;
    from = quote + 2;
  }
  return at;
}

/* The end of the field that starts at `at`. */
static const char *field_end(const ms_separator *separator, const char *at, const char *end) {
  if (separator->blanks) {
    while (at < end && !is_blank(*at)) at++;
    return at;
  }
  const char *from = skip_quoted(at, end);
  size_t left = (size_t)(end - from);
  const char *found = separator->length == 1
                          ? memchr(from, separator->text[0], left)
                          : memmem(from, left, separator->text, separator->length);
  return found != NULL ? found : end;
}

static ms_line_field trimmed(const char *text, const char *end) {
  while (text < end && is_blank(*text)) text++;
  while (end > text && is_blank(end[-1])) end--;
  if (end - text >= 2 && *text == '"' && end[-1] == '"') {
    text++;
    end--;
  }
  return (ms_line_field){text, (size_t)(end - text)};
}

size_t ms_fields_cut(const ms_separator *separator, const char *line, size_t length,
                     ms_line_field *fields, size_t most) {
  const char *end = line + length;
  size_t count = 0;
  if (separator->blanks) {
    while (end > line && is_blank(end[-1])) end--;
    while (line < end && is_blank(*line)) line++;
    if (line == end) return 0;
  }
  for (;;) {
    const char *stop = field_end(separator, line, end);
    if (count < most) fields[count] = trimmed(line, stop);
    count++;
    if (stop == end || count > most) return count;
    line = stop + (separator->blanks ? 1 : separator->length);
    while (separator->blanks && line < end && is_blank(*line)) line++;
  }
}
