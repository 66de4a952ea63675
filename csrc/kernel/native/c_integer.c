/* SPDX-License-Identifier: MIT
 *
 * Writing C: numbers that are integers because of where they come from, as elements of integer
 * arrays are. A value carries its integer beside its double (ms_c_value.whole), so that what is
 * counted and stored again, or is a subscript, is never converted to a double and back. See
 * c_integer.h. */
#include "kernel/native/c_integer.h"

#include <inttypes.h>

#include "kernel/native/c_small_sum.h"

const char *ms_c_integer_widened(ms_writer *w, const char *text, int64_t least, int64_t most) {
  bool narrow = least >= INT32_MIN && most <= INT32_MAX + (int64_t)1;
  return ms_c_text(w, narrow ? "(double)(int32_t)%s" : "(double)%s", text);
}

const char *ms_c_integer_narrowed(ms_writer *w, const ms_integer_value *whole) {
  bool narrow = whole->least >= INT32_MIN && whole->most <= INT32_MAX + (int64_t)1;
  return ms_c_text(w, narrow ? "(float)(int32_t)%s" : "(float)%s", whole->text);
}

ms_integer_value *ms_c_integer(ms_writer *w, const char *text, int64_t least, int64_t most) {
  if (w->scopes == 0) return NULL; /* careful texts compute with doubles */
  ms_integer_value *whole = ms_arena_take(w->arena, 1, sizeof *whole);
  if (whole == NULL) {
    w->failed = true;
    return NULL;
  }
  *whole = (ms_integer_value){
      .known = true, .unsigned_zero = true, .text = text, .least = least, .most = most};
  return whole;
}

const ms_integer_value *ms_c_integer_sum(ms_writer *w, const ms_integer_value *a,
                                         const ms_integer_value *b, bool minus) {
  if (a == NULL || b == NULL) return NULL;
  const ms_integer_value *small = ms_c_small_sum(w, a, b, minus);
  if (small != NULL) return small;
  int64_t least = a->least + (minus ? -b->most : b->least);
  int64_t most = a->most + (minus ? -b->least : b->most);
  if (least < -MS_C_MOST || most > MS_C_MOST) return NULL;
  return ms_c_integer(w, ms_c_text(w, "(%s %c %s)", a->text, minus ? '-' : '+', b->text), least,
                      most);
}

const ms_integer_value *ms_c_integer_choice(ms_writer *w, const char *condition,
                                            const ms_integer_value *yes,
                                            const ms_integer_value *no) {
  if (yes == NULL || no == NULL) return NULL;
  return ms_c_integer(w, ms_c_text(w, "(%s ? %s : %s)", condition, yes->text, no->text),
                      yes->least < no->least ? yes->least : no->least,
                      yes->most > no->most ? yes->most : no->most);
}
