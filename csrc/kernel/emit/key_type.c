/* SPDX-License-Identifier: MIT
 *
 * Types of keys: see key_type.h.
 *
 * For each local of the body the set of types that it may hold is found: the set begins empty, for
 * an index of the loop with numbers, and takes in the types of all values that the local is given,
 * until no set changes. Locals of which that is not known, parameters among them, may hold
 * anything. */
#include "kernel/emit/key_type.h"

#include <string.h>

/* Most times that all assignments are gone through; then locals may hold anything. */
#define MOST_PASSES 10

static const ms_holds any = {.what = MS_HOLDS_ANY}, number = {.what = MS_HOLDS_NUMBER},
                      other = {.what = MS_HOLDS_OTHER};

static ms_holds of(const ms_emitter *emitter, const ms_node *node);

static ms_holds join(ms_holds a, ms_holds b) {
  if (a.what == MS_HOLDS_NOTHING) return b;
  if (b.what == MS_HOLDS_NOTHING || (a.what == b.what && a.levels == b.levels)) return a;
  return a.what <= MS_HOLDS_OTHER && b.what <= MS_HOLDS_OTHER ? other : any;
}

/* ---- expressions ---- */

/* What a captured value is. */
static ms_holds captured(const ms_emitter *emitter, uint32_t at) {
  const ms_binding *binding = &emitter->job->bindings[at];
  if (emitter->job->loop->captures[at].assigned) return any;
  if (binding->kind == MS_BIND_NUMBER) return number;
  if (binding->kind <= MS_BIND_STRING) return other;
  if (binding->kind == MS_BIND_TABLE && binding->levels > 1)
    return (ms_holds){.what = MS_HOLDS_TABLE, .levels = binding->levels};
  if (binding->kind != MS_BIND_ARRAY || emitter->job->elements[at].type == MS_OBJECT) return any;
  return (ms_holds){.what = MS_HOLDS_VIEW, .levels = binding->dim_count};
}

/* An element or part of an array; a part of a table. */
static ms_holds part(const ms_emitter *emitter, const ms_node *node) {
  ms_holds whole = of(emitter, node->kid[0]);
  const ms_node *key = node->kid[1];
  uint32_t keys = 1;
  if (whole.what == MS_HOLDS_TABLE)
    return whole.levels > 2 ? (ms_holds){MS_HOLDS_TABLE, whole.levels - 1} : other;
  if (whole.what != MS_HOLDS_VIEW) return any;
  if (key->kind == MS_TABLE) {
    keys = key->kids;
    for (uint32_t k = 0; k < keys; k++) {
      const ms_node *field = key->kid[k];
      if (field->kid[0] != NULL || ms_node_is_multiple(field->kid[1])) return any;
      if (ms_key_type_may_be_table(emitter, field->kid[1])) return any;
    }
  } else if (key->kind == MS_STRING || ms_key_type_may_be_table(emitter, key)) {
    return any;
  }
  if (keys == 0 || keys > whole.levels) return any;
  return keys == whole.levels ? number : (ms_holds){MS_HOLDS_VIEW, whole.levels - keys};
}

static const char *builtin(const ms_emitter *emitter, const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  if (at == MS_NO_CAPTURE || value != node) return NULL;
  const ms_binding *binding = &emitter->job->bindings[at];
  return binding->kind == MS_BIND_BUILTIN ? binding->name : NULL;
}

static ms_holds call(const ms_emitter *emitter, const ms_node *node) {
  static const char *const numbers[] = {"math.", "bit.", "meissa.random", "meissa.normal"};
  const char *name = builtin(emitter, node->kid[0]);
  for (size_t n = 0; name != NULL && n < sizeof numbers / sizeof *numbers; n++) {
    if (strncmp(name, numbers[n], strlen(numbers[n])) == 0) return number;
  }
  bool plain = name != NULL && (strcmp(name, "tonumber") == 0 || strcmp(name, "tostring") == 0);
  return plain || (name != NULL && strncmp(name, "string.", 7) == 0) ? other : any;
}

/* The value of the space's entry. */
static ms_holds entry_value(const ms_emitter *emitter) {
  int64_t source = emitter->job->space->source;
  return source >= 0 && emitter->job->elements[source].type == MS_OBJECT ? any : number;
}

static ms_holds name(const ms_emitter *emitter, const ms_symbol *symbol) {
  if (symbol == emitter->value && !symbol->assigned) return entry_value(emitter);
  return emitter->holds[symbol->index];
}

static ms_holds of(const ms_emitter *emitter, const ms_node *node) {
  const ms_node *value;
  switch (node->kind) {
    case MS_PAREN:
      return of(emitter, node->kid[0]);
    case MS_NUMBER:
      return node->boxed ? other : number;
    case MS_NIL:
    case MS_TRUE:
    case MS_FALSE:
    case MS_STRING:
      return other;
    case MS_UNARY:
      return node->op == MS_OP_NOT ? other : number;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR)
        return join(of(emitter, node->kid[0]), of(emitter, node->kid[1]));
      return node->op <= MS_OP_POW ? number : other;
    case MS_CALL:
      return call(emitter, node);
    case MS_NAME:
    case MS_INDEX: {
      uint32_t at = ms_emitter_capture(emitter, node, &value);
      if (at != MS_NO_CAPTURE && value == node) return captured(emitter, at);
      if (node->kind == MS_INDEX) return part(emitter, node);
      return node->symbol != NULL ? name(emitter, node->symbol) : any;
    }
    default:
      return any;
  }
}

