/* SPDX-License-Identifier: MIT
 *
 * Own objects: see own_object.h. */
#include "depend/own_object.h"

#include <string.h>

#include "depend/effect.h"
#include "depend/evaluate.h"

/* A table, or an array of objects: no function. */
static bool is_method(const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_OTHER && !value->plain_data && value->objects == 0;
}

static bool is_number(const ms_node *key) {
  return key->kind == MS_NUMBER || (key->kind == MS_BINARY && key->op <= MS_OP_POW) ||
         (key->kind == MS_UNARY && key->op != MS_OP_NOT);
}

static bool is_stored(const ms_walk *walk, const char *name) {
  const ms_own_methods *own = &walk->own;
  for (uint32_t k = 0; k < own->name_count; k++) {
    if (strcmp(own->name[k], name) == 0) return true;
  }
  return own->any;
}

void ms_own_object_store(ms_walk *walk, const ms_node *key, const ms_abstract_value *value) {
  ms_own_methods *own = &walk->own;
  if (!is_method(value) || (key != NULL && is_number(key))) return;
  bool named = key != NULL && key->kind == MS_STRING;
  if (own->any || (named && is_stored(walk, key->text))) return;
  walk->changed = true;
  if (named && own->name_count < MS_OWN_NAMES)
    own->name[own->name_count++] = key->text;
  else
    own->any = true;
}

/* A captured class whose methods store into nothing but objects, and what they are given. */
static bool is_class(const ms_walk *walk, const ms_abstract_value *value) {
  if (value->kind != MS_ABSTRACT_VALUE_OTHER || !value->exact) return false;
  const ms_binding *binding = &walk->bindings[value->binding];
  return binding->class && binding->kept;
}

static void add_class(ms_walk *walk, const ms_abstract_value *class) {
  ms_own_methods *own = &walk->own;
  bool known = is_class(walk, class);
  for (uint32_t k = 0; known && k < own->class_count; k++) {
    if (own->class[k] == class->binding) return;
  }
  if (own->strange) return;
  walk->changed = true;
  if (known && own->class_count < MS_OWN_CLASSES)
    own->class[own->class_count++] = class->binding;
  else
    own->strange = true;
}

void ms_own_object_strange(ms_walk *walk) {
  walk->changed = walk->changed || !walk->own.strange;
  walk->own.strange = true;
}

void ms_own_object_make(ms_walk *walk, const ms_node *call, const ms_arguments *all,
                        ms_abstract_value *value) {
  if (call->kids != 3 || all->count != 2) {
    ms_own_object_strange(walk);
    return;
  }
  const ms_abstract_value *class = &all->values[1];
  bool made = ms_node_bare(call->kid[1])->kind == MS_TABLE;
  add_class(walk, class);
  if (!made) {
    walk->changed = walk->changed || !walk->own.again;
    walk->own.again = true;
  }
  if (!made || value->kind != MS_ABSTRACT_VALUE_OTHER || !is_class(walk, class)) return;
  const uint32_t looks = MS_EVENT_INDEX | MS_EVENT_ASSIGN;
  if ((class->metamethods & (looks | looks << MS_EVENT_CHANGES)) != 0) return;
  value->class = class->binding + 1;
  value->plain = true;
}

bool ms_own_object_method(ms_walk *walk, const ms_abstract_value *object, const char *name,
                          ms_abstract_value *method) {
  if (object->kind != MS_ABSTRACT_VALUE_OTHER || object->class == 0) return false;
  if (walk->own.strange || walk->own.again || is_stored(walk, name)) return false;
  ms_abstract_value class;
  ms_evaluate_binding(walk, object->class - 1, &class);
  return ms_evaluate_field(walk, &class, name, method) && method->callable &&
         walk->bindings[method->binding].kind == MS_BIND_FUNCTION;
}

bool ms_own_object_is_array(ms_walk *walk, const ms_abstract_value *object, const char *name) {
  if (object->kind != MS_ABSTRACT_VALUE_OTHER || object->captured || object->class != 0)
    return false;
  if (object->plain || object->objects != 0 || object->callable || object->literal != NULL)
    return false;
  if (walk->own.strange || is_stored(walk, name)) return false;
  for (uint32_t k = 0; k < walk->own.class_count; k++) {
    ms_abstract_value class, field;
    ms_evaluate_binding(walk, walk->own.class[k], &class);
    if (ms_evaluate_field(walk, &class, name, &field)) return false;
  }
  return true;
}
