/* SPDX-License-Identifier: MIT
 *
 * Loops: see loop.h. What their bodies capture is found in capture.c. */
#include "syntax/loop.h"

#include <limits.h>
#include <string.h>

/* How likely a call is the parallel one. */
typedef enum likelihood { NEVER, PERHAPS, LIKELY } likelihood;

/* A search through the functions of a tree. */
typedef struct search {
  bool any_line;
  uint32_t line;
  ms_function *within; /* whose body is being searched */
  /* The first of the likeliest, and how many of those there are. */
  likelihood best;
  ms_node *found;
  ms_function *function;
  uint32_t count;
} search;

static ms_loop *fail(ms_tree *tree, uint32_t line, ms_error *err) {
  char place[MS_ERROR_FILE_SIZE];
  ms_tree_place(tree, place, sizeof place);
  ms_error_place(err, place, line > INT_MAX ? INT_MAX : (int)line);
  return NULL;
}

/* Whether the callee is a name or a path of constant fields from one. */
static bool is_path(const ms_node *callee) {
  while (callee->kind == MS_INDEX && callee->kid[1]->kind == MS_STRING) callee = callee->kid[0];
  return callee->kind == MS_NAME;
}

static bool is_plain_iterator(const ms_node *callee) {
  if (callee->kind != MS_NAME || callee->symbol != NULL) return false;
  return strcmp(callee->text, "pairs") == 0 || strcmp(callee->text, "ipairs") == 0 ||
         strcmp(callee->text, "next") == 0;
}

static likelihood likelihood_of(const ms_node *call) {
  if (call->kind == MS_METHOD) return PERHAPS;
  if (call->kind != MS_CALL || is_plain_iterator(call->kid[0])) return NEVER;
  return is_path(call->kid[0]) ? LIKELY : PERHAPS;
}

static bool consider(ms_node *node, void *context) {
  search *state = context;
  if (node->kind == MS_FUNCTION) return false;
  if (node->kind != MS_FOR_GENERIC || node->kids != 2) return true;
  const ms_node *call = node->kid[0];
  likelihood chance = likelihood_of(call);
  if (chance == NEVER || chance < state->best) return true;
  if (!state->any_line && call->open_line != state->line) return true;
  if (chance > state->best) {
    state->best = chance;
    state->found = node;
    state->function = state->within;
    state->count = 0;
  }
  state->count++;
  return true;
}

static ms_function *innermost(ms_function *function) {
  while (function->first_child != NULL) function = function->first_child;
  return function;
}

/* The function that ends after this one; NULL after the main chunk. */
static ms_function *next_function(const ms_function *function) {
  if (function->next_sibling != NULL) return innermost(function->next_sibling);
  return function->parent;
}

static bool is_meant(const ms_function *function, uint32_t place, const ms_which *which) {
  if (which->place != 0 && which->place != place) return false;
  if (function->node == NULL || which->first_line == 0)
    return function->node == NULL && which->first_line == 0;
  return function->first_line == which->first_line && function->last_line == which->last_line;
}

static void search_tree(search *state, ms_tree *tree, const ms_which *which) {
  uint32_t place = 0;
  for (ms_function *each = innermost(tree->main); each != NULL; each = next_function(each)) {
    if (!is_meant(each, ++place, which)) continue;
    state->within = each;
    ms_node_walk(each->body, consider, state);
  }
}

/* Whether a function literal is the last argument of a call. */
static bool is_last_argument(const ms_node *node) {
  const ms_node *parent = node->parent;
  if (parent == NULL || (parent->kind != MS_CALL && parent->kind != MS_METHOD)) return false;
  return parent->kids > 1 && parent->kid[parent->kids - 1] == node;
}

static ms_loop *make_loop(ms_tree *tree, const search *state, ms_error *err) {
  ms_loop *loop = ms_arena_take(tree->arena, 1, sizeof *loop);
  if (loop == NULL) {
    ms_error_set(err, MS_SRC, "not enough memory for what the loop captures");
    return NULL;
  }
  ms_node *node = state->found;
  *loop = (ms_loop){.tree = tree, .function = state->function, .statement = node};
  if (node->kind == MS_FUNCTION) {
    loop->call = is_last_argument(node) ? node->parent : node;
    loop->closure = node->function;
    loop->body = loop->closure->body;
    loop->indices = loop->closure->parameters;
    loop->index_count = loop->closure->parameter_count;
  } else {
    loop->call = node->kid[0];
    loop->body = node->kid[1];
    loop->indices = node->symbols;
    loop->index_count = node->symbol_count;
  }
  if (loop->body->height > MS_LOOP_HEIGHT) {
    ms_error_set(err, MS_SRC,
                 "the loop's body nests %u levels of blocks and expressions; the most is %d: split "
                 "its longest expression",
                 loop->body->height, MS_LOOP_HEIGHT);
    return fail(tree, loop->call->line, err);
  }
  return ms_loop_capture(loop, err) == 0 ? loop : fail(tree, loop->call->line, err);
}

ms_loop *ms_loop_find(ms_tree *tree, ms_which which, uint32_t line, ms_error *err) {
  search state = {.line = line};
  search_tree(&state, tree, &which);
  if (state.count == 1) return make_loop(tree, &state, err);
  if (state.count > 1) {
    ms_error_set(err, MS_SRC,
                 "%u loops over a call on line %u may be the one that is running: put each on a "
                 "line of its own",
                 state.count, line);
  } else {
    ms_error_set(err, MS_SRC,
                 "no `for` over the running call opens on line %u: the call must be the only "
                 "expression of the `for`, as in `for i in parallel(n) do`, not in a wrapper, in "
                 "parentheses, in a variable or in a tail call",
                 line);
  }
  return fail(tree, line, err);
}

ms_loop *ms_loop_closure(ms_tree *tree, ms_which which, ms_error *err) {
  search state = {0};
  uint32_t place = 0;
  for (ms_function *each = innermost(tree->main); each != NULL; each = next_function(each)) {
    if (!is_meant(each, ++place, &which) || each->node == NULL) continue;
    state.found = each->node;
    state.function = each->parent;
    state.count++;
  }
  if (state.count == 1) return make_loop(tree, &state, err);
  ms_error_set(err, MS_SRC,
               "%u functions begin on line %u and end on line %u: which one is running cannot be "
               "told; put each on a line of its own",
               state.count, which.first_line, which.last_line);
  return fail(tree, which.first_line, err);
}

ms_loop *ms_loop_again(const ms_loop *closure, ms_error *err) {
  const ms_function *function = closure->closure;
  ms_which which = {function->first_line, function->last_line, 1};
  for (ms_function *each = innermost(closure->tree->main); each != function;
       each = next_function(each))
    which.place++;
  ms_tree *tree =
      ms_tree_parse(closure->tree->text, closure->tree->length, closure->tree->name, err);
  if (tree == NULL) return NULL;
  ms_loop *loop = ms_loop_closure(tree, which, err);
  if (loop == NULL) ms_tree_destroy(&tree);
  return loop;
}

ms_loop *ms_loop_first(ms_tree *tree, ms_error *err) {
  search state = {.any_line = true};
  search_tree(&state, tree, &(ms_which){0});
  if (state.count > 0) return make_loop(tree, &state, err);
  ms_error_set(err, MS_SRC, "the text has no loop of the form `for i in parallel(n) do ... end`");
  return fail(tree, 1, err);
}
