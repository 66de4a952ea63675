/* SPDX-License-Identifier: MIT
 *
 * Solver: see solver.h. */
#include "depend/solver.h"

#include <isl/ctx.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "depend/difference.h"

/* A typical plan needs some thousand operations. */
#define DEFAULT_OPERATIONS 2000000UL
/* What isl takes for a question grows with the system that it is about, far beyond its number of
 * operations. So each is charged rows * columns^2, of which a million take some tenths of a second,
 * and all of them together may take about a second. */
#define MOST_WORK 1300000UL
/* Bounds what a plan may keep while it is made. */
#define ARENA_LIMIT ((size_t)64 << 20)
#define BUCKETS     256

typedef struct memory {
  struct memory *next;
  size_t size;
  void *result;
  unsigned char key[];
} memory;

struct ms_solver {
  isl_ctx *ctx; /* NULL until it is needed */
  unsigned long operations;
  unsigned long work; /* what questions may still be charged */
  ms_arena *arena;
  ms_system *room; /* from malloc: the arena would clear all of it */
  memory *bucket[BUCKETS];
};

ms_solver *ms_solver_new(unsigned long operations) {
  ms_solver *solver = calloc(1, sizeof *solver);
  if (solver == NULL) return NULL;
  solver->arena = ms_arena_new(ARENA_LIMIT);
  solver->operations = operations == 0 ? DEFAULT_OPERATIONS : operations;
  solver->work = MOST_WORK;
  if (solver->arena == NULL) ms_solver_destroy(&solver);
  return solver;
}

/* Most plans never need isl's context. */
static bool has_context(ms_solver *solver) {
  if (solver->ctx != NULL) return true;
  solver->ctx = isl_ctx_alloc();
  if (solver->ctx == NULL) return false;
  isl_options_set_on_error(solver->ctx, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(solver->ctx, solver->operations);
  return true;
}

void ms_solver_destroy(ms_solver **solver) {
  if (*solver == NULL) return;
  if ((*solver)->ctx != NULL) isl_ctx_free((*solver)->ctx);
  ms_arena_destroy(&(*solver)->arena);
  free((*solver)->room);
  free(*solver);
  *solver = NULL;
}

ms_system *ms_solver_room(ms_solver *solver) {
  if (solver->room == NULL) solver->room = malloc(2 * sizeof *solver->room);
  return solver->room;
}

ms_arena *ms_solver_arena(ms_solver *solver) {
  return solver->arena;
}

/* Charges a question; false: the quota is spent. */
static bool affords(ms_solver *solver, const ms_system *system, uint32_t columns) {
  unsigned long rows = system->equal_count + system->inequality_count;
  unsigned long work = rows * columns * columns;
  if (work > solver->work) solver->work = 0;
  if (solver->work == 0) return false;
  solver->work -= work;
  return true;
}

/* Columns in the order in which a point is "earliest": t, d, inner variables. */
static uint32_t order_columns(const ms_system *system, uint32_t *order) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) {
    if (system->used[MS_COLUMN_T(k)]) order[count++] = MS_COLUMN_T(k);
  }
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) {
    if (system->used[MS_COLUMN_D(k)]) order[count++] = MS_COLUMN_D(k);
  }
  for (uint32_t c = MS_COLUMN_A(0); c < MS_MAX_COLUMNS; c++) {
    if (system->used[c]) order[count++] = c;
  }
  return count;
}

static isl_mat *matrix_of(isl_ctx *ctx, const ms_constraint *rows, uint32_t count,
                          const uint32_t *order, uint32_t columns) {
  isl_mat *matrix = isl_mat_alloc(ctx, count, columns + 1);
  for (uint32_t r = 0; r < count; r++) {
    matrix = isl_mat_set_element_val(matrix, (int)r, 0, isl_val_int_from_si(ctx, rows[r].constant));
    for (uint32_t c = 0; c < columns; c++) {
      int64_t value = rows[r].at[order[c]];
      matrix = isl_mat_set_element_val(matrix, (int)r, (int)c + 1, isl_val_int_from_si(ctx, value));
    }
  }
  return matrix;
}

static isl_basic_set *set_of(isl_ctx *ctx, const ms_system *system, const uint32_t *order,
                             uint32_t columns) {
  isl_mat *equal = matrix_of(ctx, system->equal, system->equal_count, order, columns);
  isl_mat *rest = matrix_of(ctx, system->inequality, system->inequality_count, order, columns);
  return isl_basic_set_from_constraint_matrices(isl_space_set_alloc(ctx, 0, columns), equal, rest,
                                                isl_dim_cst, isl_dim_param, isl_dim_set,
                                                isl_dim_div);
}

/* Reads a point (taken over); 1, 0 (void) or -1. */
static int read_point(isl_point *point, const uint32_t *order, uint32_t columns, int64_t *values) {
  isl_bool none = isl_point_is_void(point);
  int answer = none == isl_bool_error ? -1 : none == isl_bool_true ? 0 : 1;
  for (uint32_t c = 0; answer == 1 && c < columns; c++) {
    isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, (int)c);
    if (value == NULL || isl_val_is_int(value) != isl_bool_true) answer = -1;
    if (answer == 1) values[order[c]] = isl_val_get_num_si(value);
    isl_val_free(value);
  }
  isl_point_free(point);
  return answer;
}

int ms_solver_sample(ms_solver *solver, const ms_system *system, int64_t *values) {
  int answer = ms_difference_sample(system, values);
  return answer >= 0 ? answer : ms_solver_ask(solver, system, values);
}

int ms_solver_ask(ms_solver *solver, const ms_system *system, int64_t *values) {
  if (!has_context(solver)) return -1;
  uint32_t order[MS_MAX_COLUMNS];
  uint32_t columns = order_columns(system, order);
  if (!affords(solver, system, columns)) return -1;
  memset(values, 0, MS_MAX_COLUMNS * sizeof *values);
  isl_basic_set *set = set_of(solver->ctx, system, order, columns);
  return read_point(isl_basic_set_sample_point(set), order, columns, values);
}

int ms_solver_earliest(ms_solver *solver, const ms_system *system, int64_t *values) {
  if (!has_context(solver)) return -1;
  uint32_t order[MS_MAX_COLUMNS];
  uint32_t columns = order_columns(system, order);
  if (!affords(solver, system, columns)) return -1;
  memset(values, 0, MS_MAX_COLUMNS * sizeof *values);
  isl_set *least = isl_basic_set_lexmin(set_of(solver->ctx, system, order, columns));
  return read_point(isl_set_sample_point(least), order, columns, values);
}

static uint32_t hash_of(const int64_t *key, size_t size) {
  uint64_t hash = MS_HASH_EMPTY;
  for (size_t k = 0; k < size / sizeof *key; k++) hash = ms_hash_word(hash, (uint64_t)key[k]);
  return (uint32_t)(hash ^ hash >> 32) % BUCKETS;
}

void *ms_solver_recall(ms_solver *solver, const int64_t *key, size_t size) {
  for (memory *each = solver->bucket[hash_of(key, size)]; each != NULL; each = each->next) {
    if (each->size == size && memcmp(each->key, key, size) == 0) return each->result;
  }
  return NULL;
}

void ms_solver_keep(ms_solver *solver, const int64_t *key, size_t size, void *result) {
  memory *fresh = ms_arena_take(solver->arena, 1, sizeof *fresh + size);
  if (fresh == NULL) return;
  uint32_t bucket = hash_of(key, size);
  fresh->next = solver->bucket[bucket];
  fresh->size = size;
  fresh->result = result;
  memcpy(fresh->key, key, size);
  solver->bucket[bucket] = fresh;
}
