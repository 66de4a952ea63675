/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: sums. See c_sum.h. */
#include "kernel/native/c_sum.h"

#include "kernel/native/c_region.h"
#include "kernel/native/c_survey.h"

static bool is_name_of(const ms_node *node, const ms_symbol *symbol) {
  while (node->kind == MS_PAREN) node = node->kid[0];
  return node->kind == MS_NAME && node->symbol == symbol;
}

/* s + e, e + s, s - e, s * e, e * s of s itself: what it takes; NULL for others. */
static const ms_node *term_of(const ms_node *assignment, const ms_symbol *symbol, ms_op *op) {
  if (assignment->targets != 1 || assignment->kids != 2) return NULL;
  const ms_node *value = assignment->kid[1];
  while (value->kind == MS_PAREN) value = value->kid[0];
  if (value->kind != MS_BINARY || value->op > MS_OP_MUL) return NULL;
  *op = value->op == MS_OP_MUL ? MS_OP_MUL : MS_OP_ADD;
  if (is_name_of(value->kid[0], symbol)) return value->kid[1];
  return value->op != MS_OP_SUB && is_name_of(value->kid[1], symbol) ? value->kid[0] : NULL;
}

typedef struct use_search {
  const ms_symbol *symbol;
  uint32_t count;
  bool leaves; /* a statement may end the loop early */
} use_search;

static bool visit_use(ms_node *node, void *context) {
  use_search *uses = context;
  if (node->kind == MS_NAME && node->symbol == uses->symbol) uses->count++;
  if (node->kind == MS_BREAK || node->kind == MS_GOTO || node->kind == MS_RETURN)
    uses->leaves = true;
  return true;
}

static use_search uses_of(const ms_node *block, const ms_symbol *symbol) {
  use_search uses = {.symbol = symbol};
  ms_node_walk((ms_node *)(uintptr_t)block, visit_use, &uses);
  return uses;
}

typedef struct sum_search {
  ms_writer *w;
  const ms_node *block;
  ms_c_sums *sums;
} sum_search;

typedef struct term_search {
  const ms_writer *w;
  const ms_node *loop;
  const ms_symbol *symbol;
  uint32_t count;
  ms_op op;
  bool other; /* terms that are no floats, stand in inner loops, or are taken by other operations */
} term_search;

static bool visit_term(ms_node *node, void *context) {
  term_search *terms = context;
  if (node->kind != MS_ASSIGN || !is_name_of(node->kid[0], terms->symbol)) return !terms->other;
  ms_op op;
  const ms_node *term = term_of(node, terms->symbol, &op);
  if (term == NULL || ms_c_survey_around(node) != terms->loop ||
      (terms->count > 0 && op != terms->op))
    terms->other = true;
  else if (ms_c_region_is_single(terms->w) &&
           ms_typed_expression(terms->w->typed, term).precision != MS_SINGLE)
    terms->other = true;
  terms->op = op;
  terms->count++;
  return !terms->other;
}

static bool is_known(const ms_c_sums *sums, const ms_symbol *symbol) {
  for (uint32_t s = 0; s < sums->count; s++) {
    if (sums->list[s].symbol == symbol) return true;
  }
  return false;
}

static void consider(sum_search *search, const ms_symbol *symbol) {
  ms_writer *w = search->w;
  const ms_c_local *local = ms_c_local_of(w, symbol);
  if (symbol->upvalue || local->text == NULL || local->form != MS_FORM_DOUBLE || local->counter ||
      local->region == w->region || is_known(search->sums, symbol))
    return;
  term_search terms = {.w = w, .loop = search->block->parent, .symbol = symbol};
  ms_node_walk((ms_node *)(uintptr_t)search->block, visit_term, &terms);
  use_search uses = uses_of(search->block, symbol);
  if (terms.other || terms.count == 0 || uses.count != 2 * terms.count || uses.leaves) return;
  if (search->sums->count == MS_C_SUMS) return;
  uint32_t s = search->sums->count++;
  search->sums->list[s].symbol = symbol;
  search->sums->list[s].op = terms.op;
}

