/* SPDX-License-Identifier: MIT
 *
 * Own objects: what the body makes of captured classes, setmetatable({...}, C), and which functions
 * are called as methods of what it makes. */
#ifndef MS_DEPEND_OWN_OBJECT_H
#define MS_DEPEND_OWN_OBJECT_H

#include "depend/arguments.h"

/* The body stores a value under a key of a table (NULL: of any), by which an object may get a
 * method of its own. */
void ms_own_object_store(ms_walk *walk, const ms_node *key, const ms_abstract_value *value);

/* setmetatable(...), whose arguments are `all`, gives this value. */
void ms_own_object_make(ms_walk *walk, const ms_node *call, const ms_arguments *all,
                        ms_abstract_value *value);

/* Objects are met whose class is not known. */
void ms_own_object_strange(ms_walk *walk);

/* The method that an object's class has by a name; false where it may be another one. */
bool ms_own_object_method(ms_walk *walk, const ms_abstract_value *object, const char *name,
                          ms_abstract_value *method);

/* Whether something that the body has made, and that has a method by this name, is an array. */
bool ms_own_object_is_array(ms_walk *walk, const ms_abstract_value *object, const char *name);

#endif
