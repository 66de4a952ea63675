/* SPDX-License-Identifier: MIT
 *
 * Skewing: see transform_row.h. */
#include "depend/transform_row.h"

#include <stdlib.h>
#include <string.h>

#include "depend/integer.h"
#include "depend/row_search.h"

static int64_t dot(const int64_t *a, const int64_t *b, uint32_t dims) {
  int64_t sum = 0;
  for (uint32_t k = 0; k < dims; k++) sum += a[k] * b[k];
  return sum;
}

/* The orthogonal complement of all distances. */

typedef struct span {
  int64_t vector[MS_MAX_DIMS][MS_MAX_DIMS]; /* in echelon form */
  uint32_t pivot[MS_MAX_DIMS];
  uint32_t rank;
} span;

/* vector = vector * factor - other * scale, all divided by what they share; false on overflow. */
static bool eliminate(int64_t *vector, const int64_t *other, uint32_t pivot, uint32_t dims) {
  int64_t common = ms_integer_gcd(vector[pivot], other[pivot]);
  int64_t factor = other[pivot] / common, scale = vector[pivot] / common;
  for (uint32_t k = 0; k < dims; k++) {
    int64_t left, right;
    if (__builtin_mul_overflow(vector[k], factor, &left)) return false;
    if (__builtin_mul_overflow(other[k], scale, &right)) return false;
    if (__builtin_sub_overflow(left, right, &vector[k])) return false;
  }
  ms_integer_make_primitive(vector, dims);
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
    ms_integer_make_primitive(rest, dims);
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
  for (uint32_t k = 0; k < dims; k++) common = ms_integer_gcd(common, row[k]);
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
    int64_t common = ms_integer_gcd(rest, own);
    for (uint32_t k = 0; k < dims; k++) {
      if (__builtin_mul_overflow(row[k], own / common, &row[k])) return false;
      if (row[k] > MS_FORM_COEFFICIENT || row[k] < -MS_FORM_COEFFICIENT) return false;
    }
    row[all->pivot[v]] = -rest / common;
  }
  ms_integer_make_primitive(row, dims);
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
    ms_row_search rows = {dims, row, is_orthogonal, &all};
    bool found = ms_row_search_smallest(&rows);
    if (!found && all.rank + 1 == dims) found = complement(&all, row, dims);
    if (!found) return -1;
    int answer = proves(conflicts, proven, row, &all);
    if (answer != 0) return answer;
  }
  return 0;
}
