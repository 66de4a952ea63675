/* SPDX-License-Identifier: MIT
 *
 * Walk, generic loops: see generic_loop.h. */
#include "depend/generic_loop.h"

#include <string.h>

#include "depend/call.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/local_value.h"
#include "depend/subscript.h"
#include "depend/variable_value.h"
#include "depend/walk.h"

static void give_iterated(ms_walk *walk, void *context, uint32_t k,
                          const ms_abstract_value *value) {
  ms_node *node = context;
  if (k > 0) return;
  for (uint32_t s = 0; s < node->symbol_count; s++) {
    bool key = s == 0 && value->kind == MS_ABSTRACT_VALUE_OTHER && value->plain;
    ms_abstract_value each =
        value->kind == MS_ABSTRACT_VALUE_OTHER && !key ? *value : ms_abstract_value_scalar();
    if (value->kind == MS_ABSTRACT_VALUE_VIEW)
      each = ms_abstract_value_other(ms_footprint_groups(walk, value), false);
    each.plain = each.callable = each.exact = false;
    each.list = 0;
    each.truth = NULL;
    each.pieces = NULL;
    ms_variable_value_set(walk, node->symbols[s], &each);
  }
}

/* A local that was given another view each time the block was walked is none of them. */
static bool blur(ms_node *node, void *context) {
  ms_walk *walk = context;
  for (uint32_t s = 0; s < node->symbol_count; s++) {
    ms_abstract_value *value = walk->symbol_value[node->symbols[s]->index],
                      scalar = ms_abstract_value_scalar();
    if (value != NULL && value->kind == MS_ABSTRACT_VALUE_VIEW)
      *value = ms_variable_value_either(walk, value, &scalar);
  }
  return true;
}

/* The list of ipairs(list), or of pairs(list) (`all`). */
static bool iterated_list(ms_walk *walk, ms_node *node, ms_abstract_value *list, bool *all) {
  ms_node *call = node->kid[0];
  ms_abstract_value iterates;
  if (node->kids != 2 || call->kind != MS_CALL || call->kids != 2) return false;
  ms_evaluate(walk, call->kid[0], &iterates);
  if (iterates.kind != MS_ABSTRACT_VALUE_OTHER || !iterates.callable) return false;
  const ms_binding *builtin = &walk->bindings[iterates.binding];
  if (builtin->kind != MS_BIND_BUILTIN) return false;
  *all = strcmp(builtin->name, "pairs") == 0;
  if (!*all && strcmp(builtin->name, "ipairs") != 0) return false;
  ms_evaluate(walk, call->kid[1], list);
  return list->kind == MS_ABSTRACT_VALUE_OTHER;
}

static void walk_element(ms_walk *walk, ms_node *node, const ms_abstract_value *key,
                         const ms_abstract_value *element) {
  const ms_abstract_value rest = ms_abstract_value_scalar();
  for (uint32_t s = 0; s < node->symbol_count; s++)
    ms_variable_value_set(walk, node->symbols[s], s == 0 ? key : s == 1 ? element : &rest);
  ms_walk_maybe(walk, node->kid[1]);
}

/* The block for some element or other. */
static void walk_any(ms_walk *walk, ms_node *node, const ms_abstract_value *list, bool all) {
  ms_abstract_value element, key = ms_abstract_value_scalar();
  ms_subscript_part(walk, list, node->kid[0]->kid[1], &element);
  if (all && list->plain_data) key = element;
  walk_element(walk, node, &key, &element);
}

/* The block for each element of a captured list of which elements are known, or, by pairs, that
 * holds nothing else; of a longer one, and of what is data alone, for some element or other. */
static bool walk_elements(ms_walk *walk, ms_node *node) {
  ms_abstract_value list, element;
  bool all;
  if (!iterated_list(walk, node, &list, &all)) return false;
  const bool listed = list.exact && walk->bindings[list.binding].listed;
  uint32_t k = 1;
  for (; (!all || listed) && ms_subscript_element(walk, &list, k, &element); k++) {
    ms_form number = ms_form_constant(k);
    const ms_abstract_value key = ms_abstract_value_number(&number);
    if (k > 1) ms_local_value_forget(walk, node);
    walk_element(walk, node, &key, &element);
  }
  if (k > 2) ms_node_walk(node, blur, walk);
  if (k > 1) return true;
  if (listed || list.plain_data) walk_any(walk, node, &list, all);
  return listed || list.plain_data;
}

void ms_generic_loop_walk(ms_walk *walk, ms_node *node) {
  uint32_t scope = walk->scope_count, values = node->kids - 1;
  if (!walk_elements(walk, node)) {
    const ms_abstract_value number = ms_abstract_value_scalar();
    ms_walk_distribute(walk, node->kid, values, 1, give_iterated, node);
    for (uint32_t s = 0; s < node->symbol_count && ms_call_visits_entries(walk, node); s++)
      ms_variable_value_set(walk, node->symbols[s], &number);
    ms_walk_maybe(walk, node->kid[values]);
  }
  walk->scope_count = scope;
}
