/* SPDX-License-Identifier: MIT
 *
 * Writing C: functions that call themselves. See c_recursive.h. */
#include "kernel/native/c_recursive.h"

#include "kernel/native/c_call.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_local.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_upvalue.h"
#include "kernel/native/c_value.h"

/* Depth to which functions are written inside of each other, and the bytes of text that ends it. */
#define DEEPEST 16
#define LARGEST 100000

const ms_node *ms_c_recursive_argument(const ms_node *call, uint32_t p) {
  uint32_t kid = p + 1 - MS_TYPED_SELF(call);
  return kid < call->kids ? call->kid[kid] : NULL;
}

/* What a function gives beyond its first value. */
static uint32_t more_of(const ms_writer *w, const ms_node *function) {
  uint32_t results = ms_typed_callee(w->typed, function)->results;
  return results > 1 ? results - 1 : 0;
}

static const char *name_of(ms_writer *w, const ms_c_recursive *recursive) {
  return ms_c_text(w, "ms_c_recursive%u", recursive->number);
}

/* The C type in which a parameter is passed; NULL: it is known by itself. */
static const char *type_of(ms_writer *w, const ms_symbol *parameter, ms_representation_of *form) {
  return ms_c_upvalue_type(w, ms_typed_symbol(w->typed, parameter), form);
}

const char *ms_c_recursive_head(ms_writer *w, const ms_c_recursive *recursive) {
  const ms_function *known = recursive->function->function;
  const char *head =
      ms_c_text(w, "static ms_value %s(const ms_calls *const calls", name_of(w, recursive));
  if (more_of(w, recursive->function) > 0) head = ms_c_text(w, "%s, ms_value *const rest", head);
  for (uint32_t p = 0; p < known->parameter_count; p++) {
    ms_representation_of form;
    const char *type = type_of(w, known->parameters[p], &form);
    if (type != NULL) head = ms_c_text(w, "%s, %s a%u", head, type, p + 1);
  }
  return ms_c_text(w, "%s)", ms_c_upvalues_declared(w, recursive, head));
}

/* ---- calls ---- */

/* The arguments of a call in the forms of the parameters, by parameter; NULL: nothing is passed. */
static void pass(ms_writer *w, const ms_node *call, const ms_function *known, const char **texts) {
  ms_c_value values[MS_C_PARAMETERS];
  ms_c_call_arguments(w, call, known, values);
  for (uint32_t p = 0; p < known->parameter_count && w->why->line == 0; p++) {
    const ms_symbol *parameter = known->parameters[p];
    const ms_node *from = ms_c_recursive_argument(call, p);
    ms_representation_of form;
    if (!ms_c_upvalue_is_passed(w, ms_typed_symbol(w->typed, parameter), known->node))
      ms_c_refuse(w, call,
                  "`%s` calls itself with tables, functions that it makes, or not always the same "
                  "array, as `%s`",
                  ms_c_source(w, call->kid[0]), parameter->name);
    const char *type = type_of(w, parameter, &form);
    texts[p] =
        type == NULL ? NULL : ms_c_value_as_form(w, values[p], form, from != NULL ? from : call);
  }
}

/* The function that is written as recursive, which from now on is. */
static const ms_c_recursive *recursive_of(ms_writer *w, const ms_node *call,
                                          const ms_node *function) {
  ms_c_recursive **end = &w->recursive;
  uint32_t number = 1;
  for (; *end != NULL; end = &(*end)->next, number++) {
    if ((*end)->function == function) return *end;
  }
  ms_c_recursive *recursive = ms_arena_take(w->arena, 1, sizeof *recursive);
  if (recursive == NULL) {
    w->failed = true;
    return NULL;
  }
  *recursive = (ms_c_recursive){.function = function, .call = call, .number = number};
  if (ms_c_is_elsewhere(w, function)) recursive->call_line = ms_c_body_line(w, call);
  *end = recursive;
  ms_c_upvalues_find(w, recursive);
  return recursive;
}

