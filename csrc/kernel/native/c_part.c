/* SPDX-License-Identifier: MIT
 *
 * Writing C: parts of one dimension. See c_part.h. */
#include "kernel/native/c_part.h"

#include "kernel/native/c_array.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_value.h"

/* What a part is taken of: the row that is narrowed, the matrix that a position is selected in. */
typedef struct part_of {
  uint32_t array, given; /* capture, and subscripts that it has already */
  const char *memory;
} part_of;

/* A whole number as a double; NULL after a refusal. */
static const char *argument(ms_writer *w, const ms_node *node) {
  ms_c_value value = ms_c_value_hold(w, ms_c_expression(w, node));
  if (value.form == MS_FORM_DOUBLE || value.form == MS_FORM_FLOAT)
    return ms_c_value_as_double(w, value, node);
  ms_c_refuse(w, node, "`%s` is not known to be a number", ms_c_source(w, node));
  return NULL;
}

/* row:narrow(1, first, length) */
static const char *narrowed(ms_writer *w, const ms_node *node, const part_of *of) {
  const char *first = argument(w, node->kid[2]);
  const char *length = first != NULL ? argument(w, node->kid[3]) : NULL;
  if (length == NULL) return NULL;
  const char *extent = ms_c_array_extent(w, of->array, of->given);
  const char *stride = ms_c_array_stride(w, of->array, of->given);
  const char *wrong = ms_c_text(w, "!ms_is_range(%s, %s, %s)", first, length, extent);
  ms_c_stop_both(w, node, wrong, "MS_NATIVE_NARROW", of->array, of->given, first, length);
  return ms_c_text(w, "{%s + ((int64_t)%s - 1) * %s, %s, (int64_t)%s}", of->memory, first, stride,
                   stride, length);
}

/* A:select(d, i) */
static const char *selected(ms_writer *w, const ms_node *node, const part_of *of) {
  const char *position = argument(w, node->kid[2]);
  if (position == NULL) return NULL;
  uint32_t gone = of->given + (node->kid[1]->number != 1), stays = 2 * of->given + 1 - gone;
  const char *wrong =
      ms_c_text(w, "!ms_is_range(%s, 1, %s)", position, ms_c_array_extent(w, of->array, gone));
  ms_c_stop_both(w, node, wrong, "MS_NATIVE_SELECT", of->array, of->given, position,
                 ms_c_text(w, "%u", gone - of->given + 1));
  return ms_c_text(w, "{%s + ((int64_t)%s - 1) * %s, %s, %s}", of->memory, position,
                   ms_c_array_stride(w, of->array, gone), ms_c_array_stride(w, of->array, stays),
                   ms_c_array_extent(w, of->array, stays));
}

ms_c_value ms_c_part(ms_writer *w, const ms_node *node) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  ms_c_value value = {.form = MS_FORM_OBJECT, .kind = kind, .text = ms_c_temp(w)};
  ms_c_location base;
  if (!ms_c_location_find(w, node->kid[0], &base)) return value;
  part_of of = {.array = base.kind.array, .given = base.kind.given, .memory = base.text};
  if (!ms_c_is_simple(of.memory)) of.memory = ms_c_text(w, "(%s)", of.memory);
  const char *text = node->text[0] == 'n' ? narrowed(w, node, &of) : selected(w, node, &of);
  if (text != NULL)
    ms_c_line(w, "const %s %s = %s;", ms_c_array_object_type(w, &kind), value.text, text);
  return value;
}

ms_c_bounds_check ms_c_part_key(ms_writer *w, const char *part, const ms_node *node, bool hold) {
  return ms_c_bounds_check_of_part(w, node, ms_c_text(w, "%s.extent", part), hold);
}

const char *ms_c_part_at(ms_writer *w, const char *part, const ms_c_bounds_check *key,
                         const ms_node *node, uint32_t array) {
  const char *at = ms_c_bounds_check_write(w, key, node, array, 0);
  return ms_c_text(w, "%s.at[(%s - 1) * %s.stride]", part, at, part);
}

const char *ms_c_part_element(ms_writer *w, const char *part, const ms_node *node, uint32_t array) {
  ms_c_bounds_check key = ms_c_part_key(w, part, node, false);
  return ms_c_part_at(w, part, &key, node, array);
}

const char *ms_c_part_choice(ms_writer *w, const ms_node *node) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  const ms_node *condition, *yes;
  const char *type = ms_c_array_object_type(w, &kind);
  if (!ms_node_is_choice(node, &condition, &yes) || type == NULL) {
    ms_c_refuse(w, node, "`%s` chooses between values that are no numbers", ms_c_source(w, node));
    return "";
  }
  const char *part = ms_c_temp(w), *truth = ms_c_expression_condition(w, condition);
  ms_c_line(w, "%s %s;", type, part);
  ms_c_line(w, "if (%s) {", truth);
  ms_c_line(w, "%s = %s;", part, ms_c_expression(w, yes).text);
  ms_c_line(w, "} else {");
  ms_c_line(w, "%s = %s;", part, ms_c_expression(w, node->kid[1]).text);
  ms_c_line(w, "}");
  return part;
}
