/* SPDX-License-Identifier: MIT
 *
 * Rows of transforms: see transform_row.h. Both searches go by growing sums of absolutes over a
 * small box first, since that is where rows of real loops are; only when the box holds none is the
 * solver asked. */
#include "depend/transform_row.h"

#include <stdlib.h>
#include <string.h>

/* Largest sum of absolutes that is tried one by one, by number of dimensions. */
static const int64_t most[MS_MAX_DIMS + 1] = {0, 0, 40, 16, 8, 6, 5, 4, 4};

typedef struct search {
  uint32_t dims;
  int64_t *row;
  bool (*good)(const void *context, const int64_t *row, uint32_t dims);
  const void *context;
} search;

/* Tries the rows whose components from `at` on have absolutes summing to `left`. */
static bool try_rows(search *rows, uint32_t at, int64_t left) {
  if (at + 1 == rows->dims) {
    rows->row[at] = left;
    if (rows->good(rows->context, rows->row, rows->dims)) return true;
    rows->row[at] = -left;
    return left != 0 && rows->good(rows->context, rows->row, rows->dims);
  }
  for (int64_t size = left; size >= 0; size--) {
    rows->row[at] = size;
    if (try_rows(rows, at + 1, left - size)) return true;
    rows->row[at] = -size;
    if (size != 0 && try_rows(rows, at + 1, left - size)) return true;
  }
  return false;
}

static bool smallest_row(search *rows) {
  for (int64_t sum = 1; sum <= most[rows->dims]; sum++) {
    if (try_rows(rows, 0, sum)) return true;
  }
  return false;
}

static int64_t dot(const int64_t *a, const int64_t *b, uint32_t dims) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < dims; k++) sum += a[k] * b[k];
  return sum;
}

/* ---- skew: the orthogonal complement of all distances ---- */

typedef struct span {
  int64_t vector[MS_MAX_DIMS][MS_MAX_DIMS]; /* in echelon form */
  uint32_t pivot[MS_MAX_DIMS];
  uint32_t rank;
} span;

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

static void make_primitive(int64_t *vector, uint32_t dims) {
  int64_t common = 0;
  for (uint32_t k = 0; k < dims; k++) common = gcd(common, vector[k]);
  for (uint32_t k = 0; k < dims && common > 1; k++) vector[k] /= common;
}

/* vector = vector * factor - other * scale, all divided by what they share; false on overflow. */
static bool eliminate(int64_t *vector, const int64_t *other, uint32_t pivot, uint32_t dims) {
  int64_t common = gcd(vector[pivot], other[pivot]);
  int64_t factor = other[pivot] / common, scale = vector[pivot] / common;
  for (uint32_t k = 0; k < dims; k++) {
    int64_t left, right;
    if (__builtin_mul_overflow(vector[k], factor, &left)) return false;
    if (__builtin_mul_overflow(other[k], scale, &right)) return false;
    if (__builtin_sub_overflow(left, right, &vector[k])) return false;
  }
  make_primitive(vector, dims);
  return true;
}

/* Adds a vector: 1 the span grew, 0 it was inside, -1 the numbers are too large. */
static int span_add(span *all, const int64_t *vector, uint32_t dims) {
  int64_t rest[MS_MAX_DIMS] = {0};
  for (uint32_t k = 0; k < dims; k++) rest[k] = vector[k];
  for (uint32_t v = 0; v < all->rank; v++) {
    if (rest[all->pivot[v]] == 0) continue;
    if (!eliminate(rest, all->vector[v], all->pivot[v], dims)) return -1;
  }
  for (uint32_t k = 0; k < dims; k++) {
    if (rest[k] == 0) continue;
    make_primitive(rest, dims);
    memcpy(all->vector[all->rank], rest, sizeof rest);
    all->pivot[all->rank++] = k;
    return 1;
  }
  return 0;
}

/* A primitive row orthogonal to the span with its first non-zero component positive. */
static bool is_orthogonal(const void *context, const int64_t *row, uint32_t dims) {
  const span *all = context;
  uint32_t first = 0;
  int64_t common = 0;
  while (first < dims && row[first] == 0) first++;
  if (first == dims || row[first] < 0) return false;
  for (uint32_t k = 0; k < dims; k++) common = gcd(common, row[k]);
  for (uint32_t v = 0; v < all->rank; v++) {
    if (dot(all->vector[v], row, dims) != 0) return false;
  }
  return common == 1;
}

/* The one direction orthogonal to a span of all but one dimension, by solving for it: set the free
 * component, substitute backwards over rationals. False when the numbers are too large. */
