/* SPDX-License-Identifier: MIT
 *
 * Writing C: integers. Which expressions are whole numbers while the guards hold, and between which
 * bounds. See c_integer_value.h; c_whole.h has what is computed with them. */
#include "kernel/native/c_integer_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_chosen.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_guard.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_list.h"
#include "kernel/native/c_variable.h"
#include "kernel/native/c_whole.h"

/* What a guarded number can be: the int32 range, so that sums of many stay exact. */
#define LEAF ((int64_t)1 << 31)

/* Most nodes that are looked at for one integer: locals used twice double the work a level. */
#define MOST_STEPS 4000

/* No array has more along a dimension: memory ends before. */
#define MOST_EXTENT ((int64_t)1 << 46)

static ms_integer_value literal(ms_writer *w, double number) {
  if (!(fabs(number) <= (double)LEAF) || floor(number) != number ||
      (number == 0 && signbit(number)))
    return (ms_integer_value){0};
  int64_t value = (int64_t)number;
  /* As wide as what they make together: 0x7fffffff * 2 is no int. */
  const char *text = ms_c_text(w, value < 0 ? "(%" PRId64 "L)" : "%" PRId64 "L", value);
  const char *bound = ms_c_number(w, number);
  return (ms_integer_value){.known = true,
                            .unsigned_zero = true,
                            .text = text,
                            .lo = bound,
                            .hi = bound,
                            .least = value,
                            .most = value};
}

/* A double that the guards say is whole. */
static ms_integer_value guarded(ms_writer *w, const char *text) {
  return (ms_integer_value){.known = true,
                            .unsigned_zero = true,
                            .text = ms_c_text(w, "(int64_t)%s", text),
                            .lo = text,
                            .hi = text,
                            .needs = ms_c_text(w, "ms_is_whole(%s)", text),
                            .guessed = true,
                            .least = -LEAF,
                            .most = LEAF};
}

/* A node as an integer, seen from scope `scope` (MS_SCOPES: from none). */
static ms_integer_value whole_at(ms_writer *w, const ms_node *node, uint32_t scope);

static ms_integer_value of_binary(ms_writer *w, const ms_node *node, uint32_t scope) {
  if (node->op == MS_OP_OR) return ms_c_chosen(w, node, scope);
  if (node->op > MS_OP_MOD || node->op == MS_OP_DIV) return (ms_integer_value){0};
  ms_integer_value a = whole_at(w, node->kid[0], scope);
  ms_integer_value b = a.known ? whole_at(w, node->kid[1], scope) : (ms_integer_value){0};
  if (!b.known) return (ms_integer_value){0};
  if (node->op == MS_OP_MUL) return ms_c_whole_product(w, &a, &b);
  if (node->op == MS_OP_MOD) return ms_c_whole_remainder(w, &a, &b);
  return ms_c_whole_sum(w, &a, &b, node->op == MS_OP_SUB);
}

static ms_integer_value of_call(ms_writer *w, const ms_node *node, uint32_t scope) {
  ms_kind_of called = ms_typed_expression(w->typed, node->kid[0]);
  if (called.object != MS_OBJECT_BUILTIN || node->kids < 2) return (ms_integer_value){0};
  const ms_node *first = node->kid[1];
  if (strcmp(called.name, "math.floor") == 0 && node->kids == 2) {
    while (first->kind == MS_PAREN) first = first->kid[0];
    if (first->kind != MS_BINARY || first->op != MS_OP_DIV) return whole_at(w, first, scope);
    ms_integer_value a = whole_at(w, first->kid[0], scope);
    ms_integer_value b = whole_at(w, first->kid[1], scope);
    return a.known && b.known ? ms_c_whole_quotient(w, &a, &b) : (ms_integer_value){0};
  }
  bool most = strcmp(called.name, "math.max") == 0;
  if (!most && strcmp(called.name, "math.min") != 0) return (ms_integer_value){0};
  ms_integer_value r = whole_at(w, first, scope);
  for (uint32_t k = 2; k < node->kids && r.known; k++) {
    ms_integer_value next = whole_at(w, node->kid[k], scope);
    r = next.known ? ms_c_whole_extreme(w, &r, &next, most) : (ms_integer_value){0};
  }
  return r;
}

bool ms_c_integer_value_is_part(const ms_writer *w, const ms_node *node) {
  const ms_node *value;
  while (node->kind == MS_PAREN) node = node->kid[0];
  return node->kind == MS_INDEX && ms_typed_binding(w->typed, node, &value) == MS_NO_CAPTURE;
}

