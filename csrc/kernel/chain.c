/* SPDX-License-Identifier: MIT
 *
 * Chains: see chain.h. */
#include "kernel/chain.h"

#include <inttypes.h>

#include "kernel/interval.h"

/* The array at the start of a chain: a capture that is a dense array of numbers. */
static bool array_base(const ms_draft *draft, const ms_node *node, ms_chain *chain) {
  const ms_node *value;
  uint32_t at = ms_draft_capture(draft, node, &value);
  if (at == MS_NO_CAPTURE || value != node) return false;
  const ms_binding *binding = &draft->job->bindings[at];
  if (binding->kind != MS_BIND_ARRAY || binding->sparse || draft->job->loop->captures[at].assigned)
    return false;
  if (draft->job->elements[at].type == MS_OBJECT) return false;
  *chain = (ms_chain){.array = at};
  return true;
}

static bool local_base(const ms_draft *draft, const ms_node *node, ms_chain *chain) {
  if (node->kind != MS_NAME || node->symbol == NULL) return false;
  const ms_view *view = draft->views[node->symbol->index];
  if (view == NULL || !view->live) return false;
  *chain = (ms_chain){.array = view->array, .local = node, .given = view->given};
  return true;
}

static bool multiple(const ms_node *node) {
  return node->kind == MS_CALL || node->kind == MS_METHOD || node->kind == MS_VARARG;
}

/* Whether an expression of A[{...}] can only be a number: a table there would be a range. */
static bool numeric(const ms_draft *draft, const ms_node *node) {
  if (ms_interval_of(draft, node).known) return true;
  if (node->kind == MS_PAREN) return numeric(draft, node->kid[0]);
  return node->kind == MS_NUMBER || (node->kind == MS_BINARY && node->op <= MS_OP_POW);
}

/* The subscripts of A[{i, k}]: all of them, none a range. */
static bool add_list(const ms_draft *draft, const ms_node *table, ms_chain *chain) {
  uint32_t dims = draft->job->bindings[chain->array].dim_count;
  if (chain->count > 0 || table->kids != dims - chain->given) return false;
  for (uint32_t f = 0; f < table->kids; f++) {
    const ms_node *field = table->kid[f];
    if (field->kid[0] != NULL || multiple(field->kid[1]) || !numeric(draft, field->kid[1]))
      return false;
    chain->subscript[chain->count++] = field->kid[1];
  }
  chain->listed = true;
  return true;
}

bool ms_chain_of(const ms_draft *draft, const ms_node *node, ms_chain *chain) {
  if (local_base(draft, node, chain) || array_base(draft, node, chain)) return true;
  if (node->kind != MS_INDEX || node->dotted) return false;
  if (!ms_chain_of(draft, node->kid[0], chain) || chain->listed) return false;
  const ms_node *key = node->kid[1];
  if (key->kind == MS_TABLE) return add_list(draft, key, chain);
  if (key->kind == MS_STRING || key->kind == MS_FUNCTION) return false;
  if (chain->given + chain->count >= draft->job->bindings[chain->array].dim_count) return false;
  chain->subscript[chain->count++] = key;
  return true;
}

bool ms_chain_element(const ms_draft *draft, const ms_chain *chain) {
  return chain->given + chain->count == draft->job->bindings[chain->array].dim_count;
}

bool ms_chain_row(const ms_draft *draft, const ms_chain *chain) {
  return chain->given + chain->count + 1 == draft->job->bindings[chain->array].dim_count;
}

/* One subscript, checked unless it cannot be wrong. */
static void subscript(ms_draft *draft, const ms_chain *chain, uint32_t at) {
  const ms_node *node = chain->subscript[at];
  const ms_binding *binding = &draft->job->bindings[chain->array];
  uint32_t dim = chain->given + at;
  ms_interval range = ms_interval_of(draft, node);
  bool sure = range.known && range.lo >= 1 && range.hi <= binding->dims[dim];
  if (sure && !draft->job->general) {
    bool simple = node->kind == MS_NAME || node->kind == MS_NUMBER || node->kind == MS_PAREN;
    if (!simple) ms_text_add(draft->out, "(");
    ms_draft_node(draft, node);
    if (!simple) ms_text_add(draft->out, ")");
    return;
  }
  ms_draft_helper(draft, MS_HELPER_CHECK);
  ms_text_add(draft->out, "(");
  ms_draft_node(draft, node);
  ms_text_add(draft->out, ",");
  ms_draft_extent(draft, chain->array, dim);
  ms_text_format(draft->out, ",%u,%u)", dim + 1, chain->array + 1);
}

/* One stride, subtracted or added, in every dimension of [from, to). */
static void whole_strides(ms_draft *draft, uint32_t array, char sign, uint32_t from, uint32_t to) {
  if (!ms_draft_row_major(draft, array) || draft->job->general) {
    for (uint32_t d = from; d < to; d++) {
      ms_text_format(draft->out, "%c", sign);
      ms_draft_stride(draft, array, d);
    }
    return;
  }
  int64_t sum = 0;
  for (uint32_t d = from; d < to; d++) sum += draft->job->elements[array].strides[d];
  if (sum != 0) ms_text_format(draft->out, "%c%" PRId64, sign, sum);
}

void ms_chain_offset(ms_draft *draft, const ms_chain *chain, bool first) {
  uint32_t dims = draft->job->bindings[chain->array].dim_count;
  uint32_t known = chain->given + chain->count;
  if (chain->local != NULL) ms_draft_node(draft, chain->local);
  for (uint32_t s = 0; s < chain->count; s++) {
    if (s > 0 || chain->local != NULL) ms_text_add(draft->out, "+");
    subscript(draft, chain, s);
    if (known == dims && s + 1 == chain->count && ms_draft_row_major(draft, chain->array)) break;
    ms_text_add(draft->out, "*");
    ms_draft_stride(draft, chain->array, chain->given + s);
  }
  if (first) {
    if (chain->local == NULL) whole_strides(draft, chain->array, '-', 0, known);
    if (chain->local != NULL) whole_strides(draft, chain->array, '+', known, dims);
  } else if (chain->local == NULL) {
    whole_strides(draft, chain->array, '-', 0, dims);
  }
  if (chain->local == NULL && chain->count == 0 && first) ms_text_add(draft->out, "0");
}

bool ms_assign_direct(const ms_node *assign, uint32_t at) {
  uint32_t values = assign->kids - assign->targets;
  if (at >= values) return false;
  /* Wrapping the last call would cut its further values off from further targets. */
  return at + 1 < values || assign->targets <= values ||
         !multiple(assign->kid[assign->targets + at]);
}
