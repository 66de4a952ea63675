/* SPDX-License-Identifier: MIT
 *
 * Walk: from a loop body's syntax tree to its accesses and findings.
 *
 * A local assigned once is what it was assigned, a local assigned several times is any of what it
 * was assigned (variable_value.h), but for numbers, which are followed along each path
 * (local_value.h). Where control comes is followed as far as affine conditions say (flow.h,
 * condition.h). Values are abstract (abstract_value.h): evaluate.h forms them, of numbers
 * (arithmetic.h, shift.h), parts of arrays (subscript.h, abstract_view.h) and calls (call.h,
 * inline.h, literal.h); footprint.h takes down what is touched, store.h and impure.h what is
 * refused. The walk repeats until no value changes; the accesses are those of its last pass. All
 * memory comes from one arena. */
#ifndef MS_DEPEND_WALK_H
#define MS_DEPEND_WALK_H

#include "depend/walk_state.h"

/* Prepares a walk over `loop`; the domain may still lack its collapsed dimensions. -1: memory. */
int ms_walk_begin(ms_walk *walk);

/* Walks a body and fills accesses and findings. -1: out of memory. */
int ms_walk_body(ms_walk *walk, ms_node *body);

/* Walks a statement, or all of a block, where control is. */
void ms_walk_statement(ms_walk *walk, ms_node *node);
void ms_walk_block(ms_walk *walk, ms_node *block);

/* Walks an inner loop's block as something that may happen any number of times. */
void ms_walk_maybe(ms_walk *walk, ms_node *block);

typedef void ms_walk_give(ms_walk *, void *, uint32_t, const ms_abstract_value *);

/* Evaluates `count` expressions and hands the value for each of `targets` to `give`. */
void ms_walk_distribute(ms_walk *walk, ms_node **values, uint32_t count, uint32_t targets,
                        ms_walk_give *give, void *context);

/* Walks a function of the text that may be called at any time, with anything. */
void ms_walk_function(ms_walk *walk, ms_function *function);

/* A further value of a call whose first one this is: most often nil, and never known to be it. */
ms_abstract_value ms_walk_beyond(const ms_walk *walk, const ms_abstract_value *first);

#endif
