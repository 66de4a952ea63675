/* SPDX-License-Identifier: MIT
 *
 * Walk, calls: what functions and methods do to arrays. See walk.h and effect.h. */
#include <string.h>

#include "depend/effect.h"
#include "depend/gather.h"
#include "depend/piece.h"

#define EVERY_EVENT (uint32_t)(MS_EVENT_INDEX | MS_EVENT_ASSIGN | MS_EVENT_CALL | MS_EVENT_OPERATOR)

/* What the arguments of a call are, together. */
typedef struct arguments {
  uint64_t groups; /* arrays that they are or hold, and that functions among them reach */
  bool captured;
  bool simple; /* numbers and strings only */
  bool known;  /* numbers, strings, tables of these, and views of arrays only */
  bool changes;
  const char *impure;   /* of the first that has such words */
  uint32_t metamethods; /* events for which they may have functions */
  uint32_t count;
  ms_abstract_value *values;
} arguments;

static void find_changes(ms_walk *walk, const ms_abstract_value *called, const ms_node *node) {
  if (called->kind == MS_ABSTRACT_VALUE_OTHER) ms_walk_find_impure(walk, called->impure, node);
  if (called->kind != MS_ABSTRACT_VALUE_OTHER || !called->changes) return;
  ms_walk_find(walk, MS_REASON_CHANGES, called->callable, node,
               "let it return the new value instead of assigning an outer variable",
               "the call may change variables or tables outside of the loop, and each worker has "
               "its own copy of them");
}

/* What a call does to what its arguments are. */
typedef enum use {
  USE_NOTHING,
  USE_READ,
  USE_WRITE,   /* reads and writes */
  USE_BY_KIND, /* reads; writes too unless all are known */
} use;

/* Adds up what one argument is. */
static void add_argument(ms_walk *walk, const ms_abstract_value *value, arguments *all) {
  all->groups |= ms_walk_groups_of(walk, value);
  all->captured = all->captured || (value->kind == MS_ABSTRACT_VALUE_OTHER && value->captured);
  all->simple = all->simple && value->kind <= MS_ABSTRACT_VALUE_SCALAR;
  all->known = all->known && (value->kind != MS_ABSTRACT_VALUE_OTHER || value->plain_data);
  all->metamethods |= value->metamethods;
  all->changes = all->changes || value->changes;
  if (all->impure == NULL && value->kind == MS_ABSTRACT_VALUE_OTHER) all->impure = value->impure;
}

/* Whether a value is a snapshot or part of one: it may go where it could be written. */
static bool is_frozen(const ms_walk *walk, const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_VIEW && walk->bindings[value->view->binding].frozen;
}

static void touch_argument(ms_walk *walk, const ms_abstract_value *value, use how,
                           const ms_node *node) {
  bool calls = value->kind == MS_ABSTRACT_VALUE_OTHER && value->callable;
  if (calls) find_changes(walk, value, node);
  if (how == USE_WRITE && value->kind == MS_ABSTRACT_VALUE_OTHER)
    ms_walk_find_impure(walk, value->impure, node);
  if (how != USE_NOTHING || calls) ms_walk_record(walk, value, false, node);
  if ((how == USE_WRITE || calls) && !is_frozen(walk, value)) {
    ms_walk_record(walk, value, true, node);
  }
}

/* Evaluates the arguments; the object of a method call is the first. */
static arguments evaluate_arguments(ms_walk *walk, ms_node *node, const ms_abstract_value *object) {
  uint32_t first = object != NULL ? 1 : 0;
  arguments all = {.simple = true, .known = true, .count = node->kids - 1 + first};
  all.values = ms_arena_take(walk->arena, all.count + 1, sizeof *all.values);
  if (all.values == NULL) {
    walk->failed = true;
    all.count = 0;
    return all;
  }
  if (object != NULL) all.values[0] = *object;
  for (uint32_t k = 1; k < node->kids; k++)
    ms_walk_value(walk, node->kid[k], &all.values[k - 1 + first]);
  for (uint32_t k = 0; k < all.count; k++) add_argument(walk, &all.values[k], &all);
  return all;
}

