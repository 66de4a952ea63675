/* SPDX-License-Identifier: MIT
 *
 * Writing C: calls of builtins and of functions whose text is known. See c_call.h.
 *
 * A function of the user is written in place of its call, as a block that ends in a label; what it
 * returns goes to temporaries. */
#include "kernel/native/c_call.h"

#include <string.h>

#include "kernel/native/c_array.h"
#include "kernel/native/c_draws.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_local.h"
#include "kernel/native/c_recursive.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_rounded.h"
#include "kernel/native/c_row.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_value.h"

/* Deepest chain of functions that call each other. */
#define DEEPEST 16

/* Most bytes of C into which one more function is written: a compiler takes seconds for them. */
#define LARGEST 500000

static ms_c_value number(ms_representation_of form, ms_precision precision, const char *text) {
  return (ms_c_value){.form = form, .kind = ms_kind_of_number(precision), .text = text};
}

/* What a builtin does with numbers: floats, or doubles. */
static const char *apply(ms_writer *w, const ms_library *entry, const ms_c_value *values,
                         uint32_t count, bool single) {
  const char *name = single ? entry->single : entry->text, *text = values[0].text;
  if (entry->most == 1) text = ms_c_text(w, "%s(%s)", name, text);
  if (count == 1 && entry->most > 2 && entry->shape == MS_LIBRARY_BITS)
    text = ms_c_text(w, "ms_bit_tobit(%s)", text);
  for (uint32_t k = 1; k < count; k++)
    text = ms_c_text(w, "%s(%s, %s)", name, text, values[k].text);
  return text;
}

/* What a builtin of doubles gives in front of the region, if its arguments are known there. */
static ms_c_early apply_early(ms_writer *w, const ms_library *entry, ms_c_value *values,
                              uint32_t count) {
  bool captured = true;
  for (uint32_t k = 0; k < count; k++) {
    values[k].text = values[k].early.text;
    captured = captured && values[k].early.captured;
    if (values[k].text == NULL) return (ms_c_early){0};
  }
  return ms_c_region_early(apply(w, entry, values, count, false), captured);
}

/* The precision of what a builtin gives for these arguments. */
static ms_precision precision_of(const ms_writer *w, const ms_library *entry,
                                 const ms_c_value *values, uint32_t count) {
  ms_precision precision = MS_ANY_PRECISION;
  for (uint32_t k = 0; k < count && entry->shape != MS_LIBRARY_BITS; k++) {
    ms_precision next = ms_c_region_joined(w, &values[k], &values[k]);
    if (next > precision) precision = next;
  }
  return precision;
}

/* Evaluates a call's arguments; what may be no number waits until all are. */
static void evaluate(ms_writer *w, const ms_node *node, ms_c_value *values, bool hold) {
  for (uint32_t k = 1; k < node->kids; k++) {
    values[k - 1] = ms_c_expression(w, node->kid[k]);
    bool held = hold;
    for (uint32_t later = k + 1; later < node->kids; later++)
      held = held || ms_typed_stores(w->typed, node->kid[later]);
    if (held) values[k - 1] = ms_c_value_hold(w, values[k - 1]);
  }
}

/* Where Lua places the errors of a builtin: a call in tail position leaves its function, so they
 * are the call's of that one. NULL: a recursive function was called there, by whomever. */
static const ms_node *place_of(const ms_writer *w, const ms_node *call) {
  for (const ms_inlined *open = w->inlined; open != NULL; open = open->next) {
    if (call->parent->kind != MS_RETURN || call->parent->kids != 1) break;
    if (open->recursive != NULL) return NULL;
    call = open->call;
  }
  return call;
}

/* meissa.random: each call draws, so it is a statement of its own. */
static ms_c_value draw(ms_writer *w, const ms_node *node, const ms_library *entry) {
  ms_c_value values[MS_RETURNS];
  const char *limit[2] = {"1.0", NULL}, *held = ms_c_temp(w);
  uint32_t count = node->kids - 1;
  if (w->within != NULL)
    ms_c_refuse(w, node, "`%s` draws in a function that calls itself", ms_c_source(w, node));
  if (w->why->line != 0) return number(MS_FORM_DOUBLE, MS_ANY_PRECISION, "0.0");
  evaluate(w, node, values, true);
  for (uint32_t k = 0; k < count; k++) {
    if (values[k].form != MS_FORM_DOUBLE && values[k].form != MS_FORM_FLOAT)
      ms_c_refuse(w, node, "`%s` is not known to be a number", ms_c_source(w, node->kid[k + 1]));
    limit[count == 1 ? 1 : k] = values[k].text;
  }
  if (entry->shape == MS_LIBRARY_NORMAL) {
    ms_c_line(w, "const double %s = ms_draw_normal(%s, ms_place);", held, ms_c_draw(w, false));
  } else if (count == 0) {
    ms_c_line(w, "const double %s = %s;", held, ms_c_draw(w, true));
  } else {
    ms_c_line(w, "if (MS_UNLIKELY(!ms_is_draw_range(%s, %s))) {", limit[0], limit[1]);
    ms_c_line(w, "fault->other = %s;", limit[1]);
    const ms_node *place = place_of(w, node);
    ms_c_line(w, "ms_stop(fault, MS_NATIVE_RANDOM, %u, 0, %u, %s);", place->line, count, limit[0]);
    ms_c_leave(w, place);
    ms_c_line(w, "}");
    ms_c_line(w, "const double %s = ms_draw_whole(%s, %s, %s);", held, ms_c_draw(w, true), limit[0],
              limit[1]);
  }
  return number(MS_FORM_DOUBLE, MS_ANY_PRECISION, held);
}

