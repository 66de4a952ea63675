/* SPDX-License-Identifier: MIT
 *
 * Hyperplanes: see transform_row.h. A small box is searched first; only when it holds no row is the
 * solver asked. */
#include <stdlib.h>

#include "depend/extent.h"
#include "depend/integer.h"
#include "depend/row_search.h"
#include "depend/transform_row.h"

/* The least of row . d over a pattern is at least 1. */
static bool sweeps_pattern(const ms_distance *pattern, const int64_t *row, uint32_t dims) {
  int64_t least = 0;
  for (uint32_t k = 0; k < dims; k++) {
    const ms_component *component = &pattern->at[k];
    if (component->sign == 'n') {
      least += row[k] * component->value;
    } else if (component->sign == '*'   ? row[k] != 0
               : component->sign == '+' ? row[k] < 0
                                        : row[k] > 0) {
      return false; /* unbounded below */
    } else if (component->sign != '*') {
      least += row[k] < 0 ? -row[k] : row[k];
    }
  }
  return least >= 1;
}

static bool sweeps(const void *context, const int64_t *row, uint32_t dims) {
  const ms_patterns *patterns = context;
  for (uint32_t p = 0; p < patterns->count; p++) {
    if (!sweeps_pattern(&patterns->item[p], row, dims)) return false;
  }
  return true;
}

/* Bounds for the components of a row. On a rectangle, two iterations share a plane of the primitive
 * row (a, b) exactly if |a| is below the second extent and |b| below the first: these bounds lose
 * nothing. Elsewhere they are only large. */
static bool row_bounds(const ms_domain *domain, int64_t *bound) {
  for (uint32_t k = 0; k < domain->dim_count; k++) bound[k] = MS_FORM_COEFFICIENT;
  if (domain->dim_count != 2 || !domain->dim[0].box || !domain->dim[1].box) return false;
  bound[0] = domain->dim[1].extent - 1;
  bound[1] = domain->dim[0].extent - 1;
  return true;
}

/* The solver's answer for any row within bounds: unknowns are the row's components. `along`: a
 * vector that lies in the row's planes, or NULL. */
static int any_sweep(const ms_conflicts *conflicts, const ms_patterns *patterns,
                     const int64_t *bound, const int64_t *along, int64_t *row) {
  uint32_t dims = conflicts->domain->dim_count;
  if (patterns->count + 4 * dims > MS_MAX_INEQUALITY) return -1;
  ms_system *system = calloc(1, sizeof *system);
  int64_t point[MS_MAX_COLUMNS];
  if (system == NULL) return -1;
  for (uint32_t k = 0; k < dims; k++) {
    bool up = false, down = false; /* the row's component may not be negative, positive */
    for (uint32_t p = 0; p < patterns->count; p++) {
      char sign = patterns->item[p].at[k].sign;
      up = up || sign == '+' || sign == '*';
      down = down || sign == '-' || sign == '*';
    }
    ms_constraint low = {.constant = up ? 0 : bound[k]}, high = {.constant = down ? 0 : bound[k]};
    low.at[k] = 1;
    high.at[k] = -1;
    system->used[k] = true;
    ms_system_bound(system, &low);
    ms_system_bound(system, &high);
  }
  for (uint32_t p = 0; p < patterns->count; p++) {
    ms_constraint least = {.constant = -1};
    for (uint32_t k = 0; k < dims; k++) {
      const ms_component *component = &patterns->item[p].at[k];
      least.at[k] = component->sign == 'n'   ? component->value
                    : component->sign == '+' ? 1
                    : component->sign == '-' ? -1
                                             : 0;
    }
    ms_system_bound(system, &least);
  }
  for (uint32_t k = 0; k < dims && along != NULL; k++) system->equal[0].at[k] = along[k];
  if (along != NULL) system->equal_count = 1;
  int found = ms_solver_sample(conflicts->solver, system, point);
  free(system);
  for (uint32_t k = 0; k < dims && found == 1; k++) row[k] = point[k];
  return found;
}

/* Two different iterations lie on one plane of the row. 1, 0, -1. */
static int plane_is_shared(const ms_conflicts *conflicts, const int64_t *row) {
  const ms_access none = {0};
  ms_system *system = malloc(sizeof *system);
  int64_t point[MS_MAX_COLUMNS];
  uint32_t dims = conflicts->domain->dim_count;
  if (system == NULL) return -1;
  int found = 0;
  for (uint32_t first = 0; first < dims && found == 0; first++) {
    if (!ms_system_of_pair(system, conflicts->domain, &none, &none, true)) continue;
    ms_constraint *plane = &system->equal[system->equal_count++];
    *plane = (ms_constraint){0};
    for (uint32_t k = 0; k < dims; k++) plane->at[MS_COLUMN_D(k)] = row[k];
    ms_constraint later = {.constant = -1};
    later.at[MS_COLUMN_D(first)] = 1;
    ms_system_bound(system, &later);
    found = ms_solver_sample(conflicts->solver, system, point);
  }
  free(system);
  return found;
}

/* Vectors between iterations that no pattern admits, while they are gone through one by one: a row
 * has a plane with two iterations only if one of them lies in it. */
