/* SPDX-License-Identifier: MIT
 *
 * The inside of a walk, shared by the files that walk.h lists. */
#ifndef MS_DEPEND_WALK_STATE_H
#define MS_DEPEND_WALK_STATE_H

#include "depend/abstract_value.h"
#include "depend/reason.h"

/* Arrays that share storage are one group. Where a group has more than one array (overlapping
 * views), the subscripts of its accesses are those of their base (mapping.h). */
typedef struct ms_groups {
  uint32_t *of;      /* by binding; MS_NO_GROUP for what is no array */
  uint32_t *binding; /* by group: the first binding of it */
  bool *overlap;     /* by group: several arrays */
  bool *unnamed;     /* by group: touched where the body does not write an array's name */
  uint32_t count;
} ms_groups;

#define MS_NO_GROUP UINT32_MAX

typedef struct ms_call_frame ms_call_frame; /* see inline.c */
typedef struct ms_literal ms_literal;       /* see literal.c */
typedef struct ms_returns ms_returns;       /* see piece.h */

typedef struct ms_local_value ms_local_value; /* see local_value.c */
typedef struct ms_change ms_change;           /* see local_value.c */

/* Gotos forwards that are followed exactly. */
#define MS_MAX_JUMPS 16

/* What the walk knows at the beginning of a block. */
typedef struct ms_entrance {
  const ms_guard *guard;
  uint32_t exits, breaks;
} ms_entrance;

/* A place of the body that no iteration comes to: a statement, an operand of a logic operator, or
 * (`beside`) what is beside all branches of an if. */
typedef struct ms_dead {
  const ms_node *node;
  bool beside;
  const struct ms_dead *previous;
} ms_dead;

/* A key of an array that may be a table, which is a range. */
typedef struct ms_table_key {
  const ms_node *node;
  const struct ms_table_key *previous;
} ms_table_key;

typedef struct ms_guarded_jump {
  const ms_node *label;
  const ms_guard *guard; /* where it jumps; NULL: not known */
} ms_guarded_jump;

/* A plain table that the body only appends to, counts in or marks keys of: see gather.h. */
typedef enum ms_gathering {
  MS_GATHERS_NOTHING,
  MS_GATHERS_LIST,
  MS_GATHERS_COUNTS, /* by small whole numbers written out, so that the sums are exact */
  MS_GATHERS_SUMS,
  MS_GATHERS_MARK, /* a set, by one statement */
  MS_GATHERS_MARKS /* by several */
} ms_gathering;

/* Names that are told apart under which the body stores what may be called; and classes. */
#define MS_OWN_NAMES   64
#define MS_OWN_CLASSES 16

/* What objects that the body makes may have for methods. */
typedef struct ms_own_methods {
  const char *name[MS_OWN_NAMES]; /* under which something is stored in a table */
  uint32_t name_count;
  bool any;                       /* or under any other one */
  uint32_t class[MS_OWN_CLASSES]; /* bindings */
  uint32_t class_count;
  bool strange; /* some are of classes that are not known */
  bool again;   /* some are given another class */
} ms_own_methods;

typedef struct ms_walk {
  const ms_loop *loop;
  const ms_binding *bindings;
  uint32_t binding_count;
  const ms_space *space;
  const ms_domain *domain;
  ms_arena *arena;
  ms_groups groups;
  ms_gathering *gathered; /* by capture */
  bool *sliced;           /* by binding: a plain table that the body only assigns elements of */
  ms_accesses accesses;
  ms_finding *findings;
  uint32_t finding_count, finding_capacity;
  bool scattered; /* blocks do not take the iterations of an ordered loop one after the other */
  struct ms_buffered *buffered; /* what the body does to buffers; see buffered.h */
  /* private to the walk: */
  ms_call_frame *frame;    /* of the captured function that is walked; NULL in the loop's body */
  ms_call_frame *frames;   /* all that there were */
  ms_literal *literal;     /* the function of the text that is walked where it is called; or NULL */
  uint32_t literals;       /* that were, in this pass */
  ms_returns *returns;     /* of the function that is walked */
  const ms_meaning *means; /* of the captures of the frame's function; NULL: themselves */
  ms_abstract_value **symbol_value;  /* by symbol index; NULL: not met yet */
  ms_abstract_value **capture_value; /* by capture, those that the body assigns */
  const ms_local_value *
      *held;         /* by symbol index: the number that it holds where control is, or NULL */
  ms_change *change; /* the last one of `held` */
  uint32_t labels;   /* that were passed */
  ms_abstract_value *index_value;     /* by dimension */
  ms_guards guards;                   /* what these are made with: */
  const ms_guard *guard;              /* where what is met is reached */
  ms_entrance block;                  /* of the innermost */
  ms_guarded_jump jump[MS_MAX_JUMPS]; /* gotos whose labels are still to come */
  uint32_t jump_count;
  uint32_t exits, breaks;         /* jumps that have not met their label; breaks in the loop */
  bool jumps_lost;                /* there were more */
  const ms_dead *dead;            /* the last place in the loop's text that is never reached */
  const ms_dead *dead_before;     /* that of the pass before, which knows all of them */
  const ms_table_key *table_keys; /* the last one met */
  ms_inner scope[MS_MAX_INNER];
  uint32_t scope_count;
  uint32_t possible;  /* > 0: what is met may not happen */
  uint32_t functions; /* nested functions around */
  uint32_t loops;     /* inner loops around, within the innermost function */
  uint32_t depth;     /* of the recursion over expressions */
  uint32_t elements;  /* of lists, in one another, for each of which it is walked what is around */
  uint64_t stored;    /* arrays that were stored into tables, or returned by inner functions */
  bool stored_captured, stored_changes; /* as of values: something of that kind was stored */
  ms_own_methods own;
  uint32_t kept; /* > 0: what is walked is proved to store into what it makes, or is given, only */
  bool owns_objects; /* the body makes some of classes whose methods store into what they are given
                      */
  uint32_t stored_metamethods;
  const char *stored_impure;
  bool changed;            /* a value changed in this pass */
  bool early;              /* a variable was read that had no value yet */
  bool failed;             /* out of memory */
  const ms_node *stranger; /* the first method of an array whose effects are not known, or NULL */
  uint32_t stranger_line;  /* in the loop's file */
} ms_walk;

/* A finding; `fix` may be NULL. */
void ms_walk_find(ms_walk *walk, ms_reason_kind kind, bool proven, const ms_node *node,
                  const char *fix, const char *message);

#endif
