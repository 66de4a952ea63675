/* SPDX-License-Identifier: MIT
 *
 * Captures: which names from outside a loop's body uses, and the fields read from them. Functions
 * inside the body count as part of it. See loop.h.
 *
 * The paths found so far are in a hash table of slots into a growing list; both live in the
 * tree's arena, where their outgrown versions stay. */
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "syntax/loop.h"

/* Bodies may be generated, with thousands of paths. */
#define TARGET_LISTS 1024U

/* A path that the body assigns. */
typedef struct target {
  const ms_node *name; /* that it begins with */
  uint32_t fields;
  struct target *next;
} target;

typedef struct gatherer {
  ms_loop *loop;
  ms_arena *arena;
  uint32_t room;    /* of loop->captures */
  uint32_t *slot;   /* index + 1 into loop->captures, 0: free */
  uint32_t *hash;   /* of each capture */
  uint32_t slots;   /* a power of two, at least twice the captures */
  target **targets; /* lists by hash; NULL: none are known */
  bool failed;      /* memory is out */
} gatherer;

/* Whether the node reads a constant field of the object. Keys with a zero byte do not count: a
 * capture's fields are terminated strings. */
static bool is_field_of(const ms_node *index, const ms_node *object) {
  if (index->kind != MS_INDEX || index->kid[0] != object) return false;
  const ms_node *key = index->kid[1];
  return key->kind == MS_STRING && memchr(key->text, '\0', key->length) == NULL;
}

static bool is_target(const ms_node *node) {
  const ms_node *parent = node->parent;
  if (parent->kind == MS_SET_FUNCTION) return node->ordinal == 0;
  return parent->kind == MS_ASSIGN && node->ordinal < parent->targets;
}

/* Whether a use of a value only asks whether it is there: `x == nil`, `not x`, `if x`, `x or y`,
 * `type(x)`. */
static bool is_test(const ms_node *node) {
  const ms_node *parent = node->parent;
  while (parent->kind == MS_PAREN) {
    node = parent;
    parent = node->parent;
  }
  switch (parent->kind) {
    case MS_BINARY:
      if (parent->op == MS_OP_AND || parent->op == MS_OP_OR) return node->ordinal == 0;
      return parent->op == MS_OP_EQ || parent->op == MS_OP_NE;
    case MS_UNARY:
      return parent->op == MS_OP_NOT;
    case MS_IF:
    case MS_WHILE:
    case MS_REPEAT:
      return true; /* an expression there is a condition */
    case MS_CALL:
      return node->ordinal > 0 && parent->kid[0]->kind == MS_NAME &&
             strcmp(parent->kid[0]->text, "type") == 0;
    default:
      return false;
  }
}

static bool is_called(const ms_node *node) {
  const ms_node *parent = node->parent;
  return (parent->kind == MS_CALL || parent->kind == MS_METHOD) && node->ordinal == 0;
}

/* Notes one use of a capture's path. */
static void note_use(ms_capture *capture, ms_node *path) {
  if (is_target(path)) {
    capture->assigned = true;
    return;
  }
  if (is_test(path)) {
    capture->tested = true;
    return;
  }
  if (capture->read == NULL) capture->read = path;
  if (capture->called == NULL && is_called(path)) capture->called = path;
}

static uint64_t mix(uint64_t hash, const char *text, size_t length) {
  return ms_hash_word(ms_hash_text(hash, text, length), length);
}

static uint32_t hash_of(const ms_node *name, const ms_node *path) {
  uint64_t hash = mix(MS_HASH_EMPTY, name->text, name->length);
  if (name->symbol != NULL) hash = ms_hash_word(hash, name->symbol->index);
  for (const ms_node *node = name; node != path; node = node->parent) {
    const ms_node *key = node->parent->kid[1];
    hash = mix(hash, key->text, key->length);
  }
  return ms_hash_fold(hash);
}

/* The NAME node that a capture's first use begins with. */
static const ms_node *root_of(const ms_capture *capture) {
  const ms_node *node = capture->first;
  while (node->kind == MS_INDEX) node = node->kid[0];
  return node;
}

/* Whether the paths of so many fields from two names are the same. */
static bool is_same_path(const ms_node *other, const ms_node *name, uint32_t fields) {
  if (other->symbol != name->symbol) return false;
  if (other->length != name->length || memcmp(other->text, name->text, name->length) != 0)
    return false;
  for (uint32_t i = 0; i < fields; i++) {
    other = other->parent;
    name = name->parent;
    const ms_node *a = other->kid[1], *b = name->kid[1];
    if (a->length != b->length || memcmp(a->text, b->text, a->length) != 0) return false;
  }
  return true;
}

static bool is_same(const ms_capture *capture, const ms_node *name, uint32_t fields) {
  return capture->field_count == fields && is_same_path(root_of(capture), name, fields);
}

/* Where the targets are whose hash is that of a path. */
static target **home_of(const gatherer *state, const ms_node *name, const ms_node *path) {
  return &state->targets[hash_of(name, path) % TARGET_LISTS];
}

static bool is_assigned(const gatherer *state, const ms_node *name, const ms_node *path,
                        uint32_t fields) {
  if (state->targets == NULL) return false;
  for (const target *each = *home_of(state, name, path); each != NULL; each = each->next) {
    if (each->fields == fields && is_same_path(each->name, name, fields)) return true;
  }
  return false;
}

/* The longest path of constant fields from this name: the outermost node, and its fields. What the
 * body assigns is a variable, and what is read from it no variable of its own. */
static ms_node *outermost(const gatherer *state, ms_node *name, uint32_t *fields) {
  ms_node *node = name;
  *fields = 0;
  while (is_field_of(node->parent, node) && !is_assigned(state, name, node, *fields)) {
    node = node->parent;
    ++*fields;
  }
  return node;
}

