/* SPDX-License-Identifier: MIT
 *
 * Index paths: see index_path.h. */
#include "kernel/emit/index_path.h"

#include <inttypes.h>

#include "kernel/emit/interval.h"

/* The array at the start of a path: a capture that is a dense array of numbers. */
static bool array_base(const ms_emitter *emitter, const ms_node *node, ms_index_path *path) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  if (at == MS_NO_CAPTURE || value != node) return false;
  const ms_binding *binding = &emitter->job->bindings[at];
  if (binding->kind != MS_BIND_ARRAY || binding->sparse ||
      emitter->job->loop->captures[at].assigned)
    return false;
  if (emitter->job->elements[at].type == MS_OBJECT) return false;
  *path = (ms_index_path){.array = at};
  return true;
}

static bool local_base(const ms_emitter *emitter, const ms_node *node, ms_index_path *path) {
  if (node->kind != MS_NAME || node->symbol == NULL) return false;
  const ms_local_view *view = emitter->views[node->symbol->index];
  if (view == NULL || !view->live) return false;
  *path = (ms_index_path){.array = view->array, .local = node, .given = view->given};
  return true;
}

static bool loop_variable(const ms_emitter *emitter, const ms_node *node) {
  const ms_symbol *symbol = node->kind == MS_NAME ? node->symbol : NULL;
  if (symbol == NULL || symbol->assigned) return false;
  for (uint32_t d = 0; d < emitter->dims; d++) {
    if (emitter->indices[d] == symbol) return true;
  }
  return symbol->declaration != NULL && symbol->declaration->kind == MS_FOR_NUMERIC;
}

static bool captured_number(const ms_emitter *emitter, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  return at != MS_NO_CAPTURE && value == node &&
         emitter->job->bindings[at].kind == MS_BIND_NUMBER &&
         !emitter->job->loop->captures[at].assigned;
}

/* Whether an expression of A[{...}] can only be a number: a table there would be a range. */
static bool numeric(const ms_emitter *emitter, const ms_node *node) {
  if (node->kind == MS_PAREN) return numeric(emitter, node->kid[0]);
  return node->kind == MS_NUMBER || (node->kind == MS_BINARY && node->op <= MS_OP_POW) ||
         loop_variable(emitter, node) || captured_number(emitter, node) ||
         ms_interval_of(emitter, node).known;
}

/* Whether a check may come before something else that may fail: all of a list is evaluated first.
 */
static bool out_of_order(const ms_emitter *emitter, const ms_index_path *path) {
  bool checked = false;
  for (uint32_t k = 0; path->listed && k < path->count; k++) {
    if (path->held[k] != NULL) continue;
    if (checked && ms_emitter_may_fail(emitter, path->subscript[k])) return true;
    checked = checked || !ms_index_path_proved(emitter, path, k);
  }
  return false;
}

/* Most subscripts of a list that a helper checks. */
#define LISTED 3

/* The subscripts of A[{i, k}]: all of them, none a range. */
static bool add_list(const ms_emitter *emitter, const ms_node *table, ms_index_path *path) {
  uint32_t dims = emitter->job->bindings[path->array].dim_count;
  if (path->count > 0 || table->kids != dims - path->given) return false;
  for (uint32_t f = 0; f < table->kids; f++) {
    const ms_node *field = table->kid[f];
    if (field->kid[0] != NULL || ms_node_is_multiple(field->kid[1]) ||
        !numeric(emitter, field->kid[1]))
      return false;
    path->subscript[path->count++] = field->kid[1];
  }
  path->listed = true;
  return path->count <= LISTED || !out_of_order(emitter, path);
}

/* How far declarations are followed. */
#define MAX_DEPTH 8

/* How many levels of tables there are in the value of a captured path or of its part, itself the
 * outermost, and 1 more; 0: not known. */
