/* SPDX-License-Identifier: MIT
 *
 * Writing C: how values are held, and conversions between the ways. See c_value.h. */
#include "kernel/native/c_value.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/native/c_array.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_lists.h"
#include "kernel/native/c_region.h"

ms_c_value ms_c_value_nil(void) {
  return (ms_c_value){
      .form = MS_FORM_VALUE, .kind = ms_kind_of_scalar(MS_CAN_NIL), .text = "ms_nil"};
}

ms_representation_of ms_c_value_representation(const ms_writer *w, const ms_kind_of *kind) {
  if (kind->can & MS_CAN_OBJECT) return MS_FORM_OBJECT;
  if (kind->can == MS_CAN_NUMBER)
    return kind->precision == MS_SINGLE && ms_c_region_is_single(w) ? MS_FORM_FLOAT
                                                                    : MS_FORM_DOUBLE;
  if (kind->can != 0 && (kind->can & ~(uint32_t)MS_CAN_BOOLEAN) == 0) return MS_FORM_BOOL;
  return MS_FORM_VALUE;
}

const char *ms_c_value_type(ms_representation_of form) {
  static const char *const names[] = {[MS_FORM_DOUBLE] = "double",
                                      [MS_FORM_FLOAT] = "float",
                                      [MS_FORM_BOOL] = "int",
                                      [MS_FORM_VALUE] = "ms_value",
                                      [MS_FORM_OBJECT] = "void *"};
  return names[form];
}

const char *ms_c_value_called(ms_writer *w, const ms_node *node) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  if (node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING)
    return ms_c_text(w, "field '%s' ", node->kid[1]->text);
  if (node->kind != MS_NAME) return "";
  const ms_node *value;
  const char *place = node->symbol == NULL ? "global" : "local";
  if (ms_typed_binding(w->typed, node, &value) != MS_NO_CAPTURE && node->symbol != NULL)
    place = node->symbol->function == w->emitter->job->loop->function ? "local" : "upvalue";
  return ms_c_text(w, "%s '%s' ", place, node->text);
}

/* What Lua says when a value is nil, or a boolean, where it computes. */
static ms_complaint arithmetic(ms_writer *w, const ms_node *node) {
  const char *subject = ms_c_value_called(w, node);
  ms_complaint says;
  says.nil = *subject ? ms_c_text(w, "attempt to perform arithmetic on %s(a nil value)", subject)
                      : "attempt to perform arithmetic on a nil value";
  says.boolean = *subject
                     ? ms_c_text(w, "attempt to perform arithmetic on %s(a boolean value)", subject)
                     : "attempt to perform arithmetic on a boolean value";
  return says;
}

const char *ms_c_value_as_number(ms_writer *w, ms_c_value value, const ms_node *node,
                                 ms_complaint says) {
  if (value.form == MS_FORM_DOUBLE) return value.text;
  if (value.form == MS_FORM_FLOAT) return ms_c_text(w, "(double)%s", value.text);
  if (value.form != MS_FORM_VALUE) {
    const char *is = value.form == MS_FORM_BOOL ? "a boolean" : "not known to be a number";
    ms_c_refuse(w, node, "`%s` is used as a number, but is %s", ms_c_source(w, node), is);
    return "0.0";
  }
  value = ms_c_value_hold(w, value);
  if (value.kind.can & MS_CAN_NIL)
    ms_c_error(w, node, ms_c_text(w, "%s.tag == MS_NATIVE_NIL", value.text), says.nil);
  if (value.kind.can & MS_CAN_BOOLEAN)
    ms_c_error(w, node, ms_c_text(w, "%s.tag != MS_NATIVE_NUMBER", value.text), says.boolean);
  return ms_c_text(w, "%s.number", value.text);
}

const char *ms_c_value_as_double(ms_writer *w, ms_c_value value, const ms_node *node) {
  if (value.form == MS_FORM_DOUBLE) return value.text;
  return ms_c_value_as_number(w, value, node, arithmetic(w, node));
}

