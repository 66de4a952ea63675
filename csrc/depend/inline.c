/* SPDX-License-Identifier: MIT
 *
 * Walk, captured functions: their bodies are walked where they are called. See walk.h.
 *
 * A frame keeps what is known of a function's variables at one place of call, from pass to pass.
 * While it is walked, walk->loop is the function's text and the walk's tables are the frame's; what
 * is found is said of the call in the loop's body.
 *
 * A function that calls itself, by others or not, is walked once for all of its calls: a parameter
 * is what it is given first or by any of these, unless they hand it on as it is, and such a call
 * gives what any call may. Varargs, very deep calls, and those by which a function goes from one
 * known object or part of an array to another are not walked: the caller then takes what their
 * bindings say of them. */
#include <string.h>

#include "depend/call.h"
#include "depend/flow.h"
#include "depend/inline.h"
#include "depend/piece.h"
#include "depend/variable_value.h"
#include "depend/walk.h"

/* Calls inside calls, and frames in all, that are walked. */
#define MAX_CALLS  12U
#define MAX_FRAMES 300U

struct ms_call_frame {
  ms_call_frame *caller, *next;
  const ms_node *call, *site; /* where it is called, and the call in the loop's body around that */
  uint32_t binding, depth;
  const ms_node *tail;       /* the return at the end, if the function has no other; else NULL */
  ms_abstract_value exact;   /* what that gives */
  ms_abstract_value *result; /* what any return may give; NULL: nothing yet */
  ms_abstract_value *whole;  /* what any call may give; NULL: nothing yet */
  ms_abstract_value *given;  /* by parameter: its value in this pass */
  ms_abstract_value **again; /* by parameter: what else calls of itself give it; NULL: nothing */
  ms_abstract_value **symbol_value, **capture_value;
  const ms_local_value **held;
};

const ms_node *ms_inline_place(const ms_walk *walk, const ms_node *node) {
  return walk->frame != NULL ? walk->frame->site : node;
}

ms_meaning ms_inline_meaning(const ms_walk *walk, uint32_t capture) {
  if (walk->means != NULL) return walk->means[capture];
  return (ms_meaning){capture, walk->bindings[capture].depth};
}

static bool count_return(ms_node *node, void *context) {
  uint32_t *count = context;
  if (node->kind == MS_FUNCTION) return false;
  *count += node->kind == MS_RETURN;
  return true;
}

/* The return of one value at the end of a body that has no other return; else NULL. */
const ms_node *ms_inline_tail(ms_node *body) {
  uint32_t count = 0;
  ms_node_walk(body, count_return, &count);
  const ms_node *last = body->kids > 0 ? body->kid[body->kids - 1] : NULL;
  return count == 1 && last->kind == MS_RETURN && last->kids == 1 ? last : NULL;
}

static ms_call_frame *frame_of(ms_walk *walk, uint32_t binding, const ms_node *call) {
  uint32_t count = 0;
  for (ms_call_frame *each = walk->frames; each != NULL; each = each->next, count++) {
    if (each->call == call && each->binding == binding && each->caller == walk->frame) return each;
  }
  if (count >= MAX_FRAMES) return NULL;
  const ms_loop *code = walk->bindings[binding].code;
  ms_call_frame *frame = ms_arena_take(walk->arena, 1, sizeof *frame);
  if (frame == NULL) return NULL;
  frame->symbol_value =
      ms_arena_take(walk->arena, code->tree->symbols + 1, sizeof *frame->symbol_value);
  frame->capture_value =
      ms_arena_take(walk->arena, code->capture_count + 1, sizeof *frame->capture_value);
  frame->held = ms_arena_take(walk->arena, code->tree->symbols + 1, sizeof *frame->held);
  uint32_t parameters = code->closure->parameter_count + 1;
  frame->given = ms_arena_take(walk->arena, parameters, sizeof *frame->given);
  frame->again = ms_arena_take(walk->arena, parameters, sizeof *frame->again);
  if (frame->symbol_value == NULL || frame->capture_value == NULL || frame->held == NULL ||
      frame->given == NULL || frame->again == NULL)
    return NULL;
  frame->caller = walk->frame;
  frame->call = call;
  frame->site = ms_inline_place(walk, call);
  frame->binding = binding;
  frame->depth = walk->frame == NULL ? 1 : walk->frame->depth + 1;
  frame->tail = ms_inline_tail(code->body);
  frame->next = walk->frames;
  walk->frames = frame;
  walk->changed = true;
  return frame;
}

/* Whether a function can be walked here: known, with fixed parameters, not being walked. */
static bool is_walkable(const ms_walk *walk, uint32_t binding) {
  const ms_loop *code = walk->bindings[binding].code;
  if (code == NULL || code->closure == NULL || code->closure->vararg) return false;
  if (walk->frame != NULL && walk->frame->depth >= MAX_CALLS) return false;
  for (const ms_call_frame *each = walk->frame; each != NULL; each = each->caller) {
    if (walk->bindings[each->binding].code == code) return false;
  }
  return true;
}

void ms_inline_result(ms_walk *walk, const ms_node *node, const ms_abstract_value *value) {
  if (node == walk->frame->tail) {
    walk->frame->exact = *value;
  } else {
    ms_variable_value_join(walk, &walk->frame->result, value);
  }
}

/* What a call passes for a parameter. */
static ms_abstract_value passed_for(const ms_walk *walk, const ms_passed *passed, uint32_t p) {
  if (p < passed->count) return passed->value[p];
  if (passed->open) return ms_walk_beyond(walk, &passed->value[passed->count - 1]);
  return ms_abstract_value_scalar();
}