static void touch_arguments(ms_walk *walk, const arguments *all, use how, const ms_node *node) {
  if (how == USE_BY_KIND) how = all->known ? USE_READ : USE_WRITE;
  if (how == USE_WRITE) walk->possible++; /* what is not known need not be done */
  for (uint32_t k = 0; k < all->count; k++) touch_argument(walk, &all->values[k], how, node);
  if (how == USE_WRITE) walk->possible--;
}

static arguments walk_arguments(ms_walk *walk, ms_node *node, use how) {
  arguments all = evaluate_arguments(walk, node, NULL);
  touch_arguments(walk, &all, how, node);
  return all;
}

static void find_order(ms_walk *walk, ms_effect effect, ms_node *node) {
  if (effect == MS_EFFECT_YIELD)
    ms_walk_find(walk, MS_REASON_YIELDS, true, node, "collect the values, and yield after the loop",
                 "the body yields, and the other side of a yield runs on the driver alone");
  if (effect == MS_EFFECT_RANDOM) ms_walk_find_random(walk, node);
}

/* math.floor(e / c) of an affine e and a positive constant c, or of a quadratic integer. */
static bool floor_of_quotient(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  if (node->kids != 2) return false;
  ms_node *quotient = node->kid[1];
  while (quotient->kind == MS_PAREN) quotient = quotient->kid[0];
  ms_abstract_value above, below;
  ms_form result;
  ms_walk_value(walk, quotient, &above);
  if (ms_walk_whole(walk, &above, value)) return true;
  if (quotient->kind != MS_BINARY || quotient->op != MS_OP_DIV) return false;
  ms_walk_value(walk, quotient->kid[0], &above);
  ms_walk_value(walk, quotient->kid[1], &below);
  if (above.kind != MS_ABSTRACT_VALUE_NUMBER || below.kind != MS_ABSTRACT_VALUE_NUMBER)
    return false;
  if (!ms_form_is_constant(&below.form) || below.form.constant <= 0) return false;
  if (below.form.constant > MS_FORM_COEFFICIENT) return false;
  if (!ms_walk_floor(walk, &above.form, below.form.constant, &result)) return false;
  *value = ms_abstract_value_number(&result);
  return true;
}