bool ms_c_integer_value_extent(ms_writer *w, const ms_node *object, const ms_node *dim,
                               uint32_t *array, uint32_t *at) {
  ms_kind_of kind = ms_typed_expression(w->typed, object);
  if (kind.object != MS_OBJECT_VIEW && kind.object != MS_OBJECT_SPARSE) return false;
  const ms_binding *binding = &w->emitter->job->bindings[kind.array];
  double which = 1;
  if (dim != NULL) which = dim->kind == MS_NUMBER ? dim->number : 0;
  if (!(which >= 1 && which <= binding->dim_count - kind.given)) return false;
  *array = kind.array;
  *at = kind.given + (uint32_t)which - 1;
  return floor(which) == which;
}

/* #w, A:size(1); not #A[k], of which k must be looked at. */
static ms_integer_value of_extent(ms_writer *w, const ms_node *object, const ms_node *dim) {
  uint32_t array, d;
  if (dim == NULL && ms_typed_expression(w->typed, object).object == MS_OBJECT_LIST)
    return ms_c_list_length(w, object);
  if (ms_c_integer_value_is_part(w, object) ||
      !ms_c_integer_value_extent(w, object, dim, &array, &d))
    return (ms_integer_value){0};
  const ms_binding *binding = &w->emitter->job->bindings[array];
  const char *extent = ms_c_array_extent(w, array, d);
  const char *bound = ms_c_text(w, "(double)%s", extent);
  return (ms_integer_value){.known = true,
                            .unsigned_zero = true,
                            .text = extent,
                            .lo = bound,
                            .hi = bound,
                            .most = MOST_EXTENT,
                            .likely = binding->dims[d]};
}

/* The ends of a loop bound its variable. */
static void loop_bounds(ms_writer *w, const ms_c_local *local, uint32_t scope,
                        ms_integer_value *r) {
  bool down = local->down;
  ms_integer_value start = whole_at(w, local->loop->kid[0], scope);
  ms_integer_value limit = whole_at(w, local->loop->kid[1], scope);
  bool own = scope + 1 == local->scopes;
  const char *first_lo = start.lo, *first_hi = start.hi, *last_lo = limit.lo, *last_hi = limit.hi;
  if (own && local->start != NULL) first_lo = first_hi = local->start;
  if (own && local->limit != NULL) last_lo = last_hi = local->limit;
  r->lo = down ? last_lo : first_lo;
  r->hi = down ? first_hi : last_hi;
  r->needs = ms_c_whole_both(w, down ? limit.needs : start.needs, down ? start.needs : limit.needs);
}

/* The value of a local that `if`s have assigned, behind the last of them. */
static ms_integer_value settled(ms_writer *w, const ms_symbol *symbol, uint32_t scope) {
  const ms_c_local *local = ms_c_local_of(w, symbol);
  bool number = local->form == MS_FORM_DOUBLE || local->form == MS_FORM_FLOAT;
  if (scope < local->scopes || scope >= MS_SCOPES || local->version != local->settled)
    return ms_c_chosen_settled(w, symbol, scope);
  return number ? guarded(w, local->text) : (ms_integer_value){0};
}

/* A local that is declared as no integer, where one is asked for: by what it is made of. */
static ms_integer_value asked_of(ms_writer *w, const ms_c_local *local, uint32_t scope) {
  if (scope >= MS_SCOPES) return (ms_integer_value){0};
  if (local->form != MS_FORM_DOUBLE && local->form != MS_FORM_FLOAT) return (ms_integer_value){0};
  if (local->scopes <= scope) return guarded(w, local->text);
  if (local->from == NULL || ms_node_is_multiple(local->from)) return (ms_integer_value){0};
  return whole_at(w, local->from, scope);
}

static ms_integer_value of_variable(ms_writer *w, const ms_symbol *symbol, uint32_t scope) {
  const ms_c_local *local = ms_c_local_of(w, symbol);
  if (local->text == NULL) return (ms_integer_value){0};
  if (symbol->assigned && !(local->counter && scope >= MS_SCOPES)) return (ms_integer_value){0};
  if (local->whole == NULL) return asked_of(w, local, scope);
  ms_integer_value r = {.known = true,
                        .unsigned_zero = !local->signed_zero,
                        .text = local->whole,
                        .least = local->least,
                        .most = local->most};
  if (scope >= MS_SCOPES) return r;
  if (local->scopes <= scope) {
    r.lo = r.hi = ms_c_text(w, "(double)%s", local->whole);
  } else if (local->lo != NULL) {
    r.lo = local->lo;
    r.hi = local->hi;
  } else if (local->loop != NULL) {
    loop_bounds(w, local, scope, &r);
  } else if (local->from != NULL) {
    ms_integer_value from = whole_at(w, local->from, scope);
    r.lo = from.lo;
    r.hi = from.hi;
    r.needs = from.needs;
  }
  return r.lo != NULL && r.hi != NULL ? r : (ms_integer_value){0};
}

