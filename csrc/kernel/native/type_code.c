/* SPDX-License-Identifier: MIT
 *
 * Typed form, code: functions from outside of the loop whose text is known (ms_binding.code). See
 * typed.h.
 *
 * Such a text is a tree of its own, whose names mean bindings of the loop by ms_binding.means. Two
 * closures of one text have different upvalues, so each function has a tree that is no other's: of
 * a text that is taken already another one is parsed. Types, locals and what is inlined then belong
 * to one closure, found by its nodes. A number or boolean that only a function names has no capture
 * that could pass it: it becomes a binding more, and a parameter that the engine reads out of the
 * function (MS_PARAM_INNER). */
#include <string.h>

#include "kernel/native/typed.h"

/* Separate the steps of a path: the next function; a field. */
#define STEP_FUNCTION "\1"
#define STEP_FIELD    "\2"

/* Copies of functions, beyond which calls that differ in what they give share one. */
#define MOST_CODES 64

static const ms_function *main_of(const ms_function *function) {
  while (function->parent != NULL) function = function->parent;
  return function;
}

/* The code with this main chunk; NULL for the loop's own text. */
static ms_outside *code_with(const ms_typed *typed, const ms_function *main) {
  for (ms_outside *code = typed->codes; code != NULL; code = code->next) {
    if (code->loop->tree->main == main) return code;
  }
  return NULL;
}

ms_outside *ms_typed_outside(const ms_typed *typed, const ms_node *node) {
  if (typed->codes == NULL) return NULL;
  while (node->parent != NULL) node = node->parent;
  for (ms_outside *code = typed->codes; code != NULL; code = code->next) {
    if (code->loop->tree->main->body == node) return code;
  }
  return NULL;
}

ms_outside *ms_typed_outside_of(const ms_typed *typed, const ms_symbol *symbol) {
  return typed->codes == NULL ? NULL : code_with(typed, main_of(symbol->function));
}

ms_kind_of *ms_typed_symbol(const ms_typed *typed, const ms_symbol *symbol) {
  ms_outside *code = ms_typed_outside_of(typed, symbol);
  return code == NULL ? &typed->symbol[symbol->index] : &code->symbol[symbol->index];
}

/* "\1f\2rate": one more step from a function to a name in it. */
static const char *step(const ms_typed *typed, const ms_outside *code, uint32_t capture,
                        uint32_t depth) {
  const ms_capture *named = &code->loop->captures[capture];
  char *path =
      ms_arena_format(typed->emitter->arena, "%s" STEP_FUNCTION "%s", code->path, named->root);
  for (uint32_t f = 0; f < depth && path != NULL; f++) {
    if (strpbrk(named->fields[f], STEP_FUNCTION STEP_FIELD) != NULL) return NULL;
    path = ms_arena_format(typed->emitter->arena, "%s" STEP_FIELD "%s", path, named->fields[f]);
  }
  return path;
}

/* The binding of a number or boolean that only functions name, reached from capture `at`. */
static uint32_t inner(ms_typed *typed, uint32_t at, const char *path, uint32_t binding) {
  if (path == NULL) return MS_NO_CAPTURE;
  for (uint32_t i = 0; i < typed->inner_count; i++) {
    if (typed->inner[i].at == at && strcmp(typed->inner[i].path, path) == 0)
      return typed->given + i;
  }
  if (typed->inner_count >= MS_INNER) return MS_NO_CAPTURE;
  typed->inner[typed->inner_count] = (ms_inner_value){at, path};
  typed->bindings[typed->given + typed->inner_count] = typed->bindings[binding];
  return typed->given + typed->inner_count++;
}

static bool is_passed(const ms_binding *binding) {
  return binding->kind == MS_BIND_NUMBER || binding->kind == MS_BIND_BOOLEAN;
}

/* The path of a field of a table. */
static const char *field_path(const ms_typed *typed, const ms_kind_of *table, const char *name) {
  if (strpbrk(name, STEP_FUNCTION STEP_FIELD) != NULL) return NULL;
  return ms_arena_format(typed->emitter->arena, "%s" STEP_FIELD "%s", table->name, name);
}