/* math.max and math.min of affine numbers. */
static bool is_extreme(const char *name, const ms_node *node, const arguments *all, ms_walk *walk,
                       ms_abstract_value *value) {
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

/* Whether a method of an object that the body has made may store into what is outside of the loop:
 * an argument, or what the object was given before. */
static bool gives_outer(const ms_walk *walk, const arguments *all) {
  return walk->owns_objects && (all->captured || walk->stored_captured);
}

/* Functions that a builtin is given are called, with what else it is given. Those that are known by
 * a name are found when they are passed. */
static void find_called_back(ms_walk *walk, const arguments *all, const ms_node *node) {
  for (uint32_t k = 0; k < all->count; k++) {
    ms_abstract_value each = all->values[k];
    if (each.kind != MS_ABSTRACT_VALUE_OTHER || each.exact) continue;
    if (each.callable && walk->bindings[each.binding].stores && all->captured) each.changes = true;
    if (!each.callable && gives_outer(walk, all)) each.changes = true;
    find_changes(walk, &each, node);
  }
}

/* setmetatable(table, class). */
static void own_objects(ms_walk *walk, arguments *all) {
  if (all->count < 2) return;
  ms_walk_own_objects(walk, &all->values[1]);
  arguments sum = {.simple = true, .known = true, .count = all->count, .values = all->values};
  for (uint32_t k = 0; k < all->count; k++) add_argument(walk, &all->values[k], &sum);
  *all = sum;
}

/* What a builtin gives is, or is part of, what it was given or what was stored. */
static void give_arguments(const ms_walk *walk, ms_effect effect, const arguments *all,
                           ms_abstract_value *value) {
  if (value->kind != MS_ABSTRACT_VALUE_OTHER || effect == MS_EFFECT_FRESH) return;
  value->metamethods = all->metamethods;
  value->changes = all->changes;
  value->impure = all->impure;
  ms_walk_add_stored(walk, value);
  bool made = effect == MS_EFFECT_STORE && walk->stored_changes;
  if (made) value->metamethods |= EVERY_EVENT | EVERY_EVENT << MS_EVENT_CHANGES;
}

static void call_builtin(ms_walk *walk, const char *name, ms_node *node, ms_abstract_value *value) {
  ms_effect effect = ms_effect_of_builtin(name);
  if (strcmp(name, "math.floor") == 0 && floor_of_quotient(walk, node, value)) return;
  if (ms_walk_shift(walk, name, node, value)) return;
  if (effect == MS_EFFECT_STORE && node->kids > 1) {
    ms_abstract_value table;
    if (ms_gather_insert(walk, node)) {
      *value = ms_abstract_value_scalar();
      return;
    }
    ms_walk_value(walk, node->kid[1], &table);
    if (table.kind != MS_ABSTRACT_VALUE_OTHER || table.captured)
      ms_walk_find_store(walk, walk->possible == 0, &table, node);
  }
  find_order(walk, effect, node);
  if (ms_effect_is_impure(name)) ms_walk_find_impure(walk, name, node);
  bool reads = effect != MS_EFFECT_PASS && effect != MS_EFFECT_STORE;
  use how = effect == MS_EFFECT_UNKNOWN ? USE_WRITE : reads ? USE_READ : USE_NOTHING;
  arguments all = walk_arguments(walk, node, how);
  for (uint32_t k = 0; k < all.count && (effect == MS_EFFECT_PURE || how == USE_WRITE); k++)
    ms_walk_event(walk, &all.values[k], MS_EVENT_OPERATOR, node);
  if (strcmp(name, "setmetatable") == 0) own_objects(walk, &all);
  for (uint32_t k = 0; k < all.count && effect == MS_EFFECT_STORE; k++)
    ms_walk_store(walk, &all.values[k]);
  if (calls_back(name, effect)) find_called_back(walk, &all, node);
  bool scalar = effect == MS_EFFECT_PURE || all.simple;
  if (is_extreme(name, node, &all, walk, value)) return;
  *value = scalar ? ms_abstract_value_scalar()
                  : ms_abstract_value_other(
                        all.groups | walk->stored,
                        all.captured || walk->stored_captured || strcmp(name, "getmetatable") == 0);
  if (effect == MS_EFFECT_FRESH) *value = ms_abstract_value_other(0, false);
  if (effect == MS_EFFECT_UNKNOWN)
    *value = ms_abstract_value_other(all.groups | walk->stored, true);
  give_arguments(walk, effect, &all, value);
}

/* A call of a function that is not walked: what is known of it as a whole. */
static void call_whole(ms_walk *walk, const ms_abstract_value *function, const arguments *all,
                       const ms_node *node, ms_abstract_value *value) {
  ms_abstract_value callee = *function;
  const ms_binding *binding = callee.kind == MS_ABSTRACT_VALUE_OTHER && callee.callable
                                  ? &walk->bindings[callee.binding]
                                  : NULL;
  bool reads = binding != NULL && binding->stores_nothing;
  touch_arguments(walk, all, reads ? USE_BY_KIND : USE_WRITE, node);
  /* Given functions and objects, one that only reads may call what does not. */
  reads = reads && all->known;
  ms_walk_record(walk, &callee, false, node);
  if (!reads) ms_walk_record(walk, &callee, true, node);
  if (binding != NULL && binding->stores && all->captured) callee.changes = true;
  if (binding == NULL && gives_outer(walk, all)) callee.changes = true;
  find_changes(walk, &callee, node);
  uint64_t groups = all->groups | ms_walk_groups_of(walk, &callee) | walk->stored;
  *value =
      ms_abstract_value_other(groups, all->captured || callee.captured || walk->stored_captured);
  value->metamethods = callee.metamethods | all->metamethods;
  value->changes = all->changes || callee.changes;
  value->impure = all->impure != NULL ? all->impure : callee.impure;
  ms_walk_add_stored(walk, value);
}

static ms_passed passed_by(const arguments *all, const ms_node *call) {
  const ms_node *last = call->kids > 1 ? call->kid[call->kids - 1] : NULL;
  bool open = last != NULL && all->count > 0 &&
              (last->kind == MS_CALL || last->kind == MS_METHOD || last->kind == MS_VARARG);
  return (ms_passed){all->values, all->count, open};
}

/* A call of what a captured name or field means, with its arguments. */
static void call_function(ms_walk *walk, const ms_abstract_value *callee, const arguments *all,
                          const ms_node *node, ms_abstract_value *value) {
  bool known = callee->kind == MS_ABSTRACT_VALUE_OTHER && callee->callable;
  if (known) ms_walk_find_impure(walk, callee->impure, node);
  ms_passed passed = passed_by(all, node);
  if (known && ms_walk_inline(walk, callee->binding, node, &passed, value)) return;
  call_whole(walk, callee, all, node, value);
}

/* `require`: what it gives for a name that the driver has looked up is as if it were captured. */
static void call_require(ms_walk *walk, const ms_binding *require, ms_node *node,
                         ms_abstract_value *value) {
  const char *name = node->kids == 2 && node->kid[1]->kind == MS_STRING ? node->kid[1]->text : NULL;
  for (uint32_t f = 0; f < require->field_count && name != NULL; f++) {
    if (strcmp(require->fields[f].name, name) != 0) continue;
    const ms_binding *module = &walk->bindings[require->fields[f].binding];
    if (module->globals != NULL) ms_walk_find_globals(walk, module->globals, node);
    ms_walk_find_impure(walk, module->kind == MS_BIND_TABLE ? module->impure : NULL, node);
    ms_walk_binding(walk, require->fields[f].binding, value);
    return;
  }
  ms_walk_find_impure(walk, require->impure, node);
  arguments all = walk_arguments(walk, node, USE_WRITE);
  *value = ms_abstract_value_other(all.groups | walk->stored, true);
  value->changes = all.changes;
  value->impure = all.impure;
  ms_walk_add_stored(walk, value);
}

static void call_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value callee;
  ms_walk_value(walk, node->kid[0], &callee);
  const ms_binding *binding = callee.kind == MS_ABSTRACT_VALUE_OTHER && callee.callable
                                  ? &walk->bindings[callee.binding]
                                  : NULL;
  if (binding != NULL && binding->kind == MS_BIND_BUILTIN && binding->name != NULL &&
      strcmp(binding->name, "require") == 0) {
    call_require(walk, binding, node, value);
    return;
  }
  if (binding != NULL && binding->kind == MS_BIND_BUILTIN && binding->name != NULL) {
    call_builtin(walk, binding->name, node, value);
    return;
  }
  if (callee.kind == MS_ABSTRACT_VALUE_OTHER && callee.literal != NULL) {
    arguments all = evaluate_arguments(walk, node, NULL);
    ms_passed passed = passed_by(&all, node);
    ms_walk_literal(walk, callee.literal, &passed, value);
    return;
  }
  ms_abstract_value event;
  bool table = ms_walk_field(walk, &callee, MS_FIELD_CALL, &event) && event.callable;
  if (!table) ms_walk_event(walk, &callee, MS_EVENT_CALL, node);
  arguments all = evaluate_arguments(walk, node, table ? &callee : NULL);
  call_function(walk, table ? &event : &callee, &all, node, value);
}

