/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: what a region touches. See c_survey.h.
 *
 * Functions are followed where they are called, with the calls that lead to them, so that what a
 * parameter stands for is known. */
#include "kernel/native/c_survey.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "array/method.h"
#include "kernel/emit/variable.h"
#include "kernel/native/c_advice.h"

/* Deepest chain of calls, and of locals that are made of each other, that is followed. */
#define DEEPEST 16

/* A call that led to the text that is being looked at. */
typedef struct call_path {
  const struct call_path *next;
  const ms_node *function, *call;
  uint32_t depth;
  bool within; /* it stands in the region */
} call_path;

typedef struct region_survey {
  ms_writer *w;
  const ms_node *node; /* the region's */
  bool single, full;   /* float elements; what makes it double */
  uint32_t wide;       /* an array of double elements, or MS_NO_CAPTURE */
  uint32_t exact;      /* > 0: in a subscript, an end of a loop, or an operand of `bit` */
} region_survey;

const ms_node *ms_c_survey_around(const ms_node *node) {
  node = node->parent;
  while (node != NULL && !ms_node_is_loop(node) && node->kind != MS_FUNCTION) node = node->parent;
  return node;
}

typedef struct assignments {
  const ms_symbol *symbol;
  const ms_node *home;
  bool found;
} assignments;

static bool visit_assignment(ms_node *node, void *context) {
  assignments *search = context;
  uint32_t targets = node->kind == MS_ASSIGN ? node->targets : node->kind == MS_SET_FUNCTION;
  for (uint32_t t = 0; t < targets; t++) {
    if (node->kid[t]->kind != MS_NAME || node->kid[t]->symbol != search->symbol) continue;
    if (search->home == NULL || ms_c_survey_around(node) != search->home) search->found = true;
  }
  return !search->found;
}

bool ms_c_survey_assigns(const ms_node *node, const ms_symbol *symbol, const ms_node *home) {
  assignments search = {.symbol = symbol, .home = home};
  ms_node_walk((ms_node *)(uintptr_t)node, visit_assignment, &search);
  return search.found;
}

static const ms_binding *binding_of(const region_survey *survey, uint32_t array) {
  return &survey->w->emitter->job->bindings[array];
}

/* Whether it is an array, a row or a part of one. */
static bool is_array(const ms_kind_of *kind) {
  return kind->object == MS_OBJECT_VIEW || kind->object == MS_OBJECT_PART ||
         kind->object == MS_OBJECT_SPARSE;
}

/* The array of which `node` is an element, or MS_NO_CAPTURE. */
static uint32_t element_of(const region_survey *survey, const ms_node *node) {
  const ms_node *value;
  if (ms_typed_binding(survey->w->typed, node, &value) != MS_NO_CAPTURE) return MS_NO_CAPTURE;
  ms_kind_of base = ms_typed_expression(survey->w->typed, node->kid[0]);
  if (!is_array(&base)) return MS_NO_CAPTURE;
  const ms_node *key = node->kid[1];
  uint32_t keys = key->kind == MS_TABLE ? key->kids : 1;
  bool whole = base.given + keys == binding_of(survey, base.array)->dim_count;
  return whole ? base.array : MS_NO_CAPTURE;
}

static const ms_node *called(const region_survey *survey, const ms_node *call) {
  return ms_typed_called(survey->w->typed, call);
}

/* ---- what a region writes ---- */

typedef struct store_search {
  const region_survey *survey;
  uint32_t array;
  uint32_t mark; /* of functions that have been looked at */
  bool found;
} store_search;

