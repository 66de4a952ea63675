/* SPDX-License-Identifier: MIT
 *
 * Walk, builtins: calls of functions that are known by name. See builtin.h and effect.h. */
#include "depend/builtin.h"

#include <string.h>

#include "depend/arguments.h"
#include "depend/arithmetic.h"
#include "depend/effect.h"
#include "depend/evaluate.h"
#include "depend/gather.h"
#include "depend/impure.h"
#include "depend/own_object.h"
#include "depend/piece.h"
#include "depend/shift.h"
#include "depend/store.h"
#include "depend/subscript.h"
#include "depend/variable_value.h"

#define EVERY_EVENT (uint32_t)(MS_EVENT_INDEX | MS_EVENT_ASSIGN | MS_EVENT_CALL | MS_EVENT_OPERATOR)

static void find_order(ms_walk *walk, ms_effect effect, ms_node *node) {
  if (effect == MS_EFFECT_YIELD)
    ms_walk_find(walk, MS_REASON_YIELDS, true, node, "collect the values, and yield after the loop",
                 "the body yields, and the other side of a yield runs on the driver alone");
  if (effect == MS_EFFECT_RANDOM) ms_impure_find_random(walk, node);
}

/* math.floor(e / c) of an affine e and a positive constant c, or of a quadratic integer. */
static bool floor_of_quotient(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  if (node->kids != 2) return false;
  ms_node *quotient = node->kid[1];
  while (quotient->kind == MS_PAREN) quotient = quotient->kid[0];
  ms_abstract_value above, below;
  ms_form result;
  ms_evaluate(walk, quotient, &above);
  if (ms_arithmetic_floor(walk, &above, value)) return true;
  if (quotient->kind != MS_BINARY || quotient->op != MS_OP_DIV) return false;
  ms_evaluate(walk, quotient->kid[0], &above);
  ms_evaluate(walk, quotient->kid[1], &below);
  if (above.kind != MS_ABSTRACT_VALUE_NUMBER || below.kind != MS_ABSTRACT_VALUE_NUMBER)
    return false;
  if (!ms_form_is_constant(&below.form) || below.form.constant <= 0) return false;
  if (below.form.constant > MS_FORM_COEFFICIENT) return false;
  if (!ms_subscript_floor(walk, &above.form, below.form.constant, &result)) return false;
  *value = ms_abstract_value_number(&result);
  return true;
}

/* math.max and math.min of affine numbers. */
static bool is_extreme(const char *name, const ms_node *node, const ms_arguments *all,
                       ms_walk *walk, ms_abstract_value *value) {
  bool greatest = strcmp(name, "math.max") == 0;
  const ms_node *last = node->kid[node->kids - 1];
  if (!greatest && strcmp(name, "math.min") != 0) return false;
  if (last->kind == MS_CALL || last->kind == MS_METHOD || last->kind == MS_VARARG) return false;
  return ms_pieces_extreme(walk, greatest, all->values, all->count, value);
}

/* A builtin that may call what it is given. */
static bool calls_back(const char *name, ms_effect effect) {
  return effect == MS_EFFECT_UNKNOWN || strcmp(name, "table.sort") == 0 ||
         strcmp(name, "string.gsub") == 0;
}

/* A builtin that may store something under a name in what it is given. */
static bool may_name(const char *name, ms_effect effect) {
  return effect == MS_EFFECT_UNKNOWN || strcmp(name, "rawset") == 0;
}

/* setmetatable(table, class). */
static void own_objects(ms_walk *walk, ms_arguments *all) {
  if (all->count < 2) return;
  ms_variable_value_own_objects(walk, &all->values[1]);
  ms_arguments_add_up(walk, all);
}

/* What a builtin gives is, or is part of, what it was given or what was stored. */
static void give_arguments(const ms_walk *walk, ms_effect effect, const ms_arguments *all,
                           ms_abstract_value *value) {
  if (value->kind != MS_ABSTRACT_VALUE_OTHER || effect == MS_EFFECT_FRESH) return;
  value->metamethods = all->metamethods;
  value->changes = all->changes;
  value->impure = all->impure;
  ms_variable_value_add_stored(walk, value);
  bool made = effect == MS_EFFECT_STORE && walk->stored_changes;
  if (made) value->metamethods |= EVERY_EVENT | EVERY_EVENT << MS_EVENT_CHANGES;
}