static bool known_extent(ms_walk *walk, const ms_abstract_view *view, ms_node *node,
                         ms_abstract_value *value) {
  const ms_binding *binding = &walk->bindings[view->binding];
  ms_abstract_value dim;
  if (strcmp(node->text, "size") != 0 || node->kids != 2 || view->subscript_count > 0) return false;
  ms_walk_value(walk, node->kid[1], &dim);
  if (dim.kind != MS_ABSTRACT_VALUE_NUMBER || !ms_form_is_constant(&dim.form)) return false;
  if (dim.form.constant < 1 || dim.form.constant > binding->dim_count) return false;
  ms_form extent = ms_form_constant(binding->dims[dim.form.constant - 1]);
  *value = ms_abstract_value_number(&extent);
  return true;
}

static void method_of_view(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                           ms_abstract_value *value) {
  ms_effect effect = ms_effect_of_method(node->text, node->kids - 1);
  if (known_extent(walk, object->view, node, value)) return;
  bool unknown = effect == MS_EFFECT_UNKNOWN;
  if (unknown && walk->stranger == NULL && !ms_guard_is_never(walk->guard)) {
    walk->stranger = node;
    walk->stranger_line = ms_walk_place(walk, node)->line;
  }
  arguments all = walk_arguments(walk, node, unknown ? USE_WRITE : USE_READ);
  uint64_t own = ms_walk_groups_of(walk, object);
  *value = effect == MS_EFFECT_PURE
               ? ms_abstract_value_scalar()
               : ms_abstract_value_other(own | all.groups, unknown || all.captured);
  if (effect == MS_EFFECT_FRESH) *value = ms_abstract_value_other(0, false);
  if (effect == MS_EFFECT_VIEW)
    ms_view_part(walk, object->view, node->text, all.values, all.count, value);
  if (effect == MS_EFFECT_VIEW || ms_effect_is_shape(node->text)) return;
  if (unknown) {
    ms_walk_record_groups(walk, own, false, node);
    ms_walk_record_groups(walk, own, true, node);
    return;
  }
  if (effect != MS_EFFECT_WRITE) ms_walk_record_view(walk, object->view, false, node);
  if (effect == MS_EFFECT_WRITE || effect == MS_EFFECT_UPDATE) {
    ms_walk_record_view(walk, object->view, true, node);
    *value = *object; /* they give their receiver */
  }
}