static uint32_t levels(const ms_emitter *emitter, const ms_node *node) {
  const ms_node *value;
  while (node->kind == MS_PAREN) node = node->kid[0];
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  if (at != MS_NO_CAPTURE && value == node) {
    const ms_binding *binding = &emitter->job->bindings[at];
    if (binding->kind != MS_BIND_TABLE) return 0;
    return binding->levels < 2 ? 2 : binding->levels;
  }
  uint32_t whole = node->kind == MS_INDEX ? levels(emitter, node->kid[0]) : 0;
  return whole > 1 ? whole - 1 : whole;
}

/* Whether a key is a table as far as can be seen from here, which is a range or several subscripts:
 * what it leads to is left to the arrays' own face. */
static bool is_table(const ms_emitter *emitter, const ms_node *key, uint32_t depth) {
  if (depth > MAX_DEPTH) return false;
  if (key->kind == MS_PAREN) return is_table(emitter, key->kid[0], depth + 1);
  if (key->kind == MS_TABLE || levels(emitter, key) > 1) return true;
  if (key->kind == MS_BINARY && (key->op == MS_OP_AND || key->op == MS_OP_OR))
    return is_table(emitter, key->kid[0], depth + 1) || is_table(emitter, key->kid[1], depth + 1);
  const ms_symbol *symbol = key->kind == MS_NAME ? key->symbol : NULL;
  if (symbol == NULL || symbol->assigned || symbol->declaration == NULL) return false;
  const ms_node *from = symbol->declaration;
  for (uint32_t v = 0; from->kind == MS_LOCAL && v < from->symbol_count && v < from->kids; v++) {
    if (from->symbols[v] == symbol) return is_table(emitter, from->kid[v], depth + 1);
  }
  return false;
}

bool ms_index_path_of(const ms_emitter *emitter, const ms_node *node, ms_index_path *path) {
  if (local_base(emitter, node, path) || array_base(emitter, node, path)) return true;
  if (node->kind != MS_INDEX || node->dotted) return false;
  if (!ms_index_path_of(emitter, node->kid[0], path) || path->listed) return false;
  const ms_node *key = node->kid[1];
  if (key->kind == MS_TABLE) return add_list(emitter, key, path);
  if (key->kind == MS_STRING || key->kind == MS_FUNCTION || is_table(emitter, key, 0)) return false;
  if (path->given + path->count >= emitter->job->bindings[path->array].dim_count) return false;
  path->subscript[path->count++] = key;
  return true;
}

bool ms_index_path_element(const ms_emitter *emitter, const ms_index_path *path) {
  return path->given + path->count == emitter->job->bindings[path->array].dim_count;
}

bool ms_index_path_row(const ms_emitter *emitter, const ms_index_path *path) {
  return path->given + path->count + 1 == emitter->job->bindings[path->array].dim_count;
}

bool ms_index_path_proved(const ms_emitter *emitter, const ms_index_path *path, uint32_t at) {
  ms_interval range = ms_interval_of(emitter, path->subscript[at]);
  int64_t extent = emitter->job->bindings[path->array].dims[path->given + at];
  return !emitter->job->general && range.known && range.lo >= 1 && range.hi <= extent;
}

/* One subscript, checked unless it cannot be wrong. */
static void subscript(ms_emitter *emitter, const ms_index_path *path, uint32_t at) {
  const ms_node *node = path->subscript[at];
  uint32_t dim = path->given + at;
  if (path->held[at] == NULL && ms_index_path_proved(emitter, path, at)) {
    bool simple = node->kind == MS_NAME || node->kind == MS_NUMBER || node->kind == MS_PAREN;
    if (!simple) ms_text_add(emitter->out, "(");
    ms_emitter_node(emitter, node);
    if (!simple) ms_text_add(emitter->out, ")");
    return;
  }
  ms_emitter_helper(emitter, MS_HELPER_CHECK);
  ms_text_add(emitter->out, "(");
  if (path->held[at] != NULL) {
    ms_text_add(emitter->out, path->held[at]);
  } else {
    ms_emitter_node(emitter, node);
  }
  ms_text_add(emitter->out, ",");
  ms_emitter_extent(emitter, path->array, dim);
  ms_text_format(emitter->out, ",%u,%u", dim + 1, path->array + 1);
  if (path->late) ms_text_format(emitter->out, ",%u", node->line);
  ms_text_add(emitter->out, ")");
}