/* The binding of a field of a table from outside, or MS_NO_CAPTURE. A number or boolean is one of
 * `inner`. */
static uint32_t find_field(const ms_typed *typed, const ms_kind_of *table, const char *name) {
  const ms_binding *binding = &typed->bindings[table->array];
  for (uint32_t f = 0; f < binding->field_count; f++) {
    if (strcmp(binding->fields[f].name, name) != 0) continue;
    uint32_t at = binding->fields[f].binding;
    if (!is_passed(&typed->bindings[at])) return at;
    return inner((ms_typed *)(uintptr_t)typed, table->given, field_path(typed, table, name), at);
  }
  return MS_NO_CAPTURE;
}

/* A field of a table from outside that the body has by another way than its name. */
static uint32_t field_of(const ms_typed *typed, const ms_node *node, const ms_node **value) {
  if (node->kind != MS_INDEX || node->kid[1]->kind != MS_STRING) return MS_NO_CAPTURE;
  ms_kind_of base = ms_typed_expression(typed, node->kid[0]);
  *value = node;
  return base.object == MS_OBJECT_OUTER ? find_field(typed, &base, node->kid[1]->text)
                                        : MS_NO_CAPTURE;
}

uint32_t ms_typed_binding(const ms_typed *typed, const ms_node *node, const ms_node **value) {
  const ms_outside *code = ms_typed_outside(typed, node);
  const ms_node *steps[MS_PATH_FIELDS + 1];
  uint32_t count, capture = MS_NO_CAPTURE;
  if (code == NULL) {
    capture = ms_emitter_capture(typed->emitter, node, value);
    return capture != MS_NO_CAPTURE ? capture : field_of(typed, node, value);
  }
  capture = ms_emitter_find_capture(code->loop, node, steps, &count);
  if (capture == MS_NO_CAPTURE) return field_of(typed, node, value);
  ms_meaning means = code->means[capture];
  if (means.depth > count || means.binding >= typed->given) return MS_NO_CAPTURE;
  *value = steps[count - means.depth];
  bool captured = means.binding < typed->emitter->job->loop->capture_count;
  if (captured || !is_passed(&typed->bindings[means.binding])) return means.binding;
  return inner((ms_typed *)(uintptr_t)typed, code->at, step(typed, code, capture, means.depth),
               means.binding);
}

/* How what a node names is reached: by the name of a capture, from the code that mentions it, or as
 * a field of a table that is. False: not at all. */
static bool reach(const ms_typed *typed, const ms_node *mention, uint32_t *at, const char **path) {
  const ms_outside *from = ms_typed_outside(typed, mention);
  const ms_node *value, *steps[MS_PATH_FIELDS + 1];
  uint32_t count, capture;
  *path = "";
  if (from == NULL) {
    *at = ms_emitter_capture(typed->emitter, mention, &value);
    if (*at != MS_NO_CAPTURE) return value == mention;
  } else if ((capture = ms_emitter_find_capture(from->loop, mention, steps, &count)) !=
             MS_NO_CAPTURE) {
    *at = from->at;
    *path = step(typed, from, capture, from->means[capture].depth);
    return *path != NULL;
  }
  const char *name = mention->kind == MS_METHOD ? mention->text : NULL;
  if (mention->kind == MS_INDEX && mention->kid[1]->kind == MS_STRING) name = mention->kid[1]->text;
  if (name == NULL) return false;
  ms_kind_of table = ms_typed_expression(typed, mention->kid[0]);
  if (table.object != MS_OBJECT_OUTER) return false;
  *at = table.given;
  *path = field_path(typed, &table, name);
  return *path != NULL;
}

