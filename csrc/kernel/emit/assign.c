/* SPDX-License-Identifier: MIT
 *
 * Splicing: assignments to elements. See emitter.h.
 *
 * Lua evaluates the targets' objects and keys, then the values, then it stores from right to left;
 * a subscript of the element itself is checked by the store, before the value is. As long as the
 * order cannot be seen, the text stays as it is, with checks in place: `p[check(k)] = v`. Where it
 * can, what must wait is held: `do local k=.. local v=.. p[check(k)]=v end`. */
#include <string.h>

#include "kernel/emit/index_path.h"
#include "kernel/emit/interval.h"
#include "kernel/emit/variable.h"

static bool arithmetic(const ms_emitter *emitter, const ms_node *node) {
  if (node->kind == MS_PAREN) return arithmetic(emitter, node->kid[0]);
  if (node->kind == MS_NUMBER) return !node->boxed;
  if (node->kind == MS_BINARY) return node->op <= MS_OP_MOD;
  ms_index_path path;
  return ms_index_path_direct(emitter, node, &path);
}

/* The helper that checks a value on its way into an element of `array`; MS_HELPER_COUNT: none. */
static ms_helper value_check(const ms_emitter *emitter, const ms_node *node, uint32_t array) {
  int32_t type = emitter->job->elements[array].type;
  ms_interval range = ms_interval_of(emitter, node);
  bool fits = range.known && (type != MS_INT32 || (range.lo >= INT32_MIN && range.hi <= INT32_MAX));
  bool exact = type == MS_INT32 || type == MS_INT64;
  if (fits || (!exact && arithmetic(emitter, node))) return MS_HELPER_COUNT;
  return type == MS_INT32 ? MS_HELPER_INT32 : type == MS_INT64 ? MS_HELPER_INT64 : MS_HELPER_NUMBER;
}

/* A value on its way into an element, with the checks of the array's face. `name`: a local that
 * holds it, perhaps on another line; or NULL. */
static void stored(ms_emitter *emitter, const ms_node *node, uint32_t array, const char *name) {
  ms_helper helper = value_check(emitter, node, array);
  if (helper != MS_HELPER_COUNT) {
    ms_emitter_helper(emitter, helper);
    ms_text_add(emitter->out, "(");
  }
  if (name != NULL) {
    ms_text_add(emitter->out, name);
  } else {
    ms_emitter_node(emitter, node);
  }
  if (helper == MS_HELPER_COUNT) return;
  ms_text_format(emitter->out, ",%u", array + 1);
  if (name != NULL) ms_text_format(emitter->out, ",%u", node->line);
  ms_text_add(emitter->out, ")");
}

static void place(ms_emitter *emitter, const void *path) {
  ms_index_path_target(emitter, path);
}

/* A target or a value of an assignment that stays as it is, with checks in place. */
static void checked_in_place(ms_emitter *emitter, const ms_node *node, uint32_t k) {
  const ms_node *kid = node->kid[k];
  ms_index_path path;
  if (k < node->targets && ms_index_path_direct(emitter, kid, &path)) {
    ms_emitter_padded(emitter, kid, place, &path);
  } else if (k >= node->targets && k - node->targets < node->targets &&
             ms_index_path_direct(emitter, node->kid[k - node->targets], &path)) {
    stored(emitter, kid, path.array, NULL);
  } else {
    ms_emitter_node(emitter, kid);
  }
}

/* How many of a path's subscripts stand before the last []. */
static uint32_t before_last(const ms_index_path *path) {
  return path->listed ? 0 : path->count - 1;
}

static bool proved(const ms_emitter *emitter, const ms_index_path *path, uint32_t from,
                   uint32_t to) {
  for (uint32_t s = from; s < to; s++) {
    if (!ms_index_path_proved(emitter, path, s)) return false;
  }
  return true;
}

/* Whether stores in place would show another order than Lua's. */
static bool order_shows(const ms_emitter *emitter, const ms_node *node) {
  bool values_fail = false;
  for (uint32_t v = node->targets; v < node->kids; v++)
    values_fail = values_fail || ms_index_path_may_fail(emitter, node->kid[v]);
  for (uint32_t t = 0; t < node->targets; t++) {
    ms_index_path path;
    if (!ms_index_path_direct(emitter, node->kid[t], &path)) continue;
    const ms_node *value = node->kid[node->targets + t];
    bool late = !proved(emitter, &path, before_last(&path), path.count);
    if (late && (values_fail || node->targets > 1)) return true;
    if (node->targets > 1 && value_check(emitter, value, path.array) != MS_HELPER_COUNT)
      return true;
  }
  return false;
}

/* ---- holding ---- */

static const char *held_name(ms_emitter *emitter, char what, uint32_t number) {
  const char *name = ms_arena_format(emitter->arena, "%s%c%u", emitter->prefix, what, number);
  emitter->out->failed = emitter->out->failed || name == NULL;
  return name != NULL ? name : "";
}

static bool is_later_target(const ms_node *assign, uint32_t at, const ms_symbol *symbol) {
  for (uint32_t t = at + 1; t < assign->targets; t++) {
    if (assign->kid[t]->kind == MS_NAME && assign->kid[t]->symbol == symbol) return true;
  }
  return false;
}

/* Whether the value that a node has when the store is done is the right one: a constant, or a local
 * in its register, which LuaJIT does not copy unless a later target is that local. */
