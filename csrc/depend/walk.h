/* SPDX-License-Identifier: MIT
 *
 * Walk: from a loop body's syntax tree to its accesses and findings.
 *
 * A local assigned once is what it was assigned, a local assigned several times is any of what it
 * was assigned. Where control comes is followed as far as affine conditions say (exit_guard.h).
 * Values are affine numbers, other scalars, views of arrays, and "other" things, which carry the
 * set of arrays that they may be or hold. The walk repeats until no value changes; the accesses are
 * those of its last pass. All memory comes from one arena. */
#ifndef MS_DEPEND_WALK_H
#define MS_DEPEND_WALK_H

#include "depend/access.h"
#include "depend/reason.h"

/* Arrays that share storage are one group. Where a group has more than one array (overlapping
 * views), the subscripts of its accesses are those of their base (mapping.h). */
typedef struct ms_groups {
  uint32_t *of;      /* by binding; MS_NO_GROUP for what is no array */
  uint32_t *binding; /* by group: the first binding of it */
  bool *overlap;     /* by group: several arrays */
  uint32_t count;
} ms_groups;

#define MS_NO_GROUP UINT32_MAX

typedef enum ms_abstract_value_kind {
  MS_ABSTRACT_VALUE_NUMBER, /* an affine form */
  MS_ABSTRACT_VALUE_SCALAR, /* a number, string, boolean, nil: holds no array */
  MS_ABSTRACT_VALUE_VIEW,   /* an array, or a row or range of one */
  MS_ABSTRACT_VALUE_OTHER   /* a table, function, or anything */
} ms_abstract_value_kind;

/* A dimension of an array that a view leaves: the view's 1 .. length are first + 1 and on. */
typedef struct ms_open {
  uint32_t dim;
  ms_form first, length;
} ms_open;

typedef struct ms_abstract_view {
  uint32_t binding;
  bool range;     /* a subscript is a range: its own subscripts are relative */
  bool may_range; /* the last subscript, of which nothing is known, may be a range */
  uint32_t subscript_count;
  uint32_t open_count;
  const ms_open *open; /* where `select` or such formed the view: the dimensions that are left, in
                          the view's order; there is an unknown subscript for each. Else NULL: those
                          behind the subscripts are left */
  ms_subscript subscript[]; /* room for one a dimension of the array */
} ms_abstract_view;

/* `objects` of what is an element, or inside of one. */
#define MS_OBJECTS_ELEMENT UINT32_MAX

typedef struct ms_pieces ms_pieces;

typedef struct ms_abstract_value {
  ms_abstract_value_kind kind;
  ms_form form;                  /* NUMBER */
  const ms_quadratic *quadratic; /* SCALAR: the number that it is; NULL: not known */
  const ms_truth *truth;         /* SCALAR, OTHER: when it is true; NULL: not known */
  const ms_pieces *pieces;       /* SCALAR, OTHER: what it is where (piece.h); NULL: not known */
  const ms_abstract_view *view;  /* VIEW */
  uint64_t groups;      /* OTHER: may be or hold these arrays; bit 63: all groups from 63 on */
  bool captured;        /* OTHER: may be, or be part of, something captured */
  bool plain;           /* OTHER: itself certainly no array */
  bool callable;        /* OTHER: `binding` says what calling it does */
  uint32_t objects;     /* OTHER: an array of objects of so many dimensions, or its row; or 0 */
  bool plain_data;      /* OTHER: tables of numbers, strings and booleans, without functions */
  uint32_t levels;      /* OTHER: so many levels of tables in one another, itself the outermost, and
                           1 more; 1: it is no table; 0: not known */
  bool changes;         /* OTHER: calling it, or a method of it, changes things outside */
  bool stores_nothing;  /* OTHER: no function in it stores into arrays */
  uint32_t metamethods; /* OTHER: events for which it, or something in it, may have functions */
  const char *impure;   /* OTHER: what calling it, or a method of it, may use; or NULL */
  bool exact;           /* OTHER: it is the table of `binding` itself */
  uint32_t binding;
  ms_function *literal; /* OTHER: a function of the body that is only called; or NULL */
} ms_abstract_value;

