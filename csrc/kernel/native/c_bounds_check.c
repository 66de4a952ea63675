/* SPDX-License-Identifier: MIT
 *
 * Writing C: subscripts, first evaluated, then checked unless guards make that needless. See
 * c_bounds_check.h. */
#include "kernel/native/c_bounds_check.h"

#include <math.h>
#include <string.h>

#include "kernel/native/c_array.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_rounded.h"
#include "kernel/native/c_value.h"

/* An integer that nothing vouches for. */
static ms_c_bounds_check integer_key(ms_writer *w, const ms_integer_value *whole,
                                     const char *extent, bool hold) {
  const char *text = whole->text;
  if (hold || !ms_c_is_simple(text)) {
    text = ms_c_temp(w);
    ms_c_line(w, "const int64_t %s = %s;", text, whole->text);
  }
  return (ms_c_bounds_check){.text = text,
                             .wrong = ms_c_text(w, "%s < 1 || %s > %s", text, text, extent),
                             .number = ms_c_text(w, "(double)%s", text)};
}

/* A value that is no integer beforehand, as a key. */
static ms_c_bounds_check number_key(ms_writer *w, const ms_node *node, const char *extent,
                                    bool hold) {
  w->exact++;
  ms_c_value value = ms_c_expression(w, node);
  w->exact--;
  if (value.form == MS_FORM_OBJECT || value.form == MS_FORM_BOOL) {
    ms_c_refuse(w, node, "`%s` is no number, but a subscript", ms_c_source(w, node));
    return (ms_c_bounds_check){.text = "1"};
  }
  if (value.whole != NULL) return integer_key(w, value.whole, extent, hold);
  ms_c_rounded_cut(w, &value);
  if (value.cut != NULL)
    return (ms_c_bounds_check){
        .text = value.cut,
        .wrong = ms_c_text(w, "(uint64_t)%s - 1 >= (uint64_t)%s", value.cut, extent),
        .number = value.text};
  ms_c_bounds_check key = {.can = value.kind.can};
  if (hold || !ms_c_is_simple(value.text)) value = ms_c_value_hold(w, value);
  key.tagged = value.form == MS_FORM_VALUE ? value.text : NULL;
  key.number = key.tagged != NULL ? ms_c_text(w, "%s.number", value.text)
                                  : ms_c_value_as_double(w, value, node);
  key.text = ms_c_text(w, "ms_whole_of(%s)", key.number);
  const char *test = ms_c_is_rounded(w, node) ? "ms_is_whole_subscript" : "ms_is_subscript";
  key.wrong = ms_c_text(w, "!%s(%s, %s)", test, key.number, extent);
  return key;
}

ms_c_bounds_check ms_c_bounds_check_of(ms_writer *w, const ms_node *node, const char *extent,
                                       bool hold) {
  ms_integer_value r;
  bool proved = ms_c_integer_value_within(w, node, extent, &r);
  if (!r.known) return number_key(w, node, extent, hold);
  if (!proved) return integer_key(w, &r, extent, hold);
  if (!hold) return (ms_c_bounds_check){.text = r.text};
  const char *held = ms_c_temp(w);
  ms_c_line(w, "const int64_t %s = %s;", held, r.text);
  return (ms_c_bounds_check){.text = held};
}

ms_c_bounds_check ms_c_bounds_check_of_part(ms_writer *w, const ms_node *node, const char *extent,
                                            bool hold) {
  ms_integer_value r = ms_c_integer_value_static(w, node);
  ms_c_bounds_check key =
      r.known ? integer_key(w, &r, extent, hold) : number_key(w, node, extent, hold);
  if (key.tagged != NULL)
    ms_c_refuse(w, node, "`%s` is not known to be a number", ms_c_source(w, node));
  key.extent = ms_c_text(w, "(double)%s", extent);
  return key;
}

/* "ARR: subscript a nil of dimension 2 of DistArray<double>[3x4] is not a number" */
static const char *no_number(ms_writer *w, const char *what, uint32_t array, uint32_t dim) {
  return ms_c_text(
      w, "ARR: subscript a %s of dimension %u of DistArray<%s>[" MS_NATIVE_DIMS "] is not a number",
      what, dim + 1, ms_type_name(w->emitter->job->elements[array].type), array + 1);
}

const char *ms_c_bounds_check_write(ms_writer *w, const ms_c_bounds_check *key, const ms_node *node,
                                    uint32_t array, uint32_t dim) {
  if (key->tagged != NULL && (key->can & MS_CAN_NIL))
    ms_c_error(w, node, ms_c_text(w, "%s.tag == MS_NATIVE_NIL", key->tagged),
               no_number(w, "nil", array, dim));
  if (key->tagged != NULL && (key->can & MS_CAN_BOOLEAN))
    ms_c_error(w, node, ms_c_text(w, "%s.tag != MS_NATIVE_NUMBER", key->tagged),
               no_number(w, "boolean", array, dim));
  if (key->wrong != NULL)
    ms_c_stop_both(w, node, key->wrong,
                   key->extent != NULL ? "MS_NATIVE_PLACE" : "MS_NATIVE_SUBSCRIPT", array, dim,
                   key->number, key->extent);
  return key->text;
}

const char *ms_c_bounds_check_subscript(ms_writer *w, const ms_node *node, uint32_t array,
                                        uint32_t dim) {
  ms_c_bounds_check key = ms_c_bounds_check_of(w, node, ms_c_array_extent(w, array, dim), false);
  return ms_c_bounds_check_write(w, &key, node, array, dim);
}
