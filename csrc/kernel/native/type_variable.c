/* SPDX-License-Identifier: MIT
 *
 * Typed form, variables: goes through a body and the functions that it calls until the types of
 * all variables stand still. See typed.h. Types only grow, so this ends. */
#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/typed.h"

static bool same_object(const ms_kind_of *a, const ms_kind_of *b) {
  return a->object == b->object && a->array == b->array && a->given == b->given &&
         a->node == b->node && a->levels == b->levels &&
         (a->name == b->name || (a->name && b->name && strcmp(a->name, b->name) == 0));
}

ms_kind_of ms_kind_of_both(ms_kind_of a, ms_kind_of b) {
  if (a.can == 0) return b;
  if (b.can == 0) return a;
  if (((a.can | b.can) & MS_CAN_OBJECT) && (a.can != b.can || !same_object(&a, &b)))
    return ms_kind_of_other();
  a.can |= b.can;
  if (b.precision > a.precision) a.precision = b.precision;
  return a;
}

static void grow(ms_typed *typed, ms_kind_of *to, ms_kind_of from) {
  ms_kind_of joined = ms_kind_of_both(*to, from);
  if (joined.can == to->can && joined.precision == to->precision && same_object(&joined, to))
    return;
  *to = joined;
  typed->changed = true;
}

/* The type of value `at` of an expression list kid[from ...] cut or filled up as Lua does. */
static ms_kind_of listed(const ms_typed *typed, const ms_node *node, uint32_t from, uint32_t at) {
  uint32_t count = node->kids - from;
  if (count > 0 && at >= count - 1 && ms_node_is_multiple(node->kid[node->kids - 1]))
    return ms_typed_call(typed, node->kid[node->kids - 1], at - (count - 1));
  if (at < count) return ms_typed_expression(typed, node->kid[from + at]);
  return ms_kind_of_scalar(MS_CAN_NIL);
}

/* A table whose variable is the only way to it, from its making on: what is stored elsewhere may
 * outlive it while the next one is made. */
static ms_kind_of kept(ms_kind_of kind) {
  return kind.object == MS_OBJECT_TABLE ? ms_kind_of_other() : kind;
}

ms_holding *ms_typed_holding(const ms_typed *typed, const ms_node *node) {
  for (ms_holding *holding = typed->holdings; holding != NULL; holding = holding->next) {
    if (holding->node == node) return holding;
  }
  return NULL;
}

/* A table is made: its fields. */
static void hold(ms_typed *typed, const ms_node *node) {
  if (ms_typed_expression(typed, node).object != MS_OBJECT_TABLE) return;
  ms_holding *holding = ms_typed_holding(typed, node);
  if (holding == NULL) {
    holding = ms_arena_take(typed->emitter->arena, 1, sizeof *holding);
    if (holding == NULL) {
      typed->failed = true;
      return;
    }
    *holding = (ms_holding){.next = typed->holdings, .node = node};
    typed->holdings = holding;
    typed->changed = true;
  }
  for (uint32_t f = 0; f < node->kids; f++) {
    ms_kind_of kind = kept(ms_typed_expression(typed, node->kid[f]->kid[1]));
    if (kind.can & MS_CAN_NIL) holding->gaps = true;
    grow(typed, &holding->kind, kind);
  }
}

typedef struct search {
  const ms_typed *typed;
  bool found;
} search;

static bool visit_call(ms_node *node, void *context) {
  search *calls = context;
  if (node->kind == MS_FUNCTION) return false;
  calls->found |= ms_typed_called(calls->typed, node) != NULL;
  return !calls->found;
}

bool ms_typed_stores(const ms_typed *typed, const ms_node *node) {
  search calls = {.typed = typed};
  ms_node_walk((ms_node *)(uintptr_t)node, visit_call, &calls);
  return calls.found;
}

/* Whether an assignment `t[#t + 1] = v` or `t[#t] = v` changes a table at its end: while v is
 * evaluated nothing else does. Any other store may leave a gap. */
