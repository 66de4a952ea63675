/* SPDX-License-Identifier: MIT
 *
 * Products by blocks: see product_block.h. B is packed once, by columns; then each thread takes
 * rows of A, packs a chunk of them, and has tiles computed (product_tile.h) whose columns stay in
 * the second cache. */
#include "array/product_block.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "array/product_tile.h"
#include "array/reduce.h"
#include "base/threads.h"

#define ROWS         32                   /* of A that a thread takes at a time */
#define COLUMNS      64                   /* of B likewise, while they are packed */
#define TILE_BYTES   ((int64_t)128 << 10) /* of columns in a tile */
#define WORTH_SHARED ((int64_t)1 << 18)   /* multiplications: fewer are not worth a second thread */

typedef struct product {
  double *result;
  const ms_array *a, *b;
  int type; /* of what is packed: MS_FLOAT if both operands are, else MS_DOUBLE */
  size_t size;
  int64_t room; /* of a packed column, in elements */
  char *columns;
  void (*tile)(const ms_tile *tile);
  atomic_int fault; /* 1: out of memory; 2: an int64 beyond 2^53 */
} product;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t filled_up(const product *p, int64_t count) {
  int64_t lanes = p->type == MS_FLOAT ? MS_FLOAT_LANES : MS_DOUBLE_LANES;
  return (count + lanes - 1) / lanes * lanes;
}

static void copy_apart(char *to, const char *from, int64_t step, int64_t count, size_t size) {
  if (step == (int64_t)size) {
    memcpy(to, from, (size_t)count * size);
  } else if (size == sizeof(float)) {
    for (int64_t i = 0; i < count; i++) memcpy(to + i * 4, from + i * step, 4);
  } else {
    for (int64_t i = 0; i < count; i++) memcpy(to + i * 8, from + i * step, 8);
  }
}

/* Elements [first, first + count) of a row (or column) of an array, packed and filled up. */
static void pack(product *p, const ms_array *array, int along, int64_t at, int64_t first,
                 int64_t count, char *to) {
  const ms_type_ops *ops = ms_type_of(array->type);
  const int64_t size = (int64_t)ops->size, step = array->strides[along] * size;
  const char *from = (char *)array->data + (at * array->strides[1 - along]) * size + first * step;
  if (array->type == p->type) {
    copy_apart(to, from, step, count, p->size);
  } else {
    for (int64_t i = 0; i < count; i++) {
      if (ops->widen(from + i * step, (double *)(void *)to + i, 1) != 1) atomic_store(&p->fault, 2);
    }
  }
  memset(to + count * (int64_t)p->size, 0, (size_t)(filled_up(p, count) - count) * p->size);
}

static void pack_columns(void *context, int64_t share) {
  product *p = context;
  int64_t last = least((share + 1) * COLUMNS, p->b->dims[1]);
  for (int64_t j = share * COLUMNS; j < last; j++) {
    pack(p, p->b, 0, j, 0, p->b->dims[0], p->columns + j * p->room * (int64_t)p->size);
  }
}

/* One chunk of packed rows with all columns, tile by tile. */
static void multiply_chunk(const product *p, const char *rows, int64_t row, int64_t row_count,
                           int64_t first, int64_t count) {
  const int64_t n = p->b->dims[1], size = (int64_t)p->size;
  int64_t width = TILE_BYTES / (count * size) / 2 * 2;
  if (width < 2) width = 2;
  for (int64_t j = 0; j < n; j += width) {
    ms_tile tile = {.rows = rows,
                    .row_room = count,
                    .row_count = row_count,
                    .columns = p->columns + (j * p->room + first) * size,
                    .column_room = p->room,
                    .column_count = least(width, n - j),
                    .count = count,
                    .product = p->result + row * n + j,
                    .width = n};
    p->tile(&tile);
  }
}

static void multiply_rows(void *context, int64_t share) {
  product *p = context;
  const int64_t k = p->a->dims[1], row = share * ROWS, n = p->b->dims[1];
  const int64_t row_count = least(ROWS, p->a->dims[0] - row);
  const int64_t most = filled_up(p, least(k, MS_REDUCE_CHUNK));
  char *rows = malloc((size_t)(ROWS * most) * p->size + 1);
  if (rows == NULL) {
    atomic_store(&p->fault, 1);
    return;
  }
  memset(p->result + row * n, 0, (size_t)(row_count * n) * sizeof *p->result);
  for (int64_t first = 0; first < k; first += MS_REDUCE_CHUNK) {
    int64_t count = least(MS_REDUCE_CHUNK, k - first), room = filled_up(p, count);
    for (int64_t r = 0; r < row_count; r++) {
      pack(p, p->a, 1, row + r, first, count, rows + r * room * (int64_t)p->size);
    }
    multiply_chunk(p, rows, row, row_count, first, room);
  }
  free(rows);
}

static void choose(product *p) {
  bool wide = __builtin_cpu_supports("avx2");
  bool floats = p->a->type == MS_FLOAT && p->b->type == MS_FLOAT;
  p->type = floats ? MS_FLOAT : MS_DOUBLE;
  p->size = floats ? sizeof(float) : sizeof(double);
  if (floats) {
    p->tile = wide ? ms_tile_float_avx : ms_tile_float_sse;
  } else {
    p->tile = wide ? ms_tile_double_avx : ms_tile_double_sse;
  }
  p->room = filled_up(p, p->b->dims[0]);
}

int ms_product_blocks(double *result, const ms_array *a, const ms_array *b, ms_error *err) {
  product p = {.result = result, .a = a, .b = b};
  const int64_t m = a->dims[0], k = a->dims[1], n = b->dims[1];
  choose(&p);
  if (m == 0 || n == 0) return 0;
  if (p.room < INT64_MAX / 16 / n) p.columns = malloc((size_t)(p.room * n) * p.size + 1);
  if (p.columns == NULL) return ms_error_memory(err, MS_ARR, "a product");
  int threads = m > WORTH_SHARED / (k + 1) / n ? ms_threads_count() : 1;
  ms_threads_each(threads, (n + COLUMNS - 1) / COLUMNS, pack_columns, &p);
  ms_threads_each(threads, (m + ROWS - 1) / ROWS, multiply_rows, &p);
  free(p.columns);
  int fault = atomic_load(&p.fault);
  if (fault == 0) return 0;
  return fault == 1 ? ms_error_memory(err, MS_ARR, "a product")
                    : ms_error_set(err, MS_ARR, "an element is beyond 2^53 and no exact number");
}
