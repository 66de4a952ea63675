/* SPDX-License-Identifier: MIT
 *
 * Inspectors, taints: what expressions depend on. See inspector.h. */
#include <string.h>

#include "depend/capture_path.h"
#include "depend/effect.h"
#include "depend/inspector_state.h"
#include "depend/subscript.h"

static int32_t candidate_of(const ms_inspector *inspector, uint32_t binding) {
  const ms_binding *bindings = inspector->walk->bindings;
  for (uint32_t k = 0; k < inspector->count; k++) {
    bool same = bindings[inspector->binding[k]].array == bindings[binding].array;
    if (same && (inspector->served >> k & 1) != 0) return (int32_t)k;
  }
  return -1;
}

static ms_taint bit_of(int32_t candidate) {
  return (ms_taint)1 << candidate;
}

/* What the array's elements are is not known before the loop runs. */
static bool is_written(const ms_inspector *inspector, uint32_t binding) {
  const ms_walk *walk = inspector->walk;
  const ms_binding *about = &walk->bindings[binding];
  if (about->buffers != 0 || about->scratch || walk->sliced[binding]) return true;
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    if (access->write && access->group == walk->groups.of[binding]) return true;
  }
  return false;
}

static ms_taint array_taint(const ms_inspector *inspector, const ms_array_path *path) {
  if (path->candidate >= 0) return bit_of(path->candidate);
  return is_written(inspector, path->binding) ? MS_TAINT_UNKNOWN : 0;
}

/* ---- paths ---- */

static const ms_abstract_view *view_of(const ms_inspector *inspector, const ms_symbol *symbol) {
  const ms_abstract_value *value =
      symbol == NULL ? NULL : inspector->walk->symbol_value[symbol->index];
  return value != NULL && value->kind == MS_ABSTRACT_VALUE_VIEW ? value->view : NULL;
}

bool ms_inspector_is_view(const ms_inspector *inspector, const ms_symbol *symbol) {
  const ms_abstract_view *view = view_of(inspector, symbol);
  return view != NULL && candidate_of(inspector, view->binding) >= 0;
}

static bool start_path(const ms_inspector *inspector, const ms_node *node, ms_array_path *path) {
  const ms_walk *walk = inspector->walk;
  int64_t capture = ms_capture_path_of(walk->loop, node);
  *path = (ms_array_path){.candidate = -1};
  if (capture >= 0) {
    const ms_binding *binding = &walk->bindings[capture];
    bool whole = binding->depth == walk->loop->captures[capture].field_count;
    if (binding->kind != MS_BIND_ARRAY || !whole) return false;
    path->binding = (uint32_t)capture;
  } else {
    const ms_abstract_view *view = node->kind == MS_NAME ? view_of(inspector, node->symbol) : NULL;
    if (view == NULL) return false;
    path->binding = view->binding;
    path->subscripts = view->subscript_count;
    path->range = view->range || view->open != NULL;
  }
  path->candidate = candidate_of(inspector, path->binding);
  return true;
}

/* Whether a key is a range, or, where marks must be of elements, may be one. */
static bool is_range(const ms_inspector *inspector, const ms_node *key) {
  bool marks = inspector->form <= MS_INSPECT_WRITES; /* a range of marks is as good */
  return key->kind == MS_TABLE || (!marks && ms_subscript_is_table_key(inspector->walk, key));
}

bool ms_inspector_path(const ms_inspector *inspector, const ms_node *node, ms_array_path *path) {
  if (start_path(inspector, node, path)) return true;
  if (node->kind == MS_PAREN) return ms_inspector_path(inspector, node->kid[0], path);
  if (node->kind != MS_INDEX || !ms_inspector_path(inspector, node->kid[0], path)) return false;
  const ms_node *key = node->kid[1];
  path->subscripts += key->kind == MS_TABLE ? key->kids : 1;
  if (key->kind != MS_TABLE) path->range = path->range || is_range(inspector, key);
  for (uint32_t k = 0; key->kind == MS_TABLE && k < key->kids; k++)
    path->range = path->range || is_range(inspector, key->kid[k]->kid[1]);
  return true;
}