/* The sum of a list's subscripts, each times its stride, by a helper that checks them once all are
 * evaluated. */
static void listed(ms_emitter *emitter, const ms_index_path *path) {
  ms_emitter_helper(emitter, path->count == 2 ? MS_HELPER_PAIR : MS_HELPER_TRIPLE);
  ms_text_format(emitter->out, "(%u,%u", path->array + 1, path->given + 1);
  for (uint32_t s = 0; s < path->count; s++) {
    ms_text_add(emitter->out, ",");
    ms_emitter_node(emitter, path->subscript[s]);
  }
  for (uint32_t s = 0; s < path->count; s++) {
    uint32_t dim = path->given + s;
    ms_text_add(emitter->out, ",");
    ms_emitter_extent(emitter, path->array, dim);
    ms_text_add(emitter->out, ",");
    ms_emitter_stride(emitter, path->array, dim);
  }
  ms_text_add(emitter->out, ")");
}

/* One stride, subtracted or added, in every dimension of [from, to). */
static void whole_strides(ms_emitter *emitter, uint32_t array, char sign, uint32_t from,
                          uint32_t to) {
  if (!ms_emitter_row_major(emitter, array) || emitter->job->general) {
    for (uint32_t d = from; d < to; d++) {
      ms_text_format(emitter->out, "%c", sign);
      ms_emitter_stride(emitter, array, d);
    }
    return;
  }
  int64_t sum = 0;
  for (uint32_t d = from; d < to; d++) sum += emitter->job->elements[array].strides[d];
  if (sum != 0) ms_text_format(emitter->out, "%c%" PRId64, sign, sum);
}

static void subscripts(ms_emitter *emitter, const ms_index_path *path, bool starts) {
  bool whole = ms_index_path_element(emitter, path);
  if (out_of_order(emitter, path)) {
    if (!starts) ms_text_add(emitter->out, "+");
    listed(emitter, path);
    return;
  }
  for (uint32_t s = 0; s < path->count; s++) {
    if (s > 0 || !starts) ms_text_add(emitter->out, "+");
    subscript(emitter, path, s);
    if (whole && s + 1 == path->count && ms_emitter_row_major(emitter, path->array)) break;
    ms_text_add(emitter->out, "*");
    ms_emitter_stride(emitter, path->array, path->given + s);
  }
}

void ms_index_path_offset(ms_emitter *emitter, const ms_index_path *path, bool first) {
  uint32_t dims = emitter->job->bindings[path->array].dim_count;
  uint32_t known = path->given + path->count;
  bool whole = path->local == NULL && path->base == NULL; /* from element [1]...[1] on */
  if (path->base != NULL) {
    ms_text_add(emitter->out, path->base);
  } else if (path->local != NULL) {
    ms_emitter_node(emitter, path->local);
  }
  subscripts(emitter, path, whole);
  if (first) {
    if (whole) whole_strides(emitter, path->array, '-', 0, known);
    if (!whole) whole_strides(emitter, path->array, '+', known, dims);
  } else if (whole) {
    whole_strides(emitter, path->array, '-', 0, dims);
  }
  if (whole && path->count == 0 && first) ms_text_add(emitter->out, "0");
}

/* Whether the expression's value is used as an object, as no number is: the key that it ends with
 * is a range, if all goes well. */
static bool is_object(const ms_node *node) {
  const ms_node *use = node->parent;
  while (use != NULL && use->kind == MS_PAREN) {
    node = use;
    use = use->parent;
  }
  return use != NULL && (use->kind == MS_METHOD || use->kind == MS_INDEX) && use->kid[0] == node;
}

bool ms_index_path_direct(const ms_emitter *emitter, const ms_node *node, ms_index_path *path) {
  return node->kind == MS_INDEX && !ms_emitter_blocked(emitter, node) && !is_object(node) &&
         ms_index_path_of(emitter, node, path) && ms_index_path_element(emitter, path);
}

