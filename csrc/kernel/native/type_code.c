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

/* The binding of a number or boolean that only functions name. */
static uint32_t inner(ms_typed *typed, const ms_outside *code, uint32_t capture, ms_meaning means) {
  const char *path = step(typed, code, capture, means.depth);
  if (path == NULL) return MS_NO_CAPTURE;
  for (uint32_t i = 0; i < typed->inner_count; i++) {
    if (typed->inner[i].at == code->at && strcmp(typed->inner[i].path, path) == 0)
      return typed->given + i;
  }
  if (typed->inner_count >= MS_INNER) return MS_NO_CAPTURE;
  typed->inner[typed->inner_count] = (ms_inner_value){code->at, path};
  typed->bindings[typed->given + typed->inner_count] = typed->bindings[means.binding];
  return typed->given + typed->inner_count++;
}

uint32_t ms_typed_binding(const ms_typed *typed, const ms_node *node, const ms_node **value) {
  const ms_outside *code = ms_typed_outside(typed, node);
  if (code == NULL) return ms_emitter_capture(typed->emitter, node, value);
  const ms_node *steps[MS_PATH_FIELDS + 1];
  uint32_t count, capture = ms_capture_find(code->loop, node, steps, &count);
  if (capture == MS_NO_CAPTURE) return capture;
  ms_meaning means = code->means[capture];
  if (means.depth > count || means.binding >= typed->given) return MS_NO_CAPTURE;
  *value = steps[count - means.depth];
  ms_binding_kind kind = typed->bindings[means.binding].kind;
  bool passed = kind == MS_BIND_NUMBER || kind == MS_BIND_BOOLEAN;
  if (!passed || means.binding < typed->emitter->job->loop->capture_count) return means.binding;
  return inner((ms_typed *)(uintptr_t)typed, code, capture, means);
}

/* How a function is reached: by the name of a capture, or from the code that mentions it. */
static bool reach(const ms_typed *typed, const ms_node *mention, ms_outside *code) {
  const ms_outside *from = ms_typed_outside(typed, mention);
  const ms_node *value, *steps[MS_PATH_FIELDS + 1];
  uint32_t count;
  if (from == NULL) {
    code->at = ms_emitter_capture(typed->emitter, mention, &value);
    code->path = "";
    return code->at != MS_NO_CAPTURE;
  }
  uint32_t capture = ms_capture_find(from->loop, mention, steps, &count);
  if (capture == MS_NO_CAPTURE) return false;
  code->at = from->at;
  code->path = step(typed, from, capture, from->means[capture].depth);
  return code->path != NULL;
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
  if (!reach(typed, mention, &found)) return NULL;
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

const ms_node *ms_typed_text(const ms_typed *typed, const ms_node *mention, uint32_t at) {
  ms_outside *code = typed->codes;
  while (code != NULL && code->binding != at) code = code->next;
  if (code == NULL) code = enter((ms_typed *)(uintptr_t)typed, mention, at);
  return code == NULL ? NULL : code->loop->closure->node;
}

void ms_typed_end(ms_typed *typed) {
  for (ms_outside *code = typed->codes; code != NULL; code = code->next) {
    if (code->tree != NULL) ms_tree_destroy(&code->tree);
  }
}