static bool is_at_end(const ms_typed *typed, const ms_node *assignment) {
  if (assignment->targets != 1 || assignment->kids != 2) return false;
  const ms_node *target = assignment->kid[0], *key = target->kid[1];
  if (key->kind == MS_BINARY && key->op == MS_OP_ADD && key->kid[1]->kind == MS_NUMBER &&
      key->kid[1]->number == 1)
    key = key->kid[0];
  if (key->kind != MS_UNARY || key->op != MS_OP_LEN) return false;
  const ms_node *table = target->kid[0], *measured = key->kid[0];
  return table->kind == MS_NAME && measured->kind == MS_NAME && table->symbol != NULL &&
         table->symbol == measured->symbol && !ms_typed_stores(typed, assignment->kid[1]);
}

static void assign(ms_typed *typed, const ms_node *target, ms_kind_of kind) {
  const ms_node *value;
  kind = kept(kind);
  uint32_t at = ms_typed_binding(typed, target, &value);
  if (at != MS_NO_CAPTURE) {
    if (value == target) grow(typed, &typed->variable[at], kind);
  } else if (target->kind == MS_NAME && target->symbol != NULL) {
    grow(typed, ms_typed_symbol(typed, target->symbol), kind);
  } else if (target->kind == MS_INDEX) {
    ms_kind_of base = ms_typed_expression(typed, target->kid[0]);
    ms_holding *holding =
        base.object == MS_OBJECT_TABLE ? ms_typed_holding(typed, base.node) : NULL;
    if (holding == NULL) return;
    grow(typed, &holding->kind, kind);
    if (!is_at_end(typed, target->parent)) holding->gaps = true;
  }
}

ms_callee *ms_typed_callee(const ms_typed *typed, const ms_node *function) {
  for (ms_callee *callee = typed->callees; callee != NULL; callee = callee->next) {
    if (callee->node == function) return callee;
  }
  return NULL;
}

static ms_callee *add_callee(ms_typed *typed, const ms_node *function) {
  ms_callee *callee = ms_typed_callee(typed, function);
  if (callee != NULL) return callee;
  callee = ms_arena_take(typed->emitter->arena, 1, sizeof *callee);
  if (callee == NULL) {
    typed->failed = true;
    return NULL;
  }
  *callee = (ms_callee){.next = typed->callees,
                        .node = function,
                        .outside = !ms_node_is_inside(function, typed->emitter->body)};
  typed->callees = callee;
  typed->changed = true;
  return callee;
}

/* The type of what a call passes to parameter `p`. */
static ms_kind_of passed(const ms_typed *typed, const ms_node *call, uint32_t p) {
  uint32_t self = MS_TYPED_SELF(call);
  if (p < self) return ms_typed_expression(typed, call->kid[0]);
  return listed(typed, call, 1, p - self);
}

/* A call of a function with known text: its parameters take the arguments' types. */
static void call(ms_typed *typed, const ms_node *node) {
  const ms_node *called = ms_typed_called(typed, node);
  if (called == NULL || add_callee(typed, called) == NULL) return;
  const ms_function *function = called->function;
  for (uint32_t p = 0; p < function->parameter_count; p++)
    grow(typed, ms_typed_symbol(typed, function->parameters[p]), passed(typed, node, p));
}

bool ms_typed_block_ends(const ms_node *block) {
  if (block->kids == 0) return true;
  const ms_node *last = block->kid[block->kids - 1];
  if (last->kind == MS_RETURN || last->kind == MS_GOTO || last->kind == MS_BREAK) return false;
  if (last->kind == MS_DO) return ms_typed_block_ends(last->kid[0]);
  if (last->kind != MS_IF || last->kids % 2 == 0) return true;
  for (uint32_t k = 1; k < last->kids; k += 2) {
    if (ms_typed_block_ends(last->kid[k])) return true;
  }
  return ms_typed_block_ends(last->kid[last->kids - 1]);
}

/* The function that a statement belongs to, if the body calls it. */
static ms_callee *callee_around(const ms_typed *typed, const ms_node *node) {
  while (node != NULL && node->kind != MS_FUNCTION) node = node->parent;
  return node == NULL ? NULL : ms_typed_callee(typed, node);
}

