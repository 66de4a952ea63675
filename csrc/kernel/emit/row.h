/* SPDX-License-Identifier: MIT
 *
 * Row builtins: `w:dot(h)` on rows of dense arrays becomes a direct call of the array room's C
 * function, without view objects. */
#ifndef MS_KERNEL_EMIT_ROW_H
#define MS_KERNEL_EMIT_ROW_H

#include "array/method.h"
#include "kernel/emit/index_path.h"

typedef struct ms_row_call {
  const ms_method *method; /* helpers are <name>_<type>[_<type>] */
  ms_index_path row[2];
  uint32_t rows;
  const ms_node *scalar; /* or NULL */
  const ms_node *node;   /* METHOD */
} ms_row_call;

/* Recognises a row builtin: a METHOD node for those with a value, an EXPRESSION node for those
 * without. All rows must have one length and floating types; the rest keeps the objects. */
bool ms_row_call_of(const ms_emitter *emitter, const ms_node *node, ms_row_call *call);

/* Appends the call, arguments in the user's order:
 * helper(pointer, offset, stride [, x] [, pointer, offset, stride], count). */
void ms_row_call_text(ms_emitter *emitter, const ms_row_call *call);

#endif
