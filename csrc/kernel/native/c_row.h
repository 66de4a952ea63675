/* SPDX-License-Identifier: MIT
 *
 * Writing C: methods of rows. */
#ifndef MS_KERNEL_NATIVE_C_ROW_H
#define MS_KERNEL_NATIVE_C_ROW_H

#include "kernel/native/writer.h"

/* The method call `w:dot(h)` as a number. */
ms_c_value ms_c_row_measure(ms_writer *w, const ms_node *node);

/* The extent of dimension `dim` (NULL: the first) of an array or a part of one as a double, once
 * its subscripts are evaluated; NULL where it is not known beforehand. */
const char *ms_c_row_extent(ms_writer *w, const ms_node *object, const ms_node *dim);

/* Appends a statement on rows such as `w:fill(0)`; false if the call is none of these.
 */
bool ms_c_row_statement(ms_writer *w, const ms_node *node);

#endif
