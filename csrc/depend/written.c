/* SPDX-License-Identifier: MIT
 *
 * Written: see written.h. */
#include "depend/written.h"

#include "depend/extent.h"
#include "depend/mapping.h"

/* What is known of the values of a variable or form. */
typedef struct interval {
  bool below, above;   /* it has a least, a greatest value */
  int64_t least, most; /* these */
} interval;

/* Values of all variables of one access. */
typedef struct values {
  interval at[MS_MAX_VARS];
} values;

/* The form's values; `leave_out` is a variable that does not count, MS_MAX_VARS: none. */
static interval interval_of(const values *known, const ms_form *form, uint32_t leave_out) {
  interval sum = {true, true, form->constant, form->constant};
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    int64_t factor = form->at[v], low, high;
    if (factor == 0 || v == leave_out) continue;
    const interval *each = &known->at[v];
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
static void narrow(const values *known, const ms_form *form, uint32_t variable, interval *own) {
  int64_t factor = form->at[variable];
  interval rest = interval_of(known, form, variable);
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

/* The values that the variables of an access have; false when one has none: nothing happens. */
static bool find_values(const ms_domain *domain, const ms_access *access, values *known) {
  *known = (values){0};
  for (uint32_t k = 0; k < domain->dim_count; k++) {
    interval *own = &known->at[k];
    own->below = own->above = true;
    ms_domain_ordinals(domain, k, &own->least, &own->most);
  }
  for (uint32_t k = 0; k < access->inner_count; k++) { /* bounds name earlier ones */
    interval own = {0};
    narrow(known, &access->inner[k].low, MS_MAX_DIMS + k, &own);
    narrow(known, &access->inner[k].high, MS_MAX_DIMS + k, &own);
    known->at[MS_MAX_DIMS + k] = own;
    if (own.below && own.above && own.least > own.most) return false;
  }
  for (uint32_t g = 0; g < access->guard_count; g++) {
    for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
      interval *own = &known->at[v];
      if (access->guard[g].at[v] == 0) continue;
      narrow(known, &access->guard[g], v, own);
      if (own->below && own->above && own->least > own->most) return false;
    }
  }
  return true;
}

/* Whether a variable takes every value of its interval, whatever the others are. */
static bool is_free(const ms_domain *domain, const ms_access *access, uint32_t variable) {
  if (variable < MS_MAX_DIMS) return domain->dim[variable].box;
  const ms_inner *inner = &access->inner[variable - MS_MAX_DIMS];
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (v != variable && (inner->low.at[v] != 0 || inner->high.at[v] != 0)) return false;
  }
  return inner->total;
}

/* Whether a proven access writes each element: every subscript is a free variable of its own, plus
 * or minus something constant, and takes all values of its dimension. */
static bool covers(const ms_domain *domain, const ms_access *access, const values *known,
                   const int64_t *dims) {
  bool used[MS_MAX_VARS] = {false};
  if (access->possible || access->guard_count > 0) return false;
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    const ms_form *form = &access->subscript[s].form;
    if (!access->subscript[s].known) return false;
    interval range = interval_of(known, form, MS_MAX_VARS);
    uint32_t variable = MS_MAX_VARS, count = 0;
    for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
      if (form->at[v] == 0) continue;
      variable = v;
      count++;
    }
    if (!range.below || !range.above || range.least > 1 || range.most < dims[s]) return false;
    if (count == 0) continue; /* a dimension of one element */
    if (count > 1 || used[variable] || !is_free(domain, access, variable)) return false;
    if (form->at[variable] != 1 && form->at[variable] != -1) return false;
    used[variable] = true;
  }
  return true;
}

/* Extends the box by what one access may write. */
static void extend(const ms_access *access, const values *known, const int64_t *dims,
                   uint32_t dim_count, ms_written *written) {
  for (uint32_t d = 0; d < dim_count; d++) {
    int64_t low = 1, high = dims[d];
    if (d < access->subscript_count && access->subscript[d].known) {
      interval range = interval_of(known, &access->subscript[d].form, MS_MAX_VARS);
      if (range.below && range.least > low) low = range.least;
      if (range.above && range.most < high) high = range.most;
    }
    if (low < written->low[d]) written->low[d] = low;
    if (high > written->high[d]) written->high[d] = high;
  }
}

void ms_written_find(const ms_walk *walk, const ms_domain *domain, uint32_t binding,
                     bool (*concerns)(const ms_walk *walk, const ms_access *access,
                                      uint32_t binding),
                     ms_written *written) {
  const ms_binding *array = &walk->bindings[binding];
  const int64_t *dims;
  uint32_t dim_count = ms_mapping_dims(array, &dims);
  for (uint32_t d = 0; d < dim_count; d++) {
    written->low[d] = dims[d] + 1;
    written->high[d] = 0;
  }
  written->whole = false;
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    values known;
    if (!access->write || !concerns(walk, access, binding)) continue;
    if (!find_values(domain, access, &known)) continue;
    extend(access, &known, dims, dim_count, written);
    bool all = walk->space->source == -1 && !array->sparse;
    written->whole = written->whole || (all && covers(domain, access, &known, dims));
  }
}