ms_taint ms_inspector_place(const ms_inspector *inspector, const ms_node *node) {
  if (node->kind == MS_PAREN) return ms_inspector_place(inspector, node->kid[0]);
  ms_array_path path;
  if (start_path(inspector, node, &path)) {
    return node->kind == MS_NAME && view_of(inspector, node->symbol) != NULL
               ? inspector->taint[node->symbol->index]
               : 0;
  }
  if (node->kind != MS_INDEX) return MS_TAINT_UNKNOWN;
  ms_taint taint = ms_inspector_place(inspector, node->kid[0]);
  const ms_node *key = node->kid[1];
  if (key->kind != MS_TABLE) return taint | ms_inspector_taint(inspector, key);
  for (uint32_t k = 0; k < key->kids; k++)
    taint |= ms_inspector_taint(inspector, key->kid[k]->kid[1]);
  return taint;
}

/* ---- names ---- */

static ms_taint capture_taint(const ms_inspector *inspector, uint32_t capture) {
  const ms_walk *walk = inspector->walk;
  const ms_binding *binding = &walk->bindings[capture];
  if (walk->loop->captures[capture].assigned) return MS_TAINT_UNKNOWN;
  if (binding->kind <= MS_BIND_STRING) return 0;
  bool data = binding->kind == MS_BIND_TABLE && binding->plain_data && !walk->sliced[capture] &&
              (binding->metamethods & MS_EVENT_INDEX) == 0;
  return data ? 0 : MS_TAINT_UNKNOWN;
}

/* A variable of the loop: an index, or the value of an entry. */
static ms_taint index_taint(const ms_inspector *inspector, uint32_t k) {
  const ms_walk *walk = inspector->walk;
  const ms_symbol *symbol = walk->loop->indices[k];
  ms_taint taint = symbol->assigned ? inspector->taint[symbol->index] : 0;
  if (k < walk->space->dim_count || walk->space->source < 0) return taint;
  uint32_t source = (uint32_t)walk->space->source;
  bool known = source < walk->binding_count && walk->groups.of[source] != MS_NO_GROUP;
  return known && is_written(inspector, source) ? MS_TAINT_UNKNOWN : taint;
}

static ms_taint name_taint(const ms_inspector *inspector, const ms_node *node) {
  const ms_walk *walk = inspector->walk;
  int64_t capture = ms_capture_path_of(walk->loop, node);
  if (capture >= 0) return capture_taint(inspector, (uint32_t)capture);
  if (node->symbol == NULL) return MS_TAINT_UNKNOWN;
  for (uint32_t k = 0; k < walk->loop->index_count; k++) {
    if (walk->loop->indices[k] == node->symbol) return index_taint(inspector, k);
  }
  return inspector->taint[node->symbol->index];
}

/* ---- calls ---- */

static ms_taint arguments_taint(const ms_inspector *inspector, const ms_node *call) {
  ms_taint taint = 0;
  for (uint32_t k = 1; k < call->kids; k++) taint |= ms_inspector_taint(inspector, call->kid[k]);
  return taint;
}

/* The builtin gives what its arguments say, and nothing else happens. */
static bool is_plain_builtin(const char *name) {
  static const char *const others[] = {"ipairs", "pairs", "unpack"};
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    if (strcmp(others[k], name) == 0) return true;
  }
  return ms_effect_is_function(name);
}

/* A captured function that does nothing but compute from its arguments and from arrays that the
 * loop does not write. */
static bool is_plain_function(const ms_inspector *inspector, const ms_binding *binding) {
  bool plain = binding->stores_nothing && !binding->draws && !binding->changes &&
               !binding->stores && binding->impure == NULL;
  for (uint32_t k = 0; plain && k < binding->reached_count; k++) {
    uint32_t reached = binding->reached[k];
    plain = reached < inspector->walk->binding_count && !is_written(inspector, reached);
  }
  return plain;
}