/* What a call passes; `open`: and all further values of the last one's call. */
typedef struct ms_passed {
  const ms_abstract_value *value;
  uint32_t count;
  bool open;
} ms_passed;

typedef struct ms_call_frame ms_call_frame; /* see inline.c */
typedef struct ms_literal ms_literal;       /* see literal.c */
typedef struct ms_returns ms_returns;       /* see piece.h */

/* See local_value.c. */
typedef struct ms_local_value ms_local_value;
typedef struct ms_change ms_change;
typedef struct ms_after ms_after;
typedef struct ms_branch_path ms_branch_path;

/* A numeric loop's iterations. */
typedef struct ms_trips {
  const ms_node *loop;
  bool counted; /* `counter` is the form of the number, from 0, of an iteration */
  ms_form counter;
  bool closed;             /* there are `count`, none of which ends the loop */
  ms_abstract_value count; /* made of what is outside of the loop */
  ms_after *after;
} ms_trips;

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

typedef struct ms_guarded_jump {
  const ms_node *label;
  const ms_guard *guard; /* where it jumps; NULL: not known */
} ms_guarded_jump;

/* A plain table that the body only appends to, counts in or marks keys of: see gather.h. */
typedef enum ms_gathering {
  MS_GATHERS_NOTHING,
  MS_GATHERS_LIST,
  MS_GATHERS_COUNTS, /* by whole numbers written out, so that the sums are exact */
  MS_GATHERS_SUMS,
  MS_GATHERS_MARK, /* a set, by one statement */
  MS_GATHERS_MARKS /* by several */
} ms_gathering;

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
  uint32_t exits, breaks;     /* jumps that have not met their label; breaks in the loop */
  bool jumps_lost;            /* there were more */
  const ms_dead *dead;        /* the last place in the loop's text that is never reached */
  const ms_dead *dead_before; /* that of the pass before, which knows all of them */
  ms_inner scope[MS_MAX_INNER];
  uint32_t scope_count;
  uint32_t possible;  /* > 0: what is met may not happen */
  uint32_t functions; /* nested functions around */
  uint32_t loops;     /* inner loops around, within the innermost function */
  uint32_t depth;     /* of the recursion over expressions */
  uint64_t stored;    /* arrays that were stored into tables, or returned by inner functions */
  bool stored_captured, stored_changes; /* as of values: something of that kind was stored */
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

/* Prepares a walk over `loop`; the domain may still lack its collapsed dimensions. -1: memory. */
int ms_walk_begin(ms_walk *walk);

/* Gives a collapsed inner loop's variable its value. */
void ms_walk_set_symbol(ms_walk *walk, const ms_symbol *symbol, const ms_abstract_value *value);

/* Walks a body and fills accesses and findings. -1: out of memory. */
int ms_walk_body(ms_walk *walk, ms_node *body);

/* The value of an expression; reads are recorded. Never fails: what it does not understand is
 * OTHER. */
void ms_walk_value(ms_walk *walk, ms_node *node, ms_abstract_value *value);

/* Assigned locals: `symbol` is given a value; what it holds; what since then was assigned is
 * undone, for another path; what a node assigns is held no more. */
void ms_walk_hold(ms_walk *walk, const ms_symbol *symbol, const ms_abstract_value *value);
bool ms_walk_held(const ms_walk *walk, const ms_symbol *symbol, ms_abstract_value *value);
void ms_walk_part_ways(ms_walk *walk, const ms_change *since);
void ms_walk_forget(ms_walk *walk, ms_node *node);

/* A path through an if ends here; what it assigned is kept with it and undone. Where all have met:
 * what locals then hold; whether some hold what they were given in `node`. */
void ms_walk_end_path(ms_walk *walk, const ms_change *since, ms_branch_path **paths);
bool ms_walk_meet(ms_walk *walk, ms_node *node, const ms_branch_path *paths, bool exact);

/* The variable of a numeric loop with these ends (start, limit, step), each of which may be one
 * thing or another, and the guard inside the loop; false if it is no affine form. *exact becomes
 * false where the guard takes in more. */
bool ms_walk_quantify(ms_walk *walk, const ms_abstract_value *ends, ms_form *variable, bool *exact);

