/* SPDX-License-Identifier: MIT
 *
 * Writing C: variables of others in recursive functions. See c_upvalue.h. */
#include "kernel/native/c_upvalue.h"

#include "kernel/native/c_array.h"
#include "kernel/native/c_expression.h"
#include "kernel/native/c_value.h"

const char *ms_c_upvalue_type(ms_writer *w, const ms_kind_of *kind, ms_representation_of *form) {
  *form = ms_c_value_representation(w, kind);
  if (*form == MS_FORM_OBJECT) return ms_c_array_object_type(w, kind);
  if (*form == MS_FORM_FLOAT) *form = MS_FORM_DOUBLE;
  return ms_c_value_type(*form);
}

typedef struct search {
  ms_writer *w;
  ms_c_recursive *recursive; /* whose variables are looked for, or NULL */
  uint32_t mark;             /* of functions that have been gone through */
} search;

/* The entry of a variable; NULL: out of memory. */
static struct ms_c_upvalue *entry_of(ms_writer *w, ms_c_recursive *recursive,
                                     const ms_symbol *symbol) {
  struct ms_c_upvalue **end = &recursive->upvalues;
  for (; *end != NULL; end = &(*end)->next) {
    if ((*end)->symbol == symbol) return *end;
  }
  *end = ms_arena_take(w->arena, 1, sizeof **end);
  w->failed = w->failed || *end == NULL;
  if (*end != NULL) **end = (struct ms_c_upvalue){.symbol = symbol};
  return *end;
}

static void add(const search *names, const ms_node *name) {
  struct ms_c_upvalue *entry = entry_of(names->w, names->recursive, name->symbol);
  const ms_node *around = name->parent;
  if (entry != NULL && around->kind == MS_ASSIGN && name->ordinal < around->targets)
    entry->assigned = true;
}

static void go_through(search *names, ms_callee *callee);

static bool visit_name(ms_node *node, void *context) {
  search *names = context;
  const ms_typed *typed = names->w->typed;
  const ms_node *value, *called = ms_typed_called(typed, node);
  if (node->kind == MS_FUNCTION) return false;
  if (called != NULL) go_through(names, ms_typed_callee(typed, called));
  if (names->recursive != NULL && node->kind == MS_NAME && node->symbol != NULL &&
      ms_typed_binding(typed, node, &value) == MS_NO_CAPTURE)
    add(names, node);
  return true;
}

static void go_through(search *names, ms_callee *callee) {
  if (callee == NULL || callee->mark == names->mark) return;
  callee->mark = names->mark;
  ms_node_walk(callee->node->function->body, visit_name, names);
}

static bool is_reached(const search *names, const ms_function *function) {
  const ms_node *node = function->node;
  const ms_callee *callee = node != NULL ? ms_typed_callee(names->w->typed, node) : NULL;
  return callee != NULL && callee->mark == names->mark;
}

bool ms_c_upvalue_is_passed(ms_writer *w, const ms_kind_of *kind, const ms_node *to) {
  if (kind->object != MS_OBJECT_FUNCTION)
    return kind->object != MS_OBJECT_OTHER && kind->object != MS_OBJECT_TABLE &&
           kind->object != MS_OBJECT_SLICE;
  search calls = {w, NULL, ++w->typed->marks};
  go_through(&calls, ms_typed_callee(w->typed, to));
  const ms_function *maker = kind->node->function->parent;
  while (maker != NULL && !is_reached(&calls, maker)) maker = maker->parent;
  return maker == NULL;
}

void ms_c_upvalues_find(ms_writer *w, ms_c_recursive *recursive) {
  search names = {w, recursive, ++w->typed->marks};
  go_through(&names, ms_typed_callee(w->typed, recursive->function));
  uint32_t number = 0;
  for (struct ms_c_upvalue **each = &recursive->upvalues; *each != NULL;) {
    struct ms_c_upvalue *upvalue = *each;
    ms_kind_of kind = *ms_typed_symbol(w->typed, upvalue->symbol);
    if (kind.can == 0 ||
        is_reached(&names, upvalue->symbol->function)) { /* 0: outside of the body */
      *each = upvalue->next;
      continue;
    }
    upvalue->type = ms_c_upvalue_type(w, &kind, &upvalue->local.form);
    upvalue->assigned = upvalue->assigned && upvalue->local.form != MS_FORM_OBJECT;
    upvalue->local.given = !upvalue->assigned;
    if (upvalue->type != NULL) {
      upvalue->name = ms_c_text(w, "u%u", ++number);
      upvalue->local.text =
          upvalue->assigned ? ms_c_text(w, "(*%s)", upvalue->name) : upvalue->name;
    } else if (kind.object != MS_OBJECT_OTHER && kind.object != MS_OBJECT_TABLE) {
      upvalue->local.text = "";
    }
    each = &upvalue->next;
  }
}

const char *ms_c_upvalues_declared(ms_writer *w, const ms_c_recursive *recursive,
                                   const char *list) {
  for (const struct ms_c_upvalue *each = recursive->upvalues; each != NULL; each = each->next) {
    if (each->type != NULL)
      list = ms_c_text(w, "%s, %s %sconst %s", list, each->type, each->assigned ? "*" : "",
                       each->name);
  }
  return list;
}

/* Where a variable is that a call may change. */
static const char *address_of(ms_writer *w, const struct ms_c_upvalue *upvalue,
                              const ms_node *call) {
  const ms_c_local *known = ms_c_local_of(w, upvalue->symbol);
  if (known->text == NULL || known->given || known->whole != NULL ||
      known->form != upvalue->local.form)
    ms_c_refuse(w, call, "`%s` assigns `%s` of another function", ms_c_source(w, call),
                upvalue->symbol->name);
  return ms_c_text(w, "&%s", known->text != NULL ? known->text : "");
}

const char *ms_c_upvalues_passed(ms_writer *w, const ms_c_recursive *recursive, const ms_node *call,
                                 const char *list) {
  for (const struct ms_c_upvalue *each = recursive->upvalues; each != NULL; each = each->next) {
    if (each->type == NULL) continue;
    ms_c_value value = {.form = MS_FORM_OBJECT};
    if (!each->assigned) value = ms_c_expression_local(w, each->symbol, call);
    const char *passed = each->assigned ? address_of(w, each, call)
                                        : ms_c_value_as_form(w, value, each->local.form, call);
    list = ms_c_text(w, "%s, %s", list, passed);
  }
  return list;
}
