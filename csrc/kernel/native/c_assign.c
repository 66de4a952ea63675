/* SPDX-License-Identifier: MIT
 *
 * Writing C: assignments. See c_assign.h.
 *
 * The order is Lua's: the targets' arrays, rows and subscripts are evaluated from left to right,
 * then the values, then the stores are done from right to left. A store checks the subscripts in
 * the last [] of its target, then the value. Which of two errors is named follows from it. */
#include "kernel/native/c_assign.h"

#include <string.h>

#include "kernel/emit/variable.h"
#include "kernel/native/c_array.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_induction.h"
#include "kernel/native/c_lists.h"
#include "kernel/native/c_plain.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_table.h"
#include "kernel/native/c_value.h"
#include "kernel/native/c_variable.h"

/* Most targets of one assignment; LuaJIT allows 200 locals. */
#define MANY 256

/* A target: an element, whose row is known, a variable, or a place in a table of the body. */
typedef struct assign_target {
  ms_c_site site;
  ms_c_slot slot;
  const char *name; /* of the variable; NULL: the element, or the slot if it has a table */
  const char *key;  /* of an element of a sliced table, which is capture kind.array; or NULL */
  ms_kind_of kind;
  ms_representation_of form;
  ms_c_local *local; /* the variable, if it is one of the body's, or NULL */
} assign_target;

/* An assignment, of whose targets one has parts that the others must not change. */
typedef struct target_parts {
  const ms_node *assign;
  uint32_t at; /* which target */
  bool stores; /* values call functions */
} target_parts;

static bool is_later_target(const target_parts *keeping, const ms_symbol *symbol) {
  const ms_node *assign = keeping->assign;
  for (uint32_t t = keeping->at + 1; t < assign->targets; t++) {
    if (assign->kid[t]->kind == MS_NAME && assign->kid[t]->symbol == symbol) return true;
  }
  return false;
}

/* LuaJIT leaves a local in its register, unless a later target is that local. */
static bool keeps(const ms_writer *w, const ms_node *node, const void *context) {
  const target_parts *keeping = context;
  if (!keeping->stores && keeping->assign->targets == 1) return false;
  if (node == NULL || !ms_c_expression_reads_late(w, node)) return true;
  while (node->kind == MS_PAREN) node = node->kid[0];
  return node->symbol != NULL && is_later_target(keeping, node->symbol);
}

/* The key of an element of a sliced table, which nothing changes any more. */
static const char *key_of(ms_writer *w, const ms_node *node) {
  w->exact++;
  ms_c_value key = ms_c_value_hold(w, ms_c_expression(w, node));
  w->exact--;
  return ms_c_value_as_form(w, key, MS_FORM_VALUE, node);
}

static void find_target(ms_writer *w, const ms_node *node, const target_parts *keeping,
                        assign_target *target) {
  const ms_node *value;
  uint32_t at = ms_typed_binding(w->typed, node, &value);
  *target = (assign_target){0};
  if (w->within != NULL && at != MS_NO_CAPTURE) {
    ms_c_refuse(w, node, "`%s` is assigned by a function that calls itself", ms_c_source(w, node));
  } else if (at != MS_NO_CAPTURE && value == node && ms_variable_is(w->emitter, at)) {
    target->kind = w->typed->variable[at];
    target->form = ms_c_value_representation(w, &target->kind);
    target->name = ms_c_variable(w, at);
  } else if (at == MS_NO_CAPTURE && node->kind == MS_NAME && node->symbol != NULL) {
    target->kind = *ms_typed_symbol(w->typed, node->symbol);
    target->local = ms_c_local_of(w, node->symbol);
    target->name = target->local->text;
    target->form = target->local->form;
    if (target->name == NULL || target->local->given)
      ms_c_refuse(w, node, "`%s` belongs to another function", node->text);
  } else if (at != MS_NO_CAPTURE && value != node) {
    ms_c_refuse(w, node, "`%s` is a field of a table", ms_c_source(w, node));
  } else if (node->kind == MS_INDEX &&
             ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_SLICE) {
    target->kind = ms_typed_expression(w->typed, node->kid[0]);
    target->key = key_of(w, node->kid[1]);
    if (w->within != NULL)
      ms_c_refuse(w, node, "`%s` is assigned by a function that calls itself",
                  ms_c_source(w, node));
  } else if (node->kind == MS_INDEX &&
             ms_typed_expression(w->typed, node->kid[0]).object == MS_OBJECT_TABLE) {
    ms_c_table_place(w, node, &target->slot);
  } else if (node->kind != MS_INDEX || !ms_c_site_eval(w, node, keeps, keeping, &target->site)) {
    ms_c_refuse(w, node, "`%s` is not known to C", ms_c_source(w, node));
  }
}

