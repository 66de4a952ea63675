/* SPDX-License-Identifier: MIT
 *
 * Fields: cuts a line at its separators. Pure functions of their arguments. */
#ifndef MS_READ_FIELDS_H
#define MS_READ_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ms_line_field {
  const char *text;
  size_t length;
} ms_line_field;

/* A separator: a string, or (when `blanks`) any run of spaces and tabs. */
typedef struct ms_separator {
  const char *text;
  size_t length;
  bool blanks;
} ms_separator;

/* The separator that a user named; " " means runs of blanks. */
ms_separator ms_separator_named(const char *text);

/* The separator that a line seems to use: of "::", ",", ";" and a tab the first that cuts it into
 * three fields or more, else the first that cuts it at all, else blanks. */
ms_separator ms_separator_guess(const char *line, size_t length);

/* How messages call it: "','", "a tab", "blanks". */
const char *ms_separator_name(const ms_separator *separator, char *buffer, size_t size);

/* Cuts a line into at most `most` fields and returns how many it has in all (counting stops at
 * most + 1). Blanks around a field are dropped, and so are double quotes around a whole field;
 * separators inside quotes do not count, and two quotes inside do not end
 * them. */
size_t ms_fields_cut(const ms_separator *separator, const char *line, size_t length,
                     ms_line_field *fields, size_t most);

#endif
