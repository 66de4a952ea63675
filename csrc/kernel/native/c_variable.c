/* SPDX-License-Identifier: MIT
 *
 * Writing C: captured scalars. See c_variable.h; variable.h says what is kept of each. */
#include "kernel/native/c_variable.h"

#include <inttypes.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_value.h"

const char *ms_c_variable(ms_writer *w, uint32_t capture) {
  return ms_c_text(w, "m%u_%s", capture + 1,
                   ms_c_name(w, w->emitter->job->loop->captures[capture].root));
}

const char *ms_c_variable_captured(ms_writer *w, uint32_t capture) {
  w->number_used[capture] = true;
  return ms_c_text(w, "c%u_%s", capture + 1, ms_c_binding_name(w, capture));
}

/* What `and` and `or` begin with: nothing, unless the value before the loop decides already. */
static const char *logic_start(ms_writer *w, uint32_t at) {
  bool any = w->emitter->scalar[at]->op == MS_REDUCE_OR;
  ms_binding_kind kind = w->emitter->job->bindings[at].kind;
  if (kind == MS_BIND_BOOLEAN)
    return ms_c_text(w, any ? "%s ? ms_boolean(1) : ms_nothing" : "%s ? ms_nothing : ms_boolean(0)",
                     ms_c_variable_captured(w, at));
  if (kind == MS_BIND_NIL) return any ? "ms_nothing" : "ms_boolean(0)";
  return any ? "ms_boolean(1)" : "ms_nothing";
}

static const char *identity(ms_writer *w, uint32_t at) {
  if (ms_variable_is_logic(w->emitter, at)) return logic_start(w, at);
  const ms_scalar_plan *scalar = w->emitter->scalar[at];
  if (scalar->tie > 0)
    return scalar->tie_op == MS_REDUCE_MIN ? "__builtin_inf()" : "-__builtin_inf()";
  if (scalar->unset && scalar->op != MS_REDUCE_WITH) return "ms_nil";
  switch (w->emitter->scalar[at]->op) {
    case MS_REDUCE_SUM:
      return "-0.0";
    case MS_REDUCE_PRODUCT:
      return "1.0";
    case MS_REDUCE_MIN:
      return "__builtin_inf()";
    case MS_REDUCE_MAX:
      return "-__builtin_inf()";
    case MS_REDUCE_BOR:
    case MS_REDUCE_BXOR:
      return "4294967296.0";
    case MS_REDUCE_BAND:
      return "4294967295.0";
    default:
      return "ms_nothing";
  }
}

static bool is_slice(const ms_writer *w, uint32_t at) {
  return ms_variable_is(w->emitter, at) && w->typed->variable[at].object == MS_OBJECT_SLICE;
}

void ms_c_variable_slice(ms_writer *w, uint32_t capture, const char *key, const char *value,
                         const ms_node *place) {
  const char *got = ms_c_temp(w);
  ms_c_line(w, "const int %s = ms_sliced_output_put(&slice%u, %s, %s);", got, capture + 1, key,
            value);
  ms_c_error(w, place, ms_c_text(w, "%s == MS_NATIVE_TABLE_NIL", got), "table index is nil");
  ms_c_error(w, place, ms_c_text(w, "%s == MS_NATIVE_TABLE_NAN", got), "table index is NaN");
  ms_c_error(w, place, ms_c_text(w, "%s == MS_NATIVE_TABLE_MEMORY", got), "not enough memory");
}

/* ---- counts ---- */

/* Most that one step adds: so many steps that the sum would be rounded take a block days. */
#define MOST_STEP 16

typedef struct counting_search {
  ms_writer *w;
  uint32_t at;
  bool counts;
} counting_search;

static bool names(const counting_search *counting, const ms_node *node) {
  const ms_node *value;
  return ms_typed_binding(counting->w->typed, node, &value) == counting->at && value == node;
}

static int64_t constant_step(const ms_node *node) {
  bool whole = node->kind == MS_NUMBER && !node->boxed && node->number >= 1 &&
               node->number <= MOST_STEP && node->number == (double)(int64_t)node->number;
  return whole ? (int64_t)node->number : 0;
}

/* What `n = n + 1` adds; 0: it is no such statement. */
static int64_t step_of(const counting_search *counting, const ms_node *node) {
  if (node->kind != MS_ASSIGN || node->targets != 1 || node->kids != 2) return 0;
  const ms_node *sum = node->kid[1];
  if (sum->kind != MS_BINARY || sum->op != MS_OP_ADD || !names(counting, node->kid[0])) return 0;
  if (names(counting, sum->kid[0])) return constant_step(sum->kid[1]);
  return names(counting, sum->kid[1]) ? constant_step(sum->kid[0]) : 0;
}

