/* SPDX-License-Identifier: MIT
 *
 * Values of variables: what variables hold, and assignments to them and into arrays. See walk.h. */
#include <string.h>

#include "depend/abstract_view.h"
#include "depend/capture_path.h"
#include "depend/evaluate.h"
#include "depend/footprint.h"
#include "depend/gather.h"
#include "depend/inline.h"
#include "depend/local_value.h"
#include "depend/own_object.h"
#include "depend/piece.h"
#include "depend/scalar.h"
#include "depend/sliced_output.h"
#include "depend/store.h"
#include "depend/subscript.h"
#include "depend/variable_value.h"

void ms_variable_value_store(ms_walk *walk, const ms_abstract_value *value) {
  uint64_t before = walk->stored;
  bool captured = value->kind == MS_ABSTRACT_VALUE_OTHER && value->captured;
  walk->stored |= ms_footprint_groups(walk, value);
  if (walk->stored != before || (captured && !walk->stored_captured)) walk->changed = true;
  walk->stored_captured = walk->stored_captured || captured;
  if (value->kind != MS_ABSTRACT_VALUE_OTHER) return;
  bool known = (walk->stored_changes || !value->changes) &&
               (walk->stored_metamethods | value->metamethods) == walk->stored_metamethods &&
               (walk->stored_impure != NULL || value->impure == NULL);
  walk->changed = walk->changed || !known;
  walk->stored_changes = walk->stored_changes || value->changes;
  walk->stored_metamethods |= value->metamethods;
  if (walk->stored_impure == NULL) walk->stored_impure = value->impure;
}

void ms_variable_value_own_objects(ms_walk *walk, ms_abstract_value *class) {
  if (class->kind != MS_ABSTRACT_VALUE_OTHER || !class->exact) return;
  if (!walk->bindings[class->binding].kept) return;
  walk->changed = walk->changed || !walk->owns_objects;
  walk->owns_objects = true;
  class->changes = class->captured = false;
}

void ms_variable_value_add_stored(const ms_walk *walk, ms_abstract_value *value) {
  if (value->kind != MS_ABSTRACT_VALUE_OTHER) return;
  value->changes = value->changes || walk->stored_changes;
  value->metamethods |= walk->stored_metamethods;
  if (value->impure == NULL) value->impure = walk->stored_impure;
}

/* What a variable is that may be either of two values. */
ms_abstract_value ms_variable_value_either(const ms_walk *walk, const ms_abstract_value *a,
                                           const ms_abstract_value *b) {
  bool simple_a = a->kind <= MS_ABSTRACT_VALUE_SCALAR,
       simple_b = b->kind <= MS_ABSTRACT_VALUE_SCALAR;
  if (simple_a && simple_b) return ms_abstract_value_scalar();
  uint64_t groups = ms_footprint_groups(walk, a) | ms_footprint_groups(walk, b);
  ms_abstract_value value = ms_abstract_value_other(groups, a->captured || b->captured);
  value.changes = a->changes || b->changes;
  value.changer = a->changes && a->changer != NULL ? a->changer : b->changes ? b->changer : NULL;
  value.impure = a->impure != NULL ? a->impure : b->impure;
  value.metamethods = a->metamethods | b->metamethods;
  value.objects = a->objects == b->objects || simple_b ? a->objects : simple_a ? b->objects : 0;
  value.class = a->class == b->class || simple_b ? a->class : simple_a ? b->class : 0;
  value.list = a->list == b->list || simple_b ? a->list : simple_a ? b->list : 0;
  value.stores_nothing = (simple_a || (a->kind == MS_ABSTRACT_VALUE_OTHER && a->stores_nothing)) &&
                         (simple_b || (b->kind == MS_ABSTRACT_VALUE_OTHER && b->stores_nothing));
  value.plain_data = (simple_a || (a->kind == MS_ABSTRACT_VALUE_OTHER && a->plain_data)) &&
                     (simple_b || (b->kind == MS_ABSTRACT_VALUE_OTHER && b->plain_data));
  uint32_t levels_a = simple_a ? 1 : a->levels, levels_b = simple_b ? 1 : b->levels;
  bool known = levels_a != 0 && levels_b != 0;
  value.levels = !known ? 0 : levels_a > levels_b ? levels_a : levels_b;
  value.plain = (simple_a || (a->kind == MS_ABSTRACT_VALUE_OTHER && a->plain)) &&
                (simple_b || (b->kind == MS_ABSTRACT_VALUE_OTHER && b->plain));
  value.formed = (simple_a || a->kind == MS_ABSTRACT_VALUE_VIEW || a->formed) &&
                 (simple_b || b->kind == MS_ABSTRACT_VALUE_VIEW || b->formed);
  return value;
}

