/* SPDX-License-Identifier: MIT
 *
 * Writing C: integers. Which expressions are whole numbers while the guards hold, and between which
 * bounds. See c_integer_value.h.
 *
 * Bounds are formed in double: sums and products of whole numbers are exact below 2^53, and beyond
 * it rounding keeps the order, so a bound that passes a comparison with 2^52 was exact. */
#include "kernel/native/c_integer_value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_guard.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_list.h"
#include "kernel/native/c_variable.h"

/* What a guarded number can be: the int32 range, so that sums of many stay exact. */
#define LEAF ((int64_t)1 << 31)

/* Most nodes that are looked at for one integer: locals used twice double the work a level. */
#define MOST_STEPS 4000

/* No array has more along a dimension: memory ends before. */
#define MOST_EXTENT ((int64_t)1 << 46)

static const ms_integer_value unknown = {.known = false};

static ms_integer_value literal(ms_writer *w, double number) {
  if (!(fabs(number) <= (double)LEAF) || floor(number) != number ||
      (number == 0 && signbit(number)))
    return unknown;
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

static bool constant(const ms_integer_value *a) {
  return a->known && a->least == a->most;
}

static const char *both(ms_writer *w, const char *a, const char *b) {
  if (a == NULL || b == NULL || strcmp(a, b) == 0) return a != NULL ? a : b;
  return ms_c_text(w, "%s && %s", a, b);
}

/* What is made of two. */
static ms_integer_value made_of(ms_writer *w, const ms_integer_value *a,
                                const ms_integer_value *b) {
  return (ms_integer_value){
      .known = true, .needs = both(w, a->needs, b->needs), .guessed = a->guessed || b->guessed};
}

/* Closes an operation: bounds known beforehand that are too wide become a guard. */
static ms_integer_value finish(ms_writer *w, ms_integer_value r, bool fits) {
  if (r.lo != NULL && (strlen(r.lo) > MS_GUARD_TEXT || strlen(r.hi) > MS_GUARD_TEXT))
    return unknown;
  if (fits && r.least >= -MS_C_MOST && r.most <= MS_C_MOST) return r;
  if (r.lo == NULL) return unknown;
  r.needs = both(w, r.needs, ms_c_text(w, "%s >= -0x1p52 && %s <= 0x1p52", r.lo, r.hi));
  r.least = -MS_C_MOST;
  r.most = MS_C_MOST;
  return r;
}

static ms_integer_value sum(ms_writer *w, const ms_integer_value *a, const ms_integer_value *b,
                            bool minus) {
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = a->unsigned_zero || (!minus && b->unsigned_zero);
  r.text = ms_c_text(w, "(%s %c %s)", a->text, minus ? '-' : '+', b->text);
  r.least = a->least + (minus ? -b->most : b->least);
  r.most = a->most + (minus ? -b->least : b->most);
  if (a->lo != NULL && b->lo != NULL) {
    r.lo = ms_c_text(w, "(%s %c %s)", a->lo, minus ? '-' : '+', minus ? b->hi : b->lo);
    r.hi = ms_c_text(w, "(%s %c %s)", a->hi, minus ? '-' : '+', minus ? b->lo : b->hi);
  }
  return finish(w, r, true);
}

static void product_bounds(ms_writer *w, const ms_integer_value *a, const ms_integer_value *b,
                           ms_integer_value *r) {
  if (a->lo == NULL || b->lo == NULL) return;
  if (constant(b)) { /* bounds change places with a negative factor */
    bool turn = b->least < 0;
    r->lo = ms_c_text(w, "%s * %s", turn ? a->hi : a->lo, b->lo);
    r->hi = ms_c_text(w, "%s * %s", turn ? a->lo : a->hi, b->lo);
    return;
  }
  r->lo = ms_c_text(w, "ms_least_product(%s, %s, %s, %s)", a->lo, a->hi, b->lo, b->hi);
  r->hi = ms_c_text(w, "ms_most_product(%s, %s, %s, %s)", a->lo, a->hi, b->lo, b->hi);
}

static ms_integer_value product(ms_writer *w, const ms_integer_value *a,
                                const ms_integer_value *b) {
  if (constant(a) && !constant(b)) return product(w, b, a);
  ms_integer_value r = made_of(w, a, b);
  r.text = ms_c_text(w, "%s * %s", a->text, b->text);
  r.unsigned_zero = a->unsigned_zero && b->unsigned_zero;
  if ((a->least < 0 || b->least < 0) && !(constant(b) && b->least > 0)) r.unsigned_zero = false;
  int64_t corner[4];
  bool fits = !__builtin_mul_overflow(a->least, b->least, &corner[0]) &&
              !__builtin_mul_overflow(a->least, b->most, &corner[1]) &&
              !__builtin_mul_overflow(a->most, b->least, &corner[2]) &&
              !__builtin_mul_overflow(a->most, b->most, &corner[3]);
  r.least = fits ? corner[0] : 0;
  r.most = r.least;
  for (int c = 1; fits && c < 4; c++) {
    if (corner[c] < r.least) r.least = corner[c];
    if (corner[c] > r.most) r.most = corner[c];
  }
  product_bounds(w, a, b, &r);
  return finish(w, r, fits);
}

/* a % b with b > 0, which is a guard if it is not known. */
static ms_integer_value remainder_of(ms_writer *w, const ms_integer_value *a,
                                     const ms_integer_value *b) {
  if (b->most < 1 || b->lo == NULL) return unknown;
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = true;
  if (b->least < 1) r.needs = both(w, r.needs, ms_c_text(w, "%s >= 1", b->lo));
  r.text = ms_c_text(w, a->least >= 0 ? "%s %% %s" : "ms_whole_mod(%s, %s)", a->text, b->text);
  if (a->least >= 0) r.text = ms_c_text(w, "(%s)", r.text);
  r.lo = "0";
  r.hi = ms_c_text(w, "(%s - 1)", b->hi);
  r.most = b->most - 1;
  return finish(w, r, true);
}

/* math.floor(a / b) with a constant b > 0. */
static ms_integer_value quotient(ms_writer *w, const ms_integer_value *a,
                                 const ms_integer_value *b) {
  if (!constant(b) || b->least < 1 || b->lo == NULL) return unknown;
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = a->unsigned_zero;
  r.text = ms_c_text(w, a->least >= 0 ? "(%s / %s)" : "ms_whole_div(%s, %s)", a->text, b->text);
  r.least = a->least / b->least - 1;
  r.most = a->most / b->least;
  if (a->least >= 0) r.least = a->least / b->least;
  if (a->lo != NULL) {
    r.lo = ms_c_text(w, "__builtin_floor((%s) / %s)", a->lo, b->lo);
    r.hi = ms_c_text(w, "__builtin_floor((%s) / %s)", a->hi, b->lo);
  }
  return finish(w, r, true);
}

static ms_integer_value negated(ms_writer *w, const ms_integer_value *a) {
  ms_integer_value r = *a;
  if (!a->known) return unknown;
  r.unsigned_zero = a->least > 0 || a->most < 0;
  r.text = ms_c_text(w, "(-%s)", a->text);
  r.least = -a->most;
  r.most = -a->least;
  if (a->lo != NULL) {
    r.lo = ms_c_text(w, "(-%s)", a->hi);
    r.hi = ms_c_text(w, "(-%s)", a->lo);
  }
  return r;
}

/* math.max, math.min of two. */
static ms_integer_value extreme(ms_writer *w, const ms_integer_value *a, const ms_integer_value *b,
                                bool most) {
  const char *name = most ? "most" : "least";
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = a->unsigned_zero && b->unsigned_zero;
  r.text = ms_c_text(w, "ms_whole_%s(%s, %s)", name, a->text, b->text);
  r.least = (a->least > b->least) == most ? a->least : b->least;
  r.most = (a->most > b->most) == most ? a->most : b->most;
  if (a->lo != NULL && b->lo != NULL) {
    r.lo = ms_c_text(w, "ms_%s(%s, %s)", name, a->lo, b->lo);
    r.hi = ms_c_text(w, "ms_%s(%s, %s)", name, a->hi, b->hi);
  }
  return finish(w, r, true);
}

/* A node as an integer, seen from frame `frame` (MS_FRAMES: from none). */
static ms_integer_value whole_at(ms_writer *w, const ms_node *node, uint32_t frame);

static ms_integer_value of_binary(ms_writer *w, const ms_node *node, uint32_t frame) {
  if (node->op > MS_OP_MOD || node->op == MS_OP_DIV) return unknown;
  ms_integer_value a = whole_at(w, node->kid[0], frame);
  ms_integer_value b = a.known ? whole_at(w, node->kid[1], frame) : unknown;
  if (!b.known) return unknown;
  if (node->op == MS_OP_MUL) return product(w, &a, &b);
  if (node->op == MS_OP_MOD) return remainder_of(w, &a, &b);
  return sum(w, &a, &b, node->op == MS_OP_SUB);
}

static ms_integer_value of_call(ms_writer *w, const ms_node *node, uint32_t frame) {
  ms_kind_of called = ms_typed_expression(w->typed, node->kid[0]);
  if (called.object != MS_OBJECT_BUILTIN || node->kids < 2) return unknown;
  const ms_node *first = node->kid[1];
  if (strcmp(called.name, "math.floor") == 0 && node->kids == 2) {
    while (first->kind == MS_PAREN) first = first->kid[0];
    if (first->kind != MS_BINARY || first->op != MS_OP_DIV) return whole_at(w, first, frame);
    ms_integer_value a = whole_at(w, first->kid[0], frame);
    ms_integer_value b = whole_at(w, first->kid[1], frame);
    return a.known && b.known ? quotient(w, &a, &b) : unknown;
  }
  bool most = strcmp(called.name, "math.max") == 0;
  if (!most && strcmp(called.name, "math.min") != 0) return unknown;
  ms_integer_value r = whole_at(w, first, frame);
  for (uint32_t k = 2; k < node->kids && r.known; k++) {
    ms_integer_value next = whole_at(w, node->kid[k], frame);
    r = next.known ? extreme(w, &r, &next, most) : unknown;
  }
  return r;
}

bool ms_c_is_part(const ms_writer *w, const ms_node *node) {
  const ms_node *value;
  while (node->kind == MS_PAREN) node = node->kid[0];
  return node->kind == MS_INDEX && ms_typed_binding(w->typed, node, &value) == MS_NO_CAPTURE;
}

bool ms_c_extent_dim(ms_writer *w, const ms_node *object, const ms_node *dim, uint32_t *array,
                     uint32_t *at) {
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
  if (ms_c_is_part(w, object) || !ms_c_extent_dim(w, object, dim, &array, &d)) return unknown;
  const ms_binding *binding = &w->emitter->job->bindings[array];
  const char *extent = ms_c_extent(w, array, d);
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
static void loop_bounds(ms_writer *w, const ms_c_local *local, uint32_t frame,
                        ms_integer_value *r) {
  bool down = local->down;
  ms_integer_value start = whole_at(w, local->loop->kid[0], frame);
  ms_integer_value limit = whole_at(w, local->loop->kid[1], frame);
  bool own = frame + 1 == local->frames;
  const char *first_lo = start.lo, *first_hi = start.hi, *last_lo = limit.lo, *last_hi = limit.hi;
  if (own && local->start != NULL) first_lo = first_hi = local->start;
  if (own && local->limit != NULL) last_lo = last_hi = local->limit;
  r->lo = down ? last_lo : first_lo;
  r->hi = down ? first_hi : last_hi;
  r->needs = both(w, down ? limit.needs : start.needs, down ? start.needs : limit.needs);
}

/* A local that is declared as no integer, where one is asked for: by what it is made of. */
static ms_integer_value asked_of(ms_writer *w, const ms_c_local *local, uint32_t frame) {
  if (frame >= MS_FRAMES) return unknown;
  if (local->form != MS_FORM_DOUBLE && local->form != MS_FORM_FLOAT) return unknown;
  if (local->frames <= frame) return guarded(w, local->text);
  if (local->from == NULL || ms_node_is_multiple(local->from)) return unknown;
  return whole_at(w, local->from, frame);
}

static ms_integer_value of_symbol(ms_writer *w, const ms_symbol *symbol, uint32_t frame) {
  const ms_c_local *local = ms_c_local_of(w, symbol);
  if (local->text == NULL) return unknown;
  if (symbol->assigned && !(local->counter && frame >= MS_FRAMES)) return unknown;
  if (local->whole == NULL) return asked_of(w, local, frame);
  ms_integer_value r = {.known = true,
                        .unsigned_zero = !local->signed_zero,
                        .text = local->whole,
                        .least = local->least,
                        .most = local->most};
  if (frame >= MS_FRAMES) return r;
  if (local->frames <= frame) {
    r.lo = r.hi = ms_c_text(w, "(double)%s", local->whole);
  } else if (local->lo != NULL) {
    r.lo = local->lo;
    r.hi = local->hi;
  } else if (local->loop != NULL) {
    loop_bounds(w, local, frame, &r);
  } else if (local->from != NULL) {
    ms_integer_value from = whole_at(w, local->from, frame);
    r.lo = from.lo;
    r.hi = from.hi;
    r.needs = from.needs;
  }
  return r.lo != NULL && r.hi != NULL ? r : unknown;
}

static ms_integer_value of_path(ms_writer *w, const ms_node *node, uint32_t frame) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, node, &value);
  if (at == MS_NO_CAPTURE) {
    if (node->kind != MS_NAME || node->symbol == NULL) return unknown;
    return of_symbol(w, node->symbol, frame);
  }
  if (value != node || ms_variable_is(w->emitter, at) || frame >= MS_FRAMES) return unknown;
  if (w->emitter->job->bindings[at].kind != MS_BIND_NUMBER) return unknown;
  return guarded(w, ms_c_captured(w, at));
}

