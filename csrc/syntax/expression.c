/* SPDX-License-Identifier: MIT
 *
 * Parser, expressions. See parse.h. */
#include "syntax/parse.h"

/* Binds tighter than any binary operator but ^. */
#define UNARY_PRIORITY 8

/* Of the binary operators, in the order of ms_op: how tightly each binds to its left and to its
 * right operand. Right associative ones bind less to the right. */
static const struct {
  int token;
  unsigned left, right;
} operators[] = {
    [MS_OP_ADD] = {'+', 6, 6},
    [MS_OP_SUB] = {'-', 6, 6},
    [MS_OP_MUL] = {'*', 7, 7},
    [MS_OP_DIV] = {'/', 7, 7},
    [MS_OP_MOD] = {'%', 7, 7},
    [MS_OP_POW] = {'^', 10, 9},
    [MS_OP_CONCAT] = {MS_TOKEN_CONCAT, 5, 4},
    [MS_OP_EQ] = {MS_TOKEN_EQ, 3, 3},
    [MS_OP_NE] = {MS_TOKEN_NE, 3, 3},
    [MS_OP_LT] = {'<', 3, 3},
    [MS_OP_LE] = {MS_TOKEN_LE, 3, 3},
    [MS_OP_GT] = {'>', 3, 3},
    [MS_OP_GE] = {MS_TOKEN_GE, 3, 3},
    [MS_OP_AND] = {MS_TOKEN_AND, 2, 2},
    [MS_OP_OR] = {MS_TOKEN_OR, 1, 1},
};

#define OPERATORS ((int)(sizeof operators / sizeof operators[0]))

/* The binary operator that the current token is, or -1. */
static int binary_operator(const ms_parser *parser) {
  for (int op = 0; op < OPERATORS; op++) {
    if (ms_parser_at(parser, operators[op].token)) return op;
  }
  return -1;
}

static int unary_operator(const ms_parser *parser) {
  switch (parser->lexer.token.kind) {
    case MS_TOKEN_NOT:
      return MS_OP_NOT;
    case '-':
      return MS_OP_NEG;
    case '#':
      return MS_OP_LEN;
    default:
      return -1;
  }
}

/* A STRING node for the string that is here, which is read over. */
static ms_node *string_node(ms_parser *parser) {
  ms_node *node = ms_parser_node(parser, MS_STRING);
  node->text = parser->lexer.token.text;
  node->length = parser->lexer.token.length;
  ms_lexer_next(&parser->lexer);
  return node;
}

/* A node for the name that must be here, which is read over. */
static ms_node *named_node(ms_parser *parser, ms_kind kind, const ms_name **name) {
  ms_node *node = ms_parser_node(parser, kind);
  *name = ms_parser_name(parser);
  node->text = (*name)->text;
  node->length = (*name)->length;
  return node;
}

/* A STRING node for a key written without quotes. */
static ms_node *key_node(ms_parser *parser) {
  const ms_name *name;
  return named_node(parser, MS_STRING, &name);
}

ms_node *ms_parse_variable(ms_parser *parser) {
  const ms_name *name;
  ms_node *node = named_node(parser, MS_NAME, &name);
  node->symbol = ms_scope_find(parser, name);
  return node;
}

ms_node *ms_parse_field(ms_parser *parser, ms_node *object) {
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node_at(parser, MS_INDEX, object);
  node->dotted = true;
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, object);
  ms_parser_gather(parser, key_node(parser));
  ms_parser_close(parser, node, mark);
  return node;
}

/* Gathers what stands in square brackets, with them. */
static void parse_brackets(ms_parser *parser) {
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_parser_expect(parser, ']');
}

static ms_node *parse_table_field(ms_parser *parser) {
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node(parser, MS_FIELD);
  if (ms_parser_at(parser, '[')) {
    parse_brackets(parser);
    ms_parser_expect(parser, '=');
  } else if (ms_parser_at_name(parser) && ms_lexer_look_ahead(&parser->lexer) == '=') {
    ms_parser_gather(parser, key_node(parser));
    ms_parser_expect(parser, '=');
  } else {
    ms_parser_gather(parser, NULL);
  }
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_parser_close(parser, node, mark);
  return node;
}

