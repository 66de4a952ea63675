/* SPDX-License-Identifier: MIT
 *
 * Keys: whether what stands in A[...] may be a table, which is a range or several subscripts. */
#ifndef MS_KERNEL_EMIT_KEY_H
#define MS_KERNEL_EMIT_KEY_H

#include "kernel/emit/emitter.h"

/* Finds what the body's locals may hold. Fills emitter->holds. -1 when memory is out. */
int ms_keys_find(ms_emitter *emitter);

/* Whether the expression's value may be a table. */
bool ms_key_may_be_table(const ms_emitter *emitter, const ms_node *node);

/* Whether an expression that does not fail gives a number. */
bool ms_key_is_number(const ms_emitter *emitter, const ms_node *node);

#endif