const char *ms_c_value_as_float(ms_writer *w, ms_c_value value, const ms_node *node) {
  if (value.form == MS_FORM_FLOAT) return value.text;
  if (value.whole != NULL) return ms_c_integer_narrowed(w, value.whole);
  ms_c_region_takes(w, &value);
  const char *number = ms_c_value_as_double(w, value, node);
  return ms_c_text(w, "(float)%s", number);
}

static const char *boxed(ms_writer *w, ms_c_value value) {
  switch (value.form) {
    case MS_FORM_VALUE:
      return value.text;
    case MS_FORM_BOOL:
      return ms_c_text(w, "ms_boolean(%s)", value.text);
    default:
      return ms_c_text(w, "ms_number(%s)", value.text);
  }
}

const char *ms_c_value_as_truth(ms_writer *w, ms_c_value value) {
  switch (value.form) {
    case MS_FORM_BOOL:
      return value.text;
    case MS_FORM_VALUE:
      return ms_c_text(w, "ms_is_true(%s)", value.text);
    case MS_FORM_OBJECT:
      if (value.kind.object != MS_OBJECT_LISTS || ms_c_lists_is_all(w, &value.kind)) return "1";
      return ms_c_text(w, "(%s >= 0)", value.text);
    default:
      return "1";
  }
}

/* A small whole number that a text is, 2.0 or (-2.0); not -0, which sums lose. Fractions are
 * written in another way. */
static bool is_whole(const char *text, double *number) {
  char *end;
  *number = strtod(text + (text[0] == '('), &end);
  bool ends = strcmp(end, text[0] == '(' ? ")" : "") == 0;
  return ends && fabs(*number) <= INT32_MAX && !(*number == 0 && signbit(*number));
}

const char *ms_c_value_choice(ms_writer *w, const char *condition, const char *yes,
                              const char *no) {
  double a, b;
  if (!is_whole(yes, &a) || !is_whole(no, &b))
    return ms_c_text(w, "(%s ? %s : %s)", condition, yes, no);
  if (a == 1 && b == 0) return ms_c_text(w, "(double)(%s)", condition);
  return ms_c_text(w, "(%.1f + %.1f * (double)(%s))", b, a - b, condition);
}

const char *ms_c_value_as_form(ms_writer *w, ms_c_value value, ms_representation_of form,
                               const ms_node *node) {
  switch (form) {
    case MS_FORM_DOUBLE:
      return ms_c_value_as_double(w, value, node);
    case MS_FORM_FLOAT:
      return ms_c_value_as_float(w, value, node);
    case MS_FORM_BOOL:
      return value.form == MS_FORM_BOOL ? value.text : ms_c_value_as_truth(w, value);
    case MS_FORM_VALUE:
      if (value.form != MS_FORM_OBJECT) return boxed(w, value);
      break;
    default:
      if (value.form == MS_FORM_OBJECT) return value.text;
  }
  ms_c_refuse(w, node, "`%s` is not always the same kind of value", ms_c_source(w, node));
  return "0";
}

/* Whether nothing that comes later can change a text's value: temporaries, captured numbers and
 * constants; variables may be assigned again. */
static bool lasting(const char *text) {
  return ms_c_is_simple(text) && text[0] != 'v' && text[0] != 'm';
}

ms_c_value ms_c_value_hold(ms_writer *w, ms_c_value value) {
  const bool object = value.form == MS_FORM_OBJECT;
  const char *type = object ? ms_c_array_object_type(w, &value.kind) : ms_c_value_type(value.form);
  if (type == NULL || lasting(value.text)) return value;
  const char *held = ms_c_temp(w);
  const ms_integer_value *whole = value.whole;
  if (whole != NULL) {
    ms_c_line(w, "const int64_t %s = %s;", held, whole->text);
    value.text = ms_c_integer_widened(w, held, whole->least, whole->most);
    value.whole = ms_c_integer(w, held, whole->least, whole->most);
  } else {
    ms_c_line(w, "%s const %s = %s;", type, held, value.text);
    value.text = held;
  }
  if (value.rounded != NULL) value.rounded = value.more == 0 ? held : NULL;
  return value;
}
