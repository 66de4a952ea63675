/* SPDX-License-Identifier: MIT
 *
 * Syntax tree of a Lua chunk, with positions and resolved names.
 *
 * A tree and all its nodes live in one arena owned by `ms_tree`. Nodes are immutable once parsed.
 * Every node covers the bytes [begin, end) of the text and starts at line:column (both 1-based,
 * the column in bytes). Children stand in `kid[0 .. kids-1]`; what each means is said beside its
 * kind below. A child may be NULL only where that is said.
 *
 * Names are resolved while parsing: a NAME node has `symbol` set if it means a local variable or
 * parameter (of this function or, as an upvalue, of an enclosing one), and NULL if it is global. */
#ifndef MS_SYNTAX_TREE_H
#define MS_SYNTAX_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

typedef enum ms_kind {
  /* expressions */
  MS_NIL,
  MS_TRUE,
  MS_FALSE,
  MS_VARARG,
  MS_NUMBER,   /* number; cdata literals (1LL, 2ULL, 3i) have `boxed` set */
  MS_STRING,   /* text, length: the value after escapes */
  MS_NAME,     /* text; symbol or NULL */
  MS_INDEX,    /* kid[0] object, kid[1] key; `dotted` when written object.key */
  MS_CALL,     /* kid[0] callee, kid[1..] arguments; open_line: the line that the running call
                  reports as its currentline, i.e. of "(", "{" or the end of the string */
  MS_METHOD,   /* kid[0] object, text: the method, kid[1..] arguments; open_line */
  MS_FUNCTION, /* function */
  MS_BINARY,   /* op, kid[0], kid[1] */
  MS_UNARY,    /* op, kid[0] */
  MS_PAREN,    /* kid[0], cut to one value */
  MS_TABLE,    /* kid[]: MS_FIELD */
  MS_FIELD,    /* kid[0] key or NULL (positional), kid[1] value */
  /* statements */
  MS_BLOCK,          /* kid[]: statements */
  MS_LOCAL,          /* symbols[]; kid[]: values (fewer or more than symbols allowed) */
  MS_ASSIGN,         /* targets: count; kid[0..targets-1] targets, the rest values */
  MS_EXPRESSION,     /* kid[0]: a CALL or METHOD as a statement */
  MS_DO,             /* kid[0] block */
  MS_WHILE,          /* kid[0] condition, kid[1] block */
  MS_REPEAT,         /* kid[0] block, kid[1] condition (sees the block's locals) */
  MS_IF,             /* kid: condition, block, condition, block, ... [, else block] */
  MS_FOR_NUMERIC,    /* symbols[0]; kid[0] start, kid[1] limit, kid[2] step or NULL, kid[3] block */
  MS_FOR_GENERIC,    /* symbols[]; kid[0..kids-2] expressions, kid[kids-1] block */
  MS_LOCAL_FUNCTION, /* symbols[0]; kid[0]: FUNCTION */
  MS_SET_FUNCTION,   /* function a.b:c() end: kid[0] target NAME or INDEX, kid[1] FUNCTION */
  MS_RETURN,         /* kid[]: values */
  MS_BREAK,
  MS_GOTO, /* text: label */
  MS_LABEL /* text */
} ms_kind;

typedef enum ms_op {
  MS_OP_ADD,
  MS_OP_SUB,
  MS_OP_MUL,
  MS_OP_DIV,
  MS_OP_MOD,
  MS_OP_POW,
  MS_OP_CONCAT,
  MS_OP_EQ,
  MS_OP_NE,
  MS_OP_LT,
  MS_OP_LE,
  MS_OP_GT,
  MS_OP_GE,
  MS_OP_AND,
  MS_OP_OR,
  MS_OP_NEG,
  MS_OP_NOT,
  MS_OP_LEN
} ms_op;

typedef struct ms_node ms_node;
typedef struct ms_function ms_function;