/* What a recursive function gave, by what is known of it. Numbers are double in fast mode, too. */
static ms_c_value given(ms_writer *w, ms_kind_of kind, const char *text) {
  kind.precision = MS_FULL;
  ms_c_value value = {.form = ms_c_value_representation(w, &kind), .kind = kind, .text = text};
  if (value.form == MS_FORM_DOUBLE) value.text = ms_c_text(w, "%s.number", text);
  if (value.form == MS_FORM_BOOL) value.text = ms_c_text(w, "(%s.tag == MS_NATIVE_TRUE)", text);
  return value;
}

void ms_c_recursive_call(ms_writer *w, const ms_node *call, const ms_node *function,
                         ms_c_value *values, uint32_t count) {
  const ms_function *known = function->function;
  const ms_callee *callee = ms_typed_callee(w->typed, function);
  const ms_c_recursive *recursive = recursive_of(w, call, function);
  const char *texts[MS_C_PARAMETERS], *passed = "calls", *rest = NULL;
  pass(w, call, known, texts);
  if (recursive == NULL || w->why->line != 0) return;
  uint32_t more = more_of(w, function);
  if (more > 0) {
    rest = ms_c_temp(w);
    ms_c_line(w, "ms_value %s[%u];", rest, more);
    passed = ms_c_text(w, "%s, %s", passed, rest);
  }
  for (uint32_t p = 0; p < known->parameter_count; p++) {
    if (texts[p] != NULL) passed = ms_c_text(w, "%s, %s", passed, texts[p]);
  }
  passed = ms_c_upvalues_passed(w, recursive, call, passed);
  const char *got = ms_c_temp(w);
  ms_c_line(w, "const ms_value %s = %s(%s);", got, name_of(w, recursive), passed);
  ms_c_line(w, "if (MS_UNLIKELY(%s.tag == MS_NATIVE_NONE)) goto ms_stopped;", got);
  w->stops = w->uncounted = true;
  for (uint32_t r = 0; r < count; r++) {
    const char *text = r == 0 ? got : ms_c_text(w, "%s[%u]", rest, r - 1);
    values[r] = r <= more ? given(w, callee->result[r], text) : ms_c_value_nil();
  }
}

/* ---- returns ---- */

/* Appends the return of what a function gives. */
static void give(ms_writer *w, ms_c_value *values, const ms_node *node) {
  uint32_t more = more_of(w, w->within->function);
  for (uint32_t r = 1; r <= more && w->why->line == 0; r++)
    ms_c_line(w, "rest[%u] = %s;", r - 1, ms_c_value_as_form(w, values[r], MS_FORM_VALUE, node));
  ms_c_line(w, "return %s;", ms_c_value_as_form(w, values[0], MS_FORM_VALUE, node));
}

/* The inside of a function, whose arguments stand in variables. */
static void write_inside(ms_writer *w, ms_inlined *open) {
  const ms_function *known = open->function->function;
  ms_c_line(w, "%s:;", open->again);
  ms_c_line(w, "{");
  w->inlined = open;
  for (uint32_t p = 0; p < known->parameter_count; p++) {
    ms_c_value value = {.kind = *ms_typed_symbol(w->typed, known->parameters[p])};
    value.text = type_of(w, known->parameters[p], &value.form) != NULL ? open->arguments[p] : "";
    ms_c_local_declare(w, known->parameters[p], value, NULL);
  }
  ms_c_label *labels = w->label;
  w->label = NULL;
  ms_c_statements(w, known->body);
  if (ms_typed_block_ends(known->body)) {
    ms_c_value nothing[MS_RETURNS];
    for (uint32_t r = 0; r < MS_RETURNS; r++) nothing[r] = ms_c_value_nil();
    give(w, nothing, open->function);
  }
  w->label = labels;
  w->inlined = open->next;
  w->line = 0;
  ms_c_line(w, "}");
}

