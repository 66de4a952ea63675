/* SPDX-License-Identifier: MIT
 *
 * Products with a sparse matrix: see product_sparse.h. The dense operand is widened to doubles;
 * rows of the product are shared out to threads. */
#include "array/product_sparse.h"

#include <stdlib.h>
#include <string.h>

#include "array/csr.h"
#include "array/view.h"
#include "base/threads.h"

#define ROWS         64                 /* of the product that a thread takes at a time */
#define WORTH_SHARED ((int64_t)1 << 17) /* multiplications: fewer are not worth a second thread */

typedef struct product {
  double *result;
  int64_t m, n;
  const int64_t *start; /* the sparse operand's rows: see csr.h */
  const int32_t *columns;
  const double *values;
  const double *dense; /* the other operand, row-major */
  int64_t inner;       /* extent that is summed over */
} product;

/* All elements of a view as doubles, from malloc. */
static double *widen(const ms_view *view, ms_error *err) {
  size_t count = (size_t)view->count, size = view->ops->size;
  double *numbers = count < SIZE_MAX / 16 ? malloc(count * sizeof *numbers + 1) : NULL;
  char *packed = numbers != NULL ? malloc(count * size + 1) : NULL;
  if (packed == NULL) {
    ms_error_memory(err, MS_ARR, "a product");
  } else {
    ms_view_gather(view, 0, view->count, packed);
    if (view->ops->widen(packed, numbers, count) != count) {
      ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
    }
  }
  free(packed);
  if (err->code == MS_OK) return numbers;
  free(numbers);
  return NULL;
}

/* result row i += a * (dense row j) */
static void add_row(const product *p, int64_t i, int64_t j, double a) {
  double *to = p->result + i * p->n;
  const double *from = p->dense + j * p->n;
  for (int64_t c = 0; c < p->n; c++) to[c] = to[c] + a * from[c];
}

/* Sparse A: a row of the product is a sum of rows of B. */
static void by_rows_of_a(void *context, int64_t share) {
  const product *p = context;
  int64_t last = (share + 1) * ROWS < p->m ? (share + 1) * ROWS : p->m;
  for (int64_t i = share * ROWS; i < last; i++) {
    if (p->n > 1) {
      for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
        add_row(p, i, p->columns[e] - 1, p->values[e]);
      }
      continue;
    }
    double sum = 0;
    for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
      sum = sum + p->values[e] * p->dense[p->columns[e] - 1];
    }
    p->result[i] = sum;
  }
}

/* Sparse B: a row of the product is a sum of rows of B, with the elements of A's row. */
static void by_rows_of_b(void *context, int64_t share) {
  const product *p = context;
  int64_t last = (share + 1) * ROWS < p->m ? (share + 1) * ROWS : p->m;
  for (int64_t i = share * ROWS; i < last; i++) {
    double *to = p->result + i * p->n;
    for (int64_t j = 0; j < p->inner; j++) {
      double a = p->dense[i * p->inner + j];
      for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) {
        to[p->columns[e] - 1] = to[p->columns[e] - 1] + a * p->values[e];
      }
    }
  }
}

int ms_product_sparse(double *result, ms_array *a, ms_array *b, ms_error *err) {
  ms_array *sparse = a->sparse ? a : b, *other = a->sparse ? b : a;
  const ms_csr *rows = ms_csr_list(sparse, err);
  if (rows == NULL) return -1;
  ms_view entries = ms_view_row(sparse->type, rows->values, 1, sparse->count);
  ms_view elements = ms_view_of(other);
  double *values = widen(&entries, err);
  double *dense = values != NULL ? widen(&elements, err) : NULL;
  if (dense != NULL) {
    product p = {.result = result,
                 .m = a->dims[0],
                 .n = b->dim_count > 1 ? b->dims[1] : 1,
                 .start = rows->start,
                 .columns = rows->columns[1],
                 .values = values,
                 .dense = dense,
                 .inner = a->dims[1]};
    memset(result, 0, (size_t)(p.m * p.n) * sizeof *result);
    int64_t each = a->sparse ? p.n : p.m;
    bool shared = sparse->count > WORTH_SHARED / (each + 1);
    ms_threads_each(shared ? ms_threads_count() : 1, (p.m + ROWS - 1) / ROWS,
                    a->sparse ? by_rows_of_a : by_rows_of_b, &p);
  }
  free(values);
  free(dense);
  return dense == NULL ? -1 : 0;
}