ms_kind_of ms_typed_outer(const ms_typed *typed, const ms_node *mention, uint32_t at) {
  ms_kind_of kind = {.can = MS_CAN_OBJECT, .object = MS_OBJECT_OUTER, .array = at};
  const ms_binding *binding = &typed->bindings[at];
  bool plain = (binding->numbers > 0 || binding->field_count > 0) && binding->objects == 0;
  if (binding->numbers > 0) kind.object = binding->numbers == 1 ? MS_OBJECT_LIST : MS_OBJECT_LISTS;
  if (binding->numbers > 1) kind.levels = binding->numbers;
  return plain && reach(typed, mention, &kind.given, &kind.name) ? kind : ms_kind_of_other();
}

static bool is_taken(const ms_typed *typed, const ms_loop *loop) {
  for (ms_outside *code = typed->codes; code != NULL; code = code->next) {
    if (code->loop == loop) return true;
  }
  return false;
}

/* Gives a function whose text is taken a tree of its own. */
static bool separate(const ms_typed *typed, ms_outside *code) {
  if (!is_taken(typed, code->loop)) return true;
  ms_error err;
  ms_error_clear(&err);
  code->loop = ms_loop_again(code->loop, &err);
  if (code->loop == NULL) return false;
  code->tree = code->loop->tree;
  return true;
}

static ms_outside *enter(ms_typed *typed, const ms_node *mention, uint32_t at) {
  const ms_binding *binding = &typed->bindings[at];
  if (binding->code == NULL || binding->code->closure == NULL) return NULL;
  ms_outside found = {.next = typed->codes,
                      .binding = at,
                      .loop = binding->code,
                      .means = binding->means,
                      .number = typed->codes == NULL ? 1 : typed->codes->number + 1};
  if (!reach(typed, mention, &found.at, &found.path)) return NULL;
  ms_arena *arena = typed->emitter->arena;
  ms_outside *code = ms_arena_take(arena, 1, sizeof *code);
  found.symbol = ms_arena_take(arena, (size_t)found.loop->tree->symbols + 1, sizeof(ms_kind_of));
  if (code == NULL || found.symbol == NULL || !separate(typed, &found)) {
    typed->failed = true;
    return NULL;
  }
  *code = found;
  typed->codes = code;
  return code;
}

/* Whether two bindings are functions of one text that name the same things, as the one that calls a
 * function and the one by which it calls itself do. Numbers and booleans of closures may differ. */
static bool same_function(const ms_typed *typed, uint32_t a, uint32_t b) {
  const ms_binding *one = &typed->bindings[a], *other = &typed->bindings[b];
  if (a == b || one->code == NULL || one->code != other->code) return a == b;
  for (uint32_t c = 0; c < one->code->capture_count; c++) {
    ms_meaning means = one->means[c];
    if (means.binding != other->means[c].binding || means.depth != other->means[c].depth ||
        is_passed(&typed->bindings[means.binding]))
      return false;
  }
  return true;
}

/* A path: a name, or fields of one by constant names. */
static const ms_node *root_of(const ms_node *node) {
  while (node->kind == MS_INDEX && node->kid[1]->kind == MS_STRING) node = node->kid[0];
  return node->kind == MS_NAME ? node : NULL;
}

static bool is_parameter(const ms_outside *code, const ms_symbol *symbol) {
  const ms_function *function = code->loop->closure;
  for (uint32_t p = 0; p < function->parameter_count; p++) {
    if (function->parameters[p] == symbol) return true;
  }
  return false;
}

/* From 1: the table, array or function that a path from outside is; or 0. */
static uint32_t object_at(const ms_typed *typed, const ms_outside *from, const ms_node *node) {
  const ms_node *value = NULL, *steps[MS_PATH_FIELDS + 1];
  uint32_t count, at;
  if (from == NULL) {
    at = ms_emitter_capture(typed->emitter, node, &value);
  } else if ((at = ms_emitter_find_capture(from->loop, node, steps, &count)) != MS_NO_CAPTURE) {
    const ms_meaning means = from->means[at];
    if (means.depth > count) return 0;
    value = steps[count - means.depth];
    at = means.binding;
  }
  if (at == MS_NO_CAPTURE || value != node || at >= typed->given) return 0;
  ms_binding_kind kind = typed->bindings[at].kind;
  bool object = kind == MS_BIND_TABLE || kind == MS_BIND_ARRAY || kind == MS_BIND_FUNCTION;
  return object ? at + 1 : 0;
}