static bool visit_count(ms_node *node, void *context) {
  counting_search *counting = context;
  const ms_node *value;
  if (step_of(counting, node) > 0) return false;
  if (ms_typed_binding(counting->w->typed, node, &value) == counting->at) counting->counts = false;
  return counting->counts;
}

/* Whether all that happens to a variable is that the body adds whole numbers to it: then an integer
 * has the same sum, of which the compiler may make the parts in any order. */
static bool counts(ms_writer *w, uint32_t at) {
  const ms_scalar_plan *scalar = w->emitter->scalar[at];
  ms_kind_of kind = w->typed->variable[at];
  if (scalar->role != MS_ROLE_REDUCTION || scalar->op != MS_REDUCE_SUM || scalar->unset ||
      ms_c_value_representation(w, &kind) != MS_FORM_DOUBLE)
    return false;
  counting_search counting = {w, at, true};
  ms_node_walk((ms_node *)(uintptr_t)w->emitter->body, visit_count, &counting);
  return counting.counts;
}

bool ms_c_variable_step(ms_writer *w, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, node->kid[0], &value);
  if (at == MS_NO_CAPTURE || !ms_variable_is(w->emitter, at) || !w->counted_used[at]) return false;
  counting_search counting = {w, at, true};
  ms_c_line(w, "n%u += %" PRId64 ";", at + 1, step_of(&counting, node));
  return true;
}

/* ---- the variables ---- */

void ms_c_variables_declare(ms_writer *w) {
  for (uint32_t c = 0; c < w->emitter->job->loop->capture_count; c++) {
    if (!ms_variable_is(w->emitter, c)) continue;
    if (is_slice(w, c)) {
      ms_c_line(w, "ms_streak slice%u = {0};", c + 1);
      continue;
    }
    const char *name = ms_c_variable(w, c);
    ms_kind_of kind = w->typed->variable[c];
    ms_representation_of form = ms_c_value_representation(w, &kind);
    if (form == MS_FORM_OBJECT) {
      bool sliced = w->emitter->scalar[c]->role >= MS_ROLE_SLICED;
      ms_c_refuse(w, w->emitter->job->loop->captures[c].first,
                  sliced ? "`%s` is a plain table, which only LuaJIT fills"
                         : "`%s` is assigned a table, an array or a function",
                  w->emitter->job->loop->captures[c].root);
      return;
    }
    const char *value = form == MS_FORM_VALUE ? "ms_nothing" : "0";
    if (w->emitter->scalar[c]->role == MS_ROLE_REDUCTION) {
      value = identity(w, c);
      if (ms_variable_has_head(w->emitter, c)) ms_c_line(w, "ms_value h%u = ms_nothing;", c + 1);
    }
    ms_c_line(w, "%s %s = %s;", ms_c_value_type(form), name, value);
    w->counted_used[c] = counts(w, c);
    if (w->counted_used[c]) ms_c_line(w, "int64_t n%u = 0;", c + 1);
    bool ranked = ms_variable_is_ranked(w->emitter, c);
    if (ranked) ms_c_line(w, "int l%u = 0;", c + 1);
    if (ranked && ms_variable_has_streak(w->emitter, c))
      ms_c_line(w, "ms_streak streak%u = {0};", c + 1);
    bool origin = ms_variable_has_origin(w->emitter, c);
    for (uint32_t d = 0; ranked && d < w->positions; d++)
      ms_c_line(w, "int64_t q%u_%u = INT64_MIN;", c + 1, d + 1);
    for (uint32_t d = 0; origin && d < w->positions; d++)
      ms_c_line(w, "int64_t o%u_%u = INT64_MIN;", c + 1, d + 1);
    if (!ms_variable_is_tracked(w->emitter, c)) continue;
    ms_c_line(w, "ms_value q%u = ms_nothing;", c + 1);
    for (uint32_t d = 0; d < w->positions; d++) ms_c_line(w, "int64_t q%u_%u = 0;", c + 1, d + 1);
  }
}

void ms_c_variables_begin(ms_writer *w) {
  for (uint32_t c = 0; c < w->emitter->job->loop->capture_count; c++) {
    if (ms_variable_is_ranked(w->emitter, c)) ms_c_line(w, "l%u = 0;", c + 1);
    if (ms_variable_is_tracked(w->emitter, c))
      ms_c_line(w, "%s = ms_nothing;", ms_c_variable(w, c));
  }
}