/* How many values a `return` gives, as far as is known. */
static uint32_t returned(const ms_typed *typed, const ms_node *node) {
  uint32_t count = node->kids;
  if (count > 0 && ms_node_is_multiple(node->kid[count - 1])) {
    const ms_node *called = ms_typed_called(typed, node->kid[count - 1]);
    const ms_callee *callee = called != NULL ? ms_typed_callee(typed, called) : NULL;
    count = called == NULL ? MS_RETURNS : count - 1 + (callee != NULL ? callee->results : 0);
  }
  return count < MS_RETURNS ? count : MS_RETURNS;
}

static void leave(ms_typed *typed, const ms_node *node) {
  ms_callee *callee = callee_around(typed, node);
  if (callee == NULL) return;
  uint32_t count = returned(typed, node);
  if (count > callee->results) {
    callee->results = count;
    typed->changed = true;
  }
  for (uint32_t r = 0; r < MS_RETURNS; r++)
    grow(typed, &callee->result[r], kept(listed(typed, node, 0, r)));
}

static void declare(ms_typed *typed, const ms_node *node) {
  for (uint32_t s = 0; s < node->symbol_count; s++)
    grow(typed, ms_typed_symbol(typed, node->symbols[s]), listed(typed, node, 0, s));
}

const ms_node *ms_typed_listed(const ms_typed *typed, const ms_node *loop) {
  const ms_node *call = loop->kid[0];
  if (loop->kids != 2 || call->kind != MS_CALL || call->kids != 2) return NULL;
  ms_kind_of called = ms_typed_expression(typed, call->kid[0]);
  bool walks = called.object == MS_OBJECT_BUILTIN && strcmp(called.name, "ipairs") == 0;
  ms_object_kind object = walks ? ms_typed_expression(typed, call->kid[1]).object : MS_OBJECT_NONE;
  return object == MS_OBJECT_LIST || object == MS_OBJECT_LISTS ? call->kid[1] : NULL;
}

/* `for f, v in X[i]:nonzeros() do`, `for k, v in ipairs(list) do`: the only generic loops that are
 * typed. */
static void iterate(ms_typed *typed, const ms_node *node) {
  const ms_node *call = node->kid[0];
  ms_kind_of row = {0};
  const ms_node *list = ms_typed_listed(typed, node);
  if (node->kids == 2 && call->kind == MS_METHOD && strcmp(call->text, "nonzeros") == 0)
    row = ms_typed_expression(typed, call->kid[0]);
  for (uint32_t s = 0; s < node->symbol_count; s++) {
    ms_kind_of kind = ms_kind_of_other();
    if (list != NULL && s < 2) kind = ms_kind_of_number(MS_ANY_PRECISION);
    if (list != NULL && s == 1) kind = ms_typed_walked(typed, list);
    if (row.object == MS_OBJECT_SPARSE && s < 2) {
      int32_t type = typed->emitter->job->elements[row.array].type;
      kind = ms_kind_of_number(s == 0 ? MS_ANY_PRECISION : ms_type_precision(type));
    }
    grow(typed, ms_typed_symbol(typed, node->symbols[s]), kind);
  }
}

static bool visit(ms_node *node, void *context) {
  ms_typed *typed = context;
  switch (node->kind) {
    case MS_LOCAL:
    case MS_LOCAL_FUNCTION:
      declare(typed, node);
      break;
    case MS_ASSIGN:
      for (uint32_t t = 0; t < node->targets; t++)
        assign(typed, node->kid[t], listed(typed, node, node->targets, t));
      break;
    case MS_SET_FUNCTION:
      assign(typed, node->kid[0], ms_typed_expression(typed, node->kid[1]));
      break;
    case MS_FOR_NUMERIC:
      grow(typed, ms_typed_symbol(typed, node->symbols[0]), ms_kind_of_number(MS_ANY_PRECISION));
      break;
    case MS_FOR_GENERIC:
      iterate(typed, node);
      break;
    case MS_TABLE:
      hold(typed, node);
      break;
    case MS_CALL:
    case MS_METHOD:
      call(typed, node);
      break;
    case MS_RETURN:
      leave(typed, node);
      break;
    default:
      break;
  }
  return true;
}

