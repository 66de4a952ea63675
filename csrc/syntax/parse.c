/* SPDX-License-Identifier: MIT
 *
 * Parser: entry, memory, nodes and tokens. See parse.h. */
#include "syntax/parse.h"

#include <stdlib.h>
#include <string.h>

/* The arena's bound: no text needs more than this for a byte, all told. */
#define ARENA_BASE     ((size_t)64 << 20)
#define ARENA_PER_BYTE ((size_t)256)

/* Offsets, lines and columns fit 32 bits, as do LuaJIT's. */
#define LONGEST_TEXT ((size_t)0x7FFFFF00)

void *ms_parser_take(ms_parser *parser, size_t count, size_t size) {
  void *memory = ms_arena_take(parser->tree->arena, count, size);
  if (memory == NULL) ms_lexer_fail_memory(&parser->lexer);
  return memory;
}

void ms_parser_push(ms_parser *parser, ms_pile *pile, void *item) {
  if (pile->count == pile->room) {
    size_t room = pile->room == 0 ? 64 : pile->room * 2;
    void **grown =
        room <= SIZE_MAX / sizeof(void *) ? realloc(pile->item, room * sizeof(void *)) : NULL;
    if (grown == NULL) ms_lexer_fail_memory(&parser->lexer);
    pile->item = grown;
    pile->room = room;
  }
  pile->item[pile->count++] = item;
}

ms_node *ms_parser_node(ms_parser *parser, ms_kind kind) {
  const ms_token *token = &parser->lexer.token;
  ms_node *node = ms_parser_take(parser, 1, sizeof *node);
  *node = (ms_node){.kind = kind,
                    .line = token->line,
                    .column = token->column,
                    .begin = token->begin,
                    .end = token->end,
                    .height = 1};
  return node;
}

ms_node *ms_parser_node_at(ms_parser *parser, ms_kind kind, const ms_node *first) {
  ms_node *node = ms_parser_node(parser, kind);
  node->line = first->line;
  node->column = first->column;
  node->begin = first->begin;
  return node;
}

void ms_parser_gather(ms_parser *parser, ms_node *child) {
  ms_parser_push(parser, &parser->gathered, child);
}

void ms_parser_close(ms_parser *parser, ms_node *node, size_t mark) {
  ms_pile *pile = &parser->gathered;
  node->kids = (uint32_t)(pile->count - mark);
  node->end = parser->lexer.last_end > node->begin ? parser->lexer.last_end : node->begin;
  if (node->kids > 0) node->kid = ms_parser_take(parser, node->kids, sizeof(ms_node *));
  for (uint32_t i = 0; i < node->kids; i++) {
    ms_node *child = pile->item[mark + i];
    node->kid[i] = child;
    if (child == NULL) continue;
    child->parent = node;
    child->ordinal = i;
    if (child->height >= node->height) node->height = child->height + 1;
  }
  pile->count = mark;
}

void ms_parser_declare(ms_parser *parser, ms_node *node, size_t mark) {
  ms_pile *pile = &parser->gathered;
  node->symbol_count = (uint32_t)(pile->count - mark);
  node->symbols = ms_parser_take(parser, node->symbol_count, sizeof(ms_symbol *));
  for (uint32_t i = 0; i < node->symbol_count; i++) node->symbols[i] = pile->item[mark + i];
  pile->count = mark;
}

bool ms_parser_at(const ms_parser *parser, int token) {
  return parser->lexer.token.kind == token;
}

bool ms_parser_skip(ms_parser *parser, int token) {
  if (!ms_parser_at(parser, token)) return false;
  ms_lexer_next(&parser->lexer);
  return true;
}

_Noreturn static void fail_expected(ms_parser *parser, int token) {
  char room[16];
  ms_lexer_fail(&parser->lexer, parser->lexer.token.kind, "'%s' expected",
                ms_token_text(token, room));
}

