/* SPDX-License-Identifier: MIT
 *
 * Relations: see relation.h.
 *
 * The system of a pair falls into components that share no unknown, so the relation is the
 * product of theirs. A component with one unknown is an interval. Any other is split by the sign
 * of one distance after the other; a side that holds a point known already needs no question, the
 * others are one sample each. Whether a component of the distance is fixed takes two more samples,
 * never a minimum or maximum (which cost seconds on subscripts with `%`). */
#include "depend/relation.h"

#include <stdlib.h>
#include <string.h>

#include "depend/integer.h"

typedef struct task {
  ms_solver *solver;
  ms_relation *out;
  uint32_t capacity;
  uint32_t dims[MS_MAX_DIMS]; /* columns of the component's distances */
  uint32_t dim_count;
} task;

static int add_cell(task *work, const ms_cell *cell) {
  ms_relation *out = work->out;
  if (out->count == work->capacity) {
    uint32_t capacity = work->capacity == 0 ? 4 : work->capacity * 2;
    ms_cell *grown = ms_arena_take(ms_solver_arena(work->solver), capacity, sizeof *grown);
    if (grown == NULL) return -1;
    if (out->count > 0) memcpy(grown, out->cell, out->count * sizeof *grown);
    out->cell = grown;
    work->capacity = capacity;
  }
  out->cell[out->count++] = *cell;
  return 0;
}

/* sign * d - least >= 0 on distance column `column`. */
static ms_constraint bound_of(uint32_t column, int64_t sign, int64_t least) {
  ms_constraint row = {0};
  row.at[column] = sign;
  row.constant = -least;
  return row;
}

/* Is there a point beyond the bound? 1, 0, -1. */
static int meets(task *work, ms_system *system, const ms_constraint *row, int64_t *point) {
  uint32_t count = system->inequality_count;
  ms_system_bound(system, row);
  int answer = ms_solver_sample(work->solver, system, point);
  system->inequality_count = count;
  return answer;
}

static int add_leaf(task *work, ms_system *system, const int64_t *point) {
  ms_cell cell = {0};
  int64_t other[MS_MAX_COLUMNS];
  for (uint32_t k = 0; k < work->dim_count; k++) {
    uint32_t column = work->dims[k];
    int64_t value = point[column];
    cell.value[k] = value;
    cell.sign[k] = (int8_t)((value > 0) - (value < 0));
    cell.fixed[k] = true;
    if (value == 0) continue;
    ms_constraint above = bound_of(column, 1, value + 1), below = bound_of(column, -1, 1 - value);
    int more = value == -1 ? 0 : meets(work, system, &above, other);
    if (more == 0) more = value == 1 ? 0 : meets(work, system, &below, other);
    if (more < 0) return -1;
    cell.fixed[k] = more == 0;
  }
  return add_cell(work, &cell);
}

/* Splits the points of `system`, one of which is `point`, from distance `level` on. */
static int split(task *work, ms_system *system, const int64_t *point, uint32_t level) {
  if (level == work->dim_count) return add_leaf(work, system, point);
  uint32_t column = work->dims[level], inequalities = system->inequality_count;
  for (int64_t sign = 1; sign >= -1; sign--) {
    int64_t fresh[MS_MAX_COLUMNS];
    const int64_t *known = point;
    ms_constraint first = bound_of(column, sign == 0 ? 1 : sign, sign == 0 ? 0 : 1);
    ms_constraint second = bound_of(column, -1, 0);
    ms_system_bound(system, &first);
    if (sign == 0) ms_system_bound(system, &second);
    int answer = 1;
    if ((point[column] > 0) - (point[column] < 0) != sign) {
      answer = ms_solver_sample(work->solver, system, fresh);
      known = fresh;
    }
    if (answer == 1) answer = split(work, system, known, level + 1);
    system->inequality_count = inequalities;
    if (answer < 0) return -1;
  }
  return 0;
}

/* The interval of a single distance; false when it is empty. */
static bool interval(const ms_system *system, uint32_t column, int64_t *low, int64_t *high) {
  *low = INT64_MIN / 2;
  *high = INT64_MAX / 2;
  for (uint32_t r = 0; r < system->inequality_count; r++) {
    int64_t factor = system->inequality[r].at[column], rest = system->inequality[r].constant;
    if (factor > 0) {
      int64_t least = -ms_integer_floor_div(rest, factor);
      if (least > *low) *low = least;
    } else if (factor < 0) {
      int64_t most = ms_integer_floor_div(rest, -factor);
      if (most < *high) *high = most;
    }
  }
  for (uint32_t r = 0; r < system->equal_count; r++) {
    int64_t factor = system->equal[r].at[column], rest = system->equal[r].constant;
    if (rest % factor != 0) return false;
    int64_t value = -(rest / factor);
    if (value > *low) *low = value;
    if (value < *high) *high = value;
  }
  return *low <= *high;
}