/* The first iteration that gave a variable a value. */
static void end_origin(ms_writer *w, uint32_t at) {
  ms_c_line(w,
            "if (o%u_1 == INT64_MIN && (%s.tag != MS_NATIVE_NIL || h%u.tag != MS_NATIVE_NONE)) {",
            at + 1, ms_c_variable(w, at), at + 1);
  for (uint32_t d = 0; d < w->positions; d++) ms_c_line(w, "o%u_%u = x%u;", at + 1, d + 1, d + 1);
  ms_c_line(w, "}");
}

void ms_c_variables_end(ms_writer *w) {
  for (uint32_t c = 0; c < w->emitter->job->loop->capture_count; c++) {
    bool ranked = ms_variable_is_ranked(w->emitter, c);
    for (uint32_t d = 0; ranked && d < w->positions; d++)
      ms_c_line(w, "if (l%u) q%u_%u = x%u;", c + 1, c + 1, d + 1, d + 1);
    if (ms_variable_has_origin(w->emitter, c)) end_origin(w, c);
    if (!ms_variable_is_tracked(w->emitter, c)) continue;
    const char *name = ms_c_variable(w, c);
    ms_c_line(w, "if (%s.tag != MS_NATIVE_NONE) {", name);
    ms_c_line(w, "q%u = %s;", c + 1, name);
    for (uint32_t d = 0; d < w->positions; d++) ms_c_line(w, "q%u_%u = x%u;", c + 1, d + 1, d + 1);
    ms_c_line(w, "}");
  }
}

void ms_c_variables_give(ms_writer *w) {
  const ms_verdict *verdict = w->emitter->job->verdict;
  uint32_t slot = 0;
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    uint32_t at = verdict->scalars[s].capture;
    if (!ms_variable_is_result(w->emitter, at)) continue;
    ms_kind_of kind = w->typed->variable[at];
    ms_c_value value = {
        .form = ms_c_value_representation(w, &kind), .kind = kind, .text = ms_c_variable(w, at)};
    if (ms_variable_is_tracked(w->emitter, at)) value.text = ms_c_text(w, "q%u", at + 1);
    if (is_slice(w, at)) {
      ms_c_line(w, "ms_give(results + %u, ms_nothing);", slot);
      slot += 2;
      continue;
    }
    if (value.form == MS_FORM_OBJECT) return;
    if (w->counted_used[at])
      value.text = ms_c_text(w, "(n%u > 0 ? (double)n%u : %s)", at + 1, at + 1, value.text);
    ms_c_line(w, "ms_give(results + %u, %s);", slot,
              ms_c_value_as_form(w, value, MS_FORM_VALUE, w->emitter->body));
    slot += 2;
  }
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    uint32_t at = verdict->scalars[s].capture;
    if (!ms_variable_has_head(w->emitter, at)) continue;
    ms_c_line(w, "ms_give(results + %u, h%u);", slot, at + 1);
    slot += 2;
  }
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    uint32_t at = verdict->scalars[s].capture;
    if (!ms_variable_is_tracked(w->emitter, at) && !ms_variable_is_ranked(w->emitter, at)) continue;
    for (uint32_t d = 0; d < w->positions; d++)
      ms_c_line(w, "results[%u].whole = q%u_%u;", slot++, at + 1, d + 1);
    bool origin = ms_variable_has_origin(w->emitter, at);
    for (uint32_t d = 0; origin && d < w->positions; d++)
      ms_c_line(w, "results[%u].whole = o%u_%u;", slot++, at + 1, d + 1);
  }
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    uint32_t at = verdict->scalars[s].capture;
    if (!ms_variable_is_ranked(w->emitter, at) || !ms_variable_has_streak(w->emitter, at)) continue;
    ms_c_line(w, "results[%u].pointer = streak%u.slots;", slot++, at + 1);
    ms_c_line(w, "results[%u].whole = (int64_t)streak%u.used;", slot++, at + 1);
  }
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    uint32_t at = verdict->scalars[s].capture;
    if (!is_slice(w, at)) continue;
    ms_c_line(w, "results[%u].pointer = slice%u.slots;", slot++, at + 1);
    ms_c_line(w, "results[%u].whole = (int64_t)slice%u.used;", slot++, at + 1);
  }
}

void ms_c_variables_stop(ms_writer *w) {
  for (uint32_t c = 0; c < w->emitter->job->loop->capture_count; c++) {
    if (ms_variable_is_ranked(w->emitter, c) && ms_variable_has_streak(w->emitter, c))
      ms_c_line(w, "__builtin_free(streak%u.slots);", c + 1);
    if (is_slice(w, c)) ms_c_line(w, "__builtin_free(slice%u.slots);", c + 1);
  }
}
