/* SPDX-License-Identifier: MIT
 *
 * Parser, statements. See parse.h. */
#include "syntax/parse.h"

/* A block of its own scope. */
static ms_node *parse_block(ms_parser *parser) {
  ms_scope scope;
  ms_scope_begin(parser, &scope, false);
  ms_node *node = ms_parse_chunk(parser);
  ms_scope_end(parser);
  return node;
}

static bool at_block_end(const ms_parser *parser) {
  switch (parser->lexer.token.kind) {
    case MS_TOKEN_ELSE:
    case MS_TOKEN_ELSEIF:
    case MS_TOKEN_END:
    case MS_TOKEN_UNTIL:
    case MS_TOKEN_EOF:
      return true;
    default:
      return false;
  }
}

/* Condition and block of an if or elseif, which is here. */
static void parse_then(ms_parser *parser) {
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_parser_expect(parser, MS_TOKEN_THEN);
  ms_parser_gather(parser, parse_block(parser));
}

static void parse_if(ms_parser *parser, uint32_t line) {
  parse_then(parser);
  while (ms_parser_at(parser, MS_TOKEN_ELSEIF)) parse_then(parser);
  if (ms_parser_skip(parser, MS_TOKEN_ELSE)) ms_parser_gather(parser, parse_block(parser));
  ms_parser_match(parser, MS_TOKEN_END, MS_TOKEN_IF, line);
}

static void parse_while(ms_parser *parser, uint32_t line) {
  ms_scope scope;
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_scope_begin(parser, &scope, true);
  ms_parser_expect(parser, MS_TOKEN_DO);
  ms_parser_gather(parser, parse_block(parser));
  ms_parser_match(parser, MS_TOKEN_END, MS_TOKEN_WHILE, line);
  ms_scope_end(parser);
}

static void parse_repeat(ms_parser *parser, uint32_t line) {
  ms_scope loop, inner;
  ms_scope_begin(parser, &loop, true);
  ms_scope_begin(parser, &inner, false);
  ms_lexer_next(&parser->lexer);
  ms_parser_gather(parser, ms_parse_chunk(parser));
  ms_parser_match(parser, MS_TOKEN_UNTIL, MS_TOKEN_REPEAT, line);
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_scope_end(parser);
  ms_scope_end(parser);
}

/* The body of a for-loop: its variables are seen there only. */
static void parse_for_body(ms_parser *parser, const ms_node *node) {
  ms_scope scope;
  ms_parser_expect(parser, MS_TOKEN_DO);
  ms_scope_begin(parser, &scope, false);
  ms_scope_add(parser, node);
  ms_parser_gather(parser, parse_block(parser));
  ms_scope_end(parser);
}

static void parse_for_numeric(ms_parser *parser, ms_node *node) {
  node->kind = MS_FOR_NUMERIC;
  ms_parser_expect(parser, '=');
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_parser_expect(parser, ',');
  ms_parser_gather(parser, ms_parse_expression(parser));
  ms_parser_gather(parser, ms_parser_skip(parser, ',') ? ms_parse_expression(parser) : NULL);
  parse_for_body(parser, node);
}

static void parse_for(ms_parser *parser, ms_node *node) {
  uint32_t line = parser->lexer.line;
  size_t mark = parser->gathered.count;
  ms_scope scope;
  ms_scope_begin(parser, &scope, true);
  ms_lexer_next(&parser->lexer);
  ms_scope_gather(parser, node);
  if (ms_parser_at(parser, '=')) {
    ms_parser_declare(parser, node, mark);
    parse_for_numeric(parser, node);
  } else if (ms_parser_at(parser, ',') || ms_parser_at(parser, MS_TOKEN_IN)) {
    node->kind = MS_FOR_GENERIC;
    while (ms_parser_skip(parser, ',')) ms_scope_gather(parser, node);
    ms_parser_declare(parser, node, mark);
    ms_parser_expect(parser, MS_TOKEN_IN);
    ms_parse_list(parser);
    parse_for_body(parser, node);
  } else {
    ms_lexer_fail(&parser->lexer, parser->lexer.token.kind, "'=' or 'in' expected");
  }
  ms_parser_match(parser, MS_TOKEN_END, MS_TOKEN_FOR, line);
  ms_scope_end(parser);
}

