/* SPDX-License-Identifier: MIT
 *
 * Writing C: integers of which a comparison chooses one. See c_chosen.h.
 *
 * A local that `if`s assign again has a *version* for each of them. What a version is made of, it
 * is made of anew wherever it is asked for: of names that nothing assigns, or nothing any more. */
#include "kernel/native/c_chosen.h"

#include <string.h>

#include "kernel/native/c_comparison.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_guard.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_whole.h"

/* Between which bounds a variable is where a condition holds. */
typedef struct ms_assumed {
  const struct ms_assumed *before;
  const ms_symbol *symbol;
  const ms_version *version; /* of the variable that it is true of */
  const char *lo, *hi;       /* NULL: not known */
  int64_t least, most;
} ms_assumed;

static bool is_comparison(const ms_node *node) {
  return node->kind == MS_BINARY && node->op >= MS_OP_EQ && node->op <= MS_OP_GE;
}

/* What holds where a comparison does not; and with its operands exchanged. */
static ms_op opposite(ms_op op) {
  static const ms_op ops[] = {[MS_OP_EQ] = MS_OP_NE, [MS_OP_NE] = MS_OP_EQ, [MS_OP_LT] = MS_OP_GE,
                              [MS_OP_GE] = MS_OP_LT, [MS_OP_GT] = MS_OP_LE, [MS_OP_LE] = MS_OP_GT};
  return ops[op];
}

static ms_op exchanged(ms_op op) {
  static const ms_op ops[] = {[MS_OP_EQ] = MS_OP_EQ, [MS_OP_NE] = MS_OP_NE, [MS_OP_LT] = MS_OP_GT,
                              [MS_OP_GT] = MS_OP_LT, [MS_OP_LE] = MS_OP_GE, [MS_OP_GE] = MS_OP_LE};
  return ops[op];
}

static const ms_version *version_of(const ms_writer *w, const ms_symbol *symbol) {
  return symbol != NULL ? ms_c_local_of(w, symbol)->version : NULL;
}

/* What is known of the variable at a node, if it is one, which compares so with another integer. */
static ms_assumed compared(ms_writer *w, const ms_node *node, ms_op op,
                           const ms_integer_value *other) {
  const ms_node *name = ms_node_bare(node);
  ms_assumed known = {
      .symbol = name->kind == MS_NAME ? name->symbol : NULL, .least = INT64_MIN, .most = INT64_MAX};
  known.version = version_of(w, known.symbol);
  if (op == MS_OP_GT || op == MS_OP_GE || op == MS_OP_EQ) {
    known.least = other->least + (op == MS_OP_GT);
    if (other->lo != NULL) known.lo = ms_c_text(w, op == MS_OP_GT ? "(%s + 1)" : "%s", other->lo);
  }
  if (op == MS_OP_LT || op == MS_OP_LE || op == MS_OP_EQ) {
    known.most = other->most - (op == MS_OP_LT);
    if (other->hi != NULL) known.hi = ms_c_text(w, op == MS_OP_LT ? "(%s - 1)" : "%s", other->hi);
  }
  return known;
}

ms_integer_value ms_c_chosen_assume(ms_writer *w, const ms_symbol *symbol, ms_integer_value r) {
  for (const ms_assumed *each = w->assumed; each != NULL; each = each->before) {
    if (each->symbol != symbol || each->version != version_of(w, symbol)) continue;
    bool small = r.lo != NULL && strlen(r.lo) + strlen(r.hi) <= MS_GUARD_TEXT;
    if (each->lo != NULL && small) r.lo = ms_c_text(w, "ms_most(%s, %s)", r.lo, each->lo);
    if (each->hi != NULL && small) r.hi = ms_c_text(w, "ms_least(%s, %s)", r.hi, each->hi);
    if (each->least > r.least && each->least <= r.most) r.least = each->least;
    if (each->most < r.most && each->most >= r.least) r.most = each->most;
  }
  return r;
}