/* The text of a value for a target, checked where the target's type asks for it. */
static const char *converted(ms_writer *w, const assign_target *target, ms_c_value value,
                             const ms_node *node) {
  if (target->name == NULL) return ms_c_array_stored(w, value, target->site.kind.array, node);
  ms_representation_of form = target->form;
  ms_object_kind object = target->kind.object;
  bool view = object == MS_OBJECT_VIEW || object == MS_OBJECT_PART ||
              (object == MS_OBJECT_LISTS && !ms_c_lists_is_all(w, &target->kind));
  if (form == MS_FORM_OBJECT && !view)
    ms_c_refuse(w, node, "`%s` would make one name stand for more than one table or function",
                ms_c_source(w, node));
  return ms_c_value_as_form(w, value, form, node);
}

/* The value of `node` as an integer, if its target takes it so; else NULL. */
static const char *as_whole(ms_writer *w, const assign_target *target, const ms_node *node) {
  if (target->slot.table != NULL || target->key != NULL) return NULL;
  if (target->name == NULL) return ms_c_array_stored_whole(w, target->site.kind.array, node);
  return target->local != NULL && target->local->counter ? ms_c_induction_counted(w, node) : NULL;
}

static void store(ms_writer *w, const assign_target *target, const char *whole, ms_c_value value,
                  const ms_node *node, const ms_node *place) {
  if (target->slot.table != NULL) {
    ms_c_table_store(w, &target->slot, value, node, place);
    return;
  }
  if (target->key != NULL) {
    if (value.form == MS_FORM_OBJECT)
      ms_c_refuse(w, place, "`%s` is a plain table, which only LuaJIT fills with what is no number",
                  ms_c_source(w, place->kid[0]));
    if (w->why->line != 0) return;
    const char *text = ms_c_value_as_form(w, value, MS_FORM_VALUE, node);
    ms_c_variable_slice(w, target->kind.array, target->key, text, place);
    return;
  }
  const char *to = target->name != NULL ? target->name : ms_c_site_lvalue(w, &target->site);
  const char *text = whole != NULL ? whole : converted(w, target, value, node);
  if (target->name == NULL) ms_c_site_touch(w, &target->site, to);
  if (target->local != NULL)
    ms_c_region_joins(w, &target->local->outside, &value, target->local->region);
  ms_c_line(w, "%s = %s;", to, text);
}

void ms_c_assign(ms_writer *w, const ms_node *node) {
  assign_target target[MANY];
  ms_c_value values[MANY];
  const char *whole[MANY];
  uint32_t count = node->targets < MANY ? node->targets : MANY, given = node->kids - node->targets;
  target_parts keeping = {.assign = node};
  if (ms_c_variable_step(w, node)) return;
  for (uint32_t k = node->targets; k < node->kids; k++)
    keeping.stores = keeping.stores || ms_typed_stores(w->typed, node->kid[k]);
  for (uint32_t t = 0; t < count && w->why->line == 0; t++) {
    keeping.at = t;
    find_target(w, node->kid[t], &keeping, &target[t]);
  }
  if (w->why->line != 0) return;
  ms_c_expression_list(w, node, node->targets, values, count, count > 1);
  for (uint32_t t = 0; t < count; t++) {
    whole[t] = t < given ? as_whole(w, &target[t], node->kid[node->targets + t]) : NULL;
    if (whole[t] == NULL || count == 1 || ms_c_is_simple(whole[t])) continue;
    ms_c_line(w, "const int64_t t%u = %s;", ++w->temps, whole[t]);
    whole[t] = ms_c_text(w, "t%u", w->temps);
  }
  for (uint32_t t = count; t-- > 0 && w->why->line == 0;) {
    const ms_node *from = node->kid[node->targets + (t < given ? t : given - 1)];
    store(w, &target[t], whole[t], values[t], from, node->kid[t]);
  }
}

/* Bytes of the largest array whose elements are written though they stay what they are: what does
 * not fit into caches takes longer to write than to leave alone. */
#define MOST_REWRITTEN ((uint64_t)1 << 26)

/* The assignment of one value to something that is indexed and no captured path names, which a
 * block is; or NULL. A field is a variable: more is noted of it than its value. */
static const ms_node *lone_assignment(const ms_writer *w, const ms_node *block) {
  const ms_node *assign = block->kids == 1 ? block->kid[0] : NULL, *value;
  if (assign == NULL || assign->kind != MS_ASSIGN || assign->targets != 1 || assign->kids != 2)
    return NULL;
  const ms_node *target = assign->kid[0];
  bool indexed =
      target->kind == MS_INDEX && ms_typed_binding(w->typed, target, &value) == MS_NO_CAPTURE;
  return indexed ? assign : NULL;
}

bool ms_c_assign_is_update(const ms_writer *w, const ms_node *node) {
  if (node->kids != 2 || lone_assignment(w, node->kid[1]) == NULL) return false;
  const ms_node *condition = node->kid[0];
  while (condition->kind == MS_PAREN) condition = condition->kid[0];
  return condition->kind == MS_BINARY && condition->op >= MS_OP_EQ && condition->op <= MS_OP_GE;
}

