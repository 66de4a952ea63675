/* SPDX-License-Identifier: MIT
 *
 * Arithmetic: see arith.h. Chunks of elements are widened to double, computed with, and narrowed
 * back. */
#include "array/arith.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/rowwise.h"
#include "base/lua_math.h"
#include "base/threads.h"

#define CHUNK 1024
/* Elements of a function for one thread at a time: fewer are not worth more than one. */
#define SHARE ((int64_t)32 * CHUNK)

typedef union chunk {
  double doubles[CHUNK];
  char bytes[CHUNK * sizeof(double)]; /* elements of any type */
} chunk;

/* What a pass works with; `x` may be NULL. */
typedef struct pass {
  int arith;
  const ms_view *y, *x;
  double a;
  bool writing; /* false: only check that all results fit */
} pass;

static int load(const ms_view *view, int64_t first, size_t count, double *out, ms_error *err) {
  chunk native;
  const void *elements = ms_view_direct(view, first, (int64_t)count);
  if (elements == NULL) {
    ms_view_gather(view, first, (int64_t)count, native.bytes);
    elements = native.bytes;
  }
  if (view->ops->widen(elements, out, count) == count) return 0;
  return ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
}

static int store(const ms_view *view, int64_t first, size_t count, const double *in, bool writing,
                 ms_error *err) {
  chunk native;
  void *direct = writing ? ms_view_direct(view, first, (int64_t)count) : NULL;
  void *elements = direct != NULL ? direct : native.bytes;
  size_t done = view->ops->narrow(in, elements, count);
  if (done != count) {
    return ms_error_set(err, MS_ARR, "the result %.17g does not fit into type %s", in[done],
                        view->ops->name);
  }
  if (writing && direct == NULL) ms_view_scatter(view, first, (int64_t)count, elements);
  return 0;
}

static bool is_function(int arith) {
  return arith >= MS_ARITH_EXP;
}

static void compute_function(int arith, double *y, double a, size_t n) {
  switch (arith) {
    case MS_ARITH_EXP:
      for (size_t i = 0; i < n; i++) y[i] = ms_math_exp(y[i]);
      break;
    case MS_ARITH_LOG:
      for (size_t i = 0; i < n; i++) y[i] = ms_math_log(y[i]);
      break;
    case MS_ARITH_SQRT:
      for (size_t i = 0; i < n; i++) y[i] = ms_math_sqrt(y[i]);
      break;
    case MS_ARITH_TANH:
      for (size_t i = 0; i < n; i++) y[i] = ms_math_tanh(y[i]);
      break;
    case MS_ARITH_ABS:
      for (size_t i = 0; i < n; i++) y[i] = ms_math_abs(y[i]);
      break;
    default: /* MS_ARITH_POW */
      for (size_t i = 0; i < n; i++) y[i] = ms_math_pow(y[i], a);
      break;
  }
}

static void compute(int arith, double *y, const double *x, double a, size_t n) {
  switch (arith) {
    case MS_ARITH_FILL:
      for (size_t i = 0; i < n; i++) y[i] = a;
      break;
    case MS_ARITH_COPY:
      memcpy(y, x, n * sizeof *y);
      break;
    case MS_ARITH_SCAL:
      for (size_t i = 0; i < n; i++) y[i] = a * y[i];
      break;
    case MS_ARITH_ADD:
      for (size_t i = 0; i < n; i++) y[i] = y[i] + a;
      break;
    case MS_ARITH_AXPY:
      for (size_t i = 0; i < n; i++) y[i] = y[i] + a * x[i];
      break;
    case MS_ARITH_CMUL:
      for (size_t i = 0; i < n; i++) y[i] = y[i] * x[i];
      break;
    default:
      compute_function(arith, y, a, n);
      break;
  }
}

/* The elements [first, last). */
static int run_range(const pass *p, int64_t first, int64_t last, ms_error *err) {
  chunk y, x;
  bool reads_y = p->arith != MS_ARITH_FILL && p->arith != MS_ARITH_COPY;
  for (; first < last; first += CHUNK) {
    size_t n = last - first < CHUNK ? (size_t)(last - first) : CHUNK;
    if (reads_y && load(p->y, first, n, y.doubles, err) != 0) return -1;
    if (p->x != NULL && load(p->x, first, n, x.doubles, err) != 0) return -1;
    compute(p->arith, y.doubles, x.doubles, p->a, n);
    if (store(p->y, first, n, y.doubles, p->writing, err) != 0) return -1;
  }
  return 0;
}

/* The k-th share of a pass on floating elements without x, which cannot fail. */
static void run_share(void *context, int64_t k) {
  const pass *p = context;
  ms_error none = {0};
  int64_t first = k * SHARE, last = p->y->count - first < SHARE ? p->y->count : first + SHARE;
  run_range(p, first, last, &none);
}