static ms_integer_value whole_at(ms_writer *w, const ms_node *node, uint32_t frame) {
  if (w->whole_steps == 0) return unknown;
  w->whole_steps--;
  switch (node->kind) {
    case MS_NUMBER:
      return node->boxed ? unknown : literal(w, node->number);
    case MS_NAME:
    case MS_INDEX:
      return of_path(w, node, frame);
    case MS_PAREN:
      return whole_at(w, node->kid[0], frame);
    case MS_BINARY:
      return of_binary(w, node, frame);
    case MS_UNARY:
      if (node->op == MS_OP_LEN) return of_extent(w, node->kid[0], NULL);
      if (node->op != MS_OP_NEG) return unknown;
      ms_integer_value a = whole_at(w, node->kid[0], frame);
      return negated(w, &a);
    case MS_CALL:
      return of_call(w, node, frame);
    case MS_METHOD:
      if (node->kids != 2 || strcmp(node->text, "size") != 0) return unknown;
      return of_extent(w, node->kid[0], node->kid[1]);
    default:
      return unknown;
  }
}

ms_integer_value ms_c_integer_value_static(ms_writer *w, const ms_node *node) {
  w->whole_steps = MOST_STEPS;
  return whole_at(w, node, MS_FRAMES);
}

static ms_integer_value value_of(ms_writer *w, const ms_node *node, bool guesses) {
  for (uint32_t f = 0; f < w->frames; f++) {
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

ms_integer_value ms_c_integer_value_certain(ms_writer *w, const ms_node *node) {
  return value_of(w, node, false);
}

bool ms_c_integer_value_within(ms_writer *w, const ms_node *node, const char *extent,
                               ms_integer_value *r) {
  for (uint32_t f = 0; f < w->frames; f++) {
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
