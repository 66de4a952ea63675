/* SPDX-License-Identifier: MIT
 *
 * Writing C: which expressions are whole numbers while the guards hold, and between which
 * bounds. */
#ifndef MS_KERNEL_NATIVE_C_INTEGER_VALUE_H
#define MS_KERNEL_NATIVE_C_INTEGER_VALUE_H

#include "kernel/native/c_integer.h"

/* A node as an integer, seen from scope `scope` (MS_SCOPES: from none), for what it is a part of:
 * the guards that it needs are not added. */
ms_integer_value ms_c_integer_value_at(ms_writer *w, const ms_node *node, uint32_t scope);

/* A node as an integer without guards. */
ms_integer_value ms_c_integer_value_static(ms_writer *w, const ms_node *node);

/* The same, from the outermost scope that allows it; the guards that it needs are added. */
ms_integer_value ms_c_integer_value(ms_writer *w, const ms_node *node);

/* The same of what a local gets: only where its block has it as a subscript may a number from
 * outside have to be whole for it. */
ms_integer_value ms_c_integer_value_kept(ms_writer *w, const ms_node *node,
                                         const ms_symbol *symbol);

/* A node as an integer in 1..extent, which guards see to; false if they cannot: then `r` is the
 * integer, if it is one, without bounds. */
bool ms_c_integer_value_within(ms_writer *w, const ms_node *node, const char *extent,
                               ms_integer_value *r);

/* Whether a node is part of an array by subscripts that are written here. */
bool ms_c_integer_value_is_part(const ms_writer *w, const ms_node *node);

/* Which dimension of which array `#object` or `object:size(dim)` asks for; false if for none. */
bool ms_c_integer_value_extent(ms_writer *w, const ms_node *object, const ms_node *dim,
                               uint32_t *array, uint32_t *at);

#endif