static int run(const pass *p, ms_error *err) {
  int64_t shares = (p->y->count + SHARE - 1) / SHARE;
  if (!is_function(p->arith) || p->y->ops->integer || shares < 2) {
    return run_range(p, 0, p->y->count, err);
  }
  pass shared = *p;
  ms_threads_each(ms_threads_count(), shares, run_share, &shared);
  return 0;
}

/* The first byte of a view and the one after its last. */
static void bounds_of(const ms_view *view, const char **begin, const char **end) {
  int64_t last = 0;
  for (int d = 0; d < view->dim_count; d++) last += (view->dims[d] - 1) * view->strides[d];
  *begin = view->data;
  *end = view->data + (last + 1) * (int64_t)view->ops->size;
}

/* Whether writing y in order might change elements of x that are read later. */
static bool overlaps(const ms_view *y, const ms_view *x) {
  const char *y_begin, *y_end, *x_begin, *x_end;
  bounds_of(y, &y_begin, &y_end);
  bounds_of(x, &x_begin, &x_end);
  if (y_end <= x_begin || x_end <= y_begin) return false;
  bool same = y->data == x->data && y->type == x->type && y->dim_count == x->dim_count;
  for (int d = 0; same && d < y->dim_count; d++) {
    same = y->dims[d] == x->dims[d] && y->strides[d] == x->strides[d];
  }
  return !same;
}

static int apply_apart(int arith, const ms_view *y, const ms_view *x, double a, ms_error *err) {
  pass p = {arith, y, x, a, false};
  /* int64 values beyond 2^53 have no double, but can be copied. */
  if (arith == MS_ARITH_COPY && x->type == y->type) {
    chunk native;
    for (int64_t first = 0; first < y->count; first += CHUNK) {
      int64_t n = y->count - first < CHUNK ? y->count - first : CHUNK;
      ms_view_gather(x, first, n, native.bytes);
      ms_view_scatter(y, first, n, native.bytes);
    }
    return 0;
  }
  if (y->ops->integer && run(&p, err) != 0) return -1;
  p.writing = true;
  return run(&p, err);
}

/* Applies an operation to the elements of y; `x` is NULL where the operation has none. The counts
 * of x and y must be equal. Functions of many elements are computed by several threads. */
static int view_apply(int arith, const ms_view *y, const ms_view *x, double a, ms_error *err) {
  if (x != NULL && x->count != y->count) {
    return ms_error_set(err, MS_ARR, "%" PRId64 " elements do not match %" PRId64, x->count,
                        y->count);
  }
  if (y->count == 0) return 0;
  if (x == NULL || !overlaps(y, x)) return apply_apart(arith, y, x, a, err);
  void *copy = malloc((size_t)x->count * x->ops->size);
  if (copy == NULL) return ms_error_memory(err, MS_ARR, "overlapping arrays");
  ms_view_gather(x, 0, x->count, copy);
  ms_view apart = ms_view_row(x->type, copy, 1, x->count);
  int failed = apply_apart(arith, y, &apart, a, err);
  free(copy);
  return failed;
}

static bool overwrites(int arith) {
  return arith == MS_ARITH_FILL || arith == MS_ARITH_COPY;
}

int ms_arith_array(int arith, ms_array *y, const ms_array *x, double a, ms_error *err) {
  if (ms_array_check_writable(y, err) != 0) return -1;
  if (!overwrites(arith) && ms_array_check(y, err) != 0) return -1;
  if (x != NULL && ms_array_check(x, err) != 0) return -1;
  if (x != NULL && x->sparse != y->sparse) {
    return ms_error_set(err, MS_ARR, "one array is sparse, the other dense");
  }
  ms_view to = ms_view_of(y), from = {0};
  if (x != NULL) from = ms_view_of(x);
  if (view_apply(arith, &to, x != NULL ? &from : NULL, a, err) != 0) return -1;
  if (y->sparse) y->version++;
  if (overwrites(arith)) ms_array_overwritten(y);
  return 0;
}

/* One number for each kind of operation, type of y and type of x. */
#define CASE(arith, y_type, x_type) ((arith)*4 + (y_type)*2 + (x_type))

/* A row of a floating type alone: what native kernels inline. False for an operation that takes
 * another row, or that rowwise.h does not have. */
