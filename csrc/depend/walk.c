/* SPDX-License-Identifier: MIT
 *
 * Walk, statements: see walk.h. */
#include "depend/walk.h"

#include <string.h>

#include "depend/arithmetic.h"
#include "depend/evaluate.h"
#include "depend/flow.h"
#include "depend/footprint.h"
#include "depend/gather.h"
#include "depend/generic_loop.h"
#include "depend/inline.h"
#include "depend/literal.h"
#include "depend/local_value.h"
#include "depend/numeric_loop.h"
#include "depend/piece.h"
#include "depend/shift.h"
#include "depend/sliced_output.h"
#include "depend/variable_value.h"

/* Values only grow, and each pass grows one at least; bodies of people settle in two or three. */
#define MAX_PASSES 64

static bool is_open(const ms_node *node) {
  return node->kind == MS_CALL || node->kind == MS_METHOD || node->kind == MS_VARARG;
}

ms_abstract_value ms_walk_beyond(const ms_walk *walk, const ms_abstract_value *first) {
  if (first->kind <= MS_ABSTRACT_VALUE_SCALAR) return ms_abstract_value_scalar();
  if (first->kind == MS_ABSTRACT_VALUE_VIEW)
    return ms_abstract_value_other(ms_footprint_groups(walk, first), false);
  ms_abstract_value value = *first;
  value.exact = value.callable = value.plain = false;
  value.list = 0;
  value.truth = NULL;
  value.pieces = NULL;
  return value;
}

void ms_walk_distribute(ms_walk *walk, ms_node **values, uint32_t count, uint32_t targets,
                        ms_walk_give *give, void *context) {
  enum { FEW = 4 };
  ms_abstract_value few[FEW], *all = few, last = ms_abstract_value_scalar();
  if (count > FEW) all = ms_arena_take(walk->arena, count, sizeof *all);
  if (all == NULL) {
    walk->failed = true;
    return;
  }
  for (uint32_t k = 0; k < count; k++) ms_evaluate(walk, values[k], &all[k]);
  bool open = count > 0 && is_open(values[count - 1]);
  if (count > 0) last = all[count - 1];
  for (uint32_t k = 0; k < targets; k++) {
    ms_abstract_value value = k < count ? all[k]
                              : open    ? ms_walk_beyond(walk, &last)
                                        : ms_abstract_value_scalar();
    give(walk, context, k, &value);
  }
}

static void give_symbol(ms_walk *walk, void *context, uint32_t k, const ms_abstract_value *value) {
  ms_variable_value_set(walk, ((ms_node *)context)->symbols[k], value);
}

static void give_target(ms_walk *walk, void *context, uint32_t k, const ms_abstract_value *value) {
  ms_variable_value_assign(walk, ((ms_node *)context)->kid[k], value);
}

/* ---- control ---- */

void ms_walk_maybe(ms_walk *walk, ms_node *block) {
  const ms_guard *guard = walk->guard;
  uint32_t breaks = walk->breaks;
  walk->possible++;
  walk->loops++;
  ms_walk_block(walk, block);
  walk->loops--;
  walk->possible--;
  walk->guard = guard;
  walk->breaks = breaks;
}

/* Ends that are a quadratic apart from what is affine, as of `for p = row + 1, row + i`, become
 * those of a loop from 0; what that begins at. */
static ms_abstract_value take_start(ms_walk *walk, ms_abstract_value *ends) {
  const ms_form none = {0};
  ms_abstract_value zero = ms_abstract_value_number(&none), start = ends[0],
                    length = ms_abstract_value_scalar();
  if (start.quadratic == NULL || !ms_abstract_value_is_number(&ends[1])) return zero;
  ms_arithmetic_operate(walk, MS_OP_SUB, &ends[1], &start, &length);
  if (length.kind != MS_ABSTRACT_VALUE_NUMBER) return zero;
  ends[0] = zero;
  ends[1] = length;
  return start;
}

/* The variable of a loop from there. */
static ms_abstract_value variable_from(ms_walk *walk, const ms_abstract_value *start,
                                       const ms_form *variable) {
  const ms_abstract_value number = ms_abstract_value_number(variable);
  ms_abstract_value value = ms_abstract_value_scalar();
  ms_arithmetic_operate(walk, MS_OP_ADD, start, &number, &value);
  return value;
}