/* Whether a target is an element of a dense array that is small enough. */
static bool is_rewritten(const ms_writer *w, const assign_target *target) {
  if (target->name != NULL || target->slot.table != NULL || target->key != NULL) return false;
  const ms_binding *binding = &w->emitter->job->bindings[target->site.kind.array];
  double bytes = 8;
  for (uint32_t d = 0; d < binding->dim_count; d++) bytes *= (double)binding->dims[d];
  return !binding->sparse && bytes <= MOST_REWRITTEN;
}

/* Whether a condition looks at an element whose subscripts are no elements themselves. */
static bool looks_at(const char *condition, const char *element) {
  return strstr(condition, element) != NULL && strchr(strchr(element, '[') + 1, '[') == NULL;
}

/* Writes the element; or gives the value as text, if that may be done in any case. */
static const char *update_element(ms_writer *w, const assign_target *target, const char *condition,
                                  const ms_node *assign, const char **element) {
  const ms_node *from = assign->kid[1];
  ms_c_value value = ms_c_expression(w, from);
  const char *whole = as_whole(w, target, from);
  if (!is_rewritten(w, target) || !ms_c_is_plain(w, from)) {
    store(w, target, whole, value, from, assign->kid[0]);
    return NULL;
  }
  *element = ms_c_site_lvalue(w, &target->site);
  const char *text = whole != NULL ? whole : converted(w, target, value, from);
  ms_c_site_touch(w, &target->site, *element);
  if (w->out->length == 0 && looks_at(condition, *element)) return text;
  ms_c_line(w, "%s = %s;", *element, text);
  return NULL;
}

void ms_c_assign_update(ms_writer *w, const ms_node *node) {
  const ms_node *assign = node->kid[1]->kid[0];
  const char *condition = ms_c_expression_condition(w, node->kid[0]), *element, *value = NULL;
  ms_c_place(w, assign);
  ms_text statements = {0}, *out = w->out;
  target_parts keeping = {.assign = assign, .stores = ms_typed_stores(w->typed, assign->kid[1])};
  assign_target target;
  w->out = &statements;
  find_target(w, assign->kid[0], &keeping, &target);
  if (w->why->line == 0) value = update_element(w, &target, condition, assign, &element);
  w->out = out;
  if (value != NULL) {
    ms_c_line(w, "%s = %s ? %s : %s;", element, condition, value, element);
  } else {
    ms_c_line(w, "if (%s) {", condition);
    if (statements.length > 0) ms_text_append(w->out, statements.bytes, statements.length);
    ms_c_line(w, "}");
  }
  ms_text_free(&statements);
}

/* The same of an element, whose value is worth evaluating for nothing. */
static const ms_node *quick_assignment(const ms_writer *w, const ms_node *block) {
  const ms_node *assign = lone_assignment(w, block);
  if (assign == NULL || !ms_c_is_plain(w, assign->kid[1])) return NULL;
  ms_kind_of base = ms_typed_expression(w->typed, assign->kid[0]->kid[0]);
  return base.object == MS_OBJECT_VIEW ? assign : NULL;
}

/* The values of both assignments for one element, whose text is given; NULL if one, or what finds
 * the element, takes statements. */
static const char *both_values(ms_writer *w, const ms_node *const assign[2], const char *text[2],
                               ms_c_site *site) {
  target_parts keeping = {.assign = assign[0]};
  assign_target target;
  find_target(w, assign[0]->kid[0], &keeping, &target);
  for (int s = 0; s < 2 && w->why->line == 0; s++) {
    const ms_node *from = assign[s]->kid[1];
    ms_c_value value = ms_c_expression(w, from);
    text[s] = as_whole(w, &target, from);
    if (text[s] == NULL) text[s] = converted(w, &target, value, from);
  }
  if (w->why->line != 0) return NULL;
  *site = target.site;
  const char *element = ms_c_site_lvalue(w, &target.site);
  return w->out->length == 0 ? element : NULL;
}

bool ms_c_assign_selection(ms_writer *w, const ms_node *node) {
  if (w->careful > 0 || w->scopes == 0 || node->kids != 3) return false;
  const ms_node *const assign[2] = {quick_assignment(w, node->kid[1]),
                                    quick_assignment(w, node->kid[2])};
  if (assign[0] == NULL || assign[1] == NULL ||
      !ms_node_is_same(assign[0]->kid[0], assign[1]->kid[0]))
    return false;
  ms_text statements = {0}, *out = w->out;
  bool stops = w->stops;
  const char *text[2];
  ms_c_site site;
  w->out = &statements;
  const char *element = both_values(w, assign, text, &site);
  w->out = out;
  if (element != NULL) {
    const char *condition = ms_c_expression_condition(w, node->kid[0]);
    for (int s = 0; s < 2; s++) {
      const char *held = ms_c_temp(w);
      ms_c_line(w, "const __typeof__(%s) %s = %s;", element, held, text[s]);
      text[s] = held;
    }
    ms_c_site_touch(w, &site, element);
    ms_c_line(w, "%s = %s ? %s : %s;", element, condition, text[0], text[1]);
  } else {
    w->stops = stops;
  }
  w->failed = w->failed || statements.failed;
  ms_text_free(&statements);
  return element != NULL;
}