/* Before a numeric loop with these ends, and around its block. Behind it: whether locals hold
 * numbers that may mention what the ends do. */
void ms_walk_count_trips(ms_walk *walk, ms_trips *trips, const ms_abstract_value *ends);
void ms_walk_begin_trips(ms_walk *walk, ms_trips *trips);
bool ms_walk_end_trips(ms_walk *walk, const ms_trips *trips);

/* Parts shared by the files of the walk. */
void ms_walk_statement(ms_walk *walk, ms_node *node);
void ms_walk_block(ms_walk *walk, ms_node *block);
ms_entrance ms_walk_enter(ms_walk *walk);
void ms_walk_if(ms_walk *walk, ms_node *node);
void ms_walk_exit(ms_walk *walk, const ms_node *node);
void ms_walk_label(ms_walk *walk, const ms_node *node);
void ms_walk_close_jumps(ms_walk *walk, const ms_node *block);
bool ms_walk_leaves(ms_node *loop);
void ms_walk_note_dead(ms_walk *walk, const ms_node *node, bool beside);
bool ms_walk_is_dead(const ms_walk *walk, const ms_node *node, bool beside);
void ms_walk_logic(ms_walk *walk, ms_node *node, ms_abstract_value *value);
bool ms_walk_compare(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                     const ms_abstract_value *right, ms_abstract_value *value);
const ms_truth *ms_walk_not(ms_walk *walk, const ms_truth *truth);
void ms_walk_operate(ms_walk *walk, ms_op op, const ms_abstract_value *left,
                     const ms_abstract_value *right, ms_abstract_value *value);
const ms_truth *ms_truth_keep(ms_walk *walk, const ms_truth *truth);
ms_abstract_value ms_walk_either(const ms_walk *walk, const ms_abstract_value *a,
                                 const ms_abstract_value *b);
const ms_truth *ms_abstract_value_truth(const ms_abstract_value *value);
void ms_walk_range(const ms_walk *walk, const ms_form *form, double *low, double *high);
void ms_walk_function(ms_walk *walk, ms_function *function);
void ms_walk_call(ms_walk *walk, ms_node *node, ms_abstract_value *value);
void ms_walk_assign(ms_walk *walk, ms_node *target, const ms_abstract_value *value);
void ms_walk_find_store(ms_walk *walk, bool proven, const ms_abstract_value *into,
                        const ms_node *node);
void ms_walk_find_outer_store(ms_walk *walk, bool proven, const ms_node *node);
void ms_walk_find_impure(ms_walk *walk, const char *words, const ms_node *node);
void ms_walk_find_random(ms_walk *walk, const ms_node *node);
/* A field of a plain value, or of what may be one: the program may have given it such a method. */
void ms_walk_find_barred(ms_walk *walk, const char *name, const ms_node *node);
void ms_walk_find_globals(ms_walk *walk, const char *words, const ms_node *node);
void ms_walk_event(ms_walk *walk, const ms_abstract_value *value, ms_event event,
                   const ms_node *node);
void ms_walk_binding(ms_walk *walk, uint32_t index, ms_abstract_value *value);
ms_abstract_view *ms_walk_new_view(ms_walk *walk, uint32_t binding);
bool ms_walk_field(ms_walk *walk, const ms_abstract_value *object, const char *name,
                   ms_abstract_value *value);
bool ms_walk_element(ms_walk *walk, const ms_abstract_value *object, int64_t number,
                     ms_abstract_value *value);
ms_meaning ms_walk_meaning(const ms_walk *walk, uint32_t capture);
bool ms_walk_inline(ms_walk *walk, uint32_t binding, const ms_node *call, const ms_passed *passed,
                    ms_abstract_value *value);
/* A further value of a call whose first one this is: most often nil, and never known to be it. */
ms_abstract_value ms_walk_beyond(const ms_walk *walk, const ms_abstract_value *first);
ms_function *ms_walk_only_called(const ms_node *function);
void ms_walk_literal(ms_walk *walk, ms_function *function, const ms_passed *passed,
                     ms_abstract_value *value);