/* What two comparisons of integers choose between. */
typedef struct alternatives {
  const ms_node *condition, *yes;
  /* The other one: no(context, scope) as an integer. */
  ms_integer_value (*no)(ms_writer *w, const void *context, uint32_t scope);
  const void *context;
} alternatives;

/* One of them as an integer, where the comparison of a with b holds, or does not. */
static ms_integer_value where(ms_writer *w, const alternatives *of, bool holds,
                              const ms_integer_value *a, const ms_integer_value *b,
                              uint32_t scope) {
  const ms_assumed *before = w->assumed;
  ms_op op = holds ? of->condition->op : opposite(of->condition->op);
  ms_assumed left = compared(w, of->condition->kid[0], op, b);
  ms_assumed right = compared(w, of->condition->kid[1], exchanged(op), a);
  left.before = before;
  right.before = &left;
  w->assumed = &right;
  ms_integer_value r =
      holds ? ms_c_integer_value_at(w, of->yes, scope) : of->no(w, of->context, scope);
  w->assumed = before;
  return r;
}

static ms_integer_value choose(ms_writer *w, const alternatives *of, uint32_t scope) {
  const ms_integer_value unknown = {0};
  if (!is_comparison(of->condition)) return unknown;
  ms_integer_value a = ms_c_integer_value_at(w, of->condition->kid[0], scope);
  ms_integer_value b = a.known ? ms_c_integer_value_at(w, of->condition->kid[1], scope) : unknown;
  if (!b.known) return unknown;
  ms_integer_value one = where(w, of, true, &a, &b, scope);
  ms_integer_value other = one.known ? where(w, of, false, &a, &b, scope) : unknown;
  if (!other.known) return unknown;
  const char *op = ms_c_comparison_op(of->condition->op);
  const char *text = ms_c_text(w, "%s %s %s", a.text, op, b.text);
  ms_integer_value r =
      ms_c_whole_choice(w, text, ms_c_whole_both(w, a.needs, b.needs), &one, &other);
  r.guessed = r.guessed || a.guessed || b.guessed;
  return r;
}

static ms_integer_value node_at(ms_writer *w, const void *node, uint32_t scope) {
  return ms_c_integer_value_at(w, node, scope);
}

ms_integer_value ms_c_chosen(ms_writer *w, const ms_node *node, uint32_t scope) {
  const ms_node *condition, *yes;
  if (!ms_c_expression_is_choice(w, node, &condition, &yes)) return (ms_integer_value){0};
  alternatives of = {ms_node_bare(condition), yes, node_at, node->kid[1]};
  return choose(w, &of, scope);
}

/* ---- locals that are assigned again ---- */

/* The value that a branch gives to a local; NULL if it does anything else. */
static const ms_node *given_by(const ms_node *block, const ms_symbol **symbol) {
  const ms_node *assign = block->kids == 1 ? block->kid[0] : NULL;
  if (assign == NULL || assign->kind != MS_ASSIGN || assign->targets != 1 || assign->kids != 2)
    return NULL;
  const ms_symbol *target = assign->kid[0]->kind == MS_NAME ? assign->kid[0]->symbol : NULL;
  if (target == NULL || (*symbol != NULL && *symbol != target)) return NULL;
  *symbol = target;
  return assign->kid[1];
}

/* How many branches of an `if` give the local a value; 0 if one does anything else. */
static uint32_t branches_of(const ms_node *statement, const ms_symbol **symbol) {
  uint32_t count = 0;
  if (statement->kind != MS_IF) return 0;
  for (uint32_t k = 0; k < statement->kids; k++) {
    if (k % 2 == 0 && k + 1 < statement->kids) continue; /* a condition */
    if (given_by(statement->kid[k], symbol) == NULL) return 0;
    count++;
  }
  return count;
}

typedef struct mention_search {
  const ms_symbol *symbol;
  uint32_t assigned;
  bool named, labelled;
} mention_search;

