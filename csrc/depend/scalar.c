/* SPDX-License-Identifier: MIT
 *
 * Scalars: see scalar.h. Private or carried is decided by definite assignment: one pass over the
 * body in the order of execution that knows, at each place, whether the variable was assigned in
 * this iteration on every path to it. */
#include "depend/scalar.h"

#include <string.h>

#include "depend/capture_path.h"
#include "depend/carried.h"
#include "depend/explain.h"
#include "depend/flow.h"
#include "depend/read_after.h"
#include "depend/sliced_output.h"
#include "depend/start.h"

typedef struct flow {
  const ms_walk *walk;
  const ms_capture *capture;
  bool assigned;  /* on every path to here */
  bool exposed;   /* read somewhere before it was assigned */
  uint32_t maybe; /* > 0: on some paths only */
  const ms_node *first_read, *first_write;
  bool read_surely, write_surely;
} flow;

static void follow(flow *state, ms_node *node);

static void read_here(flow *state, const ms_node *node) {
  if (state->assigned) return;
  if (!state->exposed || (!state->read_surely && state->maybe == 0)) state->first_read = node;
  if (state->maybe == 0) state->read_surely = true;
  state->exposed = true;
}

static void write_here(flow *state, const ms_node *node) {
  if (state->first_write == NULL) state->first_write = node;
  if (state->maybe == 0) state->write_surely = true;
  state->assigned = true;
}

static void follow_kids(flow *state, ms_node *node, uint32_t from, uint32_t to) {
  for (uint32_t k = from; k < to; k++) {
    if (node->kid[k] != NULL) follow(state, node->kid[k]);
  }
}

/* A mention inside a function that the body makes: when it runs is not known. */
static bool mention(ms_node *node, void *context) {
  flow *state = context;
  if (ms_flow_is_dead(state->walk, node, false)) return false;
  if (!ms_capture_path_is(state->capture, node)) return true;
  state->assigned = false;
  read_here(state, node);
  if (state->first_write == NULL) state->first_write = node;
  return true;
}

static void follow_function(flow *state, ms_node *node) {
  bool assigned = state->assigned;
  state->maybe++;
  ms_node_walk(node->function->body, mention, state);
  state->maybe--;
  state->assigned = assigned;
}

static void follow_assign(flow *state, ms_node *node) {
  follow_kids(state, node, node->targets, node->kids);
  for (uint32_t k = 0; k < node->targets; k++) {
    if (ms_capture_path_is(state->capture, node->kid[k])) continue;
    follow(state, node->kid[k]);
  }
  for (uint32_t k = 0; k < node->targets; k++) {
    if (ms_capture_path_is(state->capture, node->kid[k])) write_here(state, node->kid[k]);
  }
}

/* Follows something that may not run; what it assigns does not count afterwards. */
static void follow_maybe(flow *state, ms_node *node) {
  bool assigned = state->assigned;
  state->maybe++;
  follow(state, node);
  state->maybe--;
  state->assigned = assigned;
}

static void follow_if(flow *state, ms_node *node) {
  bool all = true, has_else = node->kids % 2 == 1 || ms_flow_is_dead(state->walk, node, true);
  uint32_t maybe = state->maybe;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (k + 1 < node->kids && k % 2 == 0) { /* a condition; its block follows */
      follow(state, node->kid[k]);
      state->maybe = maybe + 1;
      continue;
    }
    bool before = state->assigned;
    state->maybe = maybe + 1;
    follow(state, node->kid[k]);
    all = all && state->assigned;
    state->assigned = before;
  }
  state->maybe = maybe;
  state->assigned = state->assigned || (all && has_else);
}

static bool look_for_break(ms_node *node, void *context) {
  bool *found = context;
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind == MS_BREAK || node->kind == MS_GOTO) *found = true;
  return true;
}

static void follow_repeat(flow *state, ms_node *node) {
  bool before = state->assigned, leaves = false;
  ms_node_walk(node->kid[0], look_for_break, &leaves);
  follow_kids(state, node, 0, 2);
  if (leaves) state->assigned = before;
}

static void follow_loop(flow *state, ms_node *node) {
  uint32_t last = node->kids - 1;
  follow_kids(state, node, 0, last);
  follow_maybe(state, node->kid[last]);
}

