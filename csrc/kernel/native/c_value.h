/* SPDX-License-Identifier: MIT
 *
 * Writing C: how values are held, and conversions between the ways. A conversion may
 * append statements first (a temporary, a check). What is returned lives in the emitter's arena;
 * after a refusal (ms_c_refuse) it is any text. */
#ifndef MS_KERNEL_NATIVE_C_VALUE_H
#define MS_KERNEL_NATIVE_C_VALUE_H

#include "kernel/native/writer.h"

/* The value nil. */
ms_c_value ms_c_value_nil(void);

/* The form in which values of a type are held. */
ms_representation_of ms_c_value_representation(const ms_writer *w, const ms_kind_of *kind);

/* The C type of a form. */
const char *ms_c_value_type(ms_representation_of form);

/* What Lua calls what is at a node, and a space: "local 'x' "; "": it has no name for it. */
const char *ms_c_value_called(ms_writer *w, const ms_node *node);

/* The value as a double. What may be no number stops with Lua's words about `node`; what never is
 * one is refused. */
const char *ms_c_value_as_double(ms_writer *w, ms_c_value value, const ms_node *node);

/* The value as a float, as above. */
const char *ms_c_value_as_float(ms_writer *w, ms_c_value value, const ms_node *node);

/* The value in this form: numbers as above, MS_FORM_BOOL its truth. What the form cannot hold is
 * refused. */
const char *ms_c_value_as_form(ms_writer *w, ms_c_value value, ms_representation_of form,
                               const ms_node *node);

/* Whether it is neither nil nor false, as a C condition. */
const char *ms_c_value_as_truth(ms_writer *w, ms_c_value value);

/* `condition ? yes : no` of a condition that is 0 or 1. Of small whole numbers (and truths, as 1
 * and 0) it is computed: compilers make a branch of a choice, which nothing predicts where
 * conditions are of data. */
const char *ms_c_value_choice(ms_writer *w, const char *condition, const char *yes, const char *no);

/* What a stop says where a value must be a number: if it is nil, if it is a boolean. */
typedef struct ms_complaint {
  const char *nil, *boolean;
} ms_complaint;

/* The value as a double; what may be no number stops with these words. */
const char *ms_c_value_as_number(ms_writer *w, ms_c_value value, const ms_node *node,
                                 ms_complaint says);

/* Holds a value in a temporary if it is not a name or a constant already. */
ms_c_value ms_c_value_hold(ms_writer *w, ms_c_value value);

#endif
