/* SPDX-License-Identifier: MIT
 *
 * Writing C: subscripts, first evaluated, then checked unless guards make that needless. */
#ifndef MS_KERNEL_NATIVE_C_BOUNDS_CHECK_H
#define MS_KERNEL_NATIVE_C_BOUNDS_CHECK_H

#include "kernel/native/writer.h"

/* A subscript that is evaluated, but not yet known to lie in its dimension. */
typedef struct ms_c_bounds_check {
  const char *text;   /* int64_t, counted from 1, once it is checked */
  const char *wrong;  /* condition under which it is no subscript; NULL: it always is one */
  const char *number; /* double */
  const char *tagged; /* the subscript as an ms_value, if it may be no number; else NULL */
  uint32_t can;       /* of what is tagged */
  const char *extent; /* double: of the part whose subscript it is; NULL: of a dimension */
} ms_c_bounds_check;

/* Evaluates a subscript of a dimension of `extent`; to a temporary if `hold`. */
ms_c_bounds_check ms_c_bounds_check_of(ms_writer *w, const ms_node *node, const char *extent,
                                       bool hold);

/* The same of a part, as long as what it says when it is asked. */
ms_c_bounds_check ms_c_bounds_check_of_part(ms_writer *w, const ms_node *node, const char *extent,
                                            bool hold);

/* Writes the checks of a key that `node` gave, and returns its int64_t text. */
const char *ms_c_bounds_check_write(ms_writer *w, const ms_c_bounds_check *key, const ms_node *node,
                                    uint32_t array, uint32_t dim);

/* A subscript evaluated and checked at once. */
const char *ms_c_bounds_check_subscript(ms_writer *w, const ms_node *node, uint32_t array,
                                        uint32_t dim);

#endif
