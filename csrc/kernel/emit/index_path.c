/* SPDX-License-Identifier: MIT
 *
 * Index paths: see index_path.h. */
#include "kernel/emit/index_path.h"

#include <inttypes.h>

#include "kernel/emit/interval.h"

/* The array at the start of a chain: a capture that is a dense array of numbers. */
static bool array_base(const ms_emitter *draft, const ms_node *node, ms_index_path *chain) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(draft, node, &value);
  if (at == MS_NO_CAPTURE || value != node) return false;
  const ms_binding *binding = &draft->job->bindings[at];
  if (binding->kind != MS_BIND_ARRAY || binding->sparse || draft->job->loop->captures[at].assigned)
    return false;
  if (draft->job->elements[at].type == MS_OBJECT) return false;
  *chain = (ms_index_path){.array = at};
  return true;
}

static bool local_base(const ms_emitter *draft, const ms_node *node, ms_index_path *chain) {
  if (node->kind != MS_NAME || node->symbol == NULL) return false;
  const ms_local_view *view = draft->views[node->symbol->index];
  if (view == NULL || !view->live) return false;
  *chain = (ms_index_path){.array = view->array, .local = node, .given = view->given};
  return true;
}

static bool multiple(const ms_node *node) {
  return node->kind == MS_CALL || node->kind == MS_METHOD || node->kind == MS_VARARG;
}

static bool loop_variable(const ms_emitter *draft, const ms_node *node) {
  const ms_symbol *symbol = node->kind == MS_NAME ? node->symbol : NULL;
  if (symbol == NULL || symbol->assigned) return false;
  for (uint32_t d = 0; d < draft->dims; d++) {
    if (draft->indices[d] == symbol) return true;
  }
  return symbol->declaration != NULL && symbol->declaration->kind == MS_FOR_NUMERIC;
}

static bool captured_number(const ms_emitter *draft, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(draft, node, &value);
  return at != MS_NO_CAPTURE && value == node && draft->job->bindings[at].kind == MS_BIND_NUMBER &&
         !draft->job->loop->captures[at].assigned;
}

/* Whether an expression of A[{...}] can only be a number: a table there would be a range. */
static bool numeric(const ms_emitter *draft, const ms_node *node) {
  if (node->kind == MS_PAREN) return numeric(draft, node->kid[0]);
  return node->kind == MS_NUMBER || (node->kind == MS_BINARY && node->op <= MS_OP_POW) ||
         loop_variable(draft, node) || captured_number(draft, node) ||
         ms_interval_of(draft, node).known;
}

/* Whether a check may come before something else that may fail: all of a list is evaluated first.
 */
static bool out_of_order(const ms_emitter *draft, const ms_index_path *chain) {
  bool checked = false;
  for (uint32_t k = 0; chain->listed && k < chain->count; k++) {
    if (chain->held[k] != NULL) continue;
    if (checked && ms_emitter_may_fail(draft, chain->subscript[k])) return true;
    checked = checked || !ms_index_path_proved(draft, chain, k);
  }
  return false;
}

/* Most subscripts of a list that a helper checks. */
#define LISTED 3

/* The subscripts of A[{i, k}]: all of them, none a range. */
static bool add_list(const ms_emitter *draft, const ms_node *table, ms_index_path *chain) {
  uint32_t dims = draft->job->bindings[chain->array].dim_count;
  if (chain->count > 0 || table->kids != dims - chain->given) return false;
  for (uint32_t f = 0; f < table->kids; f++) {
    const ms_node *field = table->kid[f];
    if (field->kid[0] != NULL || multiple(field->kid[1]) || !numeric(draft, field->kid[1]))
      return false;
    chain->subscript[chain->count++] = field->kid[1];
  }
  chain->listed = true;
  return chain->count <= LISTED || !out_of_order(draft, chain);
}

bool ms_index_path_of(const ms_emitter *draft, const ms_node *node, ms_index_path *chain) {
  if (local_base(draft, node, chain) || array_base(draft, node, chain)) return true;
  if (node->kind != MS_INDEX || node->dotted) return false;
  if (!ms_index_path_of(draft, node->kid[0], chain) || chain->listed) return false;
  const ms_node *key = node->kid[1];
  if (key->kind == MS_TABLE) return add_list(draft, key, chain);
  if (key->kind == MS_STRING || key->kind == MS_FUNCTION) return false;
  if (chain->given + chain->count >= draft->job->bindings[chain->array].dim_count) return false;
  chain->subscript[chain->count++] = key;
  return true;
}

