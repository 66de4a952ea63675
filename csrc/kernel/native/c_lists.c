/* SPDX-License-Identifier: MIT
 *
 * Writing C: lists of lists of numbers from outside. See c_lists.h. */
#include "kernel/native/c_lists.h"

#include "kernel/native/c_expression.h"
#include "kernel/native/c_guard.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_list.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_value.h"

bool ms_c_lists_is_all(const ms_writer *w, const ms_kind_of *kind) {
  return kind->levels == w->typed->bindings[kind->array].numbers;
}

/* The number of the list that a node is, which is not looked at. */
static const char *number_of(ms_writer *w, const ms_node *node, const ms_kind_of *kind) {
  if (ms_c_lists_is_all(w, kind)) return "0";
  return ms_c_expression(w, node).text;
}

/* Stops at `at` where a list is nil: it says what cannot be done with it, or all that Lua says. */
static void stop_at_nil(ms_writer *w, const ms_node *at, const ms_node *list, const char *number,
                        const char *what) {
  ms_kind_of kind = ms_typed_expression(w->typed, list);
  if (ms_c_lists_is_all(w, &kind)) return;
  const char *called = ms_c_value_called(w, list), *words = "(a nil value)";
  if (*called == '\0') words = "a nil value";
  if (what[0] == 'a') what = ms_c_text(w, "%s %s%s", what, called, words);
  ms_c_error(w, at, ms_c_text(w, "%s < 0", number), what);
}

/* The number of lists[key], in a temporary; NULL after a refusal. */
static const char *place_of(ms_writer *w, const char *starts, const char *list,
                            const ms_node *node) {
  ms_integer_value whole = ms_c_integer_value(w, node->kid[1]);
  if (whole.known) return ms_c_text(w, "ms_lists_at(%s, %s, %s)", starts, list, whole.text);
  w->exact++;
  ms_c_value key = ms_c_expression(w, node->kid[1]);
  w->exact--;
  if (key.form == MS_FORM_OBJECT) {
    ms_c_refuse(w, node, "`%s` is no number, but a key", ms_c_source(w, node->kid[1]));
    return NULL;
  }
  return ms_c_text(w, "ms_lists_find(%s, %s, %s)", starts, list,
                   ms_c_value_as_form(w, key, MS_FORM_VALUE, node));
}

ms_c_value ms_c_lists_element(ms_writer *w, const ms_node *node) {
  ms_kind_of lists = ms_typed_expression(w->typed, node->kid[0]);
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  ms_c_value read = {.form = ms_c_value_representation(w, &kind), .kind = kind, .text = "ms_nil"};
  const char *name = ms_c_list_name(w, node->kid[0]);
  if (name == NULL) return read;
  const char *list = number_of(w, node->kid[0], &lists);
  const char *place = place_of(w, ms_c_text(w, "%s_s", name), list, node), *at = ms_c_temp(w);
  if (place == NULL) return read;
  stop_at_nil(w, node, node->kid[0], list, "attempt to index");
  ms_c_line(w, "const int64_t %s = %s;", at, place);
  read.text = at;
  if (lists.levels == 1) read.text = ms_c_text(w, "ms_lists_number(%s, %s)", name, at);
  if (lists.levels != 1) return read;
  ms_c_region_in_lists(w, name, w->typed->bindings[lists.array].numbers, &read);
  return ms_c_value_hold(w, read);
}

ms_c_value ms_c_lists_count(ms_writer *w, const ms_node *node) {
  ms_kind_of lists = ms_typed_expression(w->typed, node);
  const char *name = ms_c_list_name(w, node), *count = ms_c_temp(w);
  ms_c_value value = {
      .form = MS_FORM_DOUBLE, .kind = ms_kind_of_number(MS_ANY_PRECISION), .text = "0.0"};
  if (name == NULL) return value;
  const char *list = number_of(w, node, &lists);
  stop_at_nil(w, node, node, list, "attempt to get length of");
  ms_c_line(w, "const int64_t %s = %s_s[%s + 1] - %s_s[%s];", count, name, list, name, list);
  value.text = ms_c_text(w, "(double)%s", count);
  value.whole = ms_c_integer(w, count, 0, INT32_MAX);
  return value;
}

void ms_c_for_lists(ms_writer *w, const ms_node *loop, const ms_node *node) {
  ms_kind_of lists = ms_typed_expression(w->typed, node);
  const char *name = ms_c_list_name(w, node), *first = ms_c_temp(w), *count = ms_c_temp(w);
  if (name == NULL) return;
  ms_c_line(w, "{");
  const char *list = number_of(w, node, &lists);
  stop_at_nil(w, node, node, list, "bad argument #1 to 'ipairs' (table expected, got nil)");
  ms_c_line(w, "const int64_t %s = %s_s[%s], %s = %s_s[%s + 1] - %s;", first, name, list, count,
            name, list, first);
  ms_kind_of kind = ms_typed_walked(w->typed, node);
  ms_walk_of_list walk = {.loop = loop,
                          .count = count,
                          .element = {.form = ms_c_value_representation(w, &kind), .kind = kind},
                          .from = ms_c_text(w, "(%s + ", first),
                          .behind = " - 1)"};
  if (lists.levels == 1) {
    ms_c_region_in_lists(w, name, w->typed->bindings[lists.array].numbers, &walk.element);
    walk.from = ms_c_text(w, "%s[%s + ", name, first);
    walk.behind = " - 1]";
  }
  ms_c_region(w, loop, ms_c_list_walk, &walk);
  ms_c_line(w, "}");
}
