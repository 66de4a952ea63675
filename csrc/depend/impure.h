/* SPDX-License-Identifier: MIT
 *
 * Walk, findings of what a worker cannot do as the program would. See walk.h. */
#ifndef MS_DEPEND_IMPURE_H
#define MS_DEPEND_IMPURE_H

#include "depend/walk_state.h"

/* What is called or indexed may use files or foreign code, in these words; NULL: it does not. */
void ms_impure_find(ms_walk *walk, const char *words, const ms_node *node);

/* Random numbers are drawn. */
void ms_impure_find_random(ms_walk *walk, const ms_node *node);

/* A field of a plain value, or of what may be one: the program may have given it such a method. */
void ms_impure_find_barred(ms_walk *walk, const char *name, const ms_node *node);

/* Variables are looked up by computed names, in these words. */
void ms_impure_find_globals(ms_walk *walk, const char *words, const ms_node *node);

#endif