/* A method of something that is neither an array nor known. */
static void method_of_other(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                            ms_abstract_value *value) {
  uint64_t own = ms_walk_groups_of(walk, object);
  bool pure = object->kind != MS_ABSTRACT_VALUE_OTHER ||
              (own == 0 && ms_effect_is_string_method(node->text));
  bool stores_nothing = object->kind == MS_ABSTRACT_VALUE_OTHER && object->stores_nothing;
  if (object->kind != MS_ABSTRACT_VALUE_OTHER || !object->plain)
    ms_walk_find_barred(walk, node->text, node);
  bool changes = ms_effect_changes(node->text);
  if (own != 0 && !object->plain && changes) stores_nothing = false; /* it may be an array */
  arguments all = evaluate_arguments(walk, node, NULL);
  if (walk->space->methods && !all.simple) pure = false;
  if (strcmp(node->text, "gsub") == 0) find_called_back(walk, &all, node);
  touch_arguments(walk, &all, pure ? USE_READ : stores_nothing ? USE_BY_KIND : USE_WRITE, node);
  if (pure) {
    *value =
        all.simple ? ms_abstract_value_scalar() : ms_abstract_value_other(all.groups, all.captured);
    return;
  }
  ms_walk_event(walk, object, MS_EVENT_INDEX, node);
  ms_walk_record_groups(walk, own, false, node);
  if (!stores_nothing || !all.known) ms_walk_record_groups(walk, own, true, node);
  ms_abstract_value called = *object;
  called.changes = called.changes || gives_outer(walk, &all);
  find_changes(walk, &called, node);
  bool array = object->objects != 0 && object->objects != MS_OBJECTS_ELEMENT;
  if (array && changes) ms_walk_find_store(walk, true, object, node);
  *value = ms_abstract_value_other(own | all.groups | walk->stored, true);
  value->metamethods = object->metamethods | all.metamethods;
  value->changes = object->changes || all.changes;
  value->impure = object->impure != NULL ? object->impure : all.impure;
  ms_walk_add_stored(walk, value);
}

/* A method of one view or another, as conditions say; false if the pieces are something else. */
static bool method_of_pieces(ms_walk *walk, const ms_abstract_value *object, ms_node *node,
                             ms_abstract_value *value) {
  const ms_pieces all = ms_pieces_of(object);
  for (uint32_t p = 0; p < all.count; p++) {
    if (all.piece[p].value.kind != MS_ABSTRACT_VALUE_VIEW) return false;
  }
  for (uint32_t p = 0; p < all.count; p++) {
    ms_abstract_value each;
    ms_outside_piece outside = ms_piece_enter(walk, &all, p);
    method_of_view(walk, &all.piece[p].value, node, &each);
    ms_piece_leave(walk, &outside);
    *value = p == 0 ? each : ms_walk_either(walk, value, &each);
  }
  return true;
}

static void method_value(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  ms_abstract_value object, method;
  ms_walk_value(walk, node->kid[0], &object);
  if (method_of_pieces(walk, &object, node, value)) return;
  if (ms_walk_field(walk, &object, node->text, &method) && method.callable &&
      walk->bindings[method.binding].kind == MS_BIND_FUNCTION) {
    arguments all = evaluate_arguments(walk, node, &object);
    call_function(walk, &method, &all, node, value);
  } else {
    method_of_other(walk, &object, node, value);
  }
}

void ms_walk_call(ms_walk *walk, ms_node *node, ms_abstract_value *value) {
  if (node->kind == MS_METHOD) {
    method_value(walk, node, value);
  } else {
    call_value(walk, node, value);
  }
}
