/* SPDX-License-Identifier: MIT
 *
 * Truth: expressions of a body whose values are never nil or false. */
#ifndef MS_DEPEND_TRUTHY_H
#define MS_DEPEND_TRUTHY_H

#include "depend/extreme.h"

/* Whether an expression gives a value that is neither nil nor false, or an error, whatever the
 * iteration: numbers, elements and rows of arrays, strings, tables. */
bool ms_node_is_truthy(const ms_tally *all, const ms_node *node);

#endif
