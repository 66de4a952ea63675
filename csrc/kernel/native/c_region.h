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
 * not), the region's text in double runs in place of the other.
 *
 * In a region of floats an operation is one of floats if one operand is (ms_c_joined): what is made
 * of indices, integers and captured numbers alone stays exact until it meets a float, and so do
 * subscripts, the ends of loops and operands of `bit`. What the region carries from one iteration
 * to the next is double, and so are operations with it, but for sums (c_sum.h). */
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
bool ms_c_is_single(const ms_writer *w);

/* The type of a number computed from two: the precision of the result, MS_SINGLE for floats. */
ms_precision ms_c_joined(const ms_writer *w, const ms_c_value *a, const ms_c_value *b);

/* Whether the present region carries a variable from one iteration to the next. */
bool ms_c_is_carried(const ms_writer *w, const ms_symbol *symbol);

/* How a local of this type, which begins with `value`, is held: a float only where all of its
 * assignments stand in the region that declares it. */
ms_representation_of ms_c_local_form(const ms_writer *w, const ms_symbol *symbol,
                                     const ms_kind_of *kind, const ms_c_value *value);

/* A number that was set outside of the present region becomes a float in it. */
void ms_c_region_takes(ms_writer *w, const ms_c_value *value);

#endif