static bool visit_store(ms_node *node, void *context) {
  store_search *stores = context;
  const region_survey *survey = stores->survey;
  const ms_node *base[2] = {NULL, NULL};
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind == MS_INDEX && node->parent->kind == MS_ASSIGN &&
      node->ordinal < node->parent->targets)
    base[0] = node->kid[0];
  if (node->kind == MS_METHOD) {
    const ms_method *method = ms_method_find(node->text);
    if (method == NULL || method->effect >= MS_METHOD_WRITE) base[0] = node->kid[0];
  }
  if (base[0] != NULL) {
    ms_kind_of kind = ms_typed_expression(survey->w->typed, base[0]);
    if (is_array(&kind) &&
        binding_of(survey, kind.array)->storage == binding_of(survey, stores->array)->storage)
      stores->found = true;
  }
  const ms_node *function = called(survey, node);
  ms_callee *callee = function != NULL ? ms_typed_callee(survey->w->typed, function) : NULL;
  if (callee != NULL && callee->mark != stores->mark && !stores->found) {
    callee->mark = stores->mark;
    ms_node_walk(function->function->body, visit_store, stores);
  }
  return !stores->found;
}

bool ms_c_survey_writes(ms_writer *w, const ms_node *node, uint32_t array) {
  const region_survey survey = {.w = w, .node = node};
  store_search stores = {.survey = &survey, .array = array, .mark = ++w->typed->marks};
  ms_node_walk((ms_node *)(uintptr_t)node, visit_store, &stores);
  return stores.found;
}

/* ---- what does not change in a region ---- */

static bool is_fixed(const region_survey *survey, const ms_node *node, const call_path *calls);

/* An argument of the call that gave a parameter its value. */
static bool is_argument_fixed(const region_survey *survey, const ms_symbol *symbol,
                              const call_path *calls) {
  while (calls != NULL && calls->function->function != symbol->function) calls = calls->next;
  if (calls == NULL || symbol->assigned) return false;
  for (uint32_t p = 0; p < symbol->function->parameter_count; p++) {
    if (symbol->function->parameters[p] != symbol) continue;
    uint32_t kid = p + 1 - MS_TYPED_SELF(calls->call);
    return kid >= calls->call->kids || is_fixed(survey, calls->call->kid[kid], calls->next);
  }
  return false;
}

static bool is_index(const region_survey *survey, const ms_symbol *symbol) {
  const ms_emitter *emitter = survey->w->emitter;
  const ms_loop *loop = emitter->job->loop;
  for (uint32_t d = 0; d < emitter->dims; d++) {
    if (emitter->indices[d] == symbol) return true;
  }
  for (uint32_t i = 0; i < loop->index_count; i++) {
    if (loop->indices[i] == symbol) return true;
  }
  return false;
}

static bool is_local_fixed(const region_survey *survey, const ms_symbol *symbol,
                           const call_path *calls) {
  if (is_index(survey, symbol)) return survey->node != survey->w->emitter->body;
  const ms_node *from = symbol->declaration;
  bool followed = false; /* declared by a function that the region calls */
  for (const call_path *call = calls; call != NULL; call = call->next)
    followed = followed || (call->within && call->function->function == symbol->function);
  if (from == NULL && followed) return is_argument_fixed(survey, symbol, calls);
  if (!followed && (from == NULL || !ms_node_is_inside(from, survey->node)))
    return !symbol->assigned ||
           (!symbol->upvalue && !ms_c_survey_assigns(survey->node, symbol, NULL));
  if (from == NULL || symbol->assigned || from->kind != MS_LOCAL) return false;
  for (uint32_t s = 0; s < from->symbol_count && s < from->kids; s++) {
    if (from->symbols[s] == symbol) return is_fixed(survey, from->kid[s], calls);
  }
  return false;
}

static bool are_kids_fixed(const region_survey *survey, const ms_node *node, uint32_t from,
                           const call_path *calls) {
  for (uint32_t k = from; k < node->kids; k++) {
    if (node->kid[k] != NULL && !is_fixed(survey, node->kid[k], calls)) return false;
  }
  return true;
}

static bool is_path_fixed(const region_survey *survey, const ms_node *node,
                          const call_path *calls) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(survey->w->typed, node, &value);
  if (at != MS_NO_CAPTURE) return value == node && !ms_variable_is(survey->w->emitter, at);
  if (node->kind == MS_NAME)
    return node->symbol != NULL && is_local_fixed(survey, node->symbol, calls);
  uint32_t array = element_of(survey, node);
  return are_kids_fixed(survey, node, 0, calls) &&
         (array == MS_NO_CAPTURE || !ms_c_survey_writes(survey->w, survey->node, array));
}

