/* SPDX-License-Identifier: MIT
 *
 * Keys of stores into plain tables, as the words of a refusal tell them apart. No state. */
#ifndef MS_DEPEND_STORE_KEY_H
#define MS_DEPEND_STORE_KEY_H

#include "depend/walk_state.h"

/* Whether a key is a sum of the loop's indices, by which a table is output. */
bool ms_store_key_is_own(const ms_walk *walk, ms_node *key);

/* Whether it is a variable that the body counts in: it is where a list ends. */
bool ms_store_key_is_counter(const ms_walk *walk, const ms_node *key);

#endif