typedef struct steps {
  const ms_conflicts *conflicts;
  const ms_patterns *patterns;
  const int64_t *bound;     /* of the row's components */
  int64_t far[MS_MAX_DIMS]; /* how far they go; farther ones are admitted as the farthest are */
  bool known;               /* there are none farther, and all questions were answered */
  uint32_t asked;
  int64_t step[MS_MAX_DIMS];
  int64_t *row;
} steps;

/* More vectors than these are not gone through; of so many the solver is asked. */
#define MOST_STEPS ((int64_t)1 << 14)
#define MOST_ASKED 256U

static bool admits(const ms_distance *pattern, const int64_t *step, uint32_t dims) {
  for (uint32_t k = 0; k < dims; k++) {
    const ms_component *component = &pattern->at[k];
    bool fits = component->sign == '*' || (component->sign == '+' && step[k] > 0) ||
                (component->sign == '-' && step[k] < 0) ||
                (component->sign == 'n' && step[k] == component->value);
    if (!fits) return false;
  }
  return true;
}

/* Whether some iteration of the space has another one a step further on: 1, 0; -1: not known. */
static int is_step(const steps *all) {
  const ms_access none = {0};
  const ms_domain *domain = all->conflicts->domain;
  ms_system *system = malloc(sizeof *system);
  int64_t point[MS_MAX_COLUMNS];
  if (system == NULL) return -1;
  int found = 0;
  if (ms_system_of_pair(system, domain, &none, &none, true)) {
    for (uint32_t k = 0; k < domain->dim_count; k++) {
      ms_constraint low = {.constant = -all->step[k]}, high = {.constant = all->step[k]};
      low.at[MS_COLUMN_D(k)] = 1;
      high.at[MS_COLUMN_D(k)] = -1;
      ms_system_bound(system, &low);
      ms_system_bound(system, &high);
    }
    found = ms_solver_sample(all->conflicts->solver, system, point);
  }
  free(system);
  return found;
}

/* Whether a row sweeps and has the step in its planes. */
static bool sweep_along(steps *all) {
  uint32_t dims = all->conflicts->domain->dim_count;
  for (uint32_t p = 0; p < all->patterns->count; p++) {
    if (admits(&all->patterns->item[p], all->step, dims)) return false;
  }
  bool asks = all->asked < MOST_ASKED;
  int found = asks ? is_step(all) : -1;
  if (asks) all->asked++;
  if (found == 1) found = any_sweep(all->conflicts, all->patterns, all->bound, all->step, all->row);
  if (found < 0) all->known = false;
  return found == 1;
}

/* The same for all steps forwards with these components before k. */
static bool sweep_along_any(steps *all, uint32_t k, bool forwards) {
  if (k == all->conflicts->domain->dim_count) return forwards && sweep_along(all);
  for (int64_t at = forwards ? -all->far[k] : 0; at <= all->far[k]; at++) {
    all->step[k] = at;
    if (sweep_along_any(all, k + 1, forwards || at > 0)) return true;
  }
  return false;
}

/* Limits the steps: to what there is, or (`within`) to as few as may be; false: they are too many.
 */
static bool limit_steps(steps *all, bool within) {
  int64_t count = 1;
  all->known = true;
  for (uint32_t k = 0; k < all->conflicts->domain->dim_count; k++) {
    int64_t beyond = 2, extent = ms_extent_of(all->conflicts->domain, k);
    for (uint32_t p = 0; p < all->patterns->count; p++) {
      int64_t value = ms_integer_absolute(all->patterns->item[p].at[k].value);
      if (value >= beyond) beyond = value + 1;
    }
    all->far[k] = within && extent > beyond ? beyond : extent - 1;
    all->known = all->known && all->far[k] == extent - 1;
    if (__builtin_mul_overflow(count, 2 * all->far[k] + 1, &count) || count > MOST_STEPS)
      return false;
  }
  return true;
}

/* Whether any row sweeps and has a plane with several iterations; 1, 0, -1. */
static int any_shared_sweep(const ms_conflicts *conflicts, const ms_patterns *patterns,
                            const int64_t *bound, int64_t *row) {
  steps all = {.conflicts = conflicts, .patterns = patterns, .bound = bound, .row = row};
  if (!limit_steps(&all, false) && !limit_steps(&all, true)) return -1;
  if (sweep_along_any(&all, 0, false)) return 1;
  return all.known || all.asked == 0 ? 0 : -1;
}

int ms_transform_row_hyperplane(const ms_conflicts *conflicts, const ms_patterns *patterns,
                                int64_t *row) {
  uint32_t dims = conflicts->domain->dim_count;
  if (dims < 2) return 0;
  ms_row_search rows = {dims, row, sweeps, patterns};
  if (ms_row_search_smallest(&rows)) {
    int shared = plane_is_shared(conflicts, row);
    if (shared != 0) return shared;
  }
  int64_t bound[MS_MAX_DIMS];
  bool exact = row_bounds(conflicts->domain, bound);
  int found = any_sweep(conflicts, patterns, bound, NULL, row);
  if (found != 1) return found;
  ms_integer_make_primitive(row, dims);
  int shared = plane_is_shared(conflicts, row);
  if (shared != 0 || exact) return shared;
  found = any_shared_sweep(conflicts, patterns, bound, row);
  if (found == 1) ms_integer_make_primitive(row, dims);
  return found;
}
