/* SPDX-License-Identifier: MIT
 *
 * Steady verdicts: those that hold for all values of a space's steady variable (meaning.h). See
 * verdict.h.
 *
 * The body is analysed once more with that variable in its subscripts and ranges, the same one in
 * both iterations of a pair. Where no pair meets then, none meets for any value, and the loop is
 * independent whatever the driver loop makes of its numbers. What variables are is the same if
 * nothing that is reached depends on them. Everything else in a verdict follows from the ranges. */
#include <stdlib.h>
#include <string.h>

#include "depend/buffered.h"
#include "depend/conflict.h"
#include "depend/entry.h"
#include "depend/reason.h"
#include "depend/scalar.h"
#include "depend/space.h"
#include "depend/verdict.h"
#include "depend/walk.h"

typedef struct question {
  ms_walk walk;
  ms_domain domain;
  ms_node *body;
  ms_solver *solver;
  ms_conflicts conflicts;
} question;

static bool same_text(const char *one, const char *other) {
  return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static bool same_scalar(const ms_scalar_plan *one, const ms_scalar_plan *other) {
  return one->capture == other->capture && one->role == other->role && one->op == other->op &&
         one->wins == other->wins && one->unset == other->unset && one->leader == other->leader &&
         one->tie == other->tie && one->tie_op == other->tie_op && one->ranked == other->ranked &&
         one->gated == other->gated && one->gate == other->gate && one->exact == other->exact &&
         same_text(one->indices, other->indices);
}

/* Whether variables have the same roles, whatever the steady variable is. */
static bool keeps_scalars(question *now, const ms_verdict *verdict) {
  uint32_t count;
  ms_scalar_plan *scalars;
  if (ms_scalars_find(&now->walk, now->body, &scalars, &count) != 0) return false;
  bool same = count == verdict->scalar_count;
  for (uint32_t s = 0; s < count && same; s++) {
    bool stays = scalars[s].role == MS_ROLE_BROADCAST || !now->walk.guards.turns;
    same = stays && same_scalar(&scalars[s], &verdict->scalars[s]);
  }
  return same;
}

/* No two iterations meet, whatever the steady variable is. */
static bool is_steady(question *now, const ms_verdict *verdict) {
  ms_error ignored;
  ms_error_clear(&ignored);
  if (ms_walk_begin(&now->walk) != 0) return false;
  if (ms_space_domain(&now->walk, &now->domain, &now->body, &ignored) != 0) return false;
  if (ms_walk_body(&now->walk, now->body) != 0) return false;
  ms_buffered_find(&now->walk);
  if (ms_entry_read(&now->walk) != 0) return false;
  for (uint32_t f = 0; f < now->walk.finding_count; f++) {
    if (ms_finding_refuses(&now->walk.findings[f])) return false;
  }
  if (ms_conflicts_find(&now->conflicts, now->solver, &now->domain, &now->walk.accesses,
                        now->walk.groups.count, now->walk.space->assumes) != 0)
    return false;
  return now->conflicts.known && now->conflicts.pair_count == 0 && keeps_scalars(now, verdict);
}

bool ms_verdict_is_steady(const ms_loop *loop, const ms_binding *bindings, uint32_t binding_count,
                          const ms_space *space, const ms_verdict *verdict) {
  bool asked = verdict->strategy == MS_INDEPENDENT && verdict->distance_count == 0 &&
               space->steady.present && space->collapse == 1 && !space->sparse;
  question *now = asked ? calloc(1, sizeof *now) : NULL;
  if (now == NULL) return false;
  now->walk.loop = loop;
  now->walk.bindings = bindings;
  now->walk.binding_count = binding_count;
  now->walk.space = space;
  now->walk.domain = &now->domain;
  now->body = loop->body;
  now->solver = ms_solver_new(0);
  if (now->solver != NULL) now->walk.arena = ms_solver_arena(now->solver);
  bool steady = now->solver != NULL && is_steady(now, verdict);
  ms_solver_destroy(&now->solver);
  free(now);
  return steady;
}