static ms_taint call_taint(const ms_inspector *inspector, const ms_node *node) {
  const ms_walk *walk = inspector->walk;
  int64_t capture = ms_capture_path_of(walk->loop, node->kid[0]);
  if (capture < 0 || walk->loop->captures[capture].assigned) return MS_TAINT_UNKNOWN;
  const ms_binding *binding = &walk->bindings[capture];
  bool whole = binding->depth == walk->loop->captures[capture].field_count;
  bool plain = false;
  ms_taint taint = arguments_taint(inspector, node);
  if (binding->kind == MS_BIND_BUILTIN && binding->name != NULL && !binding->draws) {
    plain = is_plain_builtin(binding->name);
  } else if (binding->kind == MS_BIND_FUNCTION) {
    plain = is_plain_function(inspector, binding);
    taint |= inspector->control; /* called where the body would not, it might never return */
  }
  return whole && plain ? taint : MS_TAINT_UNKNOWN;
}

static ms_taint method_taint(const ms_inspector *inspector, const ms_node *node) {
  ms_array_path path;
  ms_taint arguments = arguments_taint(inspector, node);
  if (!ms_inspector_path(inspector, node->kid[0], &path)) {
    bool string = ms_effect_is_string_method(node->text);
    return string ? arguments | ms_inspector_taint(inspector, node->kid[0]) : MS_TAINT_UNKNOWN;
  }
  ms_taint place = ms_inspector_place(inspector, node->kid[0]) | arguments;
  if (ms_effect_is_shape(node->text)) return place;
  bool known = ms_effect_of_method(node->text, node->kids - 1) == MS_EFFECT_PURE ||
               ms_effect_of_method(node->text, node->kids - 1) == MS_EFFECT_VIEW ||
               strcmp(node->text, "nonzeros") == 0;
  return known ? place | array_taint(inspector, &path) : MS_TAINT_UNKNOWN;
}

/* ---- expressions ---- */

ms_taint ms_inspector_taint(const ms_inspector *inspector, const ms_node *node) {
  ms_array_path path;
  switch (node->kind) {
    case MS_NIL:
    case MS_TRUE:
    case MS_FALSE:
    case MS_NUMBER:
    case MS_STRING:
      return 0;
    case MS_NAME:
    case MS_INDEX:
      if (ms_inspector_path(inspector, node, &path))
        return array_taint(inspector, &path) | ms_inspector_place(inspector, node);
      if (node->kind == MS_NAME || ms_capture_path_of(inspector->walk->loop, node) >= 0)
        return name_taint(inspector, node);
      return ms_inspector_taint(inspector, node->kid[0]) |
             ms_inspector_taint(inspector, node->kid[1]);
    case MS_CALL:
      return call_taint(inspector, node);
    case MS_METHOD:
      return method_taint(inspector, node);
    case MS_BINARY:
      return ms_inspector_taint(inspector, node->kid[0]) |
             ms_inspector_taint(inspector, node->kid[1]);
    case MS_UNARY:
    case MS_PAREN:
      return ms_inspector_taint(inspector, node->kid[0]);
    default: /* functions, tables, varargs */
      return MS_TAINT_UNKNOWN;
  }
}

ms_taint ms_inspector_bounds(const ms_inspector *inspector, const ms_node *loop) {
  ms_taint taint = 0;
  uint32_t first = loop->kind == MS_REPEAT ? 1 : 0;
  uint32_t end = loop->kind == MS_WHILE || loop->kind == MS_REPEAT ? first + 1 : loop->kids - 1;
  for (uint32_t k = first; k < end; k++) {
    if (loop->kid[k] != NULL) taint |= ms_inspector_taint(inspector, loop->kid[k]);
  }
  return taint;
}