void ms_parser_expect(ms_parser *parser, int token) {
  if (!ms_parser_skip(parser, token)) fail_expected(parser, token);
}

void ms_parser_match(ms_parser *parser, int token, int opener, uint32_t line) {
  if (ms_parser_skip(parser, token)) return;
  if (line == parser->lexer.line) fail_expected(parser, token);
  char room[16], more[16];
  ms_lexer_fail(&parser->lexer, parser->lexer.token.kind,
                "'%s' expected (to close '%s' at line %u)", ms_token_text(token, room),
                ms_token_text(opener, more), line);
}

bool ms_parser_at_name(const ms_parser *parser) {
  return ms_parser_at(parser, MS_TOKEN_NAME) || ms_parser_at(parser, MS_TOKEN_GOTO);
}

ms_name *ms_parser_name(ms_parser *parser) {
  if (!ms_parser_at_name(parser)) fail_expected(parser, MS_TOKEN_NAME);
  ms_name *name = parser->lexer.token.name;
  ms_lexer_next(&parser->lexer);
  return name;
}

void ms_parser_enter(ms_parser *parser) {
  if (++parser->level >= MS_MOST_LEVELS)
    ms_lexer_fail(&parser->lexer, 0, "chunk has too many syntax levels");
}

void ms_parser_leave(ms_parser *parser) {
  parser->level--;
}

static void parse_main(ms_parser *parser) {
  ms_function_scope frame = {0};
  ms_scope scope;
  frame.function = ms_parser_take(parser, 1, sizeof *frame.function);
  frame.function->vararg = true;
  parser->frame = &frame;
  ms_scope_begin(parser, &scope, false);
  ms_lexer_next(&parser->lexer);
  ms_node *body = ms_parse_chunk(parser);
  if (!ms_parser_at(parser, MS_TOKEN_EOF)) fail_expected(parser, MS_TOKEN_EOF);
  ms_scope_end(parser);
  frame.function->body = body;
  parser->tree->main = frame.function;
  parser->frame = NULL;
}

/* Runs the parser; separate from its caller, so that no local lives across the setjmp. */
static bool run(ms_parser *parser, ms_tree *tree, ms_error *err) {
  parser->tree = tree;
  if (setjmp(parser->lexer.escape) != 0) return false;
  ms_lexer_begin(&parser->lexer, tree, err);
  parse_main(parser);
  return true;
}

static ms_tree *make_tree(const char *text, size_t length, const char *name) {
  ms_tree *tree = calloc(1, sizeof *tree);
  if (tree == NULL) return NULL;
  tree->arena = ms_arena_new(ARENA_BASE + ARENA_PER_BYTE * length);
  if (tree->arena != NULL) {
    tree->name = ms_arena_copy(tree->arena, name, strlen(name));
    tree->text = ms_arena_copy(tree->arena, text, length);
    tree->length = length;
  }
  if (tree->name == NULL || tree->text == NULL) ms_tree_destroy(&tree);
  return tree;
}

ms_tree *ms_tree_parse(const char *text, size_t length, const char *name, ms_error *err) {
  if (length > LONGEST_TEXT) {
    ms_error_set(err, MS_SRC, "the text has %zu bytes; the most is %zu", length, LONGEST_TEXT);
    return NULL;
  }
  ms_tree *tree = make_tree(text, length, name);
  ms_parser *parser = calloc(1, sizeof *parser);
  if (tree == NULL || parser == NULL) {
    ms_error_set(err, MS_SRC, "not enough memory to parse %zu bytes of Lua", length);
    ms_tree_destroy(&tree);
  } else if (!run(parser, tree, err)) {
    ms_tree_destroy(&tree);
  }
  if (parser != NULL) {
    free(parser->gathered.item);
    free(parser->locals.item);
    free(parser->labels.item);
    free(parser->jumps.item);
    ms_lexer_end(&parser->lexer);
  }
  free(parser);
  return tree;
}
