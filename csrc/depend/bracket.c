/* SPDX-License-Identifier: MIT
 *
 * Brackets: see bracket.h. */
#include "depend/bracket.h"

#include "depend/extent.h"

ms_bracket ms_bracket_of(const ms_brackets *known, const ms_form *form, uint32_t leave_out) {
  ms_bracket sum = {true, true, form->constant, form->constant};
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    int64_t factor = form->at[v], low, high;
    if (factor == 0 || v == leave_out) continue;
    const ms_bracket *each = &known->at[v];
    bool down = factor < 0;
    sum.below = sum.below && (down ? each->above : each->below) &&
                !__builtin_mul_overflow(factor, down ? each->most : each->least, &low) &&
                !__builtin_add_overflow(sum.least, low, &sum.least);
    sum.above = sum.above && (down ? each->below : each->above) &&
                !__builtin_mul_overflow(factor, down ? each->least : each->most, &high) &&
                !__builtin_add_overflow(sum.most, high, &sum.most);
  }
  return sum;
}

static int64_t floor_div(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0);
}

/* Narrows a variable's interval by form >= 0. */
static void narrow(const ms_brackets *known, const ms_form *form, uint32_t variable,
                   ms_bracket *own) {
  int64_t factor = form->at[variable];
  ms_bracket rest = ms_bracket_of(known, form, variable);
  if (factor == 0 || !rest.above || rest.most == INT64_MIN) return;
  if (factor > 0) {
    int64_t least = -floor_div(rest.most, factor); /* factor * v >= -rest */
    if (!own->below || least > own->least) own->least = least;
    own->below = true;
  } else {
    int64_t most = floor_div(rest.most, -factor);
    if (!own->above || most < own->most) own->most = most;
    own->above = true;
  }
}

bool ms_brackets_find(const ms_domain *domain, const ms_access *access, ms_brackets *known) {
  *known = (ms_brackets){0};
  for (uint32_t k = 0; k < domain->dim_count; k++) {
    ms_bracket *own = &known->at[k];
    own->below = own->above = true;
    ms_extent_ordinals(domain, k, &own->least, &own->most);
  }
  for (uint32_t k = 0; k < access->inner_count; k++) { /* bounds name earlier ones */
    ms_bracket own = {0};
    narrow(known, &access->inner[k].low, MS_MAX_DIMS + k, &own);
    narrow(known, &access->inner[k].high, MS_MAX_DIMS + k, &own);
    known->at[MS_MAX_DIMS + k] = own;
    if (own.below && own.above && own.least > own.most) return false;
  }
  for (uint32_t g = 0; g < access->guard_count; g++) {
    for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
      ms_bracket *own = &known->at[v];
      if (access->guard[g].at[v] == 0) continue;
      narrow(known, &access->guard[g], v, own);
      if (own->below && own->above && own->least > own->most) return false;
    }
  }
  return true;
}