static void follow(flow *state, ms_node *node) {
  if (ms_flow_is_dead(state->walk, node, false)) {
    state->assigned = state->assigned || node->kind > MS_BLOCK; /* no path comes out of it */
    return;
  }
  switch (node->kind) {
    case MS_NAME:
      if (ms_capture_path_is(state->capture, node)) read_here(state, node);
      return;
    case MS_BINARY:
      follow(state, node->kid[0]);
      if (node->op == MS_OP_AND || node->op == MS_OP_OR) {
        follow_maybe(state, node->kid[1]);
      } else {
        follow(state, node->kid[1]);
      }
      return;
    case MS_FUNCTION:
      follow_function(state, node);
      return;
    case MS_ASSIGN:
      follow_assign(state, node);
      return;
    case MS_SET_FUNCTION:
      follow(state, node->kid[1]);
      if (ms_capture_path_is(state->capture, node->kid[0])) {
        write_here(state, node->kid[0]);
      } else {
        follow(state, node->kid[0]);
      }
      return;
    case MS_IF:
      follow_if(state, node);
      return;
    case MS_REPEAT:
      follow_repeat(state, node);
      return;
    case MS_WHILE:
    case MS_FOR_NUMERIC:
    case MS_FOR_GENERIC:
      follow_loop(state, node);
      return;
    case MS_BREAK:
    case MS_GOTO:
      state->assigned = true;
      return; /* nothing follows on this path */
    case MS_RETURN:
      follow_kids(state, node, 0, node->kids);
      state->assigned = true;
      return;
    case MS_LABEL:
      state->assigned = false;
      return; /* paths join that were not followed */
    default:
      follow_kids(state, node, 0, node->kids);
      return;
  }
}

/* ---- roles ---- */

static void find_scalar(ms_walk *walk, ms_reason_kind kind, bool proven, const ms_node *node,
                        const ms_capture *capture, const char *rest, const char *fix) {
  const char *path = ms_explain_path(walk, walk->arena, (uint32_t)(capture - walk->loop->captures));
  const char *message = path == NULL ? NULL : ms_arena_format(walk->arena, "%s %s", path, rest);
  if (message == NULL || fix == NULL) {
    walk->failed = true;
    return;
  }
  ms_walk_find(walk, kind, proven, node, fix, message);
}

/* The variable gets the same constant wherever it is assigned: it says whether something happened.
 */
static bool is_mark(const ms_node *write) {
  const ms_node *assign = write->parent;
  if (assign->kind != MS_ASSIGN || assign->kids != 2) return false;
  ms_kind kind = assign->kid[1]->kind;
  return kind == MS_NUMBER || kind == MS_TRUE || kind == MS_FALSE || kind == MS_STRING;
}

static void judge_private(ms_walk *walk, const ms_capture *capture, const flow *state,
                          ms_scalar_plan *plan) {
  plan->role = MS_ROLE_PRIVATE;
  const char *fix =
      ms_arena_format(walk->arena, "if it is not needed after the loop: local %s", capture->root);
  bool later = ms_capture_is_read_after(walk->loop, capture);
  bool lasts = later || capture->reach != MS_REACH_LOCAL;
  if (!walk->space->ordered && !state->assigned && lasts) {
    plan->role = MS_ROLE_CARRIED;
    if (is_mark(state->first_write))
      fix = ms_arena_format(walk->arena, "whether any iteration does: %s = false  ... %s = true",
                            capture->root, capture->root);
    find_scalar(walk, MS_REASON_SOMETIMES, false, state->first_write, capture,
                "is assigned on some paths only, so its value after the loop depends on which "
                "iteration came last, and in an unordered loop none is",
                fix);
  } else if (!walk->space->ordered && later) {
    plan->role = MS_ROLE_CARRIED;
    find_scalar(walk, MS_REASON_READ_AFTER, true, state->first_write, capture,
                "is read after the loop, but in an unordered loop no iteration is the last", fix);
  } else if (capture->reach == MS_REACH_GLOBAL) {
    find_scalar(walk, MS_REASON_ADD_LOCAL, false, state->first_write, capture,
                "is a global that the body assigns before it reads it", fix);
  }
}

/* A variable to which there is another way: by a name, or unknown. */
static void find_aliased(ms_walk *walk, const ms_capture *capture, const char *alias) {
  if (alias == NULL) {
    find_scalar(walk, MS_REASON_SCALAR, false, capture->first, capture,
                "is assigned by the body and may be read by a function that the body can call, "
                "which would not see the change on a worker",
                "hand it to the function as an argument");
    return;
  }
  const char *rest = ms_arena_format(
      walk->arena,
      "is assigned by the body, and %s is the same variable, which would not change on a worker",
      alias);
  const char *fix = ms_arena_format(walk->arena, "use one name for it: %s", capture->root);
  find_scalar(walk, MS_REASON_SCALAR, false, capture->first, capture, rest == NULL ? "" : rest,
              rest == NULL ? NULL : fix);
}

