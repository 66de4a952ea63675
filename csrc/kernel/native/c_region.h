/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: regions, which have one precision each.
 *
 * A region is the iteration's body, or one inner loop, without the loops inside it; functions that
 * are written in place of their calls belong to the region of the call, recursive ones
 * (c_recursive.h) to none, and take and give doubles. It computes in float if it reads or writes
 * elements of float arrays and none of double or int64 arrays, else in double. Not counted are
 * elements with subscripts that do not change in the region, of arrays that it does not write;
 * captured numbers, the entry's value and what is set outside are converted where they meet a
 * float. If the float of such a number is no fair one (0, subnormal or infinite where the number is
 * not), the region's text in double runs in place of the other; so it does if what is made of such
 * numbers meets a float, where one of them has no fair one, or the result, if it is known in front
 * of the region.
 *
 * In a region of floats an operation is one of floats if one operand is (ms_c_region_joined): what
 * is made of indices, integers and captured numbers alone stays exact until it meets a float, and
 * so do subscripts, the ends of loops and operands of `bit`. What the region carries from one
 * iteration to the next is double, and so are operations with it, but for sums (c_sum.h). */
#ifndef MS_KERNEL_NATIVE_C_REGION_H
#define MS_KERNEL_NATIVE_C_REGION_H

#include "kernel/native/writer.h"

typedef struct ms_region {
  struct ms_region *around; /* NULL: the body's, or none */
  const ms_node *node;      /* the loop; the body's block */
  bool single;              /* it computes in float */
  ms_text fits;             /* conditions on what is set outside, joined with && */
} ms_region;

/* Writes a part of the text. */
typedef void ms_c_write(ms_writer *w, const void *context);

/* Writes the loop, or the body, `node` as a region: up to twice, see above. In strict mode just
 * calls `write`. */
void ms_c_region(ms_writer *w, const ms_node *node, ms_c_write *write, const void *context);

/* Whether what is being written computes in float. */
bool ms_c_region_is_single(const ms_writer *w);

/* The type of a number computed from two: the precision of the result, MS_SINGLE for floats. */
ms_precision ms_c_region_joined(const ms_writer *w, const ms_c_value *a, const ms_c_value *b);

/* How a local of this type, which begins with `value`, is held: a float only where all of its
 * assignments stand in the region that declares it. */
ms_representation_of ms_c_region_local_form(const ms_writer *w, const ms_symbol *symbol,
                                            const ms_kind_of *kind, const ms_c_value *value);

/* ---- numbers from outside of a region ---- */

/* What the present region makes of a captured number; of a local. */
void ms_c_region_captured(ms_writer *w, ms_c_value *value);
void ms_c_region_local(ms_writer *w, const ms_symbol *symbol, ms_c_value *value);

/* The same of a number of a captured list, named `list`; `element`: which, if that is known early,
 * or NULL. Of a number of such lists in one another. */
void ms_c_region_listed(ms_writer *w, const char *list, const char *element, ms_c_value *value);
void ms_c_region_in_lists(ms_writer *w, const char *lists, uint32_t levels, ms_c_value *value);

/* Adds what `value` is made of to what a local or a result is made of that belongs to `region`. */
void ms_c_region_joins(ms_writer *w, const ms_c_outside **all, const ms_c_value *value,
                       const ms_region *region);

/* A text of doubles that are known early; none where it becomes too long. */
ms_c_early ms_c_region_early(const char *text, bool captured);

/* A number becomes a float: it, and all from outside that it is made of, must have fair ones. */
void ms_c_region_takes(ms_writer *w, const ms_c_value *value);

#endif
