/* SPDX-License-Identifier: MIT
 *
 * Walk, arguments: what a call is given, evaluated once and summed up, and what the call may do to
 * it: read it, write it, call it, or store it where others find it. */
#ifndef MS_DEPEND_ARGUMENTS_H
#define MS_DEPEND_ARGUMENTS_H

#include "depend/walk_state.h"

/* What is known of all arguments of a call together. */
typedef struct ms_arguments {
  uint64_t groups; /* arrays that they are or hold, and that functions among them reach */
  bool captured;
  bool simple; /* numbers and strings only */
  bool known;  /* numbers, strings, tables of these, and views of arrays only */
  bool changes;
  const char *impure;   /* of the first that has such words */
  uint32_t metamethods; /* events for which they may have functions */
  uint32_t count;
  ms_abstract_value *values;
} ms_arguments;

/* What a call does to the values of its arguments. */
typedef enum ms_use {
  MS_USE_NOTHING,
  MS_USE_READ,
  MS_USE_WRITE,   /* reads and writes */
  MS_USE_BY_KIND, /* reads; writes too unless all are known */
} ms_use;

/* Evaluates the arguments of a call, from the arena; the object of a method call, if there is one,
 * is the first. */
ms_arguments ms_arguments_evaluate(ms_walk *walk, ms_node *node, const ms_abstract_value *object);

/* Forms anew what the values are together. */
void ms_arguments_add_up(const ms_walk *walk, ms_arguments *all);

/* Records what a call does to its arguments. */
void ms_arguments_touch(ms_walk *walk, const ms_arguments *all, ms_use how, const ms_node *node);

/* Evaluates the arguments of a call, and records what it does to them. */
ms_arguments ms_arguments_walk(ms_walk *walk, ms_node *node, ms_use how);

/* Whether a method of an object that the body has made may store into what is outside of the loop:
 * an argument, or what the object was given before. */
bool ms_arguments_give_outer(const ms_walk *walk, const ms_arguments *all);

/* Finds what functions change that a builtin is given: it calls them, with what else it is given.
 * Those that are known by a name are found when they are passed. */
void ms_arguments_call_back(ms_walk *walk, const ms_arguments *all, const ms_node *node);

/* Finds what the function or object that is called changes outside of the loop. */
void ms_arguments_find_changes(ms_walk *walk, const ms_abstract_value *called, const ms_node *node);

#endif
