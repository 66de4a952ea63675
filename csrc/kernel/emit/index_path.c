/* SPDX-License-Identifier: MIT
 *
 * Index paths: see index_path.h. */
#include "kernel/emit/index_path.h"

#include <inttypes.h>

#include "kernel/emit/interval.h"
#include "kernel/emit/key_type.h"

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

/* Whether a check may come before something else that may fail: all of a list is evaluated first.
 */
static bool out_of_order(const ms_emitter *emitter, const ms_index_path *path) {
  bool checked = false;
  for (uint32_t k = 0; path->listed && k < path->count; k++) {
    if (path->held[k] != NULL) continue;
    if (checked && ms_index_path_may_fail(emitter, path->subscript[k])) return true;
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
        ms_key_type_may_be_table(emitter, field->kid[1]))
      return false;
    path->subscript[path->count++] = field->kid[1];
  }
  path->listed = true;
  return path->count <= LISTED || !out_of_order(emitter, path);
}

bool ms_index_path_of(const ms_emitter *emitter, const ms_node *node, ms_index_path *path) {
  if (ms_emitter_is_reread(emitter, node)) return false;
  if (local_base(emitter, node, path) || array_base(emitter, node, path)) return true;
  if (node->kind != MS_INDEX || node->dotted) return false;
  if (!ms_index_path_of(emitter, node->kid[0], path) || path->listed) return false;
  const ms_node *key = node->kid[1];
  if (key->kind == MS_TABLE) return add_list(emitter, key, path);
  if (key->kind == MS_STRING || key->kind == MS_FUNCTION) return false;
  if (path->given + path->count >= emitter->job->bindings[path->array].dim_count) return false;
  path->subscript[path->count++] = key;
  path->doubtful = path->doubtful || ms_key_type_may_be_table(emitter, key);
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

/* Whether the expression is an operand of what only numbers have: a part of an array fails there.
 */
static bool is_computed_with(const ms_node *node) {
  const ms_node *use = node->parent;
  for (; use != NULL && use->kind == MS_PAREN; use = use->parent) node = use;
  if (use == NULL) return false;
  if (use->kind == MS_UNARY) return use->op == MS_OP_NEG;
  if (use->kind == MS_FOR_NUMERIC) return node->ordinal < 3;
  return use->kind == MS_BINARY &&
         (use->op <= MS_OP_POW || (use->op >= MS_OP_LT && use->op <= MS_OP_GE));
}

bool ms_index_path_direct(const ms_emitter *emitter, const ms_node *node, ms_index_path *path) {
  if (node->kind != MS_INDEX || ms_emitter_blocked(emitter, node)) return false;
  if (!ms_index_path_of(emitter, node, path) || !ms_index_path_element(emitter, path)) return false;
  return !path->doubtful || is_computed_with(node);
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

bool ms_index_path_may_fail(const ms_emitter *emitter, const ms_node *node) {
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
      return ms_index_path_may_fail(emitter, node->kid[0]);
    case MS_INDEX:
      if (ms_emitter_capture(emitter, node, &value) != MS_NO_CAPTURE && value == node) return false;
      return !safe_element(emitter, node);
    case MS_UNARY:
      if (node->op == MS_OP_LEN || ms_index_path_may_fail(emitter, node->kid[0])) return true;
      return node->op == MS_OP_NEG && !ms_key_type_is_number(emitter, node->kid[0]);
    case MS_BINARY:
      if (ms_index_path_may_fail(emitter, node->kid[0]) ||
          ms_index_path_may_fail(emitter, node->kid[1]))
        return true;
      if (node->op >= MS_OP_AND || node->op == MS_OP_EQ || node->op == MS_OP_NE) return false;
      return !ms_key_type_is_number(emitter, node->kid[0]) ||
             !ms_key_type_is_number(emitter, node->kid[1]);
    default:
      return true;
  }
}

bool ms_index_path_stores_direct(const ms_node *assign, uint32_t at) {
  uint32_t values = assign->kids - assign->targets;
  if (at >= values) return false;
  /* Wrapping the last call would cut its further values off from further targets. */
  return at + 1 < values || assign->targets <= values ||
         !ms_node_is_multiple(assign->kid[assign->targets + at]);
}