void ms_walk_give_literal(ms_walk *walk, const ms_node *node, const ms_abstract_value *value);
void ms_walk_give_parameters(ms_walk *walk, const ms_function *function, const ms_passed *passed);
const ms_node *ms_function_tail(ms_node *body);
void ms_walk_give_result(ms_walk *walk, const ms_node *node, const ms_abstract_value *value);
const ms_node *ms_walk_place(const ms_walk *walk, const ms_node *node);
void ms_walk_store(ms_walk *walk, const ms_abstract_value *value);
/* A table becomes the class of objects that the body makes: what its methods store into them, the
 * iteration keeps. */
void ms_walk_own_objects(ms_walk *walk, ms_abstract_value *class);
/* The value may also be something that was stored. */
void ms_walk_add_stored(const ms_walk *walk, ms_abstract_value *value);
int ms_walk_make_groups(ms_walk *walk);
void ms_walk_record_view(ms_walk *walk, const ms_abstract_view *view, bool write,
                         const ms_node *node);
void ms_walk_record_element(ms_walk *walk, uint32_t binding, const ms_subscript *subscript,
                            uint32_t count, bool write, const ms_node *node);
void ms_walk_record_groups(ms_walk *walk, uint64_t groups, bool write, const ms_node *node);
void ms_walk_record(ms_walk *walk, const ms_abstract_value *value, bool write, const ms_node *node);
void ms_walk_index(ms_walk *walk, const ms_abstract_value *object, ms_node *key, ms_node *whole,
                   ms_abstract_value *value);
bool ms_walk_is_indexed(const ms_walk *walk, const ms_abstract_value *object);
void ms_walk_view(ms_walk *walk, uint32_t binding, ms_abstract_value *value);
/* How many dimensions a view has; those that `range` leaves count as subscripts. */
uint32_t ms_view_left(const ms_walk *walk, const ms_abstract_view *view);
/* Gives dimension `number`, from 0, of a view that lists what is left its subscript. */
void ms_view_subscribe(ms_abstract_view *view, uint32_t number, const ms_abstract_value *value);
/* What narrow, select or transpose gives. */
void ms_view_part(ms_walk *walk, const ms_abstract_view *of, const char *method,
                  const ms_abstract_value *values, uint32_t count, ms_abstract_value *value);
/* The subscripts of all elements of a view that lists what is left; their variables are added to
 * the walk's scope, which the caller takes back. */
void ms_view_elements(ms_walk *walk, const ms_abstract_view *view, ms_subscript *subscript);
void ms_walk_part(ms_walk *walk, const ms_abstract_value *object, const ms_node *node,
                  ms_abstract_value *value);
void ms_walk_join(ms_walk *walk, ms_abstract_value **slot, const ms_abstract_value *value);
void ms_walk_find(ms_walk *walk, ms_reason_kind kind, bool proven, const ms_node *node,
                  const char *fix, const char *message);
uint64_t ms_walk_groups_of(const ms_walk *walk, const ms_abstract_value *value);
bool ms_walk_floor(ms_walk *walk, const ms_form *form, int64_t divisor, ms_form *quotient);
bool ms_walk_whole(ms_walk *walk, const ms_abstract_value *number, ms_abstract_value *value);
void ms_walk_number_range(const ms_walk *walk, const ms_abstract_value *number, double *low,
                          double *high);
ms_abstract_value ms_walk_constant(ms_walk *walk, double number);
bool ms_walk_shift(ms_walk *walk, const char *name, ms_node *node, ms_abstract_value *value);
ms_abstract_value ms_abstract_value_scalar(void);
ms_abstract_value ms_abstract_value_number(const ms_form *form);
/* An affine number, or a quadratic. */
bool ms_abstract_value_is_number(const ms_abstract_value *value);
ms_subscript ms_abstract_value_subscript(const ms_abstract_value *value);
ms_abstract_value ms_abstract_value_other(uint64_t groups, bool captured);

/* The capture that a NAME or INDEX node is the exact path of, or -1. `length` (may be NULL) gets
 * the number of fields of the node's constant path; -1 there when the node is no path. */
int64_t ms_loop_capture_of(const ms_loop *loop, const ms_node *node);

#endif
