/* SPDX-License-Identifier: MIT
 *
 * Rows against plain loops: sums against the order that reduce.h defines, one addition at a time;
 * the others against loops over copies. Random strides, types and overlaps. */
#include "array/rowwise.h"

#include <string.h>

#include "array/arith.h"
#include "array/sum_by_definition.h"
#include "base/philox.h"
#include "base/test.h"

#define ROOM 40000

static uint64_t draws;

static uint64_t draw(uint64_t below) {
  ms_philox block = ms_philox_at(20, draws++, 0);
  return ms_philox_half(&block, 0) % below;
}

/* Mostly ordinary numbers, sometimes those on which an order or a rounding would show. */
static double draw_number(void) {
  static const double special[] = {0.0, -0.0, 1e30, -1e30, 1e-40, 3.4e38, 0x1p-149};
  if (draw(20) == 0) return special[draw(sizeof special / sizeof *special)];
  return ((double)draw(1u << 30) - 0x1p29) * 0x1p-27;
}

/* A row in memory of its own, as both types. */
typedef struct row {
  int type;
  int64_t stride;
  float *floats;
  double *doubles;
} row;

static double get(const row *r, int64_t k) {
  return r->type == MS_FLOAT ? (double)r->floats[k * r->stride] : r->doubles[k * r->stride];
}

static void set(const row *r, int64_t k, double value) {
  if (r->type == MS_FLOAT) {
    r->floats[k * r->stride] = (float)value;
  } else {
    r->doubles[k * r->stride] = value;
  }
}

static void *memory(const row *r) {
  return r->type == MS_FLOAT ? (void *)r->floats : (void *)r->doubles;
}

static row draw_row(float *floats, double *doubles) {
  row r = {.type = (int)draw(2), .stride = draw(2) ? 1 : 1 + (int64_t)draw(4)};
  r.floats = floats;
  r.doubles = doubles;
  for (int64_t k = 0; k < ROOM; k++) {
    if (r.type == MS_FLOAT) {
      floats[k] = (float)draw_number();
    } else {
      doubles[k] = draw_number();
    }
  }
  return r;
}

/* The definition; `y` is NULL for a sum. */
static double sum_of(const row *x, const row *y, int64_t count) {
  static double terms[ROOM];
  bool in_float = x->type == MS_FLOAT && (y == NULL || y->type == MS_FLOAT);
  for (int64_t k = 0; k < count; k++) {
    terms[k] = get(x, k);
    if (y != NULL) terms[k] *= get(y, k);
    if (in_float) terms[k] = (double)(float)terms[k];
  }
  return sum_by_definition(terms, count, in_float ? 16 : 8, in_float);
}

static bool same(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

static void test_sums(void) {
  static float x_floats[ROOM], y_floats[ROOM];
  static double x_doubles[ROOM], y_doubles[ROOM];
  for (int run = 0; run < 300; run++) {
    ms_error err = {0};
    row x = draw_row(x_floats, x_doubles), y = draw_row(y_floats, y_doubles);
    int64_t count = (int64_t)draw(run % 10 == 0 ? 9000 : 70);
    double dot =
        ms_reduce_dot_row(x.type, memory(&x), x.stride, y.type, memory(&y), y.stride, count, &err);
    CHECK(same(dot, sum_of(&x, &y, count)));
    double sum = x.type == MS_FLOAT ? ms_row_sum_float(x.floats, x.stride, count)
                                    : ms_row_sum_double(x.doubles, x.stride, count);
    CHECK(same(sum, sum_of(&x, NULL, count)));
  }
}

static double by_definition(int arith, double y, double x, double a) {
  switch (arith) {
    case MS_ARITH_FILL:
      return a;
    case MS_ARITH_COPY:
      return x;
    case MS_ARITH_SCAL:
      return a * y;
    case MS_ARITH_AXPY:
      return y + a * x;
    default:
      return y * x;
  }
}

/* Applies an operation to a row and compares it with a loop over copies. */
static void check_apply(int arith, const row *y, const row *x, int64_t count, double a) {
  static float want_floats[ROOM];
  static double want_doubles[ROOM], values[ROOM];
  ms_error err = {0};
  bool alone = arith == MS_ARITH_FILL || arith == MS_ARITH_SCAL;
  row want = *y;
  want.floats = want_floats;
  want.doubles = want_doubles;
  for (int64_t k = 0; k < count; k++)
    values[k] = by_definition(arith, get(y, k), alone ? 0 : get(x, k), a);
  for (int64_t k = 0; k < count; k++) set(&want, k, values[k]);
  int failed = ms_arith_row(arith, y->type, memory(y), y->stride, x->type, alone ? NULL : memory(x),
                            x->stride, count, a, &err);
  CHECK(failed == 0);
  bool right = true;
  for (int64_t k = 0; k < count; k++) right = right && same(get(y, k), get(&want, k));
  CHECK(right);
}

static const int ariths[] = {MS_ARITH_FILL, MS_ARITH_COPY, MS_ARITH_SCAL, MS_ARITH_AXPY,
                             MS_ARITH_CMUL};

static void test_apart(void) {
  static float x_floats[ROOM], y_floats[ROOM];
  static double x_doubles[ROOM], y_doubles[ROOM];
  for (int run = 0; run < 400; run++) {
    row x = draw_row(x_floats, x_doubles), y = draw_row(y_floats, y_doubles);
    check_apply(ariths[run % 5], &y, &x, (int64_t)draw(100), draw_number());
  }
}

/* Two rows of one array, of any strides and distance. */
static void test_overlaps(void) {
  static float floats[ROOM];
  static double doubles[ROOM];
  for (int run = 0; run < 4000; run++) {
    row x = {.type = (int)draw(2), .stride = 1 + (int64_t)draw(draw(2) ? 1 : 4)};
    row y = {.type = x.type, .stride = 1 + (int64_t)draw(draw(2) ? 1 : 4)};
    for (int64_t k = 0; k < 400; k++) {
      floats[k] = (float)draw_number();
      doubles[k] = draw_number();
    }
    uint64_t x_at = draw(60), y_at = draw(60);
    x.floats = floats + x_at;
    x.doubles = doubles + x_at;
    y.floats = floats + y_at;
    y.doubles = doubles + y_at;
    check_apply(ariths[run % 5], &y, &x, (int64_t)draw(70), draw_number());
  }
}

int main(void) {
  test_sums();
  test_apart();
  test_overlaps();
  return ms_test_end();
}