static bool is_call_fixed(const region_survey *survey, const ms_node *node,
                          const call_path *calls) {
  ms_kind_of kind = ms_typed_expression(survey->w->typed, node->kid[0]);
  if (node->kind == MS_METHOD)
    return ms_measure_find(node->text) >= MS_MEASURE_SIZE && are_kids_fixed(survey, node, 0, calls);
  if (kind.object != MS_OBJECT_BUILTIN) return false;
  const ms_library *entry = ms_library_find(kind.name, node->kids - 1);
  return entry != NULL && entry->shape < MS_LIBRARY_RANDOM &&
         are_kids_fixed(survey, node, 1, calls);
}

static bool is_fixed(const region_survey *survey, const ms_node *node, const call_path *calls) {
  switch (node->kind) {
    case MS_NUMBER:
      return true;
    case MS_NAME:
    case MS_INDEX:
      return is_path_fixed(survey, node, calls);
    case MS_CALL:
    case MS_METHOD:
      return is_call_fixed(survey, node, calls);
    case MS_BINARY:
    case MS_UNARY:
    case MS_PAREN:
    case MS_TABLE:
    case MS_FIELD:
      return are_kids_fixed(survey, node, 0, calls);
    default:
      return false;
  }
}

/* ---- what a region touches ---- */

static void look(region_survey *survey, const ms_node *node, const call_path *calls);

static void look_at_kids(region_survey *survey, const ms_node *node, uint32_t from, uint32_t to,
                         const call_path *calls) {
  for (uint32_t k = from; k < to && k < node->kids; k++) {
    if (node->kid[k] != NULL) look(survey, node->kid[k], calls);
  }
}

static void count_array(region_survey *survey, uint32_t array) {
  int32_t type = survey->w->emitter->job->elements[array].type;
  if (type == MS_FLOAT) survey->single = true;
  if (type == MS_DOUBLE || type == MS_INT64) survey->full = true;
  if (type == MS_DOUBLE) survey->wide = array;
}

static void look_at_index(region_survey *survey, const ms_node *node, bool written,
                          const call_path *calls) {
  const ms_node *value;
  if (ms_typed_binding(survey->w->typed, node, &value) != MS_NO_CAPTURE) return;
  uint32_t array = element_of(survey, node);
  if (array != MS_NO_CAPTURE && (written || !is_path_fixed(survey, node, calls)))
    count_array(survey, array);
  look(survey, node->kid[0], calls);
  survey->exact++;
  look(survey, node->kid[1], calls);
  survey->exact--;
}

static void look_at_call(region_survey *survey, const ms_node *node, const call_path *calls) {
  ms_kind_of kind = ms_typed_expression(survey->w->typed, node->kid[0]);
  const ms_library *entry = NULL;
  if (node->kind == MS_CALL && kind.object == MS_OBJECT_BUILTIN)
    entry = ms_library_find(kind.name, node->kids - 1);
  bool bits = entry != NULL && entry->shape == MS_LIBRARY_BITS;
  survey->exact += bits;
  look_at_kids(survey, node, 1, node->kids, calls);
  survey->exact -= bits;
  const ms_node *function = called(survey, node);
  uint32_t depth = calls == NULL ? 0 : calls->depth;
  if (function == NULL || depth >= DEEPEST) return;
  if (ms_typed_cycle(survey->w->typed, function) != 0) return; /* it stands apart */
  call_path followed = {calls, function, node, depth + 1, true};
  look(survey, function->function->body, &followed);
}

static void look_at_assignment(region_survey *survey, const ms_node *node, const call_path *calls) {
  for (uint32_t t = 0; t < node->targets; t++) {
    if (node->kid[t]->kind == MS_INDEX) look_at_index(survey, node->kid[t], true, calls);
  }
  look_at_kids(survey, node, node->targets, node->kids, calls);
}