static int solve_interval(task *work, const ms_system *system) {
  int64_t low, high;
  if (!interval(system, work->dims[0], &low, &high)) return 0;
  ms_cell cell = {0};
  cell.fixed[0] = true;
  if (low <= 0 && high >= 0 && add_cell(work, &cell) != 0) return -1;
  if (high >= 1) {
    cell.sign[0] = 1;
    cell.value[0] = low >= 1 ? low : 1;
    cell.fixed[0] = cell.value[0] == high;
    if (add_cell(work, &cell) != 0) return -1;
  }
  if (low <= -1) {
    cell.sign[0] = -1;
    cell.value[0] = high <= -1 ? high : -1;
    cell.fixed[0] = cell.value[0] == low;
    if (add_cell(work, &cell) != 0) return -1;
  }
  return 0;
}

/* The component as bytes: what is used and all rows, columns packed. Returns the size. */
static size_t key_of(const ms_system *system, const task *work, int64_t *key, size_t room) {
  uint32_t columns[MS_MAX_COLUMNS], count = 0;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    if (system->used[c]) columns[count++] = c;
  }
  uint32_t rows = system->equal_count + system->inequality_count;
  if (4 + (size_t)rows * (count + 1) > room) return 0;
  size_t size = 0;
  key[size++] = work->dim_count;
  key[size++] = count;
  key[size++] = system->equal_count;
  key[size++] = system->inequality_count;
  for (uint32_t r = 0; r < rows; r++) {
    const ms_constraint *row =
        r < system->equal_count ? &system->equal[r] : &system->inequality[r - system->equal_count];
    key[size++] = row->constant;
    for (uint32_t c = 0; c < count; c++) key[size++] = row->at[columns[c]];
  }
  return size * sizeof *key;
}

/* Cells of one component, in its own numbering of distances. */
static int solve_part(ms_solver *solver, ms_system *system, ms_relation **found, uint32_t *dims,
                      uint32_t *dim_count) {
  enum { ROOM = 4096 };
  int64_t key[ROOM], point[MS_MAX_COLUMNS];
  task work = {.solver = solver};
  uint32_t columns = 0;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    if (!system->used[c]) continue;
    columns++;
    if (c < MS_MAX_DIMS) work.dims[work.dim_count++] = c;
  }
  memcpy(dims, work.dims, sizeof work.dims);
  *dim_count = work.dim_count;
  bool simple = columns == 1 && work.dim_count == 1; /* solved faster than found */
  size_t size = simple ? 0 : key_of(system, &work, key, ROOM);
  *found = size > 0 ? ms_solver_recall(solver, key, size) : NULL;
  if (*found != NULL) return 0;
  *found = work.out = ms_arena_take(ms_solver_arena(solver), 1, sizeof(ms_relation));
  if (work.out == NULL) return -1;
  int answer;
  if (simple) {
    answer = solve_interval(&work, system);
  } else {
    answer = ms_solver_sample(solver, system, point);
    if (answer == 1) answer = split(&work, system, point, 0);
  }
  if (answer < 0) return -1;
  if (size > 0) ms_solver_keep(solver, key, size, work.out);
  return 0;
}

typedef struct product {
  uint32_t parts;
  ms_relation *part[MS_MAX_COLUMNS];
  uint32_t dims[MS_MAX_COLUMNS][MS_MAX_DIMS];
  uint32_t dim_count[MS_MAX_COLUMNS];
} product;

static int multiply(task *work, const product *factors, uint32_t level, ms_cell *cell) {
  if (level == factors->parts) return add_cell(work, cell);
  const ms_relation *part = factors->part[level];
  for (uint32_t c = 0; c < part->count; c++) {
    for (uint32_t k = 0; k < factors->dim_count[level]; k++) {
      uint32_t dim = factors->dims[level][k];
      cell->sign[dim] = part->cell[c].sign[k];
      cell->fixed[dim] = part->cell[c].fixed[k];
      cell->value[dim] = part->cell[c].value[k];
    }
    if (multiply(work, factors, level + 1, cell) != 0) return -1;
  }
  return 0;
}

int ms_relation_solve(ms_solver *solver, const ms_domain *domain, const ms_access *a,
                      const ms_access *b, ms_relation *relation) {
  *relation = (ms_relation){0};
  ms_system *systems = ms_solver_room(solver);
  if (systems == NULL) return -1;
  ms_system *whole = &systems[0], *component = &systems[1];
  int result = 0;
  if (ms_system_of_pair(whole, domain, a, b, true)) {
    uint32_t part[MS_MAX_COLUMNS];
    product factors = {.parts = ms_system_parts(whole, part)};
    bool empty = false;
    for (uint32_t p = 0; p < factors.parts && result == 0 && !empty; p++) {
      ms_system_extract(whole, part, p, component);
      result =
          solve_part(solver, component, &factors.part[p], factors.dims[p], &factors.dim_count[p]);
      empty = result == 0 && factors.part[p]->count == 0;
    }
    task work = {.solver = solver, .out = relation};
    ms_cell cell = {0};
    if (result == 0 && !empty) result = multiply(&work, &factors, 0, &cell);
  }
  return result;
}