static void walk_numeric(ms_walk *walk, ms_node *node) {
  ms_abstract_value ends[3];
  ms_trips trips = {.loop = node};
  ms_form one = ms_form_constant(1), variable;
  const ms_guard *guard = walk->guard;
  uint32_t scope = walk->scope_count, breaks = walk->breaks;
  ms_evaluate(walk, node->kid[0], &ends[0]);
  ms_evaluate(walk, node->kid[1], &ends[1]);
  ends[2] = ms_abstract_value_number(&one);
  if (node->kid[2] != NULL) ms_evaluate(walk, node->kid[2], &ends[2]);
  const ms_abstract_value start = take_start(walk, ends);
  ms_trips_count(walk, &trips, ends);
  uint32_t outside = walk->scope_count;
  bool exact = true;
  bool known = ms_numeric_loop_variable(walk, ends, &variable, &exact);
  ms_abstract_value value =
      known ? variable_from(walk, &start, &variable) : ms_abstract_value_scalar();
  if (node->symbols[0]->assigned) value = ms_abstract_value_scalar();
  ms_variable_value_set(walk, node->symbols[0], &value);
  bool possible = !known || !exact || ms_flow_leaves(node);
  walk->possible += possible;
  walk->loops++;
  trips.counted = known && ends[0].kind == MS_ABSTRACT_VALUE_NUMBER;
  if (trips.counted) trips.counter.at[MS_MAX_DIMS + walk->scope_count - 1] = 1;
  ms_trips_begin(walk, &trips);
  ms_walk_block(walk, node->kid[3]);
  walk->loops--;
  walk->possible -= possible;
  walk->scope_count = outside;
  if (!ms_trips_end(walk, &trips)) walk->scope_count = scope;
  walk->guard = guard;
  walk->breaks = breaks;
}

static void walk_statements(ms_walk *walk, ms_node *block) {
  for (uint32_t k = 0; k < block->kids; k++) ms_walk_statement(walk, block->kid[k]);
}

static void walk_repeat(ms_walk *walk, ms_node *node) {
  ms_abstract_value unused;
  const ms_guard *guard = walk->guard;
  ms_entrance outer = ms_flow_enter(walk);
  uint32_t scope = walk->scope_count, breaks = walk->breaks;
  walk->possible++;
  walk->loops++;
  walk_statements(walk, node->kid[0]);
  ms_evaluate(walk, node->kid[1], &unused);
  walk->loops--;
  walk->possible--;
  walk->scope_count = scope;
  ms_flow_close_jumps(walk, node->kid[0]);
  walk->block = outer;
  walk->guard = guard;
  walk->breaks = breaks;
}

static void walk_return(ms_walk *walk, ms_node *node) {
  const ms_abstract_value nothing = ms_abstract_value_scalar();
  bool called = walk->functions == 0 && walk->returns != NULL;
  if (called && node->kids == 0) ms_returns_add(walk, node, &nothing);
  for (uint32_t k = 0; k < node->kids; k++) {
    ms_abstract_value value;
    ms_evaluate(walk, node->kid[k], &value);
    if (called) ms_returns_add(walk, node, &value);
    if (walk->functions > 0) {
      ms_variable_value_store(walk, &value);
    } else if (walk->literal != NULL) {
      ms_walk_give_literal(walk, node, &value);
    } else if (walk->frame != NULL) {
      ms_inline_result(walk, node, &value);
    }
  }
  ms_flow_exit(walk, node);
}

/* What guards mention stays in scope while they may be used. */
void ms_walk_block(ms_walk *walk, ms_node *block) {
  const ms_guard *guard = walk->guard;
  ms_entrance outer = ms_flow_enter(walk);
  uint32_t scope = walk->scope_count, jumps = walk->jump_count;
  walk_statements(walk, block);
  ms_flow_close_jumps(walk, block);
  bool through = walk->guard == guard || ms_guard_is_never(walk->guard);
  if (through && walk->jump_count == jumps) walk->scope_count = scope;
  walk->block = outer;
}

void ms_walk_function(ms_walk *walk, ms_function *function) {
  const ms_guard *guard = walk->guard;
  ms_abstract_value any = ms_abstract_value_other(UINT64_MAX, true);
  uint32_t loops = walk->loops;
  for (uint32_t p = 0; p < function->parameter_count; p++)
    ms_variable_value_set(walk, function->parameters[p], &any);
  walk->functions++;
  walk->loops = 0;
  ms_walk_block(walk, function->body);
  walk->loops = loops;
  walk->functions--;
  walk->guard = guard;
}

static void walk_local_function(ms_walk *walk, ms_node *node) {
  ms_abstract_value value = ms_abstract_value_other(0, false);
  value.plain = true;
  value.literal = ms_literal_only_called(node->kid[0]);
  ms_variable_value_set(walk, node->symbols[0], &value);
  if (value.literal == NULL) ms_walk_function(walk, node->kid[0]->function);
}

static void walk_statement(ms_walk *walk, ms_node *node) {
  ms_abstract_value value = ms_abstract_value_other(0, false);
  switch (node->kind) {
    case MS_LOCAL:
      ms_walk_distribute(walk, node->kid, node->kids, node->symbol_count, give_symbol, node);
      return;
    case MS_ASSIGN:
      ms_walk_distribute(walk, node->kid + node->targets, node->kids - node->targets, node->targets,
                         give_target, node);
      return;
    case MS_EXPRESSION:
      ms_evaluate(walk, node->kid[0], &value);
      return;
    case MS_DO:
      ms_walk_block(walk, node->kid[0]);
      return;
    case MS_WHILE:
      walk->possible++;
      ms_evaluate(walk, node->kid[0], &value);
      walk->possible--;
      ms_walk_maybe(walk, node->kid[1]);
      return;
    case MS_REPEAT:
      walk_repeat(walk, node);
      return;
    case MS_IF:
      ms_flow_if(walk, node);
      return;
    case MS_FOR_NUMERIC:
      walk_numeric(walk, node);
      return;
    case MS_FOR_GENERIC:
      ms_generic_loop_walk(walk, node);
      return;
    case MS_LOCAL_FUNCTION:
      walk_local_function(walk, node);
      return;
    case MS_SET_FUNCTION:
      ms_walk_function(walk, node->kid[1]->function);
      ms_variable_value_assign(walk, node->kid[0], &value);
      return;
    case MS_RETURN:
      walk_return(walk, node);
      return;
    case MS_BREAK:
    case MS_GOTO:
      ms_flow_exit(walk, node);
      return;
    case MS_LABEL:
      ms_flow_label(walk, node);
      return;
    default:
      return;
  }
}

