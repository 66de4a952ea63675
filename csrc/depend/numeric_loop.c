/* SPDX-License-Identifier: MIT
 *
 * Walk, inner numeric loops: their variables, and the guard inside of them. See walk.h.
 *
 * An end that is the greatest or the least of some numbers bounds the variable by each of them, or
 * by any; one that is one thing or another does so where it is that. */
#include "depend/numeric_loop.h"
#include "depend/piece.h"
#include "depend/shift.h"

static bool beyond_index(int64_t value) {
  return value > MS_FORM_INDEX || value < -MS_FORM_INDEX;
}

static bool are_near(const ms_pieces *all) {
  for (uint32_t p = 0; p < all->count; p++) {
    const ms_abstract_value *value = &all->piece[p].value;
    if (value->kind != MS_ABSTRACT_VALUE_NUMBER || beyond_index(value->form.constant)) return false;
  }
  return all->count > 0;
}

/* sign * (a - b) */
static bool difference(ms_form *result, const ms_form *a, const ms_form *b, int64_t sign) {
  ms_form rest;
  const ms_form zero = {0};
  return ms_form_add(&rest, a, b, -1) && ms_form_add(result, &zero, &rest, sign);
}

/* One of an inner loop's ends: the variable is not below the start, or above the limit, where the
 * step is positive; `sign` is 1 for what it is not below. */
typedef struct end {
  const ms_pieces *all;
  const ms_form *variable;
  int64_t sign;
} end;

/* Where the variable is within one piece. */
static const ms_guard *within_piece(ms_walk *walk, const end *at, uint32_t p) {
  ms_form form;
  if (!difference(&form, at->variable, &at->all->piece[p].value.form, at->sign)) return NULL;
  return ms_guard_of(&walk->guards, &form);
}

/* Where it is within all of them, if being within the end means that, or within the one that the
 * end is; NULL: not known. */
static const ms_guard *within_end(ms_walk *walk, const end *at, bool *exact) {
  bool each = at->all->extremity == (at->sign > 0 ? MS_GREATEST : MS_LEAST);
  const ms_guard *guard = each ? &ms_guard_always : &ms_guard_never;
  *exact = *exact && (each || at->all->exact);
  for (uint32_t p = 0; p < at->all->count; p++) {
    const ms_guard *one = within_piece(walk, at, p);
    if (one == NULL) return NULL;
    if (each) {
      guard = ms_guard_and(&walk->guards, guard, one, exact);
    } else {
      one = ms_guard_and(&walk->guards, at->all->piece[p].when, one, exact);
      guard = ms_guard_or(&walk->guards, guard, one, exact);
    }
  }
  return guard;
}

/* A bound that the variable has in any case: that of the only piece, or the farthest value. */
static bool bound_of(ms_walk *walk, const end *at, ms_form *bound) {
  if (at->all->count == 1)
    return difference(bound, at->variable, &at->all->piece[0].value.form, at->sign);
  double farthest = 0;
  for (uint32_t p = 0; p < at->all->count; p++) {
    double low, high;
    ms_shift_range(walk, &at->all->piece[p].value.form, &low, &high);
    double far = at->sign > 0 ? -low : high;
    if (p == 0 || far > farthest) farthest = far;
  }
  if (!(farthest <= (double)MS_FORM_INDEX && farthest >= -(double)MS_FORM_INDEX)) return false;
  ms_form value = ms_form_constant((int64_t)farthest * -at->sign);
  return difference(bound, at->variable, &value, at->sign);
}

/* The variable as start + step * q with q >= 0, or as itself where the start has pieces: then the
 * step is 1 or -1. */
static bool variable_of(ms_form *variable, const ms_pieces *start, int64_t stride, uint32_t at) {
  ms_form q = {0};
  q.at[MS_MAX_DIMS + at] = 1;
  if (start->count == 1) return ms_form_add(variable, &start->piece[0].value.form, &q, stride);
  *variable = q;
  return stride == 1 || stride == -1;
}

/* Between which forms the variable is in any case. */
static bool range_of(ms_walk *walk, const end *from, const end *to, ms_inner *inner) {
  *inner = (ms_inner){.loop = true};
  if (!bound_of(walk, from, &inner->low) || !bound_of(walk, to, &inner->high)) return false;
  if (from->all->count > 1) return true;
  inner->low = (ms_form){0}; /* start + step * q: q >= 0 */
  inner->low.at[MS_MAX_DIMS + walk->scope_count] = 1;
  const ms_form *first = &from->all->piece[0].value.form, *last = &to->all->piece[0].value.form;
  bool constant = ms_form_is_constant(first) && ms_form_is_constant(last);
  int64_t length = (last->constant - first->constant) * from->sign;
  inner->total = to->all->count == 1 && constant && length >= 0;
  return true;
}

static void go_within(ms_walk *walk, const end *at, bool *exact) {
  if (at->all->count == 1) return;
  const ms_guard *guard = within_end(walk, at, exact);
  if (guard == NULL) {
    *exact = false;
  } else {
    walk->guard = ms_guard_and(&walk->guards, walk->guard, guard, exact);
  }
}

bool ms_numeric_loop_variable(ms_walk *walk, const ms_abstract_value *ends, ms_form *variable,
                              bool *exact) {
  if (ends[2].kind != MS_ABSTRACT_VALUE_NUMBER || !ms_form_is_constant(&ends[2].form)) return false;
  const ms_pieces start = ms_pieces_of(&ends[0]), limit = ms_pieces_of(&ends[1]);
  int64_t stride = ends[2].form.constant, sign = stride > 0 ? 1 : -1;
  if (stride == 0 || walk->scope_count == MS_MAX_INNER) return false;
  if (!are_near(&start) || !are_near(&limit)) return false;
  if (!variable_of(variable, &start, stride, walk->scope_count)) return false;
  const end from = {&start, variable, sign}, to = {&limit, variable, -sign};
  ms_inner inner;
  if (!range_of(walk, &from, &to, &inner)) return false;
  walk->scope[walk->scope_count++] = inner;
  bool turns = inner.high.at[MS_VAR_STEADY] != 0 || inner.low.at[MS_VAR_STEADY] != 0;
  walk->guards.turns = walk->guards.turns || turns;
  go_within(walk, &from, exact);
  go_within(walk, &to, exact);
  return true;
}