bool ms_key_type_may_be_table(const ms_emitter *emitter, const ms_node *node) {
  ms_what what = of(emitter, node).what;
  return what == MS_HOLDS_TABLE || what == MS_HOLDS_ANY;
}

bool ms_key_type_is_number(const ms_emitter *emitter, const ms_node *node) {
  return of(emitter, node).what == MS_HOLDS_NUMBER;
}

/* ---- locals ---- */

typedef struct search {
  ms_emitter *emitter;
  bool changed;
} search;

static void take_in(search *all, const ms_symbol *symbol, ms_holds value) {
  ms_holds *holds = &all->emitter->holds[symbol->index];
  ms_holds now = join(*holds, value);
  all->changed = all->changed || now.what != holds->what || now.levels != holds->levels;
  *holds = now;
}

/* What value `at` of a list is, of which the last may be several. */
static ms_holds listed(const ms_emitter *emitter, const ms_node *node, uint32_t from, uint32_t at) {
  if (from + at < node->kids) return of(emitter, node->kid[from + at]);
  bool several = node->kids > from && ms_node_is_multiple(node->kid[node->kids - 1]);
  return several ? any : other;
}

/* The variables of `for f, v in X[i]:nonzeros()` are numbers, the first one of ipairs is. */
static ms_holds visited(const ms_emitter *emitter, const ms_node *loop, uint32_t at) {
  const ms_node *from = loop->kid[0];
  if (loop->kids != 2) return any;
  if (from->kind == MS_METHOD && strcmp(from->text, "nonzeros") == 0 &&
      of(emitter, from->kid[0]).what == MS_HOLDS_VIEW)
    return number;
  const char *called = from->kind == MS_CALL ? builtin(emitter, from->kid[0]) : NULL;
  if (called == NULL || strcmp(called, "ipairs") != 0 || from->kids != 2) return any;
  ms_holds list = of(emitter, from->kid[1]);
  if (at == 0) return number;
  if (at > 1 || list.what != MS_HOLDS_TABLE) return any;
  return list.levels > 2 ? (ms_holds){MS_HOLDS_TABLE, list.levels - 1} : other;
}

static bool take_statement(ms_node *node, void *context) {
  search *all = context;
  for (uint32_t s = 0; s < node->symbol_count; s++) {
    if (node->kind == MS_LOCAL) take_in(all, node->symbols[s], listed(all->emitter, node, 0, s));
    if (node->kind == MS_FOR_NUMERIC) take_in(all, node->symbols[s], number);
    if (node->kind == MS_FOR_GENERIC)
      take_in(all, node->symbols[s], visited(all->emitter, node, s));
    if (node->kind == MS_LOCAL_FUNCTION) take_in(all, node->symbols[s], any);
  }
  for (uint32_t t = 0; node->kind == MS_ASSIGN && t < node->targets; t++) {
    const ms_symbol *symbol = node->kid[t]->kind == MS_NAME ? node->kid[t]->symbol : NULL;
    if (symbol != NULL) take_in(all, symbol, listed(all->emitter, node, node->targets, t));
  }
  bool function = node->kind == MS_SET_FUNCTION && node->kid[0]->kind == MS_NAME;
  if (function && node->kid[0]->symbol != NULL) take_in(all, node->kid[0]->symbol, any);
  return true;
}

static bool begin_declared(ms_node *node, void *context) {
  const ms_emitter *emitter = context;
  for (uint32_t s = 0; s < node->symbol_count; s++)
    emitter->holds[node->symbols[s]->index] = (ms_holds){.what = MS_HOLDS_NOTHING};
  return true;
}

int ms_key_types_find(ms_emitter *emitter) {
  size_t symbols = (size_t)emitter->job->loop->tree->symbols;
  search all = {.emitter = emitter, .changed = true};
  emitter->holds = ms_arena_take(emitter->arena, symbols + 1, sizeof *emitter->holds);
  if (emitter->holds == NULL) return -1;
  for (size_t s = 0; s < symbols; s++) emitter->holds[s] = any;
  ms_node_walk(emitter->body, begin_declared, emitter);
  for (uint32_t d = 0; d < emitter->dims; d++) {
    if (emitter->indices[d] != NULL) emitter->holds[emitter->indices[d]->index] = number;
  }
  for (uint32_t pass = 0; all.changed && pass < MOST_PASSES; pass++) {
    all.changed = false;
    ms_node_walk(emitter->body, take_statement, &all);
  }
  for (size_t s = 0; all.changed && s < symbols; s++) emitter->holds[s] = any;
  return 0;
}