void ms_index_path_place(ms_emitter *emitter, const ms_index_path *path) {
  ms_emitter_pointer(emitter, path->array);
  ms_text_add(emitter->out, "[");
  ms_index_path_offset(emitter, path, true);
  ms_text_add(emitter->out, "]");
}

void ms_index_path_target(ms_emitter *emitter, const ms_index_path *path) {
  if (!emitter->job->elements[path->array].touched) {
    ms_index_path_place(emitter, path);
    return;
  }
  ms_emitter_pointer(emitter, path->array);
  ms_text_add(emitter->out, "[");
  ms_emitter_helper(emitter, MS_HELPER_TOUCH);
  ms_text_add(emitter->out, "(");
  ms_emitter_touched(emitter, path->array);
  ms_text_add(emitter->out, ",");
  ms_index_path_offset(emitter, path, true);
  ms_text_add(emitter->out, ")]");
}

/* Whether reading an element cannot fail. */
static bool safe_element(const ms_emitter *emitter, const ms_node *node) {
  ms_index_path path;
  if (!ms_index_path_direct(emitter, node, &path)) return false;
  if (emitter->job->elements[path.array].type == MS_INT64) return false;
  for (uint32_t s = 0; s < path.count; s++) {
    if (!ms_index_path_proved(emitter, &path, s)) return false;
  }
  return true;
}

/* Whether an expression that does not fail gives a number. */
static bool number(const ms_emitter *emitter, const ms_node *node, uint32_t depth) {
  ms_index_path path;
  if (depth > MAX_DEPTH) return false;
  if (node->kind == MS_PAREN) return number(emitter, node->kid[0], depth + 1);
  if (node->kind == MS_NUMBER) return !node->boxed;
  if (node->kind == MS_BINARY) return node->op <= MS_OP_POW;
  if (node->kind == MS_UNARY) return node->op != MS_OP_NOT;
  if (loop_variable(emitter, node) || captured_number(emitter, node)) return true;
  if (ms_index_path_direct(emitter, node, &path)) return true;
  const ms_symbol *symbol = node->kind == MS_NAME ? node->symbol : NULL;
  if (symbol == NULL || symbol->assigned || symbol->declaration == NULL) return false;
  const ms_node *from = symbol->declaration;
  for (uint32_t v = 0; from->kind == MS_LOCAL && v < from->symbol_count && v < from->kids; v++) {
    if (from->symbols[v] == symbol) return number(emitter, from->kid[v], depth + 1);
  }
  return false;
}

bool ms_emitter_may_fail(const ms_emitter *emitter, const ms_node *node) {
  const ms_node *value;
  switch (node->kind) {
    case MS_NIL:
    case MS_TRUE:
    case MS_FALSE:
    case MS_NUMBER:
    case MS_STRING:
    case MS_NAME:
    case MS_FUNCTION:
      return false;
    case MS_PAREN:
      return ms_emitter_may_fail(emitter, node->kid[0]);
    case MS_INDEX:
      if (ms_emitter_capture(emitter, node, &value) != MS_NO_CAPTURE && value == node) return false;
      return !safe_element(emitter, node);
    case MS_UNARY:
      if (node->op == MS_OP_LEN || ms_emitter_may_fail(emitter, node->kid[0])) return true;
      return node->op == MS_OP_NEG && !number(emitter, node->kid[0], 0);
    case MS_BINARY:
      if (ms_emitter_may_fail(emitter, node->kid[0]) || ms_emitter_may_fail(emitter, node->kid[1]))
        return true;
      if (node->op >= MS_OP_AND || node->op == MS_OP_EQ || node->op == MS_OP_NE) return false;
      return !number(emitter, node->kid[0], 0) || !number(emitter, node->kid[1], 0);
    default:
      return true;
  }
}

bool ms_assign_direct(const ms_node *assign, uint32_t at) {
  uint32_t values = assign->kids - assign->targets;
  if (at >= values) return false;
  /* Wrapping the last call would cut its further values off from further targets. */
  return at + 1 < values || assign->targets <= values ||
         !ms_node_is_multiple(assign->kid[assign->targets + at]);
}