/* Goes back to the beginning of a function that is being written, with other arguments. */
static void begin_again(ms_writer *w, const ms_inlined *open, const ms_node *call) {
  const ms_function *known = open->function->function;
  const char *texts[MS_C_PARAMETERS];
  pass(w, call, known, texts);
  for (uint32_t p = 0; p < known->parameter_count && w->why->line == 0; p++) {
    if (texts[p] != NULL) ms_c_line(w, "%s = %s;", open->arguments[p], texts[p]);
  }
  ms_c_line(w, "goto %s;", open->again);
}

/* Writes a function in place of the call with which another one ends. */
static void go_on(ms_writer *w, const ms_node *call, const ms_node *function) {
  const ms_function *known = function->function;
  const char *texts[MS_C_PARAMETERS], *names[MS_C_PARAMETERS];
  pass(w, call, known, texts);
  if (w->why->line != 0) return;
  for (uint32_t p = 0; p < known->parameter_count; p++) {
    ms_representation_of form;
    const char *type = type_of(w, known->parameters[p], &form);
    names[p] = type != NULL ? ms_c_temp(w) : "";
    if (type != NULL) ms_c_line(w, "%s %s = %s;", type, names[p], texts[p]);
  }
  ms_inlined open = {.next = w->inlined,
                     .function = function,
                     .call = call,
                     .recursive = w->within,
                     .again = ms_c_text(w, "again%u", ++w->labels),
                     .arguments = names};
  if (ms_c_is_elsewhere(w, function)) open.call_line = ms_c_body_line(w, call);
  write_inside(w, &open);
}

/* The call with which a `return` leaves the cycle's functions for one of them, as a jump. */
static bool leave_by_call(ms_writer *w, const ms_node *node) {
  const ms_node *call = node->kids == 1 ? node->kid[0] : NULL;
  if (call == NULL || (call->kind != MS_CALL && call->kind != MS_METHOD)) return false;
  const ms_node *function = ms_typed_called(w->typed, call);
  if (function == NULL) return false;
  uint32_t depth = 0;
  for (const ms_inlined *open = w->inlined; open != NULL; open = open->next, depth++) {
    if (open->function != function) continue;
    begin_again(w, open, call);
    return true;
  }
  uint32_t cycle = ms_typed_cycle(w->typed, function);
  if (cycle == 0 || cycle != ms_typed_cycle(w->typed, w->within->function)) return false;
  if (depth >= DEEPEST || w->out->length > LARGEST) {
    ms_c_refuse(w, call, "`%s` calls functions in functions too deep", ms_c_source(w, call));
    return true;
  }
  go_on(w, call, function);
  return true;
}

void ms_c_recursive_return(ms_writer *w, const ms_node *node) {
  if (leave_by_call(w, node)) return;
  ms_c_value values[MS_RETURNS];
  uint32_t count = 1 + more_of(w, w->within->function);
  ms_c_expression_list(w, node, 0, values, count, count > 1);
  if (w->why->line == 0) give(w, values, node);
}

/* ---- functions ---- */

static void write_recursive(ms_writer *w, ms_c_recursive *recursive) {
  const ms_function *known = recursive->function->function;
  const char *names[MS_C_PARAMETERS];
  w->out = &recursive->body;
  w->line = 0;
  w->indent = 1;
  w->within = recursive;
  for (uint32_t p = 0; p < known->parameter_count; p++) names[p] = ms_c_text(w, "a%u", p + 1);
  ms_c_line(w, "char ms_here;");
  ms_c_error(w, recursive->function, "(int64_t)&ms_here < calls->end", "stack overflow");
  ms_inlined open = {.function = recursive->function,
                     .call = recursive->call,
                     .call_line = recursive->call_line,
                     .recursive = recursive,
                     .again = ms_c_text(w, "again%u", ++w->labels),
                     .arguments = names};
  write_inside(w, &open);
  ms_c_line(w, "ms_stopped:");
  ms_c_line(w, "return ms_nothing;");
  w->within = NULL;
  w->failed = w->failed || recursive->body.failed;
}

void ms_c_recursive_write(ms_writer *w) {
  w->careful = 1;
  w->scopes = 0;
  for (ms_c_recursive *each = w->recursive; each != NULL && w->why->line == 0; each = each->next)
    write_recursive(w, each); /* adds those that it calls */
}
