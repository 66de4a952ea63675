/* SPDX-License-Identifier: MIT
 *
 * Option: see option.h. */
#include "depend/option.h"

#include <string.h>

#include "base/text.h"

/* Longer calls are not repeated. */
#define LONGEST_CALL 100

/* The arguments of a loop's call: spaces, then perhaps options. */
typedef struct call {
  const ms_node *node;    /* NULL: not seen */
  const ms_node *options; /* what stands where they belong; NULL for none, or nil */
  uint32_t spaces;        /* arguments before them */
  bool spread;            /* the last argument gives several spaces, and perhaps the options */
} call;

/* Whether a call of the closure form is one of `each` or `plan`, and not of what hands the function
 * on to them, such as pcall. */
static bool is_handed_to_loop(const ms_node *callee) {
  if (callee->kind == MS_INDEX) callee = callee->kid[1];
  if (callee->kind != MS_NAME && callee->kind != MS_STRING) return false;
  return strcmp(callee->text, "each") == 0 || strcmp(callee->text, "plan") == 0;
}

/* Options are what stands behind as many arguments as there are spaces: a table alone might be a
 * range, and a name anything. */
static call find_call(const ms_walk *walk) {
  const ms_loop *loop = walk->loop;
  const ms_node *node = loop->call;
  if (loop->closure != NULL && (node->kind != MS_CALL || !is_handed_to_loop(node->kid[0])))
    return (call){0};
  uint32_t count = node->kids - 1 - (loop->closure != NULL ? 1 : 0);
  bool ranges = walk->space->source == -1 || walk->space->shared;
  uint32_t spaces = ranges ? walk->space->dim_count : 1;
  bool given = count > spaces && !walk->space->no_options;
  return (call){.node = node,
                .options = given ? node->kid[spaces + 1] : NULL,
                .spaces = spaces,
                .spread = count < spaces};
}

static void append_node(ms_text *text, const ms_tree *tree, const ms_node *node) {
  ms_text_append(text, tree->text + node->begin, node->end - node->begin);
}

/* Whether a field of a table sets the option: `serial = ...`, `["serial"] = ...`. */
static bool sets(const ms_node *field, const char *option) {
  const ms_node *key = field->kid[0];
  if (key == NULL || key->kind != MS_STRING) return false;
  return key->length == strcspn(option, " ") && memcmp(key->text, option, key->length) == 0;
}

/* A literal table with the option in it, in place of what sets it otherwise. */
static void append_literal(ms_text *text, const ms_tree *tree, const ms_node *table,
                           const char *option) {
  ms_text_format(text, "{%s", option);
  for (uint32_t k = 0; k < table->kids; k++) {
    if (sets(table->kid[k], option)) continue;
    ms_text_add(text, ", ");
    append_node(text, tree, table->kid[k]);
  }
  ms_text_add(text, "}");
}

static void append_options(ms_text *text, const ms_tree *tree, const ms_node *options,
                           const char *option) {
  if (options != NULL && options->kind == MS_TABLE)
    append_literal(text, tree, options, option);
  else
    ms_text_format(text, "{%s}", option);
}

static void append_call(ms_text *text, const ms_tree *tree, const call *at, const char *option) {
  append_node(text, tree, at->node->kid[0]);
  if (at->node->kind == MS_METHOD) ms_text_format(text, ":%s", at->node->text);
  ms_text_add(text, "(");
  for (uint32_t k = 1; k <= at->spaces; k++) {
    append_node(text, tree, at->node->kid[k]);
    ms_text_add(text, ", ");
  }
  append_options(text, tree, at->options, option);
  ms_text_add(text, ")");
}

static bool is_short(const ms_text *text) {
  return !text->failed && text->length <= LONGEST_CALL && strchr(text->bytes, '\n') == NULL;
}

/* What a long call, or one that is not repeated, has of its own is left to the reader. */
static void append_outline(ms_text *text, const ms_loop *loop, const call *at, const char *option) {
  const ms_node *table = at->options;
  bool more = table != NULL && table->kids > (table->kids == 1 && sets(table->kid[0], option));
  if (loop->closure == NULL)
    ms_text_add(text, "parallel");
  else if (at->node != NULL)
    append_node(text, loop->tree, at->node->kid[0]);
  else
    ms_text_add(text, "meissa.each");
  ms_text_format(text, "(..., {%s%s}%s)", option, more ? ", ..." : "",
                 loop->closure == NULL ? "" : ", ...");
}

static void append_code(ms_text *text, const ms_loop *loop, const call *at, const char *option) {
  const ms_node *options = at->options;
  bool literal = options == NULL || options->kind == MS_TABLE || options->kind == MS_NIL;
  if (at->spread || (!literal && options->kind != MS_NAME && options->kind != MS_INDEX)) {
    ms_text_format(text, "%s in the options", option);
  } else if (!literal) {
    append_node(text, loop->tree, options);
    ms_text_format(text, ".%s", option);
  } else {
    if (loop->closure == NULL) append_call(text, loop->tree, at, option);
    if (loop->closure == NULL && is_short(text)) return;
    text->length = 0;
    append_outline(text, loop, at, option);
  }
}

const char *ms_option_code(const ms_walk *walk, ms_arena *arena, const char *option) {
  call at = find_call(walk);
  ms_text text = {0};
  append_code(&text, walk->loop, &at, option);
  const char *code = text.failed ? NULL : ms_arena_copy(arena, text.bytes, text.length);
  ms_text_free(&text);
  return code;
}