static bool stays(const ms_emitter *emitter, const ms_node *assign, uint32_t target,
                  const ms_node *node) {
  const ms_node *value;
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  if (at != MS_NO_CAPTURE) return value == node && !ms_variable_is(emitter, at);
  if (node->kind == MS_NUMBER || node->kind == MS_STRING) return true;
  if (node->kind != MS_NAME || node->symbol == NULL ||
      is_later_target(assign, target, node->symbol))
    return false;
  const ms_node *around = node->parent;
  while (around != NULL && around->kind != MS_FUNCTION) around = around->parent;
  return node->symbol->function->node == around;
}

/* A target whose parts are evaluated. */
typedef struct emitted_target {
  bool direct;
  ms_index_path path;
  const char *object, *key; /* names, or NULL: in place */
} emitted_target;

/* Appends "local name=" and the node. */
static const char *hold(ms_emitter *emitter, char what, uint32_t number, const ms_node *node) {
  const char *name = held_name(emitter, what, number);
  ms_text_format(emitter->out, "local %s=", name);
  ms_emitter_node(emitter, node);
  ms_text_add(emitter->out, " ");
  return name;
}

static void hold_path(ms_emitter *emitter, const ms_node *assign, uint32_t number,
                      ms_index_path *path) {
  uint32_t row = before_last(path);
  path->late = true;
  if (!proved(emitter, path, 0, row)) {
    ms_index_path before = *path;
    before.count = row;
    before.late = false;
    path->base = held_name(emitter, 'o', number);
    ms_text_format(emitter->out, "local %s=", path->base);
    ms_index_path_offset(emitter, &before, false);
    ms_text_add(emitter->out, " ");
    path->given += row;
    path->count -= row;
    memmove(path->subscript, path->subscript + row, path->count * sizeof path->subscript[0]);
    row = 0;
  }
  for (uint32_t s = row; s < path->count; s++) {
    if (ms_index_path_proved(emitter, path, s) ||
        stays(emitter, assign, number, path->subscript[s]))
      continue;
    path->held[s] = hold(emitter, 'h', number * MS_MAX_DIMS + s, path->subscript[s]);
  }
}

static void hold_target(ms_emitter *emitter, const ms_node *assign, uint32_t number,
                        emitted_target *target) {
  const ms_node *node = assign->kid[number], *value;
  target->direct = ms_index_path_direct(emitter, node, &target->path);
  if (target->direct) {
    hold_path(emitter, assign, number, &target->path);
    return;
  }
  uint32_t at = ms_emitter_capture(emitter, node, &value);
  bool variable = at != MS_NO_CAPTURE && value == node;
  if (node->kind != MS_INDEX || variable) return;
  target->object = hold(emitter, 'o', number, node->kid[0]);
  if (!stays(emitter, assign, number, node->kid[1]))
    target->key = hold(emitter, 'h', number * MS_MAX_DIMS, node->kid[1]);
}

static void write_target(ms_emitter *emitter, const ms_node *node, const emitted_target *target) {
  if (target->direct) {
    ms_index_path_target(emitter, &target->path);
  } else if (target->object == NULL) {
    ms_emitter_node(emitter, node);
  } else if (target->key != NULL) {
    ms_text_format(emitter->out, "%s[%s]", target->object, target->key);
  } else if (node->dotted) {
    ms_text_format(emitter->out, "%s.%s", target->object, node->kid[1]->text);
  } else {
    ms_text_format(emitter->out, "%s[", target->object);
    ms_emitter_node(emitter, node->kid[1]);
    ms_text_add(emitter->out, "]");
  }
}

/* As many newlines as the user's text has from one place to another. */
static void newlines(ms_emitter *emitter, size_t from, size_t to) {
  for (size_t at = from; at < to; at++) {
    if (emitter->job->loop->tree->text[at] == '\n') ms_text_add(emitter->out, "\n");
  }
}

/* Everything in Lua's order. */
static void in_order(ms_emitter *emitter, const ms_node *node) {
  emitted_target *target = ms_arena_take(emitter->arena, node->targets, sizeof *target);
  if (target == NULL) {
    emitter->out->failed = true;
    return;
  }
  ms_text_add(emitter->out, "do ");
  for (uint32_t t = 0; t < node->targets; t++) {
    if (t > 0) newlines(emitter, node->kid[t - 1]->end, node->kid[t]->begin);
    hold_target(emitter, node, t, &target[t]);
  }
  ms_text_add(emitter->out, "local ");
  for (uint32_t t = 0; t < node->targets; t++)
    ms_text_format(emitter->out, "%s%s", t > 0 ? "," : "", held_name(emitter, 'w', t));
  for (uint32_t v = node->targets; v < node->kids; v++) {
    ms_text_add(emitter->out, v == node->targets ? "=" : ",");
    newlines(emitter, node->kid[v - 1]->end, node->kid[v]->begin);
    ms_emitter_node(emitter, node->kid[v]);
  }
  for (uint32_t t = node->targets; t-- > 0;) {
    const char *value = held_name(emitter, 'w', t);
    ms_text_add(emitter->out, " ");
    write_target(emitter, node->kid[t], &target[t]);
    ms_text_add(emitter->out, "=");
    if (target[t].direct) {
      stored(emitter, node->kid[node->targets + t], target[t].path.array, value);
    } else {
      ms_text_add(emitter->out, value);
    }
    ms_text_add(emitter->out, ";");
  }
  ms_text_add(emitter->out, " end");
}

void ms_emitter_assign(ms_emitter *emitter, const ms_node *node) {
  if (order_shows(emitter, node)) {
    in_order(emitter, node);
  } else {
    ms_emitter_kids(emitter, node, checked_in_place);
  }
}