void ms_variable_value_join(ms_walk *walk, ms_abstract_value **slot,
                            const ms_abstract_value *value) {
  ms_abstract_value scalar = ms_abstract_value_scalar();
  ms_abstract_value joined = ms_variable_value_either(walk, *slot == NULL ? &scalar : *slot, value);
  ms_abstract_value *old = *slot;
  if (old == NULL) {
    *slot = ms_arena_take(walk->arena, 1, sizeof **slot);
    if (*slot == NULL) {
      walk->failed = true;
      return;
    }
    walk->changed = true;
  } else if (old->kind != joined.kind || old->groups != joined.groups ||
             old->captured != joined.captured || old->plain != joined.plain ||
             old->changes != joined.changes || old->impure != joined.impure ||
             old->objects != joined.objects || old->plain_data != joined.plain_data ||
             old->levels != joined.levels || old->list != joined.list ||
             old->class != joined.class || old->stores_nothing != joined.stores_nothing ||
             old->metamethods != joined.metamethods) {
    walk->changed = true;
  }
  **slot = joined;
}

void ms_variable_value_set(ms_walk *walk, const ms_symbol *symbol, const ms_abstract_value *value) {
  ms_abstract_value **slot = &walk->symbol_value[symbol->index];
  if (symbol->assigned) {
    ms_local_value_hold(walk, symbol, value);
    ms_variable_value_join(walk, slot, value);
    return;
  }
  if (*slot == NULL) *slot = ms_arena_take(walk->arena, 1, sizeof **slot);
  if (*slot == NULL) {
    walk->failed = true;
    return;
  }
  **slot = *value;
}

static const char *rebound_fix(ms_walk *walk, const ms_node *target) {
  const char *fix = ms_arena_format(
      walk->arena, "if it is not needed after the loop: local %s = ...", target->text);
  walk->failed = walk->failed || fix == NULL;
  return fix;
}

static void assign_name(ms_walk *walk, ms_node *target, const ms_abstract_value *value) {
  int64_t capture = ms_capture_path_of(walk->loop, target);
  if (capture >= 0) {
    ms_meaning means = ms_inline_meaning(walk, (uint32_t)capture);
    const ms_binding *binding = &walk->bindings[means.binding];
    if (walk->frame != NULL)
      ms_walk_find_store(walk, true, NULL, target);
    else if (binding->kind >= MS_BIND_ARRAY)
      ms_walk_find(walk, MS_REASON_REBOUND, true, target, rebound_fix(walk, target),
                   "the body assigns a captured variable that holds an array, table or function");
    if (ms_guard_is_never(walk->guard)) return;
    ms_variable_value_join(walk, &walk->capture_value[capture], value);
    return;
  }
  if (target->symbol == NULL) return;
  for (uint32_t k = 0; k < walk->loop->index_count && walk->frame == NULL; k++) {
    if (walk->loop->indices[k] == target->symbol) return; /* private, and no longer affine */
  }
  ms_variable_value_set(walk, target->symbol, value);
}

/* An assignment to this path is one to a field of a plain table; arrays have none to assign, and
 * say so when the loop runs. */
static bool is_in_table(const ms_walk *walk, uint32_t capture) {
  ms_meaning means = ms_inline_meaning(walk, capture);
  return walk->bindings[means.binding].kind != MS_BIND_ARRAY ||
         means.depth == walk->loop->captures[capture].field_count;
}

