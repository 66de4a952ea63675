/* SPDX-License-Identifier: MIT
 *
 * Products: see product.h. */
#include "array/product.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "array/product_block.h"
#include "array/product_columns.h"
#include "array/product_sparse.h"
#include "array/reduce.h"
#include "array/view.h"
#include "base/threads.h"

#define CHUNK 1024
#define SHARE ((int64_t)1 << 16) /* elements that are worth a thread */

/* A part of an operand as a row of elements `stride` apart. */
static void *element_at(const ms_array *array, int64_t offset) {
  return (char *)array->data + offset * (int64_t)ms_type_of(array->type)->size;
}

static int check_operand(const ms_array *array, int rank, const char *name, ms_error *err) {
  if (ms_array_check(array, err) != 0) return -1;
  if (array->sparse || array->dim_count != rank) {
    return ms_error_set(err, MS_ARR, "%s must be a dense array with %d dimension%s", name, rank,
                        rank == 1 ? "" : "s");
  }
  return 0;
}

/* A factor may be sparse. */
static int check_factor(const ms_array *array, int rank, const char *name, ms_error *err) {
  if (array->sparse && array->dim_count == rank) return ms_array_check(array, err);
  return check_operand(array, rank, name, err);
}

static int check_result(const ms_array *array, int rank, const char *name, const ms_scale *scale,
                        ms_error *err) {
  if (ms_array_check_writable(array, err) != 0) return -1;
  if (scale->beta != 0) return check_operand(array, rank, name, err);
  if (!array->sparse && array->dim_count == rank) return 0;
  return ms_error_set(err, MS_ARR, "%s must be a dense array with %d dimension%s", name, rank,
                      rank == 1 ? "" : "s");
}

static int check_extent(const char *function, int64_t one, int64_t other, ms_error *err) {
  if (one == other) return 0;
  return ms_error_set(err, MS_ARR, "%s: extents %" PRId64 " and %" PRId64 " do not match", function,
                      one, other);
}

static double *take_numbers(int64_t count, ms_error *err) {
  double *numbers = count >= 0 && (uint64_t)count < SIZE_MAX / sizeof *numbers - 1
                        ? malloc(((size_t)count + 1) * sizeof *numbers)
                        : NULL;
  if (numbers == NULL) ms_error_memory(err, MS_ARR, "a product");
  return numbers;
}

/* What a product goes to: its numbers are scaled, and then written, chunk by chunk. */
typedef struct storing {
  const ms_view *to;
  ms_scale scale;
  double *product;
  bool writing;     /* false: only scales, and checks that all numbers fit */
  atomic_int fault; /* 1: an element beyond 2^53; 2: a number that does not fit */
} storing;

static void store_share(void *context, int64_t share) {
  storing *s = context;
  const ms_type_ops *ops = s->to->ops;
  int64_t first = share * CHUNK, left = s->to->count - first;
  size_t n = left < CHUNK ? (size_t)left : CHUNK;
  double *product = s->product + first, before[CHUNK], packed[CHUNK]; /* room for any type */
  if (s->writing) {
    ops->narrow(product, packed, n);
    ms_view_scatter(s->to, first, (int64_t)n, packed);
    return;
  }
  for (size_t k = 0; k < n; k++) product[k] *= s->scale.alpha;
  if (s->scale.beta != 0) {
    ms_view_gather(s->to, first, (int64_t)n, packed);
    if (ops->widen(packed, before, n) != n) atomic_store(&s->fault, 1);
    for (size_t k = 0; k < n; k++) product[k] = s->scale.beta * before[k] + product[k];
  }
  if (ops->integer && ops->narrow(product, packed, n) != n) atomic_store(&s->fault, 2);
}

/* Writes beta result + alpha product into the result, and frees the product. */
static int store(ms_array *result, ms_scale scale, double *product, ms_error *err) {
  ms_view to = ms_view_of(result);
  storing s = {.to = &to, .scale = scale, .product = product};
  int64_t shares = (to.count + CHUNK - 1) / CHUNK;
  int threads = to.count > SHARE ? ms_threads_count() : 1;
  ms_threads_each(threads, shares, store_share, &s);
  int fault = atomic_load(&s.fault);
  if (fault == 1) ms_error_set(err, MS_ARR, "an element is beyond 2^53");
  if (fault == 2) ms_error_set(err, MS_ARR, "a product does not fit into type %s", to.ops->name);
  if (fault == 0) {
    s.writing = true;
    ms_threads_each(threads, shares, store_share, &s);
    ms_array_overwritten(result);
  }
  free(product);
  return fault == 0 ? 0 : -1;
}

/* Rows of a dense matrix with a vector. */
typedef struct rows_dot {
  double *product;
  const ms_array *a, *x;
  int64_t rows; /* that a thread takes at a time */
  atomic_bool failed;
} rows_dot;

/* Whether the rows of a matrix are columns of what lies in memory, of the vector's type. */
static bool is_transposed(const ms_array *a, const ms_array *x) {
  return a->strides[0] == 1 && a->strides[1] != 1 && a->type == x->type &&
         (a->type == MS_DOUBLE || a->type == MS_FLOAT);
}