/* Builtins that speak for themselves; others are called what their caller calls them. */
static bool has_own_words(const char *name) {
  static const char *const names[] = {"math.max", "math.min", "math.ceil", "math.deg",
                                      "math.rad", "bit.band", "bit.bor",   "bit.bxor"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    if (strcmp(names[k], name) == 0) return true;
  }
  return false;
}

/* The name in a call: of a function, field or method. */
static const char *name_in(const ms_node *call) {
  if (call->kind == MS_METHOD) return call->text;
  const ms_node *callee = call->kid[0];
  const char *name = callee->kind == MS_INDEX ? callee->kid[1]->text : callee->text;
  return name != NULL ? name : "?";
}

/* What argument `at`, from 1, must not be, in the words of whoever refuses it. */
static ms_complaint bad_argument(ms_writer *w, const char *name, const ms_node *place,
                                 const ms_node *call, uint32_t at) {
  static const ms_complaint power = {"attempt to perform arithmetic on a nil value",
                                     "attempt to perform arithmetic on a boolean value"};
  if (strcmp(name, "math.pow") == 0) return power;
  const char *format = "bad argument #%u to '%s' (number expected, got %s)";
  name = place == call || has_own_words(name) ? strchr(name, '.') + 1 : name_in(place);
  return (ms_complaint){ms_c_text(w, format, at, name, "nil"),
                        ms_c_text(w, format, at, name, "boolean")};
}

/* A value as a number, made of what it was made of. */
static void take_number(ms_c_value *value, ms_representation_of form, ms_precision precision,
                        const char *text) {
  ms_c_value taken = number(form, precision, text);
  taken.outside = value->outside;
  taken.early = value->early;
  *value = taken;
}

static ms_c_value builtin(ms_writer *w, const ms_node *node, const ms_library *entry) {
  if (entry->shape >= MS_LIBRARY_RANDOM) return draw(w, node, entry);
  ms_c_value values[MS_RETURNS];
  uint32_t count = node->kids - 1;
  bool bits = entry->shape == MS_LIBRARY_BITS;
  w->exact += bits;
  evaluate(w, node, values, false);
  const ms_node *place = place_of(w, node);
  ms_precision precision = precision_of(w, entry, values, count);
  bool floats = precision == MS_SINGLE && entry->single != NULL;
  ms_representation_of form = floats ? MS_FORM_FLOAT : MS_FORM_DOUBLE;
  for (uint32_t k = 0; k < count; k++) {
    const ms_node *kid = node->kid[k + 1];
    if (values[k].form == MS_FORM_VALUE && place == NULL)
      ms_c_refuse(w, kid, "`%s` may be no number where a function that calls itself ends",
                  ms_c_source(w, kid));
    else if (values[k].form == MS_FORM_VALUE && entry->shape != MS_LIBRARY_SELF)
      take_number(&values[k], MS_FORM_DOUBLE, MS_ANY_PRECISION,
                  ms_c_value_as_number(w, values[k], place,
                                       bad_argument(w, entry->name, place, node, k + 1)));
    if (values[k].form != MS_FORM_DOUBLE && values[k].form != MS_FORM_FLOAT) {
      ms_c_refuse(w, kid, "`%s` is not known to be a number", ms_c_source(w, kid));
      w->exact -= bits;
      return number(form, precision, "0.0");
    }
    if (entry->shape == MS_LIBRARY_SELF) return values[k];
    const char *text =
        floats ? ms_c_value_as_float(w, values[k], kid) : ms_c_value_as_double(w, values[k], kid);
    take_number(&values[k], form, precision, text);
  }
  w->exact -= bits;
  ms_c_value result = number(form, precision, apply(w, entry, values, count, floats));
  if (!floats && !bits) {
    for (uint32_t k = 0; k < count; k++)
      ms_c_region_joins(w, &result.outside, &values[k], w->region);
    result.early = apply_early(w, entry, values, count);
  }
  ms_c_rounded_note(&result, entry->name);
  return result;
}

