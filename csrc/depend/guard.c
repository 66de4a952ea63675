/* SPDX-License-Identifier: MIT
 *
 * Guards: see guard.h. */
#include "depend/guard.h"

#include <string.h>

const ms_guard ms_guard_always = {.count = 1};
const ms_guard ms_guard_never = {.count = 0};
const ms_truth ms_truth_true = {&ms_guard_always, &ms_guard_never, true};
const ms_truth ms_truth_false = {&ms_guard_never, &ms_guard_always, true};
const ms_truth ms_truth_unknown = {&ms_guard_always, &ms_guard_always, false};

bool ms_guard_is_always(const ms_guard *guard) {
  return guard->count > 0 && guard->clause[0].count == 0;
}

bool ms_guard_is_never(const ms_guard *guard) {
  return guard->count == 0;
}

/* b's coefficients are a's, times `sign`. */
static bool are_parallel(const ms_form *a, const ms_form *b, int64_t sign) {
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (a->at[v] != sign * b->at[v]) return false;
  }
  return true;
}

/* What becomes of a form that is added to a clause. */
typedef enum addition { ADDED, NEVER, NO_ROOM } addition;

static addition add_form(ms_clause *clause, const ms_form *form) {
  for (uint32_t f = 0; f < clause->count; f++) {
    const ms_form *other = clause->form[f];
    if (are_parallel(other, form, -1) && other->constant + form->constant < 0) return NEVER;
    if (!are_parallel(other, form, 1)) continue;
    if (form->constant < other->constant) clause->form[f] = form;
    return ADDED;
  }
  if (clause->count == MS_MAX_GUARD_FORMS) return NO_ROOM;
  clause->form[clause->count++] = form;
  return ADDED;
}

/* False if both clauses never hold together. */
static bool join(ms_clause *clause, const ms_clause *other, bool *exact) {
  for (uint32_t f = 0; f < other->count; f++) {
    addition result = add_form(clause, other->form[f]);
    if (result == NEVER) return false;
    if (result == NO_ROOM) *exact = false;
  }
  return true;
}

static bool same_clause(const ms_clause *a, const ms_clause *b) {
  if (a->count != b->count) return false;
  for (uint32_t f = 0; f < a->count; f++) {
    if (memcmp(a->form[f], b->form[f], sizeof *a->form[f]) != 0) return false;
  }
  return true;
}

/* False where there is no room. */
static bool add_clause(ms_guard *guard, const ms_clause *clause) {
  if (clause->count == 0) { /* always */
    guard->clause[0] = *clause;
    guard->count = 1;
    return true;
  }
  for (uint32_t c = 0; c < guard->count; c++) {
    if (guard->clause[c].count == 0 || same_clause(&guard->clause[c], clause)) return true;
  }
  if (guard->count == MS_MAX_CLAUSES) return false;
  guard->clause[guard->count++] = *clause;
  return true;
}

static const ms_guard *keep(ms_guards *make, const ms_guard *guard) {
  if (ms_guard_is_never(guard)) return &ms_guard_never;
  if (ms_guard_is_always(guard)) return &ms_guard_always;
  ms_guard *kept = ms_arena_take(make->arena, 1, sizeof *kept);
  make->failed = make->failed || kept == NULL;
  if (kept == NULL) return &ms_guard_always;
  *kept = *guard;
  return kept;
}

const ms_guard *ms_guard_of(ms_guards *make, const ms_form *form) {
  make->turns = make->turns || form->at[MS_VAR_STEADY] != 0;
  double low, high;
  make->range(make->context, form, &low, &high);
  if (low >= 0) return &ms_guard_always;
  if (high < 0) return &ms_guard_never;
  ms_form *kept = ms_arena_take(make->arena, 1, sizeof *kept);
  make->failed = make->failed || kept == NULL;
  if (kept == NULL) return &ms_guard_always;
  *kept = *form;
  ms_guard guard = {.count = 1, .clause = {{.count = 1, .form = {kept}}}};
  return keep(make, &guard);
}

const ms_guard *ms_guard_and(ms_guards *make, const ms_guard *a, const ms_guard *b, bool *exact) {
  if (ms_guard_is_always(a) || ms_guard_is_never(b) || a == b) return b;
  if (ms_guard_is_always(b) || ms_guard_is_never(a)) return a;
  ms_guard both = {.count = 0};
  for (uint32_t m = 0; m < a->count; m++) {
    for (uint32_t n = 0; n < b->count; n++) {
      ms_clause clause = a->clause[m];
      if (!join(&clause, &b->clause[n], exact)) continue;
      if (add_clause(&both, &clause)) continue;
      *exact = false;
      return a;
    }
  }
  return keep(make, &both);
}

const ms_guard *ms_guard_or(ms_guards *make, const ms_guard *a, const ms_guard *b, bool *exact) {
  if (ms_guard_is_always(a) || ms_guard_is_never(b) || a == b) return a;
  if (ms_guard_is_always(b) || ms_guard_is_never(a)) return b;
  ms_guard both = *a;
  for (uint32_t c = 0; c < b->count; c++) {
    if (add_clause(&both, &b->clause[c])) continue;
    *exact = false;
    return &ms_guard_always;
  }
  return keep(make, &both);
}