/* A constant whose float is another kind of number (ms_is_fair_float in value.h). */
static void look_at_number(region_survey *survey, double number) {
  double size = fabs(number);
  bool fair = size == 0 || isinf(number) || ((float)size >= FLT_MIN && (float)size <= FLT_MAX);
  if (!fair && survey->exact == 0) survey->full = true;
}

static void look(region_survey *survey, const ms_node *node, const call_path *calls) {
  switch (node->kind) {
    case MS_FUNCTION:
    case MS_WHILE:
    case MS_REPEAT:
      return;
    case MS_FOR_NUMERIC:
      survey->exact++;
      look_at_kids(survey, node, 0, 3, calls);
      survey->exact--;
      return;
    case MS_FOR_GENERIC:
      look_at_kids(survey, node, 0, node->kids - 1, calls);
      return;
    case MS_NUMBER:
      look_at_number(survey, node->number);
      return;
    case MS_INDEX:
      look_at_index(survey, node, false, calls);
      return;
    case MS_ASSIGN:
      look_at_assignment(survey, node, calls);
      return;
    case MS_CALL:
      look_at_call(survey, node, calls);
      return;
    case MS_METHOD: /* a function, or a region of its own */
      if (called(survey, node) != NULL) {
        look_at_call(survey, node, calls);
        return;
      }
      survey->exact++;
      look_at_kids(survey, node, 0, node->kids, calls);
      survey->exact--;
      return;
    default:
      look_at_kids(survey, node, 0, node->kids, calls);
  }
}

/* The values of `for f, v in X[i]:nonzeros()`. */
static void look_at_entries(region_survey *survey, const ms_node *loop) {
  const ms_node *call = loop->kid[0];
  if (call->kind != MS_METHOD || call->kids != 1 || loop->symbol_count < 2) return;
  ms_kind_of row = ms_typed_expression(survey->w->typed, call->kid[0]);
  if (row.object == MS_OBJECT_SPARSE) count_array(survey, row.array);
}

/* The calls that the writer is in, outermost last, as followed ones. */
static const call_path *open_calls(ms_writer *w) {
  call_path *first = NULL, **last = &first;
  uint32_t depth = 0;
  for (const ms_inlined *open = w->inlined; open != NULL; open = open->next) {
    call_path *followed = ms_arena_take(w->arena, 1, sizeof *followed);
    if (followed == NULL) {
      w->failed = true;
      break;
    }
    *followed = (call_path){NULL, open->function, open->call, 0, false};
    *last = followed;
    last = (call_path **)(uintptr_t)&followed->next;
    depth++;
  }
  if (first != NULL) first->depth = depth;
  return first;
}

void ms_c_survey_note(ms_writer *w, const ms_node *node) {
  if (!w->fast && w->info->fast_line == 0) w->info->fast_line = ms_c_body_line(w, node);
}

/* Notes where the body would be faster in another form. */
static void advise(const region_survey *survey) {
  ms_writer *w = survey->w;
  if (survey->single && !survey->full && !w->fast && ms_c_advice_gains(w, survey->node))
    ms_c_survey_note(w, survey->node);
  if (!w->fast || !survey->single || survey->wide == MS_NO_CAPTURE || w->info->wide_line != 0)
    return;
  w->info->wide_line = ms_c_body_line(w, survey->node);
  w->info->wide = survey->wide;
}

bool ms_c_survey_is_single(ms_writer *w, const ms_node *node) {
  region_survey survey = {.w = w, .node = node, .wide = MS_NO_CAPTURE};
  const call_path *calls = open_calls(w);
  if (node->kind == MS_FOR_GENERIC) look_at_entries(&survey, node);
  if (node->kind == MS_FOR_NUMERIC || node->kind == MS_FOR_GENERIC) {
    look(&survey, node->kid[node->kids - 1], calls);
  } else if (node->kind == MS_BLOCK) {
    look(&survey, node, calls);
  } else {
    look_at_kids(&survey, node, 0, node->kids, calls);
  }
  advise(&survey);
  return survey.single && !survey.full;
}