static bool apply_alone(int arith, int type, void *y, int64_t stride, int64_t count, double a) {
  if (type > MS_DOUBLE) return false;
  switch (CASE(arith, type, 0)) {
    case CASE(MS_ARITH_FILL, MS_FLOAT, 0):
      ms_row_fill_float(y, stride, count, a);
      return true;
    case CASE(MS_ARITH_FILL, MS_DOUBLE, 0):
      ms_row_fill_double(y, stride, count, a);
      return true;
    case CASE(MS_ARITH_SCAL, MS_FLOAT, 0):
      ms_row_scal_float(y, stride, count, a);
      return true;
    case CASE(MS_ARITH_SCAL, MS_DOUBLE, 0):
      ms_row_scal_double(y, stride, count, a);
      return true;
    case CASE(MS_ARITH_EXP, MS_FLOAT, 0):
      ms_row_exp_float(y, stride, count);
      return true;
    case CASE(MS_ARITH_EXP, MS_DOUBLE, 0):
      ms_row_exp_double(y, stride, count);
      return true;
    case CASE(MS_ARITH_LOG, MS_FLOAT, 0):
      ms_row_log_float(y, stride, count);
      return true;
    case CASE(MS_ARITH_LOG, MS_DOUBLE, 0):
      ms_row_log_double(y, stride, count);
      return true;
    case CASE(MS_ARITH_SQRT, MS_FLOAT, 0):
      ms_row_sqrt_float(y, stride, count);
      return true;
    case CASE(MS_ARITH_SQRT, MS_DOUBLE, 0):
      ms_row_sqrt_double(y, stride, count);
      return true;
    case CASE(MS_ARITH_TANH, MS_FLOAT, 0):
      ms_row_tanh_float(y, stride, count);
      return true;
    case CASE(MS_ARITH_TANH, MS_DOUBLE, 0):
      ms_row_tanh_double(y, stride, count);
      return true;
    case CASE(MS_ARITH_ABS, MS_FLOAT, 0):
      ms_row_abs_float(y, stride, count);
      return true;
    case CASE(MS_ARITH_ABS, MS_DOUBLE, 0):
      ms_row_abs_double(y, stride, count);
      return true;
    case CASE(MS_ARITH_POW, MS_FLOAT, 0):
      ms_row_pow_float(y, stride, count, a);
      return true;
    case CASE(MS_ARITH_POW, MS_DOUBLE, 0):
      ms_row_pow_double(y, stride, count, a);
      return true;
    default:
      return false;
  }
}

/* Applies an operation of two rows to y, with x; false where there is none for the types. */
static bool apply_pair(int arith, int y_type, void *y, int64_t y_stride, int x_type, void *x,
                       int64_t x_stride, int64_t count, double a) {
  if (y_type > MS_DOUBLE || x_type > MS_DOUBLE) return false;
  switch (CASE(arith, y_type, x_type)) {
    case CASE(MS_ARITH_COPY, MS_FLOAT, MS_FLOAT):
      ms_row_copy_float_float(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_COPY, MS_FLOAT, MS_DOUBLE):
      ms_row_copy_float_double(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_COPY, MS_DOUBLE, MS_FLOAT):
      ms_row_copy_double_float(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_COPY, MS_DOUBLE, MS_DOUBLE):
      ms_row_copy_double_double(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_CMUL, MS_FLOAT, MS_FLOAT):
      ms_row_cmul_float_float(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_CMUL, MS_FLOAT, MS_DOUBLE):
      ms_row_cmul_float_double(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_CMUL, MS_DOUBLE, MS_FLOAT):
      ms_row_cmul_double_float(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_CMUL, MS_DOUBLE, MS_DOUBLE):
      ms_row_cmul_double_double(y, y_stride, x, x_stride, count);
      return true;
    case CASE(MS_ARITH_AXPY, MS_FLOAT, MS_FLOAT):
      ms_row_axpy_float_float(y, y_stride, x, x_stride, count, a);
      return true;
    case CASE(MS_ARITH_AXPY, MS_FLOAT, MS_DOUBLE):
      ms_row_axpy_float_double(y, y_stride, x, x_stride, count, a);
      return true;
    case CASE(MS_ARITH_AXPY, MS_DOUBLE, MS_FLOAT):
      ms_row_axpy_double_float(y, y_stride, x, x_stride, count, a);
      return true;
    case CASE(MS_ARITH_AXPY, MS_DOUBLE, MS_DOUBLE):
      ms_row_axpy_double_double(y, y_stride, x, x_stride, count, a);
      return true;
    default:
      return false;
  }
}

int ms_arith_row(int arith, int y_type, void *y, int64_t y_stride, int x_type, void *x,
                 int64_t x_stride, int64_t count, double a, ms_error *err) {
  bool done = x == NULL ? apply_alone(arith, y_type, y, y_stride, count, a)
                        : apply_pair(arith, y_type, y, y_stride, x_type, x, x_stride, count, a);
  if (done) return 0;
  ms_view to = ms_view_row(y_type, y, y_stride, count);
  ms_view from = ms_view_row(x_type, x, x_stride, count);
  return view_apply(arith, &to, x != NULL ? &from : NULL, a, err);
}