/* Doubles the list and the table. */
static bool grow(gatherer *state) {
  ms_loop *loop = state->loop;
  uint32_t room = state->room == 0 ? 8 : state->room * 2, slots = room * 2;
  ms_capture *captures = ms_arena_take(state->arena, room, sizeof *captures);
  uint32_t *hash = ms_arena_take(state->arena, room, sizeof *hash);
  uint32_t *slot = ms_arena_take(state->arena, slots, sizeof *slot);
  if (captures == NULL || hash == NULL || slot == NULL) return false;
  for (uint32_t i = 0; i < loop->capture_count; i++) {
    captures[i] = loop->captures[i];
    hash[i] = state->hash[i];
    uint32_t at = hash[i] & (slots - 1);
    while (slot[at] != 0) at = (at + 1) & (slots - 1);
    slot[at] = i + 1;
  }
  loop->captures = captures;
  state->hash = hash;
  state->slot = slot;
  state->room = room;
  state->slots = slots;
  return true;
}

static ms_reach reach_of(const ms_loop *loop, const ms_symbol *symbol) {
  if (symbol == NULL) return MS_REACH_GLOBAL;
  return symbol->function == loop->function ? MS_REACH_LOCAL : MS_REACH_UPVALUE;
}

/* Fills a capture from its first use. */
static bool fill(gatherer *state, ms_capture *capture, ms_node *name, ms_node *path,
                 uint32_t fields) {
  *capture = (ms_capture){.root = name->text,
                          .symbol = name->symbol,
                          .reach = reach_of(state->loop, name->symbol),
                          .field_count = fields,
                          .first = path};
  capture->fields = ms_arena_take(state->arena, fields, sizeof *capture->fields);
  if (capture->fields == NULL) return false;
  const ms_node *node = name;
  for (uint32_t i = 0; i < fields; i++) {
    node = node->parent;
    capture->fields[i] = node->kid[1]->text;
  }
  return true;
}

/* The capture of this path, new or known; NULL when memory is out. */
static ms_capture *enter(gatherer *state, ms_node *name, ms_node *path, uint32_t fields) {
  ms_loop *loop = state->loop;
  if (loop->capture_count == state->room && !grow(state)) return NULL;
  uint32_t hash = hash_of(name, path), at = hash & (state->slots - 1);
  for (; state->slot[at] != 0; at = (at + 1) & (state->slots - 1)) {
    uint32_t known = state->slot[at] - 1;
    if (state->hash[known] == hash && is_same(&loop->captures[known], name, fields))
      return &loop->captures[known];
  }
  ms_capture *capture = &loop->captures[loop->capture_count];
  if (!fill(state, capture, name, path, fields)) return NULL;
  state->hash[loop->capture_count++] = hash;
  state->slot[at] = loop->capture_count;
  return capture;
}

/* Whether a node is the name of something from outside. */
static bool is_outer_name(const gatherer *state, const ms_node *node) {
  if (node->kind != MS_NAME) return false;
  return node->symbol == NULL || !ms_loop_declares(state->loop, node->symbol);
}

static bool gather_targets(ms_node *node, void *context) {
  gatherer *state = context;
  if (state->failed || !is_outer_name(state, node)) return !state->failed;
  const gatherer none = {0};
  uint32_t fields;
  const ms_node *path = outermost(&none, node, &fields);
  if (!is_target(path) || is_assigned(state, node, path, fields)) return false;
  target *found = ms_arena_take(state->arena, 1, sizeof *found);
  state->failed = found == NULL;
  if (state->failed) return false;
  target **home = home_of(state, node, path);
  *found = (target){.name = node, .fields = fields, .next = *home};
  *home = found;
  return false;
}

static bool gather(ms_node *node, void *context) {
  gatherer *state = context;
  if (state->failed || !is_outer_name(state, node)) return !state->failed;
  uint32_t fields;
  ms_node *path = outermost(state, node, &fields);
  ms_capture *capture = enter(state, node, path, fields);
  if (capture == NULL)
    state->failed = true;
  else
    note_use(capture, path);
  return false;
}

typedef struct visibility {
  const ms_node *use;
  void (*visit)(const char *name, void *context);
  void *context;
} visibility;

static bool look_for_visible(ms_node *node, void *context) {
  const visibility *look = context;
  const ms_node *use = look->use;
  const ms_node *around = node->kind == MS_LOCAL || node->kind == MS_LOCAL_FUNCTION
                              ? node->parent
                              : node; /* a loop's variables are seen inside it */
  if (node->begin > use->begin) return false;
  if (around != NULL && around->end < use->end) return true;
  for (uint32_t s = 0; s < node->symbol_count; s++)
    look->visit(node->symbols[s]->name, look->context);
  if (node->kind != MS_FUNCTION) return true;
  for (uint32_t p = 0; p < node->function->parameter_count; p++)
    look->visit(node->function->parameters[p]->name, look->context);
  return true;
}

void ms_loop_each_visible(const ms_loop *loop, const ms_node *use,
                          void (*visit)(const char *name, void *context), void *context) {
  visibility look = {use, visit, context};
  ms_node_walk(loop->tree->main->body, look_for_visible, &look);
}

int ms_loop_capture(ms_loop *loop, ms_error *err) {
  gatherer state = {.loop = loop, .arena = loop->tree->arena};
  loop->captures = NULL;
  loop->capture_count = 0;
  state.targets = ms_arena_take(state.arena, TARGET_LISTS, sizeof *state.targets);
  state.failed = state.targets == NULL;
  ms_node_walk(loop->body, gather_targets, &state);
  ms_node_walk(loop->body, gather, &state);
  if (!state.failed) return 0;
  return ms_error_set(err, MS_SRC, "not enough memory for what the loop captures");
}
