/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: any bytes go through the parser, the loop finder and the captures. What must
 * hold is checked on the way: positions nest, every loop that is found lies where it was looked
 * for, and LuaJIT's own verdict and message are the same. */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syntax/loop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages are compared up to here: ours have a bound. */
#define SHOWN 900

/* At most so many loops of a text are looked for again. */
#define MOST_LOOPS 64

#define MUST(condition)                                                              \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                       \
    }                                                                                \
  } while (0)

/* Whether LuaJIT refused the chunk for its size only. */
static bool is_limit(const char *message) {
  static const char *const limits[] = {"local variables", "upvalues", "constants", "bytecode",
                                       "too complex",     "too long", "overflow",  "not enough"};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    if (strstr(message, limits[i]) != NULL) return true;
  }
  return false;
}

/* Compares with LuaJIT; the first byte of bytecode is refused by both, in different words. */
static void check_verdict(const char *text, size_t length, const ms_tree *tree,
                          const ms_error *err) {
  static lua_State *L;
  if (L == NULL) L = luaL_newstate();
  MUST(L != NULL);
  int status = luaL_loadbufferx(L, text, length, "=fuzz", "t");
  const char *theirs = status != 0 ? lua_tostring(L, -1) : "";
  if (status == 0) {
    MUST(tree != NULL);
  } else if (!is_limit(theirs) && strstr(err->message, "bytecode, not Lua") == NULL) {
    MUST(tree == NULL);
    theirs = strchr(theirs, ':') != NULL ? strchr(theirs, ' ') + 1 : theirs;
    if (strncmp(theirs, err->message, SHOWN) != 0) {
      fprintf(stderr, "LuaJIT: %s\nours:   %s\n", theirs, err->message);
      abort();
    }
  }
  lua_settop(L, 0);
}

typedef struct census {
  ms_tree *tree;
  uint32_t loops; /* looked for so far */
} census;

static const ms_function *function_around(const ms_tree *tree, const ms_node *node) {
  do node = node->parent;
  while (node != NULL && node->kind != MS_FUNCTION);
  return node != NULL ? node->function : tree->main;
}

static void check_loop(const ms_loop *loop) {
  const ms_node *body = loop->body;
  for (uint32_t i = 0; i < loop->capture_count; i++) {
    const ms_capture *capture = &loop->captures[i];
    MUST(capture->first->begin >= body->begin && capture->first->end <= body->end);
    MUST((capture->symbol == NULL) == (capture->reach == MS_REACH_GLOBAL));
    for (uint32_t j = 0; j < loop->index_count; j++) MUST(capture->symbol != loop->indices[j]);
  }
}

/* Looks for the loop that `node` is, where it is: it is found, or another one on its line is. */
static void look_for(census *seen, const ms_node *node, const ms_node *call) {
  const ms_function *function = function_around(seen->tree, node);
  ms_error err;
  ms_error_clear(&err);
  if (seen->loops++ >= MOST_LOOPS) return;
  ms_which which = {function->first_line, function->last_line, 0};
  ms_loop *loop = ms_loop_find(seen->tree, which, call->open_line, &err);
  MUST((loop == NULL) == (err.code == MS_SRC));
  if (loop == NULL) return;
  MUST(loop->call->open_line == call->open_line);
  MUST(loop->function->first_line == function->first_line);
  MUST(function_around(seen->tree, loop->statement) == loop->function);
  check_loop(loop);
}

/* A function is found by its lines, or several share them. */
static void look_for_closure(census *seen, const ms_function *function) {
  ms_error err;
  ms_error_clear(&err);
  if (seen->loops++ >= MOST_LOOPS) return;
  ms_which which = {function->first_line, function->last_line, 0};
  ms_loop *loop = ms_loop_closure(seen->tree, which, &err);
  MUST((loop == NULL) == (err.code == MS_SRC));
  if (loop == NULL) return;
  MUST(loop->closure == function);
  check_loop(loop);
}

static bool check_node(ms_node *node, void *context) {
  census *seen = context;
  MUST(node->begin <= node->end && node->end <= seen->tree->length && node->column > 0);
  if (node->parent != NULL) {
    MUST(node->begin >= node->parent->begin && node->end <= node->parent->end);
    MUST(node->height < node->parent->height);
  }
  if (node->kind == MS_FOR_GENERIC && node->kid[0]->open_line > 0)
    look_for(seen, node, node->kid[0]);
  if (node->kind == MS_FUNCTION) look_for_closure(seen, node->function);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  ms_error err;
  ms_error_clear(&err);
  ms_tree *tree = ms_tree_parse(text, size, "=fuzz", &err);
  MUST((tree == NULL) == (err.code == MS_SRC));
  check_verdict(text, size, tree, &err);
  if (tree != NULL) {
    census seen = {.tree = tree};
    ms_node_walk(tree->main->body, check_node, &seen);
    ms_loop *loop = ms_loop_first(tree, &err);
    if (loop != NULL) check_loop(loop);
  }
  ms_tree_destroy(&tree);
  free(text);
  return 0;
}