static bool visit_sum(ms_node *node, void *context) {
  sum_search *search = context;
  const ms_node *value, *target = node->kind == MS_ASSIGN ? node->kid[0] : NULL;
  ms_op op;
  if (node->kind == MS_FUNCTION) return false;
  if (target == NULL || target->kind != MS_NAME || target->symbol == NULL) return true;
  if (term_of(node, target->symbol, &op) == NULL) return true;
  if (ms_typed_binding(search->w->typed, target, &value) == MS_NO_CAPTURE)
    consider(search, target->symbol);
  return true;
}

static void find_sums(ms_writer *w, const ms_node *block, ms_c_sums *sums) {
  sum_search search = {w, block, sums};
  ms_node_walk((ms_node *)(uintptr_t)block, visit_sum, &search);
}

void ms_c_sums_find(ms_writer *w, const ms_node *block, ms_c_sums *sums) {
  sums->count = 0;
  if (ms_c_region_is_single(w)) find_sums(w, block, sums);
}

void ms_c_sums_begin(ms_writer *w, ms_c_sums *sums) {
  for (uint32_t s = 0; s < sums->count; s++) {
    ms_c_local *local = ms_c_local_of(w, sums->list[s].symbol);
    sums->list[s].total = *local;
    sums->list[s].piece = ms_c_text(w, "v%s", ms_c_temp(w));
    ms_c_line(w, "float %s = %s;", sums->list[s].piece, sums->list[s].op == MS_OP_MUL ? "1" : "0");
    *local = (ms_c_local){.text = sums->list[s].piece,
                          .form = MS_FORM_FLOAT,
                          .scopes = w->scopes,
                          .region = w->region};
  }
}

void ms_c_sums_end(ms_writer *w, ms_c_sums *sums) {
  for (uint32_t s = 0; s < sums->count; s++) {
    *ms_c_local_of(w, sums->list[s].symbol) = sums->list[s].total;
    ms_c_line(w, "%s %s= (double)%s;", sums->list[s].total.text, ms_op_name(sums->list[s].op),
              sums->list[s].piece);
  }
}

/* Most statements that are written for each part. */
#define MOST_PARTED 4

/* Statements that only add and multiply: the rest is worth vectors, or is no single value. */
static bool visit_light(ms_node *node, void *context) {
  bool *light = context;
  bool plain = node->kind == MS_BLOCK || node->kind == MS_LOCAL || node->kind == MS_ASSIGN ||
               node->kind == MS_NAME || node->kind == MS_INDEX || node->kind == MS_NUMBER ||
               node->kind == MS_PAREN || node->kind == MS_UNARY;
  *light = *light && (plain || (node->kind == MS_BINARY && node->op <= MS_OP_MUL));
  return *light;
}

void ms_c_sum_parts_find(ms_writer *w, const ms_node *block, ms_c_sums *sums) {
  bool light = w->fast && !ms_c_region_is_single(w) && block->kids <= MOST_PARTED;
  ms_node_walk((ms_node *)(uintptr_t)block, visit_light, &light);
  sums->count = 0;
  if (light) find_sums(w, block, sums);
}

void ms_c_sum_parts_begin(ms_writer *w, ms_c_sums *sums) {
  for (uint32_t s = 0; s < sums->count; s++) {
    sums->list[s].part[0] = ms_c_local_of(w, sums->list[s].symbol)->text;
    for (uint32_t part = 1; part < MS_C_PARTS; part++) {
      sums->list[s].part[part] = ms_c_temp(w);
      ms_c_line(w, "double %s = %s;", sums->list[s].part[part],
                sums->list[s].op == MS_OP_MUL ? "1" : "0");
    }
  }
}

void ms_c_sum_parts_take(ms_writer *w, const ms_c_sums *sums, uint32_t part) {
  for (uint32_t s = 0; s < sums->count; s++)
    ms_c_local_of(w, sums->list[s].symbol)->text = sums->list[s].part[part];
}

void ms_c_sum_parts_end(ms_writer *w, const ms_c_sums *sums) {
  for (uint32_t s = 0; s < sums->count; s++) {
    const char *const *part = sums->list[s].part, *op = ms_op_name(sums->list[s].op);
    ms_c_line(w, "%s = (%s %s %s) %s (%s %s %s);", part[0], part[0], op, part[1], op, part[2], op,
              part[3]);
  }
}
