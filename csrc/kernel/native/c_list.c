/* SPDX-License-Identifier: MIT
 *
 * Writing C: lists of numbers from outside. See c_list.h. */
#include "kernel/native/c_list.h"

#include <string.h>

#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_local.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_value.h"

const char *ms_c_list_name(ms_writer *w, const ms_node *node) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  uint32_t l = 0;
  while (l < w->lists && (w->list[l].at != kind.given || strcmp(w->list[l].path, kind.name) != 0))
    l++;
  if (l == MS_LISTS) {
    ms_c_refuse(w, node, "`%s` is one list too many for C", ms_c_source(w, node));
    return NULL;
  }
  w->list[l] = (ms_c_outer_list){
      .levels = w->typed->bindings[kind.array].numbers, .at = kind.given, .path = kind.name};
  if (l == w->lists) w->lists++;
  return ms_c_text(w, "g%u", l + 1);
}

ms_integer_value ms_c_list_length(ms_writer *w, const ms_node *list) {
  const char *name = ms_c_list_name(w, list);
  const char *length = ms_c_text(w, "%s_n", name != NULL ? name : "");
  const char *bound = ms_c_text(w, "(double)%s", length);
  return (ms_integer_value){.known = name != NULL,
                            .unsigned_zero = true,
                            .text = length,
                            .lo = bound,
                            .hi = bound,
                            .most = INT32_MAX};
}

ms_c_value ms_c_list_count(ms_writer *w, const ms_node *list) {
  ms_integer_value length = ms_c_list_length(w, list);
  return (ms_c_value){.form = MS_FORM_DOUBLE,
                      .kind = ms_kind_of_number(MS_ANY_PRECISION),
                      .text = length.lo,
                      .whole = ms_c_integer(w, length.text, 0, length.most)};
}

ms_c_value ms_c_list_element(ms_writer *w, const ms_node *node) {
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  ms_c_value read = {.form = MS_FORM_VALUE, .kind = kind, .text = "ms_nil"};
  const char *list = ms_c_list_name(w, node->kid[0]);
  if (list == NULL) return read;
  const ms_node *at = ms_node_bare(node->kid[1]);
  bool constant = at->kind == MS_NUMBER && !at->boxed;
  ms_c_region_listed(w, list, constant ? ms_c_number(w, at->number) : NULL, &read);
  ms_integer_value key;
  if (ms_c_integer_value_within(w, node->kid[1], ms_c_text(w, "%s_n", list), &key)) {
    read.text = ms_c_text(w, "ms_number(%s[%s - 1])", list, key.text);
    read.kind.can = MS_CAN_NUMBER;
    return read;
  }
  w->exact++;
  ms_c_value any = ms_c_value_hold(w, ms_c_expression(w, node->kid[1]));
  w->exact--;
  if (any.form == MS_FORM_OBJECT) {
    ms_c_refuse(w, node, "`%s` is no number, but a key", ms_c_source(w, node->kid[1]));
    return read;
  }
  read.text = ms_c_text(w, "ms_list_get(%s, %s_n, %s)", list, list,
                        ms_c_value_as_form(w, any, MS_FORM_VALUE, node));
  return ms_c_value_hold(w, read);
}

void ms_c_list_walk(ms_writer *w, const void *context) {
  const ms_walk_of_list *walk = context;
  const ms_node *loop = walk->loop;
  const ms_symbol *key = loop->symbols[0];
  const char *place = ms_c_temp(w), *name = ms_c_local_name(w, key);
  ms_c_line(w, "for (int64_t %s = 1; %s <= %s; %s++) {", place, place, walk->count, place);
  ms_c_local *local = ms_c_local_of(w, key);
  *local =
      (ms_c_local){.text = name, .form = MS_FORM_DOUBLE, .scopes = w->scopes, .region = w->region};
  if (key->assigned) {
    ms_c_line(w, "double %s = (double)%s;", name, place);
  } else {
    ms_c_line(w, "const int64_t %s = %s;", name, place);
    local->whole = name;
    local->least = 1;
    local->most = INT32_MAX;
    if (walk->lasts) local->lo = "1.0";
    if (walk->lasts) local->hi = ms_c_text(w, "(double)%s", walk->count);
  }
  for (uint32_t s = 1; s < loop->symbol_count; s++) {
    ms_c_value value = ms_c_value_nil();
    if (s == 1) value = walk->element;
    if (s == 1) value.text = ms_c_text(w, "%s%s%s", walk->from, place, walk->behind);
    ms_c_local_declare(w, loop->symbols[s], value, NULL);
  }
  ms_c_statements(w, loop->kid[1]);
  ms_c_line(w, "}");
}

void ms_c_for_list(ms_writer *w, const ms_node *loop, const ms_node *list) {
  const char *name = ms_c_list_name(w, list);
  if (name == NULL) return;
  ms_walk_of_list walk = {
      .loop = loop,
      .count = ms_c_text(w, "%s_n", name),
      .lasts = true,
      .element = {.form = MS_FORM_DOUBLE, .kind = ms_kind_of_number(MS_ANY_PRECISION)},
      .from = ms_c_text(w, "%s[", name),
      .behind = " - 1]"};
  ms_c_region_listed(w, name, NULL, &walk.element);
  ms_c_region(w, loop, ms_c_list_walk, &walk);
}