static ms_node *parse_table(ms_parser *parser) {
  size_t mark = parser->gathered.count;
  uint32_t line = parser->lexer.line;
  ms_node *node = ms_parser_node(parser, MS_TABLE);
  ms_parser_expect(parser, '{');
  while (!ms_parser_at(parser, '}')) {
    ms_parser_gather(parser, parse_table_field(parser));
    if (!ms_parser_skip(parser, ',') && !ms_parser_skip(parser, ';')) break;
  }
  ms_parser_match(parser, '}', '{', line);
  ms_parser_close(parser, node, mark);
  return node;
}

static void parse_parameters(ms_parser *parser, bool self) {
  ms_function *function = parser->frame->function;
  size_t mark = parser->gathered.count;
  ms_parser_expect(parser, '(');
  if (self) ms_scope_gather_self(parser);
  if (!ms_parser_at(parser, ')')) {
    do {
      if (ms_parser_at_name(parser)) {
        ms_scope_gather(parser, NULL);
      } else if (ms_parser_skip(parser, MS_TOKEN_DOTS)) {
        function->vararg = true;
        break;
      } else {
        ms_lexer_fail(&parser->lexer, parser->lexer.token.kind, "<name> or '...' expected");
      }
    } while (ms_parser_skip(parser, ','));
  }
  ms_node list = {0};
  ms_parser_declare(parser, &list, mark);
  ms_scope_add(parser, &list);
  function->parameters = list.symbols;
  function->parameter_count = list.symbol_count;
  ms_parser_expect(parser, ')');
}

/* A frame for the function of `node`, entered in its parent's list of children. */
static void begin_function(ms_parser *parser, ms_function_scope *frame, ms_node *node,
                           uint32_t line) {
  ms_function_scope *outer = parser->frame;
  ms_function *function = ms_parser_take(parser, 1, sizeof *function);
  function->parent = outer->function;
  function->node = node;
  function->first_line = line;
  node->function = function;
  if (outer->last_child == NULL)
    outer->function->first_child = function;
  else
    outer->last_child->next_sibling = function;
  outer->last_child = function;
  *frame = (ms_function_scope){.outer = outer, .function = function};
  parser->frame = frame;
}

void ms_parse_function(ms_parser *parser, ms_node *node, bool self, uint32_t line) {
  ms_function_scope frame;
  ms_scope scope;
  begin_function(parser, &frame, node, line);
  ms_scope_begin(parser, &scope, false);
  parse_parameters(parser, self);
  ms_node *body = ms_parse_chunk(parser);
  if (!ms_parser_at(parser, MS_TOKEN_END))
    ms_parser_match(parser, MS_TOKEN_END, MS_TOKEN_FUNCTION, line);
  frame.function->body = body;
  frame.function->last_line = parser->lexer.line;
  body->parent = node;
  node->height = body->height + 1;
  ms_scope_end(parser);
  parser->frame = frame.outer;
  ms_lexer_next(&parser->lexer);
  node->end = parser->lexer.last_end;
}

uint32_t ms_parse_list(ms_parser *parser) {
  uint32_t count = 0;
  do {
    ms_parser_gather(parser, ms_parse_expression(parser));
    count++;
  } while (ms_parser_skip(parser, ','));
  return count;
}

/* Gathers the arguments of a call; returns the line that the call has at run time. */
static uint32_t parse_arguments(ms_parser *parser) {
  uint32_t line = parser->lexer.line;
  if (ms_parser_at(parser, '(')) {
    if (line != parser->lexer.last_line)
      ms_lexer_fail(&parser->lexer, '(', "ambiguous syntax (function call x new statement)");
    ms_lexer_next(&parser->lexer);
    if (!ms_parser_at(parser, ')')) ms_parse_list(parser);
    ms_parser_match(parser, ')', '(', line);
  } else if (ms_parser_at(parser, '{')) {
    ms_parser_gather(parser, parse_table(parser));
  } else if (ms_parser_at(parser, MS_TOKEN_STRING)) {
    ms_parser_gather(parser, string_node(parser));
  } else {
    ms_lexer_fail(&parser->lexer, parser->lexer.token.kind, "function arguments expected");
  }
  return line;
}

/* object(...), object:name(...), from behind the object on. */
static ms_node *parse_call(ms_parser *parser, ms_node *object) {
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node_at(parser, MS_CALL, object);
  ms_parser_gather(parser, object);
  if (ms_parser_skip(parser, ':')) {
    const ms_name *name = ms_parser_name(parser);
    node->kind = MS_METHOD;
    node->text = name->text;
    node->length = name->length;
  }
  node->open_line = parse_arguments(parser);
  ms_parser_close(parser, node, mark);
  return node;
}