static bool complement(const span *all, int64_t *row, uint32_t dims) {
  bool is_pivot[MS_MAX_DIMS] = {false};
  for (uint32_t v = 0; v < all->rank; v++) is_pivot[all->pivot[v]] = true;
  for (uint32_t k = 0; k < dims; k++) row[k] = is_pivot[k] ? 0 : 1;
  for (uint32_t v = all->rank; v-- > 0;) {
    const int64_t *vector = all->vector[v];
    int64_t rest = dot(vector, row, dims), own = vector[all->pivot[v]];
    int64_t common = gcd(rest, own);
    for (uint32_t k = 0; k < dims; k++) {
      if (__builtin_mul_overflow(row[k], own / common, &row[k])) return false;
      if (row[k] > MS_FORM_COEFFICIENT || row[k] < -MS_FORM_COEFFICIENT) return false;
    }
    row[all->pivot[v]] = -rest / common;
  }
  make_primitive(row, dims);
  uint32_t first = 0;
  while (first < dims && row[first] == 0) first++;
  for (uint32_t k = 0; k < dims && row[first] < 0; k++) {
    if (k != first) row[k] = -row[k];
  }
  if (first < dims && row[first] < 0) row[first] = -row[first];
  return is_orthogonal(all, row, dims);
}

/* Looks for a distance of the pair with sign * (row . d) >= 1 and adds it to the span. */
static int widen(const ms_conflicts *conflicts, const ms_pair *pair, const int64_t *row,
                 int64_t sign, span *all) {
  ms_system *system = malloc(sizeof *system);
  int64_t point[MS_MAX_COLUMNS];
  if (system == NULL) return -1;
  int found = 0;
  if (ms_system_of_pair(system, conflicts->domain, pair->a, pair->b, true)) {
    ms_constraint bound = {.constant = -1};
    for (uint32_t k = 0; k < conflicts->domain->dim_count; k++)
      bound.at[MS_COLUMN_D(k)] = sign * row[k];
    ms_system_bound(system, &bound);
    found = ms_solver_sample(conflicts->solver, system, point);
  }
  free(system);
  return found == 1 ? span_add(all, point, conflicts->domain->dim_count) : found;
}

/* Is the row orthogonal to all exact distances? Otherwise the span has grown. 1, 0, -1. */
static int proves(const ms_conflicts *conflicts, bool proven, const int64_t *row, span *all) {
  for (uint32_t p = 0; p < conflicts->pair_count; p++) {
    if (proven && !conflicts->pair[p].proven) continue;
    for (int64_t sign = 1; sign >= -1; sign -= 2) {
      int grown = widen(conflicts, &conflicts->pair[p], row, sign, all);
      if (grown != 0) return grown < 0 ? -1 : 0;
    }
  }
  return 1;
}

int ms_transform_row_skew(const ms_conflicts *conflicts, bool proven, int64_t *row) {
  uint32_t dims = conflicts->domain->dim_count;
  const ms_distances *cells = proven ? conflicts->proven : conflicts->all;
  span all = {0};
  for (uint32_t s = 0; s < cells->slots; s++) {
    if (!cells->slot[s].present) continue;
    if (span_add(&all, cells->slot[s].cell.value, dims) < 0) return -1;
  }
  while (all.rank < dims) {
    search rows = {dims, row, is_orthogonal, &all};
    bool found = smallest_row(&rows);
    if (!found && all.rank + 1 == dims) found = complement(&all, row, dims);
    if (!found) return -1;
    int answer = proves(conflicts, proven, row, &all);
    if (answer != 0) return answer;
  }
  return 0;
}

/* ---- hyperplane ---- */

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

/* The solver's answer for any row within bounds: unknowns are the row's components. */
static int any_sweep(const ms_conflicts *conflicts, const ms_patterns *patterns,
                     const int64_t *bound, int64_t *row) {
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

int ms_transform_row_hyperplane(const ms_conflicts *conflicts, const ms_patterns *patterns,
                                int64_t *row) {
  uint32_t dims = conflicts->domain->dim_count;
  if (dims < 2) return 0;
  search rows = {dims, row, sweeps, patterns};
  if (smallest_row(&rows)) {
    int shared = plane_is_shared(conflicts, row);
    if (shared != 0) return shared;
  }
  int64_t bound[MS_MAX_DIMS];
  bool exact = row_bounds(conflicts->domain, bound);
  int found = any_sweep(conflicts, patterns, bound, row);
  if (found != 1) return found;
  make_primitive(row, dims);
  int shared = plane_is_shared(conflicts, row);
  return shared == 0 && !exact ? -1 : shared;
}
