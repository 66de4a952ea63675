/* SPDX-License-Identifier: MIT
 *
 * Writing C: guards. See c_guard.h. */
#include "kernel/native/c_guard.h"

#include <string.h>

#define AND " &&\n      "

/* Whether a condition is one of those that guards ask for: as a whole, not as a part of another
 * ("n <= 10" begins "n <= 100"). */
static bool asks_for(const ms_text *guards, const char *condition) {
  size_t length = strlen(condition), gap = strlen(AND);
  const char *begin = guards->bytes, *end = begin + guards->length;
  for (const char *at = begin; guards->length > 0; at++) {
    at = strstr(at, condition);
    if (at == NULL) return false;
    bool starts = at == begin || ((size_t)(at - begin) >= gap && memcmp(at - gap, AND, gap) == 0);
    const char *after = at + length;
    if (starts && (after == end || strncmp(after, AND, gap) == 0)) return true;
  }
  return false;
}

void ms_c_guard(ms_writer *w, uint32_t scope, const char *condition) {
  ms_text *guards = &w->scope[scope].guards;
  if (asks_for(guards, condition)) return;
  ms_text_format(guards, "%s%s", guards->length > 0 ? AND : "", condition);
}