/* Into an element or part of an array. */
static void assign_view(ms_walk *walk, const ms_abstract_view *view, const ms_abstract_value *value,
                        ms_node *target) {
  bool row = view->range || view->may_range || ms_abstract_view_left(walk, view) > 0;
  if (row) ms_footprint_add(walk, value, false, target); /* it is copied */
  ms_footprint_add_view(walk, view, true, target);
}

static void assign_elements(ms_walk *walk, const ms_abstract_value *place,
                            const ms_abstract_value *value, ms_node *target) {
  const ms_pieces all = ms_pieces_of(place);
  for (uint32_t p = 0; p < all.count; p++) {
    if (all.piece[p].value.kind != MS_ABSTRACT_VALUE_VIEW) continue;
    ms_outside_piece outside = ms_piece_enter(walk, &all, p);
    assign_view(walk, all.piece[p].value.view, value, target);
    ms_piece_leave(walk, &outside);
  }
}

/* A[i] of a vector of numbers. */
static bool is_number_of_array(ms_walk *walk, ms_node *node) {
  ms_abstract_value object;
  if (node->kind != MS_INDEX || ms_capture_path_of(walk->loop, node) >= 0) return false;
  ms_evaluate(walk, node->kid[0], &object);
  return ms_subscript_is_of_array(walk, &object) && object.kind == MS_ABSTRACT_VALUE_VIEW &&
         ms_abstract_view_left(walk, object.view) == 1;
}

void ms_variable_value_assign(ms_walk *walk, ms_node *target, const ms_abstract_value *value) {
  if (target->kind == MS_NAME) {
    assign_name(walk, target, value);
    return;
  }
  ms_abstract_value object, place;
  int64_t capture = ms_capture_path_of(walk->loop, target);
  bool inlined = walk->frame != NULL;
  if (capture >= 0 && !inlined && ms_scalar_in_field(walk, (uint32_t)capture)) {
    ms_variable_value_join(walk, &walk->capture_value[capture], value);
    return;
  }
  if (capture >= 0) {
    if (!is_in_table(walk, (uint32_t)capture)) return;
    ms_walk_find_store(walk, true, NULL, target);
    ms_variable_value_store(walk, value);
    return;
  }
  if (!inlined && (ms_sliced_output_assign(walk, target) || ms_gather_assign(walk, target)))
    return; /* nothing reads it: the value goes nowhere else */
  ms_evaluate(walk, target->kid[0], &object);
  if (ms_subscript_is_of_array(walk, &object)) {
    ms_subscript_index(walk, &object, target->kid[1], target, &place);
    if (place.kind == MS_ABSTRACT_VALUE_VIEW || place.pieces != NULL) {
      assign_elements(walk, &place, value, target);
    } else {
      ms_footprint_add_groups(walk, ms_footprint_groups(walk, &place), true, target);
    }
    return;
  }
  ms_abstract_value key;
  ms_evaluate(walk, target->kid[1], &key);
  ms_evaluate_event(walk, &object, MS_EVENT_ASSIGN, target);
  bool plain = object.kind == MS_ABSTRACT_VALUE_OTHER && object.plain; /* itself no array */
  uint64_t groups = plain ? 0 : ms_footprint_groups(walk, &object);
  if (groups != 0) ms_footprint_add(walk, value, false, target);
  ms_footprint_add_groups(walk, groups, true, target);
  ms_variable_value_store(walk, value);
  ms_own_object_store(walk, target->kid[1], value);
  ms_variable_value_store(walk, &key); /* what goes through the table gets it */
  if (is_number_of_array(walk, target->kid[0])) {
    ms_walk_find(walk, MS_REASON_TABLE_WRITE, false, target,
                 "give the array one dimension more, or assign the number itself",
                 "an element of the array is a number, and nothing can be stored into a number");
    return;
  }
  bool captured = object.kind <= MS_ABSTRACT_VALUE_SCALAR ||
                  (object.kind == MS_ABSTRACT_VALUE_OTHER && object.captured);
  bool sure = object.kind == MS_ABSTRACT_VALUE_OTHER && object.plain;
  if (captured) ms_walk_find_store(walk, sure, &object, target);
}
