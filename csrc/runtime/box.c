/* SPDX-License-Identifier: MIT
 *
 * Box: see box.h. */
#include "runtime/box.h"

#include <string.h>

int64_t ms_box_count(const ms_box *box) {
  int64_t count = 1;
  for (uint32_t d = 0; d < box->dim_count; d++) {
    if (box->dims[d] < 0 || __builtin_mul_overflow(count, box->dims[d], &count)) return -1;
  }
  return count;
}

ms_box ms_box_rows(const ms_box *box, uint32_t dim, int64_t lo, int64_t hi) {
  ms_box rows = *box;
  if (lo < 0) lo = 0;
  if (hi > box->dims[dim]) hi = box->dims[dim];
  if (hi < lo) {
    rows.dims[dim] = 0;
    return rows;
  }
  rows.dims[dim] = hi - lo;
  rows.data += lo * box->strides[dim] * (int64_t)box->element;
  return rows;
}

/* Copies one run whose elements lie `stride` elements apart in the box. */
static void copy_run(unsigned char *place, int64_t stride, unsigned char *packed, int64_t count,
                     size_t element, int scatter) {
  if (stride == 1) {
    size_t bytes = (size_t)count * element;
    memcpy(scatter ? place : packed, scatter ? packed : place, bytes);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    memcpy(scatter ? place : packed, scatter ? packed : place, element);
    place += stride * (int64_t)element;
    packed += element;
  }
}

/* Walks the sequence a run at a time: runs are the innermost dimensions that lie densely. */
static void walk(const ms_box *box, int64_t first, int64_t count, unsigned char *packed,
                 int scatter) {
  uint32_t inner = box->dim_count - 1;
  int64_t length = box->dims[inner], stride = box->strides[inner];
  while (inner > 0 && box->strides[inner - 1] == length * stride) length *= box->dims[--inner];
  while (count > 0) {
    int64_t at = first % length, rest = first / length, offset = at * stride;
    for (uint32_t d = inner; d-- > 0;) {
      offset += rest % box->dims[d] * box->strides[d];
      rest /= box->dims[d];
    }
    int64_t run = length - at < count ? length - at : count;
    copy_run(box->data + offset * (int64_t)box->element, stride, packed, run, box->element,
             scatter);
    packed += (size_t)run * box->element;
    first += run;
    count -= run;
  }
}

void ms_box_gather(const ms_box *box, int64_t first, int64_t count, void *out) {
  walk(box, first, count, out, 0);
}

void ms_box_scatter(const ms_box *box, int64_t first, int64_t count, const void *in) {
  walk(box, first, count, (unsigned char *)(size_t)in, 1);
}