bool ms_index_path_element(const ms_emitter *draft, const ms_index_path *chain) {
  return chain->given + chain->count == draft->job->bindings[chain->array].dim_count;
}

bool ms_index_path_row(const ms_emitter *draft, const ms_index_path *chain) {
  return chain->given + chain->count + 1 == draft->job->bindings[chain->array].dim_count;
}

bool ms_index_path_proved(const ms_emitter *draft, const ms_index_path *chain, uint32_t at) {
  ms_interval range = ms_interval_of(draft, chain->subscript[at]);
  int64_t extent = draft->job->bindings[chain->array].dims[chain->given + at];
  return !draft->job->general && range.known && range.lo >= 1 && range.hi <= extent;
}

/* One subscript, checked unless it cannot be wrong. */
static void subscript(ms_emitter *draft, const ms_index_path *chain, uint32_t at) {
  const ms_node *node = chain->subscript[at];
  uint32_t dim = chain->given + at;
  if (chain->held[at] == NULL && ms_index_path_proved(draft, chain, at)) {
    bool simple = node->kind == MS_NAME || node->kind == MS_NUMBER || node->kind == MS_PAREN;
    if (!simple) ms_text_add(draft->out, "(");
    ms_emitter_node(draft, node);
    if (!simple) ms_text_add(draft->out, ")");
    return;
  }
  ms_emitter_helper(draft, MS_HELPER_CHECK);
  ms_text_add(draft->out, "(");
  if (chain->held[at] != NULL) {
    ms_text_add(draft->out, chain->held[at]);
  } else {
    ms_emitter_node(draft, node);
  }
  ms_text_add(draft->out, ",");
  ms_emitter_extent(draft, chain->array, dim);
  ms_text_format(draft->out, ",%u,%u", dim + 1, chain->array + 1);
  if (chain->late) ms_text_format(draft->out, ",%u", node->line);
  ms_text_add(draft->out, ")");
}

/* The sum of a list's subscripts, each times its stride, by a helper that checks them once all are
 * evaluated. */
static void listed(ms_emitter *draft, const ms_index_path *chain) {
  ms_emitter_helper(draft, chain->count == 2 ? MS_HELPER_PAIR : MS_HELPER_TRIPLE);
  ms_text_format(draft->out, "(%u,%u", chain->array + 1, chain->given + 1);
  for (uint32_t s = 0; s < chain->count; s++) {
    ms_text_add(draft->out, ",");
    ms_emitter_node(draft, chain->subscript[s]);
  }
  for (uint32_t s = 0; s < chain->count; s++) {
    uint32_t dim = chain->given + s;
    ms_text_add(draft->out, ",");
    ms_emitter_extent(draft, chain->array, dim);
    ms_text_add(draft->out, ",");
    ms_emitter_stride(draft, chain->array, dim);
  }
  ms_text_add(draft->out, ")");
}

/* One stride, subtracted or added, in every dimension of [from, to). */
static void whole_strides(ms_emitter *draft, uint32_t array, char sign, uint32_t from,
                          uint32_t to) {
  if (!ms_emitter_row_major(draft, array) || draft->job->general) {
    for (uint32_t d = from; d < to; d++) {
      ms_text_format(draft->out, "%c", sign);
      ms_emitter_stride(draft, array, d);
    }
    return;
  }
  int64_t sum = 0;
  for (uint32_t d = from; d < to; d++) sum += draft->job->elements[array].strides[d];
  if (sum != 0) ms_text_format(draft->out, "%c%" PRId64, sign, sum);
}

static void subscripts(ms_emitter *draft, const ms_index_path *chain, bool starts) {
  bool whole = ms_index_path_element(draft, chain);
  if (out_of_order(draft, chain)) {
    if (!starts) ms_text_add(draft->out, "+");
    listed(draft, chain);
    return;
  }
  for (uint32_t s = 0; s < chain->count; s++) {
    if (s > 0 || !starts) ms_text_add(draft->out, "+");
    subscript(draft, chain, s);
    if (whole && s + 1 == chain->count && ms_emitter_row_major(draft, chain->array)) break;
    ms_text_add(draft->out, "*");
    ms_emitter_stride(draft, chain->array, chain->given + s);
  }
}