static ms_integer_value of_symbol(ms_writer *w, const ms_symbol *symbol, uint32_t scope) {
  if (ms_c_local_of(w, symbol)->settled != NULL) return settled(w, symbol, scope);
  ms_integer_value r = of_variable(w, symbol, scope);
  return r.known ? ms_c_chosen_assume(w, symbol, r) : r;
}

static ms_integer_value of_path(ms_writer *w, const ms_node *node, uint32_t scope) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, node, &value);
  if (at == MS_NO_CAPTURE) {
    if (node->kind != MS_NAME || node->symbol == NULL) return (ms_integer_value){0};
    return of_symbol(w, node->symbol, scope);
  }
  if (value != node || ms_variable_is(w->emitter, at) || scope >= MS_SCOPES)
    return (ms_integer_value){0};
  if (w->emitter->job->bindings[at].kind != MS_BIND_NUMBER) return (ms_integer_value){0};
  return guarded(w, ms_c_variable_captured(w, at));
}

static ms_integer_value whole_at(ms_writer *w, const ms_node *node, uint32_t scope) {
  if (w->whole_steps == 0) return (ms_integer_value){0};
  w->whole_steps--;
  switch (node->kind) {
    case MS_NUMBER:
      return node->boxed ? (ms_integer_value){0} : literal(w, node->number);
    case MS_NAME:
    case MS_INDEX:
      return of_path(w, node, scope);
    case MS_PAREN:
      return whole_at(w, node->kid[0], scope);
    case MS_BINARY:
      return of_binary(w, node, scope);
    case MS_UNARY:
      if (node->op == MS_OP_LEN) return of_extent(w, node->kid[0], NULL);
      if (node->op != MS_OP_NEG) return (ms_integer_value){0};
      ms_integer_value a = whole_at(w, node->kid[0], scope);
      return ms_c_whole_negated(w, &a);
    case MS_CALL:
      return of_call(w, node, scope);
    case MS_METHOD:
      if (node->kids != 2 || strcmp(node->text, "size") != 0) return (ms_integer_value){0};
      return of_extent(w, node->kid[0], node->kid[1]);
    default:
      return (ms_integer_value){0};
  }
}

ms_integer_value ms_c_integer_value_at(ms_writer *w, const ms_node *node, uint32_t scope) {
  return whole_at(w, node, scope);
}

ms_integer_value ms_c_integer_value_static(ms_writer *w, const ms_node *node) {
  w->whole_steps = MOST_STEPS;
  return whole_at(w, node, MS_SCOPES);
}

static ms_integer_value value_of(ms_writer *w, const ms_node *node, bool guesses) {
  for (uint32_t f = 0; f < w->scopes; f++) {
    w->whole_steps = MOST_STEPS;
    ms_integer_value r = whole_at(w, node, f);
    if (!r.known || (r.guessed && !guesses)) continue;
    if (r.needs != NULL) ms_c_guard(w, f, r.needs);
    return r;
  }
  return ms_c_integer_value_static(w, node);
}

ms_integer_value ms_c_integer_value(ms_writer *w, const ms_node *node) {
  return value_of(w, node, true);
}

typedef struct asking {
  const ms_symbol *symbol;
  bool found;
} asking;

static bool visit_subscript(ms_node *node, void *context) {
  asking *asked = context;
  const ms_node *key = node->kind == MS_INDEX ? node->kid[1] : NULL;
  if (key != NULL && key->kind == MS_NAME && key->symbol == asked->symbol) asked->found = true;
  return !asked->found;
}

ms_integer_value ms_c_integer_value_kept(ms_writer *w, const ms_node *node,
                                         const ms_symbol *symbol) {
  asking asked = {.symbol = symbol};
  if (node->parent != NULL && node->parent->kind == MS_LOCAL)
    ms_node_walk(node->parent->parent, visit_subscript, &asked);
  return value_of(w, node, asked.found);
}

bool ms_c_integer_value_within(ms_writer *w, const ms_node *node, const char *extent,
                               ms_integer_value *r) {
  for (uint32_t f = 0; f < w->scopes; f++) {
    w->whole_steps = MOST_STEPS;
    *r = whole_at(w, node, f);
    if (!r->known) continue;
    if (r->needs != NULL) ms_c_guard(w, f, r->needs);
    if (r->least < 1) ms_c_guard(w, f, ms_c_text(w, "%s >= 1", r->lo));
    ms_c_guard(w, f, ms_c_text(w, "%s <= (double)%s", r->hi, extent));
    return true;
  }
  *r = ms_c_integer_value_static(w, node);
  return false;
}
