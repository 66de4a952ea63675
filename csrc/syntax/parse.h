/* SPDX-License-Identifier: MIT
 *
 * Parser: what its files share (parse.c nodes and entry, scope.c names, expression.c,
 * statement.c). Not for other rooms.
 *
 * It follows LuaJIT's one-pass parser decision by decision, so that it accepts the same texts and
 * reports the same first error. Errors unwind through the lexer; no function here returns one.
 * Nothing recurses without counting a level, and levels end at MS_MOST_LEVELS. */
#ifndef MS_SYNTAX_PARSE_H
#define MS_SYNTAX_PARSE_H

#include "syntax/lex.h"

/* LuaJIT's LJ_MAX_XLEVEL: nesting of blocks and expressions. */
#define MS_MOST_LEVELS 200

/* A block being parsed, innermost first; those of one function. The numbers are how many locals,
 * labels and pending jumps there were when it began. */
typedef struct ms_scope {
  struct ms_scope *outer;
  bool loop; /* break ends here */
  size_t locals, labels, jumps;
} ms_scope;

/* A function being parsed. */
typedef struct ms_function_scope {
  struct ms_function_scope *outer;
  ms_function *function;
  ms_function *last_child;
  ms_scope *scope;
} ms_function_scope;

struct ms_label {
  ms_label *hidden; /* the label of this name that it hides */
  ms_name *name;
  size_t index; /* in parser->labels */
  size_t local; /* how many locals are in scope there */
};

struct ms_jump {
  ms_jump *older; /* pending jump to the same name */
  ms_name *name;  /* NULL: break */
  size_t index;   /* in parser->jumps */
  size_t local;   /* how many locals are in scope there and at every label it can still reach */
  uint32_t line;
};

/* A declaration with what the parser needs to bring it into scope; `symbol` comes first. */
typedef struct ms_local {
  ms_symbol symbol;
  ms_name *name;
  ms_symbol *hidden; /* what the name meant before */
} ms_local;

/* A growing array of pointers. */
typedef struct ms_pile {
  void **item;
  size_t count, room;
} ms_pile;

typedef struct ms_parser {
  ms_lexer lexer;
  ms_tree *tree;
  ms_function_scope *frame;
  uint32_t level;
  ms_pile gathered; /* children and symbols of nodes that are not complete yet */
  ms_pile locals;   /* ms_local in scope, of all enclosing functions */
  ms_pile labels;   /* ms_label in scope */
  ms_pile jumps;    /* ms_jump; NULL where one has met its label */
} ms_parser;

/* parse.c: memory and nodes. */

/* Zeroed memory from the arena; unwinds when it is out. */
void *ms_parser_take(ms_parser *parser, size_t count, size_t size);

/* Puts a pointer on a pile. */
void ms_parser_push(ms_parser *parser, ms_pile *pile, void *item);

/* A node that begins with the current token, or where `first` begins. */
ms_node *ms_parser_node(ms_parser *parser, ms_kind kind);
ms_node *ms_parser_node_at(ms_parser *parser, ms_kind kind, const ms_node *first);

/* Completes a node behind the last token read: its children are what was gathered from `mark` on;
 * they leave the pile. */
void ms_parser_close(ms_parser *parser, ms_node *node, size_t mark);

/* Adds a child to the pile; NULL is allowed. */
void ms_parser_gather(ms_parser *parser, ms_node *child);

/* Makes what was gathered from `mark` on the node's symbols; they are not in scope yet. */
void ms_parser_declare(ms_parser *parser, ms_node *node, size_t mark);

/* parse.c: tokens. */

/* Whether the current token is `token`; the second reads over it if so. */
bool ms_parser_at(const ms_parser *parser, int token);
bool ms_parser_skip(ms_parser *parser, int token);

/* Reads over a token that must be there; of a pair, `opener` stood on `line`. */
void ms_parser_expect(ms_parser *parser, int token);
void ms_parser_match(ms_parser *parser, int token, int opener, uint32_t line);

/* Whether a name is here ("goto" is one too), and reading it. */
bool ms_parser_at_name(const ms_parser *parser);
ms_name *ms_parser_name(ms_parser *parser);

/* Counts a level of nesting; each enter has its leave, or the parse ends. */
void ms_parser_enter(ms_parser *parser);
void ms_parser_leave(ms_parser *parser);

/* scope.c */

/* Begins a scope; `loop`: one that `break` leaves. */
void ms_scope_begin(ms_parser *parser, ms_scope *scope, bool loop);

/* Ends the innermost scope: its locals and labels go, its pending jumps pass to the outer one. */
void ms_scope_end(ms_parser *parser);

/* Reads a name (or makes the implicit "self") and gathers a symbol for it. */
void ms_scope_gather(ms_parser *parser, ms_node *declaration);
void ms_scope_gather_self(ms_parser *parser);

/* Brings the node's symbols into scope. */
void ms_scope_add(ms_parser *parser, const ms_node *node);

/* What a name means here, NULL for a global; notes the use as an upvalue. */
ms_symbol *ms_scope_find(ms_parser *parser, const ms_name *name);

/* A jump to a label (NULL: break) from here, the token behind it being current. */
void ms_scope_jump(ms_parser *parser, ms_name *name);

/* A label here, then (when what follows it is known) its end: pending jumps to it are met. */
ms_label *ms_scope_label(ms_parser *parser, ms_name *name);
void ms_scope_meet(ms_parser *parser, const ms_label *label);

/* expression.c */

/* Parses an expression, from the present token on. */
ms_node *ms_parse_expression(ms_parser *parser);

/* Gathers the expressions of a list; returns how many. */
uint32_t ms_parse_list(ms_parser *parser);

/* A name, call, index or parenthesised expression. */
ms_node *ms_parse_primary(ms_parser *parser);

/* A NAME node for the name that is here. */
ms_node *ms_parse_variable(ms_parser *parser);

/* object.name or object:name from its "." or ":" on, as an INDEX. */
ms_node *ms_parse_field(ms_parser *parser, ms_node *object);

/* Parameters and body of a function, up to and with its "end". `node` began at "function". */
void ms_parse_function(ms_parser *parser, ms_node *node, bool self, uint32_t line);

/* statement.c */

/* Statements up to the end of their block, in the current scope. */
ms_node *ms_parse_chunk(ms_parser *parser);

#endif