void ms_walk_statement(ms_walk *walk, ms_node *node) {
  bool repeats = node->kind == MS_WHILE || node->kind == MS_REPEAT || node->kind == MS_FOR_GENERIC;
  if (node->kind != MS_LABEL) ms_flow_note_dead(walk, node, false);
  if (repeats) ms_local_value_forget(walk, node);
  walk_statement(walk, node);
  if (repeats) ms_local_value_forget(walk, node);
  if (node->kind == MS_LABEL) walk->labels++; /* other paths meet here */
}

/* ---- the whole ---- */

static void range_of_form(const void *walk, const ms_form *form, double *low, double *high) {
  ms_shift_range(walk, form, low, high);
}

int ms_walk_begin(ms_walk *walk) {
  walk->symbol_value =
      ms_arena_take(walk->arena, walk->loop->tree->symbols + 1, sizeof *walk->symbol_value);
  walk->capture_value =
      ms_arena_take(walk->arena, walk->loop->capture_count + 1, sizeof *walk->capture_value);
  walk->index_value = ms_arena_take(walk->arena, MS_MAX_DIMS, sizeof *walk->index_value);
  walk->held = ms_arena_take(walk->arena, walk->loop->tree->symbols + 1, sizeof *walk->held);
  if (walk->symbol_value == NULL || walk->capture_value == NULL || walk->index_value == NULL ||
      walk->held == NULL)
    return -1;
  walk->guard = walk->block.guard = &ms_guard_always;
  walk->guards = (ms_guards){.arena = walk->arena, .range = range_of_form, .context = walk};
  if (ms_sliced_outputs_find(walk) != 0 || ms_gathers_find(walk) != 0) return -1;
  return ms_footprint_make_groups(walk);
}

/* A pass records anew: the last one counts. */
static void begin_pass(ms_walk *walk) {
  walk->changed = walk->early = false;
  walk->possible = walk->functions = walk->loops = walk->scope_count = walk->depth = 0;
  walk->accesses.count = walk->finding_count = walk->literals = 0;
  walk->elements = 1;
  walk->buffered = NULL;
  walk->jump_count = walk->exits = walk->breaks = 0;
  walk->jumps_lost = false;
  walk->dead_before = walk->dead;
  walk->dead = NULL;
  walk->table_keys = NULL;
  walk->guard = walk->block.guard = &ms_guard_always;
}

int ms_walk_body(ms_walk *walk, ms_node *body) {
  bool last = false;
  for (uint32_t pass = 0; pass < MAX_PASSES; pass++) {
    begin_pass(walk);
    ms_walk_block(walk, body);
    walk->guard = &ms_guard_always;
    if (walk->failed || walk->guards.failed) return -1;
    if (last) return 0;
    last = !walk->changed;
    /* Unless variables were read that had no value yet, all values were known in this pass. */
    if (last && !walk->early && walk->frames == NULL && walk->dead == NULL) return 0;
  }
  begin_pass(walk);
  ms_walk_find(walk, MS_REASON_COMPLEX, false, body, "move parts of the body into functions",
               "the body passes values around in more ways than are followed");
  return walk->failed ? -1 : 0;
}

void ms_walk_find(ms_walk *walk, ms_reason_kind kind, bool proven, const ms_node *node,
                  const char *fix, const char *message) {
  if (ms_guard_is_never(walk->guard)) return;
  node = ms_inline_place(walk, node);
  for (uint32_t f = 0; f < walk->finding_count; f++) {
    if (walk->findings[f].kind == kind && walk->findings[f].node == node) return;
  }
  if (walk->finding_count == walk->finding_capacity) {
    uint32_t capacity = walk->finding_capacity == 0 ? 8 : walk->finding_capacity * 2;
    ms_finding *grown = ms_arena_take(walk->arena, capacity, sizeof *grown);
    if (grown == NULL) {
      walk->failed = true;
      return;
    }
    if (walk->finding_count > 0) memcpy(grown, walk->findings, walk->finding_count * sizeof *grown);
    walk->findings = grown;
    walk->finding_capacity = capacity;
  }
  bool sure =
      proven && walk->possible == 0 && walk->functions == 0 && ms_guard_is_always(walk->guard);
  walk->findings[walk->finding_count++] = (ms_finding){kind, sure, node, message, fix};
}
