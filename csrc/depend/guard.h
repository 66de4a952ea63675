/* SPDX-License-Identifier: MIT
 *
 * Guards: the affine conditions under which a place in the body is reached.
 *
 * A guard is a union of clauses, a clause a conjunction of forms >= 0. It never leaves out an
 * iteration in which the place is reached; where so many clauses or forms do not suffice it takes
 * in more, and whoever made it is told that it is not exact. Guards are immutable, in an arena. */
#ifndef MS_DEPEND_GUARD_H
#define MS_DEPEND_GUARD_H

#include "base/arena.h"
#include "depend/form.h"

/* Every clause makes an access of its own, and pairs of accesses are compared. */
#define MS_MAX_CLAUSES 8

/* Two a condition on an index; enough for the inside of a grid of four dimensions. */
#define MS_MAX_GUARD_FORMS 10

typedef struct ms_clause {
  uint32_t count;
  const ms_form *form[MS_MAX_GUARD_FORMS];
} ms_clause;

typedef struct ms_guard {
  uint32_t count; /* 0: never */
  ms_clause clause[MS_MAX_CLAUSES];
} ms_guard;

/* When a value is true and when it is not; together they are always. Exact: never both. */
typedef struct ms_truth {
  const ms_guard *yes, *no;
  bool exact;
} ms_truth;

extern const ms_guard ms_guard_always, ms_guard_never;
extern const ms_truth ms_truth_true, ms_truth_false, ms_truth_unknown;

/* Whether a guard is known to hold always; never. */
bool ms_guard_is_always(const ms_guard *guard);
bool ms_guard_is_never(const ms_guard *guard);

/* What guards are made with. `range` gives bounds of a form in all iterations, at `context`. */
typedef struct ms_guards {
  ms_arena *arena;
  void (*range)(const void *context, const ms_form *form, double *low, double *high);
  const void *context;
  bool failed; /* memory is out */
  bool turns;  /* what is reached may depend on the steady variable */
} ms_guards;

/* form >= 0 */
const ms_guard *ms_guard_of(ms_guards *make, const ms_form *form);

/* Both hold; either holds. *exact becomes false where the result takes in more. */
const ms_guard *ms_guard_and(ms_guards *make, const ms_guard *a, const ms_guard *b, bool *exact);
const ms_guard *ms_guard_or(ms_guards *make, const ms_guard *a, const ms_guard *b, bool *exact);

#endif