/* Loop variables of the space, and what the plan says of captured scalars. */
static void begin(ms_typed *typed) {
  const ms_kernel_job *job = typed->emitter->job;
  const ms_loop *loop = job->loop;
  for (uint32_t i = 0; i < loop->index_count; i++)
    *ms_typed_symbol(typed, loop->indices[i]) = ms_kind_of_scalar(MS_CAN_NIL);
  for (uint32_t d = 0; d < typed->emitter->dims; d++) {
    if (typed->emitter->indices[d] != NULL)
      *ms_typed_symbol(typed, typed->emitter->indices[d]) = ms_kind_of_number(MS_ANY_PRECISION);
  }
  if (typed->emitter->value != NULL && job->space->source != -1)
    *ms_typed_symbol(typed, typed->emitter->value) =
        job->entry_type == MS_OBJECT ? ms_kind_of_other()
                                     : ms_kind_of_number(ms_type_precision(job->entry_type));
  for (uint32_t c = 0; c < loop->capture_count; c++) {
    if (!ms_variable_is(typed->emitter, c)) continue;
    const ms_scalar_plan *scalar = typed->emitter->scalar[c];
    if (scalar->role >= MS_ROLE_SLICED) typed->variable[c] = ms_kind_of_other();
    if (scalar->role == MS_ROLE_SLICED)
      typed->variable[c] =
          (ms_kind_of){.can = MS_CAN_OBJECT, .object = MS_OBJECT_SLICE, .array = c};
    /* What blocks return must say whether it was assigned, which only an ms_value can. */
    if (scalar->role == MS_ROLE_PRIVATE && ms_variable_is_result(typed->emitter, c))
      typed->variable[c] = ms_kind_of_scalar(MS_CAN_NIL);
    if (scalar->role != MS_ROLE_REDUCTION) continue;
    bool nothing = scalar->op == MS_REDUCE_AND || scalar->op == MS_REDUCE_OR ||
                   scalar->op == MS_REDUCE_WITH || scalar->unset;
    uint32_t can = nothing && scalar->tie == 0 ? MS_CAN_NIL : MS_CAN_NUMBER;
    typed->variable[c] = (ms_kind_of){.can = can, .precision = MS_FULL};
  }
}

/* Notes which functions get numbers of different precision. */
static bool visit_mixed(ms_node *node, void *context) {
  ms_typed *typed = context;
  const ms_node *called = ms_typed_called(typed, node);
  ms_callee *callee = called != NULL ? ms_typed_callee(typed, called) : NULL;
  if (callee == NULL) return true;
  const ms_function *function = called->function;
  for (uint32_t p = 0; p < function->parameter_count; p++) {
    ms_kind_of joined = *ms_typed_symbol(typed, function->parameters[p]);
    if (passed(typed, node, p).precision != joined.precision) callee->mixed = true;
  }
  return true;
}

static void find_mixed(ms_typed *typed) {
  ms_node_walk(typed->emitter->body, visit_mixed, typed);
  for (ms_callee *callee = typed->callees; callee != NULL; callee = callee->next) {
    if (callee->outside) ms_node_walk(callee->node->function->body, visit_mixed, typed);
  }
}

int ms_typed_find(ms_typed *typed, ms_emitter *emitter) {
  const ms_loop *loop = emitter->job->loop;
  uint32_t given = emitter->job->binding_count;
  *typed = (ms_typed){.emitter = emitter, .given = given};
  typed->bindings = (ms_binding *)(uintptr_t)emitter->job->bindings;
  typed->symbol =
      ms_arena_take(emitter->arena, (size_t)loop->tree->symbols + 1, sizeof(ms_kind_of));
  typed->variable =
      ms_arena_take(emitter->arena, (size_t)loop->capture_count + 1, sizeof(ms_kind_of));
  if (typed->symbol == NULL || typed->variable == NULL) return -1;
  begin(typed);
  do {
    typed->changed = false;
    ms_node_walk(emitter->body, visit, typed);
    for (ms_callee *callee = typed->callees; callee != NULL; callee = callee->next) {
      if (ms_typed_block_ends(callee->node->function->body)) {
        for (uint32_t r = 0; r < MS_RETURNS; r++)
          grow(typed, &callee->result[r], ms_kind_of_scalar(MS_CAN_NIL));
      }
      if (callee->outside) ms_node_walk(callee->node->function->body, visit, typed);
    }
  } while (typed->changed && !typed->failed);
  find_mixed(typed);
  ms_typed_find_cycles(typed);
  return typed->failed ? -1 : 0;
}
