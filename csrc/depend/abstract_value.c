/* SPDX-License-Identifier: MIT
 *
 * Abstract values: how they are made, and what they say. See abstract_value.h. */
#include "depend/abstract_value.h"

#include <string.h>

ms_abstract_value ms_abstract_value_scalar(void) {
  return (ms_abstract_value){.kind = MS_ABSTRACT_VALUE_SCALAR};
}

ms_abstract_value ms_abstract_value_number(const ms_form *form) {
  ms_abstract_value value = {.kind = MS_ABSTRACT_VALUE_NUMBER};
  value.form = *form;
  return value;
}

ms_abstract_value ms_abstract_value_other(uint64_t groups, bool captured) {
  return (ms_abstract_value){
      .kind = MS_ABSTRACT_VALUE_OTHER, .groups = groups, .captured = captured};
}

bool ms_abstract_value_is_flat(const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_OTHER && value->plain_data && value->levels == 2 &&
         value->objects == 0;
}

bool ms_abstract_value_is_number(const ms_abstract_value *value) {
  return value->kind == MS_ABSTRACT_VALUE_NUMBER || value->quadratic != NULL;
}

ms_subscript ms_abstract_value_subscript(const ms_abstract_value *value) {
  ms_subscript subscript = {.known = value->kind == MS_ABSTRACT_VALUE_NUMBER};
  const ms_quadratic *quadratic = value->quadratic;
  if (subscript.known) subscript.form = value->form;
  if (quadratic != NULL && quadratic->square != 0 && ms_quadratic_is_whole(quadratic))
    subscript.quadratic = quadratic;
  return subscript;
}

const ms_truth *ms_abstract_value_truth(const ms_abstract_value *value) {
  if (value->kind == MS_ABSTRACT_VALUE_NUMBER || value->kind == MS_ABSTRACT_VALUE_VIEW)
    return &ms_truth_true;
  return value->truth != NULL ? value->truth : &ms_truth_unknown;
}

bool ms_abstract_value_is_same(const ms_abstract_value *a, const ms_abstract_value *b) {
  if (a->kind != b->kind || a->pieces != b->pieces || a->truth != b->truth) return false;
  switch (a->kind) {
    case MS_ABSTRACT_VALUE_NUMBER:
      return memcmp(&a->form, &b->form, sizeof a->form) == 0;
    case MS_ABSTRACT_VALUE_SCALAR:
      return a->quadratic == b->quadratic;
    case MS_ABSTRACT_VALUE_VIEW:
      return a->view == b->view;
    default: /* as far as it is one thing */
      return (a->exact || a->callable) && a->exact == b->exact && a->callable == b->callable &&
             a->binding == b->binding && a->list == b->list;
  }
}
