/* SPDX-License-Identifier: MIT
 *
 * Products with a sparse matrix: see product_sparse.h. What is not of doubles is widened;
 * rows of the product are shared out to threads. */
#include "array/product_sparse.h"

#include <stdlib.h>
#include <string.h>

#include "array/csr.h"
#include "array/view.h"
#include "base/threads.h"

#define CHUNK        1024               /* elements that are widened at a time */
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

/* The elements of a view as doubles: where they are, or widened into memory that the caller frees.
 */
typedef struct numbers {
  const double *at; /* NULL: there is an error */
  double *widened;  /* from malloc; NULL: none was needed */
} numbers;

static numbers widen(const ms_view *view, ms_error *err) {
  numbers result = {.at = view->type == MS_DOUBLE ? ms_view_direct(view, 0, view->count) : NULL};
  if (result.at != NULL) return result;
  size_t count = (size_t)view->count;
  double *widened = count < SIZE_MAX / 16 ? malloc(count * sizeof *widened + 1) : NULL;
  if (widened == NULL) {
    ms_error_memory(err, MS_ARR, "a product");
    return result;
  }
  double packed[CHUNK]; /* room for any type */
  for (size_t first = 0; first < count && err->code == MS_OK; first += CHUNK) {
    size_t n = count - first < CHUNK ? count - first : CHUNK;
    ms_view_gather(view, (int64_t)first, (int64_t)n, packed);
    if (view->ops->widen(packed, widened + first, n) == n) continue;
    ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
  }
  if (err->code == MS_OK) return (numbers){.at = widened, .widened = widened};
  free(widened);
  return result;
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
  numbers values = widen(&entries, err), dense = {0};
  if (values.at != NULL) dense = widen(&elements, err);
  if (dense.at != NULL) {
    product p = {.result = result,
                 .m = a->dims[0],
                 .n = b->dim_count > 1 ? b->dims[1] : 1,
                 .start = rows->start,
                 .columns = rows->columns[1],
                 .values = values.at,
                 .dense = dense.at,
                 .inner = a->dims[1]};
    memset(result, 0, (size_t)(p.m * p.n) * sizeof *result);
    int64_t each = a->sparse ? p.n : p.m;
    bool shared = sparse->count > WORTH_SHARED / (each + 1);
    ms_threads_each(shared ? ms_threads_count() : 1, (p.m + ROWS - 1) / ROWS,
                    a->sparse ? by_rows_of_a : by_rows_of_b, &p);
  }
  free(values.widened);
  free(dense.widened);
  return dense.at == NULL ? -1 : 0;
}
