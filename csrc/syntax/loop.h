/* SPDX-License-Identifier: MIT
 *
 * Loops: finds the parallel loop that a running call belongs to, and what its body captures.
 *
 * A loop is either a generic `for` whose only expression is a direct call, or a function whose
 * parameters are the loop variables (the closure form). It lives in the arena of its tree. */
#ifndef MS_SYNTAX_LOOP_H
#define MS_SYNTAX_LOOP_H

#include "syntax/tree.h"

/* How the enclosing function reaches a captured name. */
typedef enum ms_reach { MS_REACH_LOCAL, MS_REACH_UPVALUE, MS_REACH_GLOBAL } ms_reach;

/* A name from outside the body with the longest constant field path read from it:
 * `opts.model.rate` is root "opts" with fields {"model", "rate"}. A name used in several ways
 * (`opts.a`, `opts.b`, bare `opts`) gives one capture per distinct path. */
typedef struct ms_capture {
  const char *root;
  ms_symbol *symbol; /* NULL for a global */
  ms_reach reach;
  const char **fields;
  uint32_t field_count;
  bool assigned;   /* the path itself is an assignment target in the body */
  bool tested;     /* somewhere in the body the path is only asked whether it is there */
  ms_node *first;  /* its first use in the body: the NAME or outermost INDEX node */
  ms_node *read;   /* its first use that needs a value; NULL for none */
  ms_node *called; /* its first use as what is called, or whose method is; NULL for none */
} ms_capture;

typedef struct ms_loop {
  ms_tree *tree;
  ms_function *function; /* the function that contains the loop statement or call */
  ms_node *statement;    /* FOR_GENERIC, or the FUNCTION node of the closure form */
  ms_node *call;        /* in the `for`; of the closure form: the call that the function is the last
                           argument of, or the FUNCTION node itself */
  ms_node *body;        /* BLOCK */
  ms_function *closure; /* the closure form's function, else NULL */
  ms_symbol **indices;  /* loop variables, or the closure's parameters */
  uint32_t index_count;
  ms_capture *captures;
  uint32_t capture_count;
} ms_loop;

/* Which function of a text is meant: by its lines (0, 0: the main chunk), and by its place, from 1,
 * among the text's functions in the order of their ends, which is that of the compiler's dumps. It
 * tells functions on the same lines apart; 0: not known. */
typedef struct ms_which {
  uint32_t first_line, last_line, place;
} ms_which;

/* Deepest nesting of a loop's body, so that analyses may recurse over it. */
#define MS_LOOP_HEIGHT 1000

/* Finds the loop in these functions whose call opens on `line`. Loops in functions inside those do
 * not count.
 *
 * Of several candidates on the line, those that call a name or a path of constant fields
 * (`parallel`, `meissa.parallel`) go before methods and other callees; the globals pairs, ipairs
 * and next are none. Errors (MS_SRC): none there, or several of the same sort; both say what to
 * write; or a body nested deeper than MS_LOOP_HEIGHT. */
ms_loop *ms_loop_find(ms_tree *tree, ms_which which, uint32_t line, ms_error *err);

/* This function literal as a loop's body (closure form). MS_SRC when there are several. */
ms_loop *ms_loop_closure(ms_tree *tree, ms_which which, ms_error *err);

/* The same function literal in another tree of the same text, which the caller owns. */
ms_loop *ms_loop_again(const ms_loop *closure, ms_error *err);

/* The parallel loop of a text given to analyse: the first generic `for` in the main chunk that
 * ms_loop_find would take on its line. */
ms_loop *ms_loop_first(ms_tree *tree, ms_error *err);

/* Calls visit(name, context) for the name of every local variable that can be seen at `use`. */
void ms_loop_each_visible(const ms_loop *loop, const ms_node *use,
                          void (*visit)(const char *name, void *context), void *context);

/* Fills the captures of a loop that has its other fields; 0, or -1 when memory is out. Part of
 * ms_loop_find and ms_loop_first; again after keys were settled. */
int ms_loop_capture(ms_loop *loop, ms_error *err);

/* Whether the symbol is declared by the loop or inside its body. */
bool ms_loop_declares(const ms_loop *loop, const ms_symbol *symbol);

/* Whether a node calls getfenv for the globals of the function that it stands in, level 1, or of
 * the thread, level 0; if that is what the name means. */
bool ms_loop_is_getfenv(const ms_node *node, double *level);

/* Visits the keys in paths from outside names that are local variables which keep their values
 * while the loop runs (`_G[name]`, `opts[name].rate`), as NAMEs; and what is read from getfenv, as
 * the INDEX of its call. Once they are settled, they are as paths of constant fields are. */
void ms_loop_each_key(const ms_loop *loop, void (*visit)(ms_node *node, void *context),
                      void *context);

/* Makes a visited NAME the string that it holds, in the tree's arena. */
void ms_loop_settle_key(ms_node *node, const char *text, size_t length);

/* Makes the visited INDEX of getfenv's call, whose key is a constant name, that global. */
void ms_loop_settle_global(ms_node *node);

#endif
