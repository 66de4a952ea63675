/* SPDX-License-Identifier: MIT
 *
 * Walk, calls of captured functions whose text is had: their bodies are walked. See walk.h. */
#ifndef MS_DEPEND_INLINE_H
#define MS_DEPEND_INLINE_H

#include "depend/call.h"

/* What a capture of the function that is walked, or of the loop, means. */
ms_meaning ms_inline_meaning(const ms_walk *walk, uint32_t capture);

/* Walks the function of a binding for a call; false if that cannot be done. */
bool ms_walk_inline(ms_walk *walk, uint32_t binding, const ms_node *call, const ms_passed *passed,
                    ms_abstract_value *value);

/* Gives a function's parameters what a call passes. */
void ms_inline_parameters(ms_walk *walk, const ms_function *function, const ms_passed *passed);

/* The return of one value with which a body ends and that is its only one; or NULL. */
const ms_node *ms_inline_tail(ms_node *body);

/* A return of the function that is walked gives this value. */
void ms_inline_result(ms_walk *walk, const ms_node *node, const ms_abstract_value *value);

/* Where a node counts as standing: the call in the loop's text that led to it. */
const ms_node *ms_inline_place(const ms_walk *walk, const ms_node *node);

#endif