/* A local variable, parameter or loop variable: one declaration. */
typedef struct ms_symbol {
  const char *name;
  ms_function *function; /* the function that declares it */
  ms_node *declaration;  /* LOCAL, FOR_*, LOCAL_FUNCTION, or NULL for a parameter */
  uint32_t index;        /* order of declaration in the whole chunk, from 0 */
  uint32_t line, column; /* of the name in its declaration */
  bool assigned;         /* an assignment other than the declaration exists */
  bool upvalue;          /* used by a function inside the declaring one */
  bool next;             /* stands for the next version of a name, see version_split.h */
} ms_symbol;

struct ms_node {
  ms_kind kind;
  ms_op op;
  ms_node *parent;  /* NULL for the main chunk's block; a function body's is its FUNCTION */
  uint32_t ordinal; /* parent->kid[ordinal] is this node, unless it is a function body */
  uint32_t height;  /* 1 for a leaf; a chain like a+a+...+a is as high as it is long */
  uint32_t line, column;
  size_t begin, end;
  uint32_t open_line;
  uint32_t kids, symbol_count, targets;
  bool dotted, boxed;
  bool settled; /* STRING, NAME: the source has something else there, see ms_loop_settle_key */
  ms_node **kid;
  ms_symbol **symbols;   /* declared by this statement */
  ms_symbol *symbol;     /* NAME */
  const char *text;      /* NAME, STRING, METHOD, GOTO, LABEL: terminated */
  size_t length;         /* bytes of `text`; strings may hold zeros */
  double number;         /* NUMBER */
  ms_function *function; /* FUNCTION */
};

struct ms_function {
  ms_function *parent; /* NULL for the main chunk */
  ms_function *first_child, *next_sibling;
  ms_node *node; /* the FUNCTION node; NULL for the main chunk */
  ms_node *body; /* BLOCK */
  ms_symbol **parameters;
  uint32_t parameter_count; /* with the implicit `self` of a method definition */
  bool vararg;
  uint32_t first_line, last_line; /* as debug.getinfo's linedefined, lastlinedefined; 0, 0: main */
};

typedef struct ms_tree {
  ms_arena *arena;
  const char *name; /* chunk name as for loadstring: "@file", "=name" or the text itself */
  const char *text; /* a terminated copy; offsets of nodes count in it */
  size_t length;
  ms_function *main;
  uint32_t symbols; /* how many declarations there are */
} ms_tree;

/* Parses a chunk. Accepts exactly what LuaJIT's loadstring accepts (without its limits on code
 * size); on failure returns NULL with err->code MS_SRC, the place, and LuaJIT's own wording where
 * it has one. The caller owns the tree. */
ms_tree *ms_tree_parse(const char *text, size_t length, const char *name, ms_error *err);

/* Frees a tree and nulls the caller's pointer. */
void ms_tree_destroy(ms_tree **tree);

/* Calls `visit` for every node below and including `node`, parents first, in source order; bodies
 * of nested functions too. A visit that returns false skips the node's children. */
void ms_node_walk(ms_node *node, bool (*visit)(ms_node *node, void *context), void *context);

/* The source spelling of an operator ("+", "and", "not"). */
const char *ms_op_name(ms_op op);

/* Writes the chunk's name as messages show it into `size` (at least 64) bytes: a file's name, or
 * its end if that is too long; of a text given directly, [string "its beginning..."]. */
void ms_tree_place(const ms_tree *tree, char *out, size_t size);

/* A node without the brackets around it. */
ms_node *ms_node_bare(const ms_node *node);

/* Whether a node is `condition and yes or no`, of which `no` is its second operand. */
bool ms_node_is_choice(const ms_node *node, const ms_node **condition, const ms_node **yes);

/* Whether an expression can have another number of values than one. */
bool ms_node_is_multiple(const ms_node *node);

/* Whether a node is `around`, or stands in it; NULL stands in nothing. */
bool ms_node_is_inside(const ms_node *node, const ms_node *around);

/* Whether the texts of two nodes, a name or a string each, are the same; or neither has one. */
bool ms_node_same_text(const ms_node *a, const ms_node *b);

/* Whether two expressions are written alike, of the same names. */
bool ms_node_is_same(const ms_node *a, const ms_node *b);

/* Whether a node is a loop of any kind. */
bool ms_node_is_loop(const ms_node *node);

#endif