/* A variable that is assigned in dead places only: it keeps the value of before the loop. */
static bool keeps_value(ms_walk *walk, ms_node *body, uint32_t index, ms_scalar_plan *plan) {
  const ms_capture *capture = &walk->loop->captures[index];
  const ms_binding *binding = &walk->bindings[index];
  flow state = {.walk = walk, .capture = capture};
  if (binding->depth != capture->field_count) return false;
  if (walk->dead_before == NULL) return false;
  follow(&state, body);
  if (state.first_write != NULL) return false;
  bool read = state.exposed || capture->field_count > 0;
  *plan = (ms_scalar_plan){.capture = index, .role = read ? MS_ROLE_BROADCAST : MS_ROLE_PRIVATE};
  return true;
}

/* A reduction, if it can start from what there is before the loop. */
static void reduction_role(ms_walk *walk, const ms_capture *capture, ms_scalar_plan *plan) {
  const char *fix = NULL, *words = ms_start_words(walk, plan, &fix);
  plan->role = words == NULL ? MS_ROLE_REDUCTION : MS_ROLE_CARRIED;
  if (words != NULL) find_scalar(walk, MS_REASON_SCALAR, true, capture->first, capture, words, fix);
}

static void assignment_role(ms_walk *walk, ms_node *body, uint32_t index, ms_scalar_plan *plan) {
  const ms_capture *capture = &walk->loop->captures[index];
  flow state = {.walk = walk, .capture = capture};
  plan->capture = index;
  if (walk->bindings[index].aliased && capture->field_count == 0) {
    plan->role = MS_ROLE_CARRIED;
    find_aliased(walk, capture, walk->bindings[index].alias);
    return;
  }
  if (ms_scalar_reduction(walk, body, plan)) {
    reduction_role(walk, capture, plan);
    return;
  }
  follow(&state, body);
  if (!state.exposed && !ms_scalar_follows(walk, body, index)) {
    judge_private(walk, capture, &state, plan);
    return;
  }
  plan->role = MS_ROLE_CARRIED;
  const char *rest = "is read before it is assigned, so each iteration needs the one before it";
  const ms_node *place = NULL;
  const char *fix = ms_carried_fix(walk, body, index, &rest, &place);
  if (fix == NULL)
    fix = ms_arena_format(walk->arena, "if each iteration may start afresh: local %s = ...",
                          capture->root);
  if (rest == NULL) fix = NULL; /* out of memory */
  find_scalar(walk, MS_REASON_SCALAR, state.read_surely && state.write_surely,
              place != NULL ? place : state.first_read, capture, rest, fix);
}

static void gathering_role(ms_walk *walk, uint32_t index, ms_scalar_plan *plan) {
  ms_gathering gathers = walk->gathered[index];
  bool lists = gathers == MS_GATHERS_LIST;
  plan->capture = index;
  plan->role = lists                        ? MS_ROLE_LISTED
               : gathers >= MS_GATHERS_MARK ? MS_ROLE_MARKED
                                            : MS_ROLE_COUNTED;
  plan->exact = gathers == MS_GATHERS_COUNTS;
  plan->ranked = lists && walk->scattered;
}

int ms_scalars_find(ms_walk *walk, ms_node *body, ms_scalar_plan **scalars, uint32_t *count) {
  const ms_loop *loop = walk->loop;
  *count = 0;
  *scalars = ms_arena_take(walk->arena, loop->capture_count + 1, sizeof **scalars);
  if (*scalars == NULL) return -1;
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    const ms_capture *capture = &loop->captures[c];
    ms_scalar_plan *plan = &(*scalars)[*count];
    bool variable = capture->field_count == 0;
    if (capture->assigned && keeps_value(walk, body, c, plan)) {
      (*count)++;
    } else if (capture->assigned && (variable || ms_scalar_in_field(walk, c))) {
      assignment_role(walk, body, c, plan);
      (*count)++;
    } else if (!capture->assigned && walk->bindings[c].kind <= MS_BIND_STRING &&
               walk->bindings[c].depth == capture->field_count) {
      *plan = (ms_scalar_plan){.capture = c, .role = MS_ROLE_BROADCAST};
      (*count)++;
    } else if (walk->sliced[c] && ms_sliced_output_indices(walk, c, &plan->indices)) {
      plan->capture = c;
      plan->role = MS_ROLE_SLICED;
      (*count)++;
    } else if (walk->gathered[c] != MS_GATHERS_NOTHING) {
      gathering_role(walk, c, plan);
      (*count)++;
    }
  }
  return walk->failed ? -1 : 0;
}