static void call_named(ms_walk *walk, const char *name, ms_node *node, ms_abstract_value *value) {
  ms_effect effect = ms_effect_of_builtin(name);
  if (strcmp(name, "math.floor") == 0 && floor_of_quotient(walk, node, value)) return;
  if (ms_walk_shift(walk, name, node, value)) return;
  if (effect == MS_EFFECT_STORE && node->kids > 1) {
    ms_abstract_value table;
    if (ms_gather_insert(walk, node)) {
      *value = ms_abstract_value_scalar();
      return;
    }
    ms_evaluate(walk, node->kid[1], &table);
    if (table.kind != MS_ABSTRACT_VALUE_OTHER || table.captured)
      ms_walk_find_store(walk, walk->possible == 0, &table, node);
  }
  find_order(walk, effect, node);
  if (ms_effect_is_impure(name)) ms_impure_find(walk, name, node);
  bool reads = effect != MS_EFFECT_PASS && effect != MS_EFFECT_STORE;
  ms_use how = effect == MS_EFFECT_UNKNOWN ? MS_USE_WRITE : reads ? MS_USE_READ : MS_USE_NOTHING;
  ms_arguments all = ms_arguments_walk(walk, node, how);
  for (uint32_t k = 0; k < all.count && (effect == MS_EFFECT_PURE || how == MS_USE_WRITE); k++)
    ms_evaluate_event(walk, &all.values[k], MS_EVENT_OPERATOR, node);
  if (strcmp(name, "setmetatable") == 0) own_objects(walk, &all);
  for (uint32_t k = 0; k < all.count && effect == MS_EFFECT_STORE; k++)
    ms_variable_value_store(walk, &all.values[k]);
  for (uint32_t k = 0; k < all.count && may_name(name, effect); k++)
    ms_own_object_store(walk, NULL, &all.values[k]);
  if (calls_back(name, effect)) ms_arguments_call_back(walk, &all, node);
  bool scalar = effect == MS_EFFECT_PURE || all.simple;
  if (is_extreme(name, node, &all, walk, value)) return;
  *value = scalar ? ms_abstract_value_scalar()
                  : ms_abstract_value_other(
                        all.groups | walk->stored,
                        all.captured || walk->stored_captured || strcmp(name, "getmetatable") == 0);
  if (effect == MS_EFFECT_FRESH) *value = ms_abstract_value_other(0, false);
  if (effect == MS_EFFECT_FRESH && strncmp(name, "meissa.", 7) != 0) ms_own_object_strange(walk);
  if (effect == MS_EFFECT_UNKNOWN)
    *value = ms_abstract_value_other(all.groups | walk->stored, true);
  give_arguments(walk, effect, &all, value);
  if (strcmp(name, "setmetatable") == 0) ms_own_object_make(walk, node, &all, value);
}

/* `require`: what it gives for a name that the driver has looked up is as if it were captured. */
static void call_require(ms_walk *walk, const ms_binding *require, ms_node *node,
                         ms_abstract_value *value) {
  const char *name = node->kids == 2 && node->kid[1]->kind == MS_STRING ? node->kid[1]->text : NULL;
  for (uint32_t f = 0; f < require->field_count && name != NULL; f++) {
    if (strcmp(require->fields[f].name, name) != 0) continue;
    const ms_binding *module = &walk->bindings[require->fields[f].binding];
    if (module->globals != NULL) ms_impure_find_globals(walk, module->globals, node);
    ms_impure_find(walk, module->kind == MS_BIND_TABLE ? module->impure : NULL, node);
    ms_evaluate_binding(walk, require->fields[f].binding, value);
    return;
  }
  ms_impure_find(walk, require->impure, node);
  ms_arguments all = ms_arguments_walk(walk, node, MS_USE_WRITE);
  *value = ms_abstract_value_other(all.groups | walk->stored, true);
  value->changes = all.changes;
  value->impure = all.impure;
  ms_variable_value_add_stored(walk, value);
}

bool ms_walk_builtin(ms_walk *walk, const ms_abstract_value *callee, ms_node *node,
                     ms_abstract_value *value) {
  if (callee->kind != MS_ABSTRACT_VALUE_OTHER || !callee->callable) return false;
  const ms_binding *binding = &walk->bindings[callee->binding];
  if (binding->kind != MS_BIND_BUILTIN || binding->name == NULL) return false;
  if (strcmp(binding->name, "require") == 0)
    call_require(walk, binding, node, value);
  else
    call_named(walk, binding->name, node, value);
  return true;
}
