/* SPDX-License-Identifier: MIT
 *
 * Written: see written.h. */
#include "depend/written.h"

#include "depend/bracket.h"
#include "depend/mapping.h"

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
static bool covers(const ms_domain *domain, const ms_access *access, const ms_brackets *known,
                   const int64_t *dims, bool rounds) {
  bool used[MS_MAX_VARS] = {rounds}; /* then the first dimension is: each round writes all */
  if (access->possible || access->guard_count > 0) return false;
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    const ms_form *form = &access->subscript[s].form;
    if (!access->subscript[s].known) return false;
    ms_bracket range = ms_bracket_of(known, form, MS_MAX_VARS);
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
static void extend(const ms_access *access, const ms_brackets *known, const int64_t *dims,
                   uint32_t dim_count, ms_written *written) {
  for (uint32_t d = 0; d < dim_count; d++) {
    int64_t low = 1, high = dims[d];
    if (d < access->subscript_count && access->subscript[d].known) {
      ms_bracket range = ms_bracket_of(known, &access->subscript[d].form, MS_MAX_VARS);
      if (range.below && range.least > low) low = range.least;
      if (range.above && range.most < high) high = range.most;
    }
    if (low < written->low[d]) written->low[d] = low;
    if (high > written->high[d]) written->high[d] = high;
  }
}

static bool without_round(const ms_form *form) {
  return form->at[0] == 0;
}

/* Whether an access writes the same elements in each round, surely. */
static bool is_steady(const ms_access *access) {
  bool steady = access->write && !access->possible && access->subscript_count > 0;
  for (uint32_t s = 0; s < access->subscript_count; s++)
    steady = steady && access->subscript[s].known && without_round(&access->subscript[s].form);
  for (uint32_t g = 0; g < access->guard_count; g++)
    steady = steady && without_round(&access->guard[g]);
  for (uint32_t k = 0; k < access->inner_count; k++)
    steady =
        steady && without_round(&access->inner[k].low) && without_round(&access->inner[k].high);
  return steady;
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
  written->steady = walk->space->rounds;
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    ms_brackets known;
    if (!concerns(walk, access, binding)) continue;
    written->steady = written->steady && is_steady(access);
    if (!access->write) continue;
    if (!ms_brackets_find(domain, access, &known)) continue;
    extend(access, &known, dims, dim_count, written);
    bool all = walk->space->source == -1 && !array->sparse;
    written->whole =
        written->whole || (all && covers(domain, access, &known, dims, walk->space->rounds));
  }
}