static void dot_columns(rows_dot *p, int64_t first, int64_t last) {
  const ms_array *a = p->a, *x = p->x;
  for (int64_t i = first; i < last; i += MS_COLUMNS_MOST) {
    int64_t columns = last - i < MS_COLUMNS_MOST ? last - i : MS_COLUMNS_MOST;
    if (a->type == MS_DOUBLE) {
      ms_product_columns_double(p->product + i, element_at(a, i), a->strides[1], x->data,
                                x->strides[0], columns, x->dims[0]);
    } else {
      ms_product_columns_float(p->product + i, element_at(a, i), a->strides[1], x->data,
                               x->strides[0], columns, x->dims[0]);
    }
  }
}

static void dot_rows(void *context, int64_t share) {
  rows_dot *p = context;
  int64_t first = share * p->rows;
  int64_t last = first + p->rows < p->a->dims[0] ? first + p->rows : p->a->dims[0];
  if (is_transposed(p->a, p->x)) {
    dot_columns(p, first, last);
    return;
  }
  for (int64_t i = first; i < last; i++) {
    ms_error fault = {0};
    p->product[i] =
        ms_reduce_dot_row(p->a->type, element_at(p->a, i * p->a->strides[0]), p->a->strides[1],
                          p->x->type, p->x->data, p->x->strides[0], p->x->dims[0], &fault);
    if (fault.code != MS_OK) atomic_store(&p->failed, true);
  }
}

static int multiply_vector(double *product, const ms_array *a, const ms_array *x, ms_error *err) {
  rows_dot p = {.product = product, .a = a, .x = x, .rows = SHARE / (a->dims[1] + 1) + 1};
  if (is_transposed(a, x)) {
    p.rows = (p.rows + MS_COLUMNS_MOST - 1) / MS_COLUMNS_MOST * MS_COLUMNS_MOST;
  }
  int64_t shares = (a->dims[0] + p.rows - 1) / p.rows;
  ms_threads_each(shares > 1 ? ms_threads_count() : 1, shares, dot_rows, &p);
  if (!atomic_load(&p.failed)) return 0;
  return ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
}

int ms_product_gemv(ms_array *y, const ms_scale *scale, ms_array *a, ms_array *x, ms_error *err) {
  if (check_factor(a, 2, "gemv: the matrix", err) != 0 ||
      check_operand(x, 1, "gemv: the vector", err) != 0 ||
      check_result(y, 1, "gemv: the result", scale, err) != 0 ||
      check_extent("gemv", a->dims[1], x->dims[0], err) != 0 ||
      check_extent("gemv", a->dims[0], y->dims[0], err) != 0) {
    return -1;
  }
  double *product = take_numbers(y->count, err);
  if (product == NULL) return -1;
  int failed =
      a->sparse ? ms_product_sparse(product, a, x, err) : multiply_vector(product, a, x, err);
  if (failed == 0) return store(y, *scale, product, err);
  free(product);
  return -1;
}

/* The elements of a vector as doubles, from malloc. */
static double *widen_vector(const ms_array *x, ms_error *err) {
  const ms_type_ops *ops = ms_type_of(x->type);
  double *numbers = take_numbers(x->dims[0], err);
  for (int64_t i = 0; numbers != NULL && i < x->dims[0]; i++) {
    if (ops->widen(element_at(x, i * x->strides[0]), &numbers[i], 1) == 1) continue;
    free(numbers);
    ms_error_set(err, MS_ARR, "an element is beyond 2^53");
    return NULL;
  }
  return numbers;
}

int ms_product_ger(ms_array *a, const ms_scale *scale, const ms_array *x, const ms_array *y,
                   ms_error *err) {
  if (check_operand(x, 1, "ger: the first vector", err) != 0 ||
      check_operand(y, 1, "ger: the second vector", err) != 0 ||
      check_result(a, 2, "ger: the result", scale, err) != 0 ||
      check_extent("ger", a->dims[0], x->dims[0], err) != 0 ||
      check_extent("ger", a->dims[1], y->dims[0], err) != 0) {
    return -1;
  }
  double *left = widen_vector(x, err);
  double *right = left == NULL ? NULL : widen_vector(y, err);
  double *product = right == NULL ? NULL : take_numbers(a->count, err);
  for (int64_t i = 0; product != NULL && i < a->dims[0]; i++) {
    double *row = product + i * a->dims[1];
    for (int64_t j = 0; j < a->dims[1]; j++) row[j] = left[i] * right[j];
  }
  free(left);
  free(right);
  return product == NULL ? -1 : store(a, *scale, product, err);
}

int ms_product_gemm(ms_array *c, const ms_scale *scale, ms_array *a, ms_array *b, ms_error *err) {
  if (check_factor(a, 2, "gemm: the first matrix", err) != 0 ||
      check_factor(b, 2, "gemm: the second matrix", err) != 0 ||
      check_result(c, 2, "gemm: the result", scale, err) != 0 ||
      check_extent("gemm", a->dims[1], b->dims[0], err) != 0 ||
      check_extent("gemm", c->dims[0], a->dims[0], err) != 0 ||
      check_extent("gemm", c->dims[1], b->dims[1], err) != 0) {
    return -1;
  }
  if (a->sparse && b->sparse) {
    return ms_error_set(err, MS_ARR, "gemm: one of the two matrices must be dense");
  }
  double *product = take_numbers(c->count, err);
  if (product == NULL) return -1;
  int failed = a->sparse || b->sparse ? ms_product_sparse(product, a, b, err)
                                      : ms_product_blocks(product, a, b, err);
  if (failed == 0) return store(c, *scale, product, err);
  free(product);
  return -1;
}