/* What the call in which a function is named gives it, as far as texts say: types are still to be
 * found. */
static ms_call_objects objects_of(const ms_typed *typed, const ms_outside *from,
                                  const ms_node *mention) {
  ms_call_objects found = {0};
  const ms_node *call = mention->kind == MS_METHOD ? mention : mention->parent;
  bool called = call == mention || (call != NULL && call->kind == MS_CALL && mention->ordinal == 0);
  uint32_t first = call == mention ? 0 : 1;
  for (uint32_t k = first; called && k < call->kids && k - first < MS_CALL_OBJECTS; k++) {
    const ms_node *node = ms_node_bare(call->kid[k]), *root = root_of(node);
    if (root == NULL) continue;
    found.binding[k - first] = object_at(typed, from, node);
    if (from == NULL || root->symbol == NULL || !is_parameter(from, root->symbol)) continue;
    found.handed_on[k - first] = node;
    found.caller = from;
  }
  return found;
}

static bool same_path(const ms_outside *caller, const ms_node *a, const ms_node *b) {
  if (a == NULL || b == NULL) return a == b;
  const char *text = caller->loop->tree->text;
  size_t size = a->end - a->begin;
  return size == b->end - b->begin && memcmp(text + a->begin, text + b->begin, size) == 0;
}

static bool same_objects(const ms_call_objects *a, const ms_call_objects *b) {
  if (a->caller != b->caller) return false;
  for (uint32_t k = 0; k < MS_CALL_OBJECTS; k++) {
    if (a->binding[k] != b->binding[k]) return false;
    if (!same_path(a->caller, a->handed_on[k], b->handed_on[k])) return false;
  }
  return true;
}

/* Functions that call themselves are given what they were given. */
static ms_outside *calling(const ms_typed *typed, ms_outside *from, uint32_t at) {
  while (from != NULL && !same_function(typed, from->binding, at)) from = from->from;
  return from;
}

const ms_node *ms_typed_text(const ms_typed *typed, const ms_node *mention, uint32_t at) {
  ms_outside *from = ms_typed_outside(typed, mention), *code = calling(typed, from, at);
  const ms_call_objects objects = objects_of(typed, from, mention);
  bool room = typed->codes == NULL || typed->codes->number < MOST_CODES;
  for (ms_outside *each = typed->codes; code == NULL && each != NULL; each = each->next) {
    if (!same_function(typed, each->binding, at)) continue;
    if (!room || same_objects(&each->objects, &objects)) code = each;
  }
  if (code == NULL) {
    code = enter((ms_typed *)(uintptr_t)typed, mention, at);
    if (code == NULL) return NULL;
    code->objects = objects;
    code->from = from;
  }
  return code->loop->closure->node;
}

/* The FUNCTION node that a method call of a table from outside calls, or NULL. */
static const ms_node *method_of(const ms_typed *typed, const ms_node *call) {
  if (call->kind != MS_METHOD) return NULL;
  ms_kind_of table = ms_typed_expression(typed, call->kid[0]);
  if (table.object != MS_OBJECT_OUTER) return NULL;
  uint32_t at = find_field(typed, &table, call->text);
  if (at == MS_NO_CAPTURE || typed->bindings[at].kind != MS_BIND_FUNCTION) return NULL;
  return ms_typed_text(typed, call, at);
}

const ms_node *ms_typed_called(const ms_typed *typed, const ms_node *call) {
  if (call->kind == MS_METHOD) return method_of(typed, call);
  if (call->kind != MS_CALL) return NULL;
  ms_kind_of called = ms_typed_expression(typed, call->kid[0]);
  return called.object == MS_OBJECT_FUNCTION ? called.node : NULL;
}

void ms_typed_end(ms_typed *typed) {
  for (ms_outside *code = typed->codes; code != NULL; code = code->next) {
    if (code->tree != NULL) ms_tree_destroy(&code->tree);
  }
}
