/* SPDX-License-Identifier: MIT
 *
 * Extremes: the statements by which a body keeps the greatest or the least of some values, alone
 * or with what belongs to it. Part of reduction.c.
 *
 *   s = math.max(s, e), s = bit.bor(s, e), s = e > s and e or s
 *   if e > s then s = e end
 *   if e > s then s, p = e, q end             p follows s: it is what belongs to the s that is kept
 *   if not s or e > s then s = e end          s is nil before; also s == nil
 *   if not p or e > s then s, p = e, q end    p is nil before, and q never
 *   if e > s or e == s and i < p then s, p = e, i end   see tie.h
 *   if e < s then s = e elseif e > t then t = e end     see branch_gate.h
 *
 * p and q stand for any number; what followers get is evaluated without effects and names none of
 * the statement's variables. */
#ifndef MS_DEPEND_EXTREME_H
#define MS_DEPEND_EXTREME_H

#include "depend/scalar.h"

/* A variable that decides between equal extremes: see tie.h. */
typedef struct ms_tie {
  uint32_t capture;
  ms_reduce_op op;     /* which one stays: MIN, MAX */
  ms_reduce_wins wins; /* of the last one, where all are equal */
} ms_tie;

#define MS_MOST_TIES 4 /* as many as loops have indices, mostly */

/* How a statement combines a variable. */
typedef struct ms_reduce_form {
  ms_reduce_op op;
  ms_reduce_wins wins;
  bool set;                  /* s = true, s = false: no value but this one */
  bool unset;                /* there is no value before the first */
  uint32_t asked;            /* unset: the capture that tells, the leader or what goes with it */
  uint32_t mentions;         /* of the variable in the statement */
  const ms_node *value;      /* that the leader is compared with */
  bool alone;                /* nothing else is asked for before the block */
  const ms_node *block;      /* `if e > s then ... end`: what is assigned together; else NULL */
  uint32_t leader;           /* WITH: the capture whose assignments it goes with */
  ms_tie ties[MS_MOST_TIES]; /* the tuple's */
  uint32_t tie_count;
  uint32_t tie; /* WITH: its number among the ties, from 1; 0: it is none */
  bool gated;   /* tried only where another extreme, `gate`, does not take the value */
  uint32_t gate;
} ms_reduce_form;

/* What is known of one variable while the body is searched for forms. */
typedef struct ms_tally {
  const ms_walk *walk;
  const ms_loop *loop;
  const ms_capture *capture;
  ms_binding_kind kind;                /* of the value before the loop */
  uint32_t mentions;                   /* in what is being counted */
  uint32_t combined;                   /* mentions that belong to reductions */
  uint32_t forms;                      /* statements that combine it */
  bool any, mixed, follows, elsewhere; /* not by `if` */
  bool within, calls; /* a function of the body mentions it; a value calls such functions */
  ms_reduce_form found;
} ms_tally;

/* Mentions of the variable in a node. */
uint32_t ms_tally_mentions(const ms_tally *all, ms_node *node);

/* The builtin that a name or path means, or NULL. */
const char *ms_tally_builtin(const ms_tally *all, const ms_node *node);

/* Whether the nodes are one expression written twice that gives the same value twice. */
bool ms_tally_same_value(const ms_tally *all, const ms_node *a, const ms_node *b);

/* Evaluating the node again at once gives the same value, and it has no effects. */
bool ms_tally_is_steady(const ms_tally *all, ms_node *node);

/* An `if` by which the variable is combined, or follows one that is. */
bool ms_extreme_statement(const ms_tally *all, const ms_node *node, ms_reduce_form *is);

/* `s = value` of a call with s as one argument. */
bool ms_extreme_call(const ms_tally *all, ms_node *value, ms_reduce_form *is);

/* `s = value` of a choice by a comparison. */
bool ms_extreme_choice(const ms_tally *all, ms_node *value, ms_reduce_form *is);

/* A comparison of a captured variable with something else, as if it asked whether that wins: fills
 * `op` and `wins`. */
bool ms_extreme_compares(const ms_capture *capture, const ms_node *test, const ms_node **other,
                         ms_reduce_form *is);

/* The value that a block of plain assignments gives to a capture, or NULL; `places`: how many
 * variables it assigns. */
ms_node *ms_extreme_given(const ms_node *block, const ms_capture *capture, uint32_t *places);

/* Whether two forms of one variable assign the same variables together. */
bool ms_extreme_same_tuple(const ms_tally *all, const ms_reduce_form *a, const ms_reduce_form *b);

#endif