/* A FUNCTION node that begins with the parameters that are here. */
static void parse_named_function(ms_parser *parser, bool self, uint32_t line) {
  ms_node *node = ms_parser_node(parser, MS_FUNCTION);
  ms_parse_function(parser, node, self, line);
  ms_parser_gather(parser, node);
}

static void parse_set_function(ms_parser *parser) {
  uint32_t line = parser->lexer.line;
  ms_lexer_next(&parser->lexer);
  ms_node *target = ms_parse_variable(parser);
  if (target->symbol != NULL && !ms_parser_at(parser, '.') && !ms_parser_at(parser, ':'))
    target->symbol->assigned = true;
  while (ms_parser_at(parser, '.')) target = ms_parse_field(parser, target);
  bool self = ms_parser_at(parser, ':');
  if (self) target = ms_parse_field(parser, target);
  ms_parser_gather(parser, target);
  parse_named_function(parser, self, line);
}

static void parse_local(ms_parser *parser, ms_node *node) {
  size_t mark = parser->gathered.count;
  ms_lexer_next(&parser->lexer);
  if (ms_parser_skip(parser, MS_TOKEN_FUNCTION)) {
    node->kind = MS_LOCAL_FUNCTION;
    ms_scope_gather(parser, node);
    ms_parser_declare(parser, node, mark);
    ms_scope_add(parser, node);
    parse_named_function(parser, false, parser->lexer.line);
    return;
  }
  do ms_scope_gather(parser, node);
  while (ms_parser_skip(parser, ','));
  ms_parser_declare(parser, node, mark);
  if (ms_parser_skip(parser, '=')) ms_parse_list(parser);
  ms_scope_add(parser, node);
}

static void parse_return(ms_parser *parser) {
  ms_lexer_next(&parser->lexer);
  if (!at_block_end(parser) && !ms_parser_at(parser, ';')) ms_parse_list(parser);
}

static void parse_break(ms_parser *parser) {
  ms_lexer_next(&parser->lexer);
  ms_scope_jump(parser, NULL);
}

static void parse_goto(ms_parser *parser, ms_node *node) {
  ms_lexer_next(&parser->lexer);
  ms_name *name = ms_parser_name(parser);
  node->text = name->text;
  node->length = name->length;
  ms_scope_jump(parser, name);
}

/* A label, and the labels right behind it: a jump to it is met when what follows them is known. At
 * the end of a block a label is outside the scope of the block's locals; before `until` it is not,
 * since the condition sees them. */
static void parse_label(ms_parser *parser) {
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node(parser, MS_LABEL);
  ms_lexer_next(&parser->lexer);
  ms_name *name = ms_parser_name(parser);
  node->text = name->text;
  node->length = name->length;
  ms_label *label = ms_scope_label(parser, name);
  ms_parser_expect(parser, MS_TOKEN_COLONS);
  ms_parser_close(parser, node, mark);
  ms_parser_gather(parser, node);
  if (ms_parser_at(parser, MS_TOKEN_COLONS)) {
    ms_parser_enter(parser);
    parse_label(parser);
    ms_parser_leave(parser);
  }
  if (at_block_end(parser) && !ms_parser_at(parser, MS_TOKEN_UNTIL))
    label->local = parser->frame->scope->locals;
  ms_scope_meet(parser, label);
}

/* LuaJIT recurses for each target, hence its bound on their number. */
static void check_targets(ms_parser *parser, uint32_t targets) {
  if (parser->level + targets < MS_MOST_LEVELS) return;
  uint32_t line = parser->frame->function->first_line;
  if (line == 0)
    ms_lexer_fail(&parser->lexer, 0, "main function has more than %d variable names",
                  MS_MOST_LEVELS);
  ms_lexer_fail(&parser->lexer, 0, "function at line %u has more than %d variable names", line,
                MS_MOST_LEVELS);
}