static bool visit(ms_node *node, void *context) {
  mention_search *mentions = context;
  if (node->kind == MS_NAME && node->symbol == mentions->symbol) mentions->named = true;
  if (node->kind == MS_LABEL) mentions->labelled = true;
  uint32_t targets = node->kind == MS_ASSIGN ? node->targets : node->kind == MS_SET_FUNCTION;
  for (uint32_t t = 0; t < targets; t++)
    mentions->assigned += node->kid[t]->kind == MS_NAME && node->kid[t]->symbol == mentions->symbol;
  return true;
}

static mention_search mentions_of(const ms_node *node, const ms_symbol *symbol) {
  mention_search mentions = {.symbol = symbol};
  ms_node_walk((ms_node *)(uintptr_t)node, visit, &mentions);
  return mentions;
}

static const ms_version *add_version(ms_writer *w, const ms_version *before, const ms_node *node) {
  ms_version *version = ms_arena_take(w->arena, 1, sizeof *version);
  if (version == NULL) {
    w->failed = true;
    return NULL;
  }
  *version = (ms_version){before, node};
  return version;
}

void ms_c_chosen_settle(ms_writer *w, const ms_node *block, uint32_t at) {
  const ms_symbol *symbol = NULL;
  if (branches_of(block->kid[at], &symbol) == 0 || symbol->upvalue) return;
  const ms_node *declaration = symbol->declaration;
  if (declaration == NULL || declaration->kind != MS_LOCAL || declaration->parent != block) return;
  const ms_version *version = NULL;
  uint32_t assigned = 0;
  for (uint32_t k = declaration->ordinal + 1; k <= at; k++) {
    const ms_node *statement = block->kid[k];
    mention_search mentions = mentions_of(statement, symbol);
    if (mentions.labelled) return; /* the way from the declaration may be another */
    if (!mentions.named) continue;
    uint32_t branches = branches_of(statement, &symbol);
    if (branches == 0 || branches != mentions.assigned) return;
    assigned += branches;
    version = add_version(w, version, statement);
  }
  if (assigned != mentions_of(symbol->function->body, symbol).assigned) return;
  ms_c_local *local = ms_c_local_of(w, symbol);
  if (!local->counter) local->settled = local->version = version;
}

/* What the branches of an `if` from `kid` on leave in a local of the version before it. */
typedef struct branch_rest {
  const ms_symbol *symbol;
  const ms_node *statement;
  uint32_t kid;
} branch_rest;

static ms_integer_value rest_at(ms_writer *w, const void *context, uint32_t scope) {
  const branch_rest *rest = context;
  const ms_node *statement = rest->statement;
  const ms_symbol *symbol = rest->symbol;
  if (rest->kid == statement->kids) return ms_c_chosen_settled(w, symbol, scope);
  const ms_node *block = statement->kid[statement->kids - 1];
  if (rest->kid + 1 == statement->kids)
    return ms_c_integer_value_at(w, given_by(block, &symbol), scope);
  branch_rest next = {symbol, statement, rest->kid + 2};
  block = statement->kid[rest->kid + 1];
  alternatives of = {ms_node_bare(statement->kid[rest->kid]), given_by(block, &symbol), rest_at,
                     &next};
  return choose(w, &of, scope);
}

ms_integer_value ms_c_chosen_settled(ms_writer *w, const ms_symbol *symbol, uint32_t scope) {
  ms_c_local *local = ms_c_local_of(w, symbol);
  const ms_version *version = local->version;
  if (scope >= MS_SCOPES || local->from == NULL || ms_node_is_multiple(local->from))
    return (ms_integer_value){0};
  if (version == NULL)
    return ms_c_chosen_assume(w, symbol, ms_c_integer_value_at(w, local->from, scope));
  branch_rest all = {symbol, version->statement, 0};
  local->version = version->before;
  ms_integer_value r = rest_at(w, &all, scope);
  local->version = version;
  return r.known ? ms_c_chosen_assume(w, symbol, r) : r;
}