void ms_inline_parameters(ms_walk *walk, const ms_function *function, const ms_passed *passed) {
  for (uint32_t p = 0; p < function->parameter_count; p++) {
    const ms_abstract_value value = passed_for(walk, passed, p);
    ms_variable_value_set(walk, function->parameters[p], &value);
  }
}

/* ---- functions that call themselves ---- */

/* Gives the frame's parameters what the call passes, or calls of itself do. */
static void give_frame(ms_walk *walk, ms_call_frame *frame, const ms_passed *passed) {
  const ms_function *function = walk->loop->closure;
  for (uint32_t p = 0; p < function->parameter_count; p++) {
    ms_abstract_value value = passed_for(walk, passed, p);
    if (frame->again[p] != NULL) value = ms_variable_value_either(walk, frame->again[p], &value);
    frame->given[p] = value;
    ms_variable_value_set(walk, function->parameters[p], &value);
  }
}

/* Whether two bindings are one function to the walk: one text, whose captures mean the same. */
static bool are_one(const ms_binding *a, const ms_binding *b) {
  if (a->code == NULL || a->code != b->code) return false;
  for (uint32_t c = 0; c < a->code->capture_count; c++) {
    if (a->means[c].binding != b->means[c].binding || a->means[c].depth != b->means[c].depth)
      return false;
  }
  return true;
}

/* The frame that is walked for a function that is called again. */
static ms_call_frame *frame_around(const ms_walk *walk, uint32_t binding) {
  const ms_binding *called = &walk->bindings[binding];
  ms_call_frame *each = walk->frame;
  while (each != NULL && !are_one(&walk->bindings[each->binding], called)) each = each->caller;
  return each;
}

/* Whether a call passes another object, function or part of an array than the one that a parameter
 * is known to be: what is known of that one would be lost for all calls. */
static bool passes_another(const ms_walk *walk, const ms_call_frame *frame, const ms_passed *passed,
                           uint32_t count) {
  for (uint32_t p = 0; p < count; p++) {
    const ms_abstract_value given = passed_for(walk, passed, p), *known = &frame->given[p];
    bool one = known->kind == MS_ABSTRACT_VALUE_VIEW ||
               (known->kind == MS_ABSTRACT_VALUE_OTHER && (known->exact || known->callable));
    if (one && !ms_abstract_value_is_same(&given, known)) return true;
  }
  return false;
}

/* A call of a function that is walked; false: it is not known what that gives. */
static bool call_again(ms_walk *walk, ms_call_frame *frame, const ms_passed *passed,
                       ms_abstract_value *value) {
  uint32_t count = walk->bindings[frame->binding].code->closure->parameter_count;
  if (passes_another(walk, frame, passed, count)) return false;
  bool reached = !ms_guard_is_never(walk->guard);
  for (uint32_t p = 0; p < count && reached; p++) {
    const ms_abstract_value given = passed_for(walk, passed, p);
    if (ms_abstract_value_is_same(&given, &frame->given[p])) continue;
    ms_variable_value_join(walk, &frame->again[p], &given);
  }
  *value = ms_abstract_value_scalar();
  if (frame->whole != NULL) *value = *frame->whole;
  return true;
}

/* The frame's function; quotients and ranges that its exact result mentions stay in scope. */
static bool walk_code(ms_walk *walk, const ms_call_frame *frame, ms_abstract_value *value) {
  ms_node *body = walk->loop->body;
  uint32_t scope = walk->scope_count;
  ms_returns returns;
  ms_returns_begin(walk, &returns);
  ms_flow_enter(walk);
  for (uint32_t k = 0; k < body->kids; k++) ms_walk_statement(walk, body->kid[k]);
  ms_flow_close_jumps(walk, body);
  bool known = ms_returns_end(walk, value) && frame->tail == NULL;
  if (frame->tail == NULL && !known) walk->scope_count = scope;
  return known;
}

bool ms_walk_inline(ms_walk *walk, uint32_t binding, const ms_node *call, const ms_passed *passed,
                    ms_abstract_value *value) {
  ms_call_frame *frame = frame_around(walk, binding);
  if (frame != NULL) return call_again(walk, frame, passed, value);
  frame = is_walkable(walk, binding) ? frame_of(walk, binding, call) : NULL;
  if (frame == NULL) return false;
  ms_walk outer = *walk;
  walk->frame = frame;
  walk->loop = walk->bindings[binding].code;
  walk->means = walk->bindings[binding].means;
  walk->symbol_value = frame->symbol_value;
  walk->capture_value = frame->capture_value;
  walk->held = frame->held;
  walk->possible += walk->functions;
  walk->functions = walk->loops = 0;
  walk->literal = NULL;
  give_frame(walk, frame, passed);
  ms_abstract_value pieces;
  bool known = walk_code(walk, frame, &pieces);
  walk->frame = outer.frame;
  walk->loop = outer.loop;
  walk->means = outer.means;
  walk->symbol_value = outer.symbol_value;
  walk->capture_value = outer.capture_value;
  walk->held = outer.held;
  walk->possible = outer.possible;
  walk->functions = outer.functions;
  walk->literal = outer.literal;
  walk->loops = outer.loops;
  walk->guard = outer.guard;
  walk->block = outer.block;
  walk->exits = outer.exits;
  walk->breaks = outer.breaks;
  *value = ms_abstract_value_scalar();
  if (frame->tail != NULL) {
    *value = frame->exact;
  } else if (known) {
    *value = pieces;
  } else if (frame->result != NULL) {
    *value = *frame->result;
  }
  ms_variable_value_join(walk, &frame->whole, value);
  return true;
}
