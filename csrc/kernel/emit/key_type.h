/* SPDX-License-Identifier: MIT
 *
 * Types of keys: whether what stands in A[...] may be a table, which is a range or several
 * subscripts. */
#ifndef MS_KERNEL_EMIT_KEY_TYPE_H
#define MS_KERNEL_EMIT_KEY_TYPE_H

#include "kernel/emit/emitter.h"

/* Finds what the body's locals may hold. Fills emitter->holds. -1 when memory is out. */
int ms_key_types_find(ms_emitter *emitter);

/* Whether the expression's value may be a table. */
bool ms_key_type_may_be_table(const ms_emitter *emitter, const ms_node *node);

/* Whether an expression that does not fail gives a number. */
bool ms_key_type_is_number(const ms_emitter *emitter, const ms_node *node);

#endif
