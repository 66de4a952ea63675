/* SPDX-License-Identifier: MIT
 *
 * Writing C: tables of the body, `local t = {0, 0, 0}`. */
#ifndef MS_KERNEL_NATIVE_C_TABLE_H
#define MS_KERNEL_NATIVE_C_TABLE_H

#include "kernel/native/writer.h"

/* Most fields of a table of the body. */
#define MS_NATIVE_TABLE_FIELDS 64

/* Where a table takes a value: C texts. */
typedef struct ms_c_slot {
  const char *table;
  const char *key; /* integer in 1..MS_NATIVE_TABLE_ROOM; else NULL and */
  const char *any; /* ms_value */
} ms_c_slot;

/* Declares what a function's tables need. */
void ms_c_tables_begin(ms_writer *w);

/* Appends, at the function's end, what gives that back. */
void ms_c_tables_end(ms_writer *w);

/* A new table, `{...}`, by its name. */
ms_c_value ms_c_table(ms_writer *w, const ms_node *node);

/* #t; false when the table may have gaps, or it is none. */
bool ms_c_table_length(ms_writer *w, const ms_node *table, ms_c_value *length);

/* Reads t[k]. */
ms_c_value ms_c_table_element(ms_writer *w, const ms_node *node);

/* Evaluates the target t[k] at `place`. */
void ms_c_table_place(ms_writer *w, const ms_node *place, ms_c_slot *slot);

/* Stores the value of `from` into the target that `place` gave. */
void ms_c_table_store(ms_writer *w, const ms_c_slot *slot, ms_c_value value, const ms_node *from,
                      const ms_node *place);

#endif
