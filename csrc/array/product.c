/* SPDX-License-Identifier: MIT
 *
 * Products: see product.h. */
#include "array/product.h"

#include <inttypes.h>
#include <stdlib.h>

#include "array/reduce.h"
#include "array/view.h"

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
  if (numbers == NULL) ms_error_set(err, MS_ARR, "out of memory for a product");
  return numbers;
}

/* Writes beta result + alpha product into the result, and frees the product. */
static int store(ms_array *result, ms_scale scale, double *product, ms_error *err) {
  ms_view to = ms_view_of(result);
  size_t count = (size_t)to.count, size = to.ops->size;
  char *packed = malloc((count + 1) * (size > sizeof(double) ? size : sizeof(double)));
  int failed = packed == NULL ? ms_error_set(err, MS_ARR, "out of memory for a product") : 0;
  for (size_t k = 0; failed == 0 && k < count; k++) product[k] *= scale.alpha;
  if (failed == 0 && scale.beta != 0) {
    double before;
    ms_view_gather(&to, 0, to.count, packed);
    for (size_t k = 0; failed == 0 && k < count; k++) {
      if (to.ops->widen(packed + k * size, &before, 1) != 1) {
        failed = ms_error_set(err, MS_ARR, "an element is beyond 2^53");
      } else {
        product[k] = scale.beta * before + product[k];
      }
    }
  }
  if (failed == 0 && to.ops->narrow(product, packed, count) != count) {
    failed = ms_error_set(err, MS_ARR, "a product does not fit into type %s", to.ops->name);
  }
  if (failed == 0) {
    ms_view_scatter(&to, 0, to.count, packed);
    ms_array_overwritten(result);
  }
  free(packed);
  free(product);
  return failed;
}

int ms_array_gemv(ms_array *y, ms_scale scale, const ms_array *a, const ms_array *x,
                  ms_error *err) {
  if (check_operand(a, 2, "gemv: the matrix", err) != 0 ||
      check_operand(x, 1, "gemv: the vector", err) != 0 ||
      check_result(y, 1, "gemv: the result", &scale, err) != 0 ||
      check_extent("gemv", a->dims[1], x->dims[0], err) != 0 ||
      check_extent("gemv", a->dims[0], y->dims[0], err) != 0) {
    return -1;
  }
  double *product = take_numbers(y->count, err);
  if (product == NULL) return -1;
  for (int64_t i = 0; i < a->dims[0]; i++) {
    ms_error fault = {0};
    product[i] = ms_row_dot(a->type, element_at(a, i * a->strides[0]), a->strides[1], x->type,
                            x->data, x->strides[0], x->dims[0], &fault);
    if (fault.code == MS_OK) continue;
    free(product);
    return ms_error_set(err, (ms_code)fault.code, "%s", fault.message);
  }
  return store(y, scale, product, err);
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

int ms_array_ger(ms_array *a, ms_scale scale, const ms_array *x, const ms_array *y, ms_error *err) {
  if (check_operand(x, 1, "ger: the first vector", err) != 0 ||
      check_operand(y, 1, "ger: the second vector", err) != 0 ||
      check_result(a, 2, "ger: the result", &scale, err) != 0 ||
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
  return product == NULL ? -1 : store(a, scale, product, err);
}

/* The columns of B one after the other, as elements of its type; NULL with an error. */
static void *gather_columns(const ms_array *b, ms_error *err) {
  ms_view view = ms_view_of(b);
  /* The same elements, the second dimension first. */
  const int64_t dims[] = {b->dims[1], b->dims[0]}, strides[] = {b->strides[1], b->strides[0]};
  ms_view turned = {.ops = view.ops,
                    .type = b->type,
                    .dim_count = 2,
                    .dims = {dims[0], dims[1]},
                    .strides = {strides[0], strides[1]},
                    .count = b->count,
                    .data = b->data};
  void *columns = malloc((size_t)b->count * view.ops->size + 1);
  if (columns == NULL) {
    ms_error_set(err, MS_ARR, "out of memory for a product");
    return NULL;
  }
  ms_view_gather(&turned, 0, turned.count, columns);
  return columns;
}

static int multiply(double *product, const ms_array *a, const ms_array *b, void *columns,
                    ms_error *err) {
  const size_t size = ms_type_of(b->type)->size;
  const int64_t inner = a->dims[1];
  for (int64_t i = 0; i < a->dims[0]; i++) {
    for (int64_t j = 0; j < b->dims[1]; j++) {
      ms_error fault = {0};
      product[i * b->dims[1] + j] =
          ms_row_dot(a->type, element_at(a, i * a->strides[0]), a->strides[1], b->type,
                     (char *)columns + (size_t)(j * inner) * size, 1, inner, &fault);
      if (fault.code != MS_OK) return ms_error_set(err, (ms_code)fault.code, "%s", fault.message);
    }
  }
  return 0;
}

int ms_array_gemm(ms_array *c, ms_scale scale, const ms_array *a, const ms_array *b,
                  ms_error *err) {
  if (check_operand(a, 2, "gemm: the first matrix", err) != 0 ||
      check_operand(b, 2, "gemm: the second matrix", err) != 0 ||
      check_result(c, 2, "gemm: the result", &scale, err) != 0 ||
      check_extent("gemm", a->dims[1], b->dims[0], err) != 0 ||
      check_extent("gemm", c->dims[0], a->dims[0], err) != 0 ||
      check_extent("gemm", c->dims[1], b->dims[1], err) != 0) {
    return -1;
  }
  void *columns = gather_columns(b, err);
  double *product = columns == NULL ? NULL : take_numbers(c->count, err);
  int failed = product == NULL ? -1 : multiply(product, a, b, columns, err);
  free(columns);
  if (failed != 0) {
    free(product);
    return -1;
  }
  return store(c, scale, product, err);
}