void ms_index_path_offset(ms_emitter *draft, const ms_index_path *chain, bool first) {
  uint32_t dims = draft->job->bindings[chain->array].dim_count;
  uint32_t known = chain->given + chain->count;
  bool whole = chain->local == NULL && chain->base == NULL; /* from element [1]...[1] on */
  if (chain->base != NULL) {
    ms_text_add(draft->out, chain->base);
  } else if (chain->local != NULL) {
    ms_emitter_node(draft, chain->local);
  }
  subscripts(draft, chain, whole);
  if (first) {
    if (whole) whole_strides(draft, chain->array, '-', 0, known);
    if (!whole) whole_strides(draft, chain->array, '+', known, dims);
  } else if (whole) {
    whole_strides(draft, chain->array, '-', 0, dims);
  }
  if (whole && chain->count == 0 && first) ms_text_add(draft->out, "0");
}

bool ms_index_path_direct(const ms_emitter *draft, const ms_node *node, ms_index_path *chain) {
  return node->kind == MS_INDEX && !ms_emitter_blocked(draft, node) &&
         ms_index_path_of(draft, node, chain) && ms_index_path_element(draft, chain);
}

void ms_index_path_place(ms_emitter *draft, const ms_index_path *chain) {
  ms_emitter_pointer(draft, chain->array);
  ms_text_add(draft->out, "[");
  ms_index_path_offset(draft, chain, true);
  ms_text_add(draft->out, "]");
}

/* Whether reading an element cannot fail. */
static bool safe_element(const ms_emitter *draft, const ms_node *node) {
  ms_index_path chain;
  if (!ms_index_path_direct(draft, node, &chain)) return false;
  if (draft->job->elements[chain.array].type == MS_INT64) return false;
  for (uint32_t s = 0; s < chain.count; s++) {
    if (!ms_index_path_proved(draft, &chain, s)) return false;
  }
  return true;
}

/* How far declarations are followed. */
#define MAX_DEPTH 8

/* Whether an expression that does not fail gives a number. */
static bool number(const ms_emitter *draft, const ms_node *node, uint32_t depth) {
  ms_index_path chain;
  if (depth > MAX_DEPTH) return false;
  if (node->kind == MS_PAREN) return number(draft, node->kid[0], depth + 1);
  if (node->kind == MS_NUMBER) return !node->boxed;
  if (node->kind == MS_BINARY) return node->op <= MS_OP_POW;
  if (node->kind == MS_UNARY) return node->op != MS_OP_NOT;
  if (loop_variable(draft, node) || captured_number(draft, node)) return true;
  if (ms_index_path_direct(draft, node, &chain)) return true;
  const ms_symbol *symbol = node->kind == MS_NAME ? node->symbol : NULL;
  if (symbol == NULL || symbol->assigned || symbol->declaration == NULL) return false;
  const ms_node *from = symbol->declaration;
  for (uint32_t v = 0; from->kind == MS_LOCAL && v < from->symbol_count && v < from->kids; v++) {
    if (from->symbols[v] == symbol) return number(draft, from->kid[v], depth + 1);
  }
  return false;
}

bool ms_emitter_may_fail(const ms_emitter *draft, const ms_node *node) {
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
      return ms_emitter_may_fail(draft, node->kid[0]);
    case MS_INDEX:
      if (ms_emitter_capture(draft, node, &value) != MS_NO_CAPTURE && value == node) return false;
      return !safe_element(draft, node);
    case MS_UNARY:
      if (node->op == MS_OP_LEN || ms_emitter_may_fail(draft, node->kid[0])) return true;
      return node->op == MS_OP_NEG && !number(draft, node->kid[0], 0);
    case MS_BINARY:
      if (ms_emitter_may_fail(draft, node->kid[0]) || ms_emitter_may_fail(draft, node->kid[1]))
        return true;
      if (node->op >= MS_OP_AND || node->op == MS_OP_EQ || node->op == MS_OP_NE) return false;
      return !number(draft, node->kid[0], 0) || !number(draft, node->kid[1], 0);
    default:
      return true;
  }
}

bool ms_assign_direct(const ms_node *assign, uint32_t at) {
  uint32_t values = assign->kids - assign->targets;
  if (at >= values) return false;
  /* Wrapping the last call would cut its further values off from further targets. */
  return at + 1 < values || assign->targets <= values ||
         !multiple(assign->kid[assign->targets + at]);
}