static void gather_target(ms_parser *parser, ms_node *target) {
  if (target->kind != MS_NAME && target->kind != MS_INDEX)
    ms_lexer_fail(&parser->lexer, parser->lexer.token.kind, "syntax error");
  if (target->symbol != NULL) target->symbol->assigned = true;
  ms_parser_gather(parser, target);
}

static void parse_call_or_assignment(ms_parser *parser, ms_node *node) {
  ms_node *first = ms_parse_primary(parser);
  if (first->kind == MS_CALL || first->kind == MS_METHOD) {
    node->kind = MS_EXPRESSION;
    ms_parser_gather(parser, first);
    return;
  }
  gather_target(parser, first);
  node->targets = 1;
  while (ms_parser_skip(parser, ',')) {
    ms_node *target = ms_parse_primary(parser);
    check_targets(parser, node->targets);
    gather_target(parser, target);
    node->targets++;
  }
  ms_parser_expect(parser, '=');
  ms_parse_list(parser);
}

/* The kind that a statement's first token tells; parsing may tell more. */
static ms_kind kind_of_statement(ms_parser *parser) {
  switch (parser->lexer.token.kind) {
    case MS_TOKEN_IF:
      return MS_IF;
    case MS_TOKEN_WHILE:
      return MS_WHILE;
    case MS_TOKEN_DO:
      return MS_DO;
    case MS_TOKEN_FOR:
      return MS_FOR_NUMERIC;
    case MS_TOKEN_REPEAT:
      return MS_REPEAT;
    case MS_TOKEN_FUNCTION:
      return MS_SET_FUNCTION;
    case MS_TOKEN_LOCAL:
      return MS_LOCAL;
    case MS_TOKEN_RETURN:
      return MS_RETURN;
    case MS_TOKEN_BREAK:
      return MS_BREAK;
    case MS_TOKEN_COLONS:
      return MS_LABEL;
    case MS_TOKEN_GOTO: /* a name like any other, unless a name follows */
      return ms_lexer_look_ahead(&parser->lexer) == MS_TOKEN_NAME ? MS_GOTO : MS_ASSIGN;
    default:
      return MS_ASSIGN;
  }
}

static void parse_statement_inside(ms_parser *parser, ms_node *node) {
  uint32_t line = parser->lexer.line;
  switch (node->kind) {
    case MS_IF:
      parse_if(parser, line);
      break;
    case MS_WHILE:
      parse_while(parser, line);
      break;
    case MS_DO:
      ms_lexer_next(&parser->lexer);
      ms_parser_gather(parser, parse_block(parser));
      ms_parser_match(parser, MS_TOKEN_END, MS_TOKEN_DO, line);
      break;
    case MS_FOR_NUMERIC:
      parse_for(parser, node);
      break;
    case MS_REPEAT:
      parse_repeat(parser, line);
      break;
    case MS_SET_FUNCTION:
      parse_set_function(parser);
      break;
    case MS_LOCAL:
      parse_local(parser, node);
      break;
    case MS_RETURN:
      parse_return(parser);
      break;
    case MS_BREAK:
      parse_break(parser);
      break;
    case MS_GOTO:
      parse_goto(parser, node);
      break;
    default:
      parse_call_or_assignment(parser, node);
  }
}

/* Gathers the statement that is here; returns whether it must be the last of its block. */
static bool parse_statement(ms_parser *parser) {
  ms_kind kind = kind_of_statement(parser);
  if (kind == MS_LABEL) {
    parse_label(parser);
    return false;
  }
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node(parser, kind);
  parse_statement_inside(parser, node);
  ms_parser_close(parser, node, mark);
  ms_parser_gather(parser, node);
  return kind == MS_RETURN || kind == MS_BREAK;
}

ms_node *ms_parse_chunk(ms_parser *parser) {
  size_t mark = parser->gathered.count;
  ms_node *node = ms_parser_node(parser, MS_BLOCK);
  ms_parser_enter(parser);
  for (bool last = false; !last && !at_block_end(parser);) {
    last = parse_statement(parser);
    ms_parser_skip(parser, ';');
  }
  ms_parser_leave(parser);
  ms_parser_close(parser, node, mark);
  return node;
}
