/* SPDX-License-Identifier: MIT
 *
 * Writing C: methods of rows. */
#ifndef MS_KERNEL_NATIVE_C_ROW_H
#define MS_KERNEL_NATIVE_C_ROW_H

#include "kernel/native/writer.h"

#define MS_C_ROW_UNKNOWN (-1)

/* A row on its way into a call; or an array of rows, which is gone through row by row. */
typedef struct ms_c_row {
  const char *pointer, *stride;
  const char *type;
  const char *extent;    /* how long it is, as C text, and how long now */
  int64_t length;        /* UNKNOWN: of a part */
  uint32_t array, given; /* of an array of rows: its dimensions are those from `given` on */
  uint32_t outer;        /* and so many are there before that of a row */
} ms_c_row;

/* Whether something may be a row, or an array of rows. */
bool ms_c_row_is(const ms_kind_of *kind);

/* Takes a row, or, where `several`, an array of rows. False after a refusal. */
bool ms_c_row_find(ms_writer *w, const ms_node *node, bool several, ms_c_row *row);

/* A row as two arguments. */
const char *ms_c_row_pair(ms_writer *w, const ms_c_row *row);

/* Whether two rows are as long as each other: those that are now are so whenever this text runs;
 * parts are asked then, in the words of lua/meissa/array/arith.lua. False after a refusal. */
bool ms_c_row_is_same_length(ms_writer *w, const ms_node *node, const ms_c_row *a,
                             const ms_c_row *b);

/* The method call `w:dot(h)` as a number. */
ms_c_value ms_c_row_measure(ms_writer *w, const ms_node *node);

/* The extent of dimension `dim` (NULL: the first) of an array or a part of one as a double, once
 * its subscripts are evaluated; NULL where it is not known beforehand. */
const char *ms_c_row_extent(ms_writer *w, const ms_node *object, const ms_node *dim);

/* Appends a statement on rows, or arrays of rows, such as `w:fill(0)`; false if the call is none of
 * these. */
bool ms_c_row_statement(ms_writer *w, const ms_node *node);

#endif