static ms_node *parse_paren(ms_parser *parser) {
  size_t mark = parser->gathered.count;
  uint32_t line = parser->lexer.line;
  ms_node *node = ms_parser_node(parser, MS_PAREN);
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_parser_match(parser, ')', '(', line);
  ms_parser_close(parser, node, mark);
  return node;
}

/* object[key], from the bracket on. */
static ms_node *parse_index(ms_parser *parser, ms_node *object) {
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node_at(parser, MS_INDEX, object);
  ms_parser_gather(parser, object);
  parse_brackets(parser);
  ms_parser_close(parser, node, mark);
  return node;
}

ms_node *ms_parse_primary(ms_parser *parser) {
  ms_node *node;
  if (ms_parser_at(parser, '(')) {
    node = parse_paren(parser);
  } else if (ms_parser_at_name(parser)) {
    node = ms_parse_variable(parser);
  } else {
    ms_lexer_fail(&parser->lexer, parser->lexer.token.kind, "unexpected symbol");
  }
  for (;;) {
    switch (parser->lexer.token.kind) {
      case '.':
        node = ms_parse_field(parser, node);
        break;
      case '[':
        node = parse_index(parser, node);
        break;
      case ':':
      case '(':
      case '{':
      case MS_TOKEN_STRING:
        node = parse_call(parser, node);
        break;
      default:
        return node;
    }
  }
}

/* A node without children for the token that is here, which is read over. */
static ms_node *parse_leaf(ms_parser *parser, ms_kind kind) {
  ms_node *node = ms_parser_node(parser, kind);
  node->number = parser->lexer.token.number;
  node->boxed = parser->lexer.token.boxed;
  ms_lexer_next(&parser->lexer);
  return node;
}

static ms_node *parse_simple(ms_parser *parser) {
  switch (parser->lexer.token.kind) {
    case MS_TOKEN_NUMBER:
      return parse_leaf(parser, MS_NUMBER);
    case MS_TOKEN_STRING:
      return string_node(parser);
    case MS_TOKEN_NIL:
      return parse_leaf(parser, MS_NIL);
    case MS_TOKEN_TRUE:
      return parse_leaf(parser, MS_TRUE);
    case MS_TOKEN_FALSE:
      return parse_leaf(parser, MS_FALSE);
    case MS_TOKEN_DOTS:
      if (!parser->frame->function->vararg)
        ms_lexer_fail(&parser->lexer, MS_TOKEN_DOTS, "cannot use '...' outside a vararg function");
      return parse_leaf(parser, MS_VARARG);
    case '{':
      return parse_table(parser);
    case MS_TOKEN_FUNCTION: {
      ms_node *node = ms_parser_node(parser, MS_FUNCTION);
      ms_lexer_next(&parser->lexer);
      ms_parse_function(parser, node, false, parser->lexer.line);
      return node;
    }
    default:
      return ms_parse_primary(parser);
  }
}

static ms_node *parse_binary(ms_parser *parser, unsigned limit);

static ms_node *parse_unary(ms_parser *parser) {
  int op = unary_operator(parser);
  if (op < 0) return parse_simple(parser);
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node(parser, MS_UNARY);
  node->op = (ms_op)op;
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, parse_binary(parser, UNARY_PRIORITY));
  ms_parser_close(parser, node, mark);
  return node;
}

/* An expression of operators that bind tighter to the left than `limit`. */
static ms_node *parse_binary(ms_parser *parser, unsigned limit) {
  ms_parser_enter(parser);
  ms_node *left = parse_unary(parser);
  for (;;) {
    int op = binary_operator(parser);
    if (op < 0 || operators[op].left <= limit) break;
    size_t mark = parser->gathered.count;
    ms_node *node = ms_parser_node_at(parser, MS_BINARY, left);
    node->op = (ms_op)op;
    ms_lexer_next(&parser->lexer);
    ms_parser_gather(parser, left);
    ms_parser_gather(parser, parse_binary(parser, operators[op].right));
    ms_parser_close(parser, node, mark);
    left = node;
  }
  ms_parser_leave(parser);
  return left;
}

ms_node *ms_parse_expression(ms_parser *parser) {
  return parse_binary(parser, 0);
}