static bool builtin_fits(ms_writer *w, const ms_node *node, const char *name,
                         const ms_library *entry) {
  if (entry == NULL) {
    ms_c_refuse(w, node, "`%s` has no C form", name);
    return false;
  }
  uint32_t count = node->kids - 1;
  bool spread =
      count > 0 && entry->most > 1 && !ms_typed_single(w->typed, node->kid[node->kids - 1]);
  if (count < entry->least || count > entry->most || count > MS_RETURNS || spread) {
    ms_c_refuse(w, node, "`%s` has no C form with these arguments", name);
    return false;
  }
  return true;
}

/* What `error` or `assert` says: a text that is known and that stays as it is where it is raised.
 */
static const char *words_of(const ms_node *node) {
  if (node->kind != MS_STRING || strlen(node->text) != node->length) return NULL;
  for (size_t at = 0; at < node->length; at++) {
    if ((unsigned char)node->text[at] < ' ') return NULL;
  }
  bool code = node->length > 3 && strspn(node->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3 &&
              node->text[3] == ':';
  return code ? NULL : node->text;
}

/* error("text"), assert(condition), assert(condition, "text"). */
static void raise(ms_writer *w, const ms_node *node, bool asserts, ms_c_value *value) {
  uint32_t at = asserts ? 2 : 1, count = node->kids - 1;
  const char *words = asserts ? "assertion failed!" : NULL;
  if (count >= at) words = words_of(node->kid[at]);
  if (words == NULL || count < 1 || count > at || node->parent->kind == MS_RETURN) {
    ms_c_refuse(w, node, "`%s` has no constant text", ms_c_source(w, node));
  } else if (asserts) {
    *value = ms_c_value_hold(w, ms_c_expression(w, node->kid[1]));
    bool object = value->form == MS_FORM_OBJECT && value->kind.object != MS_OBJECT_LISTS;
    const uint32_t falsy = MS_CAN_NIL | MS_CAN_FALSE;
    if (object || (value->form != MS_FORM_OBJECT && (value->kind.can & falsy) == 0)) return;
    ms_c_error(w, node, ms_c_text(w, "!%s", ms_c_value_as_truth(w, *value)), words);
  } else {
    ms_c_error(w, node, "1", words);
  }
}

static bool is_deep(const ms_writer *w) {
  uint32_t depth = 0;
  for (const ms_inlined *open = w->inlined; open != NULL; open = open->next) depth++;
  return depth >= DEEPEST;
}

/* Declares the variables that take what a function returns. */
static void declare_results(ms_writer *w, const ms_node *node, const ms_callee *callee,
                            ms_c_value *values, uint32_t count) {
  for (uint32_t r = 0; r < count; r++) {
    ms_kind_of kind = r < MS_RETURNS ? callee->result[r] : ms_kind_of_scalar(MS_CAN_NIL);
    if (callee->mixed) kind.precision = MS_ANY_PRECISION;
    values[r] = (ms_c_value){
        .form = ms_c_value_representation(w, &kind), .kind = kind, .text = ms_c_temp(w)};
    const char *type = ms_c_value_type(values[r].form);
    if (values[r].form == MS_FORM_OBJECT) type = ms_c_array_object_type(w, &kind);
    if (type == NULL) {
      ms_c_refuse(w, node, "`%s` does not always give a row of the same array, or the same table",
                  ms_c_source(w, node));
      return;
    }
    ms_c_line(w, "%s %s;", type, values[r].text);
  }
}

/* Whether a function can be written in place of its call, or as a recursive one. */
static bool can_call(ms_writer *w, const ms_node *node, const ms_node *function) {
  const ms_function *known = function->function;
  const char *why = NULL;
  if (known->vararg || known->parameter_count > MS_C_PARAMETERS)
    why = "takes any number of arguments";
  if (is_deep(w)) why = "calls functions in functions too deep";
  if (w->out->length > LARGEST) why = "makes the body too large for C";
  if (why != NULL) ms_c_refuse(w, node, "`%s` %s", ms_c_source(w, node), why);
  return why == NULL;
}

void ms_c_call_arguments(ms_writer *w, const ms_node *call, const ms_function *function,
                         ms_c_value *arguments) {
  uint32_t self = MS_TYPED_SELF(call), count = function->parameter_count;
  if (self > 0) arguments[0] = ms_c_expression(w, call->kid[0]);
  ms_c_expression_list(w, call, 1, arguments + self, count > self ? count - self : 0, true);
}

static void call_function(ms_writer *w, const ms_node *node, const ms_node *function,
                          ms_c_value *values, uint32_t count) {
  const ms_callee *callee = ms_typed_callee(w->typed, function);
  const ms_function *known = function->function;
  if (callee == NULL)
    ms_c_refuse(w, node, "`%s` calls a function whose text is not known here",
                ms_c_source(w, node));
  if (callee == NULL || !can_call(w, node, function)) return;
  if (callee->cycle != 0) {
    ms_c_recursive_call(w, node, function, values, count);
    return;
  }
  declare_results(w, node, callee, values, count);
  ms_c_line(w, "{");
  ms_c_value arguments[MS_C_PARAMETERS];
  ms_c_call_arguments(w, node, known, arguments);
  ms_inlined open = {.next = w->inlined,
                     .function = function,
                     .call = node,
                     .results = values,
                     .result_count = count,
                     .region = w->region,
                     .label = ms_c_text(w, "r%u", ++w->labels)};
  if (ms_c_is_elsewhere(w, function)) open.call_line = ms_c_body_line(w, node);
  w->inlined = &open;
  for (uint32_t p = 0; p < known->parameter_count && w->why->line == 0; p++)
    ms_c_local_declare(w, known->parameters[p], arguments[p], ms_c_recursive_argument(node, p));
  ms_c_label *labels = w->label;
  w->label = NULL;
  ms_c_statements(w, known->body);
  if (ms_typed_block_ends(known->body)) {
    for (uint32_t r = 0; r < count; r++)
      ms_c_line(w, "%s = %s;", values[r].text,
                ms_c_value_as_form(w, ms_c_value_nil(), values[r].form, node));
  }
  w->label = labels;
  w->inlined = open.next;
  ms_c_line(w, "}");
  if (open.jumped) ms_c_line(w, "%s:;", open.label);
  w->line = 0;
  ms_c_place(w, node);
}

void ms_c_call(ms_writer *w, const ms_node *node, ms_c_value *values, uint32_t count) {
  ms_c_value none = number(MS_FORM_DOUBLE, MS_ANY_PRECISION, "0.0");
  for (uint32_t v = 0; v < count; v++) values[v] = none;
  const ms_node *function = ms_typed_called(w->typed, node);
  if (function != NULL) {
    call_function(w, node, function, values, count);
    return;
  }
  if (node->kind == MS_METHOD && count <= 1) {
    none = ms_c_row_measure(w, node);
    if (count == 1) values[0] = none;
    return;
  }
  if (node->kind != MS_CALL) {
    ms_c_refuse(w, node, "`%s` has any number of values", ms_c_source(w, node));
    return;
  }
  ms_kind_of called = ms_typed_expression(w->typed, node->kid[0]);
  bool asserts = called.object == MS_OBJECT_BUILTIN && strcmp(called.name, "assert") == 0;
  if (count <= 1 &&
      (asserts || (called.object == MS_OBJECT_BUILTIN && strcmp(called.name, "error") == 0))) {
    raise(w, node, asserts, &none);
    if (count == 1) values[0] = none;
  } else if (called.object == MS_OBJECT_BUILTIN) {
    const ms_library *entry = ms_library_find(called.name, node->kids - 1);
    if (!builtin_fits(w, node, called.name, entry)) return;
    none = builtin(w, node, entry);
    if (count > 0) values[0] = none;
    for (uint32_t v = 1; v < count; v++) values[v] = ms_c_value_nil();
  } else {
    ms_c_refuse(w, node, "`%s` calls a function whose text is not known here",
                ms_c_source(w, node));
  }
}

/* `return` of the closure form: what it gives is evaluated and dropped. */
static void leave_iteration(ms_writer *w, const ms_node *node) {
  for (uint32_t k = 0; k < node->kids; k++) ms_c_expression(w, node->kid[k]);
  w->emitter->leaves = true;
  ms_c_line(w, "goto ms_next;");
}

void ms_c_call_return(ms_writer *w, const ms_node *node) {
  ms_inlined *open = w->inlined;
  if (open == NULL) {
    leave_iteration(w, node);
    return;
  }
  if (open->recursive != NULL) {
    ms_c_recursive_return(w, node);
    return;
  }
  ms_c_value values[MS_RETURNS];
  uint32_t count = open->result_count < MS_RETURNS ? open->result_count : MS_RETURNS;
  ms_c_expression_list(w, node, 0, values, count, count > 1);
  const ms_node *body = open->function->function->body;
  bool last = node->parent == body && body->kid[body->kids - 1] == node;
  for (uint32_t r = 0; r < count && w->why->line == 0; r++) {
    const ms_node *from = r < node->kids ? node->kid[r] : node;
    ms_c_value *result = &open->results[r];
    ms_c_line(w, "%s = %s;", result->text, ms_c_value_as_form(w, values[r], result->form, from));
    ms_c_region_joins(w, &result->outside, &values[r], open->region);
    if (last && !open->jumped) result->early = values[r].early;
  }
  if (last) return;
  open->jumped = true;
  ms_c_line(w, "goto %s;", open->label);
}
